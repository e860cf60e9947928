"""The pages of the tools and of the scanner agree with the tools and rules that they are generated from."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from cortex_skills.operations.operation import all_operations
from cortex_skills.scanner.page import page as scanner_page
from cortex_skills.scanner.rules import RULES
from cortex_skills.scanner.whole_files import RULES as WHOLE_FILES
from cortex_skills.tools import own_tools
from tests import fork_server
from tests.docs.operations_page import page as operations_page
from tests.docs.tools_page import page as tools_page

ROOT = Path(__file__).parents[2]
EVERY_RULE = (*RULES, *WHOLE_FILES)
GENERATED = {
    "tools.md": ("tests.docs.tools_page", tools_page(own_tools().values())),
    "reference/operations.md": ("tests.docs.operations_page", operations_page(all_operations().values())),
    "scanner.md": ("cortex_skills.scanner.page", scanner_page(RULES, WHOLE_FILES)),
}
# What `python -m` does.
RUN = "import runpy, sys; del sys.argv[0]; runpy.run_module(sys.argv[0], run_name='__main__', alter_sys=True)"
generated = pytest.mark.parametrize(("name", "module", "text"), [(name, *made) for name, made in GENERATED.items()])


def run(*arguments: str, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    command = [fork_server.python(), "-c", RUN, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=100)


@generated
def test_the_page_is_current(name: str, module: str, text: str) -> None:
    assert (ROOT / "docs" / name).read_text(encoding="utf-8") == text, f"run python -m {module} docs/{name}"


@generated
def test_the_command_writes_the_page(name: str, module: str, text: str, tmp_path: Path) -> None:
    page = tmp_path / Path(name).name
    assert run(module, str(page)).returncode == 0
    assert page.read_text(encoding="utf-8") == text
    wrong = run(module)
    assert (wrong.returncode, wrong.stderr) == (1, f"usage: python -m {module} FILE\n")


def test_every_tool_and_every_argument_is_on_the_page() -> None:
    sections = GENERATED["tools.md"][1].split("\n## ")[1:]
    assert [section.split("\n", 1)[0] for section in sections] == list(own_tools())
    for tool, section in zip(own_tools().values(), sections, strict=True):
        assert tool.description in section
        for name in (*tool.input_schema["properties"], *tool.output_schema.get("properties", ()), *tool.permissions):
            assert f"`{name}`" in section


def test_every_rule_has_a_section_and_a_row_of_the_table() -> None:
    text = GENERATED["scanner.md"][1]
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == [rule.id for rule in EVERY_RULE]
    assert re.findall(r"^\| \[`([a-z0-9-]+)`\]", text, re.MULTILINE) == [rule.id for rule in EVERY_RULE]
    assert len({rule.id for rule in EVERY_RULE}) == len(EVERY_RULE)


def test_the_scanner_page_shows_the_output_of_the_command(tmp_path: Path) -> None:
    (tmp_path / "verify-kyc").mkdir()
    (tmp_path / "verify-kyc" / "skill.ts").write_text('const a = 1;\n  eval("1");\n')
    done = run("cortex_skills", "scan", "verify-kyc", folder=tmp_path)
    (shown,) = re.findall(r"^```text\n(verify-kyc.*?)^```$", GENERATED["scanner.md"][1], re.MULTILINE | re.DOTALL)
    assert (done.returncode, done.stdout) == (1, shown)
