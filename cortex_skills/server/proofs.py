"""`/api/v1/proofs`: hand in, read, list, count and delete proofs.

Rules kept here:
- a proof is seen, and can be deleted, in its own namespace alone; everywhere else its id is unknown;
- what is handed in is checked first: what is refuted, or is not what it is said to be, is not kept;
- to read a proof is not to verify it: its status is `not_evaluated`, unless the list was asked which ones hold;
- a page ends early after some mebibytes of proofs, or when the time for checking them is over; its cursor goes on.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from pyoxigraph import NamedNode

from cortex_graph import GraphError, NamespacedGraph
from cortex_graph.proofs import StoredProof
from cortex_skills.errors import CortexError
from cortex_skills.proofs.about import statement_of
from cortex_skills.proofs.kept import type_of
from cortex_skills.proofs.kinds import Asked
from cortex_skills.proofs.taking import Shown, Taken, take_in
from cortex_skills.proofs.verdict import Verdict
from cortex_skills.server.checking import asked_of, checked, found, now_text
from cortex_skills.server.operations import Answer, Call, Operation

COUNTED = 10_000
_DEFAULT_LIMIT = 100
_PAGE = 50
_MAX_READ = 1_000
_MAX_SIZE = 8 << 20


def _submit(call: Call) -> Answer:
    taken = _taken(call, call.body, asked_of(call))
    now = now_text()
    document = {**described(taken.proof, call.graph, taken.verdict, now), "proof_id": taken.proof.id}
    document |= {"submitted_at": now, "created": taken.is_new, "checks": [check.to_json() for check in taken.checks]}
    return Answer(201 if taken.is_new else 200, document)


def _submit_batch(call: Call) -> Answer:
    asked = asked_of(call)
    successful, failed = [], []
    for index, given in enumerate(call.body["proofs"]):
        try:
            successful.append(_taken(call, given, asked).proof.id)
        except (CortexError, GraphError) as error:
            if error.code not in _OF_ONE:
                raise
            failed.append({"index": index, "error": error.message, "code": error.code})
    counts = {"successful_count": len(successful), "failed_count": len(failed)}
    return Answer(200, {**counts, "successful": successful, "failed": failed})


def _taken(call: Call, given: dict[str, Any], asked: Asked) -> Taken:
    document, rules = given["proof_data"], tuple(given.get("rules", ()))
    shown = Shown(document, given["proof_type"], given.get("subject"), given.get("predicate"), rules)
    taken = take_in(shown, call.graph, asked)
    call.service.tallies.add(call.graph.namespace, taken.verdict)
    return taken


def _get(call: Call) -> Answer:
    proof = found(call)
    return Answer(200, described(proof, call.graph) | {"proof_data": json.loads(proof.content)})


def _delete(call: Call) -> Answer:
    proof = found(call)
    call.graph.proofs.remove(proof.id)
    return Answer(200, {"proof_id": proof.id, "deleted": True})


def _list(call: Call) -> Answer:
    limit, wanted = int(call.query.get("limit") or _DEFAULT_LIMIT), call.query.get("proof_type")
    verified, asked = call.query.get("verified"), asked_of(call)
    rows: list[dict[str, Any]] = []
    cursor, read, size = call.query.get("cursor"), 0, 0
    while True:
        most = 1 if verified is not None else min(limit - len(rows), _PAGE)
        proofs, cursor = call.graph.proofs.page(most, cursor)
        read += most
        for proof in proofs:
            size += len(proof.content)
            if wanted in (None, type_of(proof.kind, proof.content)):
                rows += _listed(call, proof, verified, asked)
        is_over = len(rows) >= limit or read >= _MAX_READ or size >= _MAX_SIZE
        if cursor is None or is_over or (verified is not None and not asked.limit_ms):
            return Answer(200, {"count": len(rows), "proofs": rows, "nextCursor": cursor})


def _listed(call: Call, proof: StoredProof, verified: bool | None, asked: Asked) -> list[dict[str, Any]]:
    if verified is None:
        return [described(proof, call.graph)]
    result = checked(proof, call, asked)
    fits = (result.verdict is Verdict.VERIFIED) == verified
    return [described(proof, call.graph, result.verdict, result.at)] if fits else []


def described(
    proof: StoredProof, graph: NamespacedGraph, verdict: Verdict = Verdict.NOT_EVALUATED, at: str | None = None
) -> dict[str, Any]:
    """A proof as it is answered, without its content.

    Args:
        proof: the proof.
        graph: the namespace.
        verdict: what came of checking it just now.
        at: when that was; None when it was not checked.

    """
    subject, predicate = _names(proof, graph)
    return {
        "id": proof.id,
        "proof_type": type_of(proof.kind, proof.content),
        "kind": proof.kind,
        "created_at": proof.time,
        "status": verdict.value,
        "verified": verdict is Verdict.VERIFIED,
        "verified_at": at,
        "subject": subject,
        "predicate": predicate,
        "proves": list(proof.proves),
        "premises": list(proof.premises),
        "rests_on_graph": proof.rests_on_graph,
        "size_bytes": len(proof.content.encode()),
    }


def _names(proof: StoredProof, graph: NamespacedGraph) -> tuple[str | None, str | None]:
    """Subject and predicate of the statement that a proof is about, where they can be told."""
    try:
        if proof.kind in ("zk", "pol"):
            _, quad = statement_of(proof.kind, proof.content, graph)
        else:
            quad = graph.index.find(proof.proves[0])
    except CortexError:
        quad = None
    if quad is None or not isinstance(quad.subject, NamedNode):
        return None, None
    return graph.names.name(quad.subject.value), graph.names.name(quad.predicate.value)


def _stats(call: Call) -> Answer:
    types: Counter[str] = Counter()
    size, cursor = 0, None
    while True:
        proofs, cursor = call.graph.proofs.page(_PAGE, cursor)
        types.update(type_of(proof.kind, proof.content) for proof in proofs)
        size += sum(len(proof.content.encode()) for proof in proofs)
        if cursor is None or types.total() >= COUNTED:
            break
    verdicts = call.service.tallies.of(call.graph.namespace)
    document = {
        "total_proofs": types.total(),
        "proofs_by_type": dict(sorted(types.items())),
        "total_verifications": verdicts.total(),
        "successful_verifications": verdicts[Verdict.VERIFIED],
        "failed_verifications": verdicts[Verdict.REFUTED],
        "unevaluated_verifications": verdicts[Verdict.NOT_EVALUATED],
        "cache_hits": 0,
        "cache_misses": 0,
        "cache_hit_rate": 0.0,
        "total_size_bytes": size,
        "exact": cursor is None,
    }
    return Answer(200, document)


# Of one proof of a batch; any other error is one of the whole.
_OF_ONE = frozenset({"invalid_arguments", "proof_failed", "zk_disabled"})

OPERATIONS = (
    Operation(
        "POST",
        "/api/v1/proofs",
        "submitProof",
        "Keep a proof that was made elsewhere, beside the statement that it is about.",
        _submit,
        {201: "SubmittedProof", 200: "SubmittedProof"},
        permission="write",
        query="NamespaceQuery",
        body="NewProof",
        errors=("proof_failed", "zk_disabled", "graph_busy"),
        lane="slow",
        description="201 when it is new; 200, with `created: false`, when it was there. What is refuted is not kept.",
    ),
    Operation(
        "GET",
        "/api/v1/proofs",
        "listProofs",
        "List the proofs, or those of a type, or those that hold.",
        _list,
        {200: "ProofPage"},
        query="ProofsQuery",
        errors=("graph_busy",),
        lane="slow",
        description="Nothing is verified unless `verified` is given; then each one is, as far as the time goes.",
    ),
    Operation(
        "POST",
        "/api/v1/proofs/batch",
        "submitProofs",
        "Keep several proofs; each is kept or refused by itself.",
        _submit_batch,
        {200: "SubmittedProofs"},
        permission="write",
        query="NamespaceQuery",
        body="NewProofs",
        errors=("graph_busy",),
        lane="slow",
    ),
    Operation(
        "GET",
        "/api/v1/proofs/stats",
        "getProofStats",
        "Count the proofs, and the verifications since the server started.",
        _stats,
        {200: "ProofStats"},
        query="NamespaceQuery",
        lane="slow",
        description=f"The first {COUNTED:,} proofs; `exact` says whether that is all of them. Nothing is cached.",
    ),
    Operation(
        "GET",
        "/api/v1/proofs/{id}",
        "getProof",
        "Read the proof of an id.",
        _get,
        {200: "Proof"},
        query="NamespaceQuery",
        errors=("proof_not_found", "graph_busy"),
    ),
    Operation(
        "DELETE",
        "/api/v1/proofs/{id}",
        "deleteProof",
        "Delete the proof of an id, and the links to it.",
        _delete,
        {200: "DeletedProof"},
        permission="write",
        query="NamespaceQuery",
        errors=("proof_not_found",),
    ),
)
