"""The answer to a query that came as JSON, with the members that clients of Cortex read (AIngle, `sparql/mod.rs`).

Rules kept here:
- the members of the SPARQL 1.1 Query Results JSON Format stay, and those of Cortex are beside them;
- a term is a text: an IRI in angle brackets, a number or a boolean as it is, any other term as in N-Triples;
- such an answer is not streamed, so that it is bounded.
"""

from __future__ import annotations

import json
from typing import Any

from pyoxigraph import BlankNode, Literal, NamedNode, RdfFormat, parse
from starlette.types import Message

from cortex_skills.errors import CortexError

ACCEPT = "application/sparql-results+json, application/n-triples;q=0.9"
_MAX_BYTES = 8 << 20
_ANY = {"*/*", "application/*", "application/json"}
_XSD = "http://www.w3.org/2001/XMLSchema#"
_BARE = {f"{_XSD}{name}" for name in ("integer", "decimal", "double", "boolean")}


def is_wanted(accept: str | None) -> bool:
    """Whether a client names no format of SPARQL, as clients of Cortex do."""
    return {part.partition(";")[0].strip().lower() for part in (accept or "*/*").split(",")} <= _ANY


class Collected:
    """Takes the messages of an answer (ASGI) in place of a client.

    Attributes:
        headers: of the answer.
        body: what was sent.
    """

    def __init__(self) -> None:
        self.headers: dict[str, str] = {}
        self.body = bytearray()

    async def __call__(self, message: Message) -> None:
        """Take one message.

        Raises:
            CortexError: `query_limit`.
        """
        for name, value in message.get("headers", ()):
            self.headers[name.decode()] = value.decode()
        self.body += message.get("body", b"")
        if len(self.body) > _MAX_BYTES:
            hint = "add a LIMIT, or send the query by the SPARQL protocol, which streams the answer"
            raise CortexError("query_limit", f"the answer has more than {_MAX_BYTES >> 20} MiB", hint=hint)

    def document(self, milliseconds: int) -> dict[str, Any]:
        """The answer as JSON, and how long the query took."""
        took = {"execution_time_ms": milliseconds}
        if self.headers["content-type"].startswith("application/n-triples"):
            triples = parse(bytes(self.body), RdfFormat.N_TRIPLES)
            rows = [
                {"subject": _text(each.subject), "predicate": _text(each.predicate), "object": _text(each.object)}
                for each in triples
            ]
            return {"result_type": "graph", "bindings": rows, "triple_count": len(rows), **took}
        found: dict[str, Any] = json.loads(self.body)
        if "boolean" in found:
            return {**found, "result_type": "boolean", **took}
        bindings = [{name: _text(_term(value)) for name, value in row.items()} for row in found["results"]["bindings"]]
        return {**found, "result_type": "bindings", "variables": found["head"]["vars"], "bindings": bindings, **took}


def _term(value: dict[str, Any]) -> Any:
    """A term of the SPARQL 1.1 Query Results JSON Format §3.2.2; a triple term stays JSON."""
    if value["type"] == "uri":
        return NamedNode(value["value"])
    if value["type"] == "bnode":
        return BlankNode(value["value"])
    if value["type"] == "literal" and "its:dir" not in value:
        kind, language = value.get("datatype"), value.get("xml:lang")
        return Literal(value["value"], datatype=None if kind is None else NamedNode(kind), language=language)
    return value


def _text(term: Any) -> str:
    if isinstance(term, dict):
        return json.dumps(term)
    if isinstance(term, Literal) and term.datatype.value in _BARE:
        return term.value
    return str(term)
