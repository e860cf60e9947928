"""The classes of the resources of a page, and the shape and colour of each.

Rules kept here:
- the seven largest classes of a namespace have a mark, the same on every page: it follows from the name of the class,
  and changes only when another class becomes one of the seven;
- a resource of several classes is of the one with a mark, else of the first in the order of their names;
- the classes of all resources of a page are read together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256
from itertools import islice
from typing import TYPE_CHECKING

from pyoxigraph import NamedNode

from cortex_graph.assertion_records.records import select
from cortex_graph.naming.vocabulary import TYPE
from cortex_graph.store import Pattern
from cortex_skills.doors.explorer.pictures.map import MARKS

if TYPE_CHECKING:
    from cortex_graph import NamespacedGraph
    from cortex_graph.index.schema_in_use import SchemaInUse

_CLASSES = 10  # of a resource that are looked at
_ID_DIGITS = 10


def id_of(term: object) -> str:
    """A short id of a term for an address, the same on every page."""
    return sha256(str(term).encode("utf-8", "surrogatepass")).hexdigest()[:_ID_DIGITS]


def marks_of(schema: SchemaInUse) -> dict[NamedNode, int]:
    """The numbers of the classes that have a mark, from 1."""
    largest = [each.node for each in schema.classes if each.node is not None][:MARKS]
    marks: dict[NamedNode, int] = {}
    for node in sorted(largest, key=str):
        wanted = int(sha256(node.value.encode()).hexdigest()[:8], 16) % MARKS
        free = (number % MARKS + 1 for number in range(wanted, wanted + MARKS))
        marks[node] = next(number for number in free if number not in marks.values())
    return marks


def classes_of(
    graph: NamespacedGraph, nodes: Iterable[NamedNode], marks: Mapping[NamedNode, int]
) -> dict[NamedNode, NamedNode]:
    """The class of each resource that has one."""
    wanted = list(dict.fromkeys(nodes))
    types: dict[NamedNode, list[NamedNode]] = {}
    if graph.store.keeps_order:
        for node in wanted:
            quads = islice(graph.store.quads(Pattern(graph.names.graph, node, TYPE)), _CLASSES)
            types[node] = [quad.object for quad in quads if isinstance(quad.object, NamedNode)]
    elif wanted:
        text = f"SELECT ?s ?c {{ VALUES ?s {{ {' '.join(map(str, wanted))} }} ?s {TYPE} ?c }}"
        for row in select(graph.store, graph.names.graph, text):
            if isinstance(row["s"], NamedNode) and isinstance(row["c"], NamedNode):
                types.setdefault(row["s"], []).append(row["c"])
    return {node: min(found, key=lambda each: (each not in marks, str(each))) for node, found in types.items() if found}
