"""The order in which skills are loaded: a skill comes after its dependencies.

Rules kept here:
- every dependency is among the given or the loaded skills, and its version is in the range;
- the same holds for the loaded skills: a replacement stays in the range of the skills that depend on it;
- there is no cycle;
- a name is given once; a given skill replaces a loaded skill of the same name;
- no two names look alike (`skill_names.py`);
- the same input gives the same order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from graphlib import CycleError, TopologicalSorter

from cortex_skills.manifest.model import Dependency, Manifest, ManifestError
from cortex_skills.manifest.skill_names import appearance
from cortex_skills.manifest.versions import in_range
from cortex_skills.safe_io.schemas import Mark, Path, Problem


def load_order(manifests: Iterable[Manifest], loaded: Iterable[Manifest] = ()) -> list[Manifest]:
    """Sort skills into an order in which they can be loaded.

    Args:
        manifests: the skills to load.
        loaded: the skills that are already loaded; they are not in the result.

    Raises:
        ManifestError: a dependency is missing or out of range, there is a cycle, or two names are or look the same.
    """
    given = list(manifests)
    known = {manifest.name: manifest for manifest in [*loaded, *given]}
    problems = [*_duplicates(given), *_look_alikes(given, known), *_unmet(known)]
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


class Joining:
    """Skills that are loaded one after another: whether the next one can be.

    Most skills have no dependency and a name that looks like no other, so that nothing else need be compared.

    Args:
        loaded: the skills that are loaded already.
    """

    def __init__(self, loaded: Iterable[Manifest]) -> None:
        self._loaded = list(loaded)
        self._appearances = {appearance(manifest.name) for manifest in self._loaded}

    def check(self, manifest: Manifest) -> None:
        """Check that a skill with a new name can be loaded.

        Raises:
            ManifestError: as for `load_order`.
        """
        if appearance(manifest.name) in self._appearances or any(_dependencies(manifest)):
            load_order([manifest], self._loaded)

    def add(self, manifest: Manifest) -> None:
        """Note a skill that was loaded."""
        self._loaded.append(manifest)
        self._appearances.add(appearance(manifest.name))


def _duplicates(given: list[Manifest]) -> Iterator[Problem]:
    names = set()
    for manifest in given:
        if manifest.name in names:
            yield _problem(manifest, ("name",), "is the name of two skills", "load only one of them")
        names.add(manifest.name)


def _look_alikes(given: list[Manifest], known: dict[str, Manifest]) -> Iterator[Problem]:
    names: dict[str, list[str]] = {}
    for name in known:
        names.setdefault(appearance(name), []).append(name)
    for manifest in given:
        others = [name for name in names[appearance(manifest.name)] if name != manifest.name]
        if others:
            message = f"{manifest.name!a} looks like {others[0]!a}, the name of another skill"
            yield _problem(manifest, ("name",), message, "load only one of them, or rename one")


def _unmet(known: dict[str, Manifest]) -> Iterator[Problem]:
    for manifest in known.values():
        for path, wanted in _dependencies(manifest):
            found = known.get(wanted.slug)
            needs = f"{manifest.name} needs {wanted.slug} {wanted.version}"
            if found is None:
                yield _problem(manifest, path, f"{needs}, which is not loaded", f"load {wanted.slug} too")
            elif found.semantic is None:
                hint = "depend on semantic skills only"
                yield _problem(manifest, path, f"{needs}, which is not a semantic skill", hint)
            elif not in_range(found.semantic.skill_version, wanted.version):
                hint = f"take another version of {wanted.slug}, or widen the range"
                yield _problem(manifest, path, f"{needs}, but it is at {found.semantic.skill_version}", hint)


def _cycle(names: list[str], known: dict[str, Manifest]) -> Problem:
    """The problem of a cycle; each of `names` depends on the next, and the last name equals the first."""
    manifest = known[names[0]]
    path = next(path for path, dependency in _dependencies(manifest) if dependency.slug == names[1])
    return _problem(manifest, path, f"closes a cycle: {' → '.join(names)}", "remove one of these dependencies")


def _dependencies(manifest: Manifest) -> Iterator[tuple[Path, Dependency]]:
    for index, dependency in enumerate(manifest.semantic.dependencies if manifest.semantic else ()):
        yield ("semantic", "dependencies", index), dependency


def _problem(manifest: Manifest, path: Path, message: str, hint: str) -> Problem:
    return Problem(path, message, hint, Mark(f"{manifest.name}/SKILL.md"))
