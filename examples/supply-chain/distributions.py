"""The Python distributions of this environment, from their metadata.

Rules kept here:
- everything is read through `importlib.metadata`; names are normalised (PEP 503), and of two distributions with one
  name the first on `sys.path` counts, since that is the one that is imported;
- the licence comes from the newest field that names one: `License-Expression` (PEP 639), then `License` (its first
  line), then the classifiers, when they agree. If none names one, the text of the package is kept;
- a requirement counts when its marker is true in this environment without extras;
- metadata is untrusted: what cannot be parsed is skipped with a warning, and long texts are truncated.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution

import spdx
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

log = logging.getLogger(__name__)

_LONGEST_STATEMENT = 80


@dataclass(frozen=True, slots=True)
class Package:
    """The metadata of one distribution.

    Attributes:
        name: normalised.
        version: as written.
        license: an SPDX expression; None when the metadata names no licence.
        statement: the text about the licence when it names none; None when there is no text.
        requirements: the names of its requirements in this environment, sorted.

    """

    name: str
    version: str
    license: str | None
    statement: str | None
    requirements: tuple[str, ...]


def described(distributions: Iterable[Distribution]) -> Iterator[Package]:
    """The metadata of each distribution; each name once."""
    seen = set()
    for distribution in distributions:
        try:
            names, versions = _values(distribution, "Name"), _values(distribution, "Version")
        except UnicodeDecodeError as error:
            log.warning("left out a distribution whose metadata is not UTF-8: %s", error)
            continue
        except FileNotFoundError:  # raised by the backport of importlib.metadata, if any module has imported it
            names = versions = []
        if not names or not versions:
            log.warning("left out a distribution whose metadata has no name or no version: %s", distribution)
        elif (name := canonicalize_name(names[0])) not in seen:
            seen.add(name)
            yield Package(name, versions[0], *_license(distribution), _requirements(distribution))


def _license(distribution: Distribution) -> tuple[str | None, str | None]:
    """The SPDX expression, or else the text about the licence."""
    texts = [*_values(distribution, "License-Expression"), *_values(distribution, "License")]
    lines = [text.splitlines()[0] for text in texts]
    for line in lines:
        if expression := spdx.named(line):
            return expression, None
    # `License :: OSI Approved` names a group of licences.
    classifiers = [value for value in _values(distribution, "Classifier") if value.startswith("License :: ")]
    meant = {spdx.named_by_classifier(value) for value in classifiers if value.count(" :: ") > 1}
    if len(meant) == 1 and (expression := meant.pop()):
        return expression, None
    stated = [*lines, *(value.rpartition(" :: ")[2] for value in classifiers)]
    return None, stated[0][:_LONGEST_STATEMENT] if stated else None


def _requirements(distribution: Distribution) -> tuple[str, ...]:
    names = set()
    for text in distribution.requires or ():
        try:
            requirement = Requirement(text)
        except InvalidRequirement:
            log.warning("left out a requirement of %s that cannot be read: %r", distribution.name, text)
            continue
        if requirement.marker is None or requirement.marker.evaluate():
            names.add(canonicalize_name(requirement.name))
    return tuple(sorted(names))


def _values(distribution: Distribution, field: str) -> list[str]:
    """The values of a field of the metadata, without empty ones."""
    return [text for value in distribution.metadata.get_all(field) or () if (text := str(value).strip())]
