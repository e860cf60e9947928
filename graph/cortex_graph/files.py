"""Quads out of files and into them, for whatever has no way of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO

from pyoxigraph import NamedNode, Quad, RdfFormat, Triple, parse, serialize


def read_triples(path: Path, graph: NamedNode) -> Iterator[Quad]:
    """The triples of an N-Triples file, as quads of a graph; they are read as they are asked for.

    Raises:
        OSError: the file cannot be read.

    """
    for quad in parse(path=path, format=RdfFormat.N_TRIPLES):
        yield Quad(quad.subject, quad.predicate, quad.object, graph)


def write_quads(quads: Iterable[Quad], output: IO[bytes], form: RdfFormat, prefixes: Mapping[str, str]) -> None:
    """Write quads in a format, as a stream; without their graphs where the format has none."""
    statements: Iterable[Quad] | Iterable[Triple] = quads if form.supports_datasets else (q.triple for q in quads)
    serialize(statements, output, form, prefixes=dict(prefixes))
