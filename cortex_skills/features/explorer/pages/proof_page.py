"""`/explore/{namespace}/proofs/{id}`: one proof, checked for this reader now."""

from __future__ import annotations

import json
from dataclasses import dataclass

from cortex_graph.store import triple_of
from cortex_skills.doors.explorer.addresses import ROOT
from cortex_skills.doors.explorer.display import ShownText, shown_text
from cortex_skills.doors.explorer.page import ExplorerPage, Form, PageCall, not_found
from cortex_skills.doors.explorer.page_queries import AsOfQuery
from cortex_skills.doors.http.bodies import to_json
from cortex_skills.features.explorer.pages.assertion import ShownCheck, rule_sets
from cortex_skills.features.explorer.reading import Reading, TakeAway
from cortex_skills.features.explorer.triple_rows import TripleRow, moment, triple_rows
from cortex_skills.features.proofs import proof_operations as proofs
from cortex_skills.features.proofs.kinds import type_of
from cortex_skills.features.proofs.logic.document import KIND as LOGIC
from cortex_skills.features.proofs.rest.proof_checks import verification
from cortex_skills.features.proofs.rest.proofs import described

_SHOWN = 50
_CONTENT = 4_000
_LINES = 60


@dataclass(frozen=True, slots=True)
class ProofView:
    """One proof.

    Attributes:
        proof_id: its id.
        kind: its type.
        when: when it was made.
        verdict: of all checks, made now.
        findings: each check.
        proves, premises: the triples that it is about, and those that it rests on, as far as they are in the graph.
        gone: how many of these are not in the graph.
        rests_on_graph: whether it rests on more triples than are listed.
        rules: the rule sets that it applied: name, version, digest.
        content: the beginning of its text.
    """

    proof_id: str
    kind: ShownText
    when: str | None
    verdict: str
    findings: tuple[ShownCheck, ...]
    proves: tuple[TripleRow, ...]
    premises: tuple[TripleRow, ...]
    gone: int
    rests_on_graph: bool
    rules: tuple[tuple[ShownText, ShownText, str], ...]
    content: ShownText
    away: TakeAway


def view(call: PageCall) -> ProofView:
    """One proof.

    Raises:
        HttpError: `not_found`.
    """
    reading = Reading.of(call, f"proofs/{call.path['id']}", past=False)
    result = _verified(call)
    proof = result.proof
    proves, premises = _rows(reading, proof.proves), _rows(reading, proof.premises)
    text = json.dumps(json.loads(proof.content), indent=1, ensure_ascii=False)
    sets = rule_sets(proof) if proof.kind == LOGIC else []
    return ProofView(
        proof.id,
        shown_text(type_of(proof.kind, proof.content), 40),
        moment(proof.time),
        result.verdict.value,
        tuple(ShownCheck.of(check) for check in result.checks),
        proves,
        premises,
        len(proof.proves[:_SHOWN]) - len(proves) + len(proof.premises[:_SHOWN]) - len(premises),
        proof.rests_on_graph,
        tuple((shown_text(name, 100), shown_text(version, 40), digest[:64]) for name, version, digest in sets),
        shown_text(text, _CONTENT, lines=_LINES),
        reading.take_away(FORMS),
    )


def _rows(reading: Reading, ids: tuple[str, ...]) -> tuple[TripleRow, ...]:
    found = ((each, reading.graph.index.find(each)) for each in ids[:_SHOWN])
    return triple_rows(reading, [(each, triple_of(quad)) for each, quad in found if quad is not None])


def _verified(call: PageCall) -> proofs.CheckedProof:
    (found,) = call.api().operate(proofs.verify, proofs=[call.path["id"]])
    if found is None:
        raise not_found("this namespace has no proof with this id")
    return found


def _document(call: PageCall) -> bytes:
    reading = Reading.of(call, f"proofs/{call.path['id']}", past=False)
    result = _verified(call)
    proof = result.proof
    document = described(proof, reading.graph, result.verdict, result.at)
    checks = verification(result)["checks"]
    return to_json({**document, "checks": checks, "proof_data": json.loads(proof.content)})


FORMS = {"json": Form("application/json", _document)}
PAGE = ExplorerPage(
    f"{ROOT}/{{namespace}}/proofs/{{id}}",
    "proof",
    "proof.html",
    view,
    query=AsOfQuery,
    forms=FORMS,
    pool="slow",
    place=110,
)
