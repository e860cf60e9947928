"""Checked N-Triples, into a graph of a store.

Rules kept here:
- a store whose bulk load is atomic takes a file whole: killed in the middle, nothing of it is there;
- any other takes it in slices, and a checkpoint in the store says which are in. The same file begun again goes on after
  the last of them; if anything of what was loaded is gone since, it starts over. Nothing is ever there twice;
- a checkpoint is about the content of a file, not its name, and goes once all of it is in. It lies in the index graph
  of the namespace, which holds no data and is in no export.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from pyoxigraph import Literal, NamedNode, Quad, RdfFormat, parse

from cortex_graph.store import GraphStore, Pattern
from cortex_graph.transfer.progress import Progress
from cortex_graph.vocabulary import VALUE

SLICE_BYTES = 4 << 20
_SAMPLES = 20


def load(store: GraphStore, file: Path, graph: NamedNode, beside: NamedNode, folder: Path, progress: Progress) -> None:
    """Add the triples of a file to a graph.

    Args:
        store: where to.
        file: N-Triples without blank nodes.
        graph: of the store.
        beside: the graph that checkpoints are kept in.
        folder: for temporary files.
        progress: told how far it is.

    Raises:
        GraphUnavailable: the store cannot write; what is written so far stays, and is gone on from.

    """
    size = file.stat().st_size
    if store.bulk_is_atomic or size <= SLICE_BYTES:
        progress("loading", 0, None)
        if size:
            store.bulk_load(file, graph)
        return
    checkpoint = _Checkpoint(store, file, graph, beside)
    offset = checkpoint.offset()
    for slice_, end in _slices(file, offset, folder):
        progress("loading", offset, size)
        store.bulk_load(slice_, graph)
        checkpoint.move(offset, end)
        offset = end
    checkpoint.move(offset, None)
    progress("loading", size, size)


class _Checkpoint:
    """How much of a file is in a graph, as the store remembers it."""

    def __init__(self, store: GraphStore, file: Path, graph: NamedNode, beside: NamedNode) -> None:
        self._store = store
        self._file = file
        self._graph = graph
        self._beside = beside
        with file.open("rb") as opened:
            digest = hashlib.file_digest(opened, "sha256")
        digest.update(str(graph).encode())
        self._node = NamedNode(f"{beside.value}/import/{digest.hexdigest()}")

    def offset(self) -> int:
        """Where to go on; 0 when nothing is known, or when what was loaded is not all there any more."""
        size = self._file.stat().st_size
        found = (quad.object for quad in self._store.quads(Pattern(self._beside, self._node, VALUE)))
        known = [object_.value for object_ in found if isinstance(object_, Literal)]
        offsets = [int(text) for text in known if text.isdecimal() and len(text) < 20]
        offset = min((offset for offset in offsets if 0 < offset <= size), default=0)
        if offset and not self._is_there(offset):
            offset = 0
        for text in known:
            if text != str(offset):
                self._store.remove(self._quad(text))
        return offset

    def move(self, before: int, after: int | None) -> None:
        """Remember another offset; None to forget."""
        new = [] if after is None else [self._quad(str(after))]
        self._store.apply(insert=new, remove=[self._quad(str(before))] if before != after else [])

    def _quad(self, offset: str) -> Quad:
        return Quad(self._node, VALUE, Literal(offset), self._beside)

    def _is_there(self, offset: int) -> bool:
        """Whether a sample of the lines before an offset, the last one included, is in the graph."""
        places = [offset * number // _SAMPLES for number in range(_SAMPLES)]
        with self._file.open("rb") as file:
            for place in [*places, offset - 1]:
                (triple,) = (quad.triple for quad in parse(_line_around(file, place), RdfFormat.N_TRIPLES))
                object_ = triple.object
                if isinstance(object_, Literal):
                    object_ = self._store.as_stored(object_)
                if not self._store.contains(Quad(triple.subject, triple.predicate, object_, self._graph)):
                    return False
        return True


def _line_around(file: IO[bytes], place: int) -> bytes:
    """The line that a place of a file is in."""
    start = place
    while start > 0:
        step = min(start, 4096)
        file.seek(start - step)
        found = file.read(step).rfind(b"\n")
        if found >= 0:
            start = start - step + found + 1
            break
        start -= step
    file.seek(start)
    return file.readline()


def _slices(file: Path, offset: int, folder: Path) -> Iterator[tuple[Path, int]]:
    """Files with some lines each, and where in the whole file each ends."""
    part = folder / "slice.nt"
    with file.open("rb") as whole:
        whole.seek(offset)
        while lines := whole.readlines(SLICE_BYTES):
            with part.open("wb") as output:
                output.writelines(lines)
            yield part, whole.tell()
    part.unlink(missing_ok=True)
