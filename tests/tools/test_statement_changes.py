"""A statement is taken out of the graph by one operation, which every interface runs and the audit records."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from cortex_graph import Provenance
from cortex_graph.naming.vocabulary import MEMORY_TAG
from cortex_skills import Plugin
from cortex_skills.errors import CortexError
from cortex_skills.features.graph.statement_changes import assert_statements, withdraw
from cortex_skills.skill_folder.builtin import NOTEBOOK, builtin_skill
from tests.configs import config
from tests.explorer.http.browsing import CLICKED, fields_of, signed_in, submitted
from tests.mcp.conftest import over_http
from tests.server.serving import Running, served


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    root = tmp_path_factory.mktemp("statements")
    settings = {"cortex": {"tokenFile": str(root / "tokens.json")}, "audit": {"folder": str(root / "audit")}}
    plugin = Plugin.open(config(**settings))
    plugin.load(builtin_skill(NOTEBOOK))
    with served(root, plugin=plugin) as running:
        yield running


def asserted(running: Running, subject: str, agent: str, skill: str | None = None) -> str:
    by = Provenance(skill, None if skill is None else "1.0.0", agent)
    triple = {"subject": subject, "predicate": "note", "object": 1}
    made: str = running.plugin.graph.create_triple(triple, by)["id"]
    return made


def last(running: Running) -> Any:
    found = (act for each in running.plugin.audit.calls.page(limit=5).calls for act in each.record.acts)
    return next(each for each in found if each.event == "graph.withdraw")


def by_python(running: Running, triple_id: str, holder: str) -> str:
    try:
        running.plugin.operate(withdraw, triple=triple_id)
        return "ok"
    except CortexError as error:
        return error.code


def by_rest(running: Running, triple_id: str, holder: str) -> str:
    token = running.token(f"of-{holder}", permissions=("read", "write"), holder=holder)  # type: ignore[arg-type]
    answer = running.client(token).delete(f"/api/v1/triples/{triple_id}")
    return "ok" if answer.status_code == 204 else str(answer.json()["code"])


def by_mcp(running: Running, triple_id: str, holder: str) -> str:
    token = running.token("mcp", permissions=("read", "write"))

    async def called() -> str:
        async with over_http(running, token, mode="legacy") as client:
            answer = await client.call_tool("skill_retract", {"tripleHash": triple_id})
            return str(answer.structured_content["code"]) if answer.is_error else "ok"

    return asyncio.run(called())


@pytest.mark.parametrize(
    ("door", "run", "holder", "author", "skill", "code", "after"),
    [
        ("python", by_python, "owner", "someone", None, "ok", "withdrawn"),
        ("rest", by_rest, "person", "someone", None, "ok", "withdrawn"),
        ("rest", by_rest, "agent", "someone", None, "ok", "withdrawn"),
        ("mcp", by_mcp, "agent", "mcp", "notebook", "ok", "withdrawn"),
        ("mcp", by_mcp, "agent", "someone", "notebook", "permission_denied", "present, without proofs"),
    ],
)
def test_every_interface_records_the_statement_its_state_and_the_caller(
    running: Running, door: str, run: Any, holder: str, author: str, skill: str | None, code: str, after: str
) -> None:
    triple_id = asserted(running, f"{door}-{holder}-{author}", author, skill)
    assert run(running, triple_id, holder) == code
    record = last(running)
    assert (record.outcome, record.data["object"], record.data["door"]) == (code, triple_id, door)
    assert (record.data["before"], record.data["after"]) == ("present, without proofs", after)
    assert record.data["kind"] == holder
    assert (running.plugin.graph.get_triple(triple_id) is None) == (code == "ok")
    assert bool(running.plugin.graph.withdrawals.of(triple_id)) == (after == "withdrawn")


def test_a_withdrawal_over_rest_and_on_a_page_is_recorded_with_its_reason(running: Running) -> None:
    token = running.token("withdraws", permissions=("read", "write"), holder="person")
    for place in ("rest", "page"):
        triple_id, path = asserted(running, f"why-{place}", "someone"), "/explore/mayros/t/"
        if place == "rest":
            given = {"reason": "counted again"}
            assert running.client(token).delete(f"/api/v1/triples/{triple_id}", params=given).status_code == 204
        else:
            browser = signed_in(running, token)
            form = fields_of(browser.get(path + triple_id, headers=CLICKED).text)
            fields = {"action": "remove", "form": form["form"], "reason": "counted again", "token": token}
            assert submitted(browser, path + triple_id, fields).status_code == 303
        data = last(running).data
        assert (data["object"], data["before"], data["after"]) == (triple_id, "present, without proofs", "withdrawn")
        assert (data["reason"], data["door"]) == ("counted again", place)


@pytest.mark.parametrize(("run", "holder"), [(by_python, "owner"), (by_rest, "person"), (by_mcp, "agent")])
def test_a_statement_that_is_not_there_is_not_found_through_every_interface_and_the_refusal_is_recorded(
    running: Running, run: Any, holder: str
) -> None:
    assert run(running, "0" * 64, holder) == "not_found"
    record = last(running)
    assert (record.outcome, record.data["object"], record.data["after"]) == ("not_found", "0" * 64, "absent")


def asserting(running: Running) -> Any:
    found = (each.record for each in running.plugin.audit.calls.page(limit=5).calls)
    return next(each for each in found if each.event == "graph.assert")


@pytest.mark.parametrize("holder", ["person", "agent"])
def test_what_is_asserted_over_rest_is_recorded_with_a_statement_that_can_be_opened(
    running: Running, holder: str
) -> None:
    token = running.token(f"writes-{holder}", permissions=("read", "write"), holder=holder)  # type: ignore[arg-type]
    client = running.client(token)
    statements = [{"subject": f"s:{holder}", "predicate": "note", "object": value} for value in (1, 2)]
    written = client.post("/api/v1/triples/batch", json={"triples": statements})
    first = written.json()["inserted"][0]["id"]
    record = asserting(running)
    assert (written.status_code, record.outcome, record.agent) == (201, "ok", f"writes-{holder}")
    assert (record.data["object"], record.data["statements"], record.data["created"]) == (first, 2, 2)
    assert (record.data["before"], record.data["after"]) == (None, "present, without proofs")
    assert client.get(f"/api/v1/triples/{record.data['object']}").status_code == 200
    again = client.post("/api/v1/triples", json=statements[0])
    assert (again.status_code, asserting(running).data["before"]) == (200, "present, without proofs")


def test_nobody_asserts_in_the_name_of_others_without_the_permission_and_the_refusal_is_recorded(
    running: Running,
) -> None:
    client = running.client(running.token("forges", permissions=("read", "write")))
    statement = {"subject": "s:forged", "predicate": "note", "object": 1}
    refused = client.post("/api/v1/triples", json={**statement, "provenance": {"agent": "ada"}})
    assert (refused.status_code, refused.json()["code"]) == (403, "permission_denied")
    assert (asserting(running).outcome, asserting(running).agent) == ("permission_denied", "forges")
    (row,) = running.plugin.operate(assert_statements, statements=[statement], provenance=Provenance(agent="ada"))
    assert (running.plugin.graph.provenance_of(row["id"]) or {})["agent"] == "ada"
    assert asserting(running).data["door"] == "python"


async def call(running: Running, tool: str, arguments: dict[str, Any], permissions: tuple[str, ...]) -> Any:
    token = running.token("-".join(("asserts", *permissions)), permissions=permissions)
    async with over_http(running, token, mode="legacy") as client:
        return await client.call_tool(tool, arguments)


def test_a_tool_asserts_by_the_same_operation_with_one_record_of_one_or_of_several_statements(
    running: Running,
) -> None:
    one = {"subject": "s:tool", "predicate": "note", "object": 1}
    for arguments, count in ((one, 1), ({"statements": [{**one, "object": value} for value in (1, 2, 3)]}, 3)):
        before = [each.id for each in running.plugin.audit.calls.page(limit=50).calls]
        answer = asyncio.run(call(running, "skill_assert", arguments, ("read", "write")))
        assert not answer.is_error
        (of_call,) = (each.record for each in running.plugin.audit.calls.page(limit=50).calls if each.id not in before)
        (record,) = of_call.acts
        assert (of_call.event, of_call.tool, record.event) == ("tool.call", "skill_assert", "graph.assert")
        assert (record.outcome, record.skill, record.agent) == ("ok", "notebook", "asserts-read-write")
        assert (record.data["door"], record.data["kind"]) == ("mcp", "agent")
        assert record.data["statements"] == count
        assert (record.data["created"], record.data["before"]) == (
            (1, None) if count == 1 else (2, "present, without proofs")
        )
        assert record.data["after"] == "present, without proofs"
        assert running.plugin.graph.get_triple(record.data["object"]) is not None


def test_what_a_skill_may_not_assert_is_recorded_as_refused_with_the_code_of_the_first_problem(
    running: Running,
) -> None:
    with Plugin.open(config()) as plugin:
        plugin.load(builtin_skill(NOTEBOOK))
        statements = [
            {"subject": "a", "predicate": "note", "object": 1},
            {"subject": "<tag:a b>", "predicate": "note", "object": 2},
        ]
        refused = plugin.call("skill_assert", {"statements": statements})
        (record,) = (each.record for each in plugin.recent_calls.page(limit=4).calls)
        assert (record.event, record.outcome) == ("tool.call", "invalid_arguments")
        assert record.changes == ({"event": "graph.assert", "success": False, "code": "invalid_arguments"},)
        assert "statement 2: " in refused.text
        assert plugin.graph.count() == 0


def test_the_statements_of_memories_are_changed_by_the_same_operations_under_the_same_rules(running: Running) -> None:
    statement = {"subject": "memory:m1", "predicate": MEMORY_TAG.value, "object": "t"}
    of = {"memoriesOf": "a2"}
    for permissions, code in ((("read", "write"), "permission_denied"), (("read", "write", "memories"), "")):
        client = running.client(running.token("-".join(("of", *permissions)), permissions=permissions))
        written = client.post("/api/v1/triples", json=statement, params=of)
        assert written.json().get("code", "") == code
        assert asserting(running).outcome == (code or "ok")
        if code:
            continue
        named = asserting(running).data["object"]
        assert named == f"a2/{written.json()['id']}"
        forged = {**statement, "object": "u", "provenance": {"agent": "ada"}}
        assert client.post("/api/v1/triples", json=forged, params=of).json()["code"] == "permission_denied"
        gone = client.delete(f"/api/v1/triples/{written.json()['id']}", params=of)
        record = last(running)
        assert (gone.status_code, record.data["object"]) == (204, named)
        assert (record.data["before"], record.data["after"]) == ("present, without proofs", "absent")
        again = client.delete(f"/api/v1/triples/{written.json()['id']}", params=of)
        assert (again.json()["code"], last(running).outcome) == ("not_found", "not_found")
