"""`ArtifactCalls`: the tools and the typed contracts of the artifacts that a plugin has installed, and their gate.

Rules kept here:
- each call of an artifact, and each call that an artifact makes, passes the gate;
- the host asks for a contract, and no model does: what other skills allow a model to call does not matter then;
- what runs artifacts is imported when tools or contracts are first asked for, and not when a plugin opens.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from cortex_skills.errors import CortexError
from cortex_skills.features.artifacts.artifact_settings import ArtifactSettings
from cortex_skills.gate.gate import checked_agent
from cortex_skills.safe_io.schemas import shown

if TYPE_CHECKING:
    from cortex_skills.features.actions.action import ActionCall, AgentAction
    from cortex_skills.features.artifacts.tools.contract_calls import ContractCalls
    from cortex_skills.features.artifacts.tools.installed_tools import InstalledTools
    from cortex_skills.gate.gate import Gate
    from cortex_skills.gate.result import Result
    from cortex_skills.host import Host
    from cortex_skills.runtime.skill import Skill


class ArtifactCalls:
    """The calls of and by the installed artifacts of one plugin. Safe to use from several threads.

    Attributes:
        connected: the gate, once the feature is attached.
    """

    def __init__(self, host: Host) -> None:
        self._host = host
        self.connected: Gate | None = None

    @cached_property
    def tools(self) -> InstalledTools:
        """The tools of the artifacts."""
        from cortex_skills.features.artifacts.tools.installed_tools import InstalledTools

        return InstalledTools(self._host, self.call_as, lambda *message: self.contracts.deliver(*message))

    @cached_property
    def contracts(self) -> ContractCalls:
        """The contracts that they fulfil."""
        from cortex_skills.features.artifacts.tools.contract_calls import ContractCalls

        return ContractCalls(self.tools.all, self._call_contract, self._host.audit)

    # --- a source of actions

    def find(self, name: str) -> AgentAction | None:
        """As `InstalledTools.find`."""
        return self.tools.find(name) if "." in name else None

    def all(self) -> Mapping[str, AgentAction]:
        """As `InstalledTools.all`."""
        return self.tools.all()

    def revision(self) -> str:
        """As `InstalledTools.revision`."""
        return self.tools.revision()

    @property
    def _gate(self) -> Gate:
        if self.connected is None:
            hint = "install the distribution again: its entry points have the feature `artifacts`"
            raise CortexError("config_invalid", "this installation runs no artifacts", hint=hint)
        return self.connected

    def call_as(self, skill: Skill, tool: str, arguments: dict[str, Any], call: ActionCall) -> Result:
        """Call a tool as the skill of an installed artifact, for a call of one of its tools.

        Args:
            skill: of the artifact.
            tool: the name of the tool.
            arguments: as its input schema requires.
            call: in which the artifact runs.
        """
        limits = self._host.limits.of(call.session or None)
        return self._gate.call(tool, arguments, None, call.agent, call.cancel, limits, call.session, acting_as=skill)

    def deliver(self, channel: str, message: bytes, agent: str) -> None:
        """Deliver a message of the host; see `Plugin.deliver`."""
        from cortex_skills.features.artifacts.tools.contract_calls import ARTIFACT

        target = self._host.config.section(ArtifactSettings).channels.get(channel, "")
        if not target.startswith(ARTIFACT):
            raise CortexError(
                "invalid_arguments",
                f"no artifact delivers the channel {shown(channel)}",
                hint="artifacts.channels names it: artifact:SKILL_ID",
            )
        self.contracts.deliver(target.removeprefix(ARTIFACT), channel, message, "host", checked_agent(agent))

    def _call_contract(self, tool: str, payload: dict[str, Any], agent: str) -> Mapping[str, Any]:
        """Call a tool of an installed artifact for a contract; its outputs."""
        result = self._gate.call(tool, payload, None, agent, None, self._host.limits.of(None), alone=True)
        if result.code is not None:
            message, hint = result.details.get("message", result.text), result.details.get("hint", "")
            raise CortexError(result.code, message, hint=hint, details={"tool": tool})
        if result.details.get("status") != "done":
            raise CortexError(
                "approval_required",
                f"{tool} waits for a person, and what needs it cannot wait",
                hint="raise the trust level, or install it with a tool that needs no approval",
                details={"tool": tool},
            )
        outputs: Mapping[str, Any] = result.details["outputs"]
        return outputs
