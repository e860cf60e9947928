"""The calls of the sessions of one plugin, from which a skill can be learned; kept only where learning is on.

Rules kept here:
- a call is kept with its tool, its outcome and its arguments, redacted (`safe_io.redaction`) and without the values of
  the owner's secrets, and no result;
- calls of the registry's tools are no steps of a task, and are not kept;
- a run has an id of its session that opens nothing: the key of a client's session, which may be the token's, is hashed;
- at most `MAX_CALLS` calls of an agent in a session and `MAX_RUNS` of these are kept, in memory. Later calls of a long
  session are counted, and the run of the session that began first is forgotten for another;
- a run is learned once.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from hashlib import sha256
from threading import Lock
from typing import Any

from cortex_skills.safe_io.redaction import redacted
from cortex_skills.secrets import without_secrets

MAX_CALLS = 200
MAX_RUNS = 256
MAX_ARGUMENTS = 8 << 10  # characters of JSON


@dataclass(frozen=True, slots=True)
class SessionCall:
    """One call: `outcome` is `ok`, or the code of the error; `arguments` are redacted JSON."""

    tool: str
    arguments: Any
    outcome: str

    def to_json(self) -> dict[str, Any]:
        """The call as a JSON object."""
        return {"tool": self.tool, "arguments": self.arguments, "outcome": self.outcome}


@dataclass(slots=True)
class SessionRun:
    """The calls of one agent in one session.

    Attributes:
        session: the key of the session; empty for the plugin's own.
        session_id: the id under which what was learned is kept.
        agent: on whose behalf.
        calls: in their order.
        more: how many followed that are not kept.
        loaded: whether a skill with steps was loaded in the session.
        is_learned: whether a skill was learned from it, or a model found that there is none.
    """

    session: str
    session_id: str
    agent: str
    calls: list[SessionCall] = field(default_factory=list)
    more: int = 0
    loaded: bool = False
    is_learned: bool = False


def _limited(arguments: Any) -> Any:
    """Arguments, or a note that they are too long to keep."""
    length = len(json.dumps(arguments))
    return arguments if length <= MAX_ARGUMENTS else {"…": f"{length} characters are not kept"}


def session_id(plugin_session: str, key: str) -> str:
    """The id of a session, which is not its key.

    Args:
        plugin_session: the id of the plugin's own session.
        key: of a client's session; empty for the plugin's own.
    """
    return sha256(f"cortex-session/1\0{plugin_session}\0{key}".encode()).hexdigest()[:32]


class SessionCalls:
    """The runs of the open sessions. Safe to use from several threads.

    Args:
        plugin_session: the id of the plugin's own session.
    """

    def __init__(self, plugin_session: str) -> None:
        self._plugin_session = plugin_session
        self._runs: dict[tuple[str, str], SessionRun] = {}
        self._lock = Lock()

    def after_call(self, session: str, agent: str, tool: str, arguments: Any, outcome: str) -> None:
        """Keep a call that has ended."""
        call = SessionCall(tool, _limited(redacted(without_secrets(arguments))), outcome)
        with self._lock:
            run = self._run(session, agent)
            if len(run.calls) < MAX_CALLS:
                run.calls.append(call)
            else:
                run.more += 1

    def skill_loaded(self, session: str, agent: str) -> None:
        """Note that a skill was loaded whose steps name tools."""
        with self._lock:
            self._run(session, agent).loaded = True

    def of(self, session: str, agent: str) -> SessionRun:
        """The run of an agent in a session."""
        with self._lock:
            return self._run(session, agent)

    def claim(self, run: SessionRun) -> bool:
        """Note that a run is being learned; False if it is or was. One that fails is given back by `give_back`."""
        with self._lock:
            was, run.is_learned = run.is_learned, True
            return not was

    def give_back(self, run: SessionRun) -> None:
        """Note that nothing was learned from a run, so that it can be tried again."""
        with self._lock:
            run.is_learned = False

    def end(self, session: str | None = None) -> list[SessionRun]:
        """Forget the runs of a session, or of all; returns them."""
        with self._lock:
            ended = [key for key in self._runs if session in (None, key[0])]
            return [self._runs.pop(key) for key in ended]

    def _run(self, session: str, agent: str) -> SessionRun:
        key = (session, agent)
        if key not in self._runs:
            if len(self._runs) >= MAX_RUNS:
                del self._runs[next(iter(self._runs))]
            self._runs[key] = SessionRun(session, session_id(self._plugin_session, session), agent)
        return self._runs[key]
