"""The errors of the plugin, each with a stable code.

Rules kept here:
- every error that leaves the plugin is a `CortexError` with a code from `CODES`;
- it states what happened, to what, and what to do next (`hint`);
- codes are stable for clients: no code is renamed or reused.

The lower floors (`cortex_graph`, `cortex_sandbox`) have their own error classes with the same codes; `from_floor`
converts them.
"""

from __future__ import annotations

import logging
from typing import Any

log = logging.getLogger(__name__)

CODES = frozenset({
    "action_failed", "action_timeout", "approval_changed", "approval_limit", "approval_not_found",
    "approval_rejected", "approval_required", "approval_resolved", "artifact_disabled", "artifact_invalid",
    "artifact_not_found", "artifact_quarantined", "artifact_unavailable", "assertion_limit", "audit_unavailable",
    "cancelled", "command_refused", "compile_error", "config_invalid", "confinement_missing", "cost_limit",
    "export_changed",
    "fuel_exhausted", "gain_not_measured", "grants_required", "graph_busy", "graph_corrupt", "graph_unavailable",
    "host_refused", "index_invalid", "index_unavailable", "internal_error", "invalid_arguments", "learning_failed",
    "manifest_invalid", "missing_export", "namespace_violation", "not_found", "not_on_this_host", "outcome_unknown",
    "path_refused", "permission_denied", "proof_failed",
    "proof_not_found", "proof_required", "proof_timeout", "query_limit", "query_timeout", "rate_limited",
    "reflection_depth_exceeded", "relative_iri", "remote_context", "scan_rejected", "secret_not_found",
    "signature_invalid", "signature_required", "skill_ambiguous", "skill_changed", "skill_error", "skill_exists",
    "skill_in_use", "skill_memory", "skill_not_found", "skill_timeout", "state_conflict", "store_locked",
    "tool_not_allowed", "tool_not_found", "transpile_error", "trust_level_too_low", "unauthorized",
    "undeclared_predicate", "wasm_trap", "workspace_invalid", "write_limit", "zk_disabled",
})  # fmt: skip


class CortexError(Exception):
    """An error with a stable code, a message for a person, a hint, and details for a program.

    Args:
        code: one of `CODES`.
        message: what happened, and to what.
        hint: what to do next; empty when there is no advice.
        details: JSON-ready facts for a program.

    Raises:
        ValueError: when `code` is not one of `CODES`.
    """

    def __init__(self, code: str, message: str, *, hint: str = "", details: dict[str, Any] | None = None) -> None:
        if code not in CODES:
            raise ValueError(f"unknown error code: {code!r}")
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.details = details or {}

    def to_json(self) -> dict[str, Any]:
        """The error as a JSON object: `{code, message, hint, details}`."""
        return {"code": self.code, "message": self.message, "hint": self.hint, "details": self.details}


def from_floor(error: Exception) -> CortexError | None:
    """An error of `cortex_graph` or `cortex_sandbox` as a `CortexError`; None when it has no code from `CODES`."""
    if isinstance(error, CortexError):
        return error
    code = getattr(error, "code", None)
    if code not in CODES:
        return None
    details = getattr(error, "details", None)
    return CortexError(code, str(error), hint=getattr(error, "hint", "") or "", details=details)


def as_ours(what: str, error: Exception) -> CortexError:
    """Any error as a `CortexError`; an unexpected one is logged with its traceback and becomes `internal_error`."""
    ours = from_floor(error)
    if ours is not None:
        return ours
    log.error("%s failed", what, exc_info=error)
    return CortexError("internal_error", f"{what} failed inside the plugin", hint="see the host's log, and report it")
