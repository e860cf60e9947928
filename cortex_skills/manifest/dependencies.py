"""In which order skills are loaded: what a skill depends on comes before it.

Rules kept here:
- every dependency is there, among the given skills or the loaded ones, and its version is in the range;
- that holds for the loaded skills as well: one that is replaced stays in range for those that depend on it;
- no skill depends on itself through others;
- a name is given once; a given skill takes the place of a loaded one of its name;
- the same input gives the same order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from graphlib import CycleError, TopologicalSorter

from cortex_skills.manifest.errors import ManifestError
from cortex_skills.manifest.model import Dependency, Manifest
from cortex_skills.manifest.versions import in_range
from cortex_skills.schemas import Mark, Path, Problem


def load_order(manifests: Iterable[Manifest], loaded: Iterable[Manifest] = ()) -> list[Manifest]:
    """Put skills into the order in which they can be loaded.

    Args:
        manifests: the skills to load.
        loaded: the skills that are loaded already; they are not part of the answer.

    Raises:
        ManifestError: a dependency is missing or out of range, or there is a cycle; with skill and field.

    """
    given = list(manifests)
    known = {manifest.name: manifest for manifest in [*loaded, *given]}
    problems = [*_duplicates(given), *_unmet(known)]
    if problems:
        raise ManifestError(problems)
    sorter: TopologicalSorter[str] = TopologicalSorter()
    for name, manifest in known.items():
        sorter.add(name, *(dependency.slug for _, dependency in _dependencies(manifest)))
    try:
        order = {name: place for place, name in enumerate(sorter.static_order())}
    except CycleError as error:
        raise ManifestError([_cycle(error.args[1][::-1], known)]) from None
    return sorted(given, key=lambda manifest: order[manifest.name])


def _duplicates(given: list[Manifest]) -> Iterator[Problem]:
    names = set()
    for manifest in given:
        if manifest.name in names:
            yield _problem(manifest, ("name",), "is the name of two skills", "load one of the two")
        names.add(manifest.name)


def _unmet(known: dict[str, Manifest]) -> Iterator[Problem]:
    for manifest in known.values():
        for path, wanted in _dependencies(manifest):
            found = known.get(wanted.slug)
            needs = f"{manifest.name} needs {wanted.slug} {wanted.version}"
            if found is None:
                yield _problem(manifest, path, f"{needs}, which is not loaded", f"load {wanted.slug} too")
            elif found.semantic is None:
                hint = "depend on semantic skills only"
                yield _problem(manifest, path, f"{needs}, which is no semantic skill", hint)
            elif not in_range(found.semantic.skill_version, wanted.version):
                hint = f"take another version of {wanted.slug}, or widen the range"
                yield _problem(manifest, path, f"{needs}, but it is at {found.semantic.skill_version}", hint)


def _cycle(names: list[str], known: dict[str, Manifest]) -> Problem:
    """The problem with a cycle; each of `names` depends on the next, and the last is the first again."""
    manifest = known[names[0]]
    path = next(path for path, dependency in _dependencies(manifest) if dependency.slug == names[1])
    return _problem(manifest, path, f"closes a cycle: {' → '.join(names)}", "take one of these dependencies out")


def _dependencies(manifest: Manifest) -> Iterator[tuple[Path, Dependency]]:
    for index, dependency in enumerate(manifest.semantic.dependencies if manifest.semantic else ()):
        yield ("semantic", "dependencies", index), dependency


def _problem(manifest: Manifest, path: Path, message: str, hint: str) -> Problem:
    return Problem(path, message, hint, Mark(f"{manifest.name}/SKILL.md"))
