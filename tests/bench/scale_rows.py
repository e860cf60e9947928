"""The rows that must stay flat as the graph and the number of namespaces grow.

Rules kept here:
- every size is measured in turn, round after round, so that what else the machine does falls on all of them alike;
- the stores are hard-linked copies: what is written to them is gone afterwards;
- their files are read once before, so that the system has them in memory: how fast a disk reads is no row here.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import count, islice
from pathlib import Path
from statistics import median
from typing import Any

from pyoxigraph import NamedNode, Store

from cortex_skills import Plugin
from tests.bench.measure import Row
from tests.bench.skill import MANIFEST
from tests.bench.stores import Shape, cache, copy_of
from tests.configs import config

GRAPH = NamedNode("urn:cortex:mayros")
STATUS = NamedNode("urn:cortex:mayros:hasStatus")
QUERY: dict[str, Any] = {"predicate": "hasStatus", "scope": "namespace", "limit": 20}
# The gate's rate window lets 1,000 calls a minute through at most, of both tools together.
ROUNDS, BATCH = 24, 20


def rows(shapes: Sequence[Shape]) -> list[Row]:
    """A query and an assertion, whole gate, on stores of these shapes; the others are compared with the first."""
    cache().mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=cache())))
        skill = scratch / "bench"
        skill.mkdir()
        (skill / "SKILL.md").write_text(MANIFEST)
        raw = _in_turn([_raw(copy_of(shape, scratch / f"raw-{shape.name}")) for shape in shapes])
        plugins = [stack.enter_context(_open(copy_of(shape, scratch / shape.name), skill)) for shape in shapes]
        for shape in shapes:
            _read(scratch / shape.name)
        queries = _in_turn([partial(plugin.call, "skill_graph_query", QUERY) for plugin in plugins])
        asserts = _in_turn([_assertion(plugin) for plugin in plugins])
    out = []
    for shape, ours, theirs in zip(shapes, queries, raw, strict=True):
        if shape.namespaces > 1:
            continue
        name = f"`skill_graph_query`, 20 triples of {shape} on disk, whole gate"
        out.append(Row(name, ours, "raw quads_for_pattern, same rows", theirs, 2))
    for what, times in (("skill_graph_query", queries), ("skill_assert", asserts)):
        for shape, ours in list(zip(shapes, times, strict=True))[1:]:
            out.append(Row(f"`{what}` at {shape}", ours, f"itself at {shapes[0]}", times[0], 1.3))
    return out


def _open(folder: Path, skill: Path) -> Plugin:
    settings = {"maxCallsPerMinute": 1000, "maxGraphQueries": 100_000, "maxAssertions": 100_000}
    plugin = Plugin.open(config(store=str(folder), skillSandbox=settings))
    plugin.load(skill)
    return plugin


def _read(folder: Path) -> None:
    for path in folder.rglob("*.sst"):
        with path.open("rb") as file:
            while file.read(1 << 20):
                pass


def _raw(folder: Path) -> Callable[[], object]:
    store = Store(folder)
    return lambda: list(islice(store.quads_for_pattern(None, STATUS, None, GRAPH), 20))


def _assertion(plugin: Plugin) -> Callable[[], object]:
    number = count()
    return lambda: plugin.call(
        "skill_assert", {"subject": f"new:{next(number)}", "predicate": "hasStatus", "object": "ok"}
    )


def _in_turn(works: Sequence[Callable[[], object]]) -> list[float]:
    """Seconds that one call of each takes: the median over the rounds of the mean over a batch."""
    times: list[list[float]] = [[] for _ in works]
    for number in range(ROUNDS + 1):
        for work, taken in zip(works, times, strict=True):
            start = time.perf_counter()
            for _ in range(BATCH):
                work()
            if number:  # the first round is there to warm up
                taken.append((time.perf_counter() - start) / BATCH)
    return [median(taken) for taken in times]
