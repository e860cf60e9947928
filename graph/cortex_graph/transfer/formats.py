"""The RDF formats of files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import IO

from pyoxigraph import RdfFormat

from cortex_graph.exceptions import invalid

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


def format_of(file: Path | str | IO[bytes], name: str | None) -> str:
    """Return the name of a file's format: the given one, or that of its extension."""
    if name is not None and name in FORMATS:
        return name
    if name is None and isinstance(file, str | Path):
        by_extension = RdfFormat.from_extension(Path(file).suffix[1:])
        for known, form in FORMATS.items():
            if form == by_extension:
                return known
    problem = f"cannot be derived from {shown(file)}" if name is None else f"is {name!r}, which is unknown"
    raise invalid("format", problem, hint=f"one of {', '.join(FORMATS)}")


def shown(file: Path | str | IO[bytes]) -> str:
    """Return the name of a file for errors."""
    return str(file) if isinstance(file, str | Path) else "the stream"
