"""Quads out of files, for stores that have no way of their own to load them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pyoxigraph import NamedNode, Quad, RdfFormat, parse


def read_triples(path: Path, graph: NamedNode) -> Iterator[Quad]:
    """The triples of an N-Triples file, as quads of a graph; they are read as they are asked for.

    Raises:
        OSError: the file cannot be read.

    """
    for quad in parse(path=path, format=RdfFormat.N_TRIPLES):
        yield Quad(quad.subject, quad.predicate, quad.object, graph)
