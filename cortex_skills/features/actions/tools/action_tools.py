"""Actions as tools: how they are named, listed and called.

Rules kept here:
- an action is called like any tool, and takes its own steps: the tool itself refuses to run;
- every active skill must allow it, and the acting one needs its permissions; the gate checks the trust level.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from cortex_skills.audit.audit_log import AuditLog
from cortex_skills.errors import CortexError
from cortex_skills.features.actions.action import AgentAction
from cortex_skills.features.actions.steps import ActionFacts, ActionSteps, Approved, Asking
from cortex_skills.policy.session_limits import SessionLimits
from cortex_skills.runtime.skill import Skill
from cortex_skills.tools.base import Call, Outcome, Tool

_OPEN = frozenset({"network", "agent", "shell"})


@dataclass(frozen=True, slots=True)
class ActionRun:
    """One call of an action: the request of it that a person approved, if one did, or why it waits in any case."""

    action: AgentAction
    steps: ActionSteps
    facts: ActionFacts
    approved: Approved | None = None
    asks: Asking | None = None

    def run(self, tool: Tool, call: Call, limits: SessionLimits | None) -> Outcome:
        """Run the action, or keep a request for it."""
        return self.steps.run(tool, self.action, call, limits, self.facts, self.approved, asks=self.asks)

    def recorded(self, audit: AuditLog, text: str, details: Mapping[str, Any]) -> dict[str, Any]:
        """What the audit states about it: outputs as an object; of a call that waits, the id; of a refusal, why."""
        if "outputs" in details:
            outputs = details["outputs"]
        else:
            outputs = {"approval": details["approval"]} if "approval" in details else {"error": text}
        return {**self.facts.for_audit(audit), "outputs": outputs}


@dataclass(frozen=True, slots=True)
class StepsOfAction:
    """The steps of an action in place of those of the gate."""

    action: AgentAction
    steps: ActionSteps

    @property
    def acting(self) -> Skill | None:
        """The skill as which it acts."""
        return self.action.acting

    def begin(self, approved: Approved | None = None, asks: Asking | None = None) -> ActionRun:
        """Begin a call."""
        return ActionRun(self.action, self.steps, ActionFacts.of(self.action), approved, asks)


def tool_of(action: AgentAction, steps: ActionSteps) -> Tool:
    """The tool of an action."""
    manifest, writes = action.manifest, not action.read_only
    return Tool(
        name=manifest.id,
        description=manifest.description.strip(),
        input_schema=manifest.input_schema(),
        output_schema=_details(manifest.output_schema()),
        permissions=action.permissions,
        budget=None,
        run=_refuse,
        read_only=action.read_only,
        destructive=writes,
        idempotent=action.read_only,
        open_world=manifest.category in _OPEN or (manifest.category == "artifact" and writes),
        profile=action.profile,
        steps=StepsOfAction(action, steps),
    )


def action_of(tool: Tool) -> AgentAction | None:
    """The action that a tool is; None for a tool that is none."""
    return tool.steps.action if isinstance(tool.steps, StepsOfAction) else None


def begin_of_person(tool: Tool, approved: Approved | None = None, asks: Asking | None = None) -> ActionRun:
    """Begin a call that a person approved, or edited, so that it waits.

    Raises:
        CortexError: `invalid_arguments`: the tool is no action.
    """
    if not isinstance(tool.steps, StepsOfAction):
        raise CortexError("invalid_arguments", f"{tool.name} is a tool, and no action that is approved")
    return tool.steps.begin(approved, asks)


def _refuse(_: Call) -> NoReturn:
    raise RuntimeError("an action runs through the steps of the gate only")


def _details(outputs: dict[str, Any]) -> dict[str, Any]:
    """The schema of the details: the outputs, or the request that waits."""
    return {
        "type": "object",
        "properties": {
            "action": {"type": "string"},
            "status": {"type": "string", "description": "`done`, or `pending_approval`."},
            "outputs": {**outputs, "required": [], "description": "What it answered, cleaned."},
            "approval": {"type": "string", "description": "The id of the request that waits for a person."},
            "strippedCount": {"type": "integer"},
            "notJudgedCount": {"type": "integer"},
        },
        "required": ["action", "status"],
    }
