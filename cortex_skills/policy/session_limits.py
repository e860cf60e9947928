"""`SessionLimits`: the budgets and the rate window of each session of a plugin.

Rules kept here:
- a session has budgets and a rate window that no other session uses up; the plugin's own is one of them;
- they are kept by the session's key, outside the skills, so that they survive a reload;
- a built-in skill, the memory of an agent, has no budget that a session uses up, and another rate; settings that the
  owner gave hold for it too;
- at most `most` sessions are kept beside the plugin's own; the one that has not been used for the longest time is
  forgotten for another, and begins again if it returns.

>>> limits = AllLimits(SkillSandbox(max_assertions=1))
>>> with limits.of("a client").budgets.assertion("notebook"):
...     limits.of("another client").budgets.assertions_used("notebook")
0
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Collection
from dataclasses import replace
from threading import Lock
from typing import Any

from cortex_skills.config.core_settings import SkillSandbox
from cortex_skills.policy.budgets import Budgets, RateWindow

MAX_SESSIONS = 1024
_RATE = "skillSandbox.maxCallsPerMinute"
_BUILTIN = {"max_calls_per_minute": 600, "max_graph_queries": math.inf, "max_assertions": math.inf}
_ALL = frozenset(_BUILTIN)


class SessionLimits:
    """The limits of one session.

    Attributes:
        budgets: of the session.
        rate: the sliding minute of the session.
        builtin: the limits of the built-in skills in this session.
    """

    __slots__ = ("budgets", "builtin", "rate")

    def __init__(self, settings: SkillSandbox, given: Collection[str] = ()) -> None:
        self.rate = RateWindow(settings.max_calls_per_minute, setting=_RATE)
        self.budgets = Budgets(
            max_graph_queries=settings.max_graph_queries,
            max_assertions=settings.max_assertions,
            max_writes=settings.max_writes,
        )
        self.builtin = self
        builtin = _of_builtin(settings, given)
        if builtin != settings:
            self.builtin = SessionLimits(builtin, _ALL)

    def of_skill(self, *, is_builtin: bool) -> SessionLimits:
        """The limits of a skill."""
        return self.builtin if is_builtin else self


def _of_builtin(settings: SkillSandbox, given: Collection[str]) -> SkillSandbox:
    """The settings for built-in skills: those that the owner gave, and others than the defaults of skills."""
    own: dict[str, Any] = {name: value for name, value in _BUILTIN.items() if name not in given}
    return replace(settings, **own)


class AllLimits:
    """The limits of all sessions of one plugin. Safe to use from several threads.

    Args:
        settings: the limits of every session.
        most: how many sessions are kept.
        given: the names of the settings that the owner gave; by default all.

    Attributes:
        own: those of the plugin's own session.
    """

    def __init__(self, settings: SkillSandbox, most: int = MAX_SESSIONS, given: Collection[str] = _ALL) -> None:
        self._settings = settings
        self._given = given
        self._most = most
        self.own = SessionLimits(settings, given)
        self._by_key: OrderedDict[str, SessionLimits] = OrderedDict()
        self._lock = Lock()

    def of(self, session: str | None) -> SessionLimits:
        """The limits of a session, by its key; None is the plugin's own."""
        if session is None:
            return self.own
        with self._lock:
            found = self._by_key.get(session)
            if found is None:
                found = self._by_key[session] = SessionLimits(self._settings, self._given)
                if len(self._by_key) > self._most:
                    self._by_key.popitem(last=False)
            else:
                self._by_key.move_to_end(session)
            return found
