"""Hooks of the host application: callables that run when an agent starts, around each call, and at the end.

    remove = plugin.on("before_tool_call", lambda call: print(call.skill, call.tool))
    remove()

| hook | argument | when |
|---|---|---|
| `before_agent_start` | `AgentStart` | the context is requested, before it is built |
| `before_tool_call` | `ToolCall` | arguments, allow-lists and permissions were checked; no rate or budget is used yet |
| `after_tool_call` | `ToolEnd` | the audit record of a call was written, successful or not |
| `approval_resolved` | `ApprovalRecord` | a request of this process was rejected, expired, or its action ended |
| `session_end` | `SessionEnd` | the plugin is being closed, while its skills and its store still work; once |

Rules kept here:
- hooks run one after the other, in the order in which they were added, on the thread of the call; those of
  `approval_resolved` on a thread that watches requests;
- a hook of `before_tool_call` refuses a call by raising `CortexError`: nothing is used, and later hooks do not run;
- any other exception of a hook is logged, and the call continues. A hook that must refuse even when it is broken has to
  catch its own exceptions and raise `CortexError`;
- a hook receives a copy of the arguments: the validated ones are used for the call;
- a call that a hook makes on its own thread runs no hooks.
"""

from __future__ import annotations

import copy
import inspect
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from cortex_skills.audit.call_records import AuditRecord
from cortex_skills.errors import CortexError
from cortex_skills.gate.result import Result
from cortex_skills.safe_io.schemas import did_you_mean

log = logging.getLogger(__name__)

EventName = Literal["before_agent_start", "before_tool_call", "after_tool_call", "approval_resolved", "session_end"]
Hook = Callable[[Any], object]

# Whether this thread is inside a hook. Not a context variable: a task that a hook starts would inherit it.
_thread = threading.local()


@dataclass(frozen=True, slots=True)
class AgentStart:
    """An agent requests the context of the active skills."""

    agent: str
    session: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that the manifests permit; `arguments` is a copy of the validated ones."""

    tool: str
    arguments: dict[str, Any]
    skill: str
    agent: str
    session: str


@dataclass(frozen=True, slots=True)
class ToolEnd:
    """A call that has ended; `result` is read-only, and None for a tool of the host's own."""

    record: AuditRecord
    session: str
    result: Result | None = None


@dataclass(frozen=True, slots=True)
class SessionEnd:
    """The session is about to end."""

    agent: str
    session: str


class Hooks:
    """The hooks of one host application. Safe to use from several threads."""

    def __init__(self) -> None:
        self._hooks: dict[str, tuple[Hook, ...]] = dict.fromkeys(get_args(EventName), ())
        self._changing = threading.Lock()

    def on(self, event: EventName, hook: Hook) -> Callable[[], None]:
        """Add a hook; see `Plugin.on`."""
        if not isinstance(event, str) or event not in self._hooks:
            near = did_you_mean(event, self._hooks) if isinstance(event, str) else ""
            hint = near or f"one of {', '.join(self._hooks)}"
            raise CortexError("invalid_arguments", "there is no such event", hint=hint)
        if not callable(hook) or _is_async(hook):
            hint = "pass a plain function of one argument; an async one would never be awaited"
            raise CortexError("invalid_arguments", f"the hook of {event} must be a plain callable", hint=hint)

        def entry(argument: Any) -> object:  # one for each `on`, because the same hook may be added twice
            return hook(argument)

        with self._changing:
            self._hooks[event] = (*self._hooks[event], entry)

        def remove() -> None:
            with self._changing:
                self._hooks[event] = tuple(other for other in self._hooks[event] if other is not entry)

        return remove

    def has(self, event: EventName) -> bool:
        """Whether a hook of this event would run on this thread."""
        return bool(self._of(event))

    def notify(self, event: EventName, argument: object) -> None:
        """Run the hooks of an event other than `before_tool_call`; those of `session_end` the first time only."""
        with self._changing:
            hooks = self._of(event)
            if event == "session_end":
                self._hooks[event] = ()
        for hook in hooks:
            try:
                with _in_hook():
                    hook(argument)
            except Exception:
                log.exception("a hook of %s failed", event)

    def before_tool_call(self, call: ToolCall) -> None:
        """Run the hooks of `before_tool_call`.

        Raises:
            CortexError: the refusal that a hook raised.
        """
        for hook in self._of("before_tool_call"):
            own = replace(call, arguments=copy.deepcopy(call.arguments))  # a call that cannot be copied is refused
            try:
                with _in_hook():
                    hook(own)
            except CortexError:
                raise
            except Exception:
                log.exception("a hook of before_tool_call failed; the call continues")

    def _of(self, event: EventName) -> tuple[Hook, ...]:
        hooks = self._hooks[event]
        return () if hooks and getattr(_thread, "inside", False) else hooks


@contextmanager
def _in_hook() -> Iterator[None]:
    _thread.inside = True
    try:
        yield
    finally:
        _thread.inside = False


def _is_async(hook: object) -> bool:
    return inspect.iscoroutinefunction(hook) or inspect.iscoroutinefunction(getattr(hook, "__call__", None))  # noqa: B004
