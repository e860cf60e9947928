"""Which skills are reloaded together.

Rules kept here:
- skills that depend on one another, directly or through others, by their old manifests or by their new ones, are one
  group: what changed of it goes over together, or not at all;
- what did not change is not reloaded with what it depends on: skills share no code and no state, only the graph. That
  its dependencies are still there and in range is checked all the same;
- groups with a skill that was rejected before come last, so that one that takes its time does not hold up the others.

Nothing here does any input or output.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from cortex_skills.manifest import Manifest

Links = Mapping[str, set[str]]


def links(manifests: Iterable[Manifest]) -> Links:
    """Which skills are tied to which by a dependency, in either direction."""
    found: dict[str, set[str]] = {}
    for manifest in manifests:
        for dependency in manifest.semantic.dependencies if manifest.semantic else ():
            found.setdefault(manifest.name, set()).add(dependency.slug)
            found.setdefault(dependency.slug, set()).add(manifest.name)
    return found


def together(name: str, tied: Links) -> set[str]:
    """The skill and all that it is tied to.

    >>> sorted(together("a", {"a": {"b"}, "b": {"a", "c"}, "c": {"b"}}))
    ['a', 'b', 'c']
    """
    found, pending = {name}, [name]
    while pending:
        new = tied.get(pending.pop(), set()) - found
        found |= new
        pending += new
    return found


def groups(changed: Collection[str], tied: Links, rejected_before: Collection[str]) -> list[list[str]]:
    """The changed skills by group, each group sorted, in the order in which to reload them."""
    found: list[list[str]] = []
    left = set(changed)
    for name in sorted(changed):
        if name in left:
            group = together(name, tied) & left
            left -= group
            found.append(sorted(group))
    return sorted(found, key=lambda group: any(name in rejected_before for name in group))
