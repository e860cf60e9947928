"""The page of the tools is what their schemas say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from cortex_skills.tools import TOOLS
from cortex_skills.tools.page import page

ROOT = Path(__file__).parents[2]


def test_the_page_is_current() -> None:
    assert (ROOT / "docs/tools.md").read_text(encoding="utf-8") == page(TOOLS.values()), (
        "write it anew: python -m cortex_skills.tools.page docs/tools.md"
    )


def test_the_command_writes_the_page(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "cortex_skills.tools.page"]
    subprocess.run([*command, str(tmp_path / "tools.md")], check=True, timeout=100)
    assert (tmp_path / "tools.md").read_text(encoding="utf-8") == page(TOOLS.values())
    wrong = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert (wrong.returncode, wrong.stderr) == (1, "usage: python -m cortex_skills.tools.page FILE\n")


def test_every_tool_and_every_argument_is_on_the_page() -> None:
    sections = page(TOOLS.values()).split("\n## ")[1:]
    assert [section.split("\n", 1)[0] for section in sections] == list(TOOLS)
    for tool, section in zip(TOOLS.values(), sections, strict=True):
        assert tool.description in section
        for name in (*tool.input_schema["properties"], *tool.output_schema.get("properties", ()), *tool.permissions):
            assert f"`{name}`" in section
        assert ("Not built into this version" in section) is not tool.is_built
