"""`/api/v1/proofs`: submit, read, list, count and delete proofs.

Rules kept here:
- a proof can be read and deleted in its own namespace only; in any other its id is unknown;
- a submitted proof is verified first: one that is refuted, or is not of the given type, is not stored;
- a request of a client of Mayros that holds no proof makes none: it is answered with a stored one, or with the reason;
- reading a proof does not verify it: its status is `not checked`, unless a list filters by `verified`;
- a page ends early after some mebibytes of proofs, or when the time for verifying is used up; its cursor goes on.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from typing import Any

from pyoxigraph import NamedNode

from cortex_graph import GraphError, NamespacedGraph
from cortex_graph.assertion_records.proofs import StoredProof
from cortex_skills.doors.rest.model_types import NamespaceQuery
from cortex_skills.doors.rest.operations import ApiAnswer, ApiCall, Operations
from cortex_skills.errors import CortexError
from cortex_skills.features.proofs import proof_operations as proofs
from cortex_skills.features.proofs.assertions import MAX_STATEMENTS
from cortex_skills.features.proofs.dialects import mayros
from cortex_skills.features.proofs.importing import ImportedProof
from cortex_skills.features.proofs.kinds import kind_named, type_of
from cortex_skills.features.proofs.proof_operations import now_text
from cortex_skills.features.proofs.rest import proof_models as models
from cortex_skills.features.proofs.rest.proof_checks import checks_of
from cortex_skills.features.proofs.verdict import Verdict
from cortex_skills.features.proofs.verification_counts import counts_of

COUNTED = 10_000
_DEFAULT_LIMIT = 100
_PAGE = 50

OPERATIONS = Operations()


@OPERATIONS.add(
    "POST",
    "/api/v1/proofs",
    {201: models.SubmittedProof, 200: models.AnsweredProof},
    permission="write",
    query=NamespaceQuery,
    body=models.ProofOrRequest,
    errors=("proof_failed", "zk_disabled", "graph_busy"),
    pool="slow",
)
def submit_proof(call: ApiCall) -> ApiAnswer:
    """Store a proof that was made elsewhere, with the statement that it is about.

    201 if it is new; 200, with `created: false`, if it existed. A refuted proof is not stored. What holds no proof that
    can be verified here is answered with 200, as clients of Mayros read it: with the newest stored proof of the type
    about the subject and the predicate, verified now; else with the status `failed` and a reason.
    """
    given, now = call.body, now_text()
    problem = mayros.no_proof_in(given)
    if problem is not None:
        known = _stored(call) if problem.is_request else None
        answer = mayros.failed(given, problem, now) if known is None else _known(call, known)
        return ApiAnswer(200, answer)
    taken = _taken(call, given)
    document: models.SubmittedProof = {
        **described(taken.proof, call.graph, taken.verdict, now),
        "proof_id": taken.proof.id,
        "submitted_at": now,
        "created": taken.is_new,
        "checks": checks_of(taken.checks),
    }
    return ApiAnswer(201 if taken.is_new else 200, document)


def _stored(call: ApiCall) -> StoredProof | None:
    """The newest proof of the type that a request names, of the statements that it names."""
    given, graph = call.body, call.graph
    if "subject" not in given or "predicate" not in given:
        return None
    pattern = {"subject": given["subject"], "predicate": given["predicate"], "limit": MAX_STATEMENTS}
    found = [proof for row in graph.list_triples(pattern)["triples"] for proof in graph.current_proofs(row["id"])]
    return max(
        (proof for proof in found if type_of(proof.kind, proof.content) == given["proof_type"]),
        key=lambda proof: proof.time,
        default=None,
    )


def _known(call: ApiCall, proof: StoredProof) -> dict[str, Any]:
    (checked,) = call.operate(proofs.verify, proofs=[proof.id])
    if checked is None:
        raise proofs.no_such_proof(call.graph, proof.id)
    row = described(checked.proof, call.graph, checked.verdict, checked.at)
    return {**row, "proof_id": proof.id, "created": False, "checks": checks_of(checked.checks)}


@OPERATIONS.add(
    "POST",
    "/api/v1/proofs/batch",
    permission="write",
    query=NamespaceQuery,
    body=models.NewProofs,
    errors=("graph_busy",),
    pool="slow",
)
def submit_proofs(call: ApiCall) -> models.SubmittedProofs:
    """Store several proofs; each is stored or refused separately."""
    deadline = time.monotonic() + call.service.plugin.config.skill_sandbox.proof_timeout_ms / 1000
    successful: list[str] = []
    failed: list[models.RefusedProof] = []
    for index, given in enumerate(call.body["proofs"]):
        try:
            successful.append(_taken(call, given, deadline).proof.id)
        except (CortexError, GraphError) as error:
            if error.code not in _OF_ONE:
                raise
            failed.append({"index": index, "error": error.message, "code": error.code})
    return {
        "successful_count": len(successful),
        "failed_count": len(failed),
        "successful": successful,
        "failed": failed,
    }


def _taken(call: ApiCall, given: dict[str, Any], deadline: float | None = None) -> ImportedProof:
    return call.operate(
        proofs.import_,
        document=given["proof_data"],
        type=given["proof_type"],
        subject=given.get("subject"),
        predicate=given.get("predicate"),
        rules=given.get("rules", ()),
        limit_ms=None if deadline is None else max(0, round((deadline - time.monotonic()) * 1000)),
    )


@OPERATIONS.add(
    "GET",
    "/api/v1/proofs/{id}",
    query=NamespaceQuery,
    errors=("proof_not_found", "graph_busy"),
)
def get_proof(call: ApiCall) -> models.FullProof:
    """Return the proof with an id."""
    proof = call.operate(proofs.show, proof=call.path["id"])
    return {**described(proof, call.graph), "proof_data": json.loads(proof.content)}


@OPERATIONS.add(
    "DELETE",
    "/api/v1/proofs/{id}",
    permission="write",
    query=NamespaceQuery,
    errors=("proof_not_found",),
)
def delete_proof(call: ApiCall) -> models.DeletedProof:
    """Delete the proof with an id, and the links to it.

    Also needs the permission `provenance` if a record links to the proof, unless the caller asserted the statement.
    """
    return {"proof_id": call.operate(proofs.remove, proof=call.path["id"]), "deleted": True}


@OPERATIONS.add("GET", "/api/v1/proofs", query=models.ProofsQuery, errors=("graph_busy",), pool="slow")
def list_proofs(call: ApiCall) -> models.ProofPage:
    """List the proofs; optionally those of a type, or those that are verified.

    Proofs are verified only if `verified` is given, and within the time limit.
    """
    found = call.operate(
        proofs.list_proofs,
        limit=int(call.query.get("limit") or _DEFAULT_LIMIT),
        cursor=call.query.get("cursor"),
        type=call.query.get("proof_type"),
        verified=call.query.get("verified"),
    )
    rows = [described(each.proof, call.graph, each.verdict, each.at) for each in found.proofs]
    return {"count": len(rows), "proofs": rows, "nextCursor": found.next_cursor}


def described(
    proof: StoredProof, graph: NamespacedGraph, verdict: Verdict = Verdict.NOT_CHECKED, at: str | None = None
) -> models.ListedProof:
    """The JSON of a proof, without its content.

    Args:
        proof: the proof.
        graph: the graph of its namespace.
        verdict: the result of verifying it for this answer.
        at: the time of that; None if it was not verified.
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
    """Subject and predicate of the statement that a proof is about, if they are known."""
    try:
        kind = kind_named(proof.kind)
        quad = graph.index.find(proof.proves[0]) if kind is None else kind.statement_quad(proof, graph)
    except CortexError:
        quad = None
    if quad is None or not isinstance(quad.subject, NamedNode):
        return None, None
    return graph.names.name(quad.subject.value), graph.names.name(quad.predicate.value)


@OPERATIONS.add(
    "GET",
    "/api/v1/proofs/stats",
    query=NamespaceQuery,
    pool="slow",
    description=f"The first {COUNTED:,} proofs; `exact` states whether that is all of them. Nothing is cached.",
)
def get_proof_stats(call: ApiCall) -> models.ProofStats:
    """Count the proofs, and the verifications since the server started."""
    types: Counter[str] = Counter()
    size, cursor = 0, None
    while True:
        page, cursor = call.graph.proofs.page(_PAGE, cursor)
        types.update(type_of(proof.kind, proof.content) for proof in page)
        size += sum(len(proof.content.encode()) for proof in page)
        if cursor is None or types.total() >= COUNTED:
            break
    verdicts = call.host.shared(counts_of).of(call.graph.namespace)
    return {
        "total_proofs": types.total(),
        "proofs_by_type": dict(sorted(types.items())),
        "total_verifications": verdicts.total(),
        "successful_verifications": verdicts[Verdict.VERIFIED] + verdicts[Verdict.WELL_FORMED],
        "failed_verifications": verdicts[Verdict.REFUTED],
        "unevaluated_verifications": verdicts[Verdict.NOT_CHECKED],
        "cache_hits": 0,
        "cache_misses": 0,
        "cache_hit_rate": 0.0,
        "total_size_bytes": size,
        "exact": cursor is None,
    }


# Errors of one proof of a batch; any other fails the batch.
_OF_ONE = frozenset({"invalid_arguments", "proof_failed", "zk_disabled"})
