"""Makes a component of a core module that was compiled for the world in `palyra-sdk.wit`.

    component = make_component(Path("tool.wasm").read_bytes())

A C or Rust compiler writes a core module. When it imports the functions of `palyra:plugins/host-capabilities@0.2.0`
and exports `run`, `memory` and `cabi_realloc` with the names and types of the canonical ABI (Component Model,
"Canonical ABI"), only a wrapper is missing, which is the same for each such module, since the world is fixed.

Rules kept here:
- the module is embedded without a change; the component imports only the functions that the module imports;
- an import or export that does not belong to the world is refused with its name;
- the text of the wrapper follows from the types in `plugin_world`;
- the same module gives the same bytes.

The module needs its imports before its memory exists, and the imports need the memory. So it is started with functions
that call through a table, and a last core module fills the table.
"""

from __future__ import annotations

from collections.abc import Iterator

import wasmtime
from wasmtime import component as wit

from cortex_sandbox.engine.engine import foreign_engine
from cortex_sandbox.errors import CompileError, MissingExport
from cortex_sandbox.wasm.plugin_world import (
    COMPONENT_IMPORTS,
    ERROR,
    FUNCTIONS,
    HEADERS,
    LEVEL,
    REQUEST,
    RESPONSE,
    RUN,
    RUN_TYPE,
    S32,
    STRING,
    U8,
    U16,
    Wit,
)
from cortex_sandbox.wasm.wasm_limits import MAX_MODULE_BYTES

_MEMORY, _REALLOC, _POST_RUN = "memory", "cabi_realloc", "cabi_post_run"
_CORE_MODULE = 1  # the id of the section of a component that holds a core module
_EMPTY = b"\0asm\1\0\0\0"
_PREAMBLE = 8
# An import's records and enumerations need names (Component Model, "Import and Export Definitions").
_NAMED = (("error", ERROR), ("header", HEADERS[1]), ("request", REQUEST), ("response", RESPONSE), ("level", LEVEL))
_PLAIN: dict[Wit, str] = {STRING: "string", S32: "s32", U16: "u16", U8: "u8"}
_WIT_NAMES = {"request": "http-request", "response": "http-response"}


def is_for_components(module: bytes) -> bool:
    """Whether a core module was compiled for the world of components, version 0.2.0.

    Raises:
        CompileError: the bytes are not a core module.
    """
    compiled = _compiled(module)
    run = _exports(compiled).get(RUN)
    takes_texts = isinstance(run, wasmtime.FuncType) and len(run.params) == len(_flat_parameters(RUN_TYPE[0]))
    return takes_texts or any(item.module == COMPONENT_IMPORTS for item in compiled.imports)


def make_component(module: bytes) -> bytes:
    """The component with a core module as its content.

    Args:
        module: a core module with the imports and exports of the world, version 0.2.0, in the canonical ABI.

    Raises:
        CompileError: the bytes are not a core module, or it imports something else.
        MissingExport: `run`, `memory` or `cabi_realloc` is missing or has another type.
    """
    compiled = _compiled(module)
    imported = sorted({_import_name(item) for item in compiled.imports})
    exported = _exports(compiled)
    _check_exports(exported)
    text = _wrapper(imported, has_post_run=_POST_RUN in exported)
    return _with_module(bytes(wasmtime.wat2wasm(text)), module)


def _compiled(module: bytes) -> wasmtime.Module:
    if len(module) > MAX_MODULE_BYTES:
        raise CompileError(f"the module has {len(module)} bytes; {MAX_MODULE_BYTES} are allowed", "ModuleTooLarge")
    if not module.startswith(_EMPTY):
        raise CompileError("not a WebAssembly core module", "CompileError")
    try:
        return wasmtime.Module(foreign_engine().wasm, module)
    except wasmtime.WasmtimeError as error:
        raise CompileError(f"not a WebAssembly module that runs here: {str(error)[:1024]}", "CompileError") from None


def _exports(module: wasmtime.Module) -> dict[str, object]:
    return {item.name: item.type for item in module.exports}


def _import_name(item: wasmtime.ImportType) -> str:
    name = item.name or ""
    if item.module != COMPONENT_IMPORTS or name not in FUNCTIONS:
        full_name = ascii(f"{item.module}#{name}"[:200])
        raise CompileError(
            f"the module imports {full_name}: a tool can import only the functions of {COMPONENT_IMPORTS}; compile it "
            "without a system interface (wasm32-freestanding, wasm32-unknown-unknown)",
            "ImportRefused",
        )
    parameters, result = _flat_function(name)
    if not _is_function(item.type, parameters, result):
        wanted = _signature(parameters, result)
        raise CompileError(f"the module imports {name} with another type than {wanted}", "ImportRefused")
    return name


def _check_exports(exported: dict[str, object]) -> None:
    if not isinstance(exported.get(_MEMORY), wasmtime.MemoryType):
        raise MissingExport("the module does not export its memory as `memory`", "MissingExport")
    texts = len(_flat_parameters(RUN_TYPE[0]))
    for name, parameters, results, needed in (
        (RUN, texts, 1, True),
        (_REALLOC, 4, 1, True),
        (_POST_RUN, 1, 0, False),
    ):
        if name not in exported and not needed:
            continue
        if not _is_function(exported.get(name), parameters, results):
            raise MissingExport(
                f"the module does not export `{name}` as a function {_signature(parameters, results)}", "MissingExport"
            )


def _is_function(type_: object, parameters: int, results: int) -> bool:
    i32 = wasmtime.ValType.i32()
    return isinstance(type_, wasmtime.FuncType) and (type_.params, type_.results) == (
        [i32] * parameters,
        [i32] * results,
    )


def _signature(parameters: int, results: int) -> str:
    """A type of i32 as it is written in WebAssembly text."""
    taken = f"(param{' i32' * parameters}) " if parameters else ""
    return f"{taken}(result{' i32' * results})" if results else taken.rstrip()


def _flat_parameters(fields: tuple[tuple[str, Wit], ...]) -> list[str]:
    return [cell for _, type_ in fields for cell in _flat(type_)]


def _flat_function(name: str) -> tuple[int, int]:
    """How many i32 the core function of an import takes and returns (Canonical ABI, "Flattening")."""
    fields, result = FUNCTIONS[name]
    parameters, results = len(_flat_parameters(fields)), 0 if result is None else len(_flat(result))
    return (parameters + 1, 0) if results > 1 else (parameters, results)


def _flat(type_: Wit) -> list[str]:
    """The core values that a value is passed as; all types of the world are passed as i32."""
    if isinstance(type_, type):
        return ["i32", "i32"] if type_ is STRING else ["i32"]
    kind, *parts = type_
    if kind is wit.ListType:
        return ["i32", "i32"]
    if kind is wit.RecordType:
        return _flat_parameters(parts[0])
    if kind is wit.ResultType:
        return ["i32", *max(([] if part is None else _flat(part) for part in parts), key=len)]
    return ["i32"]


def _text(type_: Wit, *, is_definition: bool = False) -> str:
    """A type in the text format of components."""
    for name, named in _NAMED:
        if type_ == named and not is_definition:
            return f"${name}"
    if isinstance(type_, type):
        return _PLAIN[type_]
    kind, *parts = type_
    if kind is wit.ListType:
        return f"(list {_text(parts[0])})"
    if kind is wit.RecordType:
        return "(record" + "".join(f' (field "{name}" {_text(field)})' for name, field in parts[0]) + ")"
    if kind is wit.EnumType:
        return "(enum" + "".join(f' "{case}"' for case in parts[0]) + ")"
    ok, error = parts
    return f"(result{'' if ok is None else ' ' + _text(ok)} (error {_text(error)}))"


def _function_text(fields: tuple[tuple[str, Wit], ...], result: Wit) -> str:
    taken = "".join(f' (param "{name}" {_text(type_)})' for name, type_ in fields)
    return taken + ("" if result is None else f" (result {_text(result)})")


def _named_types() -> Iterator[str]:
    for name, type_ in _NAMED:
        yield f"(type ${name}' {_text(type_, is_definition=True)})"
        yield f'(export "{_WIT_NAMES.get(name, name)}" (type ${name} (eq ${name}\')))'


def _wrapper(imported: list[str], *, has_post_run: bool) -> str:
    """The component around an empty module."""
    flat = {name: _flat_function(name) for name in imported}
    functions = "".join(f'(export "{name}" (func{_function_text(*FUNCTIONS[name])}))' for name in imported)
    host = f'(import "{COMPONENT_IMPORTS}" (instance $host {"".join(_named_types())} {functions}))' if imported else ""
    options = f'(memory (core memory $main "{_MEMORY}")) (realloc (core func $main "{_REALLOC}"))'
    post_run = f'(post-return (core func $main "{_POST_RUN}"))' if has_post_run else ""
    calls, taken, lowered, given = "", "", "", ""
    for index, (name, (parameters, results)) in enumerate(flat.items()):
        values = "".join(f"(local.get {cell})" for cell in range(parameters))
        type_ = _signature(parameters, results)
        calls += f'(func (export "{name}") {type_} (call_indirect {type_} {values} (i32.const {index})))'
        taken += f'(import "" "{name}" (func ${name} {type_}))'
        lowered += f'(core func ${name} (canon lower (func $host "{name}") {options}))'
        given += f'(export "{name}" (func ${name}))'
    elements = " ".join(f"${name}" for name in flat)
    return f"""(component {host}
  (core module)
  (core module $Calls (table (export "table") {len(flat)} funcref) {calls})
  (core module $Filled (import "" "table" (table {len(flat)} funcref)) {taken} (elem (i32.const 0) func {elements}))
  (core instance $calls (instantiate $Calls))
  (core instance $main (instantiate 0 (with "{COMPONENT_IMPORTS}" (instance $calls))))
  {lowered}
  (core instance (instantiate $Filled (with "" (instance
    (export "table" (table $calls "table")) {given}))))
  (func (export "{RUN}"){_function_text(*RUN_TYPE)} (canon lift (core func $main "{RUN}") {options} {post_run})))"""


def _with_module(component: bytes, module: bytes) -> bytes:
    """A component with a module in place of the empty one, which is the content of a section of its own.

    The text format has no form for a module in bytes. Section: an id, the size in LEB128, the content.
    """
    parts, position = [component[:_PREAMBLE]], _PREAMBLE
    replaced = False
    while position < len(component):
        kind, size, start = component[position], 0, position + 1
        for shift in range(0, 35, 7):
            byte = component[start]
            start += 1
            size |= (byte & 0x7F) << shift
            if byte < 0x80:
                break
        content = component[start : start + size]
        position = start + size
        if kind == _CORE_MODULE and content == _EMPTY and not replaced:
            content, replaced = module, True
        parts += [bytes([kind]), _leb128(len(content)), content]
    return b"".join(parts)


def _leb128(number: int) -> bytes:
    encoded = bytearray()
    while number >= 0x80:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)
