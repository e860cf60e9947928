"""What a host is told while agents work: plain callables, called when an agent starts, around a call, and at the end.

    stop = plugin.on("before_tool_call", lambda call: print(call.skill, call.tool))
    stop()

| event | told | when |
|---|---|---|
| `before_agent_start` | `AgentStart` | somebody asks for the context, before it is answered |
| `before_tool_call` | `ToolCall` | arguments, allow-lists and permissions are right; no rate or budget is used yet |
| `after_tool_call` | `ToolEnd` | a call has left its audit record, whatever its outcome |
| `session_end` | `SessionEnd` | the plugin is closed, while its skills and its store still answer; once |

Rules kept here:
- hooks are called one after the other, in the order in which they came, on the thread of the call;
- a hook of `before_tool_call` refuses a call by raising `CortexError`: nothing was used, later hooks are not asked;
- any other failure of a hook is logged, and what it was told of goes on as if it were not there. A guard that must hold
  though it breaks catches what it raises, and refuses;
- a hook sees arguments as a copy of its own: what was validated is what runs;
- what a hook itself calls, on its thread, is told to no hook.
"""

from __future__ import annotations

import copy
import inspect
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from cortex_skills.errors import CortexError
from cortex_skills.schemas import did_you_mean

if TYPE_CHECKING:
    from cortex_skills.audit import AuditRecord
    from cortex_skills.results import Result

log = logging.getLogger(__name__)

EventName = Literal["before_agent_start", "before_tool_call", "after_tool_call", "session_end"]
Hook = Callable[[Any], object]

# Whether this thread is inside a hook. No context variable: a task that a hook starts would inherit it.
_thread = threading.local()


@dataclass(frozen=True, slots=True)
class AgentStart:
    """An agent is about to be told what the active skills know."""

    agent: str
    session: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that the manifests permit.

    Attributes:
        tool: its name.
        arguments: validated; a copy.
        skill: the acting skill.
        agent: on whose behalf.
        session: of the plugin.

    """

    tool: str
    arguments: dict[str, Any]
    skill: str
    agent: str
    session: str


@dataclass(frozen=True, slots=True)
class ToolEnd:
    """A call that is over.

    Attributes:
        record: what the audit holds of it.
        session: of the plugin.
        result: what the caller is given: to be read; None for a call of a tool of the host's own.

    """

    record: AuditRecord
    session: str
    result: Result | None = None


@dataclass(frozen=True, slots=True)
class SessionEnd:
    """The session is about to end."""

    agent: str
    session: str


class Events:
    """The hooks of one host. Safe to use from several threads."""

    def __init__(self) -> None:
        self._hooks: dict[str, tuple[Hook, ...]] = dict.fromkeys(get_args(EventName), ())
        self._changing = threading.Lock()
        self._ended = False

    def on(self, event: EventName, hook: Hook) -> Callable[[], None]:
        """Have `hook` called at each event of that name.

        Returns:
            What takes it back; again is fine.

        Raises:
            CortexError: `invalid_arguments`: there is no such event, or the hook is none that can be called here.

        """
        if not isinstance(event, str) or event not in self._hooks:
            near = did_you_mean(event, self._hooks) if isinstance(event, str) else ""
            hint = near or f"one of {', '.join(self._hooks)}"
            raise CortexError("invalid_arguments", "there is no such event", hint=hint)
        if not callable(hook) or _is_async(hook):
            hint = "give a plain function of one argument; an async one would never be awaited"
            raise CortexError("invalid_arguments", f"what {event} is told must be a plain callable", hint=hint)

        def entry(told: Any) -> object:  # one for each `on`: the same hook may be there twice
            return hook(told)

        with self._changing:
            self._hooks[event] = (*self._hooks[event], entry)

        def take_back() -> None:
            with self._changing:
                self._hooks[event] = tuple(other for other in self._hooks[event] if other is not entry)

        return take_back

    def are_told(self, event: EventName) -> bool:
        """Whether somebody on this thread would hear of an event."""
        return bool(self._told(event))

    def before_agent_start(self, start: AgentStart) -> None:
        """Tell that an agent starts."""
        self._tell("before_agent_start", start)

    def before_tool_call(self, call: ToolCall) -> None:
        """Ask whether a call may go on.

        Raises:
            CortexError: what a hook refused it with.

        """
        for hook in self._told("before_tool_call"):
            own = replace(call, arguments=copy.deepcopy(call.arguments))  # what cannot be copied is refused
            try:
                with _in_hook():
                    hook(own)
            except CortexError:
                raise
            except Exception:
                log.exception("a hook of before_tool_call failed; the call goes on")

    def after_tool_call(self, end: ToolEnd) -> None:
        """Tell that a call is over."""
        self._tell("after_tool_call", end)

    def session_end(self, end: SessionEnd) -> None:
        """Tell that the session ends; once, however often it is said."""
        with self._changing:
            ended, self._ended = self._ended, True
        if not ended:
            self._tell("session_end", end)

    def _told(self, event: EventName) -> tuple[Hook, ...]:
        return () if getattr(_thread, "inside", False) else self._hooks[event]

    def _tell(self, event: EventName, told: object) -> None:
        for hook in self._told(event):
            try:
                with _in_hook():
                    hook(told)
            except Exception:
                log.exception("a hook of %s failed", event)


@contextmanager
def _in_hook() -> Iterator[None]:
    _thread.inside = True
    try:
        yield
    finally:
        _thread.inside = False


def _is_async(hook: object) -> bool:
    """Whether calling it makes something to be awaited."""
    return inspect.iscoroutinefunction(hook) or inspect.iscoroutinefunction(getattr(hook, "__call__", None))  # noqa: B004
