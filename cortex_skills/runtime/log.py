"""The log of a skill, written to the host's log.

Rules kept here:
- every line begins with `[skill:NAME]`; a text of several lines becomes several records, so that none can imitate a
  line of the host's; invisible characters and terminal control codes are escaped;
- the number of lines per minute is limited; one last line reports how many were dropped.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from contextvars import ContextVar

from cortex_sandbox import LogLine
from cortex_skills.safe_io.display import one_line

log = logging.getLogger(__name__)

# Receives the lines that skills log during the call of this context: level, skill, line.
LISTENER: ContextVar[Callable[[int, str, str], None] | None] = ContextVar("LISTENER", default=None)

_LINES_PER_MINUTE = 600
_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}


class SkillLog:
    """The log of one skill; one thread at a time."""

    def __init__(self, skill: str) -> None:
        self._skill = skill
        self._left = float(_LINES_PER_MINUTE)
        self._at = time.monotonic()

    def write(self, level: int, text: str) -> None:
        """Write a line of the host about the skill."""
        line = one_line(text)
        log.log(level, "[skill:%s] %s", self._skill, line)
        listener = LISTENER.get()
        if listener is not None:
            listener(level, self._skill, line)

    def forward(self, lines: Iterable[LogLine]) -> None:
        """Write the lines that the skill logged, within the limit of this minute."""
        rows = [(line.level, row) for line in lines for row in line.text.splitlines() or [""]]
        now = time.monotonic()
        self._left = min(_LINES_PER_MINUTE, self._left + (now - self._at) * _LINES_PER_MINUTE / 60)
        self._at = now
        room = int(self._left)
        for level, row in rows[:room]:
            self.write(_LEVELS.get(level, logging.INFO), row)
        self._left -= min(room, len(rows))
        if len(rows) > room:
            self.write(logging.WARNING, f"{len(rows) - room} lines beyond the limit of this minute were dropped")
