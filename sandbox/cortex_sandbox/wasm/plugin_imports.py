"""The linkers of both ABIs: what a module imports, connected to the call that it makes.

Rules kept here:
- imports are defined once for each engine; a function finds its call as the current one of the thread;
- a deadline that passed during a host function stops the guest.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import wasmtime
from wasmtime import component as wit

from cortex_sandbox.engine.component_import import define_component_import
from cortex_sandbox.engine.engine import Engine
from cortex_sandbox.engine.linker import define_import
from cortex_sandbox.wasm.grants import BASES
from cortex_sandbox.wasm.plugin_call import PluginCall
from cortex_sandbox.wasm.plugin_world import COMPONENT_IMPORTS, CORE_IMPORTS, FUNCTIONS

Answer = Callable[..., Any]


class CoreImports:
    """The linker of core modules, and the callbacks, which must live as long as it."""

    def __init__(self, engine: Engine) -> None:
        self.linker = wasmtime.Linker(engine.wasm)
        self._callbacks = [
            define_import(self.linker, CORE_IMPORTS, f"{kind}-{what}", params, "i", answer(kind))
            for kind in BASES
            for what, params, answer in (("count", "", _core_count), ("handle", "i", _core_handle))
        ]


def _core_count(kind: str) -> Callable[[Any, Any], int]:
    return lambda call, _cells: len(call.host.grants.of(kind))


def _core_handle(kind: str) -> Callable[[Any, Any], int]:
    return lambda call, cells: int(call.host.grants.handle(kind, cells[0].i32))


@cache
def core_imports(engine: Engine) -> CoreImports:
    """The imports of core modules, for an engine."""
    return CoreImports(engine)


class ComponentImports:
    """The linker of components, and the callbacks, which must live as long as it."""

    def __init__(self, engine: Engine) -> None:
        self.linker = wit.Linker(engine.wasm)
        with self.linker.root() as root, root.add_instance(COMPONENT_IMPORTS) as instance:
            self._callbacks = [
                define_component_import(
                    instance, name, _in_time(_function(name)), lambda call: int(call.transfer_bytes)
                )
                for name in FUNCTIONS
            ]


@cache
def component_imports(engine: Engine) -> ComponentImports:
    """The imports of components, for an engine."""
    return ComponentImports(engine)


def _function(name: str) -> Answer:
    """Answers the calls of one function; its first argument is the call of the guest."""
    kind, _, what = name.partition("-")
    if what == "count" and kind in BASES:
        return lambda call: len(call.host.grants.of(kind))
    if what == "handle" and kind in BASES:
        return lambda call, index: call.host.grants.handle(kind, index)
    if name == "log":
        return PluginCall.keep_line
    method: Answer = getattr(PluginCall, name.replace("-", "_"))
    return lambda call, *values: call.answer(name, lambda: method(call, *values))


def _in_time(answer: Answer) -> Answer:
    def enter(call: PluginCall, *values: Any) -> Any:
        result = answer(call, *values)
        call.check_time()
        return result

    return enter
