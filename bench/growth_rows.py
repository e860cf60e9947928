"""Rows of a process that runs for long: its memory after 25,000 mixed calls on a store on disk, and after 5,000.

Rules kept here:
- the calls run in a separate process: one that has run other rows has grown before;
- a tenth remembers, a sixth queries, the others assert; each session has a rate limit, so they change often.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import cortex_skills
from bench.measure import Row
from bench.plugin_rows import resident_mb
from cortex_skills import Plugin
from tests.configs import config

CALLS, WARM_UP = 25_000, 5_000
CALLS_OF_A_SESSION = 500
NOTEBOOK = Path(cortex_skills.__file__).parent / "builtin_skills" / "notebook"


def rows() -> list[Row]:
    """All rows."""
    measured = subprocess.run([sys.executable, "-m", __name__], check=True, capture_output=True, text=True).stdout
    before, after = map(float, measured.split())
    figure = f"memory after {CALLS:,} mixed calls, one process"
    return [Row(figure, after, f"after {WARM_UP:,}", before, 1.05, unit="MB")]


def _called(plugin: Plugin, number: int) -> None:
    tool, arguments = "skill_assert", {"subject": f"c{number}", "predicate": "hasStatus", "object": f"ok {number}"}
    if number % 10 == 0:
        tool, arguments = "skill_memory_remember", {"text": f"Customer {number} wants {number % 97} of item {number}."}
    elif number % 6 == 1:
        tool, arguments = "skill_graph_query", {"predicate": "hasStatus", "scope": "namespace"}
    result = plugin.call(tool, arguments, session=str(number // CALLS_OF_A_SESSION))
    if result.is_error:
        raise RuntimeError(result.text)


def _measured() -> str:
    with tempfile.TemporaryDirectory() as scratch, Plugin.open(config(store=str(Path(scratch, "store")))) as plugin:
        plugin.load(NOTEBOOK)
        for number in range(CALLS):
            if number == WARM_UP:
                before = resident_mb()
            _called(plugin, number)
        return f"{before} {resident_mb()}"


if __name__ == "__main__":
    sys.stdout.write(_measured())
