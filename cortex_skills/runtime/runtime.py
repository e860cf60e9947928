"""`SkillRuntime`: runs the hooks that one skill's code exports, in a sandbox.

Rules kept here:
- a hook costs its caller at most the time limit: the caller gets an answer if the hook throws, returns anything, or
  never ends;
- a skill whose `onActivate` throws is active with its hooks and degraded; one that is stopped in it is not loaded;
- waiting for other calls of the same skill has a separate time limit;
- the hooks of all skills that are closed together have one time limit;
- a sandbox that was stopped or is full is discarded; the next call creates a new one and activates it within its own
  time. A skill that is stopped three times in a row is disabled until it is reloaded; `fault` has the reason. Full
  memory does not count for that, because the input may have been too large;
- texts from the skill's code are escaped in logs and messages.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any

from cortex_sandbox import Box, Exports, SandboxError, SandboxMemoryError
from cortex_skills.cancellation import CancelToken
from cortex_skills.errors import CortexError
from cortex_skills.host import Session
from cortex_skills.policy.budgets import Budgets
from cortex_skills.runtime.failures import skill_error
from cortex_skills.runtime.host_functions import HostFunctions, RefusedCall
from cortex_skills.runtime.log import SkillLog
from cortex_skills.runtime.program import SkillProgram
from cortex_skills.safe_io.display import one_line, shown_name
from cortex_skills.safe_io.schemas import did_you_mean

HOOKS = ("onActivate", "onDeactivate", "onQuery", "onError")
_ANSWER_KEYS = ("results", "additionalContext", "proofRequests", "actionRequests")
_LISTS = ("results", "proofRequests", "actionRequests")
_MAX_STOPS = 3
_MAX_WARNINGS = 20
_ERROR_HOOK_S = 0.5
_DEACTIVATE_S = 2.0  # for all skills that are closed together
_LEAST_S = 0.001


class SkillRuntime:
    """Runs the code of one skill. Safe to use from several threads; hooks run one at a time.

    Args:
        starting: called with the sandbox in which the skill starts, and with None when the start has ended.

    Attributes:
        hooks: the names of its hooks.
        fault: why the skill is disabled; None while it is not.
        degraded: why `onActivate` failed in the present sandbox; None when it did not.

    Raises:
        CortexError: `skill_error`, `skill_timeout` or `skill_memory`: the code does not load, does not export a
            skill, or does not activate.
    """

    def __init__(
        self,
        name: str,
        program: SkillProgram,
        functions: HostFunctions,
        session: Session,
        *,
        starting: Callable[[Box | None], None] = lambda _: None,
    ) -> None:
        self.name = name
        self.fault: CortexError | None = None
        self.degraded: CortexError | None = None
        self._program = program
        self._timeout_s = program.limits.timeout_s
        self._functions = functions
        self._session = session
        self._log = SkillLog(name)
        self._turn = threading.Lock()  # held while the sandbox is used, created or closed
        self._closed = False
        self._stops = 0
        self._warned_of: set[str] = set()
        self.hooks: frozenset[str] = frozenset()
        # The time limit begins when the box exists: on a new machine the guests are compiled first.
        box = self._open()
        starting(box)
        try:
            self._box: Box | None = self._start(box, time.monotonic() + self._timeout_s)
        finally:
            starting(None)

    @property
    def refused(self) -> Sequence[RefusedCall]:
        """The calls of host functions that failed since it was loaded, by function and code."""
        return list(self._functions.refused.values())

    def query(
        self,
        context: Mapping[str, Any],
        timeout_s: float,
        cancel: CancelToken | None = None,
        budgets: Budgets | None = None,
        session: str = "",
    ) -> Any:
        """The result of `onQuery`; None when the skill has none. Rows of the context in it are the same objects.

        Args:
            context: the argument of the hook; `agentId` is on whose behalf the skill acts.
            timeout_s: for the hook, if the skill's own limit is not lower; and, before that, for other calls to end.
            cancel: cancels the call early.
            budgets: of the session of the call; the plugin's own when omitted.
            session: the key of that session; empty for the plugin's own.

        Raises:
            CortexError: it failed, and `onError` was called; or the skill is busy, disabled or closed; `cancelled`.
        """
        if "onQuery" not in self.hooks:
            return None
        timeout_s = min(timeout_s, self._timeout_s)
        cancel = cancel or CancelToken()
        if not cancel.acquire(self._turn, timeout_s):
            raise CortexError(
                "skill_timeout", f"{self.name} was busy with other calls for {timeout_s:g} s", hint="try again"
            )
        try:
            self._functions.budgets = budgets or self._functions.own_budgets
            self._functions.session = session
            return self._query(context, time.monotonic() + timeout_s, cancel)
        finally:
            self._functions.budgets, self._functions.session = self._functions.own_budgets, ""
            self._turn.release()

    def refuse_calls(self) -> None:
        """Begin no more calls: those that wait for their turn end with an error."""
        self._closed = True

    def close(self, reason: str, timeout_s: float) -> float:
        """Call `onDeactivate` and close the sandbox, after the call in progress.

        Args:
            reason: `session_end`, `reload` or `unload`.
            timeout_s: for the hook, if the skill's own limit is not lower.

        Returns:
            The seconds that the hook took.
        """
        self.refuse_calls()
        with self._turn:
            box, self._box = self._box, None
            if box is None:
                return 0.0
            began = time.monotonic()
            try:
                if "onDeactivate" in self.hooks:
                    argument = {**self._session.to_json(), "reason": reason}
                    box.call("onDeactivate", argument, timeout_s=min(timeout_s, self._timeout_s))
            except SandboxError as error:
                self._log.write(logging.WARNING, f"onDeactivate failed: {error}")
            finally:
                self._log.forward(box.take_logs())
                box.close()
            return time.monotonic() - began

    def _query(self, context: Mapping[str, Any], deadline: float, cancel: CancelToken) -> Any:
        """`query`, with the lock held."""
        if self._closed:
            raise CortexError("skill_error", f"{self.name} was unloaded")
        if self.fault is not None:
            raise self.fault.with_traceback(None)  # the traceback would grow with every call
        box = self._box = self._box if self._box and self._box.alive else self._restart(deadline, cancel)
        self._functions.agent = context["agentId"]
        try:
            with cancel.interrupts(box.interrupt):
                answer = box.call("onQuery", context, timeout_s=_left(deadline), shared="results")
        except SandboxError as error:
            self._discard_if_cancelled(box, cancel)  # not a fault of the skill
            stopped_by = error if _is_spent(box, error) else self._call_on_error(box, error, "onQuery", deadline)
            if stopped_by is not None:
                self._stopped(box, stopped_by)
            raise skill_error(self.name, "onQuery", error, self._log, self._functions.refusal(error)) from error
        finally:
            self._functions.agent = self._session.agent
            self._log.forward(box.take_logs())
        self._discard_if_cancelled(box, cancel)  # it may have been cancelled as it returned
        self._stops = 0
        if isinstance(answer, dict):
            self._warn_of_unread(answer)
        return answer

    def _discard_if_cancelled(self, box: Box, cancel: CancelToken) -> None:
        """A sandbox that was interrupted is not used again."""
        if cancel.is_cancelled:
            self._box = None
            box.close()
            cancel.check()

    def _restart(self, deadline: float, cancel: CancelToken) -> Box:
        self._log.write(logging.INFO, "restarting in a new sandbox")
        try:
            box = self._open()
            with cancel.interrupts(box.interrupt):
                return self._start(box, deadline)
        except CortexError as error:
            cancel.check()
            self._count_stop(error)
            raise

    def _warn_of_misspelt(self, exports: Exports) -> None:
        """Warn of a function whose name is nearly that of a hook, since it would never be called."""
        for name in sorted(exports.functions - set(HOOKS))[:_MAX_WARNINGS]:
            if near := did_you_mean(name, set(HOOKS) - self.hooks):
                self._log.write(logging.WARNING, f"{shown_name(name)} is not a hook and is never called: {near}")

    def _warn_of_unread(self, answer: Mapping[str, Any]) -> None:
        """Warn once of each member of an answer that is not read: its name is unknown, or it is not a list."""
        # A few members only: this is work of the host, which no limit of the skill covers.
        for key in islice(answer, _MAX_WARNINGS):
            if key not in _ANSWER_KEYS:
                absent = [known for known in _ANSWER_KEYS if known not in answer]
                why = did_you_mean(key, absent) or f"known: {', '.join(_ANSWER_KEYS)}"
            elif key in _LISTS and not isinstance(answer[key], list | None):
                why = "it is not an array"
            else:
                continue
            if key not in self._warned_of and len(self._warned_of) < _MAX_WARNINGS:
                self._warned_of.add(key)
                self._log.write(logging.WARNING, f"{shown_name(key)} in the answer of onQuery is not read: {why}")

    def _open(self) -> Box:
        try:
            return self._program.open(self._functions.by_name())
        except SandboxError as error:
            raise skill_error(self.name, "loading", error, self._log) from error

    def _start(self, box: Box, deadline: float) -> Box:
        """Load and activate the skill in the sandbox."""
        try:
            exports = self._program.load(box, _left(deadline))
            self.hooks = _hooks_of(self.name, exports)
            self._warn_of_misspelt(exports)
            self.degraded = self._activate(box, deadline)
        except BaseException as error:
            box.close()
            if isinstance(error, SandboxError):
                raise skill_error(self.name, "loading", error, self._log) from error
            raise
        finally:
            self._log.forward(box.take_logs())
        return box

    def _activate(self, box: Box, deadline: float) -> CortexError | None:
        """Call `onActivate`; returns what it threw.

        Raises:
            CortexError: the sandbox was stopped in it, or in the `onError` after it.
        """
        if "onActivate" not in self.hooks:
            return None
        try:
            box.call("onActivate", self._session.to_json(), timeout_s=_left(deadline))
        except SandboxError as error:
            known = skill_error(self.name, "onActivate", error, self._log, self._functions.refusal(error))
            if _is_spent(box, error) or self._call_on_error(box, error, "onActivate", deadline) is not None:
                raise known from error
            self._log.write(logging.WARNING, f"is degraded: {known}")
            return known
        return None

    def _stopped(self, box: Box, error: SandboxError) -> None:
        """Discard a sandbox that cannot be used any more."""
        place = f" at {error.file}:{error.line}:{error.column}" if error.frames else ""
        self._log.write(logging.WARNING, f"its sandbox was stopped{place} ({error}) and discarded")
        self._box = None
        box.close()
        if not isinstance(error, SandboxMemoryError):
            self._count_stop(error)

    def _count_stop(self, error: SandboxError | CortexError) -> None:
        """Count consecutive stops, and disable the skill after too many."""
        self._stops += 1
        if self._stops < _MAX_STOPS:
            return
        self.fault = CortexError(
            error.code,
            f"{self.name} was stopped {self._stops} times in a row ({one_line(str(error))}) and is disabled",
            hint="correct its code and reload it; queries are answered without it until then",
        )
        self._log.write(logging.ERROR, str(self.fault))

    def _call_on_error(self, box: Box, error: SandboxError, operation: str, deadline: float) -> SandboxError | None:
        """Call `onError`, ignoring its own failure; returns the error that stopped the sandbox, if one did."""
        left = min(_ERROR_HOOK_S, deadline - time.monotonic())
        if "onError" not in self.hooks or left <= 0 or not box.alive:
            return None
        failure = {"error": {"name": error.name, "message": error.message}, "operation": operation}
        try:
            box.call("onError", {**self._session.to_json(), **failure}, timeout_s=left)
        except SandboxError as second:
            self._log.write(logging.WARNING, f"onError failed: {second}")
            return second if _is_spent(box, second) else None
        return None


def close_all(runtimes: Sequence[SkillRuntime], reason: str) -> None:
    """Close runtimes in this order, within one time limit for the hooks of all of them.

    A hook may take an equal share of the time that those before it left, so that one that never ends takes no time
    from the others. Calls in progress end side by side, each within its own limit.
    """
    for runtime in runtimes:
        runtime.refuse_calls()
    left = _DEACTIVATE_S
    for closed, runtime in enumerate(runtimes):
        left -= runtime.close(reason, max(_LEAST_S, left / (len(runtimes) - closed)))


def _is_spent(box: Box, error: SandboxError) -> bool:
    """Whether a sandbox cannot be used again: it was stopped, or its memory is full."""
    return not box.alive or isinstance(error, SandboxMemoryError)


def _left(deadline: float) -> float:
    """Seconds until the deadline, at least a millisecond, since the sandbox itself raises the timeout."""
    return max(_LEAST_S, deadline - time.monotonic())


def _hooks_of(name: str, exports: Exports) -> frozenset[str]:
    """The hooks of a skill's default export, when it is valid."""
    exported = exports.values.get("name")
    if exports.type != "object":
        what = "no default export" if exports.type == "undefined" else f"a default export of type {exports.type}"
        problem, hint = f"skill.ts of {name} has {what}", f"export default {{ name: {name!r}, … }}"
    elif not isinstance(exported, str) or not exported:
        problem, hint = f"the default export of {name} has no name", f"give it name: {name!r}"
    elif exported != name:
        problem, hint = f"the default export is named {exported[:80]!r}, the manifest {name!r}", "use one name"
    elif values := [hook for hook in HOOKS if hook in exports.values]:
        problem, hint = f"{values[0]} of {name} is not a function", "make it one, or remove it"
    else:
        return exports.functions & frozenset(HOOKS)
    raise CortexError("skill_error", problem, hint=hint)
