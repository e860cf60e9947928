"""How a host uses a plugin, for the type checker (`make lint`): what features add has types."""

from typing import assert_type

from cortex_skills import Config, Plugin
from cortex_skills.features.memory.memories import Memories
from cortex_skills.features.registry.records.registry import SkillRegistry


def use(config: Config) -> None:
    """Use members of features."""
    with Plugin.open(config) as plugin:
        assert_type(plugin.registry, SkillRegistry)
        assert_type(plugin.memories, Memories)
        plugin.outcome("verify-kyc", success=True)
        plugin.outcome("verify-kyc", success="yes")  # type: ignore[arg-type]
        plugin.invoices  # type: ignore[attr-defined]  # noqa: B018
