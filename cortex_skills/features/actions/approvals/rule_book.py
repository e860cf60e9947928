"""The rules of one namespace, in the store: shared by all processes that use it.

Rules kept here:
- they are in the graph of the requests, which no client of the namespace reads or writes;
- a rule holds where it was made: in a process with that workspace, or without one on that host, whose key signed it;
- it holds while the token of the person who made it may approve: one that was revoked, has expired, or is another token
  of that name ends nothing, but approves nothing;
- each use is a claim with a number, made before the action runs, so that no number of processes exceeds the limit; a
  rule that was ended while a use was claimed is not used;
- a rule that has expired or is used up is noted as ended when it is next read, with a record in the audit;
- a rule is kept for 30 days after its end, and removed when another one is added.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph import GraphError
from cortex_graph.checks.datetimes import date_time
from cortex_graph.naming.names import Names
from cortex_graph.naming.vocabulary import CORTEX
from cortex_graph.store import GraphStore, Pattern
from cortex_graph.store_access.claims import apply_claimed, has_claims
from cortex_graph.store_access.read_ahead import Ahead, UpTo, reading_ahead
from cortex_skills.audit.audit_log import AuditLog
from cortex_skills.audit.bounded import Fact
from cortex_skills.audit.chain import Signer
from cortex_skills.errors import CortexError
from cortex_skills.features.actions.action_request import ActionRequest
from cortex_skills.features.actions.approvals.queue import KEPT, Clock
from cortex_skills.features.actions.approvals.record import canonical, digest_of
from cortex_skills.features.actions.approvals.rule import (
    ApprovalRule,
    RuleEnd,
    RuleState,
    end_text,
    read_end,
    read_rule,
    rule_text,
)
from cortex_skills.features.actions.manifest import ActionManifest
from cortex_skills.features.actions.paths import Workspace
from cortex_skills.policy.trust_levels import may_be_ruled
from cortex_skills.safe_io.schemas import shown
from cortex_skills.tokens import ALL_NAMESPACES, TokenFile

log = logging.getLogger(__name__)

MAX_RULES = 100
_AT_ONCE = 200  # quads; some servers limit an update
_USES_AHEAD = 2_000

RULE = NamedNode(f"{CORTEX}approvalRule")
RULE_END = NamedNode(f"{CORTEX}approvalRuleEnd")
USE = NamedNode(f"{CORTEX}approvalRuleUse")
USE_OF = NamedNode(f"{CORTEX}approvalRuleUseOf")


@dataclass(frozen=True, slots=True)
class KeptRule:
    """A rule, for how many calls it was used, and its end, if that is noted."""

    rule: ApprovalRule
    used: int
    end: RuleEnd | None = None

    def state(self, now: datetime) -> RuleState:
        """The state at a time."""
        if self.end is not None:
            return self.end.state
        if now >= self.rule.ends:
            return "expired"
        return "used_up" if self.used >= self.rule.uses else "holds"


class RuleBook:
    """The rules of one namespace. Safe to use from several threads and processes.

    Args:
        store: the store; one of namespaces only has no claims, and keeps no rules.
        names: of the namespace.
        now: the clock, in UTC.
        signer: opens the key of this host; None where it cannot be used.
        audit: where the end of a rule by its time or number is recorded.
        may_approve: whether the token of a person may approve in this namespace now: the rule that they made.
        workspace: that of this process; None for none.
        is_on: whether the configuration has rules.
    """

    def __init__(
        self,
        store: GraphStore,
        names: Names,
        now: Clock,
        signer: Callable[[], Signer | None],
        audit: AuditLog,
        may_approve: Callable[[ApprovalRule], bool],
        workspace: Workspace | None,
        *,
        is_on: bool,
    ) -> None:
        self._store = store
        self._names = names
        self._graph = names.approvals_graph
        self.now = now
        self._signer = signer
        self._audit = audit
        self._may_approve = may_approve
        self.workspace = workspace
        self.is_on = is_on

    def all(self) -> list[KeptRule]:
        """The rules, the newest first; those that have ended are kept for 30 days.

        Raises:
            GraphError: the store cannot be read.
        """
        with reading_ahead(self._store, self._ahead):
            found = [kept for rule in self._made() if (kept := self._read(rule.id)) is not None]
            return sorted((self._noted(kept) for kept in found), key=lambda kept: kept.rule.created, reverse=True)

    def _ahead(self) -> list[Ahead]:
        """What is read of a server for all rules."""
        uses = UpTo(Pattern(self._graph, None, USE_OF), _USES_AHEAD)
        return [Pattern(self._graph, None, RULE), Pattern(self._graph, None, RULE_END), uses]

    def _made(self, *, but: Collection[object] = ()) -> list[ApprovalRule]:
        """Every rule that is kept, but those of some nodes; neither its end nor its uses are read."""
        if not has_claims(self._store):
            return []
        return [
            rule
            for quad in self._store.quads(Pattern(self._graph, None, RULE))
            if quad.subject not in but
            and isinstance(quad.subject, NamedNode)
            and isinstance(quad.object, Literal)
            and (rule := read_rule(quad.subject.value.rpartition("/")[2], quad.object.value)) is not None
        ]

    def find(self, rule_id: object) -> KeptRule:
        """One rule.

        Raises:
            CortexError: `approval_not_found`.
        """
        kept = next((each for each in self.all() if each.rule.id == rule_id), None)
        if kept is None:
            raise CortexError("approval_not_found", f"there is no rule {shown(rule_id)}", hint="list the rules")
        return kept

    def add(self, rule: ApprovalRule) -> KeptRule:
        """Add a rule, which was checked.

        Raises:
            CortexError: `config_invalid`: this host has no key; `approval_limit`: there are too many.
            GraphError: the store cannot write.
        """
        signer = self._signer()
        if signer is None:
            hint = "make one: cortex-skills key create"
            raise CortexError("config_invalid", "a rule is signed, and this host has no key", hint=hint)
        self._remove_old()
        if sum(kept.end is None for kept in self.all()) >= MAX_RULES:
            hint = "end some of them"
            raise CortexError("approval_limit", f"{MAX_RULES} rules hold, and no more are taken", hint=hint)
        rule_id, text = rule_text(rule, signer)
        apply_claimed(self._store, Quad(self._node(rule_id), RULE, Literal(text), self._graph))
        return self.find(rule_id)

    def end(self, rule_id: str, by: str, reason: str) -> KeptRule:
        """End a rule: it approves no call that asks from now on.

        Raises:
            CortexError: `approval_not_found`; `approval_resolved`: it has ended.
        """
        kept = self.find(rule_id)
        end = RuleEnd("ended", by, self.now(), reason)
        if kept.end is None and self._claim_end(kept.rule, end):
            return self.find(rule_id)
        ended = self.find(rule_id).end
        what = f"the rule {rule_id} has ended" + (f": {ended.state}, at {date_time(ended.at)}" if ended else "")
        raise CortexError("approval_resolved", what, hint="list the rules to see those that hold")

    def covering(self, request: ActionRequest, manifest: ActionManifest, level: object) -> list[KeptRule]:
        """The rules that hold now, and approve a call; those that have ended are not read.

        Args:
            request: what it asks for.
            manifest: of its action.
            level: the trust level.
        """
        if not self.is_on or self.workspace is None or not may_be_ruled(level, manifest.risk):
            return []
        with reading_ahead(self._store, self._ahead):
            ended, parts_of = self._store.quads(Pattern(self._graph, None, RULE_END)), self.workspace.plain_parts
            made = self._made(but={quad.subject for quad in ended})
            covers = [rule for rule in made if rule.covers(request, manifest, parts_of)]
            found = [kept for rule in covers if (kept := self._read(rule.id)) is not None]
            holding = [kept for kept in found if self._noted(kept).state(self.now()) == "holds"]
        signer = self._signer() if holding else None
        return [
            kept
            for kept in holding
            if signer is not None and (signed := kept.rule.signed) is not None and signed.is_of({signer.did})
            if self._may_approve(kept.rule)
        ]

    def use(self, request: ActionRequest, manifest: ActionManifest, level: object) -> tuple[ApprovalRule, int] | None:
        """Use a rule for a call, and its number among the uses of the rule; None if no rule approves it.

        Raises:
            GraphError: the store cannot write.
        """
        for kept in self.covering(request, manifest, level):
            rule = kept.rule
            used = {"at": date_time(self.now()), "digest": digest_of(request)}
            for number in range(kept.used + 1, rule.uses + 1):
                node = self._names.beside("approval-rule", rule.id, str(number))
                claim = Quad(node, USE, Literal(canonical(used | {"nonce": uuid.uuid4().hex}).decode()), self._graph)
                if apply_claimed(self._store, claim, [Quad(node, USE_OF, self._node(rule.id), self._graph)]):
                    now = self._read(rule.id)
                    if now is not None and now.end is None:
                        return rule, number
                    break
        return None

    def _noted(self, kept: KeptRule) -> KeptRule:
        """A rule with its end, which is noted if it has expired or is used up."""
        state, now = kept.state(self.now()), self.now()
        if kept.end is not None or state not in ("expired", "used_up"):
            return kept
        at = kept.rule.ends if state == "expired" else now
        with suppress(GraphError):  # a store that is only read
            if self._claim_end(kept.rule, RuleEnd(state, "", at)):
                facts: dict[str, Fact] = {
                    "id": kept.rule.id,
                    "action": kept.rule.action,
                    "state": state,
                    "used": kept.used,
                }
                self._audit.event("approval.rule_ended", agent=kept.rule.agent, skill=kept.rule.skill, facts=facts)
            return self._read(kept.rule.id) or kept
        return kept

    def _claim_end(self, rule: ApprovalRule, end: RuleEnd) -> bool:
        return apply_claimed(self._store, Quad(self._node(rule.id), RULE_END, Literal(end_text(end)), self._graph))

    def _read(self, rule_id: str) -> KeptRule | None:
        """A rule that is kept; None if there is none, or its text is not the one that was made."""
        node = self._node(rule_id)
        texts = self._texts(node, RULE)
        rule = read_rule(rule_id, texts[0]) if len(texts) == 1 else None
        if rule is None or rule.namespace != self._names.namespace:
            return None
        used = sum(1 for _ in self._store.quads(Pattern(self._graph, None, USE_OF, node)))
        ends = self._texts(node, RULE_END)
        return KeptRule(rule, used, read_end(ends[0]) if ends else None)

    def _texts(self, node: NamedNode, predicate: NamedNode) -> list[str]:
        return [
            quad.object.value if isinstance(quad.object, Literal) else ""
            for quad in self._store.quads(Pattern(self._graph, node, predicate))
        ]

    def _remove_old(self) -> None:
        for kept in self.all():
            if kept.end is None or self.now() < kept.end.at + KEPT:
                continue
            node = self._node(kept.rule.id)
            uses = self._store.quads(Pattern(self._graph, None, USE_OF, node))
            nodes = [node, *(quad.subject for quad in uses if isinstance(quad.subject, NamedNode))]
            quads = [quad for each in nodes for quad in self._store.quads(Pattern(self._graph, each))]
            for start in range(0, len(quads), _AT_ONCE):
                self._store.apply(remove=quads[start : start + _AT_ONCE])

    def _node(self, rule_id: str) -> NamedNode:
        return self._names.beside("approval-rule", rule_id)


def may_still_approve(token_file: str, rule: ApprovalRule) -> bool:
    """Whether the token of the person who made a rule may approve in its namespace now.

    Args:
        token_file: the path of the file of tokens; empty for that of the user.
        rule: which.
    """
    if not rule.token:
        return True
    try:
        tokens = TokenFile.at(token_file).tokens()
    except CortexError as error:
        log.warning("the rule %s approves nothing: %s", rule.id, error.message)
        return False
    return any(
        token.name == rule.token
        and token.created <= rule.created
        and token.is_valid(datetime.now(UTC))
        and token.holder == "person"
        and "approve" in token.permissions
        and not {ALL_NAMESPACES, rule.namespace}.isdisjoint(token.namespaces)
        for token in tokens
    )
