"""What a skill logs, passed on to the host's log.

Rules kept here:
- every line begins with `[skill:NAME]`; a text of several lines becomes as many, so that none of them can pass for a
  line of the host's; what cannot be seen, or would act on a terminal, is escaped;
- so many lines a minute and no more; a last line says how many were dropped.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from contextvars import ContextVar

from cortex_sandbox import LogLine
from cortex_skills.escaping import one_line

log = logging.getLogger(__name__)

# Who listens to what skills log because of the call that this thread is about: level, skill, line.
LISTENER: ContextVar[Callable[[int, str, str], None] | None] = ContextVar("LISTENER", default=None)

_LINES_PER_MINUTE = 600
_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}


class SkillLog:
    """The log of one skill; one thread at a time."""

    def __init__(self, skill: str) -> None:
        self._skill = skill
        self._left = float(_LINES_PER_MINUTE)
        self._at = time.monotonic()

    def tell(self, level: int, text: str) -> None:
        """What the host itself has to say about the skill."""
        line = one_line(text)
        log.log(level, "[skill:%s] %s", self._skill, line)
        listener = LISTENER.get()
        if listener is not None:
            listener(level, self._skill, line)

    def pass_on(self, lines: Iterable[LogLine]) -> None:
        """What the skill logged, as much of it as this minute has room for."""
        rows = [(line.level, row) for line in lines for row in line.text.splitlines() or [""]]
        now = time.monotonic()
        self._left = min(_LINES_PER_MINUTE, self._left + (now - self._at) * _LINES_PER_MINUTE / 60)
        self._at = now
        room = int(self._left)
        for level, row in rows[:room]:
            self.tell(_LEVELS.get(level, logging.INFO), row)
        self._left -= min(room, len(rows))
        if len(rows) > room:
            self.tell(logging.WARNING, f"{len(rows) - room} lines too many this minute were dropped")
