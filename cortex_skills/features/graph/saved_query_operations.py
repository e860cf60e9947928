"""`graph.save_query`, `graph.saved_queries`, `graph.run_query`, `graph.forget_query`: queries with parameters, by name.

Rules kept here:
- a text is saved if it is a query that can be run here; running it is `graph.sparql`, with the rights of who runs it;
- an agent replaces and forgets only queries that it saved itself; people and the owner also those of others.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, cast

from annotated_types import Interval, Len, MaxLen
from pydantic import Field
from pyoxigraph import Literal, NamedNode
from typing_extensions import TypedDict

from cortex_graph import open_store
from cortex_graph.exceptions import InvalidArguments, QueryTimeout, invalid
from cortex_graph.sparql import query_graphs
from cortex_graph.sparql.query_parameters import filled, parameters_of
from cortex_graph.store import GraphStore
from cortex_skills.errors import CortexError
from cortex_skills.features.graph import saved_queries as queries
from cortex_skills.features.graph.looking.call_graph import AsOf
from cortex_skills.features.graph.looking.sparql_rows import PagedQuery, explained, sparql
from cortex_skills.features.graph.looking.sparql_text import SparqlAnswer
from cortex_skills.features.graph.saved_queries import KINDS, Kind, QueryParameter, SavedQuery
from cortex_skills.operations.operation import Described, ObjectState, OperationCall, operation

CHECK_S = 2.0
QueryName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9 _.-]{0,79}$", description="The name of the query.")]

_PARAMETER = re.compile(r"\$?(\w{1,80})(?:\s+(\w+))?(?:\s+(.{1,300}))?", re.DOTALL)
_EXAMPLES: dict[Kind, NamedNode | Literal] = {
    "text": Literal("text"),
    "number": Literal(1),
    "name": NamedNode("urn:example:name"),
    "date": Literal("2026-01-31"),
    "boolean": Literal(True),
}


class ParameterDocument(TypedDict):
    """A parameter: the variable without its `$`, the kind of its values, and what it means."""

    name: str
    kind: str
    description: str


class QueryDocument(TypedDict):
    """A saved query."""

    name: str
    description: str
    query: str
    parameters: list[ParameterDocument]
    creator: str
    modified: str


def document_of(query: SavedQuery) -> QueryDocument:
    """A query as JSON."""
    return {
        "name": query.name,
        "description": query.description,
        "query": query.text,
        "parameters": [
            {"name": each.name, "kind": each.kind, "description": each.description} for each in query.parameters
        ],
        "creator": query.creator,
        "modified": query.modified,
    }


def state_of_query(call: OperationCall) -> ObjectState | None:
    """The name of a query, and the digest of its text with who saved it."""
    if not call.about:
        return None
    found = queries.saved_query(call.host.graph, call.about)
    if found is None:
        return call.about, "absent"
    return found.name, f"{hashlib.sha256(found.text.encode()).hexdigest()[:12]} by {found.creator}"


@dataclass(frozen=True, slots=True)
class QueryToSave:
    """A query; a variable that is written with `$` is a parameter."""

    name: QueryName
    query: Annotated[str, Len(1, queries.MAX_TEXT), Described("SPARQL 1.1; `$part` is a parameter.")]
    description: Annotated[str, MaxLen(queries.MAX_DESCRIPTION), Described("What it answers, for a person.")] = ""
    parameters: Annotated[
        Sequence[Annotated[str, Len(1, 400)]],
        MaxLen(20),
        Described(f"Of each parameter its name, kind ({', '.join(KINDS)}) and meaning: `part name The part`."),
    ] = ()


@operation("graph.save_query", effect="changes", permission="write", object_="name", state=state_of_query)
def save_query(call: OperationCall, given: QueryToSave) -> QueryDocument:
    """Save a query with a description and parameters in the namespace, in place of the one with its name."""
    graph = call.host.graph
    present = queries.saved_query(graph, given.name)
    _check_author(call, present, given.name)
    if present is None and len(queries.saved_queries(graph)) >= queries.MOST:
        raise invalid("name", f"is one more than the {queries.MOST} queries of a namespace", hint="forget another one")
    query = SavedQuery(given.name, given.query, given.description, _parameters(given), call.caller.name, "")
    text = filled(query.text, {each.name: _EXAMPLES[each.kind] for each in query.parameters})
    try:
        query_graphs(_empty_store(), [graph], text, timeout_s=CHECK_S).chunks.close()
    except InvalidArguments as error:
        raise explained(graph, text, error) from None
    except QueryTimeout:
        pass  # it can be read, and is heavy
    return document_of(queries.save(graph, query))


@cache
def _empty_store() -> GraphStore:
    return open_store("memory:")


def _parameters(given: QueryToSave) -> tuple[QueryParameter, ...]:
    """The parameters of the text, as they are described.

    Raises:
        InvalidArguments: one that is described is not in the text, or its kind is unknown.
    """
    used = parameters_of(given.query)
    described: dict[str, QueryParameter] = {}
    for line in given.parameters:
        found = _PARAMETER.fullmatch(line.strip())
        kind = (found[2] or "text") if found else ""
        if found is None or kind not in KINDS:
            hint = f"a name, a kind ({', '.join(KINDS)}) and a meaning: `part name The part`"
            raise invalid("parameters", f"has {line[:80]!r}", hint=hint)
        if found[1] not in used:
            raise invalid("parameters", f"describes {found[1]}, which is not in the query", hint=f"write ${found[1]}")
        described[found[1]] = QueryParameter(found[1], cast(Kind, kind), found[3] or "")
    return tuple(described.get(name, QueryParameter(name)) for name in used)


def _check_author(call: OperationCall, present: SavedQuery | None, name: str) -> None:
    if present is not None and call.caller.is_agent and present.creator != call.caller.name:
        raise CortexError(
            "permission_denied",
            f"the query {name} was saved by {present.creator}",
            hint="save it under another name, or ask a person to change it",
        )


@dataclass(frozen=True, slots=True)
class EveryQuery:
    """Nothing."""


@operation("graph.saved_queries", effect="reads", permission="read")
def list_queries(call: OperationCall, given: EveryQuery) -> list[QueryDocument]:  # noqa: ARG001 - there is nothing
    """List the saved queries of the namespace with their parameters, by name."""
    return [document_of(each) for each in queries.saved_queries(call.host.graph)]


@dataclass(frozen=True, slots=True)
class QueryToRun:
    """A saved query, the values of its parameters, and a page of its answer."""

    name: QueryName
    values: Annotated[
        Sequence[Annotated[str, Len(1, 4_200)]], MaxLen(20), Described("The parameters: `part=nails`, one each.")
    ] = ()
    limit: Annotated[int, Interval(ge=1, le=1000), Described("Rows of a page.")] | None = None
    as_of: AsOf | None = None


@operation("graph.run_query", effect="reads", permission="read")
def run_query(call: OperationCall, given: QueryToRun) -> SparqlAnswer:
    """Run a saved query with values for its parameters, and return a page of the rows."""
    return sparql.run(call, PagedQuery(text_of(call, given.name, given.values), given.limit, as_of=given.as_of))


def text_of(call: Any, name: str, values: Sequence[str]) -> str:
    """The text of a saved query with values of its parameters, each `NAME=VALUE`.

    Raises:
        CortexError: `not_found`.
        InvalidArguments: a value is missing or malformed.
    """
    graph = call.host.graph
    query = found_query(call, name)
    given = dict(each.partition("=")[::2] for each in values)
    return filled(query.text, queries.terms_of(graph, query, given))


def found_query(call: Any, name: str) -> SavedQuery:
    """A saved query.

    Raises:
        CortexError: `not_found`.
    """
    query = queries.saved_query(call.host.graph, name)
    if query is None:
        hint = "the list of saved queries (a command: graph queries) has those that there are"
        raise CortexError("not_found", f"no query {name[:80]!r} is saved here", hint=hint)
    return query


@dataclass(frozen=True, slots=True)
class QueryToForget:
    """A saved query."""

    name: QueryName


@operation("graph.forget_query", effect="changes", permission="write", object_="name", state=state_of_query)
def forget_query(call: OperationCall, given: QueryToForget) -> QueryDocument:
    """Remove a saved query; returns it."""
    query = found_query(call, given.name)
    _check_author(call, query, given.name)
    queries.forget(call.host.graph, given.name)
    return document_of(query)
