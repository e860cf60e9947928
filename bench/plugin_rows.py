"""Rows of the gate and the graph that do not depend on the size of the graph."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any

from pyoxigraph import Quad, Store

from bench.measure import Row, median_s
from bench.skill import MANIFEST, SOURCE
from cortex_graph import NamespacedGraph, Pattern
from cortex_sandbox import Limits, Sandbox
from cortex_skills import Plugin
from tests.configs import config

# The rate limit is at most 1,000 calls a minute; a figure uses fewer.
RUNS, BATCH = 30, 25


def rows() -> list[Row]:
    """All rows."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        skill = folder / "bench"
        skill.mkdir()
        (skill / "SKILL.md").write_text(MANIFEST)
        out = [_assertions(folder, skill)]
    return [*out, _live_skills(), _start()]


def _open(folder: Path, skill: Path) -> Plugin:
    settings = {"maxCallsPerMinute": 1000, "maxGraphQueries": 100_000, "maxAssertions": 100_000}
    plugin = Plugin.open(config(store=str(folder), skillSandbox=settings))
    plugin.load(skill)
    return plugin


def _assertions(folder: Path, skill: Path) -> Row:
    """Compared with adding the quads of each assertion one by one to a raw store, alternating, by processor time."""
    number = count()
    ours, theirs = [], []
    raw = Store(folder / "raw")
    with _open(folder / "assertions", skill) as plugin:
        for _ in range(RUNS + 1):
            start = time.thread_time()
            answers = [_assertion(plugin, f"c{next(number)}") for _ in range(BATCH)]
            ours.append((time.thread_time() - start) / BATCH)
            written = [_written(plugin.graph, details) for details in answers]
            start = time.thread_time()
            for quads in written:
                for quad in quads:
                    raw.add(quad)
            theirs.append((time.thread_time() - start) / BATCH)
    each = len(written[0])
    figure, reference = f"`skill_assert` on disk, {each} quads (CPU)", f"raw Store.add of these {each} quads"
    return Row(figure, median(ours[1:]), reference, median(theirs[1:]), 3)


def _assertion(plugin: Plugin, subject: str) -> dict[str, Any]:
    return plugin.call("skill_assert", {"subject": subject, "predicate": "hasStatus", "object": "ok"}).details


def _written(graph: NamespacedGraph, details: dict[str, Any]) -> list[Quad]:
    """The quads of an assertion: the triple and its provenance record."""
    names, store = graph.names, graph.store
    triple = Pattern(names.graph, names.node(details["subject"]))
    record = Pattern(names.provenance_graph, names.record(details["tripleHash"]))
    return [*store.quads(triple), *store.quads(record)]


def _live_skills() -> Row:
    boxes = []
    before = resident_mb()
    for _ in range(1000):
        box = Sandbox(Limits(), {"echo": lambda value: value})
        box.load_module(SOURCE)
        boxes.append(box)
    used = (resident_mb() - before) / len(boxes)
    for box in boxes:
        box.close()
    return Row("1,000 live skills, one process, memory each", used, "allowed", 1.0, 0.4, unit="MB")


def resident_mb() -> float:
    """The resident memory of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def _start() -> Row:
    """The start of the command beyond the start of Python, compared with the 0.12 s that are allowed."""
    nothing = median_s(lambda: subprocess.run([sys.executable, "-c", "pass"], check=True), runs=15)
    command = [sys.executable, "-m", "cortex_skills", "--version"]
    ours = median_s(lambda: subprocess.run(command, check=True, capture_output=True), runs=15)
    return Row("start of `cortex-skills --version` beyond `python -c pass`", ours - nothing, "allowed", 0.12, 1)
