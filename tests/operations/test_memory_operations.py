"""Every interface gives a caller the same verdict about the memories of agents, and leaves a record of each change."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from cortex_skills import Plugin
from cortex_skills.errors import CortexError
from cortex_skills.features.memory import memory_reading, remembering
from cortex_skills.features.memory.memory_triples import MemoryReader
from cortex_skills.operations.caller import Caller
from cortex_skills.operations.operation import OPERATIONS, all_operations
from cortex_skills.operations.run import run
from tests.configs import config
from tests.mcp.conftest import over_http
from tests.plugin.skills import write_skill
from tests.server.serving import Running, served

_NUMBERS = itertools.count()
_DENIED = "permission_denied"
GRANTED = {
    "read": ("read", "audit"),
    "write": ("read", "write", "audit"),
    "all": ("read", "write", "memories", "audit"),
}


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    root = tmp_path_factory.mktemp("memories")
    write_skill(root / "probe", permissions={"memory": ["remember", "recall"]}, assertions=[])
    settings = config(
        audit={"folder": str(root / "audit")},
        cortex={"tokenFile": str(root / "tokens.json")},
        tools={"profiles": ["core", "registry"]},
        skillSandbox={"maxCallsPerMinute": 1000},
    )
    plugin = Plugin.open(settings)
    plugin.load(root / "probe")
    with served(root, plugin=plugin) as running:
        yield running


def text() -> str:
    return f"Fact {next(_NUMBERS)} about kestrels."


def token_of(running: Running, caller: str) -> str:
    holder, _, granted = caller.partition(" ")
    return running.token(f"{holder}-{granted}", ("mayros",), GRANTED[granted], holder)  # type: ignore[arg-type]


def known(running: Running, agent: str) -> str:
    """The id of a new memory of an agent."""
    made: str = running.plugin.operate(remembering.remember, text=text(), agent=agent).id
    return made


# --- the interfaces: each does one thing to the memories of an agent, and returns `ok`, or the code


def by_operation(running: Running, done: str, agent: str, caller: str) -> str:
    given: dict[str, Any] = {"agent": agent}
    given |= {
        "remember": lambda: {"text": text()},
        "reflect": lambda: {"text": text(), "reflects_on": [known(running, agent)]},
        "forget": lambda: {"id": known(running, agent)},
        "recall": lambda: {"text": "kestrels"},
        "count": dict,
        "list": dict,
        "recalls": dict,
        "search": lambda: {"text": "kestrels"},
        "show": lambda: {"id": known(running, agent)},
        "correct": lambda: {"id": known(running, agent), "text": text()},
    }[done]()
    try:
        running.plugin.operate(OPERATIONS[f"memory.{done}"], **given)
    except CortexError as error:
        return error.code
    return "ok"


def by_rest(running: Running, done: str, agent: str, caller: str) -> str:
    client, params = running.client(token_of(running, caller)), {"memoriesOf": agent}
    if done == "forget":
        return code_of(client.delete(f"/api/v1/memory/{known(running, agent)}", params=params))
    if done == "show":
        return code_of(client.get(f"/api/v1/memory/{known(running, agent)}", params=params))
    if done == "correct":
        corrected = f"/api/v1/memory/{known(running, agent)}/correct"
        return code_of(client.post(corrected, json={"text": text(), "memoriesOf": agent}))
    if done in READ:
        return code_of(client.get(f"/api/v1/memory{READ[done]}", params={**params, **SEARCHED.get(done, {})}))
    body: dict[str, Any] = {
        "remember": {"entry_type": "fact", "data": text()},
        "recall": {"text": "kestrels"},
        "reflect": {"text": text(), "reflects_on": [known(running, agent)]},
    }[done]
    return code_of(client.post(f"/api/v1/memory/{done}", params=params, json=body))


def by_tool(running: Running, done: str, agent: str, caller: str) -> str:
    tool, given = {
        "remember": ("skill_memory_remember", {"text": text()}),
        "recall": ("skill_memory_context", {"query": "kestrels"}),
        "reflect": ("skill_memory_reflect", {"text": text(), "reflects_on": [known(running, agent)]}),
    }[done]

    async def called() -> str:
        async with over_http(running, token_of(running, caller), mode="legacy") as client:
            answer = await client.call_tool(tool, {"skill": "probe", **given})
            return str(answer.structured_content["code"]) if answer.is_error else "ok"

    return asyncio.run(called())


def code_of(answer: httpx.Response) -> str:
    return "ok" if answer.is_success else str(answer.json()["code"])


READ = {"count": "/stats", "list": "", "search": "/search", "recalls": "/recalls"}
SEARCHED = {"search": {"text": "kestrels"}}
Door = Callable[[Running, str, str, str], str]
REACHED: dict[str, dict[str, Door]] = {
    # Agents have no tool to correct or forget: no permission of a manifest is for that. Lists are for people.
    "remember": {"python": by_operation, "rest": by_rest, "mcp": by_tool},
    "recall": {"python": by_operation, "rest": by_rest, "mcp": by_tool},
    "reflect": {"python": by_operation, "rest": by_rest, "mcp": by_tool},
    "forget": {"python": by_operation, "rest": by_rest},
    **{
        each: {"python": by_operation, "rest": by_rest}
        for each in ("count", "list", "search", "show", "correct", "recalls")
    },
}
CHANGES = ("remember", "reflect", "forget", "correct")
RECORDED = (*CHANGES, "recall")


def test_every_operation_is_in_the_table() -> None:
    assert {f"memory.{name}" for name in REACHED} == {each for each in all_operations() if each.startswith("memory.")}


@pytest.mark.parametrize("caller", ["owner", "person write", "agent write", "person read", "agent read"])
@pytest.mark.parametrize("done", sorted(REACHED))
def test_every_interface_gives_one_verdict_and_leaves_a_record_that_opens(
    running: Running, done: str, caller: str
) -> None:
    holder, _, granted = caller.partition(" ")
    expected = _DENIED if granted == "read" and done in CHANGES else "ok"
    for door, does in REACHED[done].items():
        if (door == "python") != (caller == "owner") or (door == "mcp" and holder != "agent"):
            continue
        agent = running.plugin.agent if caller == "owner" else f"{holder}-{granted}"
        before = running.plugin.recent_calls.page().calls
        assert (door, does(running, done, agent, caller)) == (door, expected)
        new = [each.record for each in running.plugin.recent_calls.page(limit=20).calls if each not in before]
        found = [act for each in new for act in each.acts]
        made = [each for each in found if each.event == f"memory.{done}" and each.data["door"] == door]
        if done not in RECORDED or expected == _DENIED:
            assert made == []  # a token that may not write reaches no operation that does
            continue
        (record,) = made[-1:] if done == "remember" and caller == "owner" else made
        assert (record.outcome, record.data["kind"]) == ("ok", holder)
        if done == "recall":
            assert record.data["agent"] == agent
            assert record.data["text"] == "kestrels"
            assert "about kestrels" not in json.dumps(record.to_json())
            continue
        owner, _, identifier = record.data["object"].rpartition("/")
        assert owner == agent
        opened = MemoryReader(running.plugin.memories.graph_of(owner)).one(identifier)
        assert (opened is None, record.data["after"] is None) == (done == "forget", done == "forget")
        assert "kestrels" not in json.dumps(record.to_json())


@pytest.mark.parametrize("done", sorted(REACHED))
def test_the_memories_of_another_agent_need_the_permission_through_every_interface(running: Running, done: str) -> None:
    for caller, code in (("agent write", _DENIED), ("agent all", "ok")):
        assert (caller, by_rest(running, done, "other", caller)) == (caller, code)
    given: dict[str, Any] = {
        "remember": {"text": text()},
        "reflect": {"text": text(), "reflects_on": ["0" * 32]},
        **{each: {"text": "k"} for each in ("recall", "search")},
        **{each: {"id": "0" * 32} for each in ("forget", "show", "correct")},
    }.get(done, {})
    asking = Caller("a1", "agent", "mcp", frozenset({"read", "write"}))
    with pytest.raises(CortexError) as refused:
        run(
            OPERATIONS[f"memory.{done}"],
            asking,
            {**given, "agent": "other"},
            running.plugin.host_of(running.plugin.graph),
        )
    assert refused.value.code == _DENIED


def test_who_writes_a_memory_of_another_agent_is_its_author(running: Running) -> None:
    client = running.client(token_of(running, "agent all"))
    for agent, authors in (("other", ["agent-all"]), ("agent-all", [])):
        body = {"entry_type": "fact", "data": f"Written for {agent}."}
        made = client.post("/api/v1/memory/remember", params={"memoriesOf": agent}, json=body).json()
        memory = MemoryReader(running.plugin.memories.graph_of(agent)).one(made["id"])
        assert memory is not None
        assert list(memory.authors) == authors


def test_remembering_again_is_recorded_as_no_change(running: Running) -> None:
    again = text()
    first = running.plugin.operate(remembering.remember, text=again)
    second = running.plugin.operate(remembering.remember, text=f" {again} ")
    assert (second.id, first.created, second.created) == (first.id, True, False)
    new, old = (each.record.data for each in running.plugin.recent_calls.page(limit=2).calls[::-1])
    assert (new["before"], old["before"]) == (None, old["after"])


def test_a_recalled_reflection_is_counted_through_every_interface(running: Running) -> None:
    agent = "agent-write"
    done = running.plugin.operate(
        remembering.reflect, text="Ospreys fish.", reflects_on=[known(running, agent)], agent=agent
    )
    client = running.client(token_of(running, "agent write"))
    for wanted in ({"text": "ospreys"}, {}):
        found = client.post("/api/v1/memory/recall", json={**wanted, "limit": 50}).json()
        assert done.memory.id in [each["id"] for each in found]
    memory = MemoryReader(running.plugin.memories.graph_of(agent)).one(done.memory.id)
    assert memory is not None
    assert memory.uses == 2


def test_what_follows_an_operation_cannot_undo_it(
    running: Running, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    def fails(*_: Any, **__: Any) -> None:
        raise CortexError("graph_busy", "the registry is busy")

    monkeypatch.setattr("cortex_skills.features.registry.skill_changes.memory_forgotten", fails)
    identifier = known(running, "other")
    running.plugin.operate(remembering.forget, id=identifier, agent="other")
    assert MemoryReader(running.plugin.memories.graph_of("other")).one(identifier) is None
    assert "what follows memory.forget of other/" in caplog.text


def test_what_reads_and_corrects_is_the_callers_own_or_of_all_with_the_permission(running: Running) -> None:
    plugin, host = running.plugin, running.plugin.host_of(running.plugin.graph)
    own, other = known(running, "lone"), known(running, "else")
    plain = Caller("lone", "agent", "mcp", frozenset({"read", "write"}))
    all_ = Caller("lone", "agent", "mcp", frozenset({"read", "write", "memories"}))

    def listed(caller: Caller, **given: Any) -> set[str]:
        return {each["agent"] for each in run(memory_reading.list_memories, caller, given, host)["memories"]}

    def searched(caller: Caller, **given: Any) -> set[str]:
        found = run(memory_reading.search_memories, caller, {"text": "kestrels", "limit": 50, **given}, host)
        return {each["agent"] for each in found["memories"]}

    for asked in (listed, searched):
        assert asked(plain) == {"lone"}
        assert {"lone", "else"} <= asked(all_)
        assert asked(all_, agent="else") == {"else"}
    assert run(memory_reading.show_memory, plain, {"id": own}, host)["agent"] == "lone"
    assert run(memory_reading.show_memory, all_, {"id": other}, host)["agent"] == "else"
    refused = [
        (plain, memory_reading.show_memory, {"id": other}, "not_found"),
        (plain, memory_reading.list_memories, {"agent": "else"}, _DENIED),
        (plain, memory_reading.search_memories, {"text": "k", "agent": "else"}, _DENIED),
        (plain, memory_reading.correct, {"id": other, "text": "t"}, "not_found"),
        (plain, memory_reading.correct, {"id": other, "text": "t", "agent": "else"}, _DENIED),
        (all_, memory_reading.correct, {"id": other, "text": "t"}, "not_found"),  # what changes names the agent
        (all_, remembering.forget, {"id": other}, "not_found"),
        (Caller("lone", "agent", "mcp", frozenset({"read"})), memory_reading.correct, {"id": own}, _DENIED),
    ]
    for caller, operation, given, code in refused:
        with pytest.raises(CortexError) as error:
            run(operation, caller, given, host)
        assert error.value.code == code
    corrected = run(memory_reading.correct, all_, {"id": other, "text": text(), "agent": "else"}, host)
    assert (corrected["agent"], corrected["writtenBy"]) == ("else", ["default", "lone"])
    assert plugin.memories.graph_of("else").count() > 0


def test_a_correction_keeps_what_refers_to_the_memory_and_degrades_what_was_made_of_it(running: Running) -> None:
    plugin = running.plugin
    source = known(running, "thinker")
    made = plugin.operate(remembering.reflect, text=text(), reflects_on=[source], agent="thinker").memory
    plugin.operate(remembering.recall, text="kestrels", agent="thinker", limit=50)
    before = MemoryReader(plugin.memories.graph_of("thinker")).one(made.id)
    corrected = plugin.operate(memory_reading.correct, id=source, text=text(), agent="thinker")
    reader = MemoryReader(plugin.memories.graph_of("thinker"))
    assert reader.one(source) is None
    reflection = reader.one(made.id)
    assert reflection is not None
    assert reflection.reflects_on == (corrected["id"],)
    again = plugin.operate(memory_reading.correct, id=made.id, text=text(), importance=0.9, agent="thinker")
    assert (again["depth"], again["reflectsOn"], again["importance"]) == (1, [corrected["id"]], 0.9)
    kept = reader.one(again["id"])
    assert before is not None
    assert kept is not None
    assert (kept.uses, kept.time) == (before.uses, before.time)
    assert len(reader.identifiers()) == 2
    graph = plugin.memories.graph_of("thinker")
    triples = graph.list_triples({"limit": 100})["triples"]
    assert {graph.get_triple(each["id"])["id"] for each in triples} == {each["id"] for each in triples}
