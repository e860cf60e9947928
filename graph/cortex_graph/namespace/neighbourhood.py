"""What is stated about a resource, and where it is used: its triples, grouped by predicate, in both directions.

Rules kept here:
- every read is bounded, whatever the resource: a first page of each direction, and for a direction that does not fit
  on it a count up to a ceiling and a few values of each predicate that is shown;
- the predicates of a direction that fits on the first page are complete and counted exactly. Of a larger one they are
  those of that page and the frequent ones of the namespace (`counts.py`), so they are at least so many;
- groups have a stable order: outgoing by predicate, those that name and type the resource first; incoming by frequency;
- values keep the order of the store.

    >>> from cortex_graph import NamespacedGraph, open_store
    >>> graph = NamespacedGraph(open_store("memory:"), "mayros")
    >>> for subject in ("a", "b"):
    ...     _ = graph.create_triple({"subject": subject, "predicate": "knows", "object": {"node": "c"}})
    >>> found = neighbourhood(graph, "c")
    >>> [(group.predicate.value, group.count.value, len(group.rows)) for group in found.incoming.groups]
    [('urn:cortex:mayros:knows', 2, 2)]
    >>> found.outgoing.groups
    ()
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pyoxigraph import Literal, NamedNode

from cortex_graph.exceptions import invalid
from cortex_graph.namespace.namespaced import NamespacedGraph
from cortex_graph.naming.counted import Count
from cortex_graph.naming.names import WELL_KNOWN_VOCABULARIES
from cortex_graph.naming.vocabulary import LABEL, TYPE
from cortex_graph.store import Page, Pattern, Triple
from cortex_graph.store_access.gathered import counted_page
from cortex_graph.store_access.read_ahead import Ahead, UpTo, reading_ahead
from cortex_graph.store_access.recent_cache import hash_of

COUNTED = 1000  # triples of a group that are counted
MAX_PREDICATES = 100
MAX_VALUES = 100
_FIRST_PAGE = 200  # triples of a direction that are read and grouped here
_CANDIDATES = 400  # predicates of a namespace that are looked for at a larger resource
_CANDIDATES_OF_SERVERS = 24  # each may be a request
_FIRST = (
    TYPE,
    LABEL,
    NamedNode(f"{WELL_KNOWN_VOCABULARIES['schema']}name"),
    NamedNode(f"{WELL_KNOWN_VOCABULARIES['skos']}prefLabel"),
    NamedNode(f"{WELL_KNOWN_VOCABULARIES['foaf']}name"),
)


@dataclass(frozen=True, slots=True)
class NeighbourRow:
    """One triple of a resource.

    Attributes:
        term: its object, or its subject when it is incoming.
        triple_id: its id.
    """

    term: NamedNode | Literal
    triple_id: str


@dataclass(frozen=True, slots=True)
class PredicateGroup:
    """The triples of a resource with one predicate, in one direction.

    Attributes:
        predicate: the predicate.
        count: how many there are.
        rows: the first ones.
    """

    predicate: NamedNode
    count: Count
    rows: tuple[NeighbourRow, ...]


@dataclass(frozen=True, slots=True)
class Direction:
    """The triples of a resource in one direction.

    Attributes:
        groups: the first ones.
        predicates: how many predicates there are.
        count: how many triples there are.
    """

    groups: tuple[PredicateGroup, ...]
    predicates: Count
    count: Count


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """The triples of a resource.

    Attributes:
        node: the resource.
        outgoing: the triples whose subject it is.
        incoming: the triples whose object it is.
    """

    node: NamedNode
    outgoing: Direction
    incoming: Direction

    @property
    def is_known(self) -> bool:
        """Whether there is any triple of it."""
        return bool(self.outgoing.count or self.incoming.count)


def neighbourhood(graph: NamespacedGraph, name: str, *, predicates: int = 12, values: int = 7) -> Neighbourhood:
    """Return the triples of a resource, grouped by predicate; one without any has no groups.

    Args:
        graph: the graph of a namespace.
        name: of the resource.
        predicates: the largest number of groups of each direction, 1 to 100.
        values: the largest number of rows of each group, 1 to 100.

    Raises:
        InvalidArguments: the name or a number is invalid.
    """
    for field, given, most in (("predicates", predicates, MAX_PREDICATES), ("values", values, MAX_VALUES)):
        if type(given) is not int or not 1 <= given <= most:
            raise invalid(field, f"is {given!r:.80}", hint=f"a whole number from 1 to {most}")
    node = graph.node_of(name)
    outgoing = _direction(graph, Pattern(graph.names.graph, node), predicates, values)
    incoming = _direction(graph, Pattern(graph.names.graph, object_=node), predicates, values)
    return Neighbourhood(node, outgoing, incoming)


def neighbourhood_ahead(graph: NamespacedGraph, node: NamedNode) -> Iterator[Ahead]:
    """Yield what is read of a server of a resource whose directions fit on their first pages."""
    yield UpTo(Pattern(graph.names.graph, node), _FIRST_PAGE)
    yield UpTo(Pattern(graph.names.graph, object_=node), _FIRST_PAGE)


def _direction(graph: NamespacedGraph, pattern: Pattern, most: int, values: int) -> Direction:
    page = graph.store.match(pattern, _FIRST_PAGE)
    frequency = Counter(triple[1] for triple in page.triples)
    if page.cursor is None:
        shown = _ordered(frequency, pattern)[:most]
        groups = tuple(_group_of_page(page, pattern, predicate, frequency[predicate], values) for predicate in shown)
        return Direction(groups, Count(len(frequency)), Count(len(page.triples)))
    of_page, candidates = _ordered(frequency, pattern), _candidates(graph, frequency)
    small = (_with_predicate(pattern, predicate) for predicate in (*of_page[:most], *candidates))
    with reading_ahead(graph.store, lambda: (UpTo(each, values) for each in small)):
        others = [each for each in candidates if graph.store.count(_with_predicate(pattern, each), 1)]
        present = [*of_page, *others]
        groups = tuple(_counted_group(graph, pattern, predicate, values) for predicate in present[:most])
    counted = sum(group.count.value for group in groups) + len(present) - len(groups)
    at_least = max(counted, len(page.triples) + 1)
    return Direction(groups, Count(len(present), is_exact=False), Count(at_least, is_exact=False))


def _ordered(frequency: Counter[NamedNode], pattern: Pattern) -> list[NamedNode]:
    if pattern.subject is None:
        return sorted(frequency, key=lambda predicate: (-frequency[predicate], predicate.value))
    rank = {predicate: place for place, predicate in enumerate(_FIRST)}
    return sorted(frequency, key=lambda predicate: (rank.get(predicate, len(rank)), predicate.value))


def _group_of_page(page: Page, pattern: Pattern, predicate: NamedNode, count: int, values: int) -> PredicateGroup:
    own = [(triple, line) for triple, line in zip(page.triples, page.lines, strict=True) if triple[1] == predicate]
    return PredicateGroup(predicate, Count(count), _rows(own[:values], pattern))


def _counted_group(graph: NamespacedGraph, pattern: Pattern, predicate: NamedNode, values: int) -> PredicateGroup:
    page, count = counted_page(graph.store, _with_predicate(pattern, predicate), values, COUNTED + 1)
    rows = _rows(zip(page.triples, page.lines, strict=True), pattern)
    return PredicateGroup(predicate, Count.up_to(count, COUNTED), rows)


def _rows(triples: Iterable[tuple[Triple, bytes]], pattern: Pattern) -> tuple[NeighbourRow, ...]:
    other = 0 if pattern.subject is None else 2
    return tuple(NeighbourRow(triple[other], hash_of(line)) for triple, line in triples)


def _candidates(graph: NamespacedGraph, seen: Counter[NamedNode]) -> list[NamedNode]:
    """Return frequent predicates of the namespace that are not on the first page, and may be used here."""
    frequent = [each for each in graph.frequent_predicates() if each not in seen]
    return frequent[: _CANDIDATES if graph.store.keeps_order else _CANDIDATES_OF_SERVERS]


def _with_predicate(pattern: Pattern, predicate: NamedNode) -> Pattern:
    return Pattern(pattern.graph, pattern.subject, predicate, pattern.object_)
