"""Modules for the tests, from WebAssembly text."""

from __future__ import annotations

from functools import cache

from wasmtime import wat2wasm

CORE = "palyra:plugins/host-capabilities@0.1.0"
COMPONENT = "palyra:plugins/host-capabilities@0.2.0"

TYPES = """
    (type $error' (record (field "code" string) (field "message" string)))
    (export "error" (type $error (eq $error')))
    (type $header' (record (field "name" string) (field "value" string)))
    (export "header" (type $header (eq $header')))
    (type $request' (record (field "method" string) (field "path" string) (field "headers" (list $header))
                            (field "body" (list u8))))
    (export "http-request" (type $request (eq $request')))
    (type $response' (record (field "status" u16) (field "headers" (list $header)) (field "body" (list u8))))
    (export "http-response" (type $response (eq $response')))
    (type $level' (enum "debug" "info" "warning" "error"))
    (export "level" (type $level (eq $level')))
"""
# The type in the component, and the type of the lowered core function.
HANDLE = '(param "handle" s32)'
IMPORTS = {
    "http-count": ("(result s32)", "(result i32)"),
    "http-handle": ('(param "index" s32) (result s32)', "(param i32) (result i32)"),
    "http-fetch": (f'{HANDLE} (param "request" $request) (result (result $response (error $error)))',
                   "(param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32)"),
    "secret-read": (f"{HANDLE} (result (result string (error $error)))", "(param i32 i32)"),
    "storage-read": (f'{HANDLE} (param "key" string) (result (result (list u8) (error $error)))',
                     "(param i32 i32 i32 i32)"),
    "storage-write": (f'{HANDLE} (param "key" string) (param "value" (list u8)) (result (result (error $error)))',
                      "(param i32 i32 i32 i32 i32 i32)"),
    "storage-list": (f'{HANDLE} (param "key" string) (result (result (list string) (error $error)))',
                     "(param i32 i32 i32 i32)"),
    "channel-send": (f'{HANDLE} (param "message" (list u8)) (result (result (error $error)))',
                     "(param i32 i32 i32 i32)"),
    "config-read": ('(param "name" string) (result (result string (error $error)))', "(param i32 i32 i32)"),
    "graph-query": ('(param "arguments" string) (result (result string (error $error)))', "(param i32 i32 i32)"),
    "graph-assert": ('(param "arguments" string) (result (result string (error $error)))', "(param i32 i32 i32)"),
    "log": ('(param "level" $level) (param "message" string)', "(param i32 i32 i32)"),
}  # fmt: skip
# Returns the case, pointer and length of a result at 2048: its text, its bytes, or the code of its error.
FORWARD = """(i32.store8 (i32.const 1024) (i32.load8_u (i32.const 2048)))
  (i32.store (i32.const 1028) (i32.load (i32.const 2052))) (i32.store (i32.const 1032) (i32.load (i32.const 2056)))
  (i32.const 1024)"""
ECHO = (
    """(i32.store (i32.const 1028) (local.get $in)) (i32.store (i32.const 1032) (local.get $size)) (i32.const 1024)"""
)
RUN_TYPE = '(param "tool" string) (param "input" string) (result (result string (error string)))'
INPUT = "(local.get $in) (local.get $size)"


@cache
def core(body: str, before: str = "") -> bytes:
    """A core module whose `run` is `body`."""
    return bytes(wat2wasm(f'(module {before} (func (export "run") (result i32) {body}))'))


@cache
def component(
    body: str,
    *imports: str,
    run_type: str = RUN_TYPE,
    pages: int = 2,
    before: str = "",
    types: str = TYPES,
    instance: str = COMPONENT,
) -> bytes:
    """A component whose `run` is `body`, with the parameters `$tool $toolsize $in $size`; its result is an address."""
    functions = "".join(f'(export "{name}" (func {IMPORTS[name][0]}))' for name in imports)
    lowered = "".join(
        f'(core func ${name} (canon lower (func $host "{name}") (memory (core memory $libc "memory")) '
        f'(realloc (core func $libc "realloc"))))'
        for name in imports
    )
    taken = "".join(f'(import "host" "{name}" (func ${name} {IMPORTS[name][1]}))' for name in imports)
    given = "".join(f'(export "{name}" (func ${name}))' for name in imports)
    host = f'(import "{instance}" (instance $host {types} {functions}))' if imports else ""
    return bytes(
        wat2wasm(f"""(component {before} {host}
  (core module $Libc (memory (export "memory") {pages}) (global $next (mut i32) (i32.const 8192))
    (func (export "realloc") (param i32 i32 i32 i32) (result i32) (local $at i32)
      (local.set $at (i32.and (i32.add (global.get $next) (i32.const 7)) (i32.const -8)))
      (global.set $next (i32.add (local.get $at) (local.get 3)))
      (loop $more (if (i32.gt_u (global.get $next) (i32.mul (memory.size) (i32.const 65536)))
        (then (if (i32.eq (memory.grow (i32.const 1)) (i32.const -1)) (then unreachable)) (br $more))))
      (local.get $at)))
  (core instance $libc (instantiate $Libc))
  {lowered}
  (core module $Main (import "libc" "memory" (memory 1)) {taken}
    (func $run (export "run") (param $tool i32) (param $toolsize i32) (param $in i32) (param $size i32) (result i32)
      {body}))
  (core instance $main (instantiate $Main (with "libc" (instance $libc)) (with "host" (instance {given}))))
  (func (export "run") {run_type}
    (canon lift (core func $main "run") (memory (core memory $libc "memory")) (realloc (core func $libc "realloc"))))
  )""")
    )
