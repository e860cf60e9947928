"""A failed test does not affect the tests after it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOUR = """
import gc, socket
import pytest

@pytest.fixture
def broken():
    held = [socket.socket()]
    held.append(held)
    raise ValueError

def test_that_fails():
    held = [socket.socket()]
    held.append(held)
    assert not held

def test_that_is_innocent():
    gc.collect()

def test_that_cannot_be_set_up(broken):
    pass

def test_that_is_innocent_too():
    gc.collect()
"""


def test_resources_of_a_failed_test_fail_no_other_test(tmp_path: Path) -> None:
    (tmp_path / "test_four.py").write_text(FOUR)
    command = [sys.executable, "-m", "pytest", "-q", "-W", "error", "-p", "tests.leftovers", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, "-c", os.devnull, "--rootdir", tmp_path, tmp_path],
        cwd=ROOT,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.stdout.splitlines()[-1].partition(" in ")[0] == "1 failed, 2 passed, 1 error", done.stdout
