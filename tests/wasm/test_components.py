"""`WasmSandbox` with components: each host function, its limits, and what is refused."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from wasmtime import component as wit

from cortex_sandbox import remaining_s
from cortex_sandbox.errors import CompileError, FuelExhausted, MemoryLimit, MissingExport, TimedOut, Trap
from cortex_sandbox.wasm import (
    Grants,
    HostRefusal,
    HttpRequest,
    HttpResponse,
    PluginHost,
    ToolAnswer,
    WasmLimits,
    WasmSandbox,
)
from cortex_sandbox.wasm.plugin_world import FUNCTIONS, RUN_TYPE
from tests.wasm.modules import COMPONENT, ECHO, FORWARD, IMPORTS, INPUT, component, core

GRANTS = Grants(http=["api.test"], secret=["skill/key"], storage=["notes"], channel=["alerts"])
WIT = Path(__file__).parents[2] / "sandbox" / "wit" / "palyra-sdk.wit"


def ask(body: str, *imports: str, host: PluginHost, argument: str = "", limits: WasmLimits | None = None) -> ToolAnswer:
    return WasmSandbox(component(body, *imports), limits, host).call_tool("acme.tool", argument)


def test_a_tool_gets_its_name_and_input_and_answers_with_a_text_or_an_error() -> None:
    box = WasmSandbox(component(ECHO))
    assert box.call_tool("acme.echo", '{"é": "😀"}') == ToolAnswer('{"é": "😀"}', failed=False)
    name = "(local.set $in (local.get $tool)) (local.set $size (local.get $toolsize)) "
    failing = WasmSandbox(component(f"{name} (i32.store8 (i32.const 1024) (i32.const 1)) {ECHO}"))
    assert failing.call_tool("acme.echo", "{}") == ToolAnswer("acme.echo", failed=True)


def test_a_request_reaches_the_host_with_the_granted_name_and_its_response_the_guest() -> None:
    seen: list[tuple[str, HttpRequest]] = []

    def fetch(host: str, request: HttpRequest) -> HttpResponse:
        seen.append((host, request))
        return HttpResponse(201, [("content-type", "text/plain")], bytes(range(32, 127)))

    body = f"""
      (i32.store (i32.const 100) (local.get $tool)) (i32.store (i32.const 104) (local.get $toolsize))
      (i32.store (i32.const 108) (local.get $in)) (i32.store (i32.const 112) (local.get $size))
      (call $http-fetch (i32.const 10000) (local.get $tool) (local.get $toolsize) {INPUT}
        (i32.const 100) (i32.const 1) {INPUT} (i32.const 2048))
      (if (i32.ne (i32.load16_u (i32.const 2052)) (i32.const 201)) (then unreachable))
      (i32.store (i32.const 1028) (i32.load (i32.const 2064))) (i32.store (i32.const 1032) (i32.load (i32.const 2068)))
      (i32.const 1024)"""
    answer = ask(body, "http-fetch", host=PluginHost(GRANTS, http_fetch=fetch), argument="/a?b")
    assert answer == ToolAnswer(bytes(range(32, 127)).decode(), failed=False)
    assert seen == [("api.test", HttpRequest("acme.tool", "/a?b", (("acme.tool", "/a?b"),), b"/a?b"))]


def test_secrets_storage_channels_and_the_graph_answer() -> None:
    sent: list[object] = []
    host = PluginHost(
        GRANTS,
        secret_read=lambda name: f"secret of {name}",
        storage_read=lambda prefix, key: f"{prefix}:{key}".encode(),
        storage_write=lambda *values: sent.append(values),
        storage_list=lambda prefix, key: [f"{prefix}:{key}1", "second"],
        channel_send=lambda *values: sent.append(values),
        config_read=lambda name: f'"value of {name}"',
        graph_query=lambda arguments: f"found {arguments}",
        graph_assert=lambda arguments: f"asserted {arguments}",
    )
    read = f"(call $storage-read (i32.const 30000) {INPUT} (i32.const 2048)) {FORWARD}"
    write = f"(call $storage-write (i32.const 30000) {INPUT} {INPUT} (i32.const 2048)) {FORWARD}"
    listed = f"""(call $storage-list (i32.const 30000) {INPUT} (i32.const 2048))
      (i32.store (i32.const 1028) (i32.load (i32.load (i32.const 2052))))
      (i32.store (i32.const 1032) (i32.load (i32.add (i32.const 4) (i32.load (i32.const 2052))))) (i32.const 1024)"""
    secret = f"(call $secret-read (i32.const 20000) (i32.const 2048)) {FORWARD}"
    send = f"(call $channel-send (i32.const 40000) {INPUT} (i32.const 2048)) {FORWARD}"
    answers = {
        name: ask(body, name, host=host, argument="k").text
        for name, body in {
            "secret-read": secret,
            "storage-read": read,
            "storage-write": write,
            "storage-list": listed,
            "channel-send": send,
            "config-read": f"(call $config-read {INPUT} (i32.const 2048)) {FORWARD}",
            "graph-query": f"(call $graph-query {INPUT} (i32.const 2048)) {FORWARD}",
            "graph-assert": f"(call $graph-assert {INPUT} (i32.const 2048)) {FORWARD}",
        }.items()
    }
    assert answers == {
        "secret-read": "secret of skill/key",
        "storage-read": "notes:k",
        "storage-write": "",
        "storage-list": "notes:k1",
        "channel-send": "",
        "config-read": '"value of k"',
        "graph-query": "found k",
        "graph-assert": "asserted k",
    }
    assert sent == [("notes", "k", b"k"), ("alerts", b"k")]


def refuse(_name: str) -> str:
    raise HostRefusal("locked", "the keyring is locked")


def fail(_name: str) -> str:
    raise ValueError("internal detail")


@pytest.mark.parametrize(
    ("handle", "read", "code"),
    [
        (20_001, refuse, "not_granted"),
        (-1, refuse, "not_granted"),
        (10_000, refuse, "not_granted"),
        (20_000, refuse, "locked"),
        (20_000, fail, "host_error"),
        (20_000, lambda _: b"bytes", "host_error"),
        (20_000, lambda _: "\ud800", "host_error"),
    ],
)
def test_a_refusal_reaches_the_guest_as_a_code(handle: int, read: object, code: str) -> None:
    body = f"(call $secret-read (i32.const {handle}) (i32.const 2048)) {FORWARD}"
    answer = ask(body, "secret-read", host=PluginHost(GRANTS, secret_read=read))
    assert answer == ToolAnswer(code, failed=True)


def test_a_failure_of_the_host_is_not_described_to_the_guest() -> None:
    message = """(i32.store8 (i32.const 1024) (i32.const 1)) (i32.store (i32.const 1028) (i32.load (i32.const 2060)))
      (i32.store (i32.const 1032) (i32.load (i32.const 2064))) (i32.const 1024)"""
    body = f"(call $secret-read (i32.const 20000) (i32.const 2048)) {message}"
    for read, text in ((fail, "secret-read failed in the host"), (refuse, "the keyring is locked")):
        assert ask(body, "secret-read", host=PluginHost(GRANTS, secret_read=read)).text == text


def test_a_function_that_the_host_does_not_provide_is_refused() -> None:
    body = f"(call $graph-query {INPUT} (i32.const 2048)) {FORWARD}"
    assert ask(body, "graph-query", host=PluginHost()) == ToolAnswer("not_provided", failed=True)


def test_the_log_keeps_lines_up_to_a_size() -> None:
    lines: list[tuple[str, str]] = []
    body = f"""(local.set $toolsize (i32.const 1000))
      (loop $again (call $log (i32.const 2) {INPUT})
        (br_if $again (local.tee $toolsize (i32.sub (local.get $toolsize) (i32.const 1))))) {ECHO}"""
    host = PluginHost(log=lambda *line: lines.append(line))
    assert ask(body, "log", host=host, argument="x" * 1000).text == "x" * 1000
    assert (set(lines), len(lines)) == ({("warning", "x" * 1000)}, 64)


def test_more_than_the_transfer_limit_is_refused_on_every_side() -> None:
    host = PluginHost(GRANTS, channel_send=lambda *_: None, graph_query=lambda _: "")
    for pages, size in ((2, 100_000), (40, 2_000_000)):
        send = f"(call $channel-send (i32.const 40000) (i32.const 0) (i32.const {size}) (i32.const 2048)) {FORWARD}"
        query = f"(call $graph-query (i32.const 0) (i32.const {size}) (i32.const 2048)) {FORWARD}"
        for body, name in ((send, "channel-send"), (query, "graph-query")):
            box = WasmSandbox(component(body, name, pages=pages), WasmLimits(transfer_bytes=50_000), host)
            assert box.call_tool("t", "") == ToolAnswer("too_large", failed=True)
    long = "(local.set $in (i32.const 65536)) (local.set $size (i32.const 60000)) " + ECHO
    box = WasmSandbox(component(long), WasmLimits(transfer_bytes=50_000))
    with pytest.raises(Trap, match="more than 50000 bytes"):
        box.call_tool("t", "")
    with pytest.raises(ValueError, match="50000 bytes"):
        box.call_tool("t", "x" * 50_001)


def test_more_bytes_than_the_limit_do_not_reach_the_guest() -> None:
    body = f"(call $storage-read (i32.const 30000) {INPUT} (i32.const 2048)) {FORWARD}"
    for size, answer in ((1024, ToolAnswer("x" * 1024, failed=False)), (1025, ToolAnswer("too_large", failed=True))):
        host = PluginHost(GRANTS, storage_read=lambda *_, size=size: b"x" * size)
        assert ask(body, "storage-read", host=host, limits=WasmLimits(transfer_bytes=1024)) == answer


def test_a_guest_cannot_fill_the_log_of_the_host_with_failures(caplog: pytest.LogCaptureFixture) -> None:
    body = f"""(local.set $toolsize (i32.const 100))
      (loop $again (call $secret-read (i32.const 20000) (i32.const 2048))
        (br_if $again (local.tee $toolsize (i32.sub (local.get $toolsize) (i32.const 1))))) {FORWARD}"""
    assert ask(body, "secret-read", host=PluginHost(GRANTS, secret_read=fail)).text == "host_error"
    assert [record.message for record in caplog.records] == ["the host function secret-read failed"] * 10


def test_a_guest_cannot_make_the_host_read_more_than_it_has() -> None:
    """A list of bytes takes 32 times its size in the engine; it is refused before it is made."""
    send = f"(call $channel-send (i32.const 40000) (i32.const 0) (i32.const 60000000) (i32.const 2048)) {FORWARD}"
    box = WasmSandbox(component(send, "channel-send", pages=1000), host=PluginHost(GRANTS))
    with pytest.raises(Trap, match="passed too much to the host"):
        box.call_tool("t", "")
    outside = f"(call $channel-send (i32.const 40000) (i32.const 0) (i32.const -1) (i32.const 2048)) {FORWARD}"
    with pytest.raises(Trap, match="module was stopped"):
        ask(outside, "channel-send", host=PluginHost(GRANTS))


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ("(loop (br 0)) (i32.const 0)", FuelExhausted),
        ("unreachable", Trap),
        ("(i32.const -8)", Trap),
        ("(i32.store8 (i32.const 1024) (i32.const 7)) (i32.const 1024)", Trap),
        ("(i32.store (i32.const 1032) (i32.const -1)) (i32.const 1024)", Trap),
        ("(i32.store8 (local.get $in) (i32.const 255)) " + ECHO, Trap),
    ],
    ids=["loop", "unreachable", "result outside", "unknown case", "text outside", "not UTF-8"],
)
def test_a_component_that_misbehaves_ends_in_a_typed_error(body: str, error: type[Exception]) -> None:
    with pytest.raises(error) as caught:
        WasmSandbox(component(body), WasmLimits(fuel=100_000)).call_tool("t", "x")
    assert type(caught.value) is error


def test_the_limits_of_memory_and_time_hold_for_components() -> None:
    with pytest.raises(MemoryLimit):
        WasmSandbox(component(ECHO, pages=20), WasmLimits(memory_bytes=1 << 20)).call_tool("t", "")
    with pytest.raises(TimedOut):
        WasmSandbox(component("(loop (br 0)) (i32.const 0)"), WasmLimits(fuel=1 << 62, timeout_s=0.05)).call_tool(
            "t", ""
        )


def test_a_host_function_gets_the_remaining_time_and_its_end_is_the_end_of_the_call() -> None:
    seen: list[float] = []

    def slow(_name: str) -> str:
        seen.append(remaining_s())
        time.sleep(max(0.0, remaining_s()) + 0.01)
        return "late"

    body = f"(call $secret-read (i32.const 20000) (i32.const 2048)) {FORWARD}"
    with pytest.raises(TimedOut):
        ask(body, "secret-read", host=PluginHost(GRANTS, secret_read=slow), limits=WasmLimits(timeout_s=0.2))
    assert len(seen) == 1
    assert 0 < seen[0] <= 0.2


def test_an_interruption_in_a_host_function_ends_the_call() -> None:
    def interrupted(_name: str) -> str:
        raise KeyboardInterrupt

    body = f"(call $secret-read (i32.const 20000) (i32.const 2048)) {FORWARD}"
    with pytest.raises(KeyboardInterrupt):
        ask(body, "secret-read", host=PluginHost(GRANTS, secret_read=interrupted))


def test_a_call_inside_of_a_host_function_ends_with_the_call_around_it() -> None:
    inner = WasmSandbox(component("(loop (br 0)) (i32.const 0)"), WasmLimits(fuel=1 << 62, timeout_s=60))

    def read(_name: str) -> str:
        return inner.call_tool("t", "").text

    body = f"(call $secret-read (i32.const 20000) (i32.const 2048)) {FORWARD}"
    with pytest.raises(TimedOut):
        ask(body, "secret-read", host=PluginHost(GRANTS, secret_read=read), limits=WasmLimits(timeout_s=0.1))


@pytest.mark.parametrize(
    ("types", "instance", "named"),
    [
        ("", "wasi:filesystem/types@0.2.0", "wasi:filesystem/types@0.2.0"),
        ("", "palyra:plugins/host-capabilities@0.2.1", "@0.2.1"),
        ('(export "open" (func))', COMPONENT, "0.2.0#open"),
        ('(export "socket" (type (sub resource)))', COMPONENT, "0.2.0#socket"),
        ('(export "graph-query" (func (param "arguments" string) (result string)))', COMPONENT, "another type"),
        ('(export "http-count" (func (result u32)))', COMPONENT, "another type"),
        ('(export "secret-read" (func (param "handle" s32) (result (result string))))', COMPONENT, "another type"),
        ('(export "http-handle" (func (param "n" s32) (result s32)))', COMPONENT, "another type"),
        ('(export "http-count" (instance))', COMPONENT, "another type"),
    ],
)
def test_an_import_outside_of_the_world_is_refused_by_name(types: str, instance: str, named: str) -> None:
    with pytest.raises(CompileError, match=re.escape(named)) as caught:
        WasmSandbox(component(ECHO, before=f'(import "{instance}" (instance {types}))'))
    assert caught.value.name == "ImportRefused"


def test_a_component_without_run_is_refused() -> None:
    from wasmtime import wat2wasm

    with pytest.raises(MissingExport, match="does not export"):
        WasmSandbox(bytes(wat2wasm("(component)")))
    wrong = '(param "tool" string) (param "input" string) (result (result string))'
    with pytest.raises(MissingExport, match="not a function"):
        WasmSandbox(component(ECHO, run_type=wrong))
    with pytest.raises(MissingExport, match="component"):
        WasmSandbox(component(ECHO)).call()
    with pytest.raises(MissingExport, match="core module"):
        WasmSandbox(core("(i32.const 1)")).call_tool("t", "")


@given(st.binary(max_size=32))
@settings(max_examples=5, deadline=None)
def test_random_bytes_after_the_header_of_a_component_are_a_typed_error(data: bytes) -> None:
    with pytest.raises((CompileError, MissingExport)):
        WasmSandbox(b"\0asm\x0d\0\1\0" + data)


def described(type_: object) -> str:
    """A type of the world as the WIT file writes it, with records and enumerations in full."""
    if type_ is None:
        return "_"
    if isinstance(type_, type):
        return {wit.String: "string", wit.S32: "s32", wit.U16: "u16", wit.U8: "u8"}[type_]
    kind, *parts = type_
    if kind is wit.ListType:
        return f"list<{described(parts[0])}>"
    if kind is wit.RecordType:
        return "record{" + ",".join(f"{name}:{described(part)}" for name, part in parts[0]) + "}"
    if kind is wit.EnumType:
        return "enum{" + ",".join(parts[0]) + "}"
    return f"result<{described(parts[0])},{described(parts[1])}>"


def test_the_wit_file_is_the_world_of_the_host() -> None:
    text = re.sub(r"\s", "", re.sub(r"//.*", "", WIT.read_text(encoding="utf-8")))
    while found := re.search(r"(record|enum)([a-z-]+)\{((?:[^{}]|\{[^}]*\})*)\}", text):
        kind, name, content = found.groups()
        whole = kind + "{" + content.rstrip(",") + "}"
        text = text.replace(found[0], "")
        text = re.sub(rf"(?<=[:<]){name}(?=[>,)])|(?<=,){name}(?=>)", whole, text)
    declared = dict(re.findall(r"(?:export)?([a-z-]+):func(\(.*?);", text))
    assert set(declared) == {*FUNCTIONS, "run"}
    for name, (parameters, result) in {**FUNCTIONS, "run": RUN_TYPE}.items():
        wanted = "(" + ",".join(f"{key}:{described(type_)}" for key, type_ in parameters) + ")"
        assert declared[name].replace(",}", "}") == wanted + (f"->{described(result)}" if result else "")
    assert set(IMPORTS) <= set(FUNCTIONS)
