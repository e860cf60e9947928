"""What a door answers when it cannot do what it was asked.

Rules kept here:
- the body of every error is `{error, code, hint?, details?, requestId}`; the codes are the plugin's, and a few of HTTP;
- whether a token, a namespace or a triple of somebody else exists cannot be told from an error;
- what a store says of itself (its folder, its address) goes to the log, not to a client; nor does a traceback;
- an error that is worth another try says when.
"""

from __future__ import annotations

import logging
from typing import Any

from cortex_skills.errors import CortexError, from_floor

log = logging.getLogger(__name__)

# The stable codes of the plugin, and the status that each has here.
_STATUS = {
    "graph_busy": 503,
    "graph_unavailable": 503,
    "invalid_arguments": 400,
    "manifest_invalid": 400,
    "namespace_violation": 403,
    "permission_denied": 403,
    "proof_failed": 422,
    "proof_not_found": 404,
    "query_limit": 422,
    "query_timeout": 504,
    "rate_limited": 429,
    "store_locked": 503,
    "unauthorized": 401,
    "zk_disabled": 403,
}
# Codes that only a door has.
HTTP_CODES = {
    "bad_request": 400,
    "headers_too_large": 431,
    "host_not_allowed": 421,
    "method_not_allowed": 405,
    "not_acceptable": 406,
    "not_found": 404,
    "origin_not_allowed": 403,
    "request_timeout": 408,
    "request_too_large": 413,
    "server_busy": 503,
    "unsupported_media_type": 415,
    "url_too_long": 414,
}
_TOLD_IN_A_WORD = frozenset({"graph_unavailable", "store_locked", "internal_error", "config_invalid"})
_AGAIN_S = "1"


class HttpError(Exception):
    """An answer that is an error.

    Args:
        code: one of the plugin's codes that have a status, or of `HTTP_CODES`.
        message: what happened, to what.
        hint: what to do next.
        details: JSON-ready facts for a program.
        headers: what HTTP wants to say beside it.

    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        hint: str = "",
        details: dict[str, Any] | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.status = HTTP_CODES.get(code) or _STATUS.get(code, 500)
        self.message = message
        self.hint = hint
        self.details = details or {}
        self.headers = dict(headers or {})
        if self.status in (429, 503):
            self.headers.setdefault("retry-after", _AGAIN_S)

    def body(self, request_id: str) -> dict[str, Any]:
        """The error as it goes over the wire."""
        body: dict[str, Any] = {"error": self.message, "code": self.code}
        if self.hint:
            body["hint"] = self.hint
        if self.details:
            body["details"] = self.details
        return body | {"requestId": request_id}


def unauthorized() -> HttpError:
    """The one answer to a token that is missing, unknown, expired or revoked."""
    return HttpError(
        "unauthorized",
        "a valid token is needed",
        hint="send `Authorization: Bearer TOKEN`; `cortex-skills token create` makes one",
        headers={"www-authenticate": 'Bearer realm="cortex"'},
    )


def as_http(error: Exception, request_id: str) -> HttpError:
    """Whatever went wrong, as an answer; a bug of ours is logged whole and told in a word."""
    if isinstance(error, HttpError):
        return error
    ours = from_floor(error)
    if ours is None:
        log.error("request %s failed", request_id, exc_info=error)
        ours = CortexError("internal_error", "the server failed", hint="see its log, under this request's id")
    elif ours.code in _TOLD_IN_A_WORD:
        log.error("request %s: %s: %s", request_id, ours.code, ours.message)
        hint = "try again in a while; the server's log says what is wrong"
        ours = CortexError(ours.code, "the graph cannot be used just now", hint=hint)
    return HttpError(ours.code, ours.message, hint=ours.hint, details=ours.details)
