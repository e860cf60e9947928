"""`/explore/{namespace}/r?name=`: one resource, in its fan and in tables.

Rules kept here:
- every read is bounded (`cortex_graph.namespace.neighbourhood`); what is not shown is a number that is a link;
- the forms have all triples whose subject the resource is;
- memories are shown to callers who may read memories, on the page of the agent to whom they belong;
- a resource of which everything was withdrawn has its page, with its history;
- a name without a triple is not found, with the nearest names; the same in every namespace.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph.checks.argument_checks import MAX_LIMIT
from cortex_graph.exceptions import InvalidArguments, invalid
from cortex_graph.namespace.neighbourhood import Direction, Neighbourhood, neighbourhood
from cortex_graph.store import Pattern
from cortex_skills.doors.explorer.addresses import ROOT, Addresses, address, namespace_root
from cortex_skills.doors.explorer.display import OF_HEADING, ShownName, ShownText, shown_name, shown_text
from cortex_skills.doors.explorer.exports import nanopublication, rdf_forms
from cortex_skills.doors.explorer.look_alike_names import skeleton
from cortex_skills.doors.explorer.page import ExplorerPage, Form, PageCall
from cortex_skills.doors.explorer.page_queries import ResourceQuery
from cortex_skills.doors.explorer.pictures.charts import Axis, Point, Series, bars, histogram, points
from cortex_skills.doors.explorer.pictures.fan import PREDICATES, VALUES, FanGroup, FanSide, fan
from cortex_skills.doors.explorer.pictures.svg import Svg
from cortex_skills.features.explorer.answer_charts import number_of, seconds_of
from cortex_skills.features.explorer.nearest import unknown_name
from cortex_skills.features.explorer.reading import AsOfField, Reading, TakeAway, TextLink
from cortex_skills.features.explorer.resource_history import ResourceHistory, history_of_resource
from cortex_skills.features.explorer.triple_rows import TripleRow, triple_rows
from cortex_skills.features.graph.rest.overview import get_neighbourhood

_PLOTTED = MAX_LIMIT
_WORDS = 12  # different values that are drawn as bars
_MEMORIES = 20
_WORDS_OF_NAME = 200  # characters
_PICTURE_POLICY = {"content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox"}


@dataclass(frozen=True, slots=True)
class ShownMemory:
    """A memory of the agent that the page is about."""

    text: ShownText
    time: str


@dataclass(frozen=True, slots=True)
class UsedAs:
    """The values of a predicate: a plot if they have one, and the list of its triples."""

    words: str
    plot: Svg | None
    href: str


@dataclass(frozen=True, slots=True)
class ResourceView:
    """A resource.

    Attributes:
        name: it.
        iri: its IRI.
        fan: the picture.
        counted: how much of it the picture shows.
        stated: the triples about it, of the picture.
        used: the triples that point to it, of the picture.
        more: the lists of all of them.
        as_predicate: its values, if it is a predicate.
        write_hrefs: the forms that state something of it, or that it is the same as something else.
        memories: of the agent; None for a caller who may not read them, and for other resources.
        remembered: the memories with its name or label; None for a caller who may not read them.
        history: of what is stated of it; None if nothing has a record.
    """

    name: ShownName
    iri: ShownText
    fan: Svg
    counted: str
    stated: tuple[TripleRow, ...]
    used: tuple[TripleRow, ...]
    more: tuple[TextLink, ...]
    as_predicate: UsedAs | None
    memories: tuple[ShownMemory, ...] | None
    remembered: str | None
    history: ResourceHistory | None
    picture_href: str
    map_href: str
    write_hrefs: tuple[TextLink, ...]
    as_of: AsOfField
    away: TakeAway


def view(call: PageCall) -> ResourceView:
    """One resource.

    Raises:
        HttpError: `not_found`: there is no triple of it.
        InvalidArguments: `name` is missing or malformed.
    """
    reading = Reading.of(call, "r")
    name, found = _neighbourhood(reading)
    graph, to = reading.graph, reading.addresses
    as_predicate = _as_predicate(reading, found.node)
    history = history_of_resource(reading, found.node)
    if not found.is_known and as_predicate is None and history is None:
        raise unknown_name(reading, name)
    out = [(row.triple_id, (found.node, g.predicate, row.term)) for g in found.outgoing.groups for row in g.rows]
    into = [(row.triple_id, (row.term, g.predicate, found.node)) for g in found.incoming.groups for row in g.rows]
    rows = triple_rows(reading, [*out, *into])  # type: ignore[list-item]  # subjects are nodes
    full = graph.names.name(found.node.value)
    stated = rows[: len(out)]
    if not to.as_of:
        pages = [to.page("write", triple=triple_id) for triple_id, _ in out]
        stated = tuple(replace(row, correct=page) for row, page in zip(stated, pages, strict=True))
    more = (
        TextLink("All that is stated of it", to.triples(subject=full)),
        TextLink("All that point to it", to.used(full)),
    )
    total = sum(side.count.value for side in (found.outgoing, found.incoming))
    exact = "" if found.outgoing.count.is_exact and found.incoming.count.is_exact else "at least "
    return ResourceView(
        _heading(reading, found.node),
        shown_text(found.node.value, OF_HEADING),
        _fan(reading, found),
        f"{len(rows):,} of {exact}{total:,} triples, grouped by predicate",
        stated,
        rows[len(out) :],
        more,
        as_predicate,
        _memories(call, reading, found.node),
        _remembered(call, reading, found.node),
        history,
        reading.address(format="svg"),
        to.page("map", name=full),
        _write_links(graph.namespace, full),
        reading.as_of_field(),
        reading.take_away(FORMS, f"SELECT ?p ?o {{ {found.node} ?p ?o }}"),
    )


def _write_links(namespace: str, name: str) -> tuple[TextLink, ...]:
    to = Addresses(namespace)
    add, same = to.page("write", subject=name), to.page("write", merged=name)
    return TextLink("Add a statement", add), TextLink("It is the same as…", same)


def _heading(reading: Reading, node: NamedNode) -> ShownName:
    """The name, with a warning if another resource of the graph has a plain name that looks like it."""
    shown, graph = reading.display.iri(node.value, OF_HEADING), reading.graph
    other = skeleton(shown.name)
    if shown.name.isascii() or not other.isascii():
        return shown
    try:
        node = graph.names.node(other)
    except InvalidArguments:  # what is left of the name is none
        return shown
    for part in ("subject", "object_"):
        if graph.store.count(Pattern(graph.names.graph, **{part: node}), 1):
            return replace(shown, warning=f"looks like {shown_name(other, 80).plain}, another name here")
    return shown


def _neighbourhood(reading: Reading) -> tuple[str, Neighbourhood]:
    name = reading.call.query.get("name")
    if not name:
        raise invalid("name", "is missing", hint="name a resource, such as ?name=alice")
    return name, neighbourhood(reading.graph, name, predicates=PREDICATES, values=VALUES)


def _fan(reading: Reading, found: Neighbourhood) -> Svg:
    name = reading.graph.names.name(found.node.value)
    display = reading.near  # a picture alone has no links
    to = display.addresses

    def side(direction: Direction, href: str, *, is_incoming: bool) -> FanSide:
        groups = []
        for group in direction.groups:
            predicate = display.iri(group.predicate.value)
            given = {"name" if is_incoming else "subject": name, "predicate": predicate.name}
            of_group = to.page("r/used" if is_incoming else "list", **given)
            terms = tuple(display.term(row.term) for row in group.rows)
            groups.append(FanGroup(predicate, terms, group.count, of_group))
        return FanSide(tuple(groups), direction.predicates.without(len(groups)), href)

    incoming = side(found.incoming, to.used(name), is_incoming=True)
    outgoing = side(found.outgoing, to.triples(subject=name), is_incoming=False)
    return fan(display.iri(found.node.value), incoming, outgoing)


def _as_predicate(reading: Reading, node: NamedNode) -> UsedAs | None:
    graph = reading.graph
    triples = Pattern(graph.names.graph, None, node)
    if not graph.store.count(triples, 1):
        return None
    page = graph.store.match(triples, _PLOTTED)
    more = "more than " if page.cursor is not None else ""
    words = f"{more}{len(page.triples):,} triples have it as their predicate"
    plot = _plot([triple[2] for triple in page.triples], reading.display.iri(node.value).called)
    return UsedAs(words, plot, reading.addresses.triples(predicate=graph.names.name(node.value)))


def _plot(values: list[NamedNode | Literal], name: str) -> Svg | None:
    """How numbers are distributed, how many there are up to each time, few different texts as bars."""
    if any(not isinstance(value, Literal) for value in values):
        return None
    numbers = [number for value in values if (number := number_of(value)) is not None]
    if numbers and len(numbers) == len(values):
        return histogram(numbers, name)
    moments = sorted(moment for value in values if (moment := seconds_of(value)) is not None)
    if moments and len(moments) == len(values):
        series = Series("", tuple(Point(moment, place) for place, moment in enumerate(moments, 1)))
        return points([series], Axis(name, is_time=True), Axis("up to then"), f"{len(moments):,} times", joined=True)
    counts = Counter(value.value for value in values)
    if not 1 < len(counts) <= _WORDS:
        return None
    frequent = sorted(counts, key=lambda text: (-counts[text], text))
    rows = [(shown_text(text, 40).plain, [float(counts[text])]) for text in frequent]
    return bars(rows, ["How many"], f"{len(counts)} different values of {len(values):,}")


def _memories(call: PageCall, reading: Reading, node: NamedNode) -> tuple[ShownMemory, ...] | None:
    agent = reading.graph.names.agent_of(node.value)
    if agent is None or "memories" not in call.principal.permissions or reading.addresses.as_of:
        return None  # memories have no records of their times
    from cortex_graph.namespace.agent_graph import AgentGraph
    from cortex_graph.naming.vocabulary import MEMORY_TEXT, MEMORY_TIME

    graph = AgentGraph(reading.graph, agent)
    found = []
    for quad in islice(graph.store.quads(Pattern(graph.names.graph, None, MEMORY_TEXT)), _MEMORIES):
        memory = quad.subject if isinstance(quad.subject, NamedNode) else None
        times = graph.store.quads(Pattern(graph.names.graph, memory, MEMORY_TIME))
        text = quad.object.value if isinstance(quad.object, Literal) else ""
        time = next((each.object.value for each in times if isinstance(each.object, Literal)), "")
        found.append(ShownMemory(shown_text(text), shown_text(time, 30).plain))
    return tuple(found)


def _remembered(call: PageCall, reading: Reading, node: NamedNode) -> str | None:
    if "memories" not in call.principal.permissions:
        return None
    shown = reading.near.iri(node.value)
    label = None if shown.labels is None else shown.labels.of(node.value)
    words = label or re.split("[:/#]", shown.name)[-1]
    return address(f"{namespace_root(reading.graph.namespace)}/memories", q=words[:_WORDS_OF_NAME])


def _quads(call: PageCall) -> Iterator[Quad]:
    """All triples about the resource."""
    reading = Reading.of(call, "r")
    node = _node(reading)
    yield from reading.graph.store.quads(Pattern(reading.graph.names.graph, node))


def _node(reading: Reading) -> NamedNode:
    """The resource of a form.

    Raises:
        HttpError: `not_found`.
    """
    name, found = _neighbourhood(reading)
    if not (found.is_known or _as_predicate(reading, found.node) or history_of_resource(reading, found.node)):
        raise unknown_name(reading, name)
    return found.node


def _document(call: PageCall) -> object:
    reading = Reading.of(call, "r")
    _node(reading)
    given = {key: call.query[key] for key in ("name", "asOf") if call.query.get(key)}
    return get_neighbourhood(call.api(**given)).document


def _picture(call: PageCall) -> bytes:
    reading = Reading.of(call, "r")
    _node(reading)
    return _fan(reading, _neighbourhood(reading)[1]).alone()


def _nanopub(call: PageCall) -> bytes:
    reading = Reading.of(call, "r")
    graph = reading.graph
    quads = list(islice(_quads(call), MAX_LIMIT + 1))
    if len(quads) > MAX_LIMIT:
        problem = f"has more than {MAX_LIMIT:,} triples, too many for one nanopublication"
        raise invalid("name", problem, hint="use n-quads")
    records = [graph.names.record(graph.index.identify(quad)) for quad in quads]
    recorded = [each for each in records if graph.store.count(Pattern(graph.names.provenance_graph, each), 1)]
    return nanopublication(graph, quads, recorded)


FORMS = {
    **rdf_forms(_quads, _document),
    "svg": Form("image/svg+xml", _picture, "svg", _PICTURE_POLICY),
    "nanopub": Form("application/trig", _nanopub, "trig"),
}
PAGE = ExplorerPage(
    f"{ROOT}/{{namespace}}/r",
    "resource",
    "resource.html",
    view,
    query=ResourceQuery,
    example={"name": "{name}"},
    forms=FORMS,
    live="graph",
    place=40,
)
