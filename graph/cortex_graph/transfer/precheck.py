"""Checks of untrusted files that Oxigraph must not parse.

Rules kept here:
- XML is parsed with expat first. It stops entities that grow without end (which would fill the memory), and reports
  line and column of errors (Oxigraph does not). It also limits what would take Oxigraph quadratic time: nesting beyond
  `MAX_DEPTH`, elements with more than `MAX_NAMES` attributes or prefixes in scope;
- what RDF/XML does not define any more, or not together, is refused: Oxigraph leaves its statements out;
- triple terms nested beyond `MAX_DEPTH` are refused: about ten thousand of them overflow the stack of the process;
- memory use is constant, and the time is linear in the size of the file.
"""

from __future__ import annotations

import codecs
import mmap
import re
from collections.abc import Callable
from pathlib import Path
from xml.parsers.expat import ErrorString, ExpatError, ParserCreate

from pyoxigraph import RdfFormat

from cortex_graph.exceptions import InvalidArguments
from cortex_graph.naming.vocabulary import RDF

MAX_DEPTH = 1000
MAX_NAMES = 1000
_CHUNK = 1 << 20
_REMOVED = tuple(f"{RDF} {name}" for name in ("bagID", "aboutEach", "aboutEachPrefix"))  # RDF/XML §5.1
_PARSE_TYPE = f"{RDF} parseType"
_RESOURCE, _DATATYPE = f"{RDF} resource", f"{RDF} datatype"

_CLOSED = b")>>"
_BLANKS = re.compile(rb"\s*+")
_BLANKS_AND_COMMENTS = re.compile(rb"(?:\s++|#[^\n]*+(?:\n|\Z))*+")


def check_file(file: Path, form: RdfFormat, step: Callable[[], None] = lambda: None) -> None:
    """Check a file before it is parsed.

    Args:
        file: the file.
        form: its format.
        step: called regularly, as a sign of progress.
    """
    if form == RdfFormat.RDF_XML:
        _check_xml(file, step)
    elif file.stat().st_size:
        with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as content:
            check_terms(content)


def check_terms(content: bytes | mmap.mmap, before: int = 0) -> None:
    """Check the nesting of triple terms.

    Args:
        content: of a file, or whole lines of one.
        before: the number of lines of the file before it.
    """
    found = _deep_terms(content)
    if found is not None:
        line = before + content[:found].count(b"\n") + 1
        column = found - content.rfind(b"\n", 0, found)
        raise _refused(f"has triple terms that are nested more than {MAX_DEPTH} deep", line, column, "use reification")


def _check_xml(file: Path, step: Callable[[], None]) -> None:
    depth = prefixes = 0
    literal = MAX_DEPTH + 1  # the depth of the XML literal that is read
    parser = ParserCreate(namespace_separator=" ")

    def refuse(problem: str, hint: str = "import it as N-Triples") -> None:
        raise _refused(problem, parser.CurrentLineNumber, parser.CurrentColumnNumber + 1, hint)

    def start(name: str, attributes: dict[str, str]) -> None:  # noqa: ARG001 - expat's signature
        nonlocal depth, literal
        depth += 1
        if depth > MAX_DEPTH:
            refuse(f"has elements that are nested more than {MAX_DEPTH} deep")
        if len(attributes) > MAX_NAMES:
            refuse(f"has an element with more than {MAX_NAMES} attributes")
        if attributes and depth < literal:
            if problem := _undefined(attributes):
                refuse(problem, "write it as RDF/XML 1.1 defines it")
            if attributes.get(_PARSE_TYPE) == "Literal":
                literal = depth

    def declare(prefix: str | None, iri: str | None) -> None:  # noqa: ARG001 - expat's signature
        nonlocal prefixes
        prefixes += 1
        if prefixes > MAX_NAMES:
            refuse(f"declares more than {MAX_NAMES} prefixes at once")

    def forget(prefix: str | None) -> None:  # noqa: ARG001 - expat's signature
        nonlocal prefixes
        prefixes -= 1

    def end(name: str) -> None:  # noqa: ARG001 - expat's signature
        nonlocal depth, literal
        if depth == literal:
            literal = MAX_DEPTH + 1
        depth -= 1

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.StartNamespaceDeclHandler = declare
    parser.EndNamespaceDeclHandler = forget
    try:
        with file.open("rb") as opened:
            while chunk := opened.read(_CHUNK):
                parser.Parse(chunk, False)
                step()
            parser.Parse(b"", True)
    except ExpatError as error:
        problem = f"is not well-formed XML: {ErrorString(error.code)}"
        raise _refused(problem, error.lineno, error.offset + 1, _correction(file)) from error


def _correction(file: Path) -> str:
    """Return what to do with a file that is not well-formed; one in another encoding is correct but for that."""
    decode = codecs.getincrementaldecoder("utf-8")().decode
    with file.open("rb") as opened:
        try:
            while chunk := opened.read(_CHUNK):
                decode(chunk)
            decode(b"", True)
        except UnicodeDecodeError:
            return 'it is not UTF-8: state its encoding in its first line, as `<?xml version="1.0" encoding="…"?>`'
    return "correct it and import it again"


def _undefined(attributes: dict[str, str]) -> str:
    """Return what of the attributes of an element RDF/XML does not define; empty when it defines all."""
    for name in _REMOVED:
        if name in attributes:
            return f"has rdf:{name.removeprefix(f'{RDF} ')}, which is no part of RDF/XML any more"
    kind = attributes.get(_PARSE_TYPE)
    if kind not in (None, "Resource", "Literal", "Collection"):
        return f"has the unknown rdf:parseType {kind[:80]!a}"
    if _RESOURCE in attributes and (_DATATYPE in attributes or kind):
        return f"has an element with rdf:resource and rdf:{'parseType' if kind else 'datatype'}"
    return ""


def _deep_terms(content: bytes | mmap.mmap) -> int | None:
    """Return the position of a run of too many closing triple terms; None when there is none.

    Triple terms nest as objects only (RDF 1.2 N-Triples §3), so nested ones all close together, apart from comments.
    Every `)>>` may begin such a run, since comments and strings are not recognised; the text between two is read once.
    """
    runs: dict[int, tuple[int, int]] = {}  # where a run continues → its length and its start
    seen = 0
    at = content.find(_CLOSED)
    while at >= 0:
        closed, begin = runs.pop(at, (0, at))
        if closed + 1 >= MAX_DEPTH:
            return begin
        after = _end(_BLANKS, content, at + len(_CLOSED))
        if content[after : after + 1] == b"#":
            # A comment inside a comment that was read already ends at the same position.
            after = seen = seen if at < seen else _end(_BLANKS_AND_COMMENTS, content, after)
        if content[after : after + len(_CLOSED)] == _CLOSED:
            runs[after] = max(runs.get(after, (0, at)), (closed + 1, begin))
        at = content.find(_CLOSED, at + 1)
    return None


def _end(pattern: re.Pattern[bytes], content: bytes | mmap.mmap, start: int) -> int:
    """Return the end of the match of a pattern, which may be empty."""
    found = pattern.match(content, start)
    return found.end() if found else start


def _refused(problem: str, line: int, column: int, hint: str) -> InvalidArguments:
    return InvalidArguments(
        f"`source` {problem}, at line {line}, column {column}",
        hint=f"nothing was imported; {hint}",
        details={"field": "source", "line": line, "column": column},
    )
