"""What SHACL shapes ask of the predicates of a class: those in the graph, of the namespace's rules, and of skills.

Rules kept here:
- shapes are read, and never evaluated: what is asked of a predicate is compared with the numbers of the overview;
- a shape is of a class by `sh:targetClass`, or by being that class (SHACL §2.1.3.2 and §2.1.3.3); of its property
  shapes, those whose path is a predicate are read: counts, kinds, values, ranges, lengths, patterns, names of others;
- everything is bounded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from math import inf
from typing import Any

from pyoxigraph import Literal, NamedNode, Quad, RdfFormat, Store

from cortex_graph import NamespacedGraph
from cortex_graph.namespace.labels import cut
from cortex_graph.naming.names import WELL_KNOWN_VOCABULARIES
from cortex_graph.naming.vocabulary import TYPE
from cortex_graph.store import Pattern
from cortex_skills.features.graph.looking.rules_here import IN_GRAPH, SH
from cortex_skills.features.proofs.logic.findings import safe_message
from cortex_skills.skill_folder.rule_set import RuleSet

_MOST = 200  # triples of one subject that are read
_LONGEST = 40  # characters of a value
_NAMES = 6  # values that are named
_OF_NAME = 80  # characters of the name of a property
_FIRST, _REST, _NIL = (NamedNode(f"{WELL_KNOWN_VOCABULARIES['rdf']}{name}") for name in ("first", "rest", "nil"))
_PATHS = frozenset(
    (
        _FIRST,
        *(NamedNode(f"{SH}{name}Path") for name in ("inverse", "alternative", "zeroOrMore", "oneOrMore", "zeroOrOne")),
    )
)
_ORDER = NamedNode(f"{SH}order")
_CLASS = NamedNode(f"{WELL_KNOWN_VOCABULARIES['rdfs']}Class")
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
        *("uniqueLang", "equals", "disjoint", "lessThan", "lessThanOrEquals", "or", "and", "not"),
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
        name: what its author calls the predicate; may be empty.
        values: the only ones that there may be; None for any.
        languages: of texts; empty for any.
    """

    path: NamedNode
    source: str
    least: int = 0
    most: int | None = None
    datatype: NamedNode | None = None
    class_: NamedNode | None = None
    is_node: bool | None = None
    words: tuple[str, ...] = ()
    name: str = ""
    values: tuple[NamedNode | Literal, ...] | None = None
    languages: tuple[str, ...] = ()

    def demand(self, called: Callable[[NamedNode], str]) -> str:
        """What it asks for, in words.

        Args:
            called: names a datatype or a class.
        """
        least, most = self.least, self.most
        if least and most == least:
            parts = [f"{least}"]
        elif least and most is not None:
            parts = [f"{least} to {most}"]
        elif most is not None:
            parts = [f"0 or {most}" if most == 1 else f"at most {most}"]
        else:
            parts = [f"at least {least}"] if least else []
        parts += [called(node) for node in (self.datatype, self.class_) if node is not None]
        if self.is_node is not None:
            parts.append("a resource" if self.is_node else "a literal")
        if self.values is not None:
            names = [called(each) if isinstance(each, NamedNode) else cut(each.value, _LONGEST) for each in self.values]
            parts.append(f"one of {', '.join(names[:_NAMES])}{', …' if len(names) > _NAMES else ''}")
        if self.languages:
            parts.append(f"in {' or '.join(self.languages[:_NAMES])}")
        text = ", ".join([*parts, *self.words])
        is_name = ":" in text.partition(" ")[0].rstrip(",")  # which has its own case
        return text[:1].upper() + text[1:] if text and not is_name else text or "Anything"


def shapes_of(
    graph: NamespacedGraph, classes: Iterable[NamedNode], rules: Iterable[RuleSet]
) -> tuple[PropertyShape, ...]:
    """What is asked of the predicates of some classes, by class, then by `sh:order` and name.

    Args:
        graph: the graph, in which shapes may be.
        classes: the classes.
        rules: rule sets that apply to the graph.
    """
    readers = _readers(graph, rules)
    found = (shape for class_ in classes for source, read in readers for shape in _shapes(read, class_, source))
    return tuple(dict.fromkeys(found))


def shaped_classes(graph: NamespacedGraph, rules: Iterable[RuleSet]) -> tuple[NamedNode, ...]:
    """The classes that shapes are of."""
    found: list[object] = []
    for _, read in _readers(graph, rules):
        found += [quad.object for quad in _first(read(None, NamedNode(f"{SH}targetClass"), None))]
        shapes = _first(read(None, TYPE, NamedNode(f"{SH}NodeShape")))
        found += [quad.subject for quad in shapes if any(read(quad.subject, TYPE, _CLASS))]
    return tuple(dict.fromkeys(node for node in found if isinstance(node, NamedNode)))


def source_of(rules: str) -> str:
    """A rule set for a person, by its name.

    >>> source_of("namespace:shop"), source_of("skill:verify-kyc"), source_of("the graph")
    ('the rules of the namespace', 'the rules of verify-kyc', 'the graph')
    """
    kind, _, name = rules.partition(":")
    return {"namespace": "the rules of the namespace", "skill": f"the rules of {name}"}.get(kind, rules)


def _readers(graph: NamespacedGraph, rules: Iterable[RuleSet]) -> list[tuple[str, _Read]]:
    readers: list[tuple[str, _Read]] = [
        (IN_GRAPH, lambda s, p, o: graph.store.quads(Pattern(graph.names.graph, s, p, o)))
    ]
    for each in rules:
        store = _parsed(each.text)
        readers.append((source_of(each.name), lambda s, p, o, store=store: store.quads_for_pattern(s, p, o, None)))  # type: ignore[misc]
    return readers


@lru_cache(maxsize=16)
def _parsed(text: str) -> Store:
    """The shapes of a rule set; they are read only."""
    store = Store()
    store.load(text.encode(), RdfFormat.TURTLE)
    return store


def _shapes(read: _Read, class_: NamedNode, source: str) -> list[PropertyShape]:
    by_target = (quad.subject for quad in _first(read(None, NamedNode(f"{SH}targetClass"), class_)))
    is_shape = any(_first(read(class_, TYPE, NamedNode(f"{SH}NodeShape"))))
    found: list[tuple[float, str, PropertyShape]] = []
    for shape in dict.fromkeys([*by_target, *([class_] if is_shape else [])]):
        for quad in _first(read(shape, NamedNode(f"{SH}property"), None)):
            if not isinstance(quad.object, Literal):
                about = _first(read(quad.object, None, None))
                if (property_ := _of_property(read, about, source)) is not None:
                    found.append((_order(about), property_.path.value, property_))
    return [shape for _, _, shape in sorted(found, key=lambda each: each[:2])]


def _of_property(read: _Read, quads: Iterable[Quad], source: str) -> PropertyShape | None:
    """The shape of a property; None if its path is not a predicate, or it is switched off."""
    given: dict[str, Any] = {
        quad.predicate.value.removeprefix(SH): quad.object for quad in quads if quad.predicate.value.startswith(SH)
    }
    path = given.get("path")
    is_off = isinstance(given.get("deactivated"), Literal) and given["deactivated"].value == "true"
    if not isinstance(path, NamedNode) or is_off or _is_complex(read, path):
        return None
    kind = given["nodeKind"].value.removeprefix(SH) if isinstance(given.get("nodeKind"), NamedNode) else ""
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
        safe_message(given["name"].value, _OF_NAME) if isinstance(given.get("name"), Literal) else "",
        tuple(_items(read, given["in"])) if "in" in given else None,
        tuple(each.value for each in _items(read, given.get("languageIn")) if isinstance(each, Literal)),
    )


def _is_complex(read: _Read, path: NamedNode) -> bool:
    """Whether a path is no predicate: in a graph, which has no blank nodes, such a path has a name."""
    return any(quad.predicate in _PATHS for quad in _first(read(path, None, None)))


def _items(read: _Read, head: Any) -> list[NamedNode | Literal]:
    """The members of a list, as far as they are read."""
    found: list[NamedNode | Literal] = []
    seen: set[object] = set()
    while head not in (None, _NIL) and head not in seen and len(found) < _MOST and not isinstance(head, Literal):
        seen.add(head)
        parts = {quad.predicate: quad.object for quad in _first(read(head, None, None))}
        if isinstance(first := parts.get(_FIRST), NamedNode | Literal):
            found.append(first)
        head = parts.get(_REST)
    return found


def _order(quads: Iterable[Quad]) -> float:
    texts = [quad.object.value for quad in quads if quad.predicate == _ORDER and isinstance(quad.object, Literal)]
    try:
        return min(map(float, texts), default=inf)
    except ValueError:
        return inf


def _first(quads: Iterable[Quad]) -> list[Quad]:
    return list(islice(quads, _MOST))


def _whole(term: object) -> int | None:
    is_number = isinstance(term, Literal) and term.value.isascii() and term.value.isdigit() and len(term.value) < 10
    return int(term.value) if is_number else None  # type: ignore[attr-defined]
