"""The skills that agents loaded, and how the calls after that end: outcomes are recorded without being asked for.

Rules kept here:
- a skill that was loaded counts one failure when a tool that its steps name is refused or fails for the same agent in
  the same session, and is not followed further; it counts one success when the session ends and each of these tools
  succeeded;
- a cancelled call is no outcome, and a skill whose steps name no tool has none;
- recording an outcome never fails the call that caused it;
- at most `_MOST` agents of sessions are followed; the first ones are forgotten for others, without an outcome.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

from cortex_graph import GraphError
from cortex_skills.errors import CortexError

if TYPE_CHECKING:
    from cortex_skills.features.registry.skill_record import SkillKey

log = logging.getLogger(__name__)

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
