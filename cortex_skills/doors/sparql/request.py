"""Parses a request of the SPARQL 1.1 Protocol.

Rules kept here:
- a query comes by GET, by POST as a form, or by POST directly; an update by one of the two POSTs (§2.1, §2.2);
- a query also comes as JSON, `{query, default_graph?, named_graphs?}`, as clients of Cortex send it;
- a request holds one query or one update, and no parameters of the other;
- further parameters are `namespace`, which selects some of the token's namespaces, `timeout` in seconds, which shortens
  the server's, and `asOf` and `undated` of a query (`cortex_graph.as_of`); others that clients send (`format`, …) are
  ignored: `Accept` decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import isfinite

from cortex_skills.doors.http.bodies import invalid, pairs_of, parse_json

FORM = "application/x-www-form-urlencoded"
QUERY = "application/sparql-query"
UPDATE = "application/sparql-update"
JSON = "application/json"
KINDS = frozenset({FORM, QUERY, UPDATE, JSON})
_MAX_PARAMETERS = 128

_MEMBERS = {"query": "query", "default_graph": "default-graph-uri", "named_graphs": "named-graph-uri"}
_GRAPHS = {
    "query": ("default-graph-uri", "named-graph-uri"),
    "update": ("using-graph-uri", "using-named-graph-uri"),
}


@dataclass(frozen=True, slots=True)
class SparqlRequest:
    """A parsed request.

    Attributes:
        text: the query or the update; None for a request for the service description.
        is_update: whether it is an update.
        default_graphs: the IRIs of the default graph; None without such parameters.
        named_graphs: the IRIs of the named graphs; None without such parameters.
        namespaces: the namespaces that it names; empty for all that the caller may use.
        timeout_s: its time limit in seconds, if it names one.
        as_of: the moment as of which it reads, if it names one.
        undated: `include` or `exclude`, if it says which.
        is_json: whether it came as JSON.
    """

    text: str | None
    is_update: bool = False
    default_graphs: tuple[str, ...] | None = None
    named_graphs: tuple[str, ...] | None = None
    namespaces: tuple[str, ...] = field(default=())
    timeout_s: float | None = None
    as_of: str | None = None
    undated: str | None = None
    is_json: bool = False


def read_get(query: bytes) -> SparqlRequest:
    """Parse a GET, by its query string.

    Raises:
        HttpError: `invalid_arguments`.
    """
    given = _parameters(query)
    if "update" in given:
        raise invalid("an update needs POST (SPARQL 1.1 Protocol §2.2)", "POST it as application/sparql-update")
    return _request(given, "query")


def read_post(kind: str, query: bytes, body: bytes) -> SparqlRequest:
    """Parse a POST, by its media type, query string and body.

    Raises:
        HttpError: `invalid_arguments`.
    """
    given = _parameters(query)
    if kind == FORM:
        if "query" in given or "update" in given:
            raise invalid("the URL of a form holds a query or an update", "put it into the body")
        for name, values in _parameters(body).items():
            given.setdefault(name, []).extend(values)
        if ("query" in given) == ("update" in given):
            raise invalid("a form must hold either `query` or `update`")
        return _request(given, "query" if "query" in given else "update")
    if "query" in given or "update" in given:
        raise invalid("the query or update is in the URL and in the body", "give it once")
    if kind == JSON:
        return replace(_request(given | _members(body), "query"), is_json=True)
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        raise invalid("the text is not UTF-8") from None
    word = "query" if kind == QUERY else "update"
    return _request(given | {word: [text]}, word)


def _members(body: bytes) -> dict[str, list[str]]:
    """The parameters of a query in JSON."""
    document = parse_json(body)
    if not isinstance(document, dict):
        raise invalid("the body is not an object", "send {query}")
    for name in document:
        if name not in _MEMBERS:
            raise invalid(f"`{name[:80]}` is not a known member", f"known: {', '.join(_MEMBERS)}")
    found = {}
    for member, name in _MEMBERS.items():
        value = document.get(member)
        values = value if isinstance(value, list) and member == "named_graphs" else [] if value is None else [value]
        if not all(isinstance(each, str) for each in values):
            raise invalid(f"`{member}` is not text", "named_graphs is a list of texts", field=member)
        if values:
            found[name] = values
    if "query" not in found:
        raise invalid("`query` is missing", "send {query}", field="query")
    return found


def _parameters(encoded: bytes) -> dict[str, list[str]]:
    given: dict[str, list[str]] = {}
    try:
        pairs = pairs_of(encoded, _MAX_PARAMETERS)
    except ValueError:
        raise invalid("the parameters are malformed", "percent-encode them, in UTF-8") from None
    for name, value in pairs:
        given.setdefault(name, []).append(value)
    return given


def _request(given: Mapping[str, list[str]], word: str) -> SparqlRequest:
    other = "update" if word == "query" else "query"
    for name in _GRAPHS[other]:
        if name in given:
            raise invalid(f"`{name}` is a parameter of {'an update' if other == 'update' else 'a query'}")
    default, named = (tuple(given[name]) if name in given else None for name in _GRAPHS[word])
    return SparqlRequest(
        text=_once(given, word),
        is_update=word == "update",
        default_graphs=default,
        named_graphs=named,
        namespaces=tuple(given.get("namespace", ())),
        timeout_s=_seconds(_once(given, "timeout")),
        as_of=_past(given, "asOf", word),
        undated=_past(given, "undated", word),
    )


def _once(given: Mapping[str, list[str]], name: str) -> str | None:
    values = given.get(name, [])
    if len(values) > 1:
        raise invalid(f"`{name}` is given {len(values)} times", "give it once")
    return values[0] if values else None


def _past(given: Mapping[str, list[str]], name: str, word: str) -> str | None:
    value = _once(given, name)
    if value is not None and (word == "update" or "asOf" not in given):
        raise invalid(f"`{name}` is for a query as of a moment", field=name)
    return value


def _seconds(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not isfinite(seconds) or seconds <= 0:
        raise invalid("`timeout` is not a positive number of seconds", "for instance timeout=5")
    return seconds
