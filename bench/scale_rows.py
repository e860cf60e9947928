"""Rows that must stay flat as the graph and the number of namespaces grow.

Rules kept here:
- the sizes alternate, and processor time is measured, so that other load affects all of them alike;
- the stores are hard-linked copies, which are deleted afterwards;
- their files are read once before, into the page cache: the speed of the disk is not measured.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from itertools import count, islice
from pathlib import Path
from typing import Any

from pyoxigraph import NamedNode, Store

from bench.measure import Row, in_turn_s
from bench.skill import MANIFEST
from bench.stores import Shape, cache, copy_of
from cortex_skills import Plugin
from tests.configs import config

GRAPH = NamedNode("urn:cortex:mayros")
STATUS = NamedNode("urn:cortex:mayros:hasStatus")
QUERY: dict[str, Any] = {"predicate": "hasStatus", "scope": "namespace", "limit": 20}
# The rate limit is at most 1,000 calls a minute, of both tools together.
ROUNDS, BATCH = 24, 20


def rows(shapes: Sequence[Shape]) -> list[Row]:
    """A query and an assertion, whole gate, on stores of these shapes; the others are compared with the first."""
    cache().mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=cache())))
        skill = scratch / "bench"
        skill.mkdir()
        (skill / "SKILL.md").write_text(MANIFEST)
        raw = [_raw(copy_of(shape, scratch / f"raw-{shape.name}")) for shape in shapes]
        plugins = [stack.enter_context(_open(copy_of(shape, scratch / shape.name), skill)) for shape in shapes]
        for shape in shapes:
            _read(scratch / shape.name)
        ours = [partial(plugin.call, "skill_graph_query", QUERY) for plugin in plugins]
        times = in_turn_s([*raw, *ours], BATCH, rounds=ROUNDS, clock=time.thread_time)
        reads, queries = times[: len(shapes)], times[len(shapes) :]
        asserts = in_turn_s([_assertion(plugin) for plugin in plugins], BATCH, rounds=ROUNDS, clock=time.thread_time)
    out = []
    for shape, time_s, raw_s in zip(shapes, queries, reads, strict=True):
        if shape.namespaces > 1:
            continue
        name = f"`skill_graph_query`, 20 triples of {shape} on disk, whole gate (CPU)"
        out.append(Row(name, time_s, "raw quads_for_pattern, same rows", raw_s, 2))
    for what, of_all in (("skill_graph_query", queries), ("skill_assert", asserts)):
        for shape, time_s in list(zip(shapes, of_all, strict=True))[1:]:
            out.append(Row(f"`{what}` at {shape} (CPU)", time_s, f"itself at {shapes[0]}", of_all[0], 1.3))
    return out


def _open(folder: Path, skill: Path) -> Plugin:
    settings = {"maxCallsPerMinute": 1000, "maxGraphQueries": 100_000, "maxAssertions": 100_000}
    plugin = Plugin.open(config(store=str(folder), skillSandbox=settings))
    plugin.load(skill)
    return plugin


def _read(folder: Path) -> None:
    for path in folder.rglob("*.sst"):
        with suppress(FileNotFoundError), path.open("rb") as file:  # removed by a compaction
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
