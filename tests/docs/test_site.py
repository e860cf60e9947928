"""The documentation is a site whose links lead somewhere, which loads nothing from elsewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from build_steps.site import commands, rest, settings
from build_steps.tools import ROOT
from cortex_skills.config.sections import declared
from cortex_skills.doors.server.app import api

SCRIPTS = r"<(?:script|img|iframe|source)[^>]* src=\"(https?:[^\"]+)"
SHEETS = r"<link[^>]*rel=\"(?:stylesheet|preload)\"[^>]*href=\"(https?:[^\"]+)"
LOADED = re.compile(f"{SCRIPTS}|{SHEETS}")


def test_every_command_setting_and_operation_is_on_its_page() -> None:
    assert {"## graph import", "## serve", "## approvals approve"} <= set(commands().splitlines())
    shown = re.findall(r"^\| `([\w.]+)` \|", settings(), re.MULTILINE)
    assert set(shown) == {".".join(name) for name in declared().rules}
    assert rest().count("\n## ") == len(api())


@pytest.mark.extended
def test_the_site_is_built_without_a_link_that_leads_nowhere_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(tmp_path / "site")]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    pages = sorted((tmp_path / "site").rglob("*.html"))
    assert len(pages) > 100
    assert {found for page in pages for found in LOADED.findall(page.read_text(encoding="utf-8"))} == set()
    assert "github.com" not in (tmp_path / "site/index.html").read_text(encoding="utf-8").replace(
        "squidfunk.github.io", ""
    )
