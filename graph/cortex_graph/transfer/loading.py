"""Loads verified N-Triples into a graph of a store.

Rules kept here:
- a store with an atomic bulk load gets the whole file: after a kill, none of it is there;
- any other store gets slices, and a checkpoint in the store records which are loaded. Loading the same file again
  continues after the last of them; when a part of them is gone, it starts over. No triple is added twice;
- a checkpoint identifies a file by its content, and is removed when the file is loaded. It is in the index graph of the
  namespace, which has no data and is never exported.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from pyoxigraph import Literal, NamedNode, Quad, RdfFormat, parse

from cortex_graph.naming.vocabulary import VALUE
from cortex_graph.store import GraphStore, Pattern
from cortex_graph.transfer.progress import Progress

SLICE_BYTES = 4 << 20
_SAMPLES = 20


def load(store: GraphStore, file: Path, graph: NamedNode, beside: NamedNode, folder: Path, progress: Progress) -> None:
    """Add the triples of a file to a graph."""
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
    """The part of a file that is loaded, as recorded in the store."""

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
        """Return the offset to continue from; 0 without a checkpoint, or when loaded triples are missing."""
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
        """Replace the checkpoint; None removes it."""
        new = [] if after is None else [self._quad(str(after))]
        self._store.apply(insert=new, remove=[self._quad(str(before))] if before != after else [])

    def _quad(self, offset: str) -> Quad:
        return Quad(self._node, VALUE, Literal(offset), self._beside)

    def _is_there(self, offset: int) -> bool:
        """Return whether a sample of the lines before an offset, the last one included, is in the graph."""
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
    """Return the line that contains an offset of a file."""
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
    """Yield files with some lines each, and the offset in the whole file where each ends."""
    part = folder / "slice.nt"
    with file.open("rb") as whole:
        whole.seek(offset)
        while lines := whole.readlines(SLICE_BYTES):
            with part.open("wb") as output:
                output.writelines(lines)
            yield part, whole.tell()
    part.unlink(missing_ok=True)
