"""The steps of the recorded session: a new skill up to its first answer, with a syntax error that is then corrected.

Rules kept here:
- every step is real: commands and keys are typed into a shell on a terminal, and files are saved as an editor does, by
  renaming a new file;
- a step ends when the terminal shows the expected output, never after a fixed time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tests.docs.session.cast import Cast
from tests.docs.session.shell import Shell

TITLE = "A new skill up to its first answer"
CODE, TEST = "stock-watch/skill.ts", "stock-watch/skill.test.ts"


@dataclass(frozen=True)
class Run:
    """A typed command. The step ends with the output `shows`, or else with the next prompt."""

    why: str
    command: str
    shows: str | None = None

    @property
    def label(self) -> str:
        """The label of the part."""
        return f"$ {self.command}"

    def do(self, shell: Shell) -> None:
        """Type the command and wait."""
        shell.type(f"{self.command}\n")
        if self.shows is None:
            shell.until_prompt()
        else:
            shell.until(re.compile(self.shows, re.DOTALL))


@dataclass(frozen=True)
class Save:
    """A file saved in an editor."""

    why: str
    file: str
    before: str
    after: str
    shows: str

    @property
    def label(self) -> str:
        """The label of the part."""
        return f"save {self.file}"

    def do(self, shell: Shell) -> None:
        """Save the file and wait."""
        save(shell.folder / self.file, self.before, self.after)
        shell.until(re.compile(self.shows, re.DOTALL))


@dataclass(frozen=True)
class Stop:
    """Ctrl-C, which ends the running command."""

    why: str
    label: str = "Ctrl-C"

    def do(self, shell: Shell) -> None:
        """Type Ctrl-C and wait for the prompt."""
        shell.type("\x03")
        shell.until_prompt()


Step = Run | Save | Stop

_PLAIN = "    return { additionalContext: { counts } };\n"
_ERROR = "    return { additionalContext: { counts, things: results.length } ;\n"
_RIGHT = "    return { additionalContext: { counts, things: results.length } };\n"
_OLD_EXPECTED = "  t.equal(answer.said, { counts: { good: 2, bad: 1 } });\n"
_NEW_EXPECTED = "  t.equal(answer.said, { counts: { good: 2, bad: 1 }, things: 3 });\n"

STEPS: tuple[Step, ...] = (
    Run("`init` writes a working skill with tests:", "cortex-skills init stock-watch --reads inStock --writes reorder"),
    Run(
        "`dev` watches the folder; on each save it loads the skill, runs the query and the tests:",
        "cortex-skills dev stock-watch --data stock-watch/skill.test.ttl --query inStock --test",
        shows=r"stock-watch: 3 passed .*\n",
    ),
    Save("Add the number of things to the answer, with a syntax error:", CODE, _PLAIN, _ERROR, r"keeps answering\n"),
    Save("Correct it: the new version answers at once, and one test fails:", CODE, _ERROR, _RIGHT, r"1 failed .*\n"),
    Save("Update the test:", TEST, _OLD_EXPECTED, _NEW_EXPECTED, r"stock-watch: 3 passed .*\n"),
    Stop("Stop `dev`:"),
    Run("Run the tests once, as a build does:", "cortex-skills test stock-watch"),
    Run("Import data into a store:", "cortex-skills graph import stock-watch/skill.test.ttl --store ./warehouse"),
    Run("Sign the skill, since a host loads signed skills only:", "cortex-skills sign stock-watch"),
    Run(
        "Query the store through the skill:",
        "cortex-skills query --skills stock-watch --store ./warehouse --predicate inStock --scope namespace",
    ),
)  # fmt: skip

# The steps that the picture shows: the syntax error and its correction.
PICTURED = slice(2, 4)


def save(path: Path, before: str, after: str) -> None:
    """Replace one occurrence in a file atomically.

    Raises:
        ValueError: `before` does not occur exactly once.

    """
    text = path.read_text(encoding="utf-8")
    if text.count(before) != 1:
        raise ValueError(f"{path.name} does not hold {before!r} exactly once")
    new = path.with_name(f".{path.name}.new")
    new.write_text(text.replace(before, after), encoding="utf-8")
    new.replace(path)


def played(folder: Path, *, key_s: float = 0.0, reading_s: float = 0.0) -> Cast:
    """Run all steps and return the recording.

    Args:
        folder: an empty folder.
        key_s: pause after each key, in seconds.
        reading_s: pause after each step, in seconds.

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
