"""A recorded terminal session: its file format, and the text that a terminal shows of it.

Rules kept here:
- the file is an asciicast of version 2 (https://docs.asciinema.org/manual/asciicast/v2/), which every player reads: a
  header, then a line for each event, `[seconds, kind, data]`; kind "o" is output, "m" marks the start of a part;
- the header holds no detail of the machine: no date, no environment variables but the terminal type and the shell;
- the text of a part is the final screen of a terminal emulator, without erased lines such as a progress bar.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field

import pyte

ROWS, COLUMNS = 40, 120
_MAX_LINES = 500


@dataclass(frozen=True)
class Event:
    """An event, in seconds from the start."""

    at: float
    kind: str
    data: str


@dataclass(frozen=True)
class Part:
    """A part of a session: its label, and all its output."""

    label: str
    output: str


@dataclass
class Cast:
    """A recorded session."""

    title: str
    events: list[Event] = field(default_factory=list)

    def to_text(self) -> str:
        """The session as an asciicast."""
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
        """Parse an asciicast."""
        header, *events = map(json.loads, text.splitlines())
        return cls(header["title"], [Event(*event) for event in events])

    def parts(self) -> list[Part]:
        """The parts of the session, from marker to marker, without the output before the first marker."""
        parts: list[Part] = []
        for event in self.events:
            if event.kind == "m":
                parts.append(Part(event.data, ""))
            elif event.kind == "o" and parts:
                parts[-1] = Part(parts[-1].label, parts[-1].output + event.data)
        return parts


def screen_of(output: str) -> pyte.Screen:
    """The screen of a terminal after some output, with rows for all of it."""
    screen = pyte.Screen(COLUMNS, _MAX_LINES)
    pyte.Stream(screen).feed(output)
    return screen


def shown(output: str) -> list[str]:
    """The lines that a terminal shows after some output, without the prompt at the end."""
    lines = [line.rstrip() for line in screen_of(output).display]
    while lines and lines[-1] in ("", "$"):
        lines.pop()
    return lines
