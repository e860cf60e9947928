"""`/explore/{namespace}`: the overview of a namespace.

Rules kept here:
- nothing is counted when the page is asked for: the numbers are those that the graph keeps (`counts.py` there),
  with the moment at which they were made;
- calls are shown to callers who may read the audit, and only for the namespace that the skills act in.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from pyoxigraph import NamedNode

from cortex_graph.assertions import AssertionFilter, list_assertions
from cortex_graph.exceptions import QueryTimeout, invalid
from cortex_graph.index.counting import NamespaceCounts
from cortex_skills.doors.explorer.addresses import ROOT
from cortex_skills.doors.explorer.display import ShownTerm
from cortex_skills.doors.explorer.inbox import Attention, inbox_of
from cortex_skills.doors.explorer.page import ExplorerPage, Form, PageCall
from cortex_skills.doors.explorer.page_queries import AsOfQuery
from cortex_skills.doors.explorer.pictures.svg import Svg
from cortex_skills.doors.http.bodies import to_json
from cortex_skills.features.explorer.call_plot import HOUR, calls_by_minute
from cortex_skills.features.explorer.reading import AsOfField, Reading, TakeAway
from cortex_skills.features.explorer.triple_rows import TripleRow, assertion_rows
from cortex_skills.features.explorer.void_description import void_of
from cortex_skills.features.graph.rest.overview import get_assertions, get_counts
from cortex_skills.features.graph.rest.stats import get_stats

_LATEST = 8
_BARS = 8
_FIRST_COUNT_S = 1.0  # how long the page waits for it
_PAST_WORDS = (
    "Triples of unknown time, such as imported ones, are included. Predicates and asserters are counted for now only."
)
_EVERYTHING = "SELECT ?s ?p ?o { ?s ?p ?o } LIMIT 100"


@dataclass(frozen=True, slots=True)
class Fact:
    """A figure with its name and a remark."""

    label: str
    count: int
    remark: str
    href: str | None = None


@dataclass(frozen=True, slots=True)
class CountedTerm:
    """A bar: a name, how often it occurs, and the width in per cent."""

    name: ShownTerm
    count: int
    width: int
    href: str | None
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Overview:
    """The overview.

    Attributes:
        facts: the five figures.
        counted: when they were counted, and how.
        is_counted: whether the first count has ended.
        latest: the latest assertions.
        all_href: the list of all of them.
        predicates, asserters: the most frequent ones.
        calls: the calls of the last hour; None for a caller who may not read the audit.
        call_words: the same in words.
        inbox: what waits for the reader, or needs a look.
    """

    namespace: str
    facts: tuple[Fact, ...]
    counted: str
    is_counted: bool
    latest: tuple[TripleRow, ...]
    all_href: str
    predicates: tuple[CountedTerm, ...]
    asserters: tuple[CountedTerm, ...]
    calls: Svg | None
    call_words: str
    inbox: tuple[Attention, ...]
    as_of: AsOfField
    away: TakeAway


def view(call: PageCall) -> Overview:
    """The overview of a namespace."""
    reading = Reading.of(call, "")
    graph, to = reading.graph, reading.addresses
    today = call.graph
    counts = today.counts.latest(_FIRST_COUNT_S)
    latest = list_assertions(graph, AssertionFilter(), limit=_LATEST).assertions
    calls, words = _calls(call)
    kept = counts if not to.as_of else NamespaceCounts()  # what is kept is of now
    predicates = [(each.predicate, each.triples) for each in kept.predicates[:_BARS]]
    asserters = [(each.node, each.assertions) for each in kept.asserters[:_BARS]]
    return Overview(
        graph.namespace,
        _facts(counts, reading) if not to.as_of else _past_facts(reading),
        _counted(counts) if not to.as_of else _PAST_WORDS,
        counts.counted_at is not None,
        assertion_rows(reading, latest),
        to.triples(recorded="yes"),
        _bars(reading, predicates, lambda name: to.triples(predicate=name), "alt"),
        _bars(reading, asserters, reading.asserted_by, ""),
        calls,
        words,
        inbox_of(call),
        reading.as_of_field(),
        reading.take_away(FORMS, _EVERYTHING),
    )


def _facts(counts: NamespaceCounts, reading: Reading) -> tuple[Fact, ...]:
    exact, to = "" if counts.is_exact else "at least", reading.addresses
    if counts.counted_at is None:
        return (Fact("Triples", counts.triples, "at least", to.triples()),)
    return (
        Fact("Triples", counts.triples, exact, to.triples()),
        Fact("Resources", counts.resources, exact),
        Fact("Asserted with a record", counts.assertions, f"{counts.undated:,} without", to.triples(recorded="yes")),
        Fact("Withdrawn", counts.withdrawn, "on record"),
        Fact("Proofs", counts.proofs, "stored", to.page("proofs")),
    )


def _past_facts(reading: Reading) -> tuple[Fact, ...]:
    """The figures of the moment, which are counted for the page within the time limit of a query."""
    try:
        counted = get_stats(reading.call.api(asOf=reading.addresses.as_of)).document["graph"]
    except QueryTimeout:
        return ()
    exact, to = "" if counted["exact"] else "at least", reading.addresses
    undated = f"{counted['undated']:,} of unknown time" if "undated" in counted else ""
    return (
        Fact("Triples", counted["triple_count"], undated or exact, to.triples()),
        Fact("Resources", counted["subject_count"], exact),
        Fact("Predicates", counted["predicate_count"], exact),
    )


def _counted(counts: NamespaceCounts) -> str:
    if counts.counted_at is None:
        return "The first count of this graph is under way: load the page again for the other numbers."
    when = counts.counted_at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")
    return f"Counted {when} UTC{'' if counts.is_current else '; the graph may have been written to since'}."


def _bars(reading: Reading, counted: list[tuple[NamedNode, int]], href: Any, kind: str) -> tuple[CountedTerm, ...]:
    most = max([count for _, count in counted] or [1]) or 1
    rows = []
    for node, count in counted:
        shown = reading.display.iri(node.value)
        link = href(shown.name)
        if not kind:  # an agent has a page, and a skill the list of what it asserted
            shown = replace(shown, href=reading.who(node))
        rows.append(CountedTerm(shown, count, max(1, round(100 * count / most)), link, kind))
    return tuple(rows)


def _calls(call: PageCall) -> tuple[Svg | None, str]:
    plugin = call.service.plugin
    if "audit" not in call.principal.permissions or call.graph.namespace != plugin.graph.namespace:
        return None, ""
    return calls_by_minute(plugin.audit.calls, datetime.now(UTC), HOUR)


def _document(call: PageCall) -> bytes:
    given = {"asOf": call.query["asOf"]} if call.query.get("asOf") else {}
    counts = get_stats(call.api(**given)).document["graph"] if given else get_counts(call.api()).document
    latest = get_assertions(call.api(limit=_LATEST, **given)).document
    return to_json({**counts, "latest": latest["assertions"]})


def _void(call: PageCall) -> bytes:
    """The numbers of now in VoID."""
    if call.query.get("asOf"):
        raise invalid("asOf", "is not for VoID, which has the numbers that are kept", hint="use format=json")
    return void_of(call.graph)


FORMS = {
    "json": Form("application/json", _document),
    "void": Form("text/turtle", _void, "ttl"),
}
PAGE = ExplorerPage(
    f"{ROOT}/{{namespace}}",
    "overview",
    "overview.html",
    view,
    query=AsOfQuery,
    forms=FORMS,
    label="Overview",
    section="See",
    keys="g o",
    live="graph",
    place=20,
)
