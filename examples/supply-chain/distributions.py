"""The Python distributions that are installed here, as their own metadata describes them.

Rules kept here:
- everything is read through `importlib.metadata`; names are normalised (PEP 503), and of two distributions with one
  name the first on `sys.path` counts, since that is the one that is imported;
- the licence is what the newest field says that names one: `License-Expression` (PEP 639), then `License` (its first
  line), then the classifiers, when they agree. Where none does, what the package wrote instead is kept;
- a requirement counts when its marker holds in this environment with no extra asked for;
- metadata is written by strangers: what cannot be read is left out with a warning, and long texts are cut.
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
    """What one distribution says about itself.

    Attributes:
        name: normalised.
        version: as written.
        license: an SPDX expression; None when the metadata names no licence.
        statement: what it says of its licence when that names none; None when it says nothing.
        requirements: the names of what it needs in this environment, sorted.

    """

    name: str
    version: str
    license: str | None
    statement: str | None
    requirements: tuple[str, ...]


def described(distributions: Iterable[Distribution]) -> Iterator[Package]:
    """What each distribution says about itself; each name once."""
    seen = set()
    for distribution in distributions:
        try:
            names, versions = _values(distribution, "Name"), _values(distribution, "Version")
        except UnicodeDecodeError as error:
            log.warning("left out a distribution whose metadata is not UTF-8: %s", error)
            continue
        except FileNotFoundError:  # what the backport of importlib.metadata says, once anything has imported it
            names = versions = []
        if not names or not versions:
            log.warning("left out a distribution whose metadata has no name or no version: %s", distribution)
        elif (name := canonicalize_name(names[0])) not in seen:
            seen.add(name)
            yield Package(name, versions[0], *_license(distribution), _requirements(distribution))


def _license(distribution: Distribution) -> tuple[str | None, str | None]:
    """The SPDX expression, or else what is stated in its place."""
    texts = [*_values(distribution, "License-Expression"), *_values(distribution, "License")]
    lines = [text.splitlines()[0] for text in texts]
    for line in lines:
        if expression := spdx.named(line):
            return expression, None
    # `License :: OSI Approved` and its like say what kind of licence it is, not which.
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
    """What a field of the metadata says, each time that it stands there with something in it."""
    return [text for value in distribution.metadata.get_all(field) or () if (text := str(value).strip())]
