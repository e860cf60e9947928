"""`SkillRuntime`: the bridge to one sandboxed skill, through the hooks that it exports.

Rules kept here:
- a hook costs its caller the time that it was given and nothing else: whatever it throws, returns or never finishes,
  the caller gets an answer;
- waiting for other calls of the same skill is not the skill's time: it is bounded apart from it;
- a sandbox that was stopped, or is full, is thrown away; the next call makes a new one and activates it within its own
  time. A skill that is stopped three times in a row is left alone until it is reloaded, and says so in `fault`. A full
  memory does not count for that: what the skill was handed may have been too large;
- what the skill said goes into logs and messages with nothing hidden in it.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from cortex_sandbox import Box, Exports, SandboxError, SandboxMemoryError
from cortex_skills.boxes import Program
from cortex_skills.bridge import GraphBridge
from cortex_skills.errors import CortexError, from_floor
from cortex_skills.escaping import one_line, shown_name
from cortex_skills.schemas import did_you_mean
from cortex_skills.skill_log import SkillLog
from cortex_skills.stopping import Stop

HOOKS = ("onActivate", "onDeactivate", "onQuery", "onError")
_MAX_STOPS = 3
_MAX_TOLD = 20
_ERROR_HOOK_S = 0.5
_DEACTIVATE_S = 2.0


@dataclass(frozen=True, slots=True)
class Session:
    """What a skill is told about where it runs."""

    namespace: str
    agent: str
    session: str

    def to_json(self) -> dict[str, str]:
        """As the hooks get it."""
        return {"namespace": self.namespace, "agentId": self.agent, "sessionId": self.session}


class SkillRuntime:
    """Runs the code of one skill. Safe to use from several threads; hooks run one at a time.

    Args:
        name: the skill's name, which its code must export.
        program: its code, and what that runs in.
        bridge: what is offered to it.
        session: where it runs.
        starting: told of the sandbox in which the skill is started, and of None when that is over.

    Attributes:
        fault: why the skill is left alone; None while it is not.

    Raises:
        CortexError: `skill_error`, `skill_timeout` or `skill_memory`: the code does not load, exports something else
            than a skill, or does not activate.

    """

    def __init__(
        self,
        name: str,
        program: Program,
        bridge: GraphBridge,
        session: Session,
        *,
        starting: Callable[[Box | None], None] = lambda _: None,
    ) -> None:
        self.name = name
        self.fault: CortexError | None = None
        self._program = program
        self._timeout_s = program.limits.timeout_s
        self._bridge = bridge
        self._session = session
        self._log = SkillLog(name)
        self._turn = threading.Lock()  # held by whoever uses the sandbox, or makes or ends one
        self._closed = False
        self._stops = 0
        self._hooks: frozenset[str] = frozenset()
        # Its time begins when there is a box: to make one, a new machine has to compile the guests first.
        box = self._open()
        starting(box)
        try:
            self._box: Box | None = self._start(box, time.monotonic() + self._timeout_s)
        finally:
            starting(None)

    @property
    def hooks(self) -> frozenset[str]:
        """The hooks that the skill has."""
        return self._hooks

    def query(self, context: Mapping[str, Any], timeout_s: float, stop: Stop | None = None) -> Any:
        """What `onQuery` says; None when the skill has none. Its results that are the context's are the same objects.

        Args:
            context: what the skill is told; `agentId` is on whose behalf it acts meanwhile.
            timeout_s: what it may take, if its own limit is not lower; and what to wait for other calls before that.
            stop: ends it early.

        Raises:
            CortexError: it failed, and `onError` has been told; or it is busy, left alone or closed; `cancelled`.

        """
        if "onQuery" not in self._hooks:
            return None
        timeout_s = min(timeout_s, self._timeout_s)
        stop = stop or Stop()
        if not stop.take(self._turn, timeout_s):
            raise CortexError(
                "skill_timeout", f"{self.name} was busy with other calls for {timeout_s:g} s", hint="try again"
            )
        try:
            return self._query(context, time.monotonic() + timeout_s, stop)
        finally:
            self._turn.release()

    def close(self, reason: str) -> None:
        """Tell the skill that it ends (`session_end`, `reload` or `unload`), and give its memory back."""
        self._closed = True  # first, so that whoever waits for a turn gives up
        with self._turn:
            box, self._box = self._box, None
            if box is None:
                return
            try:
                if "onDeactivate" in self._hooks:
                    told = {**self._session.to_json(), "reason": reason}
                    box.call("onDeactivate", told, timeout_s=min(_DEACTIVATE_S, self._timeout_s))
            except SandboxError as error:
                self._log.tell(logging.WARNING, f"onDeactivate failed: {error}")
            finally:
                self._log.pass_on(box.take_logs())
                box.close()

    def _query(self, context: Mapping[str, Any], deadline: float, stop: Stop) -> Any:
        """`query`, when it is this call's turn."""
        if self._closed:
            raise CortexError("skill_error", f"{self.name} was unloaded")
        if self.fault is not None:
            raise self.fault.with_traceback(None)  # or it would grow with every call
        box = self._box = self._box if self._box and self._box.alive else self._restart(deadline, stop)
        self._bridge.agent = context["agentId"]
        try:
            with stop.interrupts(box.interrupt):
                answer = box.call("onQuery", context, timeout_s=_left(deadline), shared="results")
        except SandboxError as error:
            self._abandon_if_stopped(box, stop)  # no fault of the skill's
            stopped_by = error if _is_spent(box, error) else self._tell(box, error, "onQuery", deadline)
            if stopped_by is not None:
                self._stopped(box, stopped_by)
            raise _as_ours(self.name, "onQuery", error) from error
        finally:
            self._bridge.agent = self._session.agent
            self._log.pass_on(box.take_logs())
        self._abandon_if_stopped(box, stop)  # at the last moment: it may have been meant to end
        self._stops = 0
        return answer

    def _abandon_if_stopped(self, box: Box, stop: Stop) -> None:
        """A sandbox that was interrupted is not trusted to go on."""
        if stop.is_set:
            self._box = None
            box.close()
            stop.check()

    def _restart(self, deadline: float, stop: Stop) -> Box:
        self._log.tell(logging.INFO, "starting anew in a fresh sandbox")
        try:
            box = self._open()
            with stop.interrupts(box.interrupt):
                return self._start(box, deadline)
        except CortexError as error:
            stop.check()
            self._count_stop(error)
            raise

    def _tell_of_misspelt(self, exports: Exports) -> None:
        """A function that is called almost like a hook would never be called."""
        for name in sorted(exports.functions - set(HOOKS))[:_MAX_TOLD]:
            if near := did_you_mean(name, set(HOOKS) - self._hooks):
                self._log.tell(logging.WARNING, f"{shown_name(name)} is no hook and is never called: {near}")

    def _open(self) -> Box:
        """A fresh sandbox."""
        try:
            return self._program.open(self._bridge.functions())
        except SandboxError as error:
            raise _as_ours(self.name, "loading", error) from error

    def _start(self, box: Box, deadline: float) -> Box:
        """The sandbox, with the skill loaded and activated."""
        operation = "loading"
        try:
            exports = self._program.load(box, _left(deadline))
            self._hooks = _hooks_of(self.name, exports)
            self._tell_of_misspelt(exports)
            operation = "onActivate"
            if operation in self._hooks:
                box.call(operation, self._session.to_json(), timeout_s=_left(deadline))
        except BaseException as error:
            if isinstance(error, SandboxError) and operation == "onActivate":
                self._tell(box, error, operation, deadline)
            box.close()
            if isinstance(error, SandboxError):
                raise _as_ours(self.name, operation, error) from error
            raise
        finally:
            self._log.pass_on(box.take_logs())
        return box

    def _stopped(self, box: Box, error: SandboxError) -> None:
        """Throw away a sandbox that cannot be used any more."""
        self._log.tell(logging.WARNING, f"its sandbox was stopped ({error}) and thrown away")
        self._box = None
        box.close()
        if not isinstance(error, SandboxMemoryError):
            self._count_stop(error)

    def _count_stop(self, error: SandboxError | CortexError) -> None:
        """Count a stop in a row, and leave the skill alone after too many."""
        self._stops += 1
        if self._stops < _MAX_STOPS:
            return
        self.fault = CortexError(
            error.code,
            f"{self.name} was stopped {self._stops} times in a row ({one_line(str(error))}) and is left alone now",
            hint="mend its code and reload it; queries are answered without it until then",
        )
        self._log.tell(logging.ERROR, str(self.fault))

    def _tell(self, box: Box, error: SandboxError, operation: str, deadline: float) -> SandboxError | None:
        """Tell `onError`; what that does is nobody's problem but its own. What stopped the sandbox then, if it did."""
        left = min(_ERROR_HOOK_S, deadline - time.monotonic())
        if "onError" not in self._hooks or left <= 0 or not box.alive:
            return None
        told = {"error": {"name": error.name, "message": error.message}, "operation": operation}
        try:
            box.call("onError", {**self._session.to_json(), **told}, timeout_s=left)
        except SandboxError as second:
            self._log.tell(logging.WARNING, f"onError failed: {second}")
            return second if _is_spent(box, second) else None
        return None


def _is_spent(box: Box, error: SandboxError) -> bool:
    """Whether a sandbox is of no more use: it was stopped, or its memory is full of what the skill holds on to."""
    return not box.alive or isinstance(error, SandboxMemoryError)


def _left(deadline: float) -> float:
    """Seconds until the deadline, at least a millisecond: the sandbox itself says that time is up."""
    return max(0.001, deadline - time.monotonic())


def _hooks_of(name: str, exports: Exports) -> frozenset[str]:
    """The hooks of a skill's default export, when that is what a skill exports.

    Raises:
        CortexError: `skill_error`.

    """
    if exports.type != "object":
        what = "no default export" if exports.type == "undefined" else f"a default export of type {exports.type}"
        raise CortexError(
            "skill_error", f"skill.ts of {name} has {what}", hint=f"export default {{ name: {name!r}, … }}"
        )
    told = exports.values.get("name")
    if not isinstance(told, str) or not told:
        raise CortexError("skill_error", f"the default export of {name} has no name", hint=f"give it name: {name!r}")
    if told != name:
        raise CortexError(
            "skill_error", f"the default export is named {told[:80]!r}, the manifest {name!r}", hint="make them one"
        )
    for hook in HOOKS:
        if hook in exports.values:
            raise CortexError("skill_error", f"{hook} of {name} is no function", hint="make it one, or leave it out")
    return exports.functions & frozenset(HOOKS)


def _as_ours(skill: str, operation: str, error: SandboxError) -> CortexError:
    """A failure of a skill's code, with its place."""
    ours = from_floor(error)
    place = f" at {error.file}:{error.line}:{error.column}" if error.frames else ""
    hints = {
        "skill_timeout": "make it do less, or raise skillSandbox.executionTimeoutMs",
        "skill_memory": "make it keep less, or raise skillSandbox.memoryLimitBytes",
    }
    code = ours.code if ours is not None else "skill_error"
    return CortexError(
        code,
        one_line(f"{operation} of {skill} failed{place}: {error}"),
        hint=hints.get(code, ""),
        details={**error.details, "operation": operation, "skill": skill},
    )
