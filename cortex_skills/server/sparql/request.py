"""A request of the SPARQL 1.1 Protocol, off the wire.

Rules kept here:
- a query comes by GET, by POST as a form, or by POST as it is; an update only by the two POSTs (§2.1, §2.2);
- there is one query or one update in a request, and the parameters of the one do not go with the other;
- beside the protocol's own there are `namespace`, which narrows to some of the token's namespaces, and `timeout`, in
  seconds, which shortens the server's. What else clients send (`format`, `output`, …) means nothing: `Accept` does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite

from cortex_skills.server.bodies import pairs_of
from cortex_skills.server.errors import HttpError

FORM = "application/x-www-form-urlencoded"
QUERY = "application/sparql-query"
UPDATE = "application/sparql-update"
KINDS = frozenset({FORM, QUERY, UPDATE})
_MAX_PARAMETERS = 128

_GRAPHS = {
    "query": ("default-graph-uri", "named-graph-uri"),
    "update": ("using-graph-uri", "using-named-graph-uri"),
}


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked.

    Attributes:
        text: the query or the update; None when the service is asked for its description.
        is_update: which of the two it is.
        default_graphs: the IRIs that narrow the default graph; None when none of the two lists is given.
        named_graphs: those that narrow the named graphs.
        namespaces: those that it is about; empty for all that the caller may use.
        timeout_s: how long it may take at most, if it says so, in seconds.

    """

    text: str | None
    is_update: bool = False
    default_graphs: tuple[str, ...] | None = None
    named_graphs: tuple[str, ...] | None = None
    namespaces: tuple[str, ...] = field(default=())
    timeout_s: float | None = None


def read_get(query: bytes) -> Request:
    """A GET, by its query string.

    Raises:
        HttpError: `invalid_arguments`.

    """
    given = _parameters(query)
    if "update" in given:
        raise _invalid("an update comes by POST (SPARQL 1.1 Protocol §2.2)", "POST it as application/sparql-update")
    return _request(given, "query")


def read_post(kind: str, query: bytes, body: bytes) -> Request:
    """A POST, by its media type, query string and body.

    Raises:
        HttpError: `invalid_arguments`.

    """
    given = _parameters(query)
    if kind == FORM:
        if "query" in given or "update" in given:
            raise _invalid("the text stands in the URL of a form", "put it into the body")
        for name, values in _parameters(body).items():
            given.setdefault(name, []).extend(values)
        if ("query" in given) == ("update" in given):
            raise _invalid("a form carries either `query` or `update`")
        return _request(given, "query" if "query" in given else "update")
    if "query" in given or "update" in given:
        raise _invalid("the text stands in the URL and in the body", "give it once")
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        raise _invalid("the text is not UTF-8") from None
    word = "query" if kind == QUERY else "update"
    return _request(given | {word: [text]}, word)


def _parameters(encoded: bytes) -> dict[str, list[str]]:
    given: dict[str, list[str]] = {}
    try:
        pairs = pairs_of(encoded, _MAX_PARAMETERS)
    except ValueError:
        raise _invalid("the parameters are malformed", "percent-encode them, in UTF-8") from None
    for name, value in pairs:
        given.setdefault(name, []).append(value)
    return given


def _request(given: Mapping[str, list[str]], word: str) -> Request:
    other = "update" if word == "query" else "query"
    for name in _GRAPHS[other]:
        if name in given:
            raise _invalid(f"`{name}` goes with an {other}" if other == "update" else f"`{name}` goes with a query")
    default, named = (tuple(given[name]) if name in given else None for name in _GRAPHS[word])
    return Request(
        text=_once(given, word),
        is_update=word == "update",
        default_graphs=default,
        named_graphs=named,
        namespaces=tuple(given.get("namespace", ())),
        timeout_s=_seconds(_once(given, "timeout")),
    )


def _once(given: Mapping[str, list[str]], name: str) -> str | None:
    values = given.get(name, [])
    if len(values) > 1:
        raise _invalid(f"`{name}` is given {len(values)} times", "give it once")
    return values[0] if values else None


def _seconds(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not isfinite(seconds) or seconds <= 0:
        raise _invalid("`timeout` is no number of seconds", "for instance timeout=5")
    return seconds


def _invalid(message: str, hint: str = "") -> HttpError:
    return HttpError("invalid_arguments", message, hint=hint)
