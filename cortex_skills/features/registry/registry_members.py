"""What the feature `registry` adds to a plugin."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from cortex_skills.features.registry.parts import finder_in, registry_in
from cortex_skills.features.registry.registry_settings import RegistrySettings
from cortex_skills.gate.gate import checked_agent
from cortex_skills.operations.caller import owner
from cortex_skills.operations.run import run
from cortex_skills.plugin import Plugin

if TYPE_CHECKING:
    from cortex_skills.features.registry.records.registry import SkillRegistry
    from cortex_skills.features.registry.skill_finder import SkillFinder
    from cortex_skills.features.registry.sources import SyncReport


class RegistryMembers(Plugin):
    """The registered skills, and what the host measured of them."""

    @property
    def registry(self) -> SkillRegistry:
        """The registered skills of the namespace. It decides nothing about who may change what."""
        return self.part(registry_in)

    @property
    def skill_finder(self) -> SkillFinder:
        """Finds the registered skills of the namespace by words and meaning."""
        return self.part(finder_in)

    def synchronise(self, *, accept_changed: bool = False, sign: bool = False) -> SyncReport:
        """Register the skills in all folders of `registry.folders` that are new or changed.

        Args:
            accept_changed: register a folder that was changed after its export, as another, unsigned document.
            sign: sign those without a signature with the key of this installation.

        Returns:
            What was registered, and what was refused and why.

        Raises:
            GraphError: the store cannot be used.
        """
        from cortex_skills.features.registry.skill_changes import register
        from cortex_skills.features.registry.sources import synchronise_configured

        return synchronise_configured(
            self.part(registry_in),
            self.config.section(RegistrySettings).folders,
            actor=self.agent,
            accept_changed=accept_changed,
            sign=sign,
            register=partial(self.operate, register),
        )

    def outcome(self, name: str, success: bool, note: str = "", *, agent: str | None = None) -> None:
        """Record that a registered skill was used, with success or without, as the host application measured it.

        What an agent states about a skill is no measurement: that is a call of `skill_feedback`.

        Args:
            name: of the skill: `NAME` or `NAMESPACE/NAME`.
            success: whether it led to what it promises.
            note: why, at most 500 characters of which are kept.
            agent: who used it; the plugin's own when omitted.

        Raises:
            CortexError: `skill_not_found`; `invalid_arguments`.
        """
        from cortex_skills.features.registry.skill_changes import record_outcome

        who = self.agent if agent is None else checked_agent(agent)
        caller = replace(owner(self.agent, "python", self.graph.namespace), agent=who)
        run(record_outcome, caller, {"skill": name, "success": success, "note": note}, self.host_of(self.graph))
