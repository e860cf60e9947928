"""`/explore/approvals/{id}/rule`: from now on, within this folder, until a day: a rule made from a request.

Rules kept here:
- the address has what was typed, so the preview changes nothing; the rule is made with exactly that;
- the preview names the requests that wait and that the rule would have approved; each is still decided.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from cortex_graph import GraphError
from cortex_skills.doors.explorer import addresses
from cortex_skills.doors.explorer.display import ShownText, shown_text
from cortex_skills.doors.explorer.error_pages import with_hint
from cortex_skills.doors.explorer.field_text import to_field
from cortex_skills.doors.explorer.page import Action, ExplorerPage, PageCall, Repeated
from cortex_skills.doors.explorer.page_queries import RuleQuery
from cortex_skills.doors.http.http_errors import HttpError
from cortex_skills.errors import CortexError
from cortex_skills.features.actions.action_request import ActionRequest
from cortex_skills.features.actions.agent_actions import AgentActions
from cortex_skills.features.actions.approvals.rule import LONGEST, paths_of
from cortex_skills.features.actions.pages.approval_list import approvals_of
from cortex_skills.features.actions.pages.request_view import Sentence, manifest_of, sentence_of
from cortex_skills.features.actions.pages.rule_rows import PATH, TAB, RuleSentence, rule_sentence
from cortex_skills.features.actions.rule_operations import USES, add_rule, preview_rule

_FIELDS = ("folder", "ends", "uses", "reason")
_USUAL = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class WaitingRequest:
    """A request that the rule would have approved: its page, and its sentence."""

    href: str
    sentence: Sentence


@dataclass(frozen=True, slots=True)
class RuleOfRequestView:
    """The form, and the preview of what was typed; `fault` is why there is none.

    Attributes:
        typed: the fields of the preview, which the rule is made with.
        latest: the last day that a rule may end.
    """

    sentence: Sentence
    back: str
    fields: dict[str, str]
    latest: str
    rule: RuleSentence | None = None
    waiting: tuple[WaitingRequest, ...] = ()
    fault: ShownText | None = None
    typed: tuple[tuple[str, str], ...] = ()


def view(call: PageCall) -> RuleOfRequestView:
    """The form, with the preview of what was typed, or of what is usual.

    Raises:
        CortexError: `approval_not_found`, `approval_changed`.
    """
    acting, approvals = call.service.plugin.part(AgentActions), approvals_of(call)
    request, now = approvals.show(call.path["id"]).request, datetime.now(UTC)
    usual = {"folder": _folder_of(acting, request), "ends": f"{now + _USUAL:%Y-%m-%d}", "uses": str(USES), "reason": ""}
    fields = {name: to_field(call.query.get(name, usual[name])) for name in _FIELDS}
    made: dict[str, Any] = {
        "sentence": sentence_of(acting, request),
        "back": f"{PATH}/{call.path['id']}",
        "fields": fields,
        "latest": f"{now + LONGEST:%Y-%m-%d}",
    }
    try:
        found = _api(call).operate(preview_rule, **_given(call, {**usual, **call.query}))
    except (CortexError, HttpError) as error:
        fault = with_hint(error)
    except GraphError as error:
        fault = str(error)
    else:
        fault = ""
    if fault:
        return RuleOfRequestView(**made, fault=shown_text(fault, 2_000))
    waiting = tuple(
        WaitingRequest(f"{PATH}/{each}", sentence_of(acting, approvals.show(each).request)) for each in found["waiting"]
    )
    return RuleOfRequestView(
        **made, rule=rule_sentence(call, found["rule"]), waiting=waiting, typed=tuple(fields.items())
    )


def _folder_of(acting: AgentActions, request: ActionRequest) -> str:
    """The folder of the first path of a request; empty for none."""
    manifest = manifest_of(acting, request)
    named = [] if manifest is None else paths_of(manifest)
    return str(request.inputs.get(named[0], "")).rpartition("/")[0] if named else ""


def _given(call: PageCall, fields: Mapping[str, str]) -> dict[str, Any]:
    uses = fields.get("uses", "").strip() or str(USES)
    if not uses.isascii() or not uses.isdigit():
        raise CortexError("invalid_arguments", "the number of uses is no number", hint="1 to 1000")
    given = {name: fields.get(name, "").strip() for name in ("folder", "ends", "reason")}
    return given | {"approval": call.path["id"], "uses": int(uses[:6])}


def _api(call: PageCall) -> Any:
    return call.api(namespace=call.service.plugin.graph.namespace)


def _add(call: PageCall, fields: Mapping[str, str]) -> str:
    """Make the rule.

    Raises:
        CortexError: that of the operation.
    """
    _api(call).operate(add_rule, **_given(call, fields))
    return addresses.address(PATH, state=TAB)


def _repeated(call: PageCall, fields: Mapping[str, str]) -> Repeated:
    """The rule in words, for the page that asks for the token again."""
    found = _api(call).operate(preview_rule, **_given(call, fields))
    return Repeated(shown_text(rule_sentence(call, found["rule"]).plain, 1_000))


PAGE = ExplorerPage(
    f"{PATH}/{{id}}/rule",
    "rule-of-request",
    "rule_of_request.html",
    view,
    query=RuleQuery,
    permission="approve",
    is_public=False,
    actions={"rule": Action("From now on", "approve", _add, repeats=_repeated)},
    pool="slow",
    place=132,
)
