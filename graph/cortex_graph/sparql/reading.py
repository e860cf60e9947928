"""What a SPARQL request says, as far as it is looked at here: its forms, its dataset, its operations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cortex_graph.errors import invalid
from cortex_graph.sparql.prologue import Prologue
from cortex_graph.sparql.text import Token, read_tokens, refused
from cortex_graph.sparql.words import QUERY_FORMS, UPDATE_FORMS, UPDATE_WORDS
from cortex_graph.sparql.writing import Writer, Written


@dataclass(frozen=True)
class Query:
    """A query, written anew, and the dataset that its FROM clauses name; None without any."""

    written: Written
    default_graphs: tuple[str, ...] | None
    named_graphs: tuple[str, ...] | None


def read_text(text: object, most: int, depth: int, deadline: float | None = None) -> list[Token]:
    """The tokens of a request.

    Args:
        text: the request.
        most: how many bytes it may have.
        depth: how deep it may nest.
        deadline: when it must have been read, by `time.monotonic`.

    Raises:
        InvalidArguments: it is no text, too long, or no tokens.
        QueryTimeout: it takes too long to read.

    """
    if not isinstance(text, str):
        raise invalid("query", f"must be a string, not {type(text).__name__}")
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise invalid("query", "holds a lone surrogate", hint="SPARQL is Unicode text") from None
    if size > most:
        raise invalid("query", f"has {size} bytes, and {most} are allowed", hint="send it in parts")
    return read_tokens(text, depth, deadline)


def read_query(text: str, tokens: Sequence[Token], prologue: Prologue) -> Query:
    """What a query says.

    Raises:
        InvalidArguments: it is an update, or neither.

    """
    at = prologue.read(tokens, 0)
    if at == len(tokens):
        raise invalid("query", "says nothing", hint="for instance `SELECT * WHERE { ?s ?p ?o } LIMIT 10`")
    first = tokens[at]
    if first.text in UPDATE_FORMS and first.kind == "word":
        raise refused(text, first.start, f"`{first.text}` begins an update, not a query", hint="send it as an update")
    if first.kind != "word" or first.text not in QUERY_FORMS:
        raise refused(text, first.start, "a query begins with SELECT, ASK, CONSTRUCT or DESCRIBE")
    for token in tokens[at:]:
        prologue.count(token)
        if token.kind == "word" and token.text in UPDATE_WORDS:
            raise refused(text, token.start, f"`{token.text}` has no place in a query", hint="send it as an update")
    body, default_graphs, named_graphs = _without_dataset(text, tokens[at:], prologue)
    return Query(Writer(text, prologue).write([body]), default_graphs, named_graphs)


def _without_dataset(
    text: str, tokens: Sequence[Token], prologue: Prologue
) -> tuple[list[Token], tuple[str, ...] | None, tuple[str, ...] | None]:
    """The tokens without FROM clauses, and what these name."""
    body: list[Token] = []
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
