"""The page and the picture of the recorded session.

Rules kept here:
- both are made from the recording and the texts of its steps (`story.STEPS`);
- the picture loads nothing remote: no font, no script.
"""

from __future__ import annotations

import io
import re
from itertools import groupby

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.color import ANSI_COLOR_NAMES
from rich.console import Console
from rich.style import Style
from rich.text import Text

from tests.docs.session.cast import COLUMNS, Cast, Part, screen_of, shown
from tests.docs.session.story import PICTURED, STEPS, TITLE, Save, Step

_INTRODUCTION = """\
# {title}

A recorded terminal session: `make record` types these commands into a shell, saves these files, and records the output.
[session.cast](session.cast) is the recording (`asciinema play docs/session.cast`); a test replays the session and
compares the output. [Writing a skill](skills.md) describes the commands.
"""
_NAMES = {"brown": "yellow", "default": None}


def page(cast: Cast) -> str:
    """The page, in Markdown."""
    parts = zip(STEPS, cast.parts(), strict=True)
    return "\n".join([_INTRODUCTION.format(title=TITLE), *(_section(step, part) for step, part in parts)])


def picture(cast: Cast) -> str:
    """The parts `PICTURED` of the session, as an SVG."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    for part in cast.parts()[PICTURED]:
        for line in _styled(part):
            console.print(line, soft_wrap=True)
    template = re.sub(r"@font-face \{\{.*?\n    \}\}\n", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
    drawn = console.export_svg(title="cortex-skills dev stock-watch", code_format=template, unique_id="session")
    return "".join(f"{line.rstrip()}\n" for line in drawn.splitlines())


def _section(step: Step, part: Part) -> str:
    lines = shown(part.output)
    if isinstance(step, Save):
        change = "".join(f"{sign}{text}" for sign, text in (("-", step.before), ("+", step.after)))
        return f"{step.why}\n\n```diff\n--- {step.file}\n{change}```\n\n{_block(lines)}"
    return f"{step.why}\n\n{_block([f'$ {lines[0]}', *lines[1:]] if part.label.startswith('$') else lines)}"


def _block(lines: list[str]) -> str:
    return "```console\n" + "".join(f"{line}\n" for line in lines) + "```\n"


def _styled(part: Part) -> list[Text]:
    """The lines that a terminal shows, with colours."""
    screen = screen_of(part.output)
    lines = []
    for row in range(len(shown(part.output))):
        cells = (screen.buffer[row][column] for column in range(COLUMNS))
        runs = groupby(cells, key=lambda cell: Style(color=_colour(cell.fg), bold=cell.bold))
        line = Text.assemble(*(("".join(cell.data for cell in run), style) for style, run in runs))
        line.rstrip()
        lines.append(line)
    return lines


def _colour(name: str) -> str | None:
    """The name in rich of a colour of the emulator."""
    name = name.replace("bright", "bright_")
    known = _NAMES.get(name, name)
    return known if known is None or known in ANSI_COLOR_NAMES else f"#{known}"
