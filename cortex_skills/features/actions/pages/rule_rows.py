"""Rules that approve, as rows of the page of approvals, and in a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cortex_skills.doors.explorer import addresses
from cortex_skills.doors.explorer.addresses import ROOT
from cortex_skills.doors.explorer.display import OF_HEADING, OF_NAME, ShownText, shown_name, shown_text
from cortex_skills.doors.explorer.page import PageCall, Repeated
from cortex_skills.doors.http.bodies import to_json
from cortex_skills.features.actions.agent_actions import AgentActions
from cortex_skills.features.actions.rule_operations import ApprovalRuleList, ApprovalRuleState, end_rule, list_rules

PATH = f"{ROOT}/approvals"
TAB = "rules"
_KINDS = {"holds": "warn", "ended": "none", "expired": "none", "used_up": "none"}


@dataclass(frozen=True, slots=True)
class RuleSentence:
    """A rule in words: the skill, what it may do, the folder, the agent, how often, and until when."""

    skill: ShownText
    does: ShownText
    folder: ShownText
    agent: ShownText
    uses: int
    ends: str

    @property
    def plain(self) -> str:
        """The sentence as one string."""
        what = f"{self.skill.plain} may {self.does.plain} below {self.folder.plain} for {self.agent.plain}"
        return f"{what} without being asked, {self.uses} times, until {self.ends}"


@dataclass(frozen=True, slots=True)
class RuleRow:
    """A rule: its id, its sentence, its state with its sign, how often it was used, who made it, and how it ended."""

    id: str
    sentence: RuleSentence
    state: tuple[str, str]
    used: int
    by: ShownText
    reason: ShownText
    created: str
    ended: ShownText
    holds: bool


def rule_sentence(call: PageCall, rule: ApprovalRuleState) -> RuleSentence:
    """A rule in words."""
    action = call.service.plugin.part(AgentActions).actions.find(rule["action"])
    name = "" if action is None else action.manifest.name
    return RuleSentence(
        shown_name(rule["skill"], OF_NAME),
        shown_text(name[:1].lower() + name[1:] if name else f"run {rule['action']}", OF_HEADING),
        shown_name(rule["folder"], OF_HEADING),
        shown_name(rule["agent"]),
        rule["uses"],
        f"{rule['ends'][:16].replace('T', ' ')} UTC",
    )


def rules_of(call: PageCall) -> ApprovalRuleList:
    """The rules of this server.

    Raises:
        HttpError: `permission_denied`.
    """
    return call.api(namespace=call.service.plugin.graph.namespace).operate(list_rules)


def rule_rows(call: PageCall) -> tuple[RuleRow, ...]:
    """The rules as rows."""
    return tuple(
        RuleRow(
            rule["id"],
            rule_sentence(call, rule),
            (_KINDS[rule["state"]], rule["state"].replace("_", " ")),
            rule["used"],
            shown_name(rule["by"]),
            shown_text(rule["reason"]),
            rule["created"],
            shown_text(" ".join(filter(None, [rule["endedBy"] and f"by {rule['endedBy']}", rule["endedReason"]]))),
            rule["state"] == "holds",
        )
        for rule in rules_of(call)["rules"]
    )


def end_chosen(call: PageCall, fields: Mapping[str, str]) -> str:
    """End a rule.

    Raises:
        CortexError: that of the operation.
    """
    api = call.api(namespace=call.service.plugin.graph.namespace)
    api.operate(end_rule, rule=fields.get("rule", ""), reason=fields.get("reason", "").strip())
    return addresses.address(PATH, state=TAB)


def repeated_end(call: PageCall, fields: Mapping[str, str]) -> Repeated:
    """The rule that is ended, for the page that asks for the token again."""
    found = [rule for rule in rules_of(call)["rules"] if rule["id"] == fields.get("rule")]
    plain = rule_sentence(call, found[0]).plain if found else "a rule that is not kept"
    return Repeated(shown_text(f"The rule ends: {plain}", 1_000))


def rules_document(call: PageCall) -> bytes:
    """The rules as JSON."""
    return to_json(rules_of(call))
