"""SPDX expressions from the licence texts of packages.

Rules kept here:
- a statement names a licence if it is an SPDX expression, or, without words such as "License" and "Version", an SPDX
  identifier: "Apache License, Version 2.0" is `Apache-2.0`, "GPLv3+" is `GPL-3.0-or-later`;
- an ambiguous statement ("BSD License") names none: nothing is guessed;
- categories are those of ScanCode's licence database, which is part of `license-expression`. A licence with an
  exception has the category of the exception: `GPL-2.0-only WITH Classpath-exception-2.0` is "Copyleft Limited".

    >>> named("Apache License, Version 2.0"), named("mit or gpl-3.0"), named("BSD License")
    ('Apache-2.0', 'MIT OR GPL-3.0-only', None)
    >>> categories("MIT OR GPL-3.0-only")
    {'MIT': 'Permissive', 'GPL-3.0-only': 'Copyleft'}
"""

from __future__ import annotations

import re
from functools import cache

from license_expression import Licensing, get_license_index, get_spdx_licensing

_LONGEST = 1000
_FILLER = re.compile(r"\b(?:the|licen[sc]e|version)\b|,", re.IGNORECASE)
_SHORT_VERSION = re.compile(r"v([0-9])(\+?)$", re.IGNORECASE)
_ABBREVIATED = re.compile(r"([^()]*)\(([^()]*)\)")


def named(statement: str) -> str | None:
    """The SPDX expression of a statement; None when it names no licence or is ambiguous."""
    if len(statement) > _LONGEST:
        return None
    return _expression(statement) or _expression(_identifier(statement))


def named_by_classifier(classifier: str) -> str | None:
    """The same for a licence classifier, such as `… :: Mozilla Public License 2.0 (MPL 2.0)`."""
    name = classifier.rpartition(" :: ")[2]
    parts = _ABBREVIATED.match(name)
    return (named(parts[2]) or named(parts[1])) if parts else named(name)


def categories(expression: str) -> dict[str, str]:
    """The category of each licence in a valid expression, by its SPDX identifier (with its exception, if any)."""
    symbols = _licensing().license_symbols(expression, decompose=False)
    return {symbol.render(): _categories()[getattr(symbol, "exception_symbol", symbol).key] for symbol in symbols}


def _expression(text: str) -> str | None:
    try:
        parsed = _licensing().parse(text, validate=True, strict=True)
    except Exception:  # on invalid text the parser raises AssertionError, IndexError and others
        return None
    return None if parsed is None else str(parsed.render())


def _identifier(text: str) -> str:
    """`text` written as an identifier: without filler words, with hyphens for spaces, `v3` expanded."""
    words = _FILLER.sub(" ", text).split()
    return _SHORT_VERSION.sub(r"-\1.0\2", "-".join(words))


@cache
def _licensing() -> Licensing:
    return get_spdx_licensing()


@cache
def _categories() -> dict[str, str]:
    return {entry["spdx_license_key"]: entry["category"] for entry in get_license_index() if entry["spdx_license_key"]}
