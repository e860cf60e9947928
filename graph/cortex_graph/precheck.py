"""What a hostile file is stopped for before Oxigraph reads it.

Rules kept here:
- XML is read by expat first. It stops entities that grow without end (which would fill the memory), tells line and
  column of what is not well-formed (Oxigraph does not), and lets nesting beyond `MAX_DEPTH` be refused (which would
  take Oxigraph time that grows with its square);
- triple terms nested beyond `MAX_DEPTH` are refused: some ten thousand of them overflow the stack of the process;
- memory stays flat.
"""

from __future__ import annotations

import mmap
import re
from pathlib import Path
from xml.parsers.expat import ExpatError, ParserCreate

from pyoxigraph import RdfFormat

from cortex_graph.errors import InvalidArguments

MAX_DEPTH = 1000

# Triple terms nest as objects only (RDF 1.2 N-Triples §3), so that they all close at once, comments aside.
_DEEP_TERMS = re.compile(rb"(?:\)>>(?:\s|#[^\n]*\n)*){%d}" % MAX_DEPTH)


def check_file(file: Path, form: RdfFormat) -> None:
    """Raise for a file that Oxigraph must not be given.

    Raises:
        InvalidArguments: what is wrong, with line and column.
        OSError: the file cannot be read.

    """
    if form == RdfFormat.RDF_XML:
        _check_xml(file)
    elif file.stat().st_size:
        _check_terms(file)


def _check_xml(file: Path) -> None:
    depth = 0
    parser = ParserCreate(namespace_separator=" ")

    def start(name: str, attributes: dict[str, str]) -> None:  # noqa: ARG001 - expat's signature
        nonlocal depth
        depth += 1
        if depth > MAX_DEPTH:
            line, column = parser.CurrentLineNumber, parser.CurrentColumnNumber + 1
            raise _broken(f"elements are nested more than {MAX_DEPTH} deep", line, column)

    def end(name: str) -> None:  # noqa: ARG001 - expat's signature
        nonlocal depth
        depth -= 1

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    try:
        with file.open("rb") as opened:
            parser.ParseFile(opened)
    except ExpatError as error:
        raise _broken(f"not well-formed XML: {error}", error.lineno, error.offset + 1) from error


def _check_terms(file: Path) -> None:
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as content:
        first = content.find(b")>>")
        if first >= 0 and (found := _DEEP_TERMS.search(content, first)):
            line = content[: found.start()].count(b"\n") + 1
            column = found.start() - content.rfind(b"\n", 0, found.start())
            raise _broken(f"triple terms are nested more than {MAX_DEPTH} deep", line, column)


def _broken(problem: str, line: int, column: int) -> InvalidArguments:
    return InvalidArguments(
        f"the file is broken at line {line}, column {column}: {problem}",
        hint="nothing was imported; mend the file and import it again",
        details={"field": "source", "line": line, "column": column},
    )
