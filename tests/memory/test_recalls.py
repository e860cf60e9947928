"""Who recalled a memory: through every interface a recall has one record, which names what it returned."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from cortex_skills import Plugin
from cortex_skills.errors import CortexError
from cortex_skills.features.memory.recalls import list_recalls
from cortex_skills.features.memory.remembering import recall, remember
from cortex_skills.features.memory.requests import new_memory
from cortex_skills.operations.caller import Caller
from cortex_skills.operations.run import run
from tests.configs import config
from tests.explorer.hostile import check_page
from tests.explorer.http.browsing import CLICKED, signed_in
from tests.memory.test_plugin import answering
from tests.plugin.skills import write_skill
from tests.server.serving import Running, served

READER = ("read", "audit", "memories")
PERMISSIONS = {"graph": ["read"], "memory": ["remember", "recall"]}
SEARCH = """\
---
name: operator
description: Acts.
type: semantic
semantic: {version: 1, permissions: {memory: [recall]}, allowedTools: ["*"], skillVersion: "1.0.0"}
---
"""


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    root: Path = tmp_path_factory.mktemp("recalls")
    code = answering("return (await memory.recall('osprey nest')).length;")
    write_skill(root / "probe", code, permissions=PERMISSIONS, assertions=[])
    (root / "operator").mkdir()
    (root / "operator" / "SKILL.md").write_text(SEARCH)
    settings = config(
        audit={"folder": str(root / "audit")},
        cortex={"tokenFile": str(root / "tokens.json")},
        tools={"profiles": ["core", "operator"]},
        actions={"workspace": str(root), "allowReadsWithoutApproval": True},
    )
    plugin = Plugin.open(settings)
    for name in ("probe", "operator"):
        plugin.load(root / name)
    with served(root, plugin=plugin) as running:
        yield running


def remembered(running: Running, text: str, agent: str) -> str:
    return running.plugin.memories.remember(new_memory(text), agent=agent)[0]


def recalls_of(running: Running, memory: str, **given: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = running.plugin.operate(list_recalls, id=memory, **given)["recalls"]
    return found


def lines_of(running: Running, event: str) -> list[dict[str, Any]]:
    """The details of the records in the journal that have an event, as their own or a change."""
    files = sorted(running.plugin.audit.journal.folder.glob("*.ndjson"))  # type: ignore[union-attr]
    return [
        json.loads(line)["details"]
        for file in files
        for line in file.read_text().splitlines()
        if f'"event":"{event}"' in line
    ]


def by_tool(running: Running, agent: str) -> None:
    running.plugin.call("skill_memory_context", {"query": "osprey nest"}, skill="probe", agent=agent)


def by_code(running: Running, agent: str) -> None:
    running.plugin.call("skill_graph_query", {"scope": "namespace"}, skill="probe", agent=agent)


def by_action(running: Running, agent: str) -> None:
    answer = running.plugin.call("search_index", {"query": "osprey nest"}, skill="operator", agent=agent)
    assert answer.code is None, answer.text


def by_rest(running: Running, agent: str) -> None:
    client = running.client(running.token(agent))
    client.post("/api/v1/memory/recall", json={"text": "osprey nest"}).raise_for_status()


DOORS: dict[str, tuple[Callable[[Running, str], None], str, str | None]] = {
    "tool": (by_tool, "python", "probe"),
    "code": (by_code, "python", "probe"),
    "action": (by_action, "python", "operator"),
    "rest": (by_rest, "rest", None),
}


@pytest.mark.parametrize("name", sorted(DOORS))
def test_a_recall_has_one_record_that_names_the_memories_and_the_question(running: Running, name: str) -> None:
    recalls, door, skill = DOORS[name]
    agent = f"a-{name}"
    nest = remembered(running, f"The osprey has a nest, {name}.", agent)
    other = remembered(running, f"The harbour is closed, {name}.", agent)
    before = len(lines_of(running, "memory.recall"))
    recalls(running, agent)
    (found,) = recalls_of(running, nest, agent=agent)
    assert found == found | {
        "agent": agent,
        "by": None,
        "of": agent,
        "memories": [nest],
        "question": "osprey nest",
        "skill": skill,
        "door": door,
    }
    assert (found["session"] is None) == (name == "rest")
    assert recalls_of(running, other, agent=agent) == []
    assert len(lines_of(running, "memory.recall")) == before + 1
    opened = running.plugin.audit.calls.get(found["record"])
    assert opened is not None
    assert opened.record.event == {"tool": "tool.call", "action": "skill_executed"}.get(name, "memory.recall")


def test_a_recall_by_the_owner_names_every_memory_of_the_longest_answer(running: Running) -> None:
    agent = "x" * 256
    made = {remembered(running, f"Gannet number {number} dives.", agent) for number in range(50)}
    running.plugin.operate(recall, text="gannet dives", limit=50, agent=agent)
    (found,) = recalls_of(running, next(iter(made)), agent=agent)
    assert set(found["memories"]) == made
    assert found["agent"] == running.plugin.agent
    latest = running.plugin.operate(recall, limit=1, agent=agent).found[0][0].id
    assert [each["question"] for each in recalls_of(running, latest, agent=agent)] == [None, "gannet dives"]


def test_a_secret_in_the_question_is_in_no_record(running: Running) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9" * 2
    memory = remembered(running, "The petrel flies at night.", "keeper")
    running.plugin.operate(recall, text=f"petrel {secret}", agent="keeper")
    running.plugin.call("skill_memory_context", {"query": f"petrel {secret}"}, skill="probe", agent="keeper")
    assert [each["question"] for each in recalls_of(running, memory)] == ["petrel [redacted]"] * 2
    assert secret not in json.dumps(lines_of(running, "memory.recall"))


def test_who_recalled_is_for_those_who_may_read_the_audit_and_the_memory(running: Running) -> None:
    memory = remembered(running, "The skua steals from the osprey.", "owner-of-it")
    by_rest(running, "owner-of-it")
    running.plugin.operate(recall, text="skua steals", agent="owner-of-it")
    host = running.plugin.host_of(running.plugin.graph)

    def asked(*permissions: str, name: str = "stranger", **given: Any) -> Any:
        caller = Caller(name, "agent", "rest", frozenset(permissions), namespace="mayros")
        try:
            return len(run(list_recalls, caller, given, host)["recalls"])
        except CortexError as error:
            return error.code

    named = {"id": memory, "agent": "owner-of-it"}
    assert asked("read", "memories", **named) == "permission_denied"
    assert asked("read", "audit", **named) == "permission_denied"
    assert asked("read", "audit", id=memory) == "not_found"
    assert asked("read", "audit") == 0  # it has no memories
    assert asked("read", "audit", name="owner-of-it", id=memory) == 2
    assert asked("read", "audit", "memories", **named) == 2
    assert asked("read", "audit", "memories", agent="owner-of-it", limit=1) == 1


def test_a_refused_recall_is_recorded_and_names_no_memory(running: Running) -> None:
    remembered(running, "The knot flies far.", "other")
    client = running.client(running.token("curious"))
    answer = client.post("/api/v1/memory/recall", params={"memoriesOf": "other"}, json={"text": "knot flies"})
    assert answer.status_code == 403
    last = running.plugin.audit.calls.page(limit=1).calls[0].record
    assert (last.event, last.outcome, last.agent) == ("memory.recall", "permission_denied", "curious")
    assert last.data == {"text": "knot flies", "kind": "agent", "door": "rest", "namespace": "mayros"} | {
        "kind": last.data["kind"]
    }


def test_a_correction_is_found_by_both_ids(running: Running) -> None:
    from cortex_skills.audit.recent_calls import CallFilter
    from cortex_skills.features.memory.memory_reading import correct

    first = running.plugin.operate(remember, text="The tern breeds in May.").id
    second = running.plugin.operate(correct, id=first, text="The tern breeds in June.")["id"]
    for about, events in ((first, ["memory.correct", "memory.remember"]), (second, ["memory.correct"])):
        found = running.plugin.audit.calls.page(CallFilter(about=about)).calls
        assert [each.record.event for each in found] == events


def test_rest_pages_and_pages_of_answers_show_recalls(running: Running) -> None:
    memory = remembered(running, "<b>The auk</b> swims upright.", "watcher")
    for question in ("auk swims", "upright <i>auk</i>", "auk"):
        running.plugin.operate(recall, text=question, agent="watcher")
    token = running.token("looker", permissions=READER)
    client: httpx.Client = running.client(token)
    pages, cursor = [], ""
    while cursor is not None:
        given = {"id": memory, "limit": 2, **({"cursor": cursor} if cursor else {})}
        answer = client.get("/api/v1/memory/recalls", params=given).raise_for_status().json()
        pages.append([each["question"] for each in answer["recalls"]])
        cursor = answer["cursor"]
    assert pages == [["auk", "upright <i>auk</i>"], ["auk swims"]]
    assert answer["known"].endswith(f"from {answer['since']} on")
    browser = signed_in(running, token)
    page = browser.get(f"/explore/mayros/memories/{memory}?agent=watcher", headers=CLICKED)
    shown = check_page(page.text, 60_000)
    assert "upright <i>auk</i>" in shown.text
    assert f"from {answer['since']} on" in shown.text
    assert f"/explore/audit?about={memory}" in shown.links
    listed = check_page(browser.get("/explore/mayros/memories?agent=watcher", headers=CLICKED).text, 60_000)
    assert f"by {running.plugin.agent}" in listed.text
    without = signed_in(running, running.token("no-audit", permissions=("read", "memories")))
    page = without.get(f"/explore/mayros/memories/{memory}?agent=watcher", headers=CLICKED)
    assert "shown to a token with the permission audit" in page.text
    assert "upright &lt;i&gt;" not in page.text
    assert "Last recalled" not in without.get("/explore/mayros/memories", headers=CLICKED).text


def test_without_a_journal_no_recall_is_known_and_the_answer_states_it() -> None:
    with Plugin.open(config(audit={"journal": "off"})) as plugin:
        memory, _ = plugin.memories.remember(new_memory("The dunlin probes the mud."), agent=plugin.agent)
        plugin.operate(recall, text="dunlin")
        answer = plugin.operate(list_recalls, id=memory)
        assert (answer["recalls"], answer["since"]) == ([], None)
        assert "no journal" in answer["known"]
        (record,) = (each.record for each in plugin.audit.calls.page().calls)
        assert (record.event, record.data) == ("memory.recall", None)


def test_one_who_may_only_read_the_audit_learns_who_recalled_and_no_text(running: Running) -> None:
    memory = remembered(running, "The fulmar nests on cliffs.", "sea-watch")
    running.plugin.operate(recall, text="fulmar cliffs", agent="sea-watch")
    client = running.client(running.token("auditor", permissions=("read", "audit")))
    found = client.get("/api/v1/audit", params={"about": memory}).raise_for_status()
    assert [each["data"]["memories"] for each in found.json()] == [[memory]]
    assert "nests on" not in found.text
    for path in (f"/api/v1/memory/recalls?id={memory}", f"/api/v1/memory/{memory}"):
        assert client.get(path).status_code == 404
    assert client.get("/api/v1/memory/recalls", params={"memoriesOf": "sea-watch"}).status_code == 403
    assert client.get("/api/v1/memory/recalls").json()["recalls"] == []


def test_the_run_of_a_session_folds_a_recall_and_shows_it_when_asked(running: Running) -> None:
    agent = "runner"
    memory = remembered(running, "An osprey nest needs a tall tree.", agent)
    by_tool(running, agent)
    session = recalls_of(running, memory, agent=agent)[0]["session"]
    browser = signed_in(running, running.token("looker", permissions=READER))
    folded = check_page(browser.get(f"/explore/sessions/{session}?q=tall", headers=CLICKED).text, 60_000)
    assert "Recalled 1 memory" in folded.text
    assert f"/explore/mayros/memories/{memory}?agent={agent}" in folded.links
    changed = browser.get(f"/explore/sessions/{session}?show=changed&q=", headers=CLICKED).text
    assert "Recalled" not in changed
