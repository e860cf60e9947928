"""`Plugin` with the members that the features of this distribution add, for type checkers.

`from cortex_skills import Plugin` has this type. Nothing imports it when the program runs: members are found by the
installed features then, and `Plugin.part` has the types of the parts of any feature.
"""

from cortex_skills.features.actions.action_members import ActionMembers
from cortex_skills.features.artifacts.artifact_members import ArtifactMembers
from cortex_skills.features.memory.memory_members import MemoryMembers
from cortex_skills.features.proofs.proof_members import ProofMembers
from cortex_skills.features.registry.registry_members import RegistryMembers


class PluginWithFeatures(ActionMembers, ArtifactMembers, MemoryMembers, ProofMembers, RegistryMembers):
    """One session of skills on one namespace; see `cortex_skills.plugin.Plugin`."""
