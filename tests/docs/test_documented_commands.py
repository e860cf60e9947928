"""The commands and samples of the README and the pages work.

Every sample runs unchanged in the folder that the commands of the tutorial create. A number in a comment behind an
expression is the expected value of the expression.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from tests import fork_server
from tests.docs.walking import PYTHON_PAGES, ROOT, blocks, run, shell
from tests.every_case import check_every

# A page runs a dozen commands one after the other, and the first test also runs those of the tutorial.
pytestmark = pytest.mark.timeout(600)

# The environment is set up already when the tests run.
TUTORIAL = "docs/tutorials/a-first-skill.md"
SET_UP = ("make setup", "export PATH=")
STATED = re.compile(r"^( *)(\w\S.*?) +# (\d+)\b.*", re.MULTILINE)


@pytest.fixture(scope="module")
def newcomer(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A folder in which every shell block of the tutorial has run in order, and their output."""
    folder = tmp_path_factory.mktemp("newcomer")
    (folder / "examples").symlink_to(ROOT / "examples", target_is_directory=True)
    (folder / "cortex.yaml").write_text(blocks("docs/python.md", "yaml")[0], encoding="utf-8")
    return folder, shell([line for block in blocks(TUTORIAL, "sh") for line in block.splitlines()], folder)


def test_the_commands_of_the_readme_work(tmp_path: Path) -> None:
    lines = [line for block in blocks("README.md", "sh") for line in block.splitlines() if not line.startswith(SET_UP)]
    assert "passed" in shell(lines, tmp_path)
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) <= 700


def test_the_commands_of_the_tutorial_work_in_order(newcomer: tuple[Path, str]) -> None:
    _, printed = newcomer
    assert "3 triples found:" in printed
    assert "Asserted: mayros:nails mayros:reorder true" in printed


def test_the_tutorial_shows_the_actual_answer(newcomer: tuple[Path, str]) -> None:
    _, printed = newcomer
    (shown,) = [text for text in blocks(TUTORIAL, "text") if "triples found" in text]
    for line in shown.splitlines():
        assert line in printed.splitlines()


def test_the_command_line_page_shows_the_actual_refusal(newcomer: tuple[Path, str]) -> None:
    statement = '{"subject": "nails", "predicate": "colour", "object": "grey"}'
    command = ["call", "skill_assert", statement, "--skills", "skills/stock-watch", "--store", "memory:"]
    done = run(["cortex-skills", *command], newcomer[0])
    assert (done.returncode, [done.stderr]) == (1, blocks("docs/command-line.md", "text"))


@pytest.mark.slow
@pytest.mark.extended
def test_the_commands_of_the_graph_page_work(newcomer: tuple[Path, str]) -> None:
    printed = shell(blocks("docs/graph.md", "sh"), newcomer[0])
    assert printed.startswith("2 statements of prices.ttl are in mayros\n")
    assert "2 statements of mayros are in prices.jsonld\nmayros\n" in printed
    assert "2 triples of 1 graph are in restored-prices\n" in printed.replace("./", "")
    assert printed.endswith("urn:cortex:mayros: 2 triples, with the same canonical hash\n")


@pytest.mark.extended
def test_the_commands_of_the_registry_page_hand_a_skill_on(newcomer: tuple[Path, str]) -> None:
    printed = shell(blocks("docs/registry.md", "sh"), newcomer[0])
    assert printed.count("mayros/fetch-data version 1 registered\n") == 2
    assert printed.endswith("the chain of 1 events is whole\n")
    (query,) = blocks("docs/registry.md", "sparql")
    rows = shell([f"cortex-skills graph sparql --store ./another --json '{query}'"], newcomer[0])
    (row,) = json.loads(rows)["results"]["bindings"]
    assert {name: term["value"] for name, term in row.items()} == {
        "name": "fetch-data",
        "state": "released",
        "successes": "0",
    }


@pytest.mark.extended
def test_the_commands_of_the_approvals_page_lead_from_the_request_to_the_result(tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples", target_is_directory=True)
    printed = shell(blocks("docs/approvals.md", "sh"), tmp_path)
    assert "fs_write did not run yet: it waits for a person as " in printed
    assert "fs_write was approved, and ran\n" in printed
    assert (tmp_path / "notes" / "out" / "index.md").read_text(encoding="utf-8") == "- Monday\n"
    assert "records is whole" in printed


@pytest.mark.extended
def test_the_commands_of_a_memory_that_lasts_print_what_the_page_shows(tmp_path: Path) -> None:
    page = "docs/how-to/a-memory-that-lasts.md"
    printed = shell(blocks(page, "sh"), tmp_path)
    for shown in blocks(page, "text"):
        assert shown in printed
    assert printed.endswith('1 memory found:\n1. (importance 0.80, coverage 1.00) "Ana moved to Oslo in June"\n')


def test_the_commands_on_an_existing_graph_print_what_the_page_shows(tmp_path: Path) -> None:
    page = "docs/how-to/an-agent-on-an-existing-graph.md"
    printed = shell(blocks(page, "sh"), tmp_path).splitlines()
    for shown in blocks(page, "text"):
        for line in shown.splitlines():  # an example is one of several values
            assert any(each.startswith(line) for each in printed), line


@pytest.mark.parametrize(
    ("page", "number"),
    [(page, number) for page in PYTHON_PAGES for number in range(len(blocks(page, "python")))],
)
def test_a_python_sample_runs(page: str, number: int, newcomer: tuple[Path, str]) -> None:
    if page == "docs/direct-mode.md" and shutil.which("node") is None:
        pytest.skip("Node.js is not installed")
    program = STATED.sub(r"\1assert (\2) == \3", blocks(page, "python")[number])
    done = run([fork_server.python(), "-c", program], newcomer[0])
    assert done.returncode == 0, done.stderr


BASE = """\
---
name: stock-base
description: What the skill of the page depends on.
type: semantic
semantic: {version: 1, skillVersion: "1.2.0"}
---
"""


def test_the_skill_of_the_skills_page_loads(newcomer: tuple[Path, str]) -> None:
    manifest, code = blocks("docs/skills.md", "yaml")[0], blocks("docs/skills.md", "ts")[0]
    for file, text in {
        "stock-watch/SKILL.md": manifest,
        "stock-watch/skill.ts": code,
        "stock-base/SKILL.md": BASE,
    }.items():
        path = newcomer[0] / "shown" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    printed = shell(["cortex-skills validate --load shown"], newcomer[0])
    assert "stock-watch 1.0.0, exports onActivate, onDeactivate, onError, onQuery" in printed


def test_the_test_of_the_skills_page_passes(newcomer: tuple[Path, str]) -> None:
    folder = newcomer[0] / "tested" / "stock-watch"
    shutil.copytree(newcomer[0] / "skills" / "stock-watch", folder)
    (test,) = (block for block in blocks("docs/skills.md", "ts") if block.startswith("test("))
    (folder / "skill.test.ts").write_text(test, encoding="utf-8")
    things = (f"<urn:cortex:mayros:{name}> <urn:cortex:mayros:inStock> 250 .\n" for name in ("a", "b", "c"))
    (folder / "skill.test.ttl").write_text("".join(things), encoding="utf-8")
    assert "1 passed (" in shell(["cortex-skills test tested/stock-watch"], newcomer[0])


def test_the_settings_of_the_python_page_are_the_defaults(newcomer: tuple[Path, str]) -> None:
    program = """\
import json
from cortex_skills import Config
print(json.dumps([Config.load(path, env={}).to_json() for path in ("cortex.yaml", None)]))
"""
    shown, defaults = json.loads(run([fork_server.python(), "-c", program], newcomer[0]).stdout)
    assert {**shown, "store": defaults["store"], "vocabularies": []} == defaults


PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")])


def test_every_link_to_a_file_has_a_target() -> None:
    def check(page: Path) -> None:
        text = re.sub(r"^```.*?^```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        for target in re.findall(r"\]\((?!https?:)([^)#]+)[^)]*\)", text):
            assert (page.parent / target).exists(), target

    check_every({str(page.relative_to(ROOT)): page for page in PAGES}, check)
