"""The model behind an HTTP endpoint that words what was learned.

Rules kept here:
- one deadline for each question; after two failures in a row the endpoint is not asked for half a minute;
- the key of the endpoint is read from an environment variable, and is in no message; what an endpoint answers beside a
  message is in the log, and in no text that a model reads.
"""

from __future__ import annotations

import json
import logging
import os

from cortex_graph.exceptions import GraphError
from cortex_graph.stores.http.breaker import CircuitBreaker
from cortex_graph.stores.http.client import HttpClient
from cortex_skills.config.settings import Learning
from cortex_skills.registry.learning import MAX_ANSWER
from cortex_skills.registry.wording import MAX_TOKENS, not_worded
from cortex_skills.safe_io.display import one_line
from cortex_skills.safe_io.strict_json import read_json

log = logging.getLogger(__name__)

TIMEOUT_S = 60.0
_FAILURES, _REST_S = 2, 30.0


class ChatEndpoint:
    """Asks a server that has an OpenAI-compatible `POST /v1/chat/completions`.

    Args:
        endpoint: its address with `/v1`.
        model: the model to ask for.
        key: the key of the server; empty for none.
        timeout_s: how long an answer may take, in seconds.

    """

    def __init__(self, endpoint: str, model: str, key: str = "", timeout_s: float = TIMEOUT_S) -> None:
        self._url = f"{endpoint.rstrip('/')}/chat/completions"
        self._model = model
        self._timeout_s = timeout_s
        self._headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
        self._client = HttpClient(endpoint, breaker=CircuitBreaker(_FAILURES, _REST_S))

    @classmethod
    def of(cls, settings: Learning) -> ChatEndpoint | None:
        """The endpoint of the settings; None when there is none."""
        if not settings.endpoint:
            return None
        key = os.environ.get(settings.key_variable, "") if settings.key_variable else ""
        return cls(settings.endpoint, settings.model, key, settings.timeout_ms / 1000)

    def __call__(self, instructions: str, text: str) -> str:
        """The answer of the model.

        Raises:
            CortexError: `learning_failed`.

        """
        messages = [{"role": "system", "content": instructions}, {"role": "user", "content": text}]
        asked = {"model": self._model, "messages": messages, "max_tokens": MAX_TOKENS, "temperature": 0}
        body = json.dumps(asked).encode()
        try:
            reply = self._client.send("POST", self._url, headers=self._headers, body=body, timeout_s=self._timeout_s)
            if reply.status != 200:
                log.warning("%s answers %d: %s", self._url, reply.status, one_line(reply.excerpt()))
                raise not_worded(f"the endpoint answers with the status {reply.status}")
            data = reply.read(2 * MAX_ANSWER)
        except GraphError as error:
            log.warning("%s: %s", self._url, error.message)
            raise not_worded("the endpoint does not answer") from None
        try:
            answer = read_json(data)["choices"][0]["message"]["content"]
        except (ValueError, LookupError, TypeError):
            answer = None
        if not isinstance(answer, str):
            raise not_worded("the endpoint answers with something else than a message")
        return answer
