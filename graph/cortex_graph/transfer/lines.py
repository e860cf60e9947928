"""N-Triples and N-Quads, read in blocks of whole lines.

Rules kept here:
- in these formats each statement is on one line, independent of the others (RDF 1.1 N-Triples §2, N-Quads §2). So a
  block of whole lines is parsed like a file, and an invalid line is located in its block;
- a block with only triples of one graph, one on each line, is plain: without the name of that graph it is N-Triples.
  Every block is verified before it is written: by one regular expression that most lines match (`grammar.py`), or by
  the parser;
- any other block is parsed statement by statement: with blank nodes, triple terms, comments, empty lines, several
  graphs, other spacing than that of the first line, or an invalid line.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from typing import IO

from pyoxigraph import DefaultGraph, NamedNode, RdfFormat, parse

from cortex_graph.exceptions import invalid
from cortex_graph.transfer.grammar import are_triples

FORMATS = (RdfFormat.N_TRIPLES, RdfFormat.N_QUADS)
BLOCK = 1 << 20
LONGEST = 64 << 20  # of a line; the engine refuses terms of a quarter of it
_NOT_PLAIN = (b"_:", b"<<")
_END = b".\n"
_LINE = re.compile(r"\bline (\d+)")


def blocks(file: IO[bytes]) -> Iterator[bytes]:
    """Yield the content of a file, in blocks of whole lines."""
    while block := file.read(BLOCK):
        if not block.endswith(b"\n"):
            rest = file.readline(LONGEST)
            if len(rest) == LONGEST and not rest.endswith(b"\n"):
                raise invalid(
                    "source", f"has a line of more than {LONGEST} bytes", hint="end each line with a line feed"
                )
            block += rest
        yield block


def plain(block: bytes, form: RdfFormat, is_data: Callable[[NamedNode], bool]) -> tuple[bytes, int] | None:
    """Return a plain block as N-Triples, with its number of triples; None for any other block.

    Args:
        block: whole lines.
        form: their format.
        is_data: whether the triples of a graph are imported.
    """
    if not block.endswith(b"\n"):
        return None
    try:
        end = _end(block, form, is_data)
        if end is None:
            return None
        triples = block if end == _END else block.replace(end, _END)
        less, each = len(block) - len(triples), len(end) - len(_END)
        if are_triples(block, end):
            return triples, less // each if each else block.count(b"\n")
        lines = block.count(b"\n")
        if less != lines * each or any(sign in block for sign in _NOT_PLAIN):
            return None
        return (triples, lines) if _length(parse(triples, RdfFormat.N_TRIPLES)) == lines else None
    except SyntaxError:
        return None


def breaks(block: bytes, feeds: int | None = None) -> int:
    """Count the line ends in a block: line feeds (`feeds`, if known), carriage returns, or both."""
    feeds = block.count(b"\n") if feeds is None else feeds
    return feeds + (block.count(b"\r") - block.count(b"\r\n") if b"\r" in block else 0)


def moved(error: SyntaxError, lines: int) -> SyntaxError:
    """Return the error of a block as an error of the file that has `lines` lines before it."""
    place, colon, problem = error.msg.partition(": ")
    place = _LINE.sub(lambda found: f"line {int(found[1]) + lines}", place)
    begin, end = ((line or 0) + lines for line in (error.lineno, error.end_lineno))
    at = (error.filename, begin, error.offset, error.text, end, error.end_offset)
    return SyntaxError(f"{place}{colon}{problem}", at)


def _end(block: bytes, form: RdfFormat, is_data: Callable[[NamedNode], bool]) -> bytes | None:
    """Return the end of the first line of a block, from the name of its graph; None when the block is not plain.

    The first line is valid with that end. Another line with it, and valid without it, is a triple of the same graph.
    """
    line = block[: block.index(b"\n") + 1]
    if any(sign in line for sign in _NOT_PLAIN):
        return None
    statements = list(parse(line, form))
    if len(statements) != 1:
        return None
    graph = statements[0].graph_name
    if isinstance(graph, DefaultGraph):
        return _END
    if not isinstance(graph, NamedNode) or not is_data(graph):
        return None
    before, name, after = line.rpartition(str(graph).encode())
    return name + after if before else None


def _length(quads: Iterable[object]) -> int:
    numbers = count()
    deque(zip(quads, numbers, strict=False), maxlen=0)
    return next(numbers)
