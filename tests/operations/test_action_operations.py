"""Every interface gives a caller the same verdict about the trust level and about requests for approval."""

from __future__ import annotations

import asyncio
import itertools
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import mcp_types as types
import pytest
from mcp import Client

from cortex_skills import Plugin
from cortex_skills.audit.call_records import AuditRecord
from cortex_skills.doors.http.worker_pools import WorkerPool
from cortex_skills.doors.mcp.caller import SessionCaller
from cortex_skills.doors.mcp.mcp_server import build
from cortex_skills.errors import CortexError
from cortex_skills.operations.operation import OPERATIONS, all_operations
from tests.actions.conftest import operator
from tests.approvals.approver import opened
from tests.explorer.http.browsing import CLICKED, fields_of, signed_in, submitted
from tests.mcp.conftest import over_http
from tests.server.serving import Running, served

__all__ = ["operator"]

CONFIGURED = "configured-" + "x" * 40
LEVELS = itertools.cycle(["suggest", "observe"])
_NUMBERS = itertools.count()


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory, operator: Path) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("deciding")
    plugin = opened(
        "memory:",
        operator,
        folder / "lines",
        cortex={"tokenFile": str(folder / "tokens.json"), "authToken": CONFIGURED},
        audit={"folder": str(folder / "audit")},
        approvals={"ask": "client"},
        skillSandbox={"maxCallsPerMinute": 1000},
    )
    with served(folder, plugin=plugin) as found:
        yield found


# --- the ways to ask: each returns the id of a request


def in_python(running: Running) -> str:
    asked = running.plugin.call("append_line", {"text": str(next(_NUMBERS))}, agent="a1")
    assert "approval" in asked.details, asked.text
    return str(asked.details["approval"])


def over_mcp(running: Running, token: str, **more: Any) -> str:
    async def called() -> str:
        async with over_http(running, token, mode="legacy") as client:
            answer = await client.call_tool("append_line", {"text": str(next(_NUMBERS)), **more})
            return str((answer.structured_content or {})["approval"])

    return asyncio.run(called())


# --- the interfaces: each returns `ok`, or the code


EDITED = {"text": "edited"}


def by_python(plugin: Plugin, name: str, approval_id: str) -> str:
    given: dict[str, Any] = {"approval": approval_id}
    given = {"level": next(LEVELS)} if name == "actions.trust_level.set" else given
    given |= {"inputs": EDITED} if name == "approvals.edit" else {"reason": "r"} if name in DECISIONS else {}
    try:
        plugin.operate(OPERATIONS[name], **given)
    except CortexError as error:
        return error.code
    return "ok"


def by_rest(running: Running, token: str, name: str, approval_id: str) -> str:
    client = running.client(token)
    if name == "actions.trust_level.set":
        return code_of(client.post("/api/v1/trust-level", json={"level": next(LEVELS)}))
    word = name.rpartition(".")[2]
    return code_of(
        client.post(
            f"/api/v1/approvals/{approval_id}/{word}", json={"inputs": EDITED} if word == "edit" else {"reason": "r"}
        )
    )


def by_page(running: Running, token: str, name: str, approval_id: str) -> str:
    browser, word, path = signed_in(running, token), name.rpartition(".")[2], f"/explore/approvals/{approval_id}"
    path = f"{path}/edit" if word == "edit" else path
    forms = re.findall(r"<form.*?</form>", browser.get(path, headers=CLICKED).text, re.DOTALL)
    shown = "preview" if word == "edit" else word
    fields = next((each for form in forms if (each := fields_of(form)).get("action") == shown), {"form": "0" * 64})
    answer = submitted(
        browser, path, {**fields, "action": word, "reason": "r", "input:text": EDITED["text"], "token": token}
    )
    stated = re.search(r"<code>([a-z_]+)</code> · request", answer.text)
    return "ok" if answer.status_code == 303 else stated[1] if stated else str(answer.status_code)


def code_of(answer: httpx.Response) -> str:
    return "ok" if answer.status_code == 200 else str(answer.json()["code"])


def last(running: Running, event: str) -> AuditRecord:
    """The last record of an event."""
    return next(call.record for call in running.plugin.audit.calls.page(limit=5).calls if call.record.event == event)


# --- the callers

APPROVES = ("read", "approve")
CALLERS: dict[str, tuple[str, tuple[str, ...], Any]] = {
    "a person": ("ada", APPROVES, "person"),
    "a person who asked": ("eve", ("read", "write", "approve"), "person"),
    "a person of the name that asked": ("a1", APPROVES, "person"),
    "an agent": ("bot", APPROVES, "agent"),
    "a person who may not": ("kay", ("read", "write"), "person"),
}
DECISIONS = ("approvals.approve", "approvals.edit", "approvals.reject")
CHANGES = (*DECISIONS, "actions.trust_level.set")
READS = {
    "actions.describe": "REST, command, Python: a model reads the schema of the tool",
    "actions.list": "REST, command, Python: a model lists the tools",
    "actions.trust_level.show": "REST, command, Python",
    "approvals.list": "REST, page, command, Python",
    "approvals.preview_edit": "REST, page, Python",
    "approvals.show": "REST, page, command, Python; over MCP the agent's own, `approval_status`",
    "approvals.status": "over MCP, the tool `approval_status` and the resource; Python: an agent reads its own",
    "approvals.wait": "command, Python: a request over HTTP would hold a thread of the server",
}


def token_of(running: Running, caller: str) -> str:
    if caller == "the configuration":
        return CONFIGURED
    name, permissions, holder = CALLERS[caller]
    return running.token(name, permissions=permissions, holder=holder)


OWN = {"a person who asked": "eve", "a person of the name that asked": "a1", "the configuration": "configured"}


def askers(name: str, caller: str) -> list[str]:
    """Who asked, where that can matter: the caller and another, for a caller of a name that asks."""
    own = OWN.get(caller) if name in DECISIONS else None
    return ["a1"] if own is None else [own, "eve" if own == "a1" else "a1"]


def expected(name: str, caller: str, asked_by: str) -> str:
    """The one verdict."""
    if caller == "a person who may not":
        return "permission_denied"
    if name == "actions.trust_level.set":
        return "permission_denied" if caller == "an agent" else "ok"
    if name in ("approvals.approve", "approvals.edit") and (caller == "an agent" or OWN.get(caller) == asked_by):
        return "permission_denied"
    return "ok"


def test_every_operation_of_the_feature_is_here() -> None:
    found = {name for name in all_operations() if name.startswith(("actions.", "approvals."))}
    assert {name for name in found if not name.startswith("approvals.rule.")} == {*CHANGES, *READS}


@pytest.mark.parametrize(
    ("name", "caller", "asked_by"),
    [
        (name, caller, asked_by)
        for name in CHANGES
        for caller in (*CALLERS, "the configuration")
        for asked_by in askers(name, caller)
    ],
)
def test_every_interface_gives_one_verdict_and_leaves_a_record(
    running: Running, name: str, caller: str, asked_by: str
) -> None:
    token = token_of(running, caller)
    ask: dict[str, Callable[[], str]] = {
        "a1": lambda: in_python(running),
        "eve": lambda: over_mcp(running, token_of(running, "a person who asked")),
        "configured": lambda: over_mcp(running, CONFIGURED, agent="a7"),
    }
    doors: dict[str, Callable[..., str]] = {"rest": by_rest, "page": by_page}
    if name == "actions.trust_level.set":
        del doors["page"]  # there is no form for it
    for door, decided in doors.items():
        running.plugin.trust.set("observe", actor="owner")
        approval_id = ask[asked_by]()
        verdict = decided(running, token, name, approval_id)
        assert (door, verdict) == (door, expected(name, caller, asked_by))
        if name in DECISIONS:
            state = running.plugin.approvals.state_of(running.plugin.approvals.show(approval_id))
            after = "done" if name == "approvals.approve" else "rejected"
            assert state == (after if verdict == "ok" else "pending")
        if caller == "a person who may not":
            continue  # the address is closed for the token
        record = last(running, name)
        assert (record.outcome, record.data["door"]) == (verdict, door)
        assert record.agent == ("configured" if caller == "the configuration" else CALLERS[caller][0])
        assert record.data["object"] == ("mayros" if name == "actions.trust_level.set" else approval_id)
        assert record.data["before"].endswith("observe" if name == "actions.trust_level.set" else ", pending")
        if name in DECISIONS and verdict == "ok":
            assert record.data["after"].endswith((", done", ", rejected"))


def test_a_preview_of_an_edit_keeps_nothing_and_names_what_may_be_kept(running: Running) -> None:
    approval_id, client = in_python(running), running.client(token_of(running, "a person"))
    path = f"/api/v1/approvals/{approval_id}/edit"
    pending = len(running.plugin.approvals.list("pending").records)
    before = running.plugin.audit.calls.page(limit=1).calls[0].record
    found = client.post(f"{path}/preview", json={"inputs": EDITED}).json()
    assert (found["inputs"], found["preview"]) == (EDITED, "+edited")
    assert running.plugin.audit.calls.page(limit=1).calls[0].record == before
    assert len(running.plugin.approvals.list("pending").records) == pending
    other = client.post(path, json={"inputs": {"text": "another"}, "shown": found["shown"]})
    assert (other.status_code, other.json()["code"]) == (409, "approval_changed")
    assert len(running.plugin.approvals.list("pending").records) == pending
    assert client.post(path, json={"inputs": EDITED, "shown": found["shown"]}).status_code == 200
    late = client.post(f"{path}/preview", json={"inputs": EDITED})
    assert (late.status_code, late.json()["code"]) == (409, "approval_resolved")


def test_a_person_does_not_approve_with_one_token_what_they_asked_for_with_another(running: Running) -> None:
    asks = running.token("ada-writes", person="Ada")
    approves = [
        running.token(f"{person}-decides", permissions=APPROVES, holder="person", person=person)
        for person in ("ADA", "bob")
    ]
    for decided in (by_rest, by_page):
        approval_id = over_mcp(running, asks)
        assert last(running, "approval.requested").data["askedBy"] == "ada"
        verdicts = [decided(running, token, "approvals.approve", approval_id) for token in approves]
        assert verdicts == ["permission_denied", "ok"]
    assert running.plugin.approvals.show(over_mcp(running, asks)).request.agent == "ada-writes"
    with pytest.raises(CortexError, match="ada asked for this"):
        running.plugin.approvals.approve(over_mcp(running, asks), by="ada")


@pytest.mark.parametrize("name", CHANGES)
def test_the_owner_decides_in_python_also_what_was_asked_for_in_the_same_name(running: Running, name: str) -> None:
    approval_id = in_python(running)
    assert by_python(running.plugin, name, approval_id) == "ok"
    record = running.plugin.audit.calls.page(limit=1).calls[0].record
    assert (record.event, record.data["kind"], record.data["door"]) == (name, "owner", "python")


def test_a_host_in_python_states_who_decides_and_no_one_who_asked(running: Running) -> None:
    approval_id = over_mcp(running, CONFIGURED, agent="a7")
    assert last(running, "approval.requested").data["askedBy"] == "configured"
    for by in ("a7", "configured"):
        with pytest.raises(CortexError) as caught:
            running.plugin.approvals.approve(approval_id, by=by)
        assert caught.value.code == "permission_denied"
    assert running.plugin.approvals.approve(approval_id, by="ada").request.asked_by == "configured"


def test_who_decides_is_shown_who_sent_the_request(running: Running) -> None:
    browser = signed_in(running, token_of(running, "a person"))
    pages = [
        browser.get(f"/explore/approvals/{each}", headers=CLICKED).text
        for each in (over_mcp(running, CONFIGURED, agent="a7"), in_python(running))
    ]
    assert ["Sent by" in page and ">configured<" in page for page in pages] == [True, False]


def test_the_user_of_the_process_that_the_owner_started_decides_as_the_owner(running: Running) -> None:
    pool = WorkerPool("owner", 2, 8)

    async def ask(*_: Any) -> types.ElicitResult:
        return types.ElicitResult(action="accept", content={"decision": "approve", "reason": "fine"})

    async def called() -> str:
        built = build(running.plugin, pool, lambda _: SessionCaller())
        async with Client(built.server, mode="legacy", elicitation_callback=ask) as client:
            answer = await client.call_tool("append_line", {"text": str(next(_NUMBERS))})
            return str((answer.structured_content or {})["status"])

    running.plugin.trust.set("observe", actor="owner")
    assert asyncio.run(called()) == "done"
    record = last(running, "approvals.approve")
    assert (record.data["kind"], record.data["door"]) == ("owner", "mcp")


def test_reads_are_the_same_over_rest_and_in_python(running: Running) -> None:
    client, plugin = running.client(token_of(running, "a person")), running.plugin
    approval_id = in_python(running)
    for name, path, given in (
        ("actions.list", "/api/v1/actions", {}),
        ("actions.describe", "/api/v1/actions/append_line", {"action": "append_line"}),
        ("actions.trust_level.show", "/api/v1/trust-level", {}),
        ("approvals.list", "/api/v1/approvals?state=pending", {"state": "pending"}),
        ("approvals.show", f"/api/v1/approvals/{approval_id}", {"approval": approval_id}),
    ):
        answer = client.get(path)
        assert (answer.status_code, answer.json()) == (200, plugin.operate(OPERATIONS[name], **given))
    assert client.get("/api/v1/actions/append").json()["code"] == "tool_not_found"
    waited = plugin.operate(OPERATIONS["approvals.wait"], approval=approval_id, seconds=0.0)
    assert waited == plugin.operate(OPERATIONS["approvals.show"], approval=approval_id)


def test_a_caller_uses_up_its_own_rate_of_an_action_and_no_other(running: Running) -> None:
    from tests.actions.manifests import manifest

    count = manifest(id="count_calls", limits={"perMinute": 2}, minTrustLevel="observe", risk="low")
    running.plugin.actions.register(count, lambda _: {"lines": 1}, read_only=True)
    running.plugin.trust.set("supervised_auto", actor="owner")

    async def calls(token: str, agents: tuple[str, ...]) -> list[str]:
        async with over_http(running, token, mode="legacy") as client:
            named = [{"agent": agent} for agent in agents] or [{}] * 3
            answers = [await client.call_tool("count_calls", {"text": "a", **each}) for each in named]
            return [str((each.structured_content or {}).get("code", "ok")) for each in answers]

    reader, other = (running.token(name, permissions=("read",)) for name in ("reader", "other"))
    assert asyncio.run(calls(reader, ())) == ["ok", "ok", "rate_limited"]
    assert asyncio.run(calls(other, ())) == ["ok", "ok", "rate_limited"]
    # A token that may name agents is one caller, for all agents that it names.
    assert asyncio.run(calls(CONFIGURED, ("b1", "b2", "b3"))) == ["ok", "ok", "rate_limited"]
    assert running.plugin.call("count_calls", {"text": "a"}, agent="a1").code is None
    running.plugin.trust.set("observe", actor="owner")
