"""The Cortex REST API, from the client's side.

Rules kept here:
- an answer counts when it has the status and the shape that it must have: JSON in UTF-8, an object, of a bounded size;
- an error of the server becomes ours, with its address: 401 and 403 are `GraphUnavailable`, since it is the store's
  token that they refuse; what the server says of what it was sent is `InvalidArguments`;
- `graph_busy` and `query_timeout` of the server are its answers. They are not asked again, and are no failures of it;
- what changes something may be done twice, so it is asked again when its outcome is unknown.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from cortex_graph.errors import GraphBusy, GraphError, QueryLimit, QueryTimeout, invalid
from cortex_graph.stores.cortex.place import Place
from cortex_graph.stores.http.client import HttpClient, Reply, excerpt

MAX_BODY = 8 << 20  # of a request, as the server has it
_MAX_ANSWER = 256 << 20
_MAX_ERROR = 1 << 16
_JSON = "application/json"
_HINT = "see whether this is `cortex-skills serve`, and of this version"
_RIGHTS = "its token (`auth` of the store) needs the namespace and the permissions read, write and provenance"


class Api:
    """A Cortex server.

    Args:
        place: its address, and who we are.
        timeout_s: how long an exchange may take, in seconds.

    """

    def __init__(self, place: Place, timeout_s: float) -> None:
        self.url = place.url
        self.client = HttpClient(place.url, place.credentials, timeout_s=timeout_s, verdict=self._verdict)

    def get(self, path: str, **parameters: str) -> dict[str, Any]:
        """What a path says."""
        return self._document(self._send("GET", path, parameters))

    def find(self, path: str, **parameters: str) -> dict[str, Any] | None:
        """What a path says; None when the server says that there is nothing of this id."""
        reply = self._send("GET", path, parameters)
        return None if self._is_missing(reply) else self._document(reply)

    def post(
        self, path: str, document: Mapping[str, Any], *, writes: bool = False, **parameters: str
    ) -> dict[str, Any]:
        """What is answered to a document.

        Raises:
            InvalidArguments: it is too long, or the server does not take what it says.

        """
        try:
            body = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
        except UnicodeEncodeError:
            raise invalid("triples", "hold a lone surrogate", hint="strings are Unicode text") from None
        if len(body) > MAX_BODY:
            problem = f"make a request of {len(body)} bytes, and {self.url} takes {MAX_BODY}"
            raise invalid("triples", problem, hint="write fewer, or shorter ones, at once")
        return self._document(self._send("POST", path, parameters, body, writes=writes))

    def post_nothing(self, path: str) -> dict[str, Any]:
        """What is answered to a request without a document."""
        return self._document(self._send("POST", path, {}, writes=True))

    def delete(self, path: str, **parameters: str) -> bool:
        """Delete what is at a path; whether it was there."""
        reply = self._send("DELETE", path, parameters, writes=True)
        if self._is_missing(reply):
            return False
        if reply.status != 204:
            self.check(reply)
            raise self.strange(f"answers a deletion with {reply.status}")
        reply.read(0)
        return True

    def check(self, reply: Reply) -> None:
        """Raise the error that an answer is, if it is one."""
        if 200 <= reply.status < 300:
            return
        body = reply.beginning(_MAX_ERROR)
        raise self._problem(reply.status, body)

    def strange(self, problem: str) -> GraphError:
        """The error for an answer that is not what it must be."""
        return self.client.unavailable(problem, hint=_HINT)

    def _send(
        self, method: str, path: str, parameters: Mapping[str, str], body: bytes = b"", *, writes: bool = False
    ) -> Reply:
        query = f"?{urlencode(parameters)}" if parameters else ""
        headers = {"Accept": _JSON, **({"Content-Type": _JSON} if body else {})}
        return self.client.send(method, f"{self.url}/api/v1/{path}{query}", headers=headers, body=body, writes=writes)

    def _document(self, reply: Reply) -> dict[str, Any]:
        self.check(reply)
        if reply.media_type != _JSON:
            kind = excerpt(reply.media_type) or "no type"
            reply.close()
            raise self.strange(f"answers with {kind} where {_JSON} was asked for")
        document = _parsed(reply.read(_MAX_ANSWER))
        if not isinstance(document, dict):
            raise self.strange("answers with something that is no JSON object")
        return document

    def _is_missing(self, reply: Reply) -> bool:
        """Whether this is the 404 of a Cortex, and not that of a server that knows no such path."""
        if reply.status != 404:
            return False
        body = reply.beginning(_MAX_ERROR)
        if _told(body).get("code") != "not_found":
            raise self._problem(404, body)
        return True

    def _verdict(self, body: bytes) -> GraphError | None:
        told = _told(body)
        said = f"{self.url} says: {_said(told)}"
        details = {"endpoint": self.url}
        if told.get("code") == "graph_busy":
            return GraphBusy(said, hint="try again in a while", details=details)
        if told.get("code") == "query_timeout":
            return QueryTimeout(said, hint="ask for less", details=details)
        return None

    def _problem(self, status: int, body: bytes) -> GraphError:
        if verdict := self._verdict(body):
            return verdict
        told = _told(body)
        code, said = told.get("code"), _said(told)
        words = f": {said}" if said else ""
        if status == 400 and code == "invalid_arguments":
            field = told.get("details", {}).get("field") if isinstance(told.get("details"), dict) else None
            name = excerpt(field) if isinstance(field, str) and field else "triples"
            return invalid(name, f"is not taken by {self.url}{words}", hint=excerpt(str(told.get("hint", ""))))
        if status == 401:
            hint = "its token (`auth` of the store) is missing, unknown, expired or revoked"
            return self.client.unavailable(f"does not let us in: it answers 401{words}", hint=hint)
        if status == 403:
            return self.client.unavailable(f"does not let us do that: it answers 403{words}", hint=_RIGHTS)
        if status == 404:
            return self.strange("has not what a store asks for: it answers 404")
        if status == 413:
            return invalid("triples", f"are too many for {self.url}{words}", hint="write less at once")
        if status == 422 and code == "query_limit":
            return QueryLimit(f"{self.url} says{words}", hint="ask for less", details={"endpoint": self.url})
        return self.client.unavailable(f"answers {status}{words}")


def said_of(reply: Reply) -> tuple[dict[str, Any], str]:
    """What an error of the server tells, and its message."""
    told = _told(reply.beginning(_MAX_ERROR))
    return told, _said(told)


def _parsed(body: bytes) -> Any:
    """A body as JSON; None when it is none."""
    try:
        return json.loads(body.decode(), parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return None


def _no_constant(word: str) -> Any:
    raise ValueError(word)


def _told(body: bytes) -> dict[str, Any]:
    document = _parsed(body)
    return document if isinstance(document, dict) else {}


def _said(told: Mapping[str, Any]) -> str:
    said = told.get("error")
    return excerpt(said) if isinstance(said, str) else ""
