"""The differences between two graphs.

Rules kept here:
- a literal in the form in which the store returns it (`GraphStore.as_stored`) is the same literal;
- memory use is constant: both sides are sorted, and merged.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pyoxigraph import Literal, NamedNode, Quad, RdfFormat, parse

from cortex_graph.store import GraphStore
from cortex_graph.transfer.canonical_hash import sorted_triples

_SHOWN = 3


@dataclass(frozen=True)
class QuadDifference:
    """The difference between a file and a graph of a store.

    Attributes:
        missing: the number of triples of the file that the graph lacks.
        extra: the number of triples of the graph that are not in the file.
        examples: some of the missing triples, as N-Triples.
    """

    missing: int
    extra: int
    examples: tuple[str, ...]


def difference(store: GraphStore, graph: NamedNode, file: Path, folder: Path) -> QuadDifference:
    """Compare a graph with the sorted N-Triples in a file."""
    missing, extra, respelt = 0, 0, 0
    examples: list[str] = []
    with file.open("rb") as wanted:
        for line, is_wanted in unshared(wanted, sorted_triples(store, graph, folder)):
            if not is_wanted:
                extra += 1
            elif _is_respelt(store, graph, line):
                respelt += 1
            else:
                missing += 1
                if len(examples) < _SHOWN:
                    examples.append(line.decode().strip())
    return QuadDifference(missing, max(extra - respelt, 0), tuple(examples))


def extra_quads(store: GraphStore, graph: NamedNode, file: Path, folder: Path) -> Iterator[Quad]:
    """Yield the quads of a graph that are not in a file of sorted N-Triples, after all of the file was loaded."""
    with file.open("rb") as wanted:
        differing = unshared(wanted, sorted_triples(store, graph, folder))
        respelt = {_stored(store, graph, line) for line, is_wanted in differing if is_wanted}
    with file.open("rb") as wanted:
        for line, is_wanted in unshared(wanted, sorted_triples(store, graph, folder)):
            if not is_wanted and (quad := quad_of(line, graph)) not in respelt:
                yield quad


def unshared(wanted: Iterator[bytes], there: Iterator[bytes]) -> Iterator[tuple[bytes, bool]]:
    """Yield the lines that only one of two sorted sides has, and whether it is the first."""
    left, right = next(wanted, None), next(there, None)
    while left is not None or right is not None:
        if left == right:
            left, right = next(wanted, None), next(there, None)
        elif right is None or (left is not None and left < right):
            yield left, True  # type: ignore[misc]
            left = next(wanted, None)
        else:
            yield right, False
            right = next(there, None)


def _is_respelt(store: GraphStore, graph: NamedNode, line: bytes) -> bool:
    quad, stored = quad_of(line, graph), _stored(store, graph, line)
    return stored != quad and store.contains(stored)


def _stored(store: GraphStore, graph: NamedNode, line: bytes) -> Quad:
    quad = quad_of(line, graph)
    if isinstance(quad.object, Literal):
        return Quad(quad.subject, quad.predicate, store.as_stored(quad.object), graph)
    return quad


def quad_of(line: bytes, graph: NamedNode) -> Quad:
    """The quad of a line of N-Triples."""
    (quad,) = parse(line, RdfFormat.N_TRIPLES)
    return Quad(quad.subject, quad.predicate, quad.object, graph)
