"""The session that the documentation shows: a skill from nothing to its first answer, with a slip on the way.

Rules kept here:
- every step is done for real: commands and keys are typed into a shell on a terminal, files are saved beside it as an
  editor would, by a new file under the old name;
- a step is over when the terminal shows what it waits for, never after a time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tests.docs.session.cast import Cast
from tests.docs.session.shell import Shell

TITLE = "A skill from nothing to its first answer"
CODE, TEST = "stock-watch/skill.ts", "stock-watch/skill.test.ts"


@dataclass(frozen=True)
class Run:
    """A command that is typed. It goes on after `shows`, or ends with a prompt."""

    why: str
    command: str
    shows: str | None = None

    @property
    def label(self) -> str:
        """What the part of the session is called."""
        return f"$ {self.command}"

    def do(self, shell: Shell) -> None:
        """Type it and wait."""
        shell.type(f"{self.command}\n")
        if self.shows is None:
            shell.until_prompt()
        else:
            shell.until(re.compile(self.shows, re.DOTALL))


@dataclass(frozen=True)
class Save:
    """A file that is saved in an editor."""

    why: str
    file: str
    before: str
    after: str
    shows: str

    @property
    def label(self) -> str:
        """What the part of the session is called."""
        return f"save {self.file}"

    def do(self, shell: Shell) -> None:
        """Save it and wait."""
        save(shell.folder / self.file, self.before, self.after)
        shell.until(re.compile(self.shows, re.DOTALL))


@dataclass(frozen=True)
class Stop:
    """Ctrl-C."""

    why: str
    label: str = "Ctrl-C"

    def do(self, shell: Shell) -> None:
        """Type it and wait for the prompt."""
        shell.type("\x03")
        shell.until_prompt()


Step = Run | Save | Stop

_PLAIN = "    return { additionalContext: { counts } };\n"
_SLIP = "    return { additionalContext: { counts, things: results.length } ;\n"
_RIGHT = "    return { additionalContext: { counts, things: results.length } };\n"
_EXPECTED = "  t.equal(answer.said, { counts: { good: 2, bad: 1 } });\n"
_EXPECTS = "  t.equal(answer.said, { counts: { good: 2, bad: 1 }, things: 3 });\n"

STEPS: tuple[Step, ...] = (
    Run("A skill that works as it stands:", "cortex-skills init stock-watch --reads inStock --writes reorder"),
    Run(
        "While you write, `dev` watches, asks and tests:",
        "cortex-skills dev stock-watch --data stock-watch/skill.test.ttl --query inStock --test",
        shows=r"stock-watch: 3 passed .*\n",
    ),
    Save("The skill shall also say how many things there are. A slip:", CODE, _PLAIN, _SLIP, r"answers on\n"),
    Save("Mended: it answers at once, and one test does not agree:", CODE, _SLIP, _RIGHT, r"1 failed .*\n"),
    Save("The test is told what is right now:", TEST, _EXPECTED, _EXPECTS, r"stock-watch: 3 passed .*\n"),
    Stop("Enough:"),
    Run("The tests as a build would run them:", "cortex-skills test stock-watch"),
    Run("Data into a graph that stays:", "cortex-skills graph import stock-watch/skill.test.ttl --store ./warehouse"),
    Run("One's word for the skill, without which no host loads it:", "cortex-skills sign stock-watch"),
    Run(
        "And the question of an agent:",
        "cortex-skills query --skills stock-watch --store ./warehouse --predicate inStock --scope namespace",
    ),
)  # fmt: skip

# The steps that the picture shows: the slip, and that it is mended.
PICTURED = slice(2, 4)


def save(path: Path, before: str, after: str) -> None:
    """Save a file with one place changed, under its old name at once."""
    text = path.read_text(encoding="utf-8")
    if text.count(before) != 1:
        raise ValueError(f"{path.name} has no single place to change: {before!r}")
    new = path.with_name(f".{path.name}.new")
    new.write_text(text.replace(before, after), encoding="utf-8")
    new.replace(path)


def played(folder: Path, *, key_s: float = 0.0, reading_s: float = 0.0) -> Cast:
    """Do all of it, in an empty folder, as fast as is said.

    Args:
        folder: an empty folder.
        key_s: how long a key takes to type, in seconds.
        reading_s: how long whoever types reads what a step shows, in seconds.

    """
    shell = Shell(folder, TITLE, key_s)
    try:
        for step in STEPS:
            shell.begin(step.label)
            step.do(shell)
            shell.rest(reading_s)
    finally:
        shell.close()
    return shell.cast
