"""What is generated and committed agrees with the program that it is generated from."""

from __future__ import annotations

import functools
import re
import subprocess
from pathlib import Path

import pytest

from cortex_skills.errors import CODES
from cortex_skills.scanner.rules import RULES
from cortex_skills.scanner.whole_files import RULES as WHOLE_FILES
from cortex_skills.tools import own_tools
from tests import fork_server
from tests.docs.reference_pages import PAGES, write_all

ROOT = Path(__file__).parents[2]
EVERY_RULE = (*RULES, *WHOLE_FILES)
ONE_PAGE = {
    "docs/tools.md": "tests.docs.tools_page",
    "docs/reference/operations.md": "tests.docs.operations_page",
    "docs/scanner.md": "cortex_skills.scanner.page",
    "cortex_skills/features/typed_calls.py": "build_steps.typed_calls",
}
# What `python -m` does.
RUN = "import runpy, sys; del sys.argv[0]; runpy.run_module(sys.argv[0], run_name='__main__', alter_sys=True)"


@functools.cache
def text_of(name: str) -> str:
    """A page as it is made now."""
    return PAGES[name]()


def run(*arguments: str, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    command = [fork_server.python(), "-c", RUN, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=100)


@pytest.mark.parametrize("name", PAGES)
def test_what_is_generated_is_current(name: str) -> None:
    assert (ROOT / name).read_text(encoding="utf-8") == text_of(name), "run python -m tests.docs.reference_pages"


def test_one_command_writes_what_is_not_current(tmp_path: Path) -> None:
    for name in PAGES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    assert write_all(tmp_path) == list(PAGES)
    assert write_all(tmp_path) == []
    (tmp_path / "docs/tools.md").write_text("another")
    assert write_all(tmp_path) == ["docs/tools.md"]


@pytest.mark.parametrize(("name", "module"), ONE_PAGE.items())
def test_a_command_writes_one_page(name: str, module: str, tmp_path: Path) -> None:
    page = tmp_path / Path(name).name
    assert run(module, str(page)).returncode == 0
    assert page.read_text(encoding="utf-8") == text_of(name)
    wrong = run(module)
    assert (wrong.returncode, wrong.stderr) == (1, f"usage: python -m {module} FILE\n")


def test_every_code_has_a_meaning_and_a_remedy() -> None:
    rows = re.findall(
        r"^\| `(\w+)` \| \d{3} \| (\S.*\.) \| (\S.*\.) \|$", text_of("docs/reference/errors.md"), re.MULTILINE
    )
    assert [code for code, *_ in rows] == sorted(CODES)
    said = [text for _, *texts in rows for text in texts]
    assert len(set(said[::2])) == len(CODES)


def test_every_term_of_the_ontology_is_on_its_page() -> None:
    declared = set(re.findall(r"^:(\w+) a owl:", (ROOT / "graph/ontology/cortex.ttl").read_text(), re.MULTILINE))
    rows = re.findall(r"^\| `cortex:(\w+)` ", text_of("docs/reference/terms.md"), re.MULTILINE)
    assert set(rows) == declared
    assert len(rows) == len(declared) > 10


def test_every_tool_and_every_argument_is_on_the_page() -> None:
    sections = text_of("docs/tools.md").split("\n## ")[1:]
    assert [section.split("\n", 1)[0] for section in sections] == list(own_tools())
    for tool, section in zip(own_tools().values(), sections, strict=True):
        assert tool.description in section
        for name in (*tool.input_schema["properties"], *tool.output_schema.get("properties", ()), *tool.permissions):
            assert f"`{name}`" in section


def test_every_rule_has_a_section_and_a_row_of_the_table() -> None:
    text = text_of("docs/scanner.md")
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == [rule.id for rule in EVERY_RULE]
    assert re.findall(r"^\| \[`([a-z0-9-]+)`\]", text, re.MULTILINE) == [rule.id for rule in EVERY_RULE]
    assert len({rule.id for rule in EVERY_RULE}) == len(EVERY_RULE)


def test_the_scanner_page_shows_the_output_of_the_command(tmp_path: Path) -> None:
    (tmp_path / "verify-kyc").mkdir()
    (tmp_path / "verify-kyc" / "skill.ts").write_text('const a = 1;\n  eval("1");\n')
    done = run("cortex_skills", "scan", "verify-kyc", folder=tmp_path)
    (shown,) = re.findall(r"^```text\n(verify-kyc.*?)^```$", text_of("docs/scanner.md"), re.MULTILINE | re.DOTALL)
    assert (done.returncode, done.stdout) == (1, shown)
