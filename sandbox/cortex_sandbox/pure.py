"""A WebAssembly module of our own that calls nobody: bytes and numbers in, bytes and numbers out.

with PureModule("reader", Path("reader.wasm")).ready() as instance:
    at = instance.give(b"a text")
    number = instance.call("judge", at, 6)

Rules kept here:
- the code is trusted, what it reads is not: it has a limit of memory and no import, so that the worst it can do is to
  stop (`ModuleStopped`); it has no limit of time, its author sees to that;
- there is one instance of a module, since to prepare it may be dear; it is one thread's until its block ends;
- it is used again only when the block ended well, its memory, which never shrinks, has not grown by much, and it was
  not given much at once, of which it may have touched any memory that it had from the start;
- a fork takes it along when it was idle; one that was in use then is left to the parent;
- nothing of the engine is imported before the first instance is made.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from .errors import ModuleStopped, SandboxError

if TYPE_CHECKING:
    import wasmtime

    from .engine import Engine
    from .instance import Instance

_MEMORY_BYTES = 1 << 30
# By how much the memory of an instance may have grown since it was prepared, for it to be kept.
_GROWN_BYTES = 64 << 20
# How much it may have been given at once since then.
_GIVEN_BYTES = 1 << 20


class PureInstance:
    """A module in a memory of its own, for one thread at a time.

    It exports its memory, and functions whose parameters are i32, as is the result, if there is one. One of them is
    `room(size)`: where so many bytes may be written.

    Attributes:
        most_given: the most bytes that it was given at once.

    """

    def __init__(self, label: str, instance: Instance, signatures: Mapping[str, _Signature]) -> None:
        self._label = label
        self._instance = instance
        self._signatures = signatures
        self._functions = instance.functions
        self.most_given = 0

    def give(self, data: bytes) -> int:
        """Put bytes where the module has room for them; where that is.

        Raises:
            ModuleStopped: it has none.

        """
        at = self.call("room", len(data))
        self.most_given = max(self.most_given, len(data))
        try:
            self._instance.write(at, data)
        except SandboxError as error:
            raise self._stopped(error.message) from None
        return at

    def call(self, name: str, *arguments: int) -> int:
        """What a function of the module returns; 0, when that is nothing.

        Args:
            name: the function.
            arguments: as many numbers as it takes, of 32 bits.

        Raises:
            ModuleStopped: it did not come to its end.
            KeyError, TypeError: there is no such function, or it takes another number of arguments.

        """
        parameters, results = self._signatures[name]
        if len(arguments) != parameters:
            raise TypeError(f"{name} takes {parameters} numbers, not {len(arguments)}")
        if not self._instance.alive:
            raise self._stopped("it cannot be called again")
        try:
            found = self._functions[name](*arguments)
        except SandboxError as error:
            raise self._stopped(error.message) from None
        return found if results else 0

    def read(self, at: int, size: int) -> bytes:
        """Bytes of the module's memory.

        Raises:
            ModuleStopped: they lie outside of it.

        """
        try:
            return self._instance.read(at, size)
        except SandboxError as error:
            raise self._stopped(error.message) from None

    def _stopped(self, why: str) -> ModuleStopped:
        self._instance.alive = False
        return ModuleStopped(f"{self._label} stopped: {why}")


class PureModule:
    """The code of a module, and the instance of it that is used.

    Args:
        label: a short name, for messages and for the file of its compiled code.
        wasm: where the module lies; it is read and compiled when an instance is first needed.
        prepare: gives an instance what it shall know; done before it is first used.

    """

    def __init__(self, label: str, wasm: Path, prepare: Callable[[PureInstance], None] = lambda _: None) -> None:
        self._label = label
        self._wasm = wasm
        self._prepare = prepare
        self._code: _Code | None = None
        self._idle: _Prepared | None = None
        self._reset()
        os.register_at_fork(after_in_child=self._reset)

    def _reset(self) -> None:
        self._lock = threading.Lock()

    @contextmanager
    def ready(self) -> Iterator[PureInstance]:
        """The instance, prepared, for this thread alone; what it holds of earlier blocks is up to the module.

        Raises:
            FileNotFoundError: the build did not make the module.
            ModuleStopped: preparing it came to no end, or the system has no memory for it.
            wasmtime.WasmtimeError: it is no module, or imports something.
            TypeError: it exports a function of another kind.

        """
        with self._lock:
            prepared, self._idle = self._idle or self._new(), None
            is_kept = False
            try:
                yield prepared.shown
                is_kept = prepared.may_be_kept()
            finally:
                if is_kept:
                    self._idle = prepared
                else:
                    prepared.instance.close()

    def _new(self) -> _Prepared:
        import wasmtime

        from .instance import Instance

        self._code = code = self._code or self._load()
        try:
            parameters = {name: signature.parameters for name, signature in code.signatures.items()}
            instance = Instance(code.engine, code.pre, _MEMORY_BYTES, parameters, final=code.is_final)
        except (SandboxError, wasmtime.WasmtimeError) as error:
            raise ModuleStopped(f"{self._label} did not start: {error}") from None
        shown = PureInstance(self._label, instance, code.signatures)
        try:
            self._prepare(shown)
        except BaseException:
            instance.close()
            raise
        shown.most_given = 0
        return _Prepared(shown, instance, instance.memory_size + _GROWN_BYTES)

    def _load(self) -> _Code:
        import wasmtime

        from .code_cache import load_module
        from .engine import pure_engine
        from .guests import read_built

        wasm, engine = read_built(self._wasm), pure_engine()
        module = load_module(engine, self._label, engine.settings, lambda: wasm, wasm)
        functions = {e.name: e.type for e in module.exports if isinstance(e.type, wasmtime.FuncType)}
        signatures = {name: _signature(name, kind) for name, kind in functions.items()}
        memories = [e.type.limits for e in module.exports if isinstance(e.type, wasmtime.MemoryType)]
        is_final = all(limits.min == limits.max for limits in memories)
        return _Code(engine, wasmtime.Linker(engine.wasm).instantiate_pre(module), signatures, is_final)


class _Signature(NamedTuple):
    """How many i32 a function takes and returns."""

    parameters: int
    results: int


class _Code(NamedTuple):
    engine: Engine
    pre: wasmtime.InstancePre
    signatures: Mapping[str, _Signature]
    is_final: bool  # whether its memory has its size from the start


class _Prepared(NamedTuple):
    shown: PureInstance
    instance: Instance
    full_at: int

    def may_be_kept(self) -> bool:
        has_grown = self.instance.memory_size > self.full_at
        return self.instance.alive and not has_grown and self.shown.most_given <= _GIVEN_BYTES


def _signature(name: str, kind: wasmtime.FuncType) -> _Signature:
    if {str(one) for one in (*kind.params, *kind.results)} - {"i32"} or len(kind.results) > 1:
        raise TypeError(f"{name} takes or returns something else than numbers of 32 bits")
    return _Signature(len(kind.params), len(kind.results))
