"""`/explore/{namespace}/r/used?name=`: who points to a resource, paged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pyoxigraph import Quad

from cortex_graph.exceptions import invalid
from cortex_graph.store import Pattern
from cortex_graph.store_access.recent_cache import hash_of
from cortex_skills.doors.explorer.addresses import ROOT
from cortex_skills.doors.explorer.display import OF_HEADING, ShownName
from cortex_skills.doors.explorer.exports import rdf_forms
from cortex_skills.doors.explorer.page import ExplorerPage, PageCall
from cortex_skills.doors.explorer.page_queries import UsedQuery
from cortex_skills.features.explorer.reading import AsOfField, Reading, TakeAway
from cortex_skills.features.explorer.triple_rows import TripleRow, triple_rows
from cortex_skills.features.graph.rest.triples import queried

_LIMIT = 100


@dataclass(frozen=True, slots=True)
class UsedView:
    """Who points to a resource; with a predicate, only by that one."""

    name: ShownName
    predicate: ShownName | None
    rows: tuple[TripleRow, ...]
    first: str | None
    next: str | None
    as_of: AsOfField
    away: TakeAway


def view(call: PageCall) -> UsedView:
    """Who points to a resource."""
    reading = Reading.of(call, "r/used")
    pattern, query = _pattern(reading), call.query
    page = reading.graph.store.match(pattern, query.get("limit", _LIMIT), query.get("cursor"))
    rows = list(zip(map(hash_of, page.lines), page.triples, strict=True))
    predicate = "?p" if pattern.predicate is None else str(pattern.predicate)
    shown = "?s ?p" if pattern.predicate is None else "?s"
    query_text = f"SELECT {shown} {{ ?s {predicate} {pattern.object_} }} LIMIT 100"
    return UsedView(
        reading.display.term(pattern.object_, OF_HEADING),  # type: ignore[arg-type]  # it is a node
        None if pattern.predicate is None else reading.display.iri(pattern.predicate.value),
        triple_rows(reading, rows),
        reading.address(cursor=None) if query.get("cursor") else None,
        reading.address(cursor=page.cursor) if page.cursor else None,
        reading.as_of_field(),
        reading.take_away(FORMS, query_text),
    )


def _pattern(reading: Reading) -> Pattern:
    graph, query = reading.graph, reading.call.query
    if not query.get("name"):
        raise invalid("name", "is missing", hint="name a resource, such as ?name=alice")
    predicate = graph.node_of(query["predicate"], "predicate") if query.get("predicate") else None
    return Pattern(graph.names.graph, None, predicate, graph.node_of(query["name"]))


def _quads(call: PageCall) -> Iterator[Quad]:
    reading = Reading.of(call, "r/used")
    yield from reading.graph.store.quads(_pattern(reading))


def _document(call: PageCall) -> object:
    _pattern(Reading.of(call, "r/used"))  # refuses a query without a name
    given = {name: call.query.get(name) or None for name in ("predicate", "limit", "cursor", "asOf")}
    found = queried(call.api(), {**given, "object": {"node": call.query["name"]}})
    return {"triples": found.pop("matches"), **found}


FORMS = rdf_forms(_quads, _document)
PAGE = ExplorerPage(
    f"{ROOT}/{{namespace}}/r/used",
    "used",
    "used.html",
    view,
    query=UsedQuery,
    example={"name": "{name}"},
    forms=FORMS,
    pool="slow",
    place=50,
)
