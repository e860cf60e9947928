"""The page of the scanner is what its rules say, and what it shows is what the command prints."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from cortex_skills.scanner.page import page
from cortex_skills.scanner.rules import RULES
from cortex_skills.scanner.whole_files import RULES as WHOLE_FILES

ROOT = Path(__file__).parents[2]
EVERY = (*RULES, *WHOLE_FILES)


def test_the_page_is_current() -> None:
    assert (ROOT / "docs/scanner.md").read_text(encoding="utf-8") == page(RULES, WHOLE_FILES), (
        "write it anew: python -m cortex_skills.scanner.page docs/scanner.md"
    )


def test_the_command_writes_the_page(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "cortex_skills.scanner.page"]
    subprocess.run([*command, str(tmp_path / "scanner.md")], check=True, timeout=100)
    assert (tmp_path / "scanner.md").read_text(encoding="utf-8") == page(RULES, WHOLE_FILES)
    wrong = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert (wrong.returncode, wrong.stderr) == (1, "usage: python -m cortex_skills.scanner.page FILE\n")


def test_every_rule_has_a_section_and_a_line_of_the_table() -> None:
    text = page(RULES, WHOLE_FILES)
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == [rule.id for rule in EVERY]
    assert re.findall(r"^\| \[`([a-z0-9-]+)`\]", text, re.MULTILINE) == [rule.id for rule in EVERY]
    assert len({rule.id for rule in EVERY}) == len(EVERY)


def test_what_the_page_shows_is_what_the_command_prints(tmp_path: Path) -> None:
    (tmp_path / "verify-kyc").mkdir()
    (tmp_path / "verify-kyc" / "skill.ts").write_text('const a = 1;\n  eval("1");\n')
    command = [sys.executable, "-m", "cortex_skills", "scan", "verify-kyc"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=100)
    (shown,) = re.findall(r"^```text\n(verify-kyc.*?)^```$", page(RULES, WHOLE_FILES), re.MULTILINE | re.DOTALL)
    assert (done.returncode, done.stdout) == (1, shown)
