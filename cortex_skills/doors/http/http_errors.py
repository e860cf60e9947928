"""Errors as HTTP answers.

Rules kept here:
- the body of every error is `{error, code, hint?, details?, requestId}`; the codes are the plugin's, and some of HTTP;
- an error does not disclose whether a token, a namespace or a triple of another caller exists;
- the store's own message (its folder, its address) and tracebacks go to the log, never to a client;
- a client that may try again is sent `Retry-After`.
"""

from __future__ import annotations

import logging
from typing import Any

from cortex_skills.errors import CortexError, from_floor

log = logging.getLogger(__name__)

# The status of the plugin's codes.
STATUS = {
    "action_failed": 422,
    "action_timeout": 504,
    "approval_changed": 409,
    "approval_limit": 422,
    "approval_not_found": 404,
    "approval_rejected": 403,
    "approval_required": 409,
    "approval_resolved": 409,
    "artifact_disabled": 403,
    "artifact_invalid": 422,
    "artifact_not_found": 404,
    "artifact_quarantined": 403,
    "artifact_unavailable": 503,
    "assertion_limit": 422,
    "audit_unavailable": 503,
    "cancelled": 503,
    "command_refused": 403,
    "compile_error": 422,
    "config_invalid": 500,
    "confinement_missing": 503,
    "cost_limit": 422,
    "export_changed": 409,
    "fuel_exhausted": 422,
    "gain_not_measured": 409,
    "graph_busy": 503,
    "graph_corrupt": 500,
    "graph_unavailable": 503,
    "grants_required": 409,
    "host_refused": 403,
    "index_invalid": 422,
    "index_unavailable": 502,
    "internal_error": 500,
    "invalid_arguments": 400,
    "learning_failed": 502,
    "manifest_invalid": 400,
    "missing_export": 422,
    "namespace_violation": 403,
    "not_found": 404,
    "not_on_this_host": 409,
    "outcome_unknown": 504,
    "path_refused": 403,
    "permission_denied": 403,
    "proof_failed": 422,
    "proof_not_found": 404,
    "proof_required": 403,
    "proof_timeout": 504,
    "query_limit": 422,
    "query_timeout": 504,
    "rate_limited": 429,
    "reflection_depth_exceeded": 422,
    "relative_iri": 400,
    "remote_context": 400,
    "scan_rejected": 422,
    "secret_not_found": 404,
    "signature_invalid": 422,
    "signature_required": 409,
    "skill_ambiguous": 409,
    "skill_changed": 409,
    "skill_error": 500,
    "skill_exists": 409,
    "skill_in_use": 409,
    "skill_memory": 500,
    "skill_not_found": 404,
    "skill_timeout": 504,
    "state_conflict": 409,
    "store_locked": 503,
    "tool_not_allowed": 403,
    "tool_not_found": 404,
    "transpile_error": 422,
    "trust_level_too_low": 403,
    "unauthorized": 401,
    "undeclared_predicate": 403,
    "wasm_trap": 422,
    "workspace_invalid": 409,
    "write_limit": 422,
    "zk_disabled": 403,
}
# Codes that exist over HTTP only.
HTTP_CODES = {
    "bad_request": 400,
    "headers_too_large": 431,
    "host_not_allowed": 421,
    "method_not_allowed": 405,
    "not_acceptable": 406,
    "origin_not_allowed": 403,
    "request_timeout": 408,
    "request_too_large": 413,
    "server_busy": 503,
    "unsupported_media_type": 415,
    "url_too_long": 414,
}
_WITHOUT_DETAILS = frozenset({"graph_corrupt", "graph_unavailable", "store_locked", "internal_error", "config_invalid"})
_RETRY_AFTER_S = "1"


class HttpError(Exception):
    """An error that is sent to the client.

    Args:
        code: one of the plugin's codes that have a status, or of `HTTP_CODES`.
        message: what happened, and to what.
        hint: what to do next.
        details: JSON-ready facts for a program.
        headers: further headers of the answer.
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
        self.status = HTTP_CODES.get(code) or STATUS[code]
        self.message = message
        self.hint = hint
        self.details = details or {}
        self.headers = dict(headers or {})
        if self.status in (429, 503):
            self.headers.setdefault("retry-after", _RETRY_AFTER_S)
        if self.status == 401:  # RFC 9110 section 11.6.1
            self.headers.setdefault("www-authenticate", 'Bearer realm="cortex"')

    def body(self, request_id: str) -> dict[str, Any]:
        """The JSON body of the answer."""
        body: dict[str, Any] = {"error": self.message, "code": self.code}
        if self.hint:
            body["hint"] = self.hint
        if self.details:
            body["details"] = self.details
        return body | {"requestId": request_id}


def unauthorized() -> HttpError:
    """The error for a token that is missing, unknown, expired or revoked; the same for all of them."""
    return HttpError(
        "unauthorized",
        "a valid token is needed",
        hint="send `Authorization: Bearer TOKEN`; `cortex-skills token create` makes one",
    )


def method_not_allowed(method: str, allowed: str) -> HttpError:
    """The error for a method that a path does not have (RFC 9110 §15.5.6)."""
    message = f"this path does not support {method[:20]}"
    return HttpError("method_not_allowed", message, hint=f"it supports {allowed}", headers={"allow": allowed})


def as_http(error: Exception, request_id: str) -> HttpError:
    """Convert any exception; one that is a defect of the server is logged, and sent without its message."""
    if isinstance(error, HttpError):
        return error
    known = from_floor(error)
    if known is None:
        log.error("request %s failed", request_id, exc_info=error)
        known = CortexError("internal_error", "the server failed", hint="see its log, under the id of this request")
    elif known.code in _WITHOUT_DETAILS:
        log.error("request %s: %s: %s", request_id, known.code, known.message)
        hint = "try again in a while; the server's log has the cause"
        known = CortexError(known.code, "the graph cannot be used at the moment", hint=hint)
    elif known.code == "outcome_unknown":
        log.error("request %s: %s: %s", request_id, known.code, known.message)
        known = CortexError(known.code, "the store did not answer after a change was sent", hint=known.hint)
    return HttpError(known.code, known.message, hint=known.hint, details=known.details)
