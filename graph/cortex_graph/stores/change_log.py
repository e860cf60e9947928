"""Which subjects of which graphs were written to, for an index, or anything else that follows from them.

Rules kept here:
- the file `.changed` of a store in a folder has a line for each transaction: the numbers of its changes
  (`change_counter.py`), and the subjects by graph. The line is written before the transaction, so that after a kill
  none is missing; a line whose transaction failed names subjects that did not change;
- only answered changes are reported, which can be read from the store. A gap between the numbers of the lines, another
  generation of the file or a damaged line means that everything may have changed, and is reported as that;
- the file has a new generation when it does not fit the store: after a restore, a lost write, a killed bulk operation,
  a full disk. It keeps the last lines: an index that has not followed for long reads everything again;
- the graphs of records and of the index of a namespace are left out: what is in them follows from the others.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterable, Mapping
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path

import orjson
from pyoxigraph import NamedNode, Quad

from cortex_graph.workers.scratch import whole_file

NAME = ".changed"
_MOST_BYTES = 1 << 20
_MOST_SUBJECTS = 5_000  # of one transaction; of a larger one only the graphs are noted
_LEFT_OUT = ("/provenance", "/index")
_BULK, _DONE = b'["bulk"]\n', b'["done"]\n'

Touched = Mapping[str, Iterable[str] | None]
Entry = tuple[int, int, Touched | None]


def touched_by(quads: Iterable[Quad]) -> dict[str, set[str] | None]:
    """Return the subjects of quads by their graphs, without graphs that follow from others."""
    found: dict[str, set[str] | None] = {}
    for quad in quads:
        graph: str = quad.graph_name.value  # type: ignore[union-attr]  # all graphs have names
        if not graph.endswith(_LEFT_OUT):
            note(found, graph, quad.subject.value)  # type: ignore[union-attr]
    return found


def note(found: dict[str, set[str] | None], graph: str, subject: str) -> None:
    """Add a subject of a graph; more subjects than are noted are None."""
    if graph.endswith(_LEFT_OUT):
        return
    subjects = found.setdefault(graph, set())
    if subjects is not None:
        subjects.add(subject)
        if len(subjects) > _MOST_SUBJECTS:
            found[graph] = None


class ChangeLog:
    """Writes the file of an open store. Its methods are called by one thread at a time.

    Args:
        folder: of the store.
        count: the number of the last change of the store.
        is_known: whether the store was counted before, and has lost nothing.

    """

    def __init__(self, folder: Path, count: int, *, is_known: bool) -> None:
        self._path = folder / NAME
        self._file = -1
        self._size = 0
        if not is_known or not _fits(self._path, count):
            self._begin(count)
        else:
            self._open()

    def write(self, first: int, last: int, touched: Touched | None) -> None:
        """Write the line of a transaction; called before it. None means that everything may change."""
        graphs = None if touched is None else {graph: each and list(each) for graph, each in touched.items()}
        self._append(orjson.dumps([first, last, graphs]) + b"\n", first - 1)

    def begin_bulk(self, count: int) -> None:
        """Note that a bulk operation begins, whose changes have no numbers before it ends."""
        self._append(_BULK, count)

    def end_bulk(self, count: int) -> None:
        """Note that it has ended, also when it failed."""
        self._append(_DONE, count)

    def shorten(self) -> None:
        """Drop the first lines of a long file; the line of a bulk operation under way is kept."""
        if self._size <= _MOST_BYTES:
            return
        with suppress(OSError):
            header, *lines = self._path.read_bytes().splitlines(keepends=True)
            kept = [line for line in lines[len(lines) // 2 :] if line not in (_BULK, _DONE)]
            with whole_file(self._path) as file:
                file.writelines([header, *kept, *[_BULK] * (lines.count(_BULK) - lines.count(_DONE))])
            self._open()

    def close(self) -> None:
        """Close the file."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _append(self, line: bytes, count: int) -> None:
        if self._file < 0:
            self._begin(count)
        if self._file < 0:
            return
        written = 0
        with suppress(OSError):
            written = os.write(self._file, line)
        self._size += written
        if written != len(line):  # a full disk: the gap is noticed, and the next line begins another generation
            self.close()
            with suppress(OSError):
                self._path.unlink()

    def _begin(self, count: int) -> None:
        """Begin a new generation; without space or permission there is none."""
        self.close()
        with suppress(OSError):
            self._path.unlink(missing_ok=True)  # so that readers notice
            flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC
            self._file, self._size = os.open(self._path, flags, 0o600), 0
            self._append(orjson.dumps(["log", uuid.uuid4().hex, count]) + b"\n", count)

    def _open(self) -> None:
        self.close()
        self._file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        self._size = os.fstat(self._file).st_size


def _fits(path: Path, count: int) -> bool:
    """Return whether a file ends with the last change of the store, or with one that was not made."""
    try:
        data = path.read_bytes()
        generation, entries = parse_log(data)
    except (OSError, ValueError):
        return False
    if not generation or data.count(_BULK) > data.count(_DONE) or not data.endswith(b"\n"):
        return False
    if not entries:
        return _start(data) == count
    first, last, _ = entries[-1]
    return count in (first - 1, last)


def _start(data: bytes) -> int:
    number = orjson.loads(data.partition(b"\n")[0])[2]
    return number if type(number) is int else -1


def parse_log(data: bytes) -> tuple[str, list[Entry]]:
    """Return the generation and the lines of a file.

    Raises:
        ValueError: it is damaged.

    """
    header, *lines = data.splitlines()
    kind, generation, start = orjson.loads(header)
    if kind != "log" or type(start) is not int:
        raise ValueError(header)
    return str(generation), parse_lines(lines)


def parse_lines(lines: Iterable[bytes]) -> list[Entry]:
    """Return lines of transactions. Arguments and errors are those of `parse_log`."""
    found: list[Entry] = []
    for line in lines:
        read = orjson.loads(line)
        if len(read) == 3:
            first, last, graphs = read
            if type(first) is not int or type(last) is not int or not (graphs is None or isinstance(graphs, dict)):
                raise ValueError(line)
            found.append((first, last, graphs))
    return found


def subjects_of_quads(quads: Iterable[Quad]) -> tuple[Touched | None, Iterable[Quad]]:
    """Return the subjects of quads by their graphs, None if there are many, and the quads to read instead of these."""
    rest = iter(quads)
    some = list(islice(rest, _MOST_SUBJECTS + 1))
    return (None, chain(some, rest)) if len(some) > _MOST_SUBJECTS else (touched_by(some), some)


def subjects_of_file(path: Path, graph: NamedNode) -> Touched:
    """Return the subjects of a file of N-Triples by their graph; only the graph if there are many."""
    if path.stat().st_size > _MOST_SUBJECTS * 200:
        return {graph.value: None}
    found: dict[str, set[str] | None] = {}
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            subject, closed, _ = line.strip().partition("> ")
            if not subject or subject.startswith("#"):
                continue
            if not closed or not subject.startswith("<") or "\\" in subject:
                return {graph.value: None}
            note(found, graph.value, subject[1:])
    return found or {graph.value: None}
