"""`/explore/{namespace}/proofs`: the proofs of a namespace.

Rules kept here:
- a proof is verified only if the list is filtered by verdict, and within the time limit of the proofs of a request;
  otherwise it is shown as not checked;
- as of a moment the list has the proofs that were made by then and are still stored;
- a page ends early when it has read enough; its cursor goes on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cortex_graph.assertion_records.proofs import StoredProof
from cortex_graph.checks.moments import check_moment
from cortex_graph.store import triple_of
from cortex_skills.doors.explorer.addresses import ROOT
from cortex_skills.doors.explorer.display import ShownText, shown_text
from cortex_skills.doors.explorer.page import ExplorerPage, Form, PageCall
from cortex_skills.doors.explorer.page_queries import ProofListQuery
from cortex_skills.doors.http.bodies import to_json
from cortex_skills.features.explorer.reading import AsOfField, Reading, TakeAway, TextLink
from cortex_skills.features.explorer.triple_rows import TripleRow, moment, triple_rows
from cortex_skills.features.proofs import proof_operations as proofs
from cortex_skills.features.proofs.kinds import proof_kinds, type_of
from cortex_skills.features.proofs.rest.proofs import described
from cortex_skills.features.proofs.verdict import Verdict

_LIMIT = 50
_MOST_READ = 500
_VERDICTS = (
    ("Not filtered", None),
    ("Verified", "verified"),
    ("Well-formed", "well-formed"),
    ("Refuted", "refuted"),
    ("Not checkable", "not checked"),
)


@dataclass(frozen=True, slots=True)
class ProofRow:
    """A proof in a list.

    Attributes:
        title: the beginning of its id.
        href: its page.
        kind: its type.
        when: when it was made.
        verdict: `not checked` when it was not checked for this page.
        proves: the first triple that it proves; None if that is not in the graph.
        others: how many triples more.
    """

    title: str
    href: str
    kind: ShownText
    when: str | None
    verdict: str
    proves: TripleRow | None
    others: int


@dataclass(frozen=True, slots=True)
class ProofList:
    """The proofs of a namespace; `is_checked` is whether they were verified for this page."""

    rows: tuple[ProofRow, ...]
    kinds: tuple[TextLink, ...]
    verdicts: tuple[TextLink, ...]
    is_checked: bool
    as_of: AsOfField
    first: str | None
    next: str | None
    away: TakeAway


def view(call: PageCall) -> ProofList:
    """List the proofs."""
    reading, query = Reading.of(call, "proofs", past=False), call.query
    found, cursor = _page(call)
    kinds = [("All", None), *((name, name) for name in proof_kinds())]
    return ProofList(
        tuple(_row(reading, proof, verdict) for proof, verdict in found),
        tuple(_links(reading, "kind", kinds)),
        tuple(_links(reading, "verdict", list(_VERDICTS))),
        "verdict" in query,
        reading.as_of_field(),
        reading.address(cursor=None) if query.get("cursor") else None,
        reading.address(cursor=cursor) if cursor else None,
        reading.take_away(FORMS),
    )


def _page(call: PageCall) -> tuple[list[tuple[StoredProof, Verdict]], str | None]:
    query = call.query
    page = call.api().operate(
        proofs.list_proofs,
        limit=query.get("limit", _LIMIT),
        cursor=query.get("cursor"),
        kind=query.get("kind") or None,
        until=check_moment(query["asOf"], "asOf") if query.get("asOf") else None,
        verdict=query.get("verdict"),
    )
    return [(each.proof, each.verdict) for each in page.proofs], page.next_cursor


def _links(reading: Reading, name: str, values: list[tuple[str, str | None]]) -> Iterator[TextLink]:
    current = reading.call.query.get(name)
    for label, value in values:
        yield TextLink(label, reading.address(**{name: value, "cursor": None}), value == current)


def _row(reading: Reading, proof: StoredProof, verdict: Verdict) -> ProofRow:
    quad = reading.graph.index.find(proof.proves[0])
    rows = () if quad is None else triple_rows(reading, [(proof.proves[0], triple_of(quad))])
    return ProofRow(
        f"{proof.id[:12]}…",
        reading.addresses.proof(proof.id),
        shown_text(type_of(proof.kind, proof.content), 40),
        moment(proof.time),
        verdict.value,
        rows[0] if rows else None,
        len(proof.proves) - 1,
    )


def _document(call: PageCall) -> bytes:
    reading = Reading.of(call, "proofs", past=False)
    found, cursor = _page(call)
    rows = [described(proof, reading.graph, verdict) for proof, verdict in found]
    return to_json({"count": len(rows), "proofs": rows, "nextCursor": cursor})


FORMS = {"json": Form("application/json", _document)}
PAGE = ExplorerPage(
    f"{ROOT}/{{namespace}}/proofs",
    "proofs",
    "proofs.html",
    view,
    query=ProofListQuery,
    forms=FORMS,
    pool="slow",
    label="Proofs",
    section="Trust",
    keys="g p",
    live="graph",
    place=100,
)
