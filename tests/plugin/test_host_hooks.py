"""The hooks of a host: their arguments, what they may refuse, and that they cannot break a call."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from cortex_skills import CortexError, Plugin
from cortex_skills.gate.hooks import AgentStart, SessionEnd, ToolCall, ToolEnd

Opened = Callable[..., Plugin]
Written = Callable[..., Path]

QUERY = ("skill_graph_query", {"scope": "namespace"})
NOTE = {"subject": "s", "predicate": "note", "object": "o"}
EVENTS = ("before_agent_start", "before_tool_call", "after_tool_call", "session_end")


def refuse(call: ToolCall) -> None:
    raise CortexError("tool_not_allowed", f"the host does not want {call.tool}", hint="ask it")


def fail(received: object) -> None:
    raise ZeroDivisionError("a bug of the host")


def test_hooks_run_in_the_order_of_the_session(opened: Opened, skill: Written) -> None:
    plugin = opened()
    received: list[Any] = []
    for event in EVENTS:
        plugin.on(event, received.append)  # type: ignore[arg-type]
    plugin.load(skill("probe", queries=[{"predicate": "note", "scope": "namespace"}]))
    plugin.context(agent="a2")
    plugin.call("skill_assert", NOTE)
    plugin.close()
    plugin.close()
    start, asked, answered, call, end, last = received
    session = plugin.session
    assert start == AgentStart("a2", session)
    assert asked == ToolCall("skill_graph_query", {"predicate": "note", "scope": "namespace"}, "probe", "a2", session)
    assert (answered.record.tool, answered.record.agent) == ("skill_graph_query", "a2")
    assert call == ToolCall("skill_assert", NOTE, "probe", "a1", session)
    assert isinstance(end, ToolEnd)
    assert (end.record.outcome, end.session, end.result.details["created"]) == ("ok", session, True)
    assert last == SessionEnd("a1", session)


def test_a_hook_refuses_a_call_and_no_budget_is_used(opened: Opened, skill: Written) -> None:
    plugin = opened(sandbox={"maxCallsPerMinute": 1, "maxAssertions": 1})
    plugin.load(skill("probe"))
    later: list[object] = []
    take_back = plugin.on("before_tool_call", refuse)
    plugin.on("before_tool_call", later.append)
    for _ in range(3):
        refused = plugin.call("skill_assert", NOTE)
        assert (refused.code, refused.text) == ("tool_not_allowed", "the host does not want skill_assert\nask it")
    assert later == []
    assert plugin.graph.list_triples({})["total"] == 0
    take_back()
    take_back()
    assert plugin.call("skill_assert", NOTE).details["created"] is True
    assert len(later) == 1


def test_a_call_that_manifests_refuse_runs_only_the_hook_after_it(plugin: Plugin, skill: Written) -> None:
    asked: list[ToolCall] = []
    ended: list[ToolEnd] = []
    plugin.on("before_tool_call", asked.append)
    plugin.on("after_tool_call", ended.append)
    plugin.load(skill("reader", permissions={"graph": ["read"]}, assertions=[]))
    plugin.call("skill_assert", NOTE)
    plugin.call("skill_assert", {"subject": 1})
    plugin.call("no_such_tool", {})
    assert asked == []
    assert [end.record.outcome for end in ended] == ["permission_denied", "invalid_arguments", "tool_not_found"]
    assert [end.result.code for end in ended if end.result] == [end.record.outcome for end in ended]


@pytest.mark.parametrize("event", EVENTS)
def test_an_exception_of_a_hook_is_logged_and_the_call_continues(
    opened: Opened, skill: Written, caplog: pytest.LogCaptureFixture, event: str
) -> None:
    plugin = opened()
    others: list[object] = []
    plugin.on(event, fail)  # type: ignore[arg-type]
    plugin.on(event, others.append)  # type: ignore[arg-type]
    plugin.load(skill("probe"))
    plugin.context()
    assert plugin.call("skill_assert", NOTE).details["created"] is True
    plugin.close()
    assert len(others) == 1
    (logged,) = [record for record in caplog.records if record.name == "cortex_skills.gate.hooks"]
    assert event in logged.getMessage()
    assert logged.exc_info is not None


@pytest.mark.parametrize("event", ["before_agent_start", "after_tool_call", "session_end"])
def test_only_the_hook_before_a_call_can_refuse(opened: Opened, skill: Written, event: str) -> None:
    plugin = opened()

    def deny(_: object) -> None:
        raise CortexError("unauthorized", "no")

    plugin.on(event, deny)  # type: ignore[arg-type]
    plugin.load(skill("probe"))
    plugin.context()
    assert plugin.call("skill_assert", NOTE).code is None
    plugin.close()


def test_a_hook_cannot_change_validated_arguments(plugin: Plugin, skill: Written) -> None:
    seen: list[dict[str, Any]] = []

    def change(call: ToolCall) -> None:
        seen.append(dict(call.arguments))
        call.arguments.update(predicate="undeclared", object={"node": "other"})

    plugin.on("before_tool_call", change)
    plugin.on("before_tool_call", change)
    plugin.load(skill("probe"))
    given = dict(NOTE)
    assert plugin.call("skill_assert", given).details["predicate"] == "mayros:note"
    assert given == NOTE
    assert seen == [NOTE, NOTE]


def test_a_call_made_by_a_hook_runs_no_hooks(plugin: Plugin, skill: Written) -> None:
    received: list[str] = []

    def ask(call: ToolCall) -> None:
        received.append(call.tool)
        assert plugin.call(*QUERY).code is None

    plugin.on("before_tool_call", ask)
    plugin.load(skill("probe"))
    assert plugin.call("skill_assert", NOTE).code is None
    assert plugin.call("skill_assert", NOTE).code is None
    assert received == ["skill_assert", "skill_assert"]


def test_the_last_hook_can_still_use_the_skills_and_the_store(opened: Opened, skill: Written) -> None:
    plugin = opened()
    plugin.load(skill("probe"))
    codes: list[str | None] = []
    plugin.on("session_end", lambda _: codes.append(plugin.call("skill_assert", NOTE).code))
    plugin.on("session_end", lambda _: plugin.close())
    plugin.close()
    assert codes == [None]


@pytest.mark.parametrize("event", ["before_toolcall", "", None, 3, [], {}])
def test_an_unknown_event_is_refused(plugin: Plugin, event: Any) -> None:
    with pytest.raises(CortexError) as refused:
        plugin.on(event, print)
    assert refused.value.code == "invalid_arguments"
    assert "before_tool_call" in refused.value.hint


async def _later(_: object) -> None: ...


class _Later:
    async def __call__(self, _: object) -> None: ...


@pytest.mark.parametrize("hook", [None, "print", _later, _Later()])
def test_a_hook_that_would_never_run_is_refused(plugin: Plugin, hook: Any) -> None:
    with pytest.raises(CortexError) as refused:
        plugin.on("before_tool_call", hook)
    assert refused.value.code == "invalid_arguments"


def test_hooks_are_added_and_removed_while_threads_call(opened: Opened, skill: Written) -> None:
    plugin = opened()
    plugin.load(skill("probe"))
    ended: list[str] = []
    plugin.on("after_tool_call", lambda end: ended.append(end.record.outcome))
    stop = threading.Event()

    def come_and_go() -> int:
        turns = 0
        while not stop.is_set() or turns == 0:
            plugin.on("before_tool_call", lambda call: None)()
            turns += 1
        return turns

    with ThreadPoolExecutor(5) as pool:
        changing = pool.submit(come_and_go)
        calls = [pool.submit(plugin.call, *QUERY) for _ in range(100)]
        codes = [call.result().code for call in calls]
        stop.set()
        assert changing.result() > 0
    assert codes == [None] * 100
    assert ended == ["ok"] * 100


# --- tools of the host


def test_a_hosts_own_tool_is_allowed_by_the_allow_lists_of_active_skills(plugin: Plugin, skill: Written) -> None:
    assert plugin.check("hub_install").allowed
    plugin.load(skill("all", allowedTools=["*"]))
    assert plugin.check("hub_install").allowed
    plugin.load(skill("queries", allowedTools=["skill_graph_query", "hub_search"]))
    assert plugin.check("hub_search").allowed
    refused = plugin.check("hub_install")
    assert (refused.allowed, refused.code) == (False, "tool_not_allowed")
    assert refused.message == "hub_install is not among the allowedTools of queries"
    assert refused.hint
    plugin.unload("queries")
    assert plugin.check("hub_install").allowed


def test_a_hosts_own_tool_may_need_permissions(plugin: Plugin, skill: Written) -> None:
    assert plugin.check("hub_install", permissions=["graph:write"]).code == "skill_not_found"
    plugin.load(skill("writer", allowedTools=["*"]))
    assert plugin.check("hub_install", permissions=["graph:write"]).allowed
    plugin.load(skill("reader", permissions={"graph": ["read"]}, assertions=[], allowedTools=["*"]))
    assert plugin.check("hub_install", permissions=["graph:write"]).code == "skill_ambiguous"
    assert plugin.check("hub_install", permissions=["graph:write"], skill="writer").allowed
    assert plugin.check("hub_install", permissions=["graph:write"], skill="reader").code == "permission_denied"
    assert plugin.check("hub_install", permissions=["graph:rite"], skill="writer").code == "permission_denied"
    assert plugin.check("hub_install", skill="readr").hint == "did you mean reader?"


@pytest.mark.parametrize("allowed", [["*"], ["skill_graph_query"], ["skill_assert"]])
@pytest.mark.parametrize("granted", [["read"], ["read", "write"]])
def test_a_check_of_a_built_in_tool_agrees_with_the_gate(
    plugin: Plugin, skill: Written, allowed: list[str], granted: list[str]
) -> None:
    assertions = [{"predicate": "note"}] if "write" in granted else []
    tools = {"permissions": {"graph": granted}, "assertions": assertions, "allowedTools": allowed}
    plugin.load(skill("probe", **tools))
    for tool, arguments in (QUERY, ("skill_assert", NOTE)):
        decision, done = plugin.check(tool), plugin.call(tool, arguments)
        assert (decision.code, decision.allowed) == (done.code, done.code is None)
        if done.is_error:
            assert f"{decision.message}\n{decision.hint}" == done.text


def test_a_check_uses_no_budget_and_runs_no_hook(
    opened: Opened, skill: Written, caplog: pytest.LogCaptureFixture
) -> None:
    plugin = opened(sandbox={"maxCallsPerMinute": 1, "maxAssertions": 1})
    plugin.load(skill("probe"))
    received: list[object] = []
    plugin.on("before_tool_call", received.append)
    plugin.on("after_tool_call", received.append)
    before = plugin.status()
    caplog.clear()
    assert all(plugin.check("skill_assert").allowed for _ in range(100))
    assert plugin.status() == before
    assert (received, caplog.records) == ([], [])
    assert plugin.call("skill_assert", NOTE).code is None


@pytest.mark.parametrize("tool", ["", "*", "x" * 65, "a\n", "\ud800", "1x", None, 3, [], object()])
def test_an_invalid_tool_name_is_not_allowed(plugin: Plugin, skill: Written, tool: Any) -> None:
    plugin.load(skill("all", allowedTools=["*"]))
    refused = plugin.check(tool)
    assert (refused.allowed, refused.code) == (False, "invalid_arguments")
    assert len(refused.message) < 300


@pytest.mark.parametrize("permissions", ["graph:write", [3], [["graph:write"]], 3, None])
def test_permissions_that_are_not_a_list_are_refused(plugin: Plugin, skill: Written, permissions: Any) -> None:
    plugin.load(skill("all", allowedTools=["*"]))
    assert plugin.check("hub_install", permissions=permissions).code == "invalid_arguments"


def test_a_call_of_a_hosts_own_tool_is_recorded_in_the_audit(plugin: Plugin, caplog: pytest.LogCaptureFixture) -> None:
    received: list[ToolEnd] = []
    plugin.on("after_tool_call", received.append)
    with caplog.at_level(logging.INFO, logger="cortex_skills.audit"):
        plugin.record("hub_install", skill="probe", agent="a2", milliseconds=3)
        plugin.record("hub_install\n", outcome="tool_not_allowed")
    first, second = [json.loads(r.getMessage()) for r in caplog.records if r.name == "cortex_skills.audit"]
    time = first.pop("time")
    assert time.endswith("+00:00")
    given = {"tool": "hub_install", "skill": "probe", "agent": "a2", "outcome": "ok", "milliseconds": 3.0}
    new = {"level": "info", "event": "tool.call", "category": "tool", "actor": None}
    approval = {"approval_required": False, "approved_by": None, "trust_level": None, "session": None, "changes": []}
    assert first == {**given, "stripped": 0, **new, **approval}
    assert (second["tool"], second["skill"], second["agent"], second["outcome"]) == (
        "hub_install\n",
        None,
        "a1",
        "tool_not_allowed",
    )
    assert [(end.record.outcome, end.result) for end in received] == [("ok", None), ("tool_not_allowed", None)]


@pytest.mark.parametrize(
    "given",
    [
        {"outcome": "it was: secret"},
        {"outcome": ""},
        {"outcome": None},
        {"milliseconds": -1},
        {"milliseconds": float("nan")},
        {"milliseconds": True},
        {"milliseconds": "3"},
        {"agent": ""},
    ],
)
def test_an_invalid_record_is_refused(plugin: Plugin, caplog: pytest.LogCaptureFixture, given: dict[str, Any]) -> None:
    with pytest.raises(CortexError) as refused:
        plugin.record("hub_install", **given)
    assert refused.value.code == "invalid_arguments"
    assert not caplog.records
