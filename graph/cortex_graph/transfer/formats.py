"""The RDF formats of files, and how their names and first bytes identify them.

Rules kept here:
- a given format is used; otherwise the extension decides, before `.gz` for a file that is read;
- an ontology is RDF/XML by its extension (`.owl`, `.rdfs`), and often another format: its first bytes decide;
- a file in a syntax of OWL that is not RDF is refused, with the reason: a parser of RDF would read other triples from
  it than it means, or ask for a correction of a correct file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import IO

from pyoxigraph import RdfFormat

from cortex_graph.exceptions import InvalidArguments, invalid

FORMATS: Mapping[str, RdfFormat] = MappingProxyType(
    {
        "turtle": RdfFormat.TURTLE,
        "n-triples": RdfFormat.N_TRIPLES,
        "n-quads": RdfFormat.N_QUADS,
        "trig": RdfFormat.TRIG,
        "json-ld": RdfFormat.JSON_LD,
        "rdf-xml": RdfFormat.RDF_XML,
    }
)
XML = "rdf-xml"
COMPRESSED = ".gz"

# Beyond those of `RdfFormat.from_extension`. Most files of Notation3 are Turtle; its rules are no RDF.
_EXTENSIONS = {
    "turtle": "turtle",
    "n3": "turtle",
    "ntriples": "n-triples",
    "nquads": "n-quads",
    "owl": XML,
    "rdfs": XML,
}
_NOT_RDF = {
    "owx": "OWL/XML",
    "ofn": "the functional syntax of OWL",
    "omn": "the Manchester syntax of OWL",
    "obo": "the OBO format",
    "trix": "TriX",
    "hdt": "HDT",
    "rq": "a SPARQL query",
    "ru": "a SPARQL update",
}
_CONVERTED = "convert it to Turtle: ontology editors and `riot` do"
# A name of Turtle in angle brackets contains no white space.
_AN_XML = re.compile(rb"\s*<(?:\?xml\s|!--|!DOCTYPE\s|[A-Za-z_][\w.\-]*(?::[\w.\-]+)?\s)")
_OWL_XML = re.compile(
    rb"""<(?:owl:)?Ontology\s[^>]*\bontologyIRI\s*=|<Ontology\s(?![^>]*\brdf:about)[^>]*xmlns=["']http://www.w3.org/2002/07/owl#"""
)
_FUNCTIONAL = re.compile(rb"\s*(?:Prefix|Ontology)\s*\(")
_MANCHESTER = re.compile(rb"\s*(?:Prefix|Ontology):\s")


def format_of(file: Path | str | IO[bytes], name: str | None, *, compressed: bool = False) -> str:
    """Return the name of a file's format: the given one, or that of its extension.

    Args:
        file: the file.
        name: the given format.
        compressed: whether `.gz` after the extension is allowed.
    """
    if name is not None and name in FORMATS:
        return name
    hint = f"one of {', '.join(FORMATS)}"
    if name is None and isinstance(file, str | Path):
        path = Path(file)
        extension = path.suffix[1:].lower()
        if extension == COMPRESSED[1:] and compressed:
            extension = Path(path.stem).suffix[1:].lower()
        elif extension == COMPRESSED[1:]:
            hint = f"export to {path.with_suffix('')}, and compress that"
        if extension in _EXTENSIONS:
            return _EXTENSIONS[extension]
        if extension in _NOT_RDF:
            raise invalid("format", f"of {file} is {_NOT_RDF[extension]}, which is no format of RDF", hint=_CONVERTED)
        by_extension = RdfFormat.from_extension(extension)
        for known, form in FORMATS.items():
            if form == by_extension:
                return known
    problem = f"cannot be derived from {shown(file)}" if name is None else f"is {name!r}, which is unknown"
    raise invalid("format", problem, hint=hint)


def format_in(head: bytes, form: str, *, guessed: bool) -> str:
    """Return the format of a file by its first bytes, in UTF-8.

    Args:
        head: the first bytes.
        form: its format as far as its name or its user states.
        guessed: whether the name alone states it.

    Raises:
        InvalidArguments: it is in a syntax of OWL that is not RDF.
    """
    if form != XML:
        return form
    if _OWL_XML.search(head):
        raise _not_rdf("owx")
    if not guessed or _AN_XML.match(head):
        return form
    for extension, pattern in (("ofn", _FUNCTIONAL), ("omn", _MANCHESTER)):
        if pattern.match(head):
            raise _not_rdf(extension)
    return "json-ld" if head.lstrip()[:1] == b"{" else "turtle"


def _not_rdf(extension: str) -> InvalidArguments:
    return invalid("source", f"is in {_NOT_RDF[extension]}, which is no format of RDF", hint=_CONVERTED)


def shown(file: Path | str | IO[bytes]) -> str:
    """Return the name of a file for errors."""
    return str(file) if isinstance(file, str | Path) else "the stream"
