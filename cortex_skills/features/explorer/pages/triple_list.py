"""`/explore/{namespace}/list`: triples with facets.

Rules kept here:
- triples come in the order of the store; with a filter of their records (skill, agent, time) they are assertions, the
  newest first;
- `evidence=KIND` lists assertions that have a stored proof of that kind, unchecked; a page reads a bounded number of
  assertions to find them, and may have fewer rows than others;
- facets are the numbers that the graph keeps; none is counted for the page.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pyoxigraph import Quad

from cortex_graph.assertions import Assertion, AssertionFilter, AssertionPage, list_assertions
from cortex_graph.assertions.listing import DEFAULT_LIMIT
from cortex_graph.checks.moments import check_moment
from cortex_graph.exceptions import QueryTimeout, invalid
from cortex_graph.store import Pattern
from cortex_graph.store_access.recent_cache import hash_of
from cortex_skills.doors.explorer.addresses import ROOT
from cortex_skills.doors.explorer.display import OF_NAME, shown_name
from cortex_skills.doors.explorer.exports import rdf_forms
from cortex_skills.doors.explorer.field_text import to_field
from cortex_skills.doors.explorer.page import ExplorerPage, PageCall
from cortex_skills.doors.explorer.page_queries import TriplesQuery
from cortex_skills.features.explorer.reading import AsOfField, Reading, TakeAway, TextLink
from cortex_skills.features.explorer.triple_rows import TripleRow, assertion_rows, triple_rows
from cortex_skills.features.graph.looking.pattern_query import moment_of
from cortex_skills.features.graph.rest.overview import assertion_document
from cortex_skills.features.graph.rest.triples import queried
from cortex_skills.features.proofs.kinds import proof_kinds
from cortex_skills.features.proofs.proof_operations import is_before
from cortex_skills.safe_io.lenient_values import json_or_text

_LIMIT = 100
_LIMIT_AS_OF = 70  # every link of such a page has the moment, and a page has at most 60 KB
_OF_PAGE = ("limit", "cursor", "asOf")
_FACETS = 8
_RECORDED = ("skill", "agent", "since", "recorded", "evidence")
_MOST_PAGES = 20  # of assertions, that are read for one page of those with a proof
_PARTS = ("subject", "predicate", "object")


@dataclass(frozen=True, slots=True)
class Facet:
    """A filter, the values that it may have, and the link that removes it."""

    label: str
    links: tuple[TextLink, ...]
    without: str | None


@dataclass(frozen=True, slots=True)
class TripleList:
    """A list of triples.

    Attributes:
        fields: the filters as they were given: name, label and value.
        is_filtered: whether one was given.
        facets: frequent values.
        rows: the triples.
        words: how they are ordered.
        is_late: whether finding them took too long.
        first, next: other pages.
    """

    fields: tuple[tuple[str, str, str], ...]
    is_filtered: bool
    facets: tuple[Facet, ...]
    rows: tuple[TripleRow, ...]
    words: str
    is_late: bool
    first: str | None
    next: str | None
    as_of: AsOfField
    away: TakeAway


def view(call: PageCall) -> TripleList:
    """Triples that match the filters."""
    reading, query = Reading.of(call, "list"), call.query
    limit = query.get("limit", _LIMIT if reading.addresses.as_of is None else _LIMIT_AS_OF)
    cursor = query.get("cursor")
    is_late = False
    if _is_recorded(call):
        try:
            found = _assertions(reading, limit, cursor)
        except QueryTimeout:
            found, is_late = AssertionPage((), None), True
        rows, after, words = assertion_rows(reading, found.assertions), found.cursor, "Assertions, the newest first"
    else:
        page = reading.graph.store.match(_pattern(reading), limit, cursor)
        triples = list(zip(map(hash_of, page.lines), page.triples, strict=True))
        rows, after, words = triple_rows(reading, triples), page.cursor, "Triples, in the order of the store"
    labels = {**{part: part.capitalize() for part in _PARTS}, "skill": "Skill", "agent": "Agent", "since": "Since"}
    return TripleList(
        tuple((name, label, to_field(query.get(name, ""))) for name, label in labels.items()),
        any(query.get(name) for name in labels),
        tuple(_facets(reading)),
        rows,
        words,
        is_late,
        reading.address(cursor=None) if cursor else None,
        reading.address(cursor=after) if after else None,
        reading.as_of_field(),
        reading.take_away(FORMS, _query(reading)),
    )


def _is_recorded(call: PageCall) -> bool:
    return any(call.query.get(name) for name in _RECORDED)


def _given(call: PageCall) -> dict[str, Any]:
    """The filters that are not empty."""
    names = (*_PARTS, "skill", "agent", "since")
    given: dict[str, Any] = {name: call.query[name] for name in names if call.query.get(name)}
    if "object" in given:
        given["object"] = json_or_text(given["object"])
    return given


def _assertions(reading: Reading, limit: int, cursor: str | None) -> AssertionPage:
    """A page of the assertions that match."""
    which, kind = _filter(reading.call), reading.call.query.get("evidence")
    if not kind:
        return list_assertions(reading.graph, which, limit=limit, cursor=cursor)
    if kind not in proof_kinds():
        raise invalid("evidence", "is not a kind of proof", hint=f"one of {', '.join(proof_kinds())}")
    found: list[Assertion] = []
    for _ in range(_MOST_PAGES):
        page = list_assertions(reading.graph, which, limit=limit - len(found), cursor=cursor)
        found += [each for each in page.assertions if _has_proof(reading, each, kind)]
        cursor = page.cursor
        if cursor is None or len(found) >= limit:
            break
    return AssertionPage(tuple(found), cursor)


def _has_proof(reading: Reading, assertion: Assertion, kind: str) -> bool:
    as_of = reading.addresses.as_of
    until = None if as_of is None else check_moment(as_of, "asOf")
    proofs = (reading.graph.proofs.get(proof_id) for proof_id in assertion.proofs)
    return any(
        proof is not None and proof.kind == kind and (until is None or is_before(proof.time, until)) for proof in proofs
    )


def _filter(call: PageCall) -> AssertionFilter:
    return AssertionFilter(**_given(call))


def _pattern(reading: Reading) -> Pattern:
    given, graph = _given(reading.call), reading.graph
    subject, predicate = (graph.node_of(given[part], part) if part in given else None for part in _PARTS[:2])
    term = graph.sought(given["object"]) if "object" in given else None
    return Pattern(graph.names.graph, subject, predicate, term)


def _query(reading: Reading) -> str:
    pattern = _pattern(reading)
    parts = zip("spo", (pattern.subject, pattern.predicate, pattern.object_), strict=True)
    terms = [f"?{name}" if term is None else str(term) for name, term in parts]
    shown = [term for term in terms if term.startswith("?")]
    return f"SELECT {' '.join(shown) or '*'} {{ {' '.join(terms)} }} LIMIT 100"


def _facets(reading: Reading) -> Iterator[Facet]:
    counts, names, query = reading.call.graph.counts.latest(wait_s=0.0), reading.graph.names, reading.call.query
    predicates = [(names.name(each.predicate.value), each.triples) for each in counts.predicates[:_FACETS]]
    yield _facet(reading, "predicate", "Predicate", predicates)
    for kind, label in (("skill", "Skill"), ("agent", "Agent")):
        start = f"{names.prefix}{kind}:"
        named = [(names.name(each.node.value), each.assertions) for each in counts.asserters]
        of_kind = [(name[len(start) :], count) for name, count in named if name.startswith(start)]
        yield _facet(reading, kind, label, of_kind[:_FACETS])
    chosen = query.get("evidence") or ("yes" if query.get("recorded") else None)
    links = [TextLink("With a record", reading.changed(recorded="yes", evidence=None, cursor=None), chosen == "yes")]
    for kind in proof_kinds():
        href = reading.changed(recorded=None, evidence=kind, cursor=None)
        links.append(TextLink(f"Proof: {kind}", href, chosen == kind))
    without = reading.changed(recorded=None, evidence=None, cursor=None) if chosen else None
    yield Facet("Evidence", tuple(links), without)


def _facet(reading: Reading, name: str, label: str, counted: list[tuple[str, int]]) -> Facet:
    current = reading.call.query.get(name)
    links = []
    is_name = name == "predicate"
    names = reading.near.terms(reading.graph.names.node(value) for value, _ in counted) if is_name else []
    for place, (value, count) in enumerate(counted):
        words = names[place].called if is_name else shown_name(value, OF_NAME // 2).plain
        number = None if reading.addresses.as_of else count  # the counts are of now
        links.append(TextLink(words, reading.changed(**{name: value, "cursor": None}), value == current, number))
    return Facet(label, tuple(links), reading.changed(**{name: None, "cursor": None}) if current else None)


def _quads(call: PageCall) -> Iterator[Quad]:
    """All triples that match."""
    reading = Reading.of(call, "list")
    if not _is_recorded(call):
        yield from reading.graph.store.quads(_pattern(reading))
        return
    cursor = call.query.get("cursor")
    while True:
        page = _assertions(reading, 1_000, cursor)
        yield from (Quad(*each.triple, reading.graph.names.graph) for each in page.assertions)
        cursor = page.cursor
        if cursor is None:
            return


def _document(call: PageCall) -> object:
    reading, query = Reading.of(call, "list"), call.query
    if _is_recorded(call):
        page = _assertions(reading, query.get("limit", DEFAULT_LIMIT), query.get("cursor"))
        listed = [assertion_document(each, reading.graph.names) for each in page.assertions]
        return {"assertions": listed, **moment_of(reading.graph, []), "nextCursor": page.cursor}
    found = queried(call.api(), {**_given(call), **{name: query.get(name) or None for name in _OF_PAGE}})
    return {"triples": found.pop("matches"), **found}


FORMS = rdf_forms(_quads, _document)
PAGE = ExplorerPage(
    f"{ROOT}/{{namespace}}/list",
    "triples",
    "triple_list.html",
    view,
    query=TriplesQuery,
    forms=FORMS,
    pool="slow",
    label="Triples",
    section="See",
    keys="g t",
    live="graph",
    place=30,
)
