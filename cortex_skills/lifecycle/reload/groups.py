"""Which skills are reloaded together.

Rules kept here:
- skills that depend on one another, directly or through others, by their old or new manifests, are one group: its
  changed skills are replaced together, or none of them is;
- an unchanged skill is not reloaded with its dependencies: skills share no code and no state, only the graph. Its
  dependencies must still be present and in range all the same;
- groups with a skill that was rejected before come last, so that a slow one does not delay the others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from cortex_skills.manifest import Manifest

Links = Mapping[str, set[str]]


def links(manifests: Iterable[Manifest]) -> Links:
    """Which skills are connected by a dependency, in either direction."""
    found: dict[str, set[str]] = {}
    for manifest in manifests:
        for dependency in manifest.semantic.dependencies if manifest.semantic else ():
            found.setdefault(manifest.name, set()).add(dependency.slug)
            found.setdefault(dependency.slug, set()).add(manifest.name)
    return found


def connected(name: str, linked: Links) -> set[str]:
    """The skill and all that it is connected to.

    >>> sorted(connected("a", {"a": {"b"}, "b": {"a", "c"}, "c": {"b"}}))
    ['a', 'b', 'c']
    """
    found, pending = {name}, [name]
    while pending:
        new = linked.get(pending.pop(), set()) - found
        found |= new
        pending += new
    return found


def groups(changed: Collection[str], linked: Links, rejected_before: Collection[str]) -> list[list[str]]:
    """The changed skills by group, each group sorted, in the order in which to reload them."""
    found: list[list[str]] = []
    left = set(changed)
    for name in sorted(changed):
        if name in left:
            group = connected(name, linked) & left
            left -= group
            found.append(sorted(group))
    return sorted(found, key=lambda group: any(name in rejected_before for name in group))
