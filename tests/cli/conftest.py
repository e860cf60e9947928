"""Real skills in a temporary folder, and the command run in this process."""

import json
import textwrap
from pathlib import Path

import pytest
from click.testing import CliRunner

from cortex_skills.cli.app import program
from tests.patience import patient

__all__ = ["patient"]

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
    """How a command ended, and what it wrote."""

    def __init__(self, result):
        self.exit_code, self.stdout, self.stderr = result.exit_code, result.stdout, result.stderr

    @property
    def json(self):
        """The one document on standard output."""
        return json.loads(self.stdout)

    @property
    def error(self):
        """The error on standard error, with --json."""
        return json.loads(self.stderr.splitlines()[-1])


@pytest.fixture
def write_skill(tmp_path):
    """Writes a skill into a folder of skills; None leaves a file out."""

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
    """A skill's folder."""
    return write_skill()


@pytest.fixture
def store(tmp_path):
    """The folder of the store that commands use."""
    folder = tmp_path / "store"
    folder.mkdir()
    return folder


@pytest.fixture
def run(store):
    """Runs the command in this process, on a store on the disk."""

    def invoke(*words, stdin=None, env=None) -> Answer:
        variables = {"CORTEX_STORE": str(store)} | (env or {})
        return Answer(CliRunner().invoke(program, [str(word) for word in words], input=stdin, env=variables))

    return invoke
