"""A recorded terminal session: what it is in a file, and what a terminal shows of it.

Rules kept here:
- the file is an asciicast of version 2 (https://docs.asciinema.org/manual/asciicast/v2/), which every player reads: a
  header, then a line for each event, `[seconds, kind, data]`; kind "o" is output, "m" is where a part begins;
- nothing of the machine is in the header: no time of day, no variables but the kind of terminal;
- what a part shows is what a terminal emulator says that its screen shows, so that lines that were drawn and taken
  back, as those of a progress bar, are not in it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field

import pyte

ROWS, COLUMNS = 40, 120
_MAX_LINES = 500


@dataclass(frozen=True)
class Event:
    """Something that happened, and when: in seconds from the beginning."""

    at: float
    kind: str
    data: str


@dataclass(frozen=True)
class Part:
    """A part of a session: its label, and all that was written to the terminal in it."""

    label: str
    output: str


@dataclass
class Cast:
    """A session."""

    title: str
    events: list[Event] = field(default_factory=list)

    def to_text(self) -> str:
        """The file."""
        header = {
            "version": 2,
            "width": COLUMNS,
            "height": ROWS,
            "title": self.title,
            "env": {"TERM": "xterm-256color", "SHELL": "/bin/bash"},
        }
        events = ([round(event.at, 3), event.kind, event.data] for event in self.events)
        return "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in (header, *events))

    @classmethod
    def from_text(cls, text: str) -> Cast:
        """A session from its file."""
        header, *events = map(json.loads, text.splitlines())
        return cls(header["title"], [Event(*event) for event in events])

    def parts(self) -> list[Part]:
        """The parts of the session, from marker to marker; what was before the first one is left out."""
        parts: list[Part] = []
        for event in self.events:
            if event.kind == "m":
                parts.append(Part(event.data, ""))
            elif event.kind == "o" and parts:
                parts[-1] = Part(parts[-1].label, parts[-1].output + event.data)
        return parts


def screen_of(output: str) -> pyte.Screen:
    """The screen, high enough for everything, after some output."""
    screen = pyte.Screen(COLUMNS, _MAX_LINES)
    pyte.Stream(screen).feed(output)
    return screen


def shown(output: str) -> list[str]:
    """The lines that a terminal shows after some output; the prompt that waits at the end is none of them."""
    lines = [line.rstrip() for line in screen_of(output).display]
    while lines and lines[-1] in ("", "$"):
        lines.pop()
    return lines
