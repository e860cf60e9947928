"""Errors for IRIs of a file that cannot be used: relative ones without a base, invalid ones, contexts of JSON-LD.

Rules kept here:
- relative IRIs and contexts that the file does not contain have an error class each. All errors have the
  line and the column where they can be found;
- the parsers of RDF/XML and JSON-LD report no position. The file is searched for the value then, up to 64 MiB of it.
"""

from __future__ import annotations

import json
import mmap
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from xml.parsers.expat import ParserCreate

from pyoxigraph import NamedNode, RdfFormat, parse

from cortex_graph.exceptions import InvalidArguments, RelativeIri, RemoteContext
from cortex_graph.naming.vocabulary import RDF

_RELATIVE = "No scheme found in an absolute IRI"
_REMOTE = "No LoadDocumentCallback"
_XML_IRI = re.compile(rf"error while parsing IRI '(.*)': {_RELATIVE}", re.DOTALL)
_CONTEXT = re.compile(r'"@(?:context|import)"\s*:\s*')
# In UTF-8: of U+E0000 to U+E0FFF; of U+1FFFE and U+1FFFF, U+2FFFE and so on.
_SUSPECT = (b"\xf3\xa0", b"\xbf\xbe", b"\xbf\xbf")
_NEXT = re.compile(r"[\s,]*")
_MOST = 64 << 20  # bytes of a file that are searched
_LONGEST = 200  # characters of a value in a message
_FULL = "write it in full"
_BASES = {
    RdfFormat.TURTLE: "begin the file with `@base <…> .`",
    RdfFormat.TRIG: "begin the file with `@base <…> .`",
    RdfFormat.JSON_LD: 'put `"@base": "…"` into its `@context`',
    RdfFormat.RDF_XML: 'put `xml:base="…"` into its first element',
}

Place = tuple[int, int] | None  # line and column, from 1


def explained(error: SyntaxError, file: Path, form: RdfFormat) -> InvalidArguments | None:
    """Return the error for a relative IRI or a remote context that a parser refused; None for any other problem.

    Args:
        error: of the parser.
        file: the file.
        form: its format.
    """
    if _REMOTE in error.msg:
        return _remote_context(file)
    if _RELATIVE not in error.msg:
        return None
    if found := _XML_IRI.search(error.msg):
        return relative_iri(found[1], file, form)
    place = (error.lineno, error.offset) if error.lineno and error.offset else None
    iri = _text_at(file, error.lineno, error.offset, error.end_offset)
    return _relative(iri, place, form)


def relative_iri(iri: str, file: Path, form: RdfFormat) -> RelativeIri:
    """Return the error for a relative IRI, which the file is searched for."""
    return _relative(f"<{iri}>", (_in_xml if form == RdfFormat.RDF_XML else json_place)(file, iri), form)


def check_iris(triples: Path, file: Path) -> None:
    """Check that all IRIs are valid (RFC 3987 §2.2).

    Oxigraph accepts any letter of Turtle in a prefixed name, and refuses some of them everywhere else.

    Args:
        triples: what was read, as N-Triples.
        file: the file that it was read from.

    Raises:
        InvalidArguments: one is not.
    """
    if not triples.stat().st_size:
        return
    with triples.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as content:
        for sign in _SUSPECT:
            at = content.find(sign)
            while at >= 0:
                start, end = content.rfind(b"\n", 0, at) + 1, content.find(b"\n", at) + 1
                try:
                    list(parse(content[start:end], RdfFormat.N_TRIPLES))
                except SyntaxError:
                    raise _invalid_iri(content[start:end].decode(), file) from None
                at = content.find(sign, end)


def _invalid_iri(triple: str, file: Path) -> InvalidArguments:
    iri = next((iri for iri in re.findall(r"<([^<>\s]*)>", triple) if _forbidden(iri)), "")
    after = next((iri[at:] for at, character in enumerate(iri) if _forbidden(f"urn:{character}")), "")
    text = text_of(file)
    found = re.search(rf":[^\s<>]*?({re.escape(after)})", text) if after else None
    place = _place(text, found.start(1)) if found else None
    problem = f"has the IRI {ascii(iri)[1:-1][:_LONGEST]}"
    return with_place(problem, place, "percent-encode it", ", with a character that IRIs cannot contain")


def with_place(problem: str, place: Place, hint: str, after: str = "") -> InvalidArguments:
    """Return the error for a part of a file, with its line and column where they are known."""
    return InvalidArguments(f"`source` {problem}{_shown(place)}{after}", hint=hint, details=_details(place))


def _forbidden(iri: str) -> bool:
    try:
        NamedNode(iri)
    except ValueError:
        return True
    return False


def _relative(iri: str, place: Place, form: RdfFormat) -> RelativeIri:
    hint = f"{_FULL}, or {_BASES[form]}" if form in _BASES else f"{_FULL}: {form.name} has no base"
    message = f"has the relative IRI {iri[:_LONGEST]}".rstrip() + _shown(place)
    return RelativeIri(message, hint=hint, details=_details(place))


def _remote_context(file: Path) -> RemoteContext:
    text = text_of(file)
    value, place = next(((value, _place(text, at)) for value, at in _contexts(text)), (None, None))
    named = "a context" if value is None else f"the context {json.dumps(value[:_LONGEST], ensure_ascii=False)}"
    hint = "nothing is fetched: replace the address with the content of that context, `{…}`"
    return RemoteContext(f"names {named}{_shown(place)}, which it does not contain", hint=hint, details=_details(place))


def _contexts(text: str) -> Iterator[tuple[str, int]]:
    """Yield the addresses of contexts in a text, with their offsets."""
    decode = json.JSONDecoder().raw_decode
    for found in _CONTEXT.finditer(text):
        at = found.end()
        try:
            if text[at : at + 1] == '"':
                yield decode(text, at)[0], at
            elif text[at : at + 1] == "[":
                at = _end_of_blanks(text, at + 1)
                while text[at : at + 1] != "]":
                    value, end = decode(text, at)
                    if isinstance(value, str):
                        yield value, at
                    at = _end_of_blanks(text, end)
        except (ValueError, RecursionError):
            continue


def json_place(file: Path, iri: str) -> Place:
    """Find an IRI in JSON: as the value of a keyword, otherwise as any value, otherwise as a name."""
    text = text_of(file)
    value = "|".join(re.escape(json.dumps(iri, ensure_ascii=ascii_)) for ascii_ in (False, True))
    for before in (r'"@(?:id|type)"\s*:\s*', r"[:\[,]\s*"):
        if found := re.search(rf"{before}({value})(?!\s*:)", text):
            return _place(text, found.start(1))
    found = re.search(rf"({value})\s*:", text)
    return _place(text, found.start(1)) if found else None


def _in_xml(file: Path, iri: str) -> Place:
    """Find the first element with an IRI as a name, or in an attribute of RDF/XML; the file was checked before."""
    parser = ParserCreate(namespace_separator=" ")
    places: list[tuple[int, int]] = []

    def start(name: str, attributes: dict[str, str]) -> None:
        values = {value for key, value in attributes.items() if key.startswith(f"{RDF} ")}
        if iri == name.replace(" ", "") or {iri, iri.removeprefix("#")} & values:
            places.append((parser.CurrentLineNumber, parser.CurrentColumnNumber + 1))

    parser.StartElementHandler = start
    with file.open("rb") as opened:
        while not places and opened.tell() < _MOST and (chunk := opened.read(1 << 20)):
            parser.Parse(chunk)
    return places[0] if places else None


def _text_at(file: Path, line: int | None, start: int | None, end: int | None) -> str:
    """Return the IRI in angle brackets between two columns of a line; empty when there is none."""
    if line and start and end:
        with file.open(encoding="utf-8", errors="replace", newline=None) as opened:
            text = next(islice(opened, line - 1, line), "").removeprefix("\ufeff")[start - 1 : end - 1]
        if text.startswith("<"):
            return text
    return ""


def text_of(file: Path) -> str:
    """Return the text of a file, up to 64 MiB of it."""
    with file.open("rb") as opened:
        return opened.read(_MOST).decode("utf-8", "replace")


def _end_of_blanks(text: str, at: int) -> int:
    found = _NEXT.match(text, at)
    return found.end() if found else at


def _place(text: str, at: int) -> tuple[int, int]:
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)


def _shown(place: Place) -> str:
    return f" at line {place[0]}, column {place[1]}" if place else ""


def _details(place: Place) -> dict[str, object]:
    return {"field": "source"} | (dict(zip(("line", "column"), place, strict=True)) if place else {})
