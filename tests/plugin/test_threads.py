"""Many threads on one plugin: no slot is lost or taken twice, no call raises, and every answer is correct."""

from __future__ import annotations

import asyncio
import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from cortex_skills import Plugin
from cortex_skills.gate.result import Result
from tests.configs import config
from tests.plugin.skills import living_sandboxes
from tests.time_limits import LONG_MS

Opened = Callable[..., Plugin]
Written = Callable[..., Path]

THREADS = 8
COUNTING = """// @ts-nocheck
let asked = 0;
export default { name: "NAME", onQuery: ({ agentId }) => ({ additionalContext: { agentId, asked: ++asked } }) };"""
MISBEHAVING = """// @ts-nocheck
const kept = [];
export default { name: "NAME", async onQuery({ agentId, results }) {
  await graphClient.createTriple({ subject: agentId, predicate: "note", object: Math.random() }).catch(() => 0);
  switch (Math.floor(Math.random() * 5)) {
    case 0: throw new Error("no");
    case 1: return new Promise(() => {});
    case 2: return { results: results.map((t) => ({ ...t, object: "forged" })), additionalContext: "x".repeat(1e5) };
    case 3: for (;;) kept.push(new Array(1000).fill(1));
    default: return { results: results.slice(1) };
  }
} };"""


def before_listing(plugin: Plugin, wait: Callable[[], object]) -> None:
    """Delay the graph before it lists triples."""
    listing = plugin.graph.list_triples

    def list_late(*arguments: Any, **more: Any) -> Any:
        wait()
        return listing(*arguments, **more)

    plugin.graph.list_triples = list_late  # type: ignore[method-assign]


def together(work: Callable[[int], Any], count: int = THREADS) -> list[Any]:
    """The results of `work(0)`, `work(1)`, …, started together."""
    barrier = threading.Barrier(count)

    def begin(number: int) -> Any:
        barrier.wait()
        return work(number)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(begin, range(count)))


def test_no_slot_is_lost_or_taken_twice(opened: Opened, skill: Written) -> None:
    plugin = opened(sandbox={"maxAssertions": 40})
    for name in ("one", "two"):
        plugin.load(skill(name, COUNTING.replace("NAME", name), maxQueries=60))

    def calls(number: int) -> Counter[tuple[str, str, str | None]]:
        seen: Counter[tuple[str, str, str | None]] = Counter()
        for turn in range(20):
            for name in ("one", "two"):
                query = plugin.call("skill_graph_query", {}, skill=name, agent=f"t{number}")
                note = {"subject": "s", "predicate": "note", "object": f"{name} {number} {turn}"}
                asserted = plugin.call("skill_assert", note, skill=name)
                seen[name, "query", query.code] += 1
                seen[name, "assert", asserted.code] += 1
                if query.code is None:
                    assert f'"agentId":"t{number}"' in query.text
        return seen

    total: Counter[tuple[str, str, str | None]] = sum(together(calls), Counter())
    for name in ("one", "two"):
        assert total[name, "query", None] == 60
        assert total[name, "query", "query_limit"] == 100
        assert total[name, "assert", None] == 40
        assert total[name, "assert", "assertion_limit"] == 120
    assert plugin.graph.count() == 80
    used = [(s["queriesUsed"], s["assertionsUsed"]) for s in plugin.status()["skills"]]
    assert used == [(60, 40), (60, 40)]


def test_repeating_one_assertion_from_all_threads_creates_it_once(opened: Opened, skill: Written) -> None:
    plugin = opened()
    plugin.load(skill("probe"))
    note = {"subject": "s", "predicate": "note", "object": 1}
    results: list[Result] = together(lambda _: plugin.call("skill_assert", note))
    assert Counter(r.details["created"] for r in results) == {True: 1, False: THREADS - 1}
    assert plugin.status()["skills"][0]["assertionsUsed"] == 1


def test_a_misbehaving_skill_does_not_disturb_calls_of_others(opened: Opened, skill: Written) -> None:
    plugin = opened(sandbox={"maxWrites": 1000})
    plugin.graph.create_triples([{"subject": "s", "predicate": "p", "object": n} for n in range(5)])
    plugin.load(skill("good", COUNTING.replace("NAME", "good")))
    plugin.load(skill("bad", MISBEHAVING.replace("NAME", "bad")))
    arguments = {"scope": "namespace", "predicate": "p"}

    def calls(number: int) -> list[tuple[str, Result]]:
        chance = random.Random(number)
        names = [chance.choice(["good", "bad"]) for _ in range(15)]
        return [(name, plugin.call("skill_graph_query", arguments, skill=name, agent=f"t{number}")) for name in names]

    answers = [answer for some in together(calls) for answer in some]
    assert len(answers) == THREADS * 15
    for name, result in answers:
        assert result.code is None
        objects = [match["object"] for match in result.details["matches"]]
        assert set(objects) <= set(range(5))
        if name == "good":
            assert len(objects) == 5
            assert result.details["enrichment"]["status"] == "ok"
    used = {s["name"]: s["queriesUsed"] for s in plugin.status()["skills"]}
    assert used == dict(Counter(name for name, _ in answers))
    written = plugin.status()["skills"][1]["writesUsed"]
    assert plugin.graph.count() == 5 + written
    assert living_sandboxes() <= 2


@pytest.mark.extended
def test_waiting_for_other_calls_does_not_count_as_the_skills_time(opened: Opened, skill: Written) -> None:
    """Each query takes a third of the limit: a waiting one may lack its enrichment, but none is stopped."""
    code = """// @ts-nocheck
    let asked = 0;
    export default { name: "probe", async onQuery() {
      await graphClient.listTriples();
      return { additionalContext: { asked: ++asked } };
    } };"""
    plugin = opened(sandbox={"executionTimeoutMs": 3000})
    plugin.load(skill("probe", code))
    before_listing(plugin, lambda: time.sleep(1))
    results: list[Result] = together(lambda _: plugin.call("skill_graph_query", {}), 6)
    reports = [result.details["enrichment"] for result in results]
    answered = sum(report["status"] == "ok" for report in reports)
    assert answered >= 2
    assert all("busy with other calls" in report["message"] for report in reports if report["status"] != "ok")
    assert plugin.status()["skills"][0]["fault"] is None
    last = plugin.call("skill_graph_query", {})
    assert f'{{"asked":{answered + 1}}}' in last.text


def test_calls_in_progress_end_with_an_error_when_the_plugin_closes(opened: Opened, skill: Written) -> None:
    plugin = opened(sandbox={"maxGraphQueries": 10_000, "executionTimeoutMs": 2000})
    plugin._host.limits.own.rate.max_calls = 10**6
    plugin.load(skill("probe", COUNTING.replace("NAME", "probe"), maxQueries=10**6))
    plugin.load(skill("slow", "export default { name: 'slow', onQuery() { for (;;); } };"))
    codes: list[str | None] = []
    going = threading.Event()

    def calls(number: int) -> None:
        if number == 0:
            assert going.wait(100)
            plugin.close()
            return
        for turn in range(2000):
            if turn == 5:
                going.set()
            name = "slow" if number == 1 else "probe"
            codes.append(plugin.call("skill_graph_query", {}, skill=name).code)
            if codes[-1] == "skill_not_found":
                return

    together(calls)
    assert set(codes) <= {None, "skill_not_found", "graph_unavailable"}
    assert "skill_not_found" in codes
    assert living_sandboxes() == 0


@pytest.mark.parametrize("end", ["unload", "close"])
def test_a_call_in_progress_leaves_no_sandbox_when_its_skill_is_unloaded(
    opened: Opened, skill: Written, end: str
) -> None:
    plugin = opened(sandbox={"executionTimeoutMs": 400})
    plugin.load(skill("probe", "export default { name: 'probe', onQuery() { for (;;); } };"))
    calling = [threading.Thread(target=plugin.call, args=("skill_graph_query", {})) for _ in range(3)]
    for thread in calling:
        thread.start()
    while plugin.status()["skills"] and plugin.status()["skills"][0]["queriesUsed"] < 3:
        time.sleep(0.005)
    plugin.unload("probe") if end == "unload" else plugin.close()
    for thread in calling:
        thread.join(100)
        assert not thread.is_alive()
    assert living_sandboxes() == 0


def test_loading_and_unloading_while_others_call(opened: Opened, skill: Written) -> None:
    plugin = opened()
    plugin.load(skill("stays", COUNTING.replace("NAME", "stays")))
    folder = skill("goes", COUNTING.replace("NAME", "goes"))

    def work(number: int) -> list[str | None]:
        if number == 0:
            for _ in range(10):
                plugin.load(folder)
                plugin.unload("goes")
            return []
        return [plugin.call("skill_graph_query", {}, skill=("stays", "goes")[n % 2]).code for n in range(30)]

    codes = {code for some in together(work) for code in some}
    assert codes <= {None, "skill_not_found"}
    assert list(plugin.skills) == ["stays"]
    assert living_sandboxes() == 1


def test_an_asynchronous_host_is_not_blocked(skill: Written) -> None:
    waits = "export default { name: 'slow', async onQuery() { await graphClient.listTriples(); } };"
    quick_is_over = threading.Event()

    async def host() -> None:
        with Plugin.open(config(skillSandbox={"executionTimeoutMs": LONG_MS})) as plugin:
            before_listing(plugin, lambda: quick_is_over.wait(50))
            plugin.load(skill("slow", waits))
            plugin.load(skill("quick", COUNTING.replace("NAME", "quick")))
            slow = asyncio.create_task(plugin.acall("skill_graph_query", {}, skill="slow"))
            while not plugin.status()["skills"][0]["queriesUsed"]:
                await asyncio.sleep(0.001)
            quick = await asyncio.gather(
                *(plugin.acall("skill_graph_query", {}, skill="quick", agent=f"a{n}") for n in range(5))
            )
            assert not slow.done()
            assert [result.details["enrichment"]["status"] for result in quick] == ["ok"] * 5
            quick_is_over.set()
            assert (await slow).details["enrichment"]["status"] == "none"
            assert (await plugin.acall("nothing", {})).code == "tool_not_found"

    asyncio.run(host())
