"""The model behind an HTTP endpoint that words what was learned.

Rules kept here:
- what an endpoint answers beside a message is in the log, and in no text that a model reads.
"""

from __future__ import annotations

import logging

from cortex_skills.config.settings import Learning
from cortex_skills.features.registry.learning import MAX_ANSWER
from cortex_skills.safe_io.display import one_line
from cortex_skills.safe_io.json_endpoint import EndpointError, JsonEndpoint
from cortex_skills.safe_io.strict_json import read_json
from cortex_skills.tools.wording import MAX_TOKENS, not_worded

log = logging.getLogger(__name__)

TIMEOUT_S = 60.0


class ChatEndpoint:
    """Asks a server that has an OpenAI-compatible `POST /v1/chat/completions`.

    Args:
        endpoint: the address of the server with `/v1`.
        model: the model to ask for.
        key_variable: the environment variable with the key of the server; empty for none.
        timeout_s: how long an answer may take, in seconds.
    """

    def __init__(self, endpoint: str, model: str, key_variable: str = "", timeout_s: float = TIMEOUT_S) -> None:
        self._endpoint = JsonEndpoint(endpoint, "chat/completions", key_variable)
        self._model = model
        self._timeout_s = timeout_s

    @classmethod
    def of(cls, settings: Learning) -> ChatEndpoint | None:
        """The endpoint of the settings; None when there is none."""
        if not settings.endpoint:
            return None
        return cls(settings.endpoint, settings.model, settings.key_variable, settings.timeout_ms / 1000)

    def __call__(self, instructions: str, text: str) -> str:
        """The answer of the model.

        Raises:
            CortexError: `learning_failed`.
        """
        messages = [{"role": "system", "content": instructions}, {"role": "user", "content": text}]
        asked = {"model": self._model, "messages": messages, "max_tokens": MAX_TOKENS, "temperature": 0}
        try:
            data = self._endpoint.post(asked, longest=2 * MAX_ANSWER, timeout_s=self._timeout_s)
        except EndpointError as error:
            log.warning("no model worded what was done: %s", one_line(str(error)))
            problem = "does not answer" if error.status is None else f"answers with the status {error.status}"
            raise not_worded(f"the endpoint {problem}") from None
        try:
            answer = read_json(data)["choices"][0]["message"]["content"]
        except (ValueError, LookupError, TypeError):
            answer = None
        if not isinstance(answer, str):
            raise not_worded("the endpoint answers with something else than a message")
        return answer
