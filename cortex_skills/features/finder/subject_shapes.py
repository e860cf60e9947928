"""What of a subject the schema of a graph counts: its classes, and of each predicate how many values of which kinds.

Rules kept here:
- the kind of a literal is its datatype; a node is of each of its classes, or of the kind `rdfs:Resource` without one.
  The values of `rdf:type` are of that kind: what class a class has is not counted;
- of a subject the first `MAX_COUNTED` statements are counted; one with more is `is_cut`;
- a shape contains no values. A shape of what was just read also has an example of each kind.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import merge
from itertools import islice

import orjson
from pyoxigraph import Literal, NamedNode

from cortex_graph.index.schema_in_use import OF_EXAMPLE, RESOURCE
from cortex_graph.naming.vocabulary import TYPE

MAX_COUNTED = 20_000
_MOST_CLASSES = 1 << 16
_SORTED = 100_000  # classes of nodes that are sorted at once

Kind = tuple[bool, str]  # whether it is of nodes, and its IRI
Example = tuple[str, str]  # the beginning of a text or an IRI, and the language of the text
Statement = tuple[NamedNode, NamedNode | Literal]


@dataclass(frozen=True, slots=True)
class Shape:
    """What is counted of a subject.

    Attributes:
        classes: the IRIs of its classes, sorted.
        values: how many values each predicate has, by its IRI.
        kinds: how many of them are of a kind, by the predicate and the kind.
        languages: how many texts are in a language.
        is_cut: whether it has more statements than are counted.
        examples: of kinds, by the predicate and the kind.
    """

    classes: tuple[str, ...] = ()
    values: dict[str, int] = field(default_factory=dict)
    kinds: dict[tuple[str, Kind], int] = field(default_factory=dict)
    languages: dict[str, int] = field(default_factory=dict)
    is_cut: bool = False
    examples: dict[tuple[str, Kind], Example] = field(default_factory=dict, compare=False)

    def written(self) -> bytes:
        """The shape without its examples."""
        kinds = [[predicate, *kind, count] for (predicate, kind), count in self.kinds.items()]
        return orjson.dumps([self.classes, self.values, kinds, self.languages, self.is_cut])


def shape_in(data: bytes) -> Shape:
    """The shape that was written."""
    classes, values, kinds, languages, is_cut = orjson.loads(data)
    by_kind = {(predicate, (is_node, kind)): count for predicate, is_node, kind, count in kinds}
    return Shape(tuple(classes), values, by_kind, languages, is_cut)


def shape_of(statements: Sequence[Statement], classes_of: Callable[[str], Iterable[str]]) -> Shape:
    """The shape of the subject of some statements.

    Args:
        statements: its predicates and objects, at most one more than are counted.
        classes_of: returns the classes of a node.
    """
    shape = Shape(classes_in(statements), is_cut=len(statements) > MAX_COUNTED)
    values, kinds, languages = shape.values, shape.kinds, shape.languages
    for term, object_ in statements[:MAX_COUNTED]:
        predicate = term.value
        values[predicate] = values.get(predicate, 0) + 1
        of_value: Iterable[Kind]
        if isinstance(object_, Literal):
            of_value, language = ((False, object_.datatype.value),), object_.language or ""
            if language:
                languages[language] = languages.get(language, 0) + 1
        else:
            found = () if term == TYPE else classes_of(object_.value)
            of_value, language = [(True, each) for each in found] or ((True, RESOURCE.value),), ""
        for kind in of_value:
            kinds[predicate, kind] = kinds.get((predicate, kind), 0) + 1
            text = object_.value
            shape.examples.setdefault((predicate, kind), (text if kind[0] else text[:OF_EXAMPLE], language))
    return shape


def classes_in(statements: Sequence[Statement]) -> tuple[str, ...]:
    """The classes of the subject of some statements, as they are counted."""
    some = statements[:MAX_COUNTED]
    return tuple(sorted({each.value for predicate, each in some if predicate == TYPE and isinstance(each, NamedNode)}))


class ClassesOfNodes:
    """The classes of all nodes of a graph, in 8 bytes a statement; the hashes of two nodes may be equal, hardly ever.

    Args:
        types: the IRIs of nodes and of their classes.

    Raises:
        ValueError: there are more than 65,536 classes.
    """

    def __init__(self, types: Iterable[tuple[str, str]]) -> None:
        numbers: dict[str, int] = {}
        numbered = (_hash(node) | numbers.setdefault(class_, len(numbers)) for node, class_ in types)
        runs = []  # a list of all of them would be five times as large
        while run := sorted(islice(numbered, _SORTED)):
            runs.append(array("Q", run))
            if len(numbers) > _MOST_CLASSES:
                raise ValueError(f"{len(numbers):,} classes")
        self._classes = list(numbers)
        self._found = array("Q", merge(*runs))

    def of(self, node: str) -> Iterator[str]:
        """The classes of a node."""
        found, start = self._found, _hash(node)
        place = bisect_left(found, start)
        while place < len(found) and found[place] - start < _MOST_CLASSES:
            yield self._classes[found[place] - start]
            place += 1


def _hash(node: str) -> int:
    return (hash(node) & ((1 << 48) - 1)) << 16
