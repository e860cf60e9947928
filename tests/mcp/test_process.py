"""`cortex-skills mcp` as a process: its input, its output, and how it ends."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp_types import INVALID_REQUEST, PARSE_ERROR
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_HANDSHAKE_VERSION

from tests import fork_server
from tests.mcp.test_clients import ASK, STATUS
from tests.mcp.test_life import FOREVER, WAIT_S


class Raw:
    """`cortex-skills mcp`, driven by raw lines."""

    def __init__(self, parameters: StdioServerParameters) -> None:
        self.process = subprocess.Popen(
            [parameters.command, *parameters.args],
            env=parameters.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def send(self, *messages: Any) -> None:
        for message in messages:
            line = message if isinstance(message, bytes) else json.dumps({"jsonrpc": "2.0", **message}).encode()
            self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def read(self) -> dict[str, Any]:
        return json.loads(self.process.stdout.readline())

    def greet(self, version: str = "2025-06-18") -> dict[str, Any]:
        parameters = {
            "protocolVersion": version,
            "capabilities": {},
            "clientInfo": {"name": "raw", "version": "1"},
        }
        self.send({"id": 1, "method": "initialize", "params": parameters}, {"method": "notifications/initialized"})
        return self.read()

    def call(self, number: int, tool: str, arguments: Any) -> dict[str, Any]:
        return {"id": number, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}


@pytest.fixture
def raw(parameters: StdioServerParameters) -> Iterator[Raw]:
    one = Raw(parameters)
    yield one
    if one.process.poll() is None:
        one.process.kill()
    one.process.communicate(timeout=WAIT_S)


@pytest.mark.parametrize("version", [min(HANDSHAKE_PROTOCOL_VERSIONS), LATEST_HANDSHAKE_VERSION, "1999-01-01"])
def test_a_client_of_an_earlier_protocol_is_answered_in_it(raw: Raw, version: str) -> None:
    parameters = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}
    raw.send({"id": 1, "method": "initialize", "params": parameters}, {"method": "notifications/initialized"})
    spoken = raw.read()["result"]["protocolVersion"]
    assert spoken == (version if version in HANDSHAKE_PROTOCOL_VERSIONS else LATEST_HANDSHAKE_VERSION)
    raw.send({"id": 2, "method": "tools/list"}, raw.call(3, "skill_assert", STATUS))
    answers = {answer["id"]: answer["result"] for answer in (raw.read(), raw.read())}
    assert {tool["name"] for tool in answers[2]["tools"]} == {"skill_graph_query", "skill_assert"}
    assert answers[3]["content"][0]["text"].startswith("Asserted:")


@pytest.mark.skipif(os.name == "nt", reason="there, a pipe breaks in other ways")
def test_a_disconnect_is_not_reported_as_an_error(raw: Raw) -> None:
    raw.greet()
    raw.process.stdout.close()
    raw.send({"id": 2, "method": "tools/list"})
    errors = raw.process.stderr.read()
    assert raw.process.wait(WAIT_S) == 141
    assert b"error" not in errors


@pytest.mark.skipif(os.name == "nt", reason="there are no pseudo-terminals")
def test_on_a_terminal_it_prints_what_it_waits_for(parameters: StdioServerParameters) -> None:
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [parameters.command, *parameters.args],
        env=parameters.env,
        stdin=theirs,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as process:
        os.close(theirs)
        assert process.stderr.readline() == b"waiting for an agent host on standard input; Ctrl-C ends it\n"
        os.close(ours)
        assert b"Traceback" not in process.stderr.read()
    assert process.returncode == 0


@pytest.mark.skipif(os.name == "nt", reason="there is no such shell")
@pytest.mark.parametrize("closed", ["<&-", "</dev/null >&-"])
def test_a_closed_standard_stream_is_a_usage_error(parameters: StdioServerParameters, closed: str) -> None:
    script = f'exec "$0" "$@" {closed}'
    done = subprocess.run(
        ["sh", "-c", script, parameters.command, *parameters.args], env=parameters.env, capture_output=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.startswith(b"error[invalid_arguments]: standard input and output must be open")


def test_what_was_asked_before_the_input_ended_is_answered_and_the_process_ends_well(raw: Raw) -> None:
    raw.greet()
    raw.send(raw.call(2, "skill_assert", STATUS), raw.call(3, "skill_graph_query", ASK))
    out, errors = raw.process.communicate(timeout=WAIT_S)
    answers = {answer["id"]: answer for answer in map(json.loads, out.splitlines()) if "id" in answer}
    assert raw.process.returncode == 0, errors
    assert answers[2]["result"]["structuredContent"]["created"] is True
    assert 3 in answers
    assert b"Traceback" not in errors


@pytest.mark.skipif(os.name == "nt", reason="there are no such signals")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_well_even_in_the_middle_of_a_call(raw: Raw, number: int) -> None:
    raw.greet()
    raw.send(raw.call(2, "skill_graph_query", FOREVER), {"id": 3, "method": "ping"})
    while raw.read().get("id") != 3:
        pass
    raw.process.send_signal(number)
    _, errors = raw.process.communicate(timeout=WAIT_S)
    assert raw.process.returncode == 0, errors
    assert b"Traceback" not in errors


HUGE = {
    "id": 9,
    "method": "tools/call",
    "params": {"name": "skill_graph_query", "arguments": {"subject": "a" * 6_000_000}},
}


NONSENSE = {
    "empty": b"",
    "binary": b"\x00\xff\xfe",
    "open": b"{",
    "batch": b"[]",
    "null": b"null",
    "no method": b'{"jsonrpc": "2.0"}',
    "deep": b"[" * 200_000,
    "too long": b'"' + b"a" * (9 << 20),
}


def test_nonsense_does_not_end_it(raw: Raw) -> None:
    raw.greet()
    for number, (kind, nonsense) in enumerate(NONSENSE.items(), 2):
        raw.send(nonsense, {"id": number, "method": "ping"})
        while (answer := raw.read()).get("id") != number:
            pass
        assert answer["result"] == {}, kind


LONG = b"x" * (9 << 20)
UNREAD = [
    (b'{"jsonrpc": "2.0", "id": 2, "method": "ping", "params": {"half": "\\ud83d"}}', 2, INVALID_REQUEST),
    (b'{"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": 7}', "a", INVALID_REQUEST),
    (b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', 1.5, INVALID_REQUEST),
    (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', None, INVALID_REQUEST),
    (b'{"jsonrpc": "2.0", "id": 4, "method": "ping", "params": {"a": 1, "a": 2}}', 4, PARSE_ERROR),
    (b'{"jsonrpc": "2.0", "id": 5, "method": "ping", "params": {"a": "\xff"}}', 5, PARSE_ERROR),
    (b'{"jsonrpc": "2.0", "id": 6, "method": "ping", "params": {"a": NaN}}', 6, PARSE_ERROR),
    (b'{"jsonrpc": "2.0", "method": "ping", "params": {"a": ' + b"[" * 200_000 + b', "id": 7}', None, PARSE_ERROR),
    (b'{"jsonrpc": "2.0", "id": 34, "method": "ping", "params": {"a": "' + LONG + b'"}}', 34, INVALID_REQUEST),
    (b'{"method": "ping", "params": {"a": "' + LONG + b'"}, "jsonrpc": "2.0", "id": 35}', 35, INVALID_REQUEST),
    (b"[]", None, INVALID_REQUEST),
    (b"{", None, PARSE_ERROR),
]


def test_an_unreadable_request_is_answered_with_an_error(raw: Raw) -> None:
    raw.send(UNREAD[0][0])  # also before the handshake
    assert raw.read()["error"]["code"] == INVALID_REQUEST
    raw.greet()
    for line, number, code in UNREAD:
        raw.send(b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": 7}', line)
        answer = raw.read()
        assert (answer["id"], answer["error"]["code"]) == (number, code)
    raw.send(b'[{"jsonrpc": "2.0", "id": 8, "method": "ping"}, {"jsonrpc": "2.0", "id": 9, "method": "ping"}]')
    assert [(answer["id"], answer["error"]["code"]) for answer in raw.read()] == [
        (8, INVALID_REQUEST),
        (9, INVALID_REQUEST),
    ]
    raw.send({"id": 3, "method": "ping"})
    assert raw.read()["result"] == {}


def test_a_byte_order_mark_before_the_first_message_is_ignored(raw: Raw) -> None:
    raw.send(b'\xef\xbb\xbf{"jsonrpc": "2.0", "id": 7, "method": "ping"}')
    assert raw.read() == {"jsonrpc": "2.0", "id": 7, "result": {}}


def test_a_long_line_that_the_input_ends_in_is_answered(raw: Raw) -> None:
    raw.process.stdin.write(b'{"jsonrpc": "2.0", "id": 34, "method": "ping", "params": {"a": "' + LONG)
    out, _ = raw.process.communicate(timeout=WAIT_S)
    assert json.loads(out)["id"] == 34


def test_a_huge_argument_is_refused_and_nothing_else_suffers(raw: Raw) -> None:
    raw.greet()
    raw.send(HUGE, {"id": 10, "method": "ping"})
    answers = {answer["id"]: answer for answer in (raw.read(), raw.read())}
    assert answers[9]["result"]["structuredContent"]["code"] == "invalid_arguments"
    assert answers[10]["result"] == {}


@pytest.mark.parametrize("unbuffered", ["", pytest.param("1", marks=pytest.mark.extended)])
def test_standard_output_carries_the_protocol_alone(
    parameters: StdioServerParameters, tmp_path: Path, unbuffered: str
) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(
        "import cortex_skills.plugin as plugin\n"
        "call = plugin.Plugin.call\n"
        "def loud(*a, **k):\n"
        "    import os\n"
        "    print('printed')\n"
        "    os.system('echo from a child')\n"
        "    return call(*a, **k)\n"
        "plugin.Plugin.call = loud\n"
    )
    parameters.command = str(fork_server.INSTALLED)
    parameters.env["PYTHONPATH"] = str(tmp_path / "site")
    parameters.env["PYTHONUNBUFFERED"] = unbuffered
    raw = Raw(parameters)
    raw.greet()
    raw.send(raw.call(2, "skill_graph_query", ASK))
    out, errors = raw.process.communicate(timeout=WAIT_S)
    assert [json.loads(line).get("id") for line in out.splitlines() if b'"id"' in line] == [2]
    assert all(line.startswith(b"{") for line in out.splitlines())
    assert b"printed" in errors
    assert b"from a child" in errors


@pytest.mark.extended
@pytest.mark.slow
def test_three_servers_on_one_folder_lose_nothing(parameters: StdioServerParameters) -> None:
    each, servers = 24, 3

    async def one(number: int) -> list[bool]:
        async with Client(parameters) as client:
            answers = await asyncio.gather(
                *(
                    client.call_tool("skill_assert", {**STATUS, "subject": f"s{number}-{row}", "agent": f"a{number}"})
                    for row in range(each)
                )
            )
        return [answer.structured_content.get("created", answer.content[0].text) for answer in answers]

    async def test() -> None:
        created = await asyncio.gather(*(one(number) for number in range(servers)))
        assert created == [[True] * each] * servers
        async with Client(parameters) as client:
            found = await client.call_tool("skill_graph_query", {**ASK, "limit": 1000})
        subjects = {match["subject"] for match in found.structured_content["matches"]}
        assert subjects == {f"mayros:s{number}-{row}" for number in range(servers) for row in range(each)}

    asyncio.run(asyncio.wait_for(test(), 100))


def test_without_skills_it_serves_the_notebook(environment: dict[str, str], tmp_path: Path) -> None:
    async def used() -> None:
        signed = {**environment, "CORTEX_VERIFICATION__REQUIRE_SIGNATURE": "true"}
        store = ["mcp", "--store", str(tmp_path / "notes")]
        async with Client(StdioServerParameters(command=fork_server.command(), args=store, env=signed)) as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
            assert {"skill_assert", "skill_graph_query", "skill_retract", "skill_memory_remember"} <= names
            fact = {"subject": "person:ada", "predicate": "worksAt", "object": "Acme"}
            asserted = (await client.call_tool("skill_assert", fact)).structured_content
            query = {"subject": "person:ada", "scope": "namespace"}
            found = (await client.call_tool("skill_graph_query", query)).structured_content
            assert [match["object"] for match in found["matches"]] == ["Acme"]
            await client.call_tool("skill_retract", {"tripleHash": asserted["tripleHash"]})
            found = (await client.call_tool("skill_graph_query", query)).structured_content
            assert found["matches"] == []

    asyncio.run(used())


def batch(*members: Any) -> bytes:
    return json.dumps([{"jsonrpc": "2.0", **each} if isinstance(each, dict) else each for each in members]).encode()


PING = {"method": "ping"}


def answer(raw: Raw) -> Any:
    """The next message that is no notification."""
    while isinstance(found := raw.read(), dict) and "method" in found:
        pass
    return found


def test_a_batch_of_the_revision_that_has_them_is_answered_in_one_array_and_in_order(raw: Raw) -> None:
    raw.greet("2025-03-26")
    raw.send(batch(raw.call(2, "skill_assert", STATUS), {"method": "notifications/x"}, {"id": "2", **PING}))
    asserted, pinged = answer(raw)
    assert (asserted["id"], asserted["result"]["structuredContent"]["created"]) == (2, True)
    assert pinged == {"jsonrpc": "2.0", "id": "2", "result": {}}
    hello = {"id": 8, "method": "initialize", "params": {}}
    surrogate = {"id": 9, "method": "ping", "params": {"a": "\ud800"}}
    odd = [{"id": 3, **PING}, {"id": 3, **PING}, {"id": 1.5, **PING}, 7, [{"id": 4, **PING}], hello, surrogate]
    raw.send(batch(*odd, {"id": 5, "result": {}}, {"id": 6, "method": "nonsense"}))
    answers = answer(raw)
    assert [each["id"] for each in answers] == [3, 3, 1.5, None, None, 8, 9, 6]
    assert [each.get("error", {}).get("code") for each in answers] == [None, *[INVALID_REQUEST] * 6, -32601]
    raw.send(batch({"method": "notifications/x"}), batch({"id": 10, "result": {}}), {"id": 11, **PING})
    assert answer(raw)["id"] == 11  # and neither of the two is answered
    raw.send(batch(*({"id": number, **PING} for number in range(100))))
    assert [each["id"] for each in answer(raw)] == list(range(100))
    for size in (0, 101):
        raw.send(batch(*({"id": number, **PING} for number in range(size))))
        found = answer(raw)
        found = found if isinstance(found, list) else [found]
        assert [each["id"] for each in found] == (list(range(size)) or [None])
        assert all("1 to 100" in each["error"]["message"] for each in found)


def test_a_batch_does_not_wait_for_a_request_that_its_client_cancels(raw: Raw) -> None:
    raw.greet("2025-03-26")
    raw.send({"id": 2, **raw.call(2, "skill_graph_query", {})})
    answer(raw)
    cancel = {"method": "notifications/cancelled", "params": {"requestId": 3}}
    raw.send(batch({"id": 4, **PING}, raw.call(3, "skill_graph_query", {}), cancel))
    assert [each["id"] for each in answer(raw)] == [4]
    raw.send({"id": 5, **PING})
    assert answer(raw)["id"] == 5
