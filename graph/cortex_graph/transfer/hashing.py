"""The canonical hash of a graph.

Rules kept here:
- the hash of a graph is the SHA-256 of its RDFC-1.0 canonical form. The graphs of a store hold no blank nodes, and then
  that form is its N-Quads lines, each once, in the order of their code points (RDFC-1.0 §4.4.3, §5);
- it does not depend on the store, nor on the order in which triples came; two graphs of one name with the same hash
  hold the same triples;
- memory stays flat: what is sorted is kept in files.

A line without its graph is sorted where the line with its graph would be: a term ends with a space, and no character of
a term that goes on is a space. So a graph is kept as sorted N-Triples, and its name put in while it is hashed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from pyoxigraph import BlankNode, NamedNode, Quad, Triple

from cortex_graph.errors import GraphUnavailable
from cortex_graph.store import GraphStore, Pattern
from cortex_graph.transfer.progress import Progress, silent
from cortex_graph.transfer.scratch import scratch_folder
from cortex_graph.transfer.sorting import sorted_lines

_OFTEN = 20_000
_END = b" .\n"


@dataclass(frozen=True)
class Digest:
    """What a graph is known by: how many triples it has, and its canonical hash in hexadecimal."""

    count: int
    sha256: str


def digest_of(store: GraphStore, graph: NamedNode, *, progress: Progress = silent) -> Digest:
    """The digest of a graph.

    Raises:
        GraphUnavailable: the store cannot be read.

    """
    with scratch_folder() as folder:
        return _digest(sorted_triples(store, graph, folder, progress), graph)


def spool(store: GraphStore, graph: NamedNode, file: Path, *, progress: Progress = silent) -> Digest:
    """Write a graph, as it is at one moment, into a file of sorted N-Triples; its digest.

    Raises:
        GraphUnavailable: the store cannot be read.
        OSError: the file cannot be written.

    """
    with TemporaryDirectory(dir=file.parent) as folder, file.open("wb", buffering=1 << 20) as output:

        def kept() -> Iterator[bytes]:
            for line in sorted_triples(store, graph, Path(folder), progress):
                output.write(line)
                yield line

        return _digest(kept(), graph)


def digest_of_file(file: Path, graph: NamedNode) -> Digest:
    """The digest of the graph whose sorted N-Triples are in a file.

    Raises:
        ValueError: the file is not what `spool` writes: its lines are not sorted, or one stands twice.
        OSError: it cannot be read.

    """
    with file.open("rb", buffering=1 << 20) as lines:
        return _digest(_in_order(lines), graph)


def sorted_triples(store: GraphStore, graph: NamedNode, folder: Path, progress: Progress = silent) -> Iterator[bytes]:
    """The N-Triples lines of a graph in order, each once."""
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
            f"the graph {quad.graph_name} holds a blank node or a triple term, in {quad.triple}",
            hint="export that graph and import it again: that gives every blank node a name",
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
