"""Rows of a memory for an agent: assertions over MCP stdio, beside `create_entities` of the public memory server.

Rules kept here:
- both sides keep the same facts on disk, one a call, from the same client; batches alternate;
- 10,000 facts are written before the server starts, in the format of each side: with provenance on ours.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import fmean
from typing import Any

from bench.mcp_rows import COMMAND, environment
from bench.measure import Row
from cortex_graph import NamespacedGraph, Provenance, open_store

CALLS, BATCH = 900, 30  # the rate limit is at most 1,000 calls a minute
KEPT_BEFORE, MORE_CALLS = 10_000, 150
GOAL, GOAL_OF_MANY = 0.8, 0.2
REFERENCE = "`create_entities` of `server-memory`, the same facts"
SERVER = Path(__file__).parent / "node_modules/@modelcontextprotocol/server-memory/dist/index.js"


def rows() -> list[Row]:
    """All rows."""
    if not SERVER.is_file():
        raise RuntimeError("the reference is missing: run `npm ci --prefix bench`")
    with tempfile.TemporaryDirectory() as scratch:
        few, many = Path(scratch, "few"), Path(scratch, "many")
        few.mkdir()
        ours, theirs = asyncio.run(_written(few, 0, CALLS))
        tenth = len(ours) // 10
        many.mkdir()
        _keep(many, KEPT_BEFORE)
        ours_of_many, theirs_of_many = asyncio.run(_written(many, KEPT_BEFORE, MORE_CALLS))
    figure = f"{CALLS} assertions by MCP over stdio, one a call"
    return [
        Row(f"{figure}, each", fmean(ours), REFERENCE, fmean(theirs), GOAL),
        Row(f"{figure}, each of the last tenth", fmean(ours[-tenth:]), REFERENCE, fmean(theirs[-tenth:]), GOAL),
        Row(
            f"an assertion by MCP over stdio after {KEPT_BEFORE:,} facts",
            fmean(ours_of_many),
            REFERENCE,
            fmean(theirs_of_many),
            GOAL_OF_MANY,
        ),
    ]


async def _written(folder: Path, first: int, calls: int) -> tuple[list[float], list[float]]:
    """Write facts from the number `first` on; the seconds of a call on each side, for each batch."""
    times: tuple[list[float], list[float]] = ([], [])
    async with _servers(folder) as (ours, theirs):
        for begin in range(first, first + calls, BATCH):
            numbers = range(begin, begin + BATCH)
            assertions = [("skill_assert", _assertion(number)) for number in numbers]
            entities = [("create_entities", {"entities": [_entity(number)]}) for number in numbers]
            for client, made, kept in ((ours, assertions, times[0]), (theirs, entities, times[1])):
                start = time.perf_counter()
                answers = [await client.call_tool(tool, arguments) for tool, arguments in made]
                kept.append((time.perf_counter() - start) / BATCH)
                _check(answers)
    return times


def _check(answers: list[Any]) -> None:
    """Raise if a call did not write a new fact."""
    for answer in answers:
        details = answer.structured_content or {}
        if answer.is_error or not (details.get("created") or details.get("entities")):
            raise RuntimeError(f"a fact was not written: {answer.content[0].text}")


@asynccontextmanager
async def _servers(folder: Path) -> AsyncIterator[tuple[Any, Any]]:
    from mcp import Client, StdioServerParameters

    settings = environment(folder) | {"CORTEX_STORE": str(folder / "store")}
    ours = StdioServerParameters(command=COMMAND, args=["mcp"], env=settings)
    place = {**settings, "MEMORY_FILE_PATH": str(folder / "memory.jsonl")}
    theirs = StdioServerParameters(command="node", args=[str(SERVER)], env=place)
    async with Client(ours) as one, Client(theirs) as other:
        yield one, other


def _keep(folder: Path, count: int) -> None:
    """Write facts as both servers keep them."""
    store = open_store(str(folder / "store"))
    try:
        graph = NamespacedGraph(store, "mayros")
        for number in range(count):
            graph.create_triple(_assertion(number), Provenance(agent="default", skill="notebook"))
    finally:
        store.close()
    lines = [json.dumps({"type": "entity", **_entity(number)}) for number in range(count)]
    (folder / "memory.jsonl").write_text("\n".join(lines))


def _assertion(number: int) -> dict[str, Any]:
    return {"subject": f"person:{number}", "predicate": "worksOn", "object": f"the project of number {number % 97}"}


def _entity(number: int) -> dict[str, Any]:
    observation = f"worksOn the project of number {number % 97}"
    return {"name": f"person:{number}", "entityType": "person", "observations": [observation]}
