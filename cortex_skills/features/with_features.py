"""`Plugin` and `Config` with what the features of this distribution add, for type checkers.

`from cortex_skills import Config, Plugin` has these types. Nothing imports them when the program runs: members and
settings are found by the installed features then. `Plugin.part` and `Config.section` have the types of any feature.
"""

from cortex_skills.config.settings import Config
from cortex_skills.features.actions.action_members import ActionMembers
from cortex_skills.features.actions.action_settings import ActionSettings, ApprovalSettings
from cortex_skills.features.artifacts.artifact_members import ArtifactMembers
from cortex_skills.features.artifacts.artifact_settings import ArtifactSettings
from cortex_skills.features.finder.finder_settings import FinderSettings
from cortex_skills.features.graph.graph_settings import GraphSettings
from cortex_skills.features.memory.memory_members import MemoryMembers
from cortex_skills.features.proofs.proof_members import ProofMembers
from cortex_skills.features.proofs.proof_settings import ProofSettings
from cortex_skills.features.registry.registry_members import RegistryMembers
from cortex_skills.features.registry.registry_settings import LearningSettings, RegistrySettings
from cortex_skills.features.typed_calls import TypedCalls


class ConfigWithFeatures(Config):
    """The whole configuration; see `cortex_skills.config.settings.Config`."""

    actions: ActionSettings
    approvals: ApprovalSettings
    artifacts: ArtifactSettings
    finder: FinderSettings
    graph: GraphSettings
    learning: LearningSettings
    proofs: ProofSettings
    registry: RegistrySettings


class PluginWithFeatures(ActionMembers, ArtifactMembers, MemoryMembers, ProofMembers, RegistryMembers, TypedCalls):
    """One session of skills on one namespace; see `cortex_skills.plugin.Plugin`."""

    config: ConfigWithFeatures
