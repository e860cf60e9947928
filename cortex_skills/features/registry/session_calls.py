"""The calls of the sessions of one plugin, from which a skill can be learned, and the runs of earlier sessions.

Rules kept here:
- calls are kept only where learning is on. A call is kept with its tool, its outcome and its arguments, redacted
  (`safe_io.redaction`) and without the values of the owner's secrets, and no result;
- calls of the registry's tools are no steps of a task, and are not kept;
- a run has an id of its session that opens nothing: the key of a client's session, which may be the token's, is hashed;
- at most `MAX_CALLS` calls of an agent in a session and `MAX_RUNS` of these are kept, in memory. Later calls of a long
  session are counted, and the run of the session that began first is forgotten for another;
- a run is learned once. It has at least so many successful calls as the configuration requires (`learning.minCalls`),
  of two different tools at least;
- a skill that was loaded counts one failure when a tool that its steps name is refused or fails for the same agent in
  the same session, and is not followed further; it counts one success when the session ends and each of these tools
  succeeded. A cancelled call is no outcome, and a skill whose steps name no tool has none;
- recording an outcome never fails the call that caused it; at most `_MOST` agents of sessions are followed;
- runs that no skill was learned from when their session ended are kept for a person who names them later. They are
  private files of the user (`safe_io.private_files`), and not in the graph, since even redacted arguments may be
  private: `learning.runs`, by default a folder in the user's data folder;
- the newest `MAX_KEPT` of a namespace of a store are kept; a store in memory keeps none;
- a file that cannot be read is skipped with a warning;
- where learning is on, a session that ended without a loaded skill with steps is counted by its tools
  (`records/standing.py`), and its run is kept if it could be learned and was not; a store or a folder that cannot be
  written to is a warning: ending a session does not fail.
"""

from __future__ import annotations

import json
import logging
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any

from cortex_graph import GraphError
from cortex_graph.checks.datetimes import date_time
from cortex_skills.config.settings import Config
from cortex_skills.errors import CortexError
from cortex_skills.features.registry.records.reading import RegistryReader
from cortex_skills.features.registry.records.skill_record import LearnedIn, SkillKey
from cortex_skills.features.registry.records.standing import count_session
from cortex_skills.features.registry.registry_settings import LearningSettings
from cortex_skills.safe_io.display import whole_characters
from cortex_skills.safe_io.private_files import NotPrivateError, read_private, write_private
from cortex_skills.safe_io.redaction import redacted
from cortex_skills.safe_io.strict_json import read_json
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
        user: who that is as the interface knows them; the agent when empty.
        calls: in their order.
        more: how many followed that are not kept.
        loaded: whether a skill with steps was loaded in the session.
        is_learned: whether a skill was learned from it.
    """

    session: str
    session_id: str
    agent: str
    user: str = ""
    calls: list[SessionCall] = field(default_factory=list)
    more: int = 0
    loaded: bool = False
    is_learned: bool = False


def _limited(arguments: Any) -> Any:
    """Arguments, or a note that they are too long to keep."""
    length = len(json.dumps(arguments))
    return arguments if length <= MAX_ARGUMENTS else {"…": f"{length} characters are not kept"}


class SessionCalls:
    """The runs of the open sessions. Safe to use from several threads.

    Args:
        id_of: the id of a session by its key.
    """

    def __init__(self, id_of: Callable[[str], str]) -> None:
        self._id_of = id_of
        self._runs: dict[tuple[str, str], SessionRun] = {}
        self._lock = Lock()

    def after_call(self, session: str, agent: str, tool: str, arguments: Any, outcome: str, user: str = "") -> None:
        """Keep a call that has ended; the user is the agent as the interface knows it."""
        call = SessionCall(tool, _limited(redacted(without_secrets(arguments))), outcome)
        with self._lock:
            run = self._run(session, agent)
            run.user = user or run.user
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
            self._runs[key] = SessionRun(session, self._id_of(session), agent)
        return self._runs[key]


_MOST = 1024
_MOST_SKILLS = 64  # of one agent of a session
_NO_OUTCOME = frozenset({"cancelled"})

Record = Callable[["SkillKey", str, bool, str, str, str], object]
"""Records an outcome: the skill, the id of the version that was loaded, the success, the agent, who that is as the
interface knows it, a note."""


@dataclass(slots=True)
class _Loaded:
    version_id: str
    user: str
    tools: frozenset[str]
    pending: set[str]


class LoadedSkills:
    """The loaded skills of the sessions of one plugin. Safe to use from several threads.

    Args:
        record: records an outcome.
    """

    def __init__(self, record: Record) -> None:
        self._record = record
        self._loaded: dict[tuple[str, str], dict[SkillKey, _Loaded]] = {}
        self._lock = Lock()

    def load(
        self, session: str, agent: str, key: SkillKey, version_id: str, tools: Iterable[str], *, user: str
    ) -> None:
        """Follow a skill that an agent loaded.

        Args:
            session: the key of the session; empty for the plugin's own.
            agent: who loaded it.
            key: the skill.
            version_id: the version that was loaded.
            tools: those that its steps name.
            user: who loaded it, as the interface knows them.
        """
        named = frozenset(tools)
        if not named:
            return
        with self._lock:
            if (session, agent) not in self._loaded and len(self._loaded) >= _MOST:
                del self._loaded[next(iter(self._loaded))]
            skills = self._loaded.setdefault((session, agent), {})
            if key not in skills and len(skills) >= _MOST_SKILLS:
                del skills[next(iter(skills))]
            if key not in skills or skills[key].version_id != version_id:
                skills[key] = _Loaded(version_id, user, named, set(named))

    def after_call(self, session: str, tool: str, outcome: str, agent: str) -> None:
        """Note how a call ended.

        Args:
            session: the key of the session.
            tool: the tool that was called.
            outcome: `ok`, or the code of the error.
            agent: on whose behalf.
        """
        if not self._loaded or outcome in _NO_OUTCOME:
            return
        failed = []
        with self._lock:
            skills = self._loaded.get((session, agent), {})
            for key, loaded in list(skills.items()):
                if tool not in loaded.tools:
                    continue
                if outcome == "ok":
                    loaded.pending.discard(tool)
                else:
                    failed.append((key, loaded))
                    del skills[key]
        for key, loaded in failed:
            self._note(key, loaded, False, agent, f"{tool}: {outcome}")

    def end(self, session: str | None = None) -> None:
        """End a session, or all of them: the skills whose tools all succeeded have a success."""
        with self._lock:
            keys = [key for key in self._loaded if session in (None, key[0])]
            ended = {key: self._loaded.pop(key) for key in keys}
        for (_, agent), skills in ended.items():
            for key, loaded in skills.items():
                if not loaded.pending:
                    self._note(key, loaded, True, agent, "all tools of its steps succeeded")

    def _note(self, key: SkillKey, loaded: _Loaded, success: bool, agent: str, note: str) -> None:
        try:
            self._record(key, loaded.version_id, success, agent, loaded.user, note)
        except (CortexError, GraphError) as error:
            log.warning("the outcome of %s is not recorded: %s", key, error)


log = logging.getLogger(__name__)

MAX_KEPT = 20
_MAX_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class KeptRun:
    """A run that can be learned: its id, when it ended (RFC 3339), the agent, its calls, and the id of its session."""

    id: str
    time: str
    agent: str
    calls: tuple[SessionCall, ...]
    session: str = ""

    @property
    def learned_in(self) -> LearnedIn | None:
        """The session, for what is learned from the run; None where it is not known."""
        if not self.session:
            return None
        return LearnedIn(self.session, whole_characters(self.agent), datetime.fromisoformat(self.time))

    def to_json(self) -> dict[str, Any]:
        """The run as a JSON object."""
        calls = [call.to_json() for call in self.calls]
        return {"id": self.id, "time": self.time, "agent": self.agent, "session": self.session, "calls": calls}


class KeptRuns:
    """The kept runs of one namespace of a store.

    Args:
        folder: of the files.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @classmethod
    def of(cls, config: Config, namespace: str) -> KeptRuns | None:
        """The kept runs of a plugin; None for a store in memory."""
        if config.store == "memory:":
            return None
        from platformdirs import user_data_path

        root = Path(config.section(LearningSettings).runs or user_data_path("cortex-skills", appauthor=False) / "runs")
        place = config.store_folder
        store = config.store_name if place is None else str(place.resolve())
        return cls(root / sha256(f"{store}\n{namespace}".encode()).hexdigest()[:32])

    def keep(self, run: SessionRun) -> str:
        """Keep a run; the oldest one beyond `MAX_KEPT` is removed.

        Raises:
            OSError: the file cannot be written.
        """
        now = datetime.now(UTC)
        kept = KeptRun(uuid.uuid4().hex[:12], date_time(now), run.agent, tuple(run.calls), run.session_id)
        name = f"{now:%Y%m%dT%H%M%S%f}-{kept.id}.json"
        write_private(self._folder / name, json.dumps(kept.to_json()).encode())
        for old in self._files()[:-MAX_KEPT]:
            old.unlink(missing_ok=True)
        return kept.id

    def all(self) -> list[KeptRun]:
        """The kept runs, the newest first."""
        found = (self._read(path) for path in reversed(self._files()))
        return [run for run in found if run is not None]

    def remove(self, run_id: str) -> None:
        """Remove a run."""
        for path in self._files():
            if path.stem.endswith(f"-{run_id}"):
                path.unlink(missing_ok=True)

    def _files(self) -> list[Path]:
        return sorted(self._folder.glob("*.json")) if self._folder.is_dir() else []

    def _read(self, path: Path) -> KeptRun | None:
        try:
            given = read_json(read_private(path, _MAX_BYTES))
            calls = tuple(SessionCall(str(c["tool"]), c["arguments"], str(c["outcome"])) for c in given["calls"])
            datetime.fromisoformat(given["time"])
            return KeptRun(str(given["id"]), given["time"], str(given["agent"]), calls, str(given.get("session", "")))
        except (OSError, NotPrivateError, ValueError, LookupError, TypeError) as error:
            log.warning("a kept run is skipped: %s: %s", path.name, error)
            return None


def settle_runs(
    config: Config, registry: Callable[[], RegistryReader], runs: Iterable[SessionRun], namespace: str
) -> list[tuple[SessionRun, str]]:
    """Count the runs of sessions that have ended, and keep those that can be learned.

    Returns:
        The runs that can be learned, with the ids that they are kept under; empty for one that is not kept.

    Args:
        config: the settings of the plugin.
        registry: opens the registry, if there is a run.
        runs: with the calls.
        namespace: of the plugin.
    """
    found = []
    for run in runs:
        if run.loaded or not run.calls:
            continue
        failed = {call.tool for call in run.calls if call.outcome != "ok"}
        ok = {call.tool for call in run.calls if call.outcome == "ok"}
        try:
            count_session(registry(), ok, failed, actor=run.agent)
        except (CortexError, GraphError) as error:
            log.warning("a session is not counted: %s", error)
        if run.is_learned:
            continue
        try:
            successful_calls(run.calls, config.section(LearningSettings).min_calls)
        except CortexError:
            continue  # there is nothing to learn
        try:
            kept = KeptRuns.of(config, namespace)
            found.append((run, "" if kept is None else kept.keep(run)))
        except OSError as error:
            found.append((run, ""))
            log.warning("a run is not kept: %s", error)
    return found


MIN_TOOLS = 2


def successful_calls(calls: Sequence[SessionCall], min_calls: int) -> list[SessionCall]:
    """The successful calls of a run that can be learned.

    Raises:
        CortexError: `invalid_arguments`: there are too few.
    """
    found = [call for call in calls if call.outcome == "ok"]
    tools = {call.tool for call in found}
    if len(found) < min_calls or len(tools) < MIN_TOOLS:
        message = (
            f"{len(found)} successful calls of {len(tools)} different tools are too few: a skill is learned from at "
            f"least {min_calls} calls of at least {MIN_TOOLS} tools"
        )
        raise CortexError("invalid_arguments", message, hint="do the task first; calls of the registry do not count")
    return found
