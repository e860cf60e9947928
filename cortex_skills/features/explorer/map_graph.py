"""What a map has: the triples around a resource, those of a query, or the first ones; and what a reader expands.

Rules kept here:
- everything is bounded: steps, resources that are looked at, values of each predicate, triples of a query, resources
  that are expanded; what is left out is a number with the list of it;
- a map grows in steps, one for each resource that is expanded, so that what was there keeps its place;
- literals are in the card of their resource and not in the picture; the class of a resource is its mark;
- what is hidden is left out after the places are chosen.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain

from pyoxigraph import BlankNode, NamedNode

from cortex_graph.namespace.neighbourhood import Neighbourhood, neighbourhood
from cortex_graph.naming.vocabulary import TYPE
from cortex_graph.store import Pattern
from cortex_skills.doors.explorer.display import ShownName, ShownTerm
from cortex_skills.doors.explorer.pictures.map import MapData, MapLink, MapMore, MapNode, clustered, placed
from cortex_skills.doors.http.http_errors import HttpError
from cortex_skills.features.explorer.class_marks import classes_of, id_of, marks_of
from cortex_skills.features.explorer.query_answers import Solutions, Triples, answer_to
from cortex_skills.features.explorer.reading import Reading
from cortex_skills.features.graph.looking.schema_now import schema_of

STEPS = 2
OF_QUERY = 2000  # triples
_LOOKED_AT = 40  # resources whose neighbours are read
_PREDICATES, _VALUES = 12, 7
_EXPANDED, _VALUES_OF_EXPANDED = 20, 12
_FIRST = 150  # triples of a map without a name
_OF_LABEL = 80
_PIN = re.compile(r"([a-z0-9-]+),(-?\d{1,4}),(-?\d{1,4})", re.ASCII)
_LONGEST_QUERY = 300  # characters: every node has a link with the query

RawTriple = tuple[object, object, object]
Term = NamedNode | BlankNode


@dataclass(frozen=True, slots=True)
class More:
    """Values of a predicate of a resource that are not read."""

    term: NamedNode
    predicate: NamedNode
    count: str
    href: str
    outgoing: bool


@dataclass(slots=True)
class MapGraph:
    """The triples of a map.

    Attributes:
        triples: all of them, in order.
        more: what is not read, by resource, predicate and direction.
        root: the resource that the map is of; None for a map of a query or of the first triples.
        are_types_drawn: whether the class of a resource is also a link.
    """

    triples: dict[RawTriple, None] = field(default_factory=dict)
    more: dict[tuple[object, object, bool], More] = field(default_factory=dict)
    root: NamedNode | None = None
    are_types_drawn: bool = False

    def add(self, reading: Reading, node: NamedNode, values: int) -> list[NamedNode]:
        """Read what is around a resource; the resources that were found."""
        name = reading.graph.names.name(node.value)
        found = neighbourhood(reading.graph, name, predicates=_PREDICATES, values=values)
        self.triples.update(dict.fromkeys(_triples_of(found)))
        for outgoing, direction in ((True, found.outgoing), (False, found.incoming)):
            for group in direction.groups:
                key, left = (node, group.predicate, outgoing), group.count.without(len(group.rows))
                self.more.pop(key, None)
                if left and (group.predicate != TYPE or not outgoing):
                    other = reading.graph.names.name(group.predicate.value)
                    listed = {"subject": name} if outgoing else {}
                    href = (
                        reading.near.addresses.triples(**listed, predicate=other)
                        if outgoing
                        else reading.near.addresses.used(name, predicate=other)
                    )
                    self.more[key] = More(node, group.predicate, left.text, href, outgoing)
        groups = [
            *(group for group in found.outgoing.groups if group.predicate != TYPE),
            *(group for group in found.incoming.groups if group.predicate != TYPE or node == self.root),
        ]
        return [row.term for group in groups for row in group.rows if isinstance(row.term, NamedNode)]

    def links(self) -> list[RawTriple]:
        """The triples that are drawn as links."""
        return [
            triple
            for triple in self.triples
            if isinstance(triple[2], Term) and (triple[1] != TYPE or self.are_types_drawn or triple[2] == self.root)
        ]

    def nodes(self) -> dict[object, None]:
        """What is drawn as a node: the root first."""
        nodes: dict[object, None] = dict.fromkeys(subject for subject, _, _ in self.triples)
        if self.root is not None:
            nodes = {self.root: None}
        for subject, _, value in self.links():
            nodes.update({subject: None, value: None})
        return nodes

    def copy(self) -> MapGraph:
        """The same, to be grown."""
        return replace(self, triples=dict(self.triples), more=dict(self.more))


@dataclass(frozen=True, slots=True)
class ClassEntry:
    """A class of a map: its id, its mark, its label, how many resources it has there, and whether they are hidden."""

    id: str
    mark: int
    label: str
    count: int
    is_hidden: bool


@dataclass(frozen=True, slots=True)
class ReadMap:
    """A map of a request.

    Attributes:
        triples: of what is drawn, literals among them.
        data: what is drawn.
        before: the states that it grew from.
        classes: of its resources, the largest first.
        terms: of its nodes, by their ids.
        hidden: how many resources are hidden.
        is_linked: whether its nodes lead to the map; to their pages if not.
    """

    triples: tuple[RawTriple, ...]
    data: MapData
    before: tuple[MapData, ...]
    classes: tuple[ClassEntry, ...]
    terms: dict[str, object]
    hidden: int
    is_linked: bool

    @property
    def words(self) -> str:
        """How much it shows."""
        if not self.data.nodes:
            return "nothing to show"
        drawn = sum(node.kind == "resource" for node in self.data.nodes)
        parts = [f"{drawn:,} resource{'' if drawn == 1 else 's'}"]
        if groups := len(self.data.nodes) - drawn:
            parts.append(f"{groups:,} class{'' if groups == 1 else 'es'} as one mark each")
        links = sum(link.count for link in self.data.links)
        return ", ".join([*parts, f"{links:,} link{'' if links == 1 else 's'}"])

    def place(self, node: str) -> complex:
        """Where a node is."""
        return placed((*self.before, self.data))[node].at


def read_map(reading: Reading, title: Callable[[], str], *, has_links: bool = False) -> ReadMap:
    """The map that a request asks for.

    Args:
        reading: the request.
        title: what it is of; called when the labels were looked up.
        has_links: whether nodes lead to the map, if the query is short.

    Raises:
        GraphError: the name or the query is invalid.
        HttpError: the query has no triples.
    """
    query = reading.call.query
    is_short = len(query.get("query", "")) <= _LONGEST_QUERY
    return map_of(reading, _graph_of(reading), title, has_links=has_links and is_short)


def graph_of_answer(answer: Solutions | Triples) -> MapGraph | None:
    """The triples of an answer: its own, or its columns `s`, `p` and `o`; None if it has no such columns."""
    graph = MapGraph(are_types_drawn=True)
    if isinstance(answer, Triples):
        graph.triples = dict.fromkeys((each.subject, each.predicate, each.object) for each in answer.triples)
        return graph
    if not {"s", "p", "o"} <= set(answer.variables):
        return None
    s, p, o = (answer.variables.index(name) for name in "spo")
    rows = ((row[s], row[p], row[o]) for row in answer.rows)
    graph.triples = {row: None for row in rows if None not in row and isinstance(row[0], Term)}
    return graph


def map_of(reading: Reading, graph: MapGraph, title: Callable[[], str], *, has_links: bool = False) -> ReadMap:
    """The map of some triples, with what the reader expanded, hid and pinned.

    Args:
        reading: the request.
        graph: the triples.
        title: what they are.
        has_links: whether nodes lead to the map.
    """
    query = reading.call.query
    builder = _Builder(reading, title, has_links=has_links)
    grown, states = graph, [builder.data(graph, ())]
    expanded = _ids(query.get("expand"))[:_EXPANDED]
    for place, wanted in enumerate(expanded):
        term = builder.terms.get(wanted)
        if isinstance(term, NamedNode):
            grown = grown.copy()
            grown.add(reading, term, _VALUES_OF_EXPANDED)
        elif not wanted.startswith("all-"):
            continue
        states.append(builder.data(grown, tuple(expanded[: place + 1])))
    hidden = set(_ids(query.get("hide")))
    data = states[-1]
    kept = tuple(node for node in data.nodes if not hidden & {node.id, node.class_ or "none"})
    drawn = {node.id for node in kept}
    links = tuple(link for link in data.links if {link.source, link.target} <= drawn)
    shown = replace(data, nodes=kept, links=links, more=tuple(each for each in data.more if each.node in drawn))
    # What is hidden keeps its place in the state before, so that nothing moves.
    before = tuple(states[:-1]) if len(kept) == len(data.nodes) else tuple(states)
    there = builder.drawn_in(drawn)
    triples = tuple(
        triple
        for triple in grown.triples
        if triple[0] in there and (not isinstance(triple[2], Term) or triple[1] == TYPE or triple[2] in there)
    )
    left_out = len(data.nodes) - len(kept)
    return ReadMap(triples, shown, before, builder.entries(hidden), builder.terms, left_out, has_links)


class _Builder:
    """Makes the data of a map and of the states that it grew from."""

    def __init__(self, reading: Reading, title: Callable[[], str], *, has_links: bool) -> None:
        self._reading, self._title, self._has_links = reading, title, has_links
        self._display = reading.near if has_links else reading.display
        self._marks = marks_of(schema_of(reading.call.graph, 0.5))
        self._classes: dict[NamedNode, NamedNode | None] = {}
        self._drawn: tuple[object, ...] = ()
        self.terms: dict[str, object] = {}
        self._pinned = tuple(_pins(reading.call.query.get("pin")))

    def data(self, graph: MapGraph, expanded: tuple[str, ...]) -> MapData:
        """The data of a state."""
        display, nodes = self._display, graph.nodes()
        new = [node for node in nodes if isinstance(node, NamedNode) and node not in self._classes]
        found = classes_of(self._reading.graph, new, self._marks)
        self._classes.update({node: found.get(node) for node in new})
        display.terms(
            chain(nodes, (predicate for _, predicate, _ in graph.triples), filter(None, self._classes.values()))
        )
        self.terms.update({id_of(node): node for node in nodes})
        self._drawn = tuple(nodes)
        links = Counter(
            (id_of(subject), id_of(value), name_of_link(display.term(predicate)))
            for subject, predicate, value in graph.links()
        )
        more = tuple(
            MapMore(id_of(each.term), name_of_link(display.term(each.predicate)), each.count, each.href, each.outgoing)
            for each in graph.more.values()
            if each.term in nodes
        )
        data = MapData(
            self._title(),
            tuple(map(self._node, nodes)),
            tuple(MapLink(*key, count) for key, count in links.items()),
            more,
            "" if graph.root is None else id_of(graph.root),
            self._pinned,
        )
        names = {self._id(class_): display.iri(class_.value).called for class_ in self._classes.values() if class_}
        opened = frozenset(each.removeprefix("all-") for each in expanded if each.startswith("all-"))
        bounded = clustered(data, names, opened)
        linked = [
            replace(node, href=self._reading.changed(expand=with_id(self._reading, "expand", node.id), at=None))
            if node.kind == "cluster" and self._has_links
            else node
            for node in bounded.nodes
        ]
        return replace(bounded, nodes=tuple(linked))

    def drawn_in(self, ids: set[str]) -> set[object]:
        """What is drawn by itself or with others, by the ids of the nodes of the picture."""
        return {term for term in self._drawn if id_of(term) in ids or f"all-{self._id(self._class_of(term))}" in ids}

    def _class_of(self, term: object) -> NamedNode | None:
        return self._classes.get(term) if isinstance(term, NamedNode) else None

    def entries(self, hidden: set[str]) -> tuple[ClassEntry, ...]:
        """The classes of the last state."""
        counted = Counter(map(self._class_of, self._drawn))
        display = self._display
        return tuple(
            ClassEntry(
                self._id(class_) or "none",
                self._marks.get(class_, 0) if class_ else 0,
                display.iri(class_.value).called if class_ else "Without a class",
                count,
                (self._id(class_) or "none") in hidden,
            )
            for class_, count in sorted(counted.items(), key=lambda each: (each[0] is None, -each[1], str(each[0])))
        )

    def _id(self, class_: NamedNode | None) -> str:
        return "" if class_ is None else id_of(class_)

    def _node(self, term: object) -> MapNode:
        shown = self._display.term(term, _OF_LABEL)
        class_ = self._class_of(term)
        mark = self._marks.get(class_, 0) if class_ else 0
        label, of_term = shown.called, id_of(term)
        href = shown.href if isinstance(shown, ShownName) else None
        if self._has_links and isinstance(term, NamedNode):
            href = self._reading.changed(at=of_term)
        return MapNode(of_term, label, self._id(class_), mark, href, shown.plain)


def name_of_link(shown: ShownTerm) -> str:
    """What is written at a link: the label of the predicate, or its name without the prefix of the own namespace."""
    if isinstance(shown, ShownName) and shown.is_own and shown.called == shown.plain:
        return shown.local.plain or shown.plain
    return shown.called


def with_id(reading: Reading, field: str, added: str) -> str:
    """The value of a list of ids in the address, with one more."""
    return ".".join([*(each for each in _ids(reading.call.query.get(field)) if each != added), added])


def without_id(reading: Reading, field: str, gone: str) -> str | None:
    """The value of a list of ids, or of places that begin with them, without one."""
    left = [each for each in _ids(reading.call.query.get(field)) if each.partition(",")[0] != gone]
    return ".".join(left) or None


def _ids(value: str | None) -> list[str]:
    return list(dict.fromkeys(filter(None, (value or "").split("."))))


def _pins(value: str | None) -> Iterator[tuple[str, complex]]:
    for found in filter(None, map(_PIN.fullmatch, _ids(value))):
        yield found[1], complex(int(found[2]), int(found[3]))


def _graph_of(reading: Reading) -> MapGraph:
    graph, query = reading.graph, reading.call.query
    if "query" in query:
        answer = answer_to(reading.call, graph, query["query"], OF_QUERY)
        found = None if isinstance(answer, bool) else graph_of_answer(answer)
        if found is None:
            raise HttpError("invalid_arguments", "the query has no triples", hint="use CONSTRUCT, or columns ?s ?p ?o")
        return found
    if "name" in query:
        return _around(reading, graph.node_of(query["name"]), query.get("steps", STEPS))
    first: Iterable[RawTriple] = graph.store.match(Pattern(graph.names.graph), _FIRST).triples
    return MapGraph(dict.fromkeys(first))


def _around(reading: Reading, root: NamedNode, steps: int) -> MapGraph:
    """The triples within some steps of a resource; none if it has none."""
    found = MapGraph(root=root)
    ring, seen = [root], set[NamedNode]()
    for _ in range(steps):
        following: dict[NamedNode, None] = {}
        for node in ring:
            if node not in seen and len(seen) < _LOOKED_AT:
                seen.add(node)
                following.update(dict.fromkeys(found.add(reading, node, _VALUES)))
        ring = list(following)
    if not found.triples:
        found.root = None
    return found


def _triples_of(found: Neighbourhood) -> Iterator[RawTriple]:
    for group in found.outgoing.groups:
        yield from ((found.node, group.predicate, row.term) for row in group.rows)
    for group in found.incoming.groups:
        yield from ((row.term, group.predicate, found.node) for row in group.rows)
