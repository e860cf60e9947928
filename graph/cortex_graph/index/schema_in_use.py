"""The schema of a namespace as it is used: its classes, and their predicates with coverage, values and examples.

Rules kept here:
- it is read from the data, with the queries of `counting.py`: in processes of their own, with a time limit, and with
  lower bounds when they take too long (`is_exact`);
- a subject of several classes counts in each of them; one without a class, in the class None;
- a summary is bounded, also of a large graph: the most used classes, predicates and kinds of values.

    >>> from cortex_graph import NamespacedGraph, open_store
    >>> graph = NamespacedGraph(open_store("memory:"), "mayros")
    >>> for name in ("ada", "bob"):
    ...     _ = graph.create_triple({"subject": name, "predicate": "age", "object": 36})
    >>> (found,) = graph.schema.latest(30.0).classes
    >>> [(used.predicate.value, used.subjects, used.values[0].example) for used in found.predicates]
    [('urn:cortex:mayros:age', 2, '36')]
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from pyoxigraph import Literal, NamedNode

from cortex_graph.index.counting import GraphCounter, UntilExit
from cortex_graph.index.kept import KeptSummary
from cortex_graph.naming.names import WELL_KNOWN_VOCABULARIES, Names
from cortex_graph.naming.vocabulary import GENERATED_AT, TYPE
from cortex_graph.store import GraphStore

MAX_CLASSES = 1000
MAX_PREDICATES = 5000  # of all classes together
MAX_LANGUAGES = 100
OF_EXAMPLE = 100  # characters
RESOURCE = NamedNode(f"{WELL_KNOWN_VOCABULARIES['rdfs']}Resource")
"""The kind of a node without a class."""
_NO_LANGUAGE = "_"
_MOST_NAMED = 100  # predicates, in one query

ByClass = NamedNode | None


@dataclass(frozen=True, slots=True)
class KindInUse:
    """Values of a predicate that are of one kind.

    Attributes:
        kind: a datatype, or the class of a node.
        count: how many there are.
        is_node: whether they are nodes.
        example: the beginning of the text, or the IRI, of one of them.
        language: of the example.
    """

    kind: NamedNode
    count: int
    is_node: bool
    example: str
    language: str = ""


@dataclass(frozen=True, slots=True)
class PredicateInUse:
    """A predicate of the subjects of a class.

    Attributes:
        predicate: the predicate.
        subjects: how many subjects of the class have it.
        triples: how many values they have together.
        most: the largest number of values of one of them.
        values: the kinds of the values, the most frequent first.
    """

    predicate: NamedNode
    subjects: int
    triples: int
    most: int
    values: tuple[KindInUse, ...]


@dataclass(frozen=True, slots=True)
class ClassInUse:
    """A class, and the predicates of its subjects.

    Attributes:
        node: the class; None for the subjects without one.
        subjects: how many there are.
        predicates: the most used first.
    """

    node: ByClass
    subjects: int
    predicates: tuple[PredicateInUse, ...]


@dataclass(frozen=True, slots=True)
class SchemaInUse:
    """The schema of a namespace.

    Attributes:
        triples: how many triples it has.
        classes: the largest first.
        languages: of texts, the most used first.
        first, last: when its earliest and its latest statement were asserted, as `xsd:dateTime`; empty if none was.
        is_exact: whether all of it was read; otherwise the numbers are lower bounds.
        is_current: whether it is known that nothing was written since.
        counted_at: when it was read; None while the first reading is under way.
    """

    triples: int = 0
    classes: tuple[ClassInUse, ...] = ()
    languages: tuple[str, ...] = ()
    first: str = ""
    last: str = ""
    is_exact: bool = True
    is_current: bool = True
    counted_at: datetime | None = None


def read_schema(store: GraphStore, names: Names, cancel: UntilExit | None = None) -> SchemaInUse:
    """Read the schema of a namespace; takes longer the larger it is.

    Args:
        store: the store.
        names: of the namespace.
        cancel: cancels it.

    Raises:
        GraphError: a query failed.
    """
    now = datetime.now(UTC)
    counter = GraphCounter(store, names.graph, cancel)
    sizes: dict[ByClass, int] = {}
    for row in counter.rows("SELECT ?c (COUNT(?s) AS ?n)", _SUBJECTS, f"GROUP BY ?c {_FIRST} LIMIT {MAX_CLASSES + 1}"):
        sizes[_node(row["c"])] = _whole(row["n"])
    uses = counter.rows(
        "SELECT ?c ?p (COUNT(DISTINCT ?s) AS ?n) (COUNT(?o) AS ?triples)",
        f"?s ?p ?o {_CLASS}",
        f"GROUP BY ?c ?p {_FIRST} LIMIT {MAX_PREDICATES}",
    )
    most = _most(counter, uses)
    kinds: dict[tuple[ByClass, Any], list[KindInUse]] = defaultdict(list)
    for where, is_node in ((_LITERALS, False), (_NODES, True)):
        for row in counter.rows("SELECT ?c ?p ?k (COUNT(?o) AS ?n) (SAMPLE(?text) AS ?e)", where, _OF_VALUES):
            kinds[_node(row["c"]), row["p"]].append(_kind(row, is_node=is_node))
    predicates: dict[ByClass, list[PredicateInUse]] = defaultdict(list)
    for row in uses:
        of_class, predicate = _node(row["c"]), row["p"]
        if isinstance(predicate, NamedNode):
            found = tuple(sorted(kinds[of_class, predicate], key=lambda each: (-each.count, each.kind.value)))
            numbers = (_whole(row["n"]), _whole(row["triples"]), most.get((of_class, predicate), 1))
            predicates[of_class].append(PredicateInUse(predicate, *numbers, found))
    languages = counter.rows("SELECT ?l (COUNT(*) AS ?n)", _LANGUAGES, f"GROUP BY ?l {_FIRST} LIMIT {MAX_LANGUAGES}")
    recorded = GraphCounter(store, names.provenance_graph, cancel)
    (span,) = recorded.rows("SELECT (MIN(?t) AS ?first) (MAX(?t) AS ?last)", f"?r {GENERATED_AT} ?t", "")
    return SchemaInUse(
        triples=counter.number("COUNT(*)", "?s ?p ?o"),
        classes=tuple(
            ClassInUse(
                node, subjects, tuple(sorted(predicates[node], key=lambda use: (-use.subjects, use.predicate.value)))
            )
            for node, subjects in sorted(sizes.items(), key=lambda each: (each[0] is None, -each[1], str(each[0])))
        )[:MAX_CLASSES],
        languages=tuple(_text(row["l"]) for row in languages),
        first=_text(span["first"]),
        last=_text(span["last"]),
        is_exact=counter.is_exact and recorded.is_exact and len(sizes) <= MAX_CLASSES and len(uses) < MAX_PREDICATES,
        counted_at=now,
    )


class KeptSchema(KeptSummary[SchemaInUse]):
    """The schema of one namespace, kept."""

    name = "schema"

    def _made(self, cancel: UntilExit) -> SchemaInUse:
        return read_schema(self._store, self._names, cancel)

    def _first_look(self) -> SchemaInUse:
        return SchemaInUse(is_exact=False, is_current=False)

    def _document(self, summary: SchemaInUse) -> dict[str, Any]:
        return {
            "triples": summary.triples,
            "languages": summary.languages,
            "span": [summary.first, summary.last],
            "is_exact": summary.is_exact,
            "classes": [
                [None if each.node is None else each.node.value, each.subjects, [*map(_written, each.predicates)]]
                for each in summary.classes
            ],
        }

    def _of_document(self, document: dict[str, Any], counted_at: datetime) -> SchemaInUse | None:
        first, last = map(str, document["span"])
        return SchemaInUse(
            triples=int(document["triples"]),
            classes=tuple(
                ClassInUse(None if node is None else NamedNode(node), int(subjects), tuple(map(_use, predicates)))
                for node, subjects, predicates in document["classes"]
            ),
            languages=tuple(map(str, document["languages"])),
            first=first,
            last=last,
            is_exact=bool(document["is_exact"]),
            counted_at=counted_at,
        )


_FIRST = "ORDER BY DESC(?n)"
_CLASS = f"OPTIONAL {{ ?s {TYPE} ?c }}"
_SUBJECTS = f"{{ SELECT DISTINCT ?s {{ ?s ?p ?o }} }} {_CLASS}"
_LITERALS = (
    f"?s ?p ?o FILTER(ISLITERAL(?o)) {_CLASS} BIND(DATATYPE(?o) AS ?k) "
    f"BIND(CONCAT(IF(LANG(?o) = '', '{_NO_LANGUAGE}', LANG(?o)), ' ', SUBSTR(STR(?o), 1, {OF_EXAMPLE})) AS ?text)"
)
_NODES = (
    f"?s ?p ?o FILTER(!ISLITERAL(?o)) {_CLASS} OPTIONAL {{ ?o {TYPE} ?k FILTER(?p != {TYPE}) }} BIND(STR(?o) AS ?text)"
)
_OF_VALUES = f"GROUP BY ?c ?p ?k {_FIRST} LIMIT {2 * MAX_PREDICATES}"
_LANGUAGES = "?s ?p ?o BIND(LANG(?o) AS ?l) FILTER(?l != '')"


def _most(counter: GraphCounter, uses: list[dict[str, object]]) -> dict[tuple[ByClass, object], int]:
    """Return the largest number of values of a subject, for the predicates of which a subject has several."""
    several = {row["p"]: None for row in uses if _whole(row["triples"]) > _whole(row["n"])}
    if not several:
        return {}
    named = f"VALUES ?p {{ {' '.join(map(str, several))} }}" if len(several) <= _MOST_NAMED else ""
    counted = f"{{ SELECT ?s ?p (COUNT(?o) AS ?values) {{ {named} ?s ?p ?o }} GROUP BY ?s ?p }} {_CLASS}"
    rows = counter.rows("SELECT ?c ?p (MAX(?values) AS ?n)", counted, f"GROUP BY ?c ?p {_FIRST} LIMIT {MAX_PREDICATES}")
    return {(_node(row["c"]), row["p"]): _whole(row["n"]) for row in rows}


def _kind(row: dict[str, object], *, is_node: bool) -> KindInUse:
    text, kind = _text(row["e"]), _node(row["k"]) or RESOURCE
    if is_node:
        return KindInUse(kind, _whole(row["n"]), True, text)
    language, _, text = text.partition(" ")
    return KindInUse(kind, _whole(row["n"]), False, text, "" if language == _NO_LANGUAGE else language)


def _written(use: PredicateInUse) -> list[Any]:
    values = [[each.kind.value, each.count, each.is_node, each.example, each.language] for each in use.values]
    return [use.predicate.value, use.subjects, use.triples, use.most, values]


def _use(document: list[Any]) -> PredicateInUse:
    predicate, subjects, triples, most, values = document
    kinds = [KindInUse(NamedNode(kind), int(n), bool(node), str(e), str(tag)) for kind, n, node, e, tag in values]
    return PredicateInUse(NamedNode(predicate), int(subjects), int(triples), int(most), tuple(kinds))


def _node(term: object) -> ByClass:
    return term if isinstance(term, NamedNode) else None


def _whole(term: object) -> int:
    return int(term.value) if isinstance(term, Literal) else 0


def _text(term: object) -> str:
    return term.value if isinstance(term, Literal | NamedNode) else ""
