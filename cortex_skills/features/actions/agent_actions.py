"""`AgentActions`: what the feature keeps for a plugin: actions, the trust level, and requests for approval.

Rules kept here:
- each part is made, and its code imported, at its first use;
- an approved action passes every step of the gate again, as whom it was asked for;
- the place of this process is its workspace, or without one its host: what is asked for here runs here.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cortex_graph.as_of import today_of
from cortex_skills.errors import CortexError
from cortex_skills.features.actions.action_settings import ActionSettings, ApprovalSettings
from cortex_skills.policy.trust_levels import LEVELS

if TYPE_CHECKING:
    from cortex_skills.cancellation import CancelToken
    from cortex_skills.features.actions.action import AgentAction
    from cortex_skills.features.actions.action_request import ActionRequest
    from cortex_skills.features.actions.approvals.desk import Approvals
    from cortex_skills.features.actions.approvals.queue import ApprovalQueue
    from cortex_skills.features.actions.approvals.record import ApprovalRecord
    from cortex_skills.features.actions.approvals.rule_book import RuleBook
    from cortex_skills.features.actions.catalog import Actions, ActionSource
    from cortex_skills.features.actions.steps import ActionSteps, Asking
    from cortex_skills.features.actions.trust_store import TrustChange, TrustStore
    from cortex_skills.gate.gate import Gate
    from cortex_skills.gate.result import Result
    from cortex_skills.host import Host
    from cortex_skills.keys.ed25519 import Key
    from cortex_skills.tools import Tool

log = logging.getLogger(__name__)


class AgentActions:
    """The actions of one plugin as a source of tools. Safe to use from several threads.

    Attributes:
        sources: of further actions; to be added before `actions` is used.
        connected: the gate, once the feature is attached.
        set_level: changes the trust level as the owner, in Python: who does, and the level.
        decide: decides about a request in Python: `approvals.approve` or `approvals.reject`, who does, whether that is
            the owner, the id and the reason.
    """

    def __init__(self, host: Host) -> None:
        self._host = host
        self.connected: Gate | None = None
        self.set_level: Callable[[str, object], TrustChange]
        self.decide: Callable[[str, str, bool, str, str], object]
        self.sources: list[ActionSource] = []
        self._tool_of = lru_cache(maxsize=1024)(self._as_tool)

    @property
    def gate(self) -> Gate:
        """The gate that runs the actions.

        Raises:
            CortexError: `config_invalid`: the feature is not installed.
        """
        if self.connected is None:
            hint = "install the distribution again: its entry points have the feature `actions`"
            raise CortexError("config_invalid", "this installation has no actions and no approvals", hint=hint)
        return self.connected

    @property
    def actions(self) -> Actions:
        """Those that agents may ask for."""
        return self._host.part(_actions)

    @property
    def trust(self) -> TrustStore:
        """The trust level of the namespace, of today."""
        return self._host.part(_trust)

    @property
    def queue(self) -> ApprovalQueue:
        """The requests of the namespace, of today."""
        return self._host.part(_queue)

    @property
    def approvals(self) -> Approvals:
        """The requests, with the decisions about them."""
        return self._host.part(_approvals)

    @property
    def rules(self) -> RuleBook:
        """The rules of persons that approve."""
        return self._host.part(_rules)

    @property
    def steps(self) -> ActionSteps:
        """What runs the actions."""
        return self._host.part(_steps)

    # --- the place of this process

    def workspace_id(self, *, creates: bool = True) -> str:
        """The id of the workspace of this process; empty if it has none.

        Args:
            creates: whether it is written where there is none yet.

        Raises:
            CortexError: `workspace_invalid`.
        """
        folder = self._host.config.section(ActionSettings).workspace
        if not folder:
            return ""
        from cortex_skills.features.actions.workspace_id import workspace_id

        return workspace_id(Path(folder), self._host.identity.id, creates=creates)

    def place(self, *, creates: bool = True) -> str:
        """Where requests of this process run (`ActionRequest.place`); arguments and errors as for `workspace_id`."""
        from cortex_skills.features.actions.action_request import place_of

        return place_of(self._host.identity.id, self.workspace_id(creates=creates))

    def runs_here(self, request: ActionRequest) -> bool:
        """Whether a request was asked for here: with this workspace, or without one on this host.

        Raises:
            CortexError: `workspace_invalid`.
        """
        if not request.workspace:
            return request.host in ("", self._host.identity.id)
        return request.workspace == self.workspace_id(creates=False)

    def check_signatures(self, record: ApprovalRecord) -> None:
        """Check that this host may run what was approved on another one: it asked for it, and trusts the other.

        Raises:
            CortexError: `approval_changed`.
        """
        hosts = self._host.config.section(ApprovalSettings).hosts
        signer = _signer(self._host)
        keys = {*hosts} if signer is None else {*hosts, signer.did}
        resolution = record.resolution
        wrong = ""
        if record.signed is None or not record.signed.is_of(keys):
            wrong = "was not asked for by this host, or one of approvals.hosts"
        elif hosts and (resolution is None or resolution.signed is None or not resolution.signed.is_of(keys)):
            wrong = "was not approved on this host, or one of approvals.hosts"
        if wrong:
            hint = "add the key of that host to approvals.hosts: cortex-skills key list"
            raise CortexError("approval_changed", f"the request {record.id} {wrong}", hint=hint)

    # --- a source of tools

    def find(self, name: str) -> Tool | None:
        """The action of that id as a tool."""
        action = self.actions.find(name)
        return None if action is None else self._tool_of(action)

    def all(self) -> Mapping[str, Tool]:
        """The actions as tools: those that can run at the trust level of today, with an approval or without."""
        known = self.actions.all()
        level = LEVELS.index(self.trust.level()) if known else 0
        offered = {name: one for name, one in known.items() if level >= LEVELS.index(one.manifest.min_trust_level)}
        return {name: self._tool_of(action) for name, action in offered.items()}

    def revision(self) -> str:
        """A text that differs after each change of the actions."""
        return f"{self.trust.level()} {self.actions.revision()}"

    def _as_tool(self, action: AgentAction) -> Tool:
        from cortex_skills.features.actions.tools.action_tools import tool_of

        return tool_of(action, self.steps)

    # --- approved requests

    def run_approved(
        self,
        request: ActionRequest,
        approved_by: str,
        cancel: CancelToken | None = None,
        *,
        approval: ApprovalRecord | None = None,
    ) -> Result:
        """Run an action that a person approved: every check is made again, with the rules of today.

        Args:
            request: as it was kept, and as the person was shown it.
            approved_by: who approved it.
            cancel: cancels the run early.
            approval: the kept request, which the audit names.

        Returns:
            The result; a refusal is one too, with its code: the action did not run then, unless the code is
            `action_failed`, `action_timeout` or `internal_error`.
        """
        from cortex_skills.features.actions.steps import Approved, facts_of
        from cortex_skills.features.actions.tools.action_tools import begin_of_person

        approved = Approved(request, approved_by, {} if approval is None else facts_of(approval))
        return self.gate.call(
            request.action,
            dict(request.inputs),
            request.skill,
            request.agent,
            cancel,
            self._host.limits.of(None),
            begin=partial(begin_of_person, approved=approved),
        )

    def ask_edited(self, record: ApprovalRecord, inputs: Mapping[str, Any], by: str) -> str:
        """Keep a request in place of one, with the inputs that a person gives: every check is made of them.

        Args:
            record: the request, which waits.
            inputs: of the new one.
            by: who edited them.

        Returns:
            The id of the new request, which waits for its own decision.

        Raises:
            CortexError: a check refuses the inputs; `invalid_arguments`: they are as they were.
        """
        from cortex_skills.features.actions.tools.action_tools import begin_of_person

        request, why = record.request, _edited(record.request, inputs, by)
        limits = self._host.limits.of(None)
        begin = partial(begin_of_person, asks=why)
        result = self.gate.call(request.action, dict(inputs), request.skill, request.agent, None, limits, begin=begin)
        if result.code is not None or "approval" not in result.details:
            message, _, hint = result.text.partition("\n")
            raise CortexError(result.code or "internal_error", message, hint=hint)
        return str(result.details["approval"])

    def preview_edited(self, record: ApprovalRecord, inputs: Mapping[str, Any], by: str) -> ActionRequest:
        """The request that `ask_edited` would keep; the arguments and errors are those of that."""
        from cortex_skills.features.actions.tools.action_tools import action_of
        from cortex_skills.tools import Call, find_tool

        request, why = record.request, _edited(record.request, inputs, by)
        self.check_runs_here(request)
        tool = find_tool(request.action, self._host.tool_sources)
        action = action_of(tool)
        if action is None:
            raise CortexError("tool_not_found", f"{request.action} is no action here", hint="it still waits")
        skill, active = self.gate.active.enter(request.skill) if action.acting is None else (action.acting, {})
        try:
            call = Call(skill, dict(inputs), request.agent, self._host, None, active=active or self.gate.active.skills)
            return self.steps.preview(tool, action, call, why)
        finally:
            if action.acting is None:
                skill.calls.leave()

    def check_runs_here(self, request: ActionRequest) -> None:
        """Check that an approved request could run in this process now, before a person's decision is taken.

        Raises:
            CortexError: `tool_not_found`, `skill_not_found` or `skill_ambiguous`; `tool_not_allowed` or
                `permission_denied`: a loaded skill refuses it; `trust_level_too_low`.
        """
        from cortex_skills.features.actions.checks import too_low
        from cortex_skills.features.actions.tools.action_tools import action_of
        from cortex_skills.gate.decisions import decide
        from cortex_skills.policy.trust_levels import Refused
        from cortex_skills.policy.trust_levels import decide as decide_level
        from cortex_skills.tools import find_tool

        action = action_of(find_tool(request.action, self._host.tool_sources))
        if action is None:
            raise CortexError("tool_not_found", f"{request.action} is no action here", hint="it still waits")
        skill = request.skill if action.acting is None else None
        found = decide(request.action, self.gate.active.skills, skill=skill, sources=self._host.tool_sources)
        if found.code is not None:
            raise CortexError(found.code, found.message, hint=f"{found.hint}; the request still waits")
        level = decide_level(self.trust.level(), action.manifest, allow_reads=True)
        if isinstance(level, Refused):
            raise too_low(action.manifest, level)

    def close(self) -> None:
        """End what actions left running, and notify no more of requests."""
        if self._host.has_part(_actions):
            self.actions.close()
        if self._host.has_part(_approvals):
            self.approvals.close()


def _edited(request: ActionRequest, inputs: Mapping[str, Any], by: str) -> Asking:
    """Why a request with other inputs waits.

    Raises:
        CortexError: `invalid_arguments`: they are as they were.
    """
    from cortex_skills.features.actions.steps import Asking

    if dict(inputs) == dict(request.inputs):
        raise CortexError("invalid_arguments", "the inputs are as they were", hint="approve the request as it is")
    return Asking(f"{by} edited what {request.agent} asked for", request.asked_by)


def _actions(host: Host) -> Actions:
    from cortex_skills.features.actions.catalog import Actions
    from cortex_skills.features.actions.own_files import guarded
    from cortex_skills.tools.catalog import tool_names

    return Actions(guarded(host.config), tool_names(), host.part(AgentActions).sources)


def _trust(host: Host) -> TrustStore:
    from cortex_skills.features.actions.trust_store import TrustStore

    graph = today_of(host.graph)
    return TrustStore(
        graph.store, graph.names, host.config.section(ActionSettings).trust_level, host.part(AgentActions).set_level
    )


def _queue(host: Host) -> ApprovalQueue:
    from cortex_skills.features.actions.approvals.queue import ApprovalQueue

    graph = today_of(host.graph)
    return ApprovalQueue(graph.store, graph.names, signer=lambda: _signer(host))


def _signer(host: Host) -> Key | None:
    from cortex_skills.keys.folder import signing_key

    try:
        return signing_key(host.config)
    except CortexError as error:
        log.warning("a request for approval is not signed, and runs only where it is approved: %s", error.message)
        return None


def _approvals(host: Host) -> Approvals:
    from cortex_skills.features.actions.approvals.desk import Approvals

    acting = host.part(AgentActions)
    return Approvals(
        acting.queue,
        host.config.section(ApprovalSettings),
        host.audit,
        lambda record, by, cancel: acting.run_approved(record.request, by, cancel, approval=record),
        acting.runs_here,
        acting.check_runs_here,
        partial(acting.gate.hooks.notify, "approval_resolved"),
        acting.decide,
    )


def _steps(host: Host) -> ActionSteps:
    from cortex_skills.features.actions.steps import ActionSteps

    acting = host.part(AgentActions)
    settings = acting.actions.settings
    return ActionSteps(acting.gate.hooks, settings, acting.trust, acting.approvals, acting.workspace_id, acting.rules)


def _rules(host: Host) -> RuleBook:
    from cortex_skills.features.actions.approvals.rule_book import RuleBook, may_still_approve
    from cortex_skills.features.actions.paths import Workspace

    graph, acting = today_of(host.graph), host.part(AgentActions)
    settings = acting.actions.settings
    return RuleBook(
        graph.store,
        graph.names,
        acting.queue.now,
        lambda: _signer(host),
        host.audit,
        partial(may_still_approve, host.config.cortex.token_file),
        Workspace.of(settings) if settings.workspace else None,
        is_on=host.config.section(ApprovalSettings).rules,
    )
