"""The procedural skills of the package, which are registered when the registry is first used by a tool.

Rules kept here:
- each version of them is registered once, with the origin `builtin`: what is among the versions of its record is not
  registered again, so that two versions of the package on one store do not take turns;
- a skill of another origin keeps its name;
- a store that cannot be written to is used without them.
"""

from __future__ import annotations

import logging
from pathlib import Path

from cortex_graph import GraphError
from cortex_skills.errors import CortexError
from cortex_skills.features.registry.digests import digest
from cortex_skills.features.registry.folders import read_skill_folder, skill_folders_in
from cortex_skills.features.registry.registry import SkillRegistry
from cortex_skills.features.registry.skill_record import SkillKey

log = logging.getLogger(__name__)

FOLDER = Path(__file__).parent / "builtin"
ACTOR = "cortex-skills"


def register_package_skills(registry: SkillRegistry) -> None:
    """Register the skills of the package that are not registered yet."""
    namespace = registry.terms.names.namespace
    try:
        for folder in skill_folders_in(FOLDER):
            read = read_skill_folder(folder, namespace)
            document = read.document
            key = SkillKey(document.namespace, document.name)
            record = registry.find(key)
            if record is not None and record.standing.origin != "builtin":
                continue
            versions = [] if record is None else registry.versions(key)
            if digest(document) not in {version.digest for version in versions}:
                registry.register(document, actor=ACTOR, origin="builtin", signature=read.signature)
    except (CortexError, GraphError) as error:
        log.warning("the skills of the package are not registered: %s", error)
