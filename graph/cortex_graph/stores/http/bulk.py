"""Bulk loading for stores on servers: quads from files, in batches of the size of a request.

Rules kept here:
- quads are read when they are needed; no more of them are in memory than one request has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from pyoxigraph import NamedNode, Quad, RdfFormat, parse


def batches(quads: Iterable[Quad], most: int, size: int) -> Iterator[list[Quad]]:
    """Yield quads in lists.

    Args:
        quads: the quads.
        most: the maximum number of quads in a list.
        size: the maximum number of characters of a list, as N-Quads; a longer quad has its own list.
    """
    batch: list[Quad] = []
    room = size
    for quad in quads:
        length = len(str(quad))
        if batch and (len(batch) >= most or length > room):
            yield batch
            batch, room = [], size
        batch.append(quad)
        room -= length
    if batch:
        yield batch


def read_triples(path: Path, graph: NamedNode) -> Iterator[Quad]:
    """Yield the triples of an N-Triples file, as quads of a graph."""
    for quad in parse(path=path, format=RdfFormat.N_TRIPLES):
        yield Quad(quad.subject, quad.predicate, quad.object, graph)
