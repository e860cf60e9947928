"""`SkillRuntime`: the bridge to one sandboxed skill, through the hooks that it exports.

Rules kept here:
- a hook costs its caller the time that it was given and nothing else: whatever it throws, returns or never finishes,
  the caller gets an answer;
- a sandbox that was stopped is thrown away; the next call makes a new one and activates it within its own time. A skill
  that is stopped three times in a row is left alone until it is reloaded, and says so in `fault`;
- what the skill logs is passed on with its name, so many lines a minute and no more.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from cortex_sandbox import Exports, Limits, Sandbox, SandboxError
from cortex_skills.bridge import log, log_lines
from cortex_skills.errors import CortexError, from_floor

HOOKS = ("onActivate", "onDeactivate", "onQuery", "onError")
_MAX_STOPS = 3
_MAX_LINES_PER_MINUTE = 600
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
        source: the bundled module (with its source map, where it has one).
        limits: for its sandbox.
        functions: what its sandbox offers.
        session: where it runs.

    Raises:
        CortexError: `skill_error`, `skill_timeout` or `skill_memory`: the code does not load, exports something else
            than a skill, or does not activate.

    """

    def __init__(self, name: str, source: str, limits: Limits, functions: Mapping[str, Any], session: Session) -> None:
        self.name = name
        self._source = source
        self._limits = limits
        self._functions = functions
        self._session = session
        self._lock = threading.Lock()
        self._stops = 0
        self._lines_left = float(_MAX_LINES_PER_MINUTE)
        self._lines_at = time.monotonic()
        self._hooks: frozenset[str] = frozenset()
        self.fault: CortexError | None = None
        self._box: Sandbox | None = self._start(limits.timeout_s)

    @property
    def hooks(self) -> frozenset[str]:
        """The hooks that the skill has."""
        return self._hooks

    def query(self, context: Mapping[str, Any], timeout_s: float) -> Any:
        """What `onQuery` says; None when the skill has none. Its results that are the context's are the same objects.

        Raises:
            CortexError: it failed; `onError` has been told.

        """
        if "onQuery" not in self._hooks:
            return None
        if self.fault is not None:
            raise self.fault
        deadline = time.monotonic() + timeout_s
        return self._guarded(
            "onQuery", deadline, lambda box, left: box.call("onQuery", context, timeout_s=left, shared="results")
        )

    def close(self, reason: str) -> None:
        """Tell the skill that it ends (`session_end`, `reload` or `unload`), and give its memory back."""
        with self._lock:
            box, self._box = self._box, None
        if box is None:
            return
        try:
            if box.alive and "onDeactivate" in self._hooks:
                box.call("onDeactivate", {**self._session.to_json(), "reason": reason}, timeout_s=_DEACTIVATE_S)
        except SandboxError as error:
            log.warning("[skill:%s] onDeactivate failed: %s", self.name, error)
        finally:
            self._pass_on_logs(box)
            box.close()

    def _guarded(self, operation: str, deadline: float, work: Callable[[Sandbox, float], Any]) -> Any:
        """Do something in the sandbox; what goes wrong is told to the skill and raised as one of our errors."""
        box: Sandbox | None = None
        try:
            box = self._ready(deadline)
            answer = work(box, _left(deadline))
            self._stops = 0
            return answer
        except SandboxError as error:
            if box is not None and not box.alive:
                self._stopped(box, error)
            elif box is not None:
                self._tell(box, error, operation, deadline)
            raise _as_ours(self.name, operation, error) from error
        finally:
            if box is not None:
                self._pass_on_logs(box)

    def _ready(self, deadline: float) -> Sandbox:
        """The sandbox, or a new one when the last was stopped."""
        with self._lock:
            if self._box is None:
                log.info("[skill:%s] starting anew in a fresh sandbox", self.name)
                try:
                    self._box = self._start(_left(deadline))
                except CortexError as error:
                    self._count_stop(error)
                    raise
            return self._box

    def _stopped(self, box: Sandbox, error: SandboxError) -> None:
        with self._lock:
            if self._box is not box:
                return  # another call saw it first
            self._box = None
            log.warning("[skill:%s] its sandbox was stopped (%s) and thrown away", self.name, error)
            self._count_stop(error)

    def _count_stop(self, error: SandboxError | CortexError) -> None:
        """Count a stop in a row, and leave the skill alone after too many; the lock is held by the caller."""
        self._stops += 1
        if self._stops < _MAX_STOPS or self.fault is not None:
            return
        self.fault = CortexError(
            error.code,
            f"{self.name} was stopped {self._stops} times in a row ({error}) and is left alone now",
            hint="mend its code and reload it; queries are answered without it until then",
        )
        log.error("[skill:%s] %s", self.name, self.fault)

    def _tell(self, box: Sandbox, error: SandboxError, operation: str, deadline: float) -> None:
        """Tell `onError`; what that does is nobody's problem but its own."""
        left = min(_ERROR_HOOK_S, deadline - time.monotonic())
        if "onError" not in self._hooks or left <= 0:
            return
        told = {"error": {"name": error.name, "message": error.message}, "operation": operation}
        try:
            box.call("onError", {**self._session.to_json(), **told}, timeout_s=left)
        except SandboxError as second:
            log.warning("[skill:%s] onError failed: %s", self.name, second)
            if not box.alive:
                self._stopped(box, second)

    def _start(self, timeout_s: float) -> Sandbox:
        """A fresh sandbox with the skill loaded and activated."""
        deadline = time.monotonic() + timeout_s
        box = Sandbox(self._limits, self._functions)
        try:
            exports = box.load_module(self._source, timeout_s=_left(deadline))
            self._hooks = _hooks_of(self.name, exports)
            if "onActivate" in self._hooks:
                box.call("onActivate", self._session.to_json(), timeout_s=_left(deadline))
        except BaseException as error:
            if isinstance(error, SandboxError) and box.alive:
                self._tell(box, error, "onActivate", deadline)
            self._pass_on_logs(box)
            box.close()
            if isinstance(error, SandboxError):
                raise _as_ours(self.name, "onActivate", error) from error
            raise
        return box

    def _pass_on_logs(self, box: Sandbox) -> None:
        lines = box.take_logs()
        if not lines:
            return
        now = time.monotonic()
        refill = (now - self._lines_at) * _MAX_LINES_PER_MINUTE / 60
        self._lines_left, self._lines_at = min(_MAX_LINES_PER_MINUTE, self._lines_left + refill), now
        room = int(self._lines_left)
        log_lines(self.name, lines[:room])
        self._lines_left -= min(room, len(lines))
        if len(lines) > room:
            log.warning("[skill:%s] %d lines too many this minute were dropped", self.name, len(lines) - room)


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
        f"{operation} of {skill} failed{place}: {error}",
        hint=hints.get(code, ""),
        details={**error.details, "operation": operation, "skill": skill},
    )
