"""`make_component`: the wrapper of a core module, and what it refuses."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from wasmtime import wat2wasm

from cortex_sandbox.errors import CompileError, MissingExport
from cortex_sandbox.wasm import (
    Grants,
    HostRefusal,
    PluginHost,
    ToolAnswer,
    WasmSandbox,
    is_for_components,
    make_component,
)
from cortex_sandbox.wasm.component_build import _flat_function, _signature
from cortex_sandbox.wasm.plugin_world import FUNCTIONS
from tests.wasm.modules import COMPONENT, CORE, ECHO, FORWARD, INPUT

MEMORY = '(memory (export "memory") 1)'
REALLOC = """(global $next (mut i32) (i32.const 4096))
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
    (global.set $next (i32.add (global.get $next) (local.get 3))) (i32.sub (global.get $next) (local.get 3)))"""
RUN = '(func (export "run") (param $tool i32) (param $toolsize i32) (param $in i32) (param $size i32) (result i32)'


def wat(*parts: str) -> bytes:
    return bytes(wat2wasm(f"(module {' '.join(parts)})"))


def imported(name: str) -> str:
    return f'(import "{COMPONENT}" "{name}" (func ${name} {_signature(*_flat_function(name))}))'


def test_a_module_without_imports_answers_as_a_component() -> None:
    component = make_component(wat(MEMORY, REALLOC, RUN, ECHO, ")"))
    assert component[:8] == b"\0asm\x0d\0\1\0"
    assert WasmSandbox(component).call_tool("acme.echo", '{"é": 1}') == ToolAnswer('{"é": 1}', failed=False)
    assert component == make_component(wat(MEMORY, REALLOC, RUN, ECHO, ")"))


def test_an_import_reaches_the_host_and_its_result_the_module() -> None:
    body = f"(call $graph-query {INPUT} (i32.const 2048)) {FORWARD}"
    component = make_component(wat(imported("graph-query"), MEMORY, REALLOC, RUN, body, ")"))

    def query(arguments: str) -> str:
        if arguments == "{}":
            raise HostRefusal("refused", "no")
        return f"{arguments} was asked"

    box = WasmSandbox(component, host=PluginHost(graph_query=query))
    assert box.call_tool("acme.ask", "{1}") == ToolAnswer("{1} was asked", failed=False)
    assert box.call_tool("acme.ask", "{}") == ToolAnswer("refused", failed=True)


def test_all_imports_of_the_world_are_possible_and_only_those_of_the_module_are_in_the_component() -> None:
    everything = make_component(wat(*map(imported, FUNCTIONS), MEMORY, REALLOC, RUN, ECHO, ")"))
    assert WasmSandbox(everything).call_tool("acme.echo", "1") == ToolAnswer("1", failed=False)
    one = make_component(wat(imported("http-handle"), MEMORY, REALLOC, RUN, ECHO, ")"))
    assert b"http-handle" in one
    assert b"secret-read" not in one


def test_the_granted_handle_is_the_one_of_the_host() -> None:
    body = """(i32.store8 (i32.const 600) (i32.add (i32.const 48) (i32.rem_s (call $http-handle (i32.const 1))
      (i32.const 10)))) (i32.store (i32.const 516) (i32.const 600)) (i32.store (i32.const 520) (i32.const 1))
      (i32.const 512)"""
    component = make_component(wat(imported("http-handle"), MEMORY, REALLOC, RUN, body, ")"))
    box = WasmSandbox(component, host=PluginHost(Grants(http=["a.test", "b.test"])))
    assert box.call_tool("acme.handle", "").text == "1"


def test_the_function_after_a_call_is_called_when_it_is_there() -> None:
    traps = '(func (export "cabi_post_run") (param i32) unreachable)'
    box = WasmSandbox(make_component(wat(MEMORY, REALLOC, RUN, ECHO, ")", traps)))
    with pytest.raises(Exception, match="unreachable"):
        box.call_tool("acme.echo", "1")


@pytest.mark.parametrize(
    ("parts", "error", "message"),
    [
        (('(import "wasi_snapshot_preview1" "fd_write" (func))',), CompileError, "wasi_snapshot_preview1#fd_write"),
        ((f'(import "{COMPONENT}" "environment" (func))',), CompileError, "environment"),
        ((f'(import "{COMPONENT}" "http-fetch" (func))',), CompileError, "http-fetch with another type"),
        ((f'(import "{COMPONENT}" "log" (memory 1))',), CompileError, "log with another type"),
        ((f'(import "{CORE}" "http-count" (func (result i32)))',), CompileError, "http-count"),
        (('(import "a\\"b" "c" (func))',), CompileError, 'a"b#c'),
        ((MEMORY, REALLOC), MissingExport, "`run`"),
        ((REALLOC, RUN, "unreachable)"), MissingExport, "memory"),
        ((MEMORY, RUN, "unreachable)"), MissingExport, "cabi_realloc"),
        ((MEMORY, REALLOC, '(func (export "run") (result i32) unreachable)'), MissingExport, "param i32 i32"),
        ((MEMORY, REALLOC, RUN, 'unreachable) (func (export "cabi_post_run"))'), MissingExport, "cabi_post_run"),
        (('(func (result i32))',), CompileError, "not a WebAssembly module"),
    ],
)  # fmt: skip
def test_a_module_that_is_not_of_the_world_is_refused(
    parts: tuple[str, ...], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        make_component(wat(*parts))


def test_a_module_for_components_is_distinguished_from_one_of_the_first_abi() -> None:
    first = wat(f'(import "{CORE}" "http-count" (func (result i32)))', '(func (export "run") (result i32) i32.const 1)')
    assert not is_for_components(first)
    assert is_for_components(wat(MEMORY, REALLOC, RUN, ECHO, ")"))
    assert is_for_components(wat(imported("http-count"), '(func (export "run") (result i32) i32.const 1)'))


@given(st.binary(max_size=60), st.integers(0, 200), st.integers(0, 255))
@settings(max_examples=60, deadline=None)
def test_changed_bytes_are_refused_with_a_typed_error_or_give_a_component(tail: bytes, at: int, byte: int) -> None:
    module = bytearray(wat(imported("graph-query"), MEMORY, REALLOC, RUN, ECHO, ")"))
    module[at % len(module)] = byte
    for changed in (bytes(module), b"\0asm\1\0\0\0" + tail):
        try:
            assert make_component(changed)[:8] == b"\0asm\x0d\0\1\0"
        except (CompileError, MissingExport):
            continue
