"""The canonical hash of a graph.

Rules kept here:
- the hash of a graph is the SHA-256 of its RDFC-1.0 canonical form. The graphs of a store have no blank nodes; that
  form is their N-Quads lines then, each once, in the order of their code points (RDFC-1.0 §4.4.3, §5);
- it depends neither on the store nor on the order of the triples; two graphs of one name with the same hash have the
  same triples;
- memory use is constant: sorting uses files.

A line without its graph sorts like the line with it: a term ends with a space, and no term contains a space outside a
literal. So a graph is stored as sorted N-Triples, and its name is inserted while it is hashed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from pyoxigraph import BlankNode, NamedNode, Quad, Triple

from cortex_graph.exceptions import GraphUnavailable
from cortex_graph.store import GraphStore, Pattern
from cortex_graph.transfer.progress import Progress, silent
from cortex_graph.transfer.sorting import sorted_lines
from cortex_graph.workers.scratch import scratch_folder

_OFTEN = 20_000
_END = b" .\n"


@dataclass(frozen=True)
class Digest:
    """The number of triples of a graph, and its canonical hash in hexadecimal."""

    count: int
    sha256: str


def digest_of(store: GraphStore, graph: NamedNode, *, progress: Progress = silent) -> Digest:
    """Return the digest of a graph."""
    with scratch_folder() as folder:
        return _digest(sorted_triples(store, graph, folder, progress), graph)


def spool(store: GraphStore, graph: NamedNode, file: Path, *, progress: Progress = silent) -> Digest:
    """Write a graph, as it is at one moment, into a file of sorted N-Triples, and return its digest."""
    with TemporaryDirectory(dir=file.parent) as folder, file.open("wb", buffering=1 << 20) as output:

        def written() -> Iterator[bytes]:
            for line in sorted_triples(store, graph, Path(folder), progress):
                output.write(line)
                yield line

        return _digest(written(), graph)


def digest_of_file(file: Path, graph: NamedNode) -> Digest:
    """Return the digest of the graph in a file that `spool` wrote."""
    with file.open("rb", buffering=1 << 20) as lines:
        return _digest(_in_order(lines), graph)


def sorted_triples(store: GraphStore, graph: NamedNode, folder: Path, progress: Progress = silent) -> Iterator[bytes]:
    """Yield the N-Triples lines of a graph in order, each once."""
    return sorted_lines(_lines(store, graph, progress), folder, unique=True)


def _lines(store: GraphStore, graph: NamedNode, progress: Progress) -> Iterator[bytes]:
    step = f"reading {graph.value}"
    for number, quad in enumerate(store.quads(Pattern(graph)), 1):
        _check_ground(quad)
        yield f"{quad.triple} .\n".encode()
        if not number % _OFTEN:
            progress(step, number, None)


def _check_ground(quad: Quad) -> None:
    if type(quad.subject) is not NamedNode or type(quad.object) in (BlankNode, Triple):
        raise GraphUnavailable(
            f"the graph {quad.graph_name} has a blank node or a triple term, in {quad.triple}",
            hint="export that graph and import it again: an import gives every blank node a name",
        )


def _digest(lines: Iterable[bytes], graph: NamedNode) -> Digest:
    count, hasher, end = 0, hashlib.sha256(), f" {graph} .\n".encode()
    for line in lines:
        count += 1
        hasher.update(line[: -len(_END)] + end)
    return Digest(count, hasher.hexdigest())


def _in_order(lines: Iterable[bytes]) -> Iterator[bytes]:
    before = b""
    for line in lines:
        if line <= before or not line.endswith(_END):
            raise ValueError("its lines are not sorted N-Triples")
        yield line
        before = line
