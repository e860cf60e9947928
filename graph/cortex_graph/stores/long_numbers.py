"""Whether a store may have numbers that Oxigraph does not calculate with.

Rules kept here:
- a new store has none, and its folder gets a file that states so. The file is removed before the first such number is
  written: a store without it, of an earlier version or restored from a backup, may have some;
- a store that may have some answers the same, and takes longer for queries that calculate or sort. So the first of them
  begins a check of the whole store in the background, whose result is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from threading import Lock

from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph.sparql.exact_numbers import DATATYPES, is_long, number_of
from cortex_graph.workers.scratch import sync_folder

NAME = ".short-numbers"
_SHORT = 18  # characters of a number that is never too long
# In N-Triples: a literal with that many digits and points, and its datatype of XML Schema.
_LONG = re.compile(rb'"([^"\\\n]{0,2}[0-9.]{18,}[^"\\\n]*)"\^\^<(http://www\.w3\.org/2001/XMLSchema#[A-Za-z]+)>')
_CHUNK = 1 << 20
# Whether any graph has a literal with the datatype of a number that the engine does not know as a number.
CHECK = (
    f"ASK {{ GRAPH ?g {{ ?s ?p ?o }} FILTER(isLiteral(?o) && !isNumeric(?o) && STRLEN(STR(?o)) > {_SHORT} && "
    f"DATATYPE(?o) IN ({', '.join(f'<{datatype}>' for datatype in DATATYPES)})) }}"
)


class LongNumbers:
    """The state of one store.

    Args:
        folder: of the store; None for one in memory.
        is_new: whether the store has no data.
        is_writable: whether the state can be kept.

    Attributes:
        may_exist: whether the store may have such a number.
        question: asks the whole store whether it has one.
    """

    question = CHECK

    def __init__(self, folder: Path | None, *, is_new: bool, is_writable: bool = True) -> None:
        self._file = None if folder is None else folder / NAME
        if self._file is not None and is_new:
            with suppress(OSError):  # without it the store may have some
                self._file.touch(mode=0o600)
        self.may_exist = not (is_new if self._file is None else self._file.exists())
        self._is_written = False  # by this process
        self._is_checked = not is_writable
        self._lock = Lock()

    def check(self, quads: Iterable[Quad]) -> None:
        """Check quads before they are written."""
        if not self._is_written and any(_is_long(quad) for quad in quads):
            self._found()

    def checked(self, quads: Iterable[Quad]) -> Iterator[Quad]:
        """Check quads while they are written."""
        for quad in quads:
            if not self._is_written and _is_long(quad):
                self._found()
            yield quad

    def check_file(self, file: Path) -> None:
        """Check a file of N-Triples before it is loaded."""
        if self._is_written:
            return
        rest = b""
        with file.open("rb") as opened:
            while chunk := opened.read(_CHUNK):
                content = rest + chunk
                if any(_is_long_literal(*found) for found in _LONG.findall(content)):
                    self._found()
                    return
                rest = content[content.rfind(b"\n") + 1 :]

    def begin_check(self) -> bool:
        """Return whether the caller should check the whole store, with a copy made from now on; True once."""
        with self._lock:
            begins = self.may_exist and not self._is_checked and not self._is_written
            self._is_checked = True
            return begins

    def found_none(self) -> None:
        """Record that the check found no such number."""
        with self._lock:
            if not self._is_written and self._file is not None:
                self._file.touch(mode=0o600)
                self.may_exist = False

    def _found(self) -> None:
        with self._lock:
            self._is_written = self.may_exist = True
            if self._file is not None:
                self._file.unlink(missing_ok=True)
                sync_folder(self._file.parent)


def _is_long_literal(text: bytes, datatype: bytes) -> bool:
    literal = Literal(text.decode(errors="replace"), datatype=NamedNode(datatype.decode()))
    return (number := number_of(literal)) is not None and is_long(number)


def _is_long(quad: Quad) -> bool:
    term = quad.object
    if type(term) is not Literal or len(term.value) <= _SHORT:
        return False
    return (number := number_of(term)) is not None and is_long(number)
