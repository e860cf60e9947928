"""`/explore/NS/map`: a resource and what is around it, the triples of a query, or the first triples of the namespace.

Rules kept here:
- everything is bounded: steps, resources that are looked at, values of each predicate, triples of a query; what is left
  out is a number, and a link where there is a list of it;
- a query that came with a followed link is not run: its page is that of the query;
- the picture needs no script; a script replaces it by one that can be moved; the table has the same content.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from pyoxigraph import Literal, NamedNode

from cortex_graph.namespace.neighbourhood import Neighbourhood, neighbourhood
from cortex_graph.store import Pattern
from cortex_skills.doors.explorer.addresses import ROOT
from cortex_skills.doors.explorer.display import Display, ShownName, ShownTerm, shown_name
from cortex_skills.doors.explorer.field_text import to_field
from cortex_skills.doors.explorer.following import marked
from cortex_skills.doors.explorer.page import ExplorerPage, Form, PageCall, Redirected, not_found
from cortex_skills.doors.explorer.page_queries import MapQuery
from cortex_skills.doors.explorer.pictures.map import MapData, MapLink, MapNode, bounded, picture
from cortex_skills.doors.explorer.pictures.svg import Svg
from cortex_skills.doors.http.bodies import to_json
from cortex_skills.doors.http.http_errors import HttpError
from cortex_skills.features.explorer.query_answers import Triples, answer_to
from cortex_skills.features.explorer.reading import AsOfField, Reading, TakeAway

_PATH = "map"
_STEPS = 2
_LOOKED_AT = 40  # resources whose neighbours are read
_PREDICATES, _VALUES = 12, 7
_FIRST = 150  # triples of a map without a name
_OF_QUERY = 2000  # triples
_ROWS = 200

RawTriple = tuple[object, object, object]


@dataclass(frozen=True, slots=True)
class MapView:
    """A map.

    Attributes:
        title: what it is of.
        name, steps, query: what was asked for.
        words: how much it shows.
        data: the address of its data.
        picture: the picture without a script.
        svg: the address of the picture as a file.
        rows: the first links, as a table.
        as_of, away: the field of the moment, and the forms.
    """

    title: str
    name: str
    steps: int
    query: str
    words: str
    data: str
    picture: Svg | None
    svg: str
    rows: tuple[tuple[ShownTerm, ...], ...]
    as_of: AsOfField
    away: TakeAway


def view(call: PageCall) -> MapView:
    """A map.

    Raises:
        HttpError: `not_found`: the namespace is not open to the caller.
        GraphError: the name or the query is invalid.
        Redirected: the query came with a followed link.
    """
    reading = Reading.of(call, _PATH)
    if "query" in call.query and not call.may_run:
        raise Redirected(marked(reading.addresses.page("sparql", query=call.query["query"])))
    triples, more = _triples(reading)
    title = _title(reading)
    data = _data(reading, title, triples, more)
    rows = tuple(tuple(reading.display.term(term) for term in triple) for triple in triples[:_ROWS])
    words = f"{len(data.nodes):,} nodes, {len(data.links):,} links" if data.nodes else "nothing to show"
    if data.left_out:
        words += f"; {data.left_out:,} nodes are left out"
    return MapView(
        title,
        to_field(call.query.get("name", "")),
        call.query.get("steps", _STEPS),
        call.query.get("query", ""),
        words,
        reading.address(format="json"),
        picture(data) if data.nodes else None,
        reading.address(format="svg"),
        rows,
        reading.as_of_field(),
        reading.take_away({name: form for name, form in PAGE.forms.items() if name != "svg" or data.nodes}),
    )


def map_of(display: Display, triples: Iterable[RawTriple], title: str) -> MapData | None:
    """The map of some triples; None without any.

    Args:
        display: shows their terms.
        triples: the triples.
        title: what they are.
    """
    builder, triples = _Builder(display), list(triples)
    display.terms(chain.from_iterable(triples))
    for triple in triples:
        builder.add(*triple)
    return bounded(builder.data(title)) if builder.nodes else None


class _Builder:
    """Makes nodes of terms: a resource is one node, a literal is one at each of its subjects."""

    def __init__(self, display: Display) -> None:
        self._display = display
        self.nodes: dict[object, MapNode] = {}
        self._links: list[MapLink] = []

    def add(self, subject: object, predicate: object, value: object) -> None:
        """Add a triple."""
        source = self.node(subject, subject)
        target = self.node((subject, predicate, value) if isinstance(value, Literal) else value, value)
        self._links.append(MapLink(source.id, target.id, self._display.term(predicate).called))

    def node(self, key: object, term: object) -> MapNode:
        """The node of a term."""
        found = self.nodes.get(key)
        if found is None:
            shown = self._display.term(term, 80)
            is_name = isinstance(shown, ShownName)
            label = shown.called if is_name else f"“{shown.plain}”"
            href = shown.href if isinstance(shown, ShownName) else None
            found = MapNode(str(len(self.nodes)), label, "resource" if is_name else "literal", href)
            self.nodes[key] = found
        return found

    def more(self, term: object, predicate: NamedNode, count: str, href: str, *, outgoing: bool) -> None:
        """Add the values that are not read, as one node."""
        label = self._display.term(predicate).called
        node, group = self.node(term, term), MapNode(str(len(self.nodes)), f"{count} more × {label}", "more", href)
        self.nodes[group.id, "more"] = group
        self._links.append(MapLink(node.id, group.id, label) if outgoing else MapLink(group.id, node.id, label))

    def data(self, title: str) -> MapData:
        """The map."""
        return MapData(title, tuple(self.nodes.values()), tuple(self._links))


@dataclass(frozen=True, slots=True)
class _More:
    """Values of a predicate of a resource that are not read."""

    term: NamedNode
    predicate: NamedNode
    count: str
    href: str
    outgoing: bool


def _triples(reading: Reading) -> tuple[list[RawTriple], list[_More]]:
    graph, query = reading.graph, reading.call.query
    if "query" in query:
        found = answer_to(reading.call, graph, query["query"], _OF_QUERY)
        if isinstance(found, bool):
            raise HttpError("invalid_arguments", "the query has no triples", hint="use CONSTRUCT, or columns ?s ?p ?o")
        if isinstance(found, Triples):
            return [(each.subject, each.predicate, each.object) for each in found.triples], []
        if not {"s", "p", "o"} <= set(found.variables):
            raise HttpError("invalid_arguments", "the query has no triples", hint="use CONSTRUCT, or columns ?s ?p ?o")
        s, p, o = (found.variables.index(name) for name in "spo")
        return [(row[s], row[p], row[o]) for row in found.rows if None not in (row[s], row[p], row[o])], []
    if "name" in query:
        return _around(reading, query["name"], query.get("steps", _STEPS))
    return list(graph.store.match(Pattern(graph.names.graph), _FIRST).triples), []


def _around(reading: Reading, name: str, steps: int) -> tuple[list[RawTriple], list[_More]]:
    """The triples within some steps of a resource."""
    triples: dict[RawTriple, None] = {}
    more: list[_More] = []
    ring, seen = [reading.graph.names.node(name)], set[NamedNode]()
    for _ in range(steps):
        following: dict[NamedNode, None] = {}
        for node in ring:
            if node in seen or len(seen) >= _LOOKED_AT:
                continue
            seen.add(node)
            found = neighbourhood(
                reading.graph, reading.graph.names.name(node.value), predicates=_PREDICATES, values=_VALUES
            )
            triples.update(dict.fromkeys(_of(found)))
            more += _left(reading, found)
            groups = (*found.outgoing.groups, *found.incoming.groups)
            following.update(
                dict.fromkeys(row.term for group in groups for row in group.rows if isinstance(row.term, NamedNode))
            )
        ring = list(following)
    return list(triples), more


def _of(found: Neighbourhood) -> Iterator[RawTriple]:
    for group in found.outgoing.groups:
        yield from ((found.node, group.predicate, row.term) for row in group.rows)
    for group in found.incoming.groups:
        yield from ((row.term, group.predicate, found.node) for row in group.rows)


def _left(reading: Reading, found: Neighbourhood) -> Iterator[_More]:
    """The values that the groups of a resource have beyond their first rows."""
    names = reading.graph.names
    name = names.name(found.node.value)
    for outgoing, direction in ((True, found.outgoing), (False, found.incoming)):
        for group in direction.groups:
            left = group.count - len(group.rows)
            if left <= 0:
                continue
            predicate = names.name(group.predicate.value)
            href = (
                reading.addresses.triples(subject=name, predicate=predicate)
                if outgoing
                else reading.addresses.used(name, predicate=predicate)
            )
            yield _More(found.node, group.predicate, f"{left:,}{'' if group.is_exact else '+'}", href, outgoing)


def _data(reading: Reading, title: str, triples: list[RawTriple], more: list[_More]) -> MapData:
    reading.display.terms([*chain.from_iterable(triples), *(each.predicate for each in more)])
    builder = _Builder(reading.display)
    if "name" in reading.call.query and triples:
        node = reading.graph.names.node(reading.call.query["name"])
        builder.node(node, node)
    for triple in triples:
        builder.add(*triple)
    for each in more:
        builder.more(each.term, each.predicate, each.count, each.href, outgoing=each.outgoing)
    return bounded(builder.data(title))


def _title(reading: Reading) -> str:
    query = reading.call.query
    if "query" in query:
        return "The answer of a query"
    if "name" in query:
        steps = query.get("steps", _STEPS)
        return f"{shown_name(query['name'], 80).plain}, {steps} step{'s' if steps > 1 else ''} around"
    return f"The first triples of {reading.graph.namespace}"


def _document(call: PageCall) -> MapData:
    reading = Reading.of(call, _PATH)
    if "query" in call.query and not call.may_run:
        hint = "open the page of the query, look at it, and run it there"
        raise HttpError("permission_denied", "a query that comes with a link is not run", hint=hint)
    return _data(reading, _title(reading), *_triples(reading))


def _drawn(call: PageCall) -> bytes:
    data = _document(call)
    if not data.nodes:
        raise not_found("this map has nothing to show")
    return picture(data).alone()


PAGE = ExplorerPage(
    f"{ROOT}/{{namespace}}/{_PATH}",
    "map",
    "map.html",
    view,
    query=MapQuery,
    example={"name": "{name}"},
    pool="sparql",
    forms={
        "json": Form("application/json", lambda call: to_json(_document(call).to_json())),
        "svg": Form("image/svg+xml", _drawn, "svg"),
    },
    label="Map",
    section="See",
    keys="g m",
    place=70,
)
