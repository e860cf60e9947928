"""The format of an answer, by the `Accept` header.

Rules kept here:
- `Accept` is evaluated by RFC 9110 §12.5.1: the most specific range that matches a format gives its weight; the format
  of the largest weight is chosen, and among equals the one that the header, then this file, names first;
- the languages of a reader are those of `Accept-Language`, by their weights (§12.5.4);
- the default is JSON for rows and Turtle for graphs;
- the formats of rows (with booleans) and of graphs are chosen separately: a query decides which of them it answers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeVar

from pyoxigraph import QueryResultsFormat, RdfFormat

Form = TypeVar("Form")

RESULTS: Mapping[str, QueryResultsFormat] = MappingProxyType(
    {
        "application/sparql-results+json": QueryResultsFormat.JSON,
        "application/json": QueryResultsFormat.JSON,
        "application/sparql-results+xml": QueryResultsFormat.XML,
        "application/xml": QueryResultsFormat.XML,
        "text/csv": QueryResultsFormat.CSV,
        "text/tab-separated-values": QueryResultsFormat.TSV,
    }
)
GRAPHS: Mapping[str, RdfFormat] = MappingProxyType(
    {
        "text/turtle": RdfFormat.TURTLE,
        "application/n-triples": RdfFormat.N_TRIPLES,
        "application/ld+json": RdfFormat.JSON_LD,
        "application/rdf+xml": RdfFormat.RDF_XML,
        "text/plain": RdfFormat.N_TRIPLES,
    }
)
_MAX_ACCEPT = 4096
_LANGUAGE = re.compile(r"[a-z]{1,8}(?:-[a-z0-9]{1,8}){0,4}")
_LANGUAGES = 10

Ranges = dict[str, tuple[float, int]]


def chosen(accept: str | None, offered: Mapping[str, Form]) -> tuple[str, Form] | None:
    """The media type and format of an answer; None if the client accepts none.

    Args:
        accept: the value of the `Accept` header; None if there is none.
        offered: the formats by media type, the preferred first.
    """
    ranges = _ranges(accept)
    if not ranges:
        return next(iter(offered.items()))
    best: tuple[float, int, int] | None = None
    found: tuple[str, Form] | None = None
    for place, (kind, form) in enumerate(offered.items()):
        weight, named = _weight(kind, ranges)
        rank = (weight, -named, -place)
        if weight > 0 and (best is None or rank > best):
            best, found = rank, (kind, form)
    return found


def languages_in(header: str | None) -> tuple[str, ...]:
    """The first language tags of an `Accept-Language` header, the best one first.

    >>> languages_in("en;q=0.5, sv-FI, *;q=0.1, de;q=0")
    ('sv-fi', 'en')
    """
    weights: dict[str, float] = {}
    for part in (header or "")[:_MAX_ACCEPT].split(","):
        tag, *parameters = (word.strip().lower() for word in part.split(";"))
        if _LANGUAGE.fullmatch(tag):
            weights.setdefault(tag, _quality(parameters))
    accepted = [tag for tag, weight in weights.items() if weight > 0]
    return tuple(sorted(accepted, key=lambda tag: -weights[tag])[:_LANGUAGES])


def _ranges(accept: str | None) -> Ranges:
    """The media ranges of a header, with their weights and positions."""
    ranges: Ranges = {}
    for place, part in enumerate((accept or "")[:_MAX_ACCEPT].split(",")):
        kind, *parameters = (word.strip().lower() for word in part.split(";"))
        if "/" in kind:
            ranges[kind] = (_quality(parameters), place)
    return ranges


def _quality(parameters: list[str]) -> float:
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "q":
            try:
                return min(1.0, max(0.0, float(value)))
            except ValueError:
                return 0.0
    return 1.0


def _weight(kind: str, ranges: Ranges) -> tuple[float, int]:
    for span in (kind, f"{kind.partition('/')[0]}/*", "*/*"):
        if span in ranges:
            return ranges[span]
    return 0.0, 0
