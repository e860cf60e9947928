"""N-Triples and N-Quads, read in blocks of whole lines.

Rules kept here:
- in these formats a statement has a line to itself, and no line tells anything about another (RDF 1.1 N-Triples §2,
  N-Quads §2). So a block of whole lines is read as a file is, and a line that breaks is found in its block alone;
- a block that holds nothing but triples of one graph, one in each line, is plain: less the name of that graph it is
  N-Triples as it stands. Nothing goes on that was not seen to be what it goes on as: by one expression, which most
  lines fit (`grammar.py`), else by the parser;
- whatever is otherwise is not plain, and is taken statement by statement: blank nodes, triple terms, comments, blank
  lines, several graphs, other spacing than that of the first line, a line that breaks.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from typing import IO

from pyoxigraph import DefaultGraph, NamedNode, RdfFormat, parse

from cortex_graph.errors import invalid
from cortex_graph.transfer.grammar import are_triples

FORMATS = (RdfFormat.N_TRIPLES, RdfFormat.N_QUADS)
BLOCK = 1 << 20
LONGEST = 64 << 20  # of a line; the engine takes no term beyond a quarter of it
_NOT_PLAIN = (b"_:", b"<<")
_END = b".\n"
_LINE = re.compile(r"\bline (\d+)")


def blocks(file: IO[bytes]) -> Iterator[bytes]:
    """The content of a file, in blocks of whole lines.

    Raises:
        InvalidArguments: a line has more than `LONGEST` bytes.

    """
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
    """A plain block as N-Triples, and how many triples it holds; None for one that is not plain.

    Args:
        block: whole lines.
        form: their format.
        is_data: whether the triples of a graph are wanted.

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
    """How many lines end in a block, by line feeds (so many, where that is known), carriage returns, or both."""
    feeds = block.count(b"\n") if feeds is None else feeds
    return feeds + (block.count(b"\r") - block.count(b"\r\n") if b"\r" in block else 0)


def moved(error: SyntaxError, lines: int) -> SyntaxError:
    """What is wrong in a block, as what is wrong in the file that has so many lines before it."""
    place, colon, problem = error.msg.partition(": ")
    place = _LINE.sub(lambda found: f"line {int(found[1]) + lines}", place)
    begin, end = ((line or 0) + lines for line in (error.lineno, error.end_lineno))
    at = (error.filename, begin, error.offset, error.text, end, error.end_offset)
    return SyntaxError(f"{place}{colon}{problem}", at)


def _end(block: bytes, form: RdfFormat, is_data: Callable[[NamedNode], bool]) -> bytes | None:
    """How the first line of a block ends, from the name of its graph on; None when it is not plain.

    The first line is valid with that end. Another that has it, and is a triple without it, is a triple of that graph.
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
