"""Parses the parts of a SPARQL request that are checked here: its form and its dataset."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cortex_graph.exceptions import invalid
from cortex_graph.sparql.prologue import Prologue
from cortex_graph.sparql.serialize import SerializedText, SparqlWriter
from cortex_graph.sparql.tokens import QUERY_FORMS, UPDATE_FORMS, UPDATE_WORDS, SparqlToken, read_tokens, refused


@dataclass(frozen=True)
class QueryLimits:
    """The limits of one request; exceeding one is an error that names it.

    Attributes:
        query_bytes: of the text of a query, as UTF-8.
        update_bytes: of the text of an update, which may contain data.
        depth: of nested brackets of any kind and prefix operators.
        triples: that an update may remove and insert together.
    """

    query_bytes: int = 64 << 10
    update_bytes: int = 2 << 20
    depth: int = 64
    triples: int = 100_000


DEFAULT_LIMITS = QueryLimits()
TIMEOUT_S = 30.0
_AS_UPDATE = "this reads only: skill_assert and skill_retract change statements, and an update (`--update`) does"


@dataclass(frozen=True)
class ParsedQuery:
    """A query, serialised, and the dataset of its FROM clauses; None without any."""

    written: SerializedText
    default_graphs: tuple[str, ...] | None
    named_graphs: tuple[str, ...] | None


def without_mark(text: str) -> str:
    """Return a text without a byte order mark at its beginning, which editors write to files (RFC 3629 §6)."""
    return text.removeprefix("\ufeff") if isinstance(text, str) else text


def read_text(text: object, most: int, depth: int, deadline: float | None = None) -> list[SparqlToken]:
    """Return the tokens of a request.

    Args:
        text: the request.
        most: its maximum size in bytes.
        depth: its maximum nesting.
        deadline: of the parsing, by `time.monotonic`.
    """
    if not isinstance(text, str):
        raise invalid("query", f"must be a string, not {type(text).__name__}")
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise invalid("query", "contains a lone surrogate", hint="SPARQL is Unicode text") from None
    if size > most:
        raise invalid("query", f"has {size} bytes, and {most} are allowed", hint="send it in parts")
    return read_tokens(text, depth, deadline)


def read_query(text: str, tokens: Sequence[SparqlToken], prologue: Prologue) -> ParsedQuery:
    """Parse a query."""
    at = prologue.read(tokens, 0)
    if at == len(tokens):
        raise invalid("query", "is empty", hint="for instance `SELECT * WHERE { ?s ?p ?o } LIMIT 10`")
    first = tokens[at]
    if first.text in UPDATE_FORMS and first.kind == "word":
        raise refused(text, first.start, f"`{first.text}` begins an update, not a query", hint=_AS_UPDATE)
    if first.kind != "word" or first.text not in QUERY_FORMS:
        raise refused(text, first.start, "a query begins with SELECT, ASK, CONSTRUCT or DESCRIBE")
    for token in tokens[at:]:
        prologue.count(token)
        if token.kind == "word" and token.text in UPDATE_WORDS:
            raise refused(text, token.start, f"`{token.text}` is not allowed in a query", hint=_AS_UPDATE)
    body, default_graphs, named_graphs = _without_dataset(text, tokens[at:], prologue)
    return ParsedQuery(SparqlWriter(text, prologue).write([body]), default_graphs, named_graphs)


def _without_dataset(
    text: str, tokens: Sequence[SparqlToken], prologue: Prologue
) -> tuple[list[SparqlToken], tuple[str, ...] | None, tuple[str, ...] | None]:
    """Return the tokens without FROM clauses, and the graphs that these name."""
    body: list[SparqlToken] = []
    default_graphs: list[str] = []
    named_graphs: list[str] = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        at += 1
        if token[:2] != ("word", "FROM"):
            body.append(token)
            continue
        named = at < len(tokens) and tokens[at][:2] == ("word", "NAMED")
        at += named
        if at == len(tokens):
            raise refused(text, token.start, "FROM lacks a graph")
        (named_graphs if named else default_graphs).append(prologue.iri(tokens[at]))
        at += 1
    if default_graphs or named_graphs:
        return body, tuple(default_graphs), tuple(named_graphs)
    return body, None, None
