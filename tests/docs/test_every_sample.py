"""Every sample of every page: what can run does, and each command that is shown exists with its options.

A block `sh` or `python` runs in a test; what cannot run, such as what never ends or needs another machine, is a block
`console` or `text`.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from cortex_skills.doors.cli.app import program
from tests.docs.walking import BLOCK, PAGES, PYTHON_PAGES, ROOT, blocks, shell

# By page: the tests that run its blocks.
HERE, PROOFS, FRAMEWORKS = "docs/test_documented_commands.py", "proofs/documented.py", "frameworks/test_recipes.py"
SHELL = {
    "README.md": HERE,
    "docs/approvals.md": HERE,
    "docs/artifacts.md": "docs/test_every_sample.py",
    "docs/direct-mode.md": "docs/test_every_sample.py",
    "docs/graph.md": HERE,
    "docs/how-to/a-memory-that-lasts.md": HERE,
    "docs/how-to/agent-frameworks.md": FRAMEWORKS,
    "docs/how-to/an-agent-on-an-existing-graph.md": HERE,
    "docs/proofs.md": PROOFS,
    "docs/registry.md": HERE,
    "docs/server.md": "server/test_documented.py",
    "docs/signatures.md": "signatures/test_documented.py",
    "docs/tutorials/a-first-skill.md": HERE,
}
PYTHON = {
    **dict.fromkeys(PYTHON_PAGES, HERE),
    "docs/how-to/agent-frameworks.md": FRAMEWORKS,
    "docs/proofs.md": PROOFS,
    "docs/server.md": "server/test_documented.py",
}
_COMMAND = re.compile(r"^(?:\$ +)?(?:\w+=\$\()?(?:echo [^|]*\| *)?(cortex-skills .+)$", re.MULTILINE)


def having(language: str) -> set[str]:
    """The pages with a sample of a language."""
    names = {page: str(page.relative_to(ROOT)) for page in PAGES}
    return {name for page, name in names.items() if not name.startswith("examples/") and blocks(name, language)}


@pytest.mark.parametrize(("language", "runs"), [("sh", SHELL), ("python", PYTHON)])
def test_each_sample_that_can_run_is_run_by_a_test(language: str, runs: dict[str, str]) -> None:
    assert having(language) == set(runs)
    for page, test in runs.items():
        source = (ROOT / "tests" / test).read_text(encoding="utf-8")
        assert Path(page).name in source or page in PYTHON_PAGES, page


def shown(page: Path) -> Iterator[list[str]]:
    """The words of each command `cortex-skills` in the samples of a page."""
    for language, block in BLOCK.findall(page.read_text(encoding="utf-8")):
        if language not in ("sh", "console", "text"):
            continue
        whole = re.sub(r"\\\n\s*", " ", block)
        whole = re.sub(r"<<'?(\w+)'?.*?^\1$", "", whole, flags=re.MULTILINE | re.DOTALL)
        for line in _COMMAND.findall(whole):
            line = re.sub(r"""\"[^\"]*\"|'[^']*'?""", "TEXT", line)
            yield shlex.split(re.split(r" +#| [|&>]|;", line)[0].rstrip(")"))[1:]


def problem_of(words: list[str]) -> str | None:
    """What is wrong with a command: a name or an option that there is not."""
    command: click.Command = program
    context = click.Context(program)
    known = {option for param in program.params for option in (*param.opts, *param.secondary_opts)} | {"--help"}
    for word in words:
        if word.startswith("-"):
            name = word.partition("=")[0]
            if name not in known and name != "-":
                return f"{command.name} has no {name}"
        elif isinstance(command, click.Group):
            found = command.get_command(context, word)
            if found is None:
                return f"there is no command {word}"
            command, context = found, click.Context(found, context)
            known |= {option for param in found.params for option in (*param.opts, *param.secondary_opts)}
    return None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_each_command_that_is_shown_exists_with_its_options(page: Path) -> None:
    assert [(words, problem) for words in shown(page) if (problem := problem_of(words))] == []


def test_a_command_that_there_is_not_is_found() -> None:
    assert problem_of(["graph", "overview", "--store", "s"]) is None
    assert problem_of(["graph", "overvieu"]) == "there is no command overvieu"
    assert problem_of(["graph", "overview", "--depth", "2"]) == "overview has no --depth"
    assert sum(1 for page in PAGES for _ in shown(page)) > 100


def test_the_configurations_of_agent_hosts_start_commands_that_exist() -> None:
    found = 0
    for page in sorted(having("json")):
        for block in blocks(page, "json"):
            for server in json.loads(block).get("mcpServers", {}).values():
                if "cortex-skills" in server.get("command", ""):
                    assert problem_of(server["args"]) is None
                    found += 1
    assert found >= 4


@pytest.mark.extended
def test_the_commands_of_the_artifacts_page_make_one_and_verify_it(tmp_path: Path) -> None:
    printed = shell(blocks("docs/artifacts.md", "sh"), tmp_path)
    assert "acme.echo" in printed
    assert (tmp_path / "echo.palyra-skill").is_file()


@pytest.mark.extended
def test_the_commands_of_the_direct_mode_page_query_without_the_sandbox(tmp_path: Path) -> None:
    lines = [line for block in blocks("docs/tutorials/a-first-skill.md", "sh") for line in block.splitlines()]
    (tmp_path / "cortex.yaml").write_text(blocks("docs/direct-mode.md", "yaml")[0] + "store: ./warehouse\n")
    printed = shell([*lines, *blocks("docs/direct-mode.md", "sh")], tmp_path)
    assert printed.count("3 triples found:") == 2
