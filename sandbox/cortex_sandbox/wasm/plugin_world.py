"""The imports and the export of a plugin in both ABIs, and the check of a module against them.

Rules kept here:
- a module may import the functions below with exactly these types, and nothing else: no WASI, no memory, no resource;
- an import that is refused is named in the error;
- types are compared with the expected ones from the top, so that a hostile type is read only as far as it fits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import wasmtime
from wasmtime import component as wit

from cortex_sandbox.errors import CompileError, MissingExport
from cortex_sandbox.wasm.grants import BASES
from cortex_sandbox.wasm.wasm_limits import MAX_EXPORTED_FUNCTIONS

CORE_IMPORTS = "palyra:plugins/host-capabilities@0.1.0"
COMPONENT_IMPORTS = "palyra:plugins/host-capabilities@0.2.0"
RUN = "run"

# A type is a name, or a name with its parts: fields of a record, names of an enumeration, the element of a list, the
# two cases of a result.
Wit = Any
STRING, S32, U16, U8 = wit.String, wit.S32, wit.U16, wit.U8
BYTES = (wit.ListType, U8)
ERROR = (wit.RecordType, (("code", STRING), ("message", STRING)))
HEADERS = (wit.ListType, (wit.RecordType, (("name", STRING), ("value", STRING))))
REQUEST = (wit.RecordType, (("method", STRING), ("path", STRING), ("headers", HEADERS), ("body", BYTES)))
RESPONSE = (wit.RecordType, (("status", U16), ("headers", HEADERS), ("body", BYTES)))
LEVEL = (wit.EnumType, ("debug", "info", "warning", "error"))


def _result(ok: Wit, error: Wit = ERROR) -> Wit:
    return (wit.ResultType, ok, error)


# The parameters and the result of each function.
FUNCTIONS: Mapping[str, tuple[tuple[tuple[str, Wit], ...], Wit]] = {
    **{f"{kind}-count": ((), S32) for kind in BASES},
    **{f"{kind}-handle": ((("index", S32),), S32) for kind in BASES},
    "http-fetch": ((("handle", S32), ("request", REQUEST)), _result(RESPONSE)),
    "secret-read": ((("handle", S32),), _result(STRING)),
    "storage-read": ((("handle", S32), ("key", STRING)), _result(BYTES)),
    "storage-write": ((("handle", S32), ("key", STRING), ("value", BYTES)), _result(None)),
    "storage-list": ((("handle", S32), ("key", STRING)), _result((wit.ListType, STRING))),
    "channel-send": ((("handle", S32), ("message", BYTES)), _result(None)),
    "config-read": ((("name", STRING),), _result(STRING)),
    "graph-query": ((("arguments", STRING),), _result(STRING)),
    "graph-assert": ((("arguments", STRING),), _result(STRING)),
    "log": ((("level", LEVEL), ("message", STRING)), None),
}
RUN_TYPE = ((("tool", STRING), ("input", STRING)), _result(STRING, STRING))


def core_parameters(name: str) -> int | None:
    """How many i32 a function of the core ABI takes; None when there is no such function. It returns an i32."""
    kind, _, what = name.partition("-")
    return {"count": 0, "handle": 1}.get(what) if kind in BASES else None


def check_core(module: wasmtime.Module, entrypoint: str = RUN) -> frozenset[str]:
    """Check the imports and exports of a core module; returns the names of the imported functions.

    Args:
        module: compiled.
        entrypoint: the export that is called.

    Raises:
        CompileError: for an import that is refused, or too many exported functions.
        MissingExport: without `entrypoint () -> i32`.
    """
    for item in module.imports:
        count = core_parameters(item.name or "") if item.module == CORE_IMPORTS else None
        if count is None:
            raise _refused(f"{item.module}#{item.name}")
        if not _is_core_function(item.type, count):
            raise _wrong_type(f"{item.module}#{item.name}")
    exported = {item.name: item.type for item in module.exports}
    _check_count(sum(isinstance(type_, wasmtime.FuncType) for type_ in exported.values()))
    if entrypoint not in exported:
        raise MissingExport(f"the module does not export a function `{entrypoint}`", "MissingExport")
    if not _is_core_function(exported[entrypoint], 0):
        raise MissingExport(f"the export `{entrypoint}` of the module is not a function () -> i32", "MissingExport")
    return frozenset(str(item.name) for item in module.imports)


def check_component(component: wit.Component, engine: wasmtime.Engine) -> frozenset[str]:
    """Check the imports and exports of a component; as `check_core`.

    Raises:
        CompileError: for an import that is refused, or too many exported functions.
        MissingExport: without `run (tool: string, input: string) -> result<string, string>`.
    """
    type_, imported = component.type, set[str]()
    for name, extern in type_.imports(engine).items():
        instance = extern.ty if name == COMPONENT_IMPORTS else None
        if not isinstance(instance, wit.ComponentInstanceType):
            raise _refused(name)
        for function, part in instance.exports(engine).items():
            _check_import(f"{name}#{function}", function, part.ty)
            imported.add(function)
    exported = {name: extern.ty for name, extern in type_.exports(engine).items()}
    _check_count(sum(_functions_in(item, engine) for item in exported.values()))
    run = exported.get(RUN)
    if run is None:
        raise MissingExport("the component does not export a function `run`", "MissingExport")
    if not isinstance(run, wit.FuncType) or not _is_function(run, RUN_TYPE):
        raise MissingExport(
            "the export `run` of the component is not a function (tool: string, input: string) -> "
            "result<string, string>",
            "MissingExport",
        )
    return frozenset(imported & FUNCTIONS.keys())


def _check_import(full_name: str, name: str, item: Any) -> None:
    if isinstance(item, wit.ValType):
        return  # a named type, that the functions use
    if name not in FUNCTIONS:
        raise _refused(full_name)
    if not isinstance(item, wit.FuncType) or not _is_function(item, FUNCTIONS[name]):
        raise _wrong_type(full_name)


def _functions_in(item: Any, engine: wasmtime.Engine) -> int:
    if isinstance(item, wit.ComponentInstanceType):
        return sum(isinstance(part.ty, wit.FuncType) for part in item.exports(engine).values())
    return int(isinstance(item, wit.FuncType))


def _is_core_function(type_: Any, parameters: int) -> bool:
    i32 = [wasmtime.ValType.i32()]
    if not isinstance(type_, wasmtime.FuncType):
        return False
    return bool(type_.params == i32 * parameters and type_.results == i32)


def _is_function(type_: wit.FuncType, expected: tuple[tuple[tuple[str, Wit], ...], Wit]) -> bool:
    return _are_fields(type_.params, expected[0]) and _is(type_.result, expected[1])


def _are_fields(fields: list[tuple[str, Any]], expected: tuple[tuple[str, Wit], ...]) -> bool:
    return len(fields) == len(expected) and all(
        name == wanted and _is(type_, of) for (name, type_), (wanted, of) in zip(fields, expected, strict=True)
    )


def _is(type_: Any, expected: Wit) -> bool:
    """Whether a type is the expected one."""
    if expected is None or isinstance(expected, type):
        return type_ is None if expected is None else isinstance(type_, expected)
    kind, *parts = expected
    if not isinstance(type_, kind):
        return False
    if isinstance(type_, wit.ListType):
        return _is(type_.element, parts[0])
    if isinstance(type_, wit.RecordType):
        return _are_fields(type_.fields, parts[0])
    if isinstance(type_, wit.EnumType):
        return bool(tuple(type_.names) == parts[0])
    return isinstance(type_, wit.ResultType) and _is(type_.ok, parts[0]) and _is(type_.err, parts[1])


def _check_count(functions: int) -> None:
    if functions > MAX_EXPORTED_FUNCTIONS:
        raise CompileError(
            f"the module exports {functions} functions; {MAX_EXPORTED_FUNCTIONS} are allowed", "TooManyExports"
        )


def _refused(name: str) -> CompileError:
    return CompileError(
        f"the module imports {_shown(name)}, which no module gets: only the functions of "
        f"{CORE_IMPORTS} (core module) or {COMPONENT_IMPORTS} (component) can be imported",
        "ImportRefused",
    )


def _wrong_type(name: str) -> CompileError:
    return CompileError(f"the module imports {_shown(name)} with another type than the host's", "ImportRefused")


def _shown(name: str) -> str:
    return ascii(name[:200])
