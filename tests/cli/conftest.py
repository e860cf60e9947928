"""Fixtures: skills in a temporary folder, and the command line run in this process."""

import json
import textwrap
from pathlib import Path

import pytest
from click.testing import CliRunner

from cortex_skills.doors.cli.app import program
from tests.time_limits import long_limits

__all__ = ["long_limits"]

MANIFEST = """\
---
name: {name}
description: Greets {name}.
type: semantic
semantic:
  version: 1
  permissions: {{graph: [read, write]}}
  assertions: [{{predicate: greets}}]
  queries: [{{predicate: greets, scope: namespace}}]
  skillVersion: "1.2.0"
---
# Greet
"""

CODE = """\
export default {{
  name: "{name}",
  onQuery({{ results }}: {{ results: unknown[] }}) {{
    return {{ additionalContext: {{ seen: results.length }} }};
  }},
}};
"""


class Answer:
    """The exit code and the output of a command."""

    def __init__(self, result):
        self.exit_code, self.stdout, self.stderr = result.exit_code, result.stdout, result.stderr

    @property
    def json(self):
        """The JSON document on standard output."""
        return json.loads(self.stdout)

    @property
    def error(self):
        """The error on standard error, with --json."""
        return json.loads(self.stderr.splitlines()[-1])


@pytest.fixture
def write_skill(tmp_path):
    """A function that writes a skill into a folder of skills; a text of None omits the file."""

    def write(name="greeter", manifest=MANIFEST, code=CODE, **files) -> Path:
        folder = tmp_path / "skills" / name
        folder.mkdir(parents=True)
        for file, text in {"SKILL.md": manifest, "skill.ts": code, **files}.items():
            if text is not None:
                formatted = text.format(name=name) if text in (MANIFEST, CODE) else textwrap.dedent(text)
                (folder / file).write_text(formatted, encoding="utf-8")
        return folder

    return write


@pytest.fixture
def skill(write_skill):
    """The folder of a skill."""
    return write_skill()


@pytest.fixture
def store(tmp_path):
    """The folder of the store that commands use."""
    folder = tmp_path / "store"
    folder.mkdir()
    return folder


@pytest.fixture
def run(store):
    """A function that runs a command in this process with a store on disk."""

    def invoke(*words, stdin=None, env=None) -> Answer:
        variables = {"CORTEX_STORE": str(store)} | (env or {})
        return Answer(CliRunner().invoke(program, [str(word) for word in words], input=stdin, env=variables))

    return invoke
