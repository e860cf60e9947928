"""Runs a module from outside: compiled once, each call in a store of its own.

    box = WasmSandbox(module_bytes, WasmLimits(fuel=1_000_000), PluginHost(grants=Grants(http=["example.org"])))
    box.call_tool("acme.echo", '{"text": "hi"}')  # a component: ToolAnswer(text='…', failed=False)
    box.call()  # a core module: the i32 that `run` returns

Rules kept here:
- a module is compiled only after its size was checked, and instantiated only after its imports and exports were;
- a call ends at its fuel, its memory and its time; each end is an error of its own, never a crash;
- several memories share the limit of the memory in equal parts, so that their sum is bounded, too; how many a component
  has is found by starting it without a host;
- the compiled code is kept by the code cache, by the hash of the module;
- calls may be made from any thread at the same time; a call from a host function ends with the call around it.
"""

from __future__ import annotations

import hashlib
import math
import re
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import wasmtime
from wasmtime import component as wit

from cortex_sandbox.engine.cache import cache_folder, delete_oldest
from cortex_sandbox.engine.code_cache import load_code
from cortex_sandbox.engine.engine import INLINE_STACK_BYTES, deep_threads, fits_here, foreign_engine
from cortex_sandbox.engine.reentrancy import PendingCall, current
from cortex_sandbox.errors import (
    CompileError,
    FuelExhausted,
    MemoryLimit,
    MissingExport,
    SandboxError,
    SandboxTimeout,
    TimedOut,
    Trap,
)
from cortex_sandbox.wasm.plugin_call import PluginCall, text
from cortex_sandbox.wasm.plugin_host import PluginHost
from cortex_sandbox.wasm.plugin_imports import component_imports, core_imports
from cortex_sandbox.wasm.plugin_world import RUN, check_component, check_core
from cortex_sandbox.wasm.wasm_limits import MAX_MEMORIES, MAX_MODULE_BYTES, WasmLimits

T = TypeVar("T")
Interrupts = Callable[[Callable[[], None]], AbstractContextManager[None]]

# The second word: version 1 of a core module, version 13 and layer 1 of a component.
_CORE, _COMPONENT = b"\0asm\1\0\0\0", b"\0asm\x0d\0\1\0"
_LABEL = "tool"
_KEPT_FILES, _KEPT_BYTES = 64, 1 << 30
# How wasmtime reports that `Store.set_limits` refused something at the start of a module.
_OVER_LIMIT = re.compile(r"exceeds (memory|table) limits|resource limit exceeded")
_TOO_MANY = "TooManyMemories"
_TOO_MUCH = "fuel allocated for hostcalls has been exhausted"
_REASON = re.compile(r"wasm trap: ([^\n]{1,200})")
# Allocators execute `unreachable` when memory is exhausted. The memory of a component is not visible here.
_GAVE_UP = "unreachable"


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What a tool returned: the text, and whether it is the text of an error."""

    text: str
    failed: bool


class WasmSandbox:
    """A module or component, ready to be called.

    Args:
        module: the bytes of a core module or of a component.
        limits: the limits of each call.
        host: what it may use; by default nothing.
        entrypoint: the export of a core module that is called.

    Attributes:
        is_component: which of the two it is.
        sha256: the digest of the bytes, in hexadecimal.
        imports: the names of the host functions that it imports.

    Raises:
        CompileError: the bytes are too large or not a module, or it imports what no module gets (`ImportRefused`).
        MissingExport: it has no entrypoint with the type of its ABI; that of a component is `run`.
        SandboxError: named `SandboxUnavailable`: the compiler could not be run.
    """

    def __init__(
        self,
        module: bytes,
        limits: WasmLimits | None = None,
        host: PluginHost | None = None,
        entrypoint: str = RUN,
    ) -> None:
        self.entrypoint = entrypoint
        self.limits = limits or WasmLimits()
        self.host = host or PluginHost()
        self._engine = foreign_engine()
        self.is_component = _is_component(module)
        self.sha256 = hashlib.sha256(module).hexdigest()
        self.imports: frozenset[str]
        self._memories: int | None = None  # not known before the first start
        self._start: Callable[[wasmtime.Store], Any]
        if self.is_component:
            self._start = self._component(module)
        else:
            self._start = self._core(module)

    def _core(self, module: bytes) -> Callable[[wasmtime.Store], Any]:
        try:
            wasmtime.Module.validate(self._engine.wasm, module)
        except wasmtime.WasmtimeError as error:
            raise CompileError(
                f"not a WebAssembly module that runs here: {str(error)[:1024]}", "CompileError"
            ) from None
        compiled = self._compiled(wasmtime.Module, module)
        self.imports = check_core(compiled, self.entrypoint)
        pre = core_imports(self._engine).linker.instantiate_pre(compiled)
        return lambda store: pre.instantiate(store).exports(store)

    def _component(self, module: bytes) -> Callable[[wasmtime.Store], Any]:
        if self.entrypoint != RUN:
            raise MissingExport(f"the entrypoint of a component is `{RUN}`, not `{self.entrypoint}`", "MissingExport")
        compiled = self._compiled(wit.Component, module)
        self.imports = check_component(compiled, self._engine.wasm)
        linker = component_imports(self._engine).linker
        return lambda store: linker.instantiate(store, compiled)

    def _compiled(self, kind: Any, module: bytes) -> Any:
        compiled = load_code(kind, self._engine, _LABEL, self._engine.settings, lambda: module, module)
        if folder := cache_folder():
            delete_oldest(folder, _LABEL, _KEPT_FILES, _KEPT_BYTES, ".cwasm")
        return compiled

    def start(self) -> None:
        """Start the module with no host functions, and call nothing.

        Raises:
            FuelExhausted, MemoryLimit, TimedOut, Trap: how it was stopped.
        """
        self._run(_only_start, PluginHost(), None, math.inf)

    def call(
        self, *, host: PluginHost | None = None, interrupts: Interrupts | None = None, deadline: float = math.inf
    ) -> int:
        """Call `run` of a core module; the i32 that it returns.

        Args:
            host: what it may use in this call; that of the sandbox when omitted.
            interrupts: the block in which the call runs; it gets the function that interrupts the call.
            deadline: when the call is stopped at the latest, in monotonic seconds.

        Raises:
            FuelExhausted, MemoryLimit, TimedOut, Trap: how the call was stopped.
            MissingExport: this is a component, whose tools `call_tool` calls.
        """
        if self.is_component:
            raise MissingExport("this is a component: its `run` takes a tool and an input", "MissingExport")
        return int(self._run(partial(_call_core, entrypoint=self.entrypoint), host, interrupts, deadline))

    def call_tool(
        self,
        tool: str,
        argument: str,
        *,
        host: PluginHost | None = None,
        interrupts: Interrupts | None = None,
        deadline: float = math.inf,
    ) -> ToolAnswer:
        """Call `run` of a component.

        Args:
            tool: the tool.
            argument: its input, as JSON.
            host: what it may use in this call; that of the sandbox when omitted.
            interrupts: the block in which the call runs; it gets the function that interrupts the call.
            deadline: when the call is stopped at the latest, in monotonic seconds.

        Raises:
            FuelExhausted, MemoryLimit, TimedOut, Trap: how the call was stopped; the last one, too, for an answer above
                `transfer_bytes`.
            MissingExport: this is a core module.
            ValueError: the input is above `transfer_bytes`, or has a lone surrogate.
        """
        if not self.is_component:
            raise MissingExport("this is a core module: it has no tools with an input", "MissingExport")
        if len(text(tool).encode()) + len(text(argument).encode()) > self.limits.transfer_bytes:
            raise ValueError(f"the input of a tool may have {self.limits.transfer_bytes} bytes")
        found: wit.Variant = self._run(
            partial(_call_component, tool=tool, argument=argument), host, interrupts, deadline
        )
        answer = str(found.payload)
        if len(answer.encode()) > self.limits.transfer_bytes:
            raise Trap(f"the answer of the tool has more than {self.limits.transfer_bytes} bytes", "AnswerTooLarge")
        return ToolAnswer(answer, found.tag == "err")

    def _run(
        self,
        work: Callable[[PluginCall, Callable[[wasmtime.Store], Any]], T],
        host: PluginHost | None,
        interrupts: Interrupts | None,
        deadline: float,
    ) -> T:
        deadline = min(deadline, time.monotonic() + self.limits.timeout_s)
        while self._memories is None:
            self._memories = self._tried_memories(interrupts, deadline)
        return self._run_with(self._memories, work, host or self.host, interrupts, deadline)

    def _tried_memories(self, interrupts: Interrupts | None, deadline: float) -> int:
        """How many memories the module has, at most `MAX_MEMORIES`."""
        for memories in range(1, MAX_MEMORIES):
            try:
                self._run_with(memories, _only_start, PluginHost(), interrupts, deadline)
            except (MemoryLimit, Trap) as error:
                if error.name == _TOO_MANY or isinstance(error, Trap):
                    continue  # a start function can trap because its memory is larger than it will be
            except FuelExhausted:
                pass  # its call will end so, too
            return memories
        return MAX_MEMORIES

    def _run_with(
        self,
        memories: int,
        work: Callable[[PluginCall, Callable[[wasmtime.Store], Any]], T],
        host: PluginHost,
        interrupts: Interrupts | None,
        deadline: float,
    ) -> T:
        outer = current()
        if outer is not None:
            deadline = min(deadline, outer.deadline)
        call = PluginCall(self._engine, self.limits, host, memories)
        run = partial(self._guarded, call, partial(work, call, self._start), deadline, outer)
        with nullcontext() if interrupts is None else interrupts(call.interrupt):
            if outer is None and fits_here(INLINE_STACK_BYTES):
                return run()
            return deep_threads.run(run, call.interrupt, deadline=deadline, when_late=self._engine.clock.advance)

    def _guarded(self, call: PluginCall, work: Callable[[], T], deadline: float, outer: PendingCall | None) -> T:
        try:
            answer = call.run(work, deadline, outer)
            call.check_time()
            return answer
        except (wasmtime.Trap, wasmtime.WasmtimeError) as error:
            raise self._reported(call, error) from None
        finally:
            call.store.close()

    def _reported(self, call: PluginCall, error: Exception) -> SandboxError:
        """The error that the end of a call is reported as."""
        if isinstance(call.stopped, SandboxTimeout):
            return TimedOut(f"stopped: it ran longer than {self.limits.timeout_s:g} s", "Timeout")
        if call.stopped is not None:
            return call.stopped
        if call.store.get_fuel() == 0:
            return FuelExhausted(f"stopped: it used its fuel of {self.limits.fuel}", "FuelExhausted")
        message = str(error)
        if _OVER_LIMIT.search(message):
            return MemoryLimit(
                f"it needs more than its limits: {self.limits.memory_bytes} bytes of memory, in equal parts for up to "
                f"{MAX_MEMORIES} memories, tables of {self.limits.table_elements} elements, {self.limits.instances} "
                "instances",
                _TOO_MANY if "memory count too high" in message else "MemoryLimit",
            )
        if _TOO_MUCH in message:
            return Trap("the module was stopped: it passed too much to the host in one call", "Trap")
        reasons = _REASON.findall(message)
        used = call.memory_size()
        limit = self.limits.memory_bytes // (self._memories or 1)
        if reasons and _GAVE_UP in reasons[-1] and used >= limit * 3 // 4:
            return MemoryLimit(f"it gave up with {used} of {limit} bytes in use", "MemoryLimit")
        return Trap(f"the module was stopped: {reasons[-1] if reasons else 'it broke a rule of its ABI'}", "Trap")


def _is_component(module: bytes) -> bool:
    """Whether the bytes begin as a component; false when they begin as a core module.

    Raises:
        CompileError: they are too large, or neither.
    """
    if len(module) > MAX_MODULE_BYTES:
        raise CompileError(f"the module has {len(module)} bytes; {MAX_MODULE_BYTES} are allowed", "ModuleTooLarge")
    if module[:8] not in (_CORE, _COMPONENT):
        raise CompileError("not a WebAssembly module or component of a known version", "CompileError")
    return module[:8] == _COMPONENT


def _only_start(call: PluginCall, start: Callable[[wasmtime.Store], Any]) -> None:
    start(call.store)


def _call_core(call: PluginCall, start: Callable[[wasmtime.Store], Any], *, entrypoint: str) -> int:
    exports = start(call.store)
    memory = exports.get("memory")
    if isinstance(memory, wasmtime.Memory):
        call.memory_size = lambda: memory.data_len(call.store)
    result: int = exports[entrypoint](call.store)
    return result


def _call_component(call: PluginCall, start: Callable[[wasmtime.Store], Any], *, tool: str, argument: str) -> Any:
    instance = start(call.store)
    function = instance.get_func(call.store, RUN)
    return function(call.store, tool, argument)
