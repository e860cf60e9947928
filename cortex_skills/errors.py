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
from collections.abc import Mapping
from typing import Any

log = logging.getLogger(__name__)

# What a code means, and what to do: the page of the errors is made of it.
CODES: Mapping[str, tuple[str, str]] = {
    "action_failed": (
        "The action ran, or began to run, and failed.",
        "Read the message: it names the input, the program or the file.",
    ),
    "action_timeout": (
        "The action took longer than its manifest allows, and was stopped.",
        "Ask for less at once, or raise the limit of the action.",
    ),
    "approval_changed": (
        "The request for approval, or what it would do, is not what was shown.",
        "Have the agent ask again, and find out what changed it.",
    ),
    "approval_limit": ("As many requests wait for approval as are kept.", "Resolve some of them."),
    "approval_not_found": ("There is no such request for approval.", "`approvals list` shows those that there are."),
    "approval_rejected": (
        "A person rejected the action, or the request expired.",
        "Do something else, or ask that person.",
    ),
    "approval_required": (
        "The action did not run: a person has to approve it.",
        "Wait for the person, and ask with `approval_status`.",
    ),
    "approval_resolved": (
        "The request was approved, rejected or ended before.",
        "Look at its state; ask again for a new one.",
    ),
    "artifact_disabled": ("The owner disabled the artifact.", "`enable` enables it."),
    "artifact_invalid": (
        "The file is no artifact that may be used, or the artifact lacks what was asked for.",
        "Get it again from its publisher; `package verify` names each fault.",
    ),
    "artifact_not_found": (
        "No such artifact, or no such version of it, is installed.",
        "`installed list` shows what is installed.",
    ),
    "artifact_quarantined": (
        "A check of the artifact failed, or its publisher was revoked.",
        "Look at its findings; a person may override them.",
    ),
    "artifact_unavailable": (
        "The file of the artifact cannot be read now.",
        "Check the path and the disk, and try again.",
    ),
    "assertion_limit": (
        "The skill has used its assertions of this session.",
        "Raise the limit that the hint names, or begin a new session.",
    ),
    "audit_unavailable": (
        "The audit cannot be written, so that nothing that needs it ran.",
        "Make room, or repair the folder of the journal; see `doctor`.",
    ),
    "cancelled": ("The caller cancelled the call.", "Nothing; call again if it is still wanted."),
    "command_refused": (
        "The program, or its arguments, may not be run.",
        "Use one of `actions.commands`, with arguments that its rules allow.",
    ),
    "compile_error": (
        "The bytes are no WebAssembly that may run here.",
        "Build the module again; the message names what is refused.",
    ),
    "config_invalid": (
        "A setting is wrong, unknown, or needs a package that is not installed.",
        "Correct the setting that is named, or install the extra.",
    ),
    "confinement_missing": (
        "The kernel cannot confine the program.",
        "Use a Linux with landlock and seccomp, or set `actions.allowUnconfined`.",
    ),
    "cost_limit": (
        "The skill has used what its actions may cost in this session.",
        "Raise `actions.costBudget`, or begin a new session.",
    ),
    "export_changed": (
        "A folder of an exported skill is not what its sidecar states.",
        "Get it again from who exported it.",
    ),
    "fuel_exhausted": (
        "A WebAssembly tool executed more instructions than it may.",
        "Ask for less at once, or raise the fuel in its manifest.",
    ),
    "gain_not_measured": (
        "The skill is not verified: nothing shows that it helps.",
        "Record more outcomes, or have a person promote it.",
    ),
    "grants_required": (
        "The artifact or skill asks for permissions that nobody granted or denied.",
        "Grant or deny each, with `--grant` or `--deny`.",
    ),
    "graph_busy": ("Another process or query holds what was needed.", "Try again."),
    "graph_corrupt": (
        "The files of the store are damaged.",
        "Stop writing, and restore a backup; `doctor` shows what is damaged.",
    ),
    "graph_unavailable": (
        "The store cannot be opened or reached.",
        "Check that its folder or server exists and answers.",
    ),
    "host_refused": (
        "The address is not among those that may be reached.",
        "Add the host to `actions.allowedHosts`, or use another address.",
    ),
    "index_invalid": (
        "The index of artifacts is malformed, or its signature is wrong.",
        "Ask its owner to make it again.",
    ),
    "index_unavailable": (
        "The index of artifacts cannot be fetched or written.",
        "Check the address and the network, and try again.",
    ),
    "internal_error": ("The plugin failed: this is a fault of ours.", "See the log, and report it."),
    "invalid_arguments": (
        "An argument is missing, unknown, or not of its form.",
        "Correct the fields that the message names.",
    ),
    "learning_failed": ("No skill was learned from what was done.", "Name the skill yourself, or try again later."),
    "manifest_invalid": (
        "The manifest of a skill or an action is wrong.",
        "Correct the fields that are named; `validate` checks them again.",
    ),
    "missing_export": (
        "A module does not export the function that is called.",
        "Build it with that function, of the type that is named.",
    ),
    "namespace_violation": ("The name belongs to another namespace.", "Use a name of your own namespace."),
    "not_found": ("There is nothing of that name or id.", "List what there is, and use its name."),
    "not_on_this_host": (
        "The bytes are on another host only.",
        "Install it here, or start `serve` on the host that has it.",
    ),
    "outcome_unknown": (
        "The answer of the server of the store was lost: the change may have been made.",
        "Look whether it is there before you repeat it.",
    ),
    "path_refused": ("The path may not be read or written.", "Use one in the workspace that the settings allow."),
    "permission_denied": (
        "The skill, the token or the agent may not do that.",
        "The hint names the permission, and where it is given.",
    ),
    "proof_failed": (
        "The proof is wrong, or none can be made of what is there.",
        "Read the reasons; correct the statement or the proof.",
    ),
    "proof_not_found": ("There is no such proof.", "List those of the namespace, and use an id of these."),
    "proof_required": (
        "The statement may only be asserted with a proof.",
        "Assert it with `requireProof`, and data that conforms to the rules.",
    ),
    "proof_timeout": (
        "Making or checking the proof took too long.",
        "Ask for less, or raise `skillSandbox.proofTimeoutMs`.",
    ),
    "query_limit": (
        "The skill has used its queries of this session, or the answer is too large.",
        "Raise the limit that the hint names, or ask for less.",
    ),
    "query_timeout": ("The query took too long, and was stopped.", "Narrow the query, or raise the timeout."),
    "rate_limited": (
        "There were more calls in a minute than are allowed.",
        "Wait for the seconds that the hint names.",
    ),
    "reflection_depth_exceeded": (
        "The reflection would be too far from what was observed.",
        "Reflect on the memories that its sources draw from.",
    ),
    "relative_iri": ("The data has a relative IRI, and no base.", "Give a base, or write absolute IRIs."),
    "remote_context": (
        "The JSON-LD names a context on another server, which is not fetched.",
        "Put the context into the document.",
    ),
    "scan_rejected": (
        "The scanner found code that a skill may not have.",
        "Change the line that is named; `scan` shows all findings.",
    ),
    "secret_not_found": ("There is no secret of that name.", "`secrets set` stores it."),
    "signature_invalid": (
        "A signature does not verify, or its key is not trusted or revoked.",
        "Get it again from its publisher, or decide on the key with `trust`.",
    ),
    "signature_required": ("The skill is not signed.", "Sign your own with `sign`; ask the publisher otherwise."),
    "skill_ambiguous": ("Several skills are active, and the call names none.", "Name one of them."),
    "skill_changed": (
        "The skill changed since it was read, and nothing was saved.",
        "Read it again, and make the change there.",
    ),
    "skill_error": ("The code of the skill raised an error.", "Correct the line that is named; the log has the stack."),
    "skill_exists": ("There is a skill or a file of that name.", "Choose another name, or remove it."),
    "skill_in_use": ("Other skills depend on it.", "Change or remove those first."),
    "skill_memory": (
        "The code of the skill used more memory than it may.",
        "Have it use less, or raise the limit of the sandbox.",
    ),
    "skill_not_found": ("No such skill is loaded or registered.", "Load it, or use a name that the hint lists."),
    "skill_timeout": (
        "The code of the skill took too long, and was stopped.",
        "Have it do less, or raise `skillSandbox.executionTimeoutMs`.",
    ),
    "state_conflict": (
        "What should be changed was changed meanwhile, or is in another state.",
        "Read it again, and decide again.",
    ),
    "store_locked": ("Another process owns the store alone.", "End that process, or use its server."),
    "tool_not_allowed": (
        "An active skill does not allow the tool.",
        "Add it to `allowedTools` of that skill, or unload the skill.",
    ),
    "tool_not_found": ("There is no tool or action of that name.", "Use a name that the hint lists."),
    "transpile_error": ("The TypeScript of the skill cannot be bundled.", "Correct the line that is named."),
    "trust_level_too_low": ("The action needs a higher trust level.", "The owner sets it with `trust-level set`."),
    "unauthorized": (
        "The request has no valid token.",
        "Send `Authorization: Bearer TOKEN`; `token create` makes one.",
    ),
    "undeclared_predicate": (
        "The skill does not declare that it asserts the predicate.",
        "Declare it in the manifest, or use one that is declared.",
    ),
    "wasm_trap": ("A WebAssembly tool did what is forbidden, or gave up.", "Read the message; correct the tool."),
    "workspace_invalid": (
        "The identity of the workspace belongs to another folder, or cannot be read.",
        "Remove `.cortex-workspace` from the copy.",
    ),
    "write_limit": (
        "The code of the skill wrote as much as it may in one run.",
        "Write less at once, or raise `skillSandbox.maxWrites`.",
    ),
    "zk_disabled": (
        "Zero-knowledge proofs are disabled here.",
        "The owner enables them with `skillSandbox.allowZkProofs`.",
    ),
}


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
    if not isinstance(code, str) or code not in CODES:
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
