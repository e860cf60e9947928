"""The row of hot reload: from a save to the first answer of the new version."""

from __future__ import annotations

import statistics
import tempfile
import threading
import time
from pathlib import Path

from bench.measure import Row
from bench.skill import MANIFEST
from cortex_skills import Plugin
from cortex_skills.lifecycle.watcher import DEBOUNCE_MS
from tests.configs import config

SAVES = 25
ALLOWED_S = 0.05
LIMITS = {"maxCallsPerMinute": 1000, "maxGraphQueries": 100_000}


def rows() -> list[Row]:
    """All rows."""
    return [_first_answer()]


def _first_answer() -> Row:
    """The median over saves, without the debounce. A save renames a new file over the old one."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, "bench")
        folder.mkdir()
        (folder / "SKILL.md").write_text(MANIFEST)
        _save(folder, 0)
        with Plugin.open(config(hotReload=True, skillSandbox=LIMITS)) as plugin:
            came = threading.Event()
            plugin.on_reload(lambda _: came.set())
            plugin.load(folder)
            time.sleep(1)  # until the watch is established
            times = []
            for version in range(1, SAVES + 1):
                came.clear()
                start = time.perf_counter()
                _save(folder, version)
                came.wait(30)
                while f'"version":{version}' not in _ask(plugin):
                    came.wait(0.002)
                times.append(time.perf_counter() - start)
    ours = max(0.001, statistics.median(times) - DEBOUNCE_MS / 1000)
    return Row("a save → the new version answers, beyond the debounce", ours, "what is allowed", ALLOWED_S, 1)


def _ask(plugin: Plugin) -> str:
    return plugin.call("skill_graph_query", {"predicate": "hasStatus", "scope": "namespace"}).text


def _save(folder: Path, version: int) -> None:
    beside = folder / ".skill.ts.new"
    beside.write_text(
        f"""type Row = {{ subject: string; object: unknown }};
export default {{
  name: "bench",
  onQuery({{ results }}: {{ results: Row[] }}) {{
    const open = results.filter((row) => row.object !== "approved");
    return {{ additionalContext: {{ version: {version}, open: open.length }} }};
  }},
}};
"""
    )
    beside.replace(folder / "skill.ts")
