"""`/explore/{namespace}/find?q=`: what a text may mean: names, ids, and literals, each with where it was found.

Rules kept here:
- the search is that of the API; the page states when the hits may not be all, and why;
- a text that is exactly one name, and nothing else, leads to the page of that resource.
"""

from __future__ import annotations

from dataclasses import dataclass

from cortex_graph.find import MAX_TEXT, FindHit
from cortex_skills.doors.explorer.addresses import ROOT
from cortex_skills.doors.explorer.display import ShownTerm
from cortex_skills.doors.explorer.field_text import to_field
from cortex_skills.doors.explorer.page import ExplorerPage, Form, PageCall, Redirected
from cortex_skills.doors.explorer.page_queries import FindPageQuery
from cortex_skills.doors.http.bodies import to_json
from cortex_skills.features.explorer.reading import AsOfField, Reading, TakeAway
from cortex_skills.features.explorer.triple_rows import TripleRow, triple_rows
from cortex_skills.features.graph.rest.overview import get_found
from cortex_skills.features.graph.text_search import search

_LIMIT = 30
_WORDS = {
    "name": "name",
    "id": "id of a triple",
    "predicate": "predicate that begins so",
    "asserter": "agent or skill that begins so",
    "begins": "words of its name",
    "text": "words of a text",
}


@dataclass(frozen=True, slots=True)
class FoundRow:
    """A hit: where it was found, the resource, and the triple of an id or a text."""

    where: str
    name: ShownTerm
    row: TripleRow | None


@dataclass(frozen=True, slots=True)
class FindView:
    """What was found; `reason` is why that may not be all."""

    text: str
    rows: tuple[FoundRow, ...]
    reason: str
    asked: bool
    as_of: AsOfField
    away: TakeAway


def view(call: PageCall) -> FindView:
    """What a text may mean.

    Raises:
        Redirected: it is exactly one name.
    """
    reading = Reading.of(call, "find")
    text = call.query.get("q", "").strip()
    found = search(reading.graph, text[:MAX_TEXT], limit=_LIMIT) if text else None
    hits = () if found is None else found.hits
    if len(hits) == 1 and hits[0].where == "name":
        raise Redirected(reading.addresses.resource(reading.graph.names.name(hits[0].node.value)))
    triples = [(hit.triple_id, hit.triple) for hit in hits if hit.triple is not None and hit.triple_id is not None]
    rows = dict(zip([triple_id for triple_id, _ in triples], triple_rows(reading, triples), strict=True))
    return FindView(
        to_field(text[:MAX_TEXT]),
        tuple(_found(reading, hit, rows) for hit in hits),
        "" if found is None else found.reason,
        found is not None,
        reading.as_of_field(),
        reading.take_away(FORMS),
    )


def _found(reading: Reading, hit: FindHit, rows: dict[str, TripleRow]) -> FoundRow:
    row = None if hit.triple_id is None else rows.get(hit.triple_id)
    return FoundRow(_WORDS[hit.where], reading.display.iri(hit.node.value), row)


def _document(call: PageCall) -> bytes:
    given = {name: call.query[name] for name in ("q", "asOf") if call.query.get(name)}
    if "q" not in given:  # the page finds nothing either
        return to_json({"hits": [], "complete": True})
    return to_json(get_found(call.api(**given)).document)


FORMS = {"json": Form("application/json", _document)}
PAGE = ExplorerPage(
    f"{ROOT}/{{namespace}}/find",
    "find",
    "find.html",
    view,
    query=FindPageQuery,
    forms=FORMS,
    pool="slow",
    place=60,
)
