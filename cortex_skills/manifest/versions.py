"""Matches versions (semver 2.0) against npm ranges, with the `semantic_version` library.

Rules kept here:
- a range has at most 256 characters, which bounds the time to parse and match it;
- spaces are allowed where npm allows them (`>= 1.0.0  <2`), which the library does not;
- build metadata (`+…`) is ignored in comparisons (semver 2.0 §10).
"""

from __future__ import annotations

import re
from typing import Any

_MAX_RANGE = 256

_AFTER_OPERATOR = re.compile(r"(?<=[<>=~^]) +")
_BUILD = re.compile(r"\+[0-9A-Za-z.-]+")


def completed(version: str) -> str:
    """A version with its missing parts.

    >>> [completed(text) for text in ("1", "1.2", "1.2.3-rc.1")]
    ['1.0.0', '1.2.0', '1.2.3-rc.1']
    """
    return version if (parts := version.count(".")) >= 2 else version + ".0" * (2 - parts)


def is_range(text: str) -> bool:
    """Whether `text` is an npm version range."""
    return _range(text) is not None


def in_range(version: str, range_: str) -> bool:
    """Whether the semver `version` is in the npm range `range_`; False when that is not a range."""
    from semantic_version import Version

    spec = _range(range_)
    return spec is not None and bool(spec.match(Version(version).truncate("prerelease")))


def _range(text: str) -> Any:
    from semantic_version import NpmSpec

    if len(text) > _MAX_RANGE or not text.isascii() or not text.isprintable() or not text.strip():
        return None
    spaced = _AFTER_OPERATOR.sub("", " ".join(_BUILD.sub("", text).split()))
    try:
        return NpmSpec(spaced)
    except (ValueError, AttributeError, AssertionError):  # raised by the library for invalid ranges
        return None
