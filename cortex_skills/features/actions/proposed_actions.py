"""Actions that the code of a skill proposes: each is kept as a request for a person, and none runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from cortex_skills.audit import call_records as audit
from cortex_skills.errors import CortexError, as_ours
from cortex_skills.features.actions.steps import ActionFacts, ActionSteps, Asking
from cortex_skills.features.actions.tools.action_tools import action_of
from cortex_skills.policy.permissions import check_call, check_permissions
from cortex_skills.policy.session_limits import SessionLimits
from cortex_skills.safe_io.schemas import shown
from cortex_skills.tools import Call, tool_named

MAX_PROPOSED = 5


def propose(steps: ActionSteps, given: Sequence[Any], call: Call, limits: SessionLimits | None) -> list[dict[str, Any]]:
    """Keep the actions that the code of a skill proposes.

    Args:
        steps: of actions.
        given: what the skill wrote: objects with `action` and `inputs`.
        call: of the tool in which it did.
        limits: of the session of the call.

    Returns:
        For each of the first `MAX_PROPOSED` its name, and the id of its request or the code of its refusal.
    """
    return [_proposed(steps, each, call, limits) for each in given[:MAX_PROPOSED]]


def _proposed(steps: ActionSteps, given: Any, call: Call, limits: SessionLimits | None) -> dict[str, Any]:
    name = given.get("action") if isinstance(given, dict) else None
    shown_as = audit.word(name)
    facts = ActionFacts()
    try:
        check_permissions(("actions:request",), call.skill.manifest, "actionRequests")
        if not isinstance(given, dict) or set(given) != {"action", "inputs"}:
            raise CortexError("invalid_arguments", "an action request has `action` and `inputs`, and nothing else")
        tool = tool_named(name, call.host.tool_sources)
        action = None if tool is None else action_of(tool)
        if tool is None or action is None:
            raise CortexError("tool_not_found", f"there is no action {shown(name)}")
        facts = ActionFacts.of(action)
        check_call(tool.name, tool.permissions, call.skill.manifest, [one.manifest for one in call.active.values()])
        asked = replace(call, arguments=given["inputs"])
        why = Asking(f"the skill {call.skill.name} proposes it")
        outcome = steps.run(tool, action, asked, limits, facts, asks=why)
        code, found = "ok", {name: outcome.details[name] for name in ("status", "approval")}
    except Exception as error:
        refused = as_ours(shown_as, error)
        code, found = refused.code, {"status": "refused", "code": refused.code}
    skill = call.skill.name
    recorded = {"skill": skill, "outcome": code, "facts": facts.about, **facts.named()}
    call.host.audit.event("action.proposed", agent=call.agent, **recorded)
    return {"action": shown_as, **found}
