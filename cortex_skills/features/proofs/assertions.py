"""Checking an assertion: its presence in the graph, its record, and each of its proofs.

Rules kept here:
- every part is reported with its verdict, and a part that was not checked is `not checked`;
- a statement that was withdrawn is refuted, with who withdrew it and when; it is reported beside those in the graph.
  Checked by itself it has the record and the proofs of its latest assertion;
- an assertion is verified when it is in the graph, its record does not contradict it, and it has proofs, of which none
  is refuted or not checked and one is verified; it is well-formed when all of them are no more than that. One refuted
  proof refutes it, and an assertion without proofs is not checked;
- trusted signers are the keys of this installation and the issuers in the settings (`proofs.trustedIssuers`). A proof
  by another signer is reported, and does not count for or against the assertion: every client with write access could
  have made it;
- a proof counts only if it is about this triple.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from pyoxigraph import NamedNode, Quad

from cortex_graph import NamespacedGraph
from cortex_graph.assertion_records.proofs import StoredProof
from cortex_graph.assertion_records.provenance import recorded_triple
from cortex_graph.assertions import Assertion, history_of
from cortex_graph.namespace.about import about_triples
from cortex_graph.namespace.short_ids import full_proof_id
from cortex_graph.store import Pattern
from cortex_graph.store_access.read_ahead import Ahead, reading_ahead
from cortex_skills.errors import CortexError
from cortex_skills.features.proofs.kinds import CheckContext, check_proof, kind_named
from cortex_skills.features.proofs.kinds.base import PRESENCE, SIGNER, not_checked
from cortex_skills.features.proofs.logic.verify import read_again
from cortex_skills.features.proofs.proof_settings import ProofSettings
from cortex_skills.features.proofs.verdict import Check, Verdict

if TYPE_CHECKING:
    from cortex_skills.config.settings import Config

MAX_PROOFS = 16
MAX_STATEMENTS = 10
_WITHDRAWN_AHEAD = 2 * MAX_STATEMENTS
_ID = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Part:
    """One check of an assertion.

    Attributes:
        check: the check and its verdict.
        proof: the id of the proof that was checked; None for a check of the assertion itself.
        kind: the kind of that proof.
    """

    check: Check
    proof: str | None = None
    kind: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The part in an answer."""
        of = {} if self.proof is None else {"proofId": self.proof, "kind": self.kind}
        return {**self.check.to_json(), **of}


@dataclass(frozen=True, slots=True)
class Statements:
    """The checked statements that match a pattern.

    Attributes:
        checked: each triple in the graph, `{id, subject, predicate, object}`, with its parts.
        total: how many statements match, as far as they were counted.
        unchecked: how many of them were not checked.
        withdrawn: the triples that match and were withdrawn, each with the check of its presence; the latest first.
    """

    checked: tuple[tuple[dict[str, Any], list[Part]], ...]
    total: int
    unchecked: int
    withdrawn: tuple[tuple[dict[str, Any], Part], ...] = ()

    @property
    def verdict(self) -> Verdict:
        """The verdict of all statements in the graph; not `verified` when some were not checked.

        Without any it is that of the withdrawn ones, and `not checked` when there are none of these either.
        """
        verdicts = [verdict_of(parts) for _, parts in self.checked or ((row, [part]) for row, part in self.withdrawn)]
        return Verdict.of_all([*verdicts, *([Verdict.NOT_CHECKED] if self.unchecked else [])])


def check_statements(
    graph: NamespacedGraph, pattern: Mapping[str, Any], context: CheckContext, proof_id: str | None = None
) -> Statements:
    """Check the first `MAX_STATEMENTS` statements that match a pattern.

    Args:
        graph: the namespace.
        pattern: `{subject, predicate, object?}`.
        context: what their proofs are checked against; its graph and triple are set here.
        proof_id: check only this proof (its id, or the beginning of it), and only the statements that have it.

    Raises:
        CortexError: `proof_not_found`: none of them has this proof; `cancelled`.
    """
    proof_id = None if proof_id is None else full_proof_id(graph, proof_id)
    with reading_ahead(graph.store, list):
        page = graph.list_triples({**pattern, "limit": MAX_STATEMENTS})
        ids = [triple["id"] for triple in page["triples"]]

        def about() -> Iterator[Ahead]:
            yield from about_triples(graph, ids, proofs=True)
            yield graph.withdrawn_ahead(pattern)

        def following() -> Iterator[Ahead]:
            yield from read_again(graph, _current(graph, ids))
            yield from _gone(graph, pattern)

        with reading_ahead(graph.store, about), reading_ahead(graph.store, following):
            return _checked(graph, pattern, page, context, proof_id)


def _gone(graph: NamespacedGraph, pattern: Mapping[str, Any]) -> Iterator[Ahead]:
    """What is read of withdrawn statements, which may have been asserted again."""
    quads = dict.fromkeys(withdrawal.quad for withdrawal in graph.withdrawn(pattern))
    return about_triples(graph, quads=islice(quads, _WITHDRAWN_AHEAD))


def _current(graph: NamespacedGraph, triple_ids: Sequence[str]) -> Iterator[StoredProof]:
    for triple_id in triple_ids:
        yield from graph.current_proofs(triple_id)[:MAX_PROOFS]


def _checked(
    graph: NamespacedGraph,
    pattern: Mapping[str, Any],
    page: Mapping[str, Any],
    context: CheckContext,
    proof_id: str | None,
) -> Statements:
    checked, missing = [], None
    for triple in page["triples"]:
        quad = graph.quad_of({key: triple[key] for key in ("subject", "predicate", "object")})
        try:
            parts = check_assertion(graph, quad, replace(context, graph=graph, triple=quad), proof_id)
        except CortexError as error:
            if error.code != "proof_not_found":
                raise
            missing = error
        else:
            checked.append((triple, parts))
    withdrawn = _withdrawn(graph, pattern)
    if proof_id is not None and not checked and not withdrawn:
        hint = "omit proofId to check all proofs"
        raise missing or CortexError("proof_not_found", "there is no matching statement with this proof", hint=hint)
    unchecked = max(0, page["total"] - len(page["triples"]))
    return Statements(tuple(checked), page["total"], unchecked, withdrawn)


def _withdrawn(graph: NamespacedGraph, pattern: Mapping[str, Any]) -> tuple[tuple[dict[str, Any], Part], ...]:
    """The first statements that match a pattern and are not in the graph any more."""
    quads = dict.fromkeys(withdrawal.quad for withdrawal in graph.withdrawn(pattern))
    gone = islice((quad for quad in quads if not graph.store.contains(quad)), MAX_STATEMENTS)
    return tuple((graph.as_json(quad), Part(_presence(graph, quad))) for quad in gone)


def check_assertion(
    graph: NamespacedGraph, quad: Quad, context: CheckContext, proof_id: str | None = None
) -> list[Part]:
    """Check a triple.

    Raises:
        CortexError: `proof_not_found`: the triple does not have this proof; `cancelled`.
    """
    triple_id = graph.index.identify(quad)
    history = None if graph.store.contains(quad) else history_of(graph, triple_id)
    gone = None if history is None else history.assertion
    if proof_id is None:
        proofs = proofs_of(graph, triple_id, gone)
    else:
        wanted = proof_id.removeprefix(f"{graph.names.graph.value}/proof/")
        found = graph.proofs.get(wanted) if _ID.fullmatch(wanted) else None
        if found is None or triple_id not in found.proves:
            hint = "omit proofId to check all proofs"
            raise CortexError("proof_not_found", "the assertion has no such proof", hint=hint)
        proofs = [found]
    record = graph.names.record(triple_id) if gone is None else gone.record
    return [Part(_presence(graph, quad)), Part(_record(graph, quad, record, gone)), *_proofs(proofs, context)]


def proofs_of(graph: NamespacedGraph, triple_id: str, assertion: Assertion | None) -> list[StoredProof]:
    """The proofs of a triple as it is asserted, or those that a withdrawn assertion had; the newest first."""
    if assertion is None or assertion.withdrawn is None:
        return graph.current_proofs(triple_id)
    return [proof for proof in graph.proofs.of(triple_id) if proof.id in assertion.proofs]


def trusted_signers(config: Config) -> frozenset[str]:
    """The `did:key`s of this installation's keys and of the trusted issuers."""
    from cortex_skills.keys.folder import key_folder

    try:
        own = {known.did for known in key_folder(config).list() if known.did is not None}
    except CortexError:  # the folder is not private, so its keys are not trusted
        own = set()
    return frozenset({*own, *config.section(ProofSettings).trusted_issuers})


def verdict_of(parts: list[Part]) -> Verdict:
    """The verdict of all parts. A missing record does not count; a record that contradicts the statement refutes it."""
    of_itself: list[Verdict] = []
    of_proofs: dict[str, list[Verdict]] = {}
    counted = _counted(parts)
    for part in counted:
        verdict = part.check.verdict
        if part.proof is not None:
            of_proofs.setdefault(part.proof, []).append(verdict)
        elif part.check.part != "record" or verdict is Verdict.REFUTED:
            of_itself.append(verdict)
    if of_proofs:
        of_itself.append(Verdict.of_proofs(map(Verdict.of_all, of_proofs.values())))
    elif len(counted) < len(parts):
        of_itself.append(Verdict.NOT_CHECKED)
    return Verdict.of_all(of_itself)


def rules_applied(parts: list[Part]) -> list[str]:
    """The names of the rule sets that the proofs by trusted signers were checked with."""
    return sorted({name for part in _counted(parts) for name in part.check.rules})


def _counted(parts: list[Part]) -> list[Part]:
    """The parts that are not of a proof by an untrusted signer."""
    untrusted = {
        part.proof for part in parts if part.check.part == SIGNER and part.check.verdict is not Verdict.VERIFIED
    }
    return [part for part in parts if part.proof is None or part.proof not in untrusted]


def _presence(graph: NamespacedGraph, quad: Quad) -> Check:
    establishes, does_not = "the statement is in the graph of this namespace", "who asserts it, or that it is true"
    why, is_present = "it is not in the graph", graph.store.contains(quad)
    latest = [] if is_present else graph.withdrawals.of(graph.index.identify(quad))[:1]
    for withdrawal in latest:
        why = f"it was withdrawn: {_origin_text(withdrawal.withdrawn)}"
    return Check.of(PRESENCE, is_present, establishes, does_not, why)


def _record(graph: NamespacedGraph, quad: Quad, node: NamedNode, gone: Assertion | None) -> Check:
    establishes = "the graph records when the statement was asserted, by which agent and with which skill"
    does_not = "that the record is true: it is not signed"
    record = list(graph.store.quads(Pattern(graph.names.provenance_graph, node)))
    if not record or (gone is not None and not any(gone.origin.values())):
        why = "it has no record: it was imported, or written directly to the store"
        return Check("record", Verdict.NOT_CHECKED, establishes, does_not, (why,))
    if recorded_triple(record, graph.names.graph) != quad:
        return Check.of("record", False, establishes, does_not, "its record is of another statement")
    triple_id = graph.index.identify(quad)
    origin = (graph.provenance_of(triple_id) or {}) if gone is None else gone.origin
    return Check("record", Verdict.VERIFIED, establishes, does_not, (_origin_text(origin),))


def _origin_text(origin: Mapping[str, str | None]) -> str:
    """Who did something, and when, in one line."""
    skill = " ".join(filter(None, (origin.get("skill"), origin.get("skillVersion"))))
    return f"agent {origin.get('agent') or 'unknown'}, skill {skill or 'unknown'}, at {origin.get('time')}"


def _proofs(proofs: list[StoredProof], context: CheckContext) -> Iterator[Part]:
    if not proofs:
        yield Part(not_checked("the statement has no proof")[0])
    trusted = trusted_signers(context.config) if proofs else frozenset()
    for proof in proofs[:MAX_PROOFS]:
        if context.cancel is not None:
            context.cancel.check()
        kind = kind_named(proof.kind)
        signer = [] if kind is None else kind.check_signer(proof.content, trusted)
        checks = [*check_proof(proof.kind, proof.content, context), *signer]
        yield from (Part(check, proof.id, proof.kind) for check in checks)
    if len(proofs) > MAX_PROOFS:
        why = f"only the newest {MAX_PROOFS} proofs were checked: give a proofId to check another"
        yield Part(not_checked(why)[0])
