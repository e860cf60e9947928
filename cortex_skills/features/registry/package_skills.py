"""The procedural skills of the package, which every registry has (`package_view.py`).

Rules kept here:
- a skill of another origin keeps its name;
- a version of the package that is not among those of a stored record is registered as the next one, so that two
  versions of the package on one store do not take turns; one that cannot be written to keeps its version.
"""

from __future__ import annotations

import logging
from functools import cache, lru_cache, partial
from pathlib import Path

from cortex_graph import GraphError
from cortex_skills.errors import CortexError
from cortex_skills.features.registry.content import digest
from cortex_skills.features.registry.document import MANIFEST, SkillDocument
from cortex_skills.features.registry.folders import read_skill_folder, skill_folders_in
from cortex_skills.features.registry.package_view import ACTOR, PackageSkills
from cortex_skills.features.registry.registration import UNSIGNED
from cortex_skills.features.registry.registry import SkillRegistry
from cortex_skills.features.registry.skill_record import SkillKey

log = logging.getLogger(__name__)

FOLDER = Path(__file__).parent / "builtin"
_MOST_NAMESPACES = 16


def package_skills(namespace: str) -> PackageSkills:
    """The skills of the package as those of a namespace."""
    keys = [SkillKey(namespace, name) for name in _names()]
    return PackageSkills(keys, partial(_documents, namespace))


@cache
def _names() -> tuple[str, ...]:
    return tuple(folder.name for folder in skill_folders_in(FOLDER))


@lru_cache(_MOST_NAMESPACES)
def _documents(namespace: str) -> tuple[tuple[SkillDocument, float], ...]:
    folders = [FOLDER / name for name in _names()]
    return tuple((read_skill_folder(each, namespace).document, (each / MANIFEST).stat().st_mtime) for each in folders)


def update_package_skills(registry: SkillRegistry) -> None:
    """Register the skills of the package that a store has in another version."""
    package = package_skills(registry.terms.names.namespace)
    try:
        if not any(map(registry.skills.is_stored, package.keys)):
            return
        for document, _ in package.read():
            key = SkillKey(document.namespace, document.name)
            if registry.record(key).standing.origin != "builtin":
                continue
            if digest(document) not in {version.digest for version in registry.versions(key)}:
                registry.register(document, actor=ACTOR, origin="builtin", signature=UNSIGNED)
    except (CortexError, GraphError) as error:
        log.warning("the skills of the package are not registered: %s", error)
