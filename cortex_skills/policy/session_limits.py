"""`SessionLimits`: the budgets and the rate window of each session of a plugin.

Rules kept here:
- a session has budgets and a rate window that no other session uses up; the plugin's own is one of them;
- they are kept by the session's key, outside the skills, so that they survive a reload;
- at most `most` sessions are kept beside the plugin's own; the one that has not been used for the longest time is
  forgotten for another, and begins again if it returns.

>>> limits = AllLimits(SkillSandbox(max_assertions=1))
>>> with limits.of("a client").budgets.assertion("notebook"):
...     limits.of("another client").budgets.assertions_used("notebook")
0
"""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock

from cortex_skills.config.settings import SkillSandbox
from cortex_skills.policy.budgets import Budgets, RateWindow

MAX_SESSIONS = 1024


class SessionLimits:
    """The limits of one session.

    Attributes:
        budgets: of the session.
        rate: the sliding minute of the session.

    """

    __slots__ = ("budgets", "rate")

    def __init__(self, settings: SkillSandbox) -> None:
        self.rate = RateWindow(settings.max_calls_per_minute)
        self.budgets = Budgets(
            max_graph_queries=settings.max_graph_queries,
            max_assertions=settings.max_assertions,
            max_writes=settings.max_writes,
        )


class AllLimits:
    """The limits of all sessions of one plugin. Safe to use from several threads.

    Args:
        settings: the limits of every session.
        most: how many sessions are kept.

    Attributes:
        own: those of the plugin's own session.

    """

    def __init__(self, settings: SkillSandbox, most: int = MAX_SESSIONS) -> None:
        self._settings = settings
        self._most = most
        self.own = SessionLimits(settings)
        self._by_key: OrderedDict[str, SessionLimits] = OrderedDict()
        self._lock = Lock()

    def of(self, session: str | None) -> SessionLimits:
        """The limits of a session, by its key; None is the plugin's own."""
        if session is None:
            return self.own
        with self._lock:
            found = self._by_key.get(session)
            if found is None:
                found = self._by_key[session] = SessionLimits(self._settings)
                if len(self._by_key) > self._most:
                    self._by_key.popitem(last=False)
            else:
                self._by_key.move_to_end(session)
            return found
