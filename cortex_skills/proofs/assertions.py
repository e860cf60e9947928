"""Everything that an assertion carries, checked: that it is there, its record, and each of its proofs.

Rules kept here:
- each part is told with its verdict; nothing is left out, and what was not checked is `not_evaluated`;
- an assertion is verified when it is there, its record does not contradict it, and it has proofs that all hold: one
  that is refuted makes it refuted, and an assertion without any proof is not verified;
- a proof that somebody signed whom nobody here trusts is told and counts for nothing, neither for nor against: anybody
  who may write could have made it (`signers`);
- a proof counts only if it is about this very triple.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pyoxigraph import Quad

from cortex_graph import NamespacedGraph
from cortex_graph.proofs import StoredProof
from cortex_graph.provenance import recorded_triple
from cortex_graph.store import Pattern
from cortex_skills.errors import CortexError
from cortex_skills.proofs.kinds import Asked, check_proof
from cortex_skills.proofs.signers import SIGNER, check_signer, signers_of
from cortex_skills.proofs.verdict import Check, Verdict

MAX_PROOFS = 16
MAX_STATEMENTS = 10
_ID = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Part:
    """One check of an assertion.

    Attributes:
        check: what was checked, and what came of it.
        proof: the id of the proof that it is a part of; None for what is no part of a proof.
        kind: that proof's kind.

    """

    check: Check
    proof: str | None = None
    kind: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The part as an answer has it."""
        of = {} if self.proof is None else {"proofId": self.proof, "kind": self.kind}
        return {**self.check.to_json(), **of}


@dataclass(frozen=True, slots=True)
class Statements:
    """The statements that fit a pattern, checked.

    Attributes:
        checked: each triple, `{id, subject, predicate, object}`, with its parts.
        total: how many fit, as far as they were counted.
        unchecked: how many of them were not looked at.

    """

    checked: tuple[tuple[dict[str, Any], list[Part]], ...]
    total: int
    unchecked: int

    @property
    def verdict(self) -> Verdict:
        """Of all of them: what was not looked at is not verified, nor is nothing at all."""
        verdicts = [verdict_of(parts) for _, parts in self.checked]
        return Verdict.of_all([*verdicts, *([Verdict.NOT_EVALUATED] if self.unchecked else [])])


def check_statements(
    graph: NamespacedGraph, pattern: Mapping[str, Any], asked: Asked, proof_id: str | None = None
) -> Statements:
    """Check what the statements carry that fit a pattern; the first few of them.

    Args:
        graph: the namespace.
        pattern: `{subject, predicate, object?}`.
        asked: what their proofs are checked against; its graph and triple are set here.
        proof_id: the one proof to check, and the statements that have it; all when left out.

    Raises:
        CortexError: `proof_not_found`: none of them has such a proof; `cancelled`.

    """
    page = graph.list_triples({**pattern, "limit": MAX_STATEMENTS})
    checked, missing = [], None
    for triple in page["triples"]:
        quad = graph.quad_of({key: triple[key] for key in ("subject", "predicate", "object")})
        try:
            parts = check_assertion(graph, quad, replace(asked, graph=graph, triple=quad), proof_id)
        except CortexError as error:
            if error.code != "proof_not_found":
                raise
            missing = error
        else:
            checked.append((triple, parts))
    if proof_id is not None and not checked:
        hint = "leave proofId out to check every proof that there is"
        raise missing or CortexError("proof_not_found", "there is no such statement, and no proof of it", hint=hint)
    return Statements(tuple(checked), page["total"], max(0, page["total"] - len(page["triples"])))


def check_assertion(graph: NamespacedGraph, quad: Quad, asked: Asked, proof_id: str | None = None) -> list[Part]:
    """Check what a triple carries.

    Args:
        graph: the namespace.
        quad: the triple, in the namespace's graph.
        asked: what its proofs are checked against; its graph and triple are set here.
        proof_id: the one proof to check; all of them when left out.

    Raises:
        CortexError: `proof_not_found`: the triple has no such proof; `cancelled`.

    """
    triple_id = graph.index.identify(quad)
    if proof_id is None:
        proofs = graph.proofs.of(triple_id)
    else:
        wanted = proof_id.removeprefix(f"{graph.names.graph.value}/proof/")
        found = graph.proofs.get(wanted) if _ID.fullmatch(wanted) else None
        if found is None or triple_id not in found.proves:
            hint = "leave proofId out to check every proof that there is"
            raise CortexError("proof_not_found", "the assertion has no such proof", hint=hint)
        proofs = [found]
    return [Part(_presence(graph, quad)), Part(_record(graph, quad, triple_id)), *_proofs(proofs, asked)]


def verdict_of(parts: list[Part]) -> Verdict:
    """The verdict of the whole. A record that is missing takes nothing away; one that contradicts does."""
    unknown = [part for part in parts if part.check.part == SIGNER and part.check.verdict is not Verdict.VERIFIED]
    strangers = {part.proof for part in unknown}
    counted = [part for part in parts if part.proof is None or part.proof not in strangers]
    verdicts = [
        part.check.verdict
        for part in counted
        if part.check.part != "record" or part.proof is not None or part.check.verdict is Verdict.REFUTED
    ]
    if strangers and not any(part.proof for part in counted):
        verdicts.append(Verdict.NOT_EVALUATED)
    return Verdict.of_all(verdicts)


def _presence(graph: NamespacedGraph, quad: Quad) -> Check:
    there = graph.store.contains(quad)
    return Check(
        "presence",
        Verdict.VERIFIED if there else Verdict.REFUTED,
        "the statement is in the graph of this namespace",
        "that anybody stands behind it, or that it is true",
        () if there else ("it is not there",),
    )


def _record(graph: NamespacedGraph, quad: Quad, triple_id: str) -> Check:
    establishes = "the graph records when the statement was asserted, by which agent and with which skill"
    does_not = "that the record is true: nobody signed it"
    record = list(graph.store.quads(Pattern(graph.names.provenance_graph, graph.names.record(triple_id))))
    if not record:
        why = "there is no record: it was imported, or written by a program"
        return Check("record", Verdict.NOT_EVALUATED, establishes, does_not, (why,))
    if recorded_triple(record, graph.names.graph) != quad:
        return Check("record", Verdict.REFUTED, establishes, does_not, ("its record is that of another statement",))
    said = graph.provenance_of(triple_id) or {}
    skill = " ".join(filter(None, (said.get("skill"), said.get("skillVersion"))))
    who = (f"agent {said.get('agent') or 'unknown'}", f"skill {skill or 'unknown'}", f"at {said.get('time')}")
    return Check("record", Verdict.VERIFIED, establishes, does_not, (", ".join(who),))


def _proofs(proofs: list[StoredProof], asked: Asked) -> Iterator[Part]:
    if not proofs:
        why = "the statement carries no proof"
        yield Part(
            Check("proof", Verdict.NOT_EVALUATED, "what a proof of its kind establishes", "anything else", (why,))
        )
    known = signers_of(asked.config) if proofs else frozenset()
    for proof in proofs[:MAX_PROOFS]:
        if asked.stop is not None:
            asked.stop.check()
        checks = [*check_proof(proof.kind, proof.content, asked), *check_signer(proof.kind, proof.content, known)]
        yield from (Part(check, proof.id, proof.kind) for check in checks)
    if len(proofs) > MAX_PROOFS:
        why = f"of more than {MAX_PROOFS} proofs, the newest were looked at: name another"
        yield Part(Check("proof", Verdict.NOT_EVALUATED, "what these proofs establish", "anything else", (why,)))
