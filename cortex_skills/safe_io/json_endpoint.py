"""`JsonEndpoint`: one address of a server with the OpenAI API that gets JSON by `POST`.

Rules kept here:
- one deadline for each request; after two failures in a row the server is not asked for half a minute (`HttpClient`);
- the key of the server is read from an environment variable, and is in no message;
- an answer with another status than 200, or longer than the caller allows, is an `EndpointError`, and no part of it is
  used; the message has text of the server, shortened and printable.
"""

from __future__ import annotations

import json
import os
from typing import Any

from cortex_graph.exceptions import GraphError
from cortex_graph.stores.http.breaker import CircuitBreaker
from cortex_graph.stores.http.client import HttpClient
from cortex_skills.safe_io.expanded_path import variable

_FAILURES, _REST_S = 2, 30.0


class EndpointError(Exception):
    """An endpoint that did not answer, or not with 200.

    Args:
        message: what happened, with the address of the server.
        status: the status of the answer; None without one.
    """

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class JsonEndpoint:
    """One address of a server. Safe to use from several threads.

    Args:
        server: the address of the server with `/v1`, such as `http://127.0.0.1:11434/v1`.
        path: of the endpoint below it.
        key_variable: the environment variable with the key of the server; empty for none.

    Attributes:
        server: the address of the server.
        url: the address of the endpoint.
    """

    def __init__(self, server: str, path: str, key_variable: str = "") -> None:
        self.server = server
        self.url = f"{server.rstrip('/')}/{path}"
        key = variable(key_variable, os.environ)
        self._headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
        self._client = HttpClient(server, breaker=CircuitBreaker(_FAILURES, _REST_S))

    def post(self, document: dict[str, Any], *, longest: int, timeout_s: float) -> bytes:
        """The body of the answer.

        Args:
            document: what is sent, as JSON.
            longest: the most bytes of the answer.
            timeout_s: how long the answer may take, in seconds.

        Raises:
            EndpointError: there is no answer, or another one.
        """
        body = json.dumps(document).encode()
        try:
            reply = self._client.send("POST", self.url, headers=self._headers, body=body, timeout_s=timeout_s)
            if reply.status != 200:
                raise EndpointError(f"{self.server} answers {reply.status}: {reply.excerpt()}", reply.status)
            return reply.read(longest)
        except GraphError as error:
            raise EndpointError(error.message) from error
