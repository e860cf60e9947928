"""What SHACL shapes ask of the predicates of a class: those in the graph, of the namespace's rules, and of skills.

Rules kept here:
- shapes are read, and never evaluated: what is asked of a predicate is compared with the numbers of the overview;
- a shape is of a class by `sh:targetClass`, or by being that class (SHACL §2.1.3.2 and §2.1.3.3); of its property
  shapes, those whose path is a predicate are read: counts, kinds, ranges, lengths, patterns, and names of others;
- everything is bounded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from pyoxigraph import Literal, NamedNode, Quad, RdfFormat, Store

from cortex_graph import NamespacedGraph
from cortex_graph.namespace.labels import cut
from cortex_graph.naming.vocabulary import TYPE
from cortex_graph.store import Pattern
from cortex_skills.skill_folder.rule_set import RuleSet

_SH = "http://www.w3.org/ns/shacl#"
_MOST = 200  # triples of one subject that are read
_LONGEST = 40  # characters of a value
# The words for a constraint with one value.
_WORDS = {
    "minInclusive": "from {}",
    "minExclusive": "more than {}",
    "maxInclusive": "up to {}",
    "maxExclusive": "less than {}",
    "minLength": "{} characters or more",
    "maxLength": "at most {} characters",
    "pattern": "like {}",
    "hasValue": "one is {}",
}
_NAMED = frozenset(
    (
        *("in", "languageIn", "uniqueLang", "equals", "disjoint", "lessThan", "lessThanOrEquals", "or", "and", "not"),
        *("xone", "node", "qualifiedValueShape", "sparql"),
    )
)
_KINDS = {"IRI": "a resource", "BlankNodeOrIRI": "a resource", "Literal": "a literal"}

_Read = Callable[[Any, "NamedNode | None", "NamedNode | None"], Iterable[Quad]]


@dataclass(frozen=True, slots=True)
class PropertyShape:
    """What a shape asks of a predicate of a class.

    Attributes:
        path: the predicate.
        source: where the shape is.
        least, most: how many values a subject has.
        datatype, class_: of each value.
        is_node: whether each value is a resource; None if that is left open.
        words: the other constraints.
    """

    path: NamedNode
    source: str
    least: int = 0
    most: int | None = None
    datatype: NamedNode | None = None
    class_: NamedNode | None = None
    is_node: bool | None = None
    words: tuple[str, ...] = ()


def shapes_of(
    graph: NamespacedGraph, class_: NamedNode, rules: Iterable[tuple[str, RuleSet]]
) -> tuple[PropertyShape, ...]:
    """What is asked of the predicates of a class.

    Args:
        graph: the graph, in which shapes may be.
        class_: the class.
        rules: rule sets that apply to the graph, with their names for a reader.
    """
    found = list(_shapes(lambda s, p, o: graph.store.quads(Pattern(graph.names.graph, s, p, o)), class_, "the graph"))
    for name, each in rules:
        store = Store()
        store.load(each.text.encode(), RdfFormat.TURTLE)
        found += _shapes(lambda s, p, o, store=store: store.quads_for_pattern(s, p, o, None), class_, name)  # type: ignore[misc]
    return tuple(found)


def _shapes(read: _Read, class_: NamedNode, source: str) -> Iterator[PropertyShape]:
    by_target = (quad.subject for quad in _first(read(None, NamedNode(f"{_SH}targetClass"), class_)))
    is_shape = any(_first(read(class_, TYPE, NamedNode(f"{_SH}NodeShape"))))
    for shape in dict.fromkeys([*by_target, *([class_] if is_shape else [])]):
        for quad in _first(read(shape, NamedNode(f"{_SH}property"), None)):
            if not isinstance(quad.object, Literal):
                found = _of_property(_first(read(quad.object, None, None)), source)
                if found is not None:
                    yield found


def _of_property(quads: Iterable[Quad], source: str) -> PropertyShape | None:
    """The shape of a property; None if its path is not a predicate, or it is switched off."""
    given: dict[str, Any] = {
        quad.predicate.value.removeprefix(_SH): quad.object for quad in quads if quad.predicate.value.startswith(_SH)
    }
    path = given.get("path")
    is_off = isinstance(given.get("deactivated"), Literal) and given["deactivated"].value == "true"
    if not isinstance(path, NamedNode) or is_off:
        return None
    kind = given["nodeKind"].value.removeprefix(_SH) if isinstance(given.get("nodeKind"), NamedNode) else ""
    words = [
        _WORDS[name].format(cut(given[name].value, _LONGEST)) for name in _WORDS if hasattr(given.get(name), "value")
    ]
    words += [f"sh:{name}" for name in sorted(_NAMED & given.keys())]
    if kind and kind not in _KINDS:
        words.append(f"sh:{kind}")
    datatype, class_ = given.get("datatype"), given.get("class")
    return PropertyShape(
        path,
        source,
        _whole(given.get("minCount")) or 0,
        _whole(given.get("maxCount")),
        datatype if isinstance(datatype, NamedNode) else None,
        class_ if isinstance(class_, NamedNode) else None,
        None if kind not in _KINDS else kind != "Literal",
        tuple(words),
    )


def _first(quads: Iterable[Quad]) -> list[Quad]:
    return list(islice(quads, _MOST))


def _whole(term: object) -> int | None:
    is_number = isinstance(term, Literal) and term.value.isascii() and term.value.isdigit() and len(term.value) < 10
    return int(term.value) if is_number else None  # type: ignore[attr-defined]
