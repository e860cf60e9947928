"""An MCP client whose user decides about actions in place, and one that is notified: the SDK's, over HTTP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import Client, StdioServerParameters

from cortex_skills.doors.cli.options import user_name
from cortex_skills.doors.http.worker_pools import WorkerPool
from cortex_skills.doors.mcp.caller import SessionCaller
from cortex_skills.doors.mcp.mcp_server import build
from tests import fork_server
from tests.actions.conftest import operator
from tests.approvals.approver import opened
from tests.mcp.conftest import environment_in, over_http
from tests.mcp.test_clients import run
from tests.server.serving import served

__all__ = ["operator"]

READ, WRITE = ("read", "write"), ("read", "write", "approve")
TEXT = "one\u202e"


@pytest.fixture(scope="module")
def serving(tmp_path_factory, operator: Path):
    """A server that asks the users of its clients."""
    folder = tmp_path_factory.mktemp("elicitation")
    settings = {"cortex": {"tokenFile": str(folder / "tokens.json")}, "approvals": {"ask": "client"}}
    with served(folder, plugin=opened("memory:", operator, folder / "lines", **settings)) as running:
        yield running


@pytest.fixture
def client(serving, request) -> Callable[..., Any]:
    """Opens a client of a new token, with the handshake."""
    number = iter(range(9))

    def connect(permissions: tuple[str, ...] = WRITE, **options: Any) -> Any:
        name = f"{request.node.name[:40].replace('[', '-').replace(']', '')}-{next(number)}"
        return over_http(serving, serving.token(name, permissions=permissions), **{"mode": "legacy", **options})

    return connect


@pytest.fixture
def owners(serving) -> Callable[..., Any]:
    """Opens a client of the owner, who started the process: as over standard input."""
    pool = WorkerPool("owners", 2, 8)

    def connect(**options: Any) -> Any:
        built = build(serving.plugin, pool, lambda _: SessionCaller())
        return Client(built.server, mode="legacy", **options)

    return connect


async def call(client: Any, text: str = TEXT, **more: Any) -> types.CallToolResult:
    result: types.CallToolResult = await client.call_tool("append_line", {"text": text, **more})
    return result


def answering(answers: list[Any], asked: list[types.ElicitRequestFormParams]) -> Any:
    """A user who gives these answers."""

    async def ask(_: Any, params: types.ElicitRequestFormParams) -> Any:
        asked.append(params)
        return answers.pop(0)

    return ask


def test_the_user_sees_the_exact_inputs_and_approves_in_place(serving, owners) -> None:
    asked: list[types.ElicitRequestFormParams] = []
    answer = types.ElicitResult(action="accept", content={"decision": "approve", "reason": "fine"})

    async def test() -> None:
        async with owners(elicitation_callback=answering([answer], asked)) as connected:
            done = await call(connected)
            assert done.structured_content is not None
            assert (done.is_error, done.structured_content["status"]) == (False, "done")
            record = serving.plugin.approvals.show(done.structured_content["approval"])
            assert record.resolution is not None
            assert record.resolution.by == user_name()
            assert record.resolution.reason == "fine"

    run(test())
    (params,) = asked
    assert "wants to run append_line (risk: medium)" in params.message
    assert '  text = "one\\u202e"' in params.message
    assert TEXT not in params.message


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        (types.ElicitResult(action="accept", content={"decision": "reject"}), "approval_rejected"),
        (types.ElicitResult(action="decline"), "approval_rejected"),
        (types.ElicitResult(action="cancel"), "pending_approval"),
        (types.ElicitResult(action="accept", content={"decision": "yes"}), "pending_approval"),
        (types.ElicitResult(action="accept", content={}), "pending_approval"),
        (types.ErrorData(code=-1, message="no"), "pending_approval"),
    ],
)
def test_only_the_word_approve_runs_the_action(owners, answer: Any, status: str) -> None:
    async def test() -> None:
        async with owners(elicitation_callback=answering([answer], [])) as connected:
            result = await call(connected, f"{status} {answer!r}")
            details = result.structured_content or {}
            assert (details.get("code") if result.is_error else details["status"]) == status

    run(test())


def test_what_a_model_sends_answers_nothing(client, owners) -> None:
    """Neither arguments of the call, nor a client without the capability."""

    async def test() -> None:
        async with client() as connected, owners() as without:
            for more in ({"decision": "approve"}, {"approved": True}, {"approvedBy": "ada"}):
                refused = await call(connected, "x", **more)
                assert (refused.structured_content or {})["code"] == "invalid_arguments"
            for each in (connected, without):
                waiting = await call(each, "x")
                assert (waiting.structured_content or {})["status"] == "pending_approval"

    run(test())


def test_over_http_no_user_is_asked_because_the_answer_comes_with_the_token_that_asked(serving, client) -> None:
    yes = types.ElicitResult(action="accept", content={"decision": "approve"})
    asked: list[types.ElicitRequestFormParams] = []

    async def test() -> None:
        for connected in (client(READ, elicitation_callback=ask), client(WRITE, elicitation_callback=ask)):
            async with connected as each:
                waiting = (await call(each, "y")).structured_content or {}
                assert waiting["status"] == "pending_approval"
                assert serving.plugin.approvals.show(waiting["approval"]).state(datetime.now(UTC)) == "pending"

    ask = answering([yes, yes], asked)
    run(test())
    assert asked == []


@pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
def test_a_subscriber_is_notified_when_its_request_ends(serving, client) -> None:
    async def test() -> None:
        updated: asyncio.Queue[str] = asyncio.Queue()

        async def receive(message: Any) -> None:
            if isinstance(message, types.ResourceUpdatedNotification):
                updated.put_nowait(str(message.params.uri))

        async with client(READ, message_handler=receive) as connected, client(READ) as other:
            waiting = (await call(connected, "later")).structured_content or {}
            uri = f"cortex://approvals/{waiting['approval']}"
            await connected.subscribe_resource(uri)
            for attempt in (other.subscribe_resource, other.read_resource):
                with pytest.raises(Exception, match="there is no such request"):
                    await attempt(uri)
            await asyncio.to_thread(serving.plugin.approvals.approve, waiting["approval"], "ada")
            async with asyncio.timeout(20):
                assert await updated.get() == uri
            read = await connected.read_resource(uri)
            assert json.loads(read.contents[0].text)["state"] == "done"

    run(test())


def test_the_user_of_a_client_over_stdio_approves_a_write(tmp_path: Path, operator: Path) -> None:
    """The process that an agent's host starts: a file is written, and the audit has who approved it."""
    workspace = tmp_path / "work"
    (workspace / "out").mkdir(parents=True)
    settings = {
        "tools": {"profiles": ["operator"]},
        "verification": {"requireSignature": False},
        "actions": {"trustLevel": "supervised_auto", "workspace": str(workspace)},
        "approvals": {"ask": "client"},
        "proofs": {"keys": str(tmp_path / "keys")},
    }
    (tmp_path / "cortex.yaml").write_text(json.dumps(settings))
    words = ["mcp", "--config", str(tmp_path / "cortex.yaml"), "--skills", str(operator)]
    process = StdioServerParameters(command=fork_server.command(), args=words, env=environment_in(tmp_path / "home"))
    asked: list[types.ElicitRequestFormParams] = []
    answer = types.ElicitResult(action="accept", content={"decision": "approve"})

    async def test() -> None:
        async with Client(process, mode="legacy", elicitation_callback=answering([answer], asked)) as connected:
            done = await connected.call_tool("fs_write", {"path": "out/a.md", "content": "hello\n"})
            assert (done.is_error, (done.structured_content or {})["status"]) == (False, "done")

    run(test())
    assert 'content = "hello\\n"' in asked[0].message
    assert (workspace / "out" / "a.md").read_text() == "hello\n"
    journal = "".join(path.read_text() for path in (tmp_path / "home" / "store.audit").glob("*.ndjson"))
    assert '"approvals.approve"' in journal
    assert f'"approvedBy":"{user_name()}"' in journal
