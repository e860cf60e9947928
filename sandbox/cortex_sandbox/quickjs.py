"""A QuickJS guest with its bootstrap: strings in and out, compiled code, pending jobs, host calls.

Rules kept here:
- only strings cross: JSON, or `!` and the JSON of an error (see `guest/bootstrap.ts`);
- every handle that is made is freed on every path that leaves the guest alive;
- what the guest says is data: a text that is too long, no JSON, or not of the form agreed on is an error of its own.
"""

from __future__ import annotations

from typing import NoReturn

from .engine import Engine, engine_for
from .errors import SandboxError, SandboxMemoryError
from .image import EXPORTS, SCRATCH_BYTES, compile_source, image_for
from .instance import Instance

# What the engine itself needs beside the guest's heap: fragmentation, and the text under way at the border.
_OVERHEAD_BYTES = 4 << 20
# The compiler sees hostile source too. Its parser needs the most native stack of all: 3 MB for this much.
_COMPILER_STACK = 128 << 10
_ARGV, _TEXT = 8, 64  # places in the scratch buffer; the first word takes the length of a string

SCRIPT, MODULE = 0, 1
# JS_TAG_UNDEFINED and JS_TAG_EXCEPTION of the guest's quickjs.h; a test holds them against the guest's own word.
_UNDEFINED, _EXCEPTION = 3, 6


class Guest:
    """A live QuickJS context.

    Args:
        engine: what runs it.
        memory_bytes: the limit of its JavaScript heap.
        stack_bytes: the limit of its call stack.

    """

    def __init__(self, engine: Engine, memory_bytes: int, stack_bytes: int) -> None:
        self._image = image = image_for(engine)
        self.instance = Instance(engine, image.pre, image.memory_bytes + memory_bytes + _OVERHEAD_BYTES, EXPORTS)
        self._full_at = image.memory_bytes + memory_bytes * 3 // 4
        self._call = self.instance.functions
        self._scratch = image.scratch
        self._call["qjs_set_memory_limit"](memory_bytes)
        self._call["qjs_set_max_stack_size"](stack_bytes)

    @property
    def has_been_full(self) -> bool:
        """Whether its memory, which never shrinks, was ever nearly used up."""
        return self.instance.alive and self.instance.memory_size >= self._full_at

    def add_compiler(self) -> None:
        """Add what turns source text into code to the context; only a guest that runs nothing gets it."""
        self._call["JS_AddIntrinsicEval"](self._call["qjs_get_context_ptr"]())

    # --- strings

    def new_string(self, raw: bytes) -> int:
        """A handle of a new string, from UTF-8.

        Raises:
            SandboxMemoryError: when it does not fit.

        """
        if len(raw) <= SCRATCH_BYTES - _TEXT:
            self.instance.write(self._scratch + _TEXT, raw)
            handle = self._call["qjs_new_string"](self._scratch + _TEXT, len(raw))
        else:
            pointer = self._call["wasm_malloc"](len(raw))
            if not pointer:
                raise out_of_memory()
            self.instance.write(pointer, raw)
            handle = self._call["qjs_new_string"](pointer, len(raw))
            self._call["wasm_free"](pointer)
        if not handle or self._tag(handle) == _EXCEPTION:
            self._drop_exception(handle)
            raise out_of_memory()
        return handle

    def read_string(self, handle: int, limit: int) -> bytes:
        """The text of a string as UTF-8; a lone surrogate, for which that has no form, as three bytes of its own.

        Raises:
            SandboxError: when it is longer than `limit` bytes of UTF-8.
            SandboxMemoryError: when the guest has no memory left to hand it over.

        """
        pointer = self._call["qjs_get_string_len"](handle, self._scratch)
        if not pointer:
            self._drop_exception(0)
            raise out_of_memory()
        try:
            length = int.from_bytes(self.instance.read(self._scratch, 4), "little")
            if length > limit:
                raise SandboxError(f"a text of {length} bytes crosses a border of {limit}", "RangeError")
            return self.instance.read(pointer, length)
        finally:
            if self.instance.alive:
                self._call["qjs_free_cstring"](pointer)

    def _tag(self, handle: int) -> int:
        """The type of the value behind a handle: the upper half of its eight bytes."""
        return int.from_bytes(self.instance.read(handle + 4, 4), "little", signed=True)

    # --- calls

    def enter(self, entry: str, argument: int | None = None, *, limit: int) -> bytes | None:
        """Call a function of the bootstrap and give what it answers; `argument` is a handle, freed here.

        Raises:
            SandboxError: when the guest could not even describe what went wrong.

        """
        argc = 0
        if argument is not None:
            self.instance.write(self._scratch + _ARGV, argument.to_bytes(4, "little", signed=True))
            argc = 1
        handle = self._call["qjs_call"](self._image.entries[entry], self._image.undefined, argc, self._scratch + _ARGV)
        if argument is not None:
            self._call["qjs_free_value"](argument)
        tag = self._tag(handle)
        if tag == _EXCEPTION:
            self._call["qjs_free_value"](handle)
            self._raise_exception(limit)
        try:
            return None if tag == _UNDEFINED else self.read_string(handle, limit)
        finally:
            if self.instance.alive:
                self._call["qjs_free_value"](handle)

    def run_jobs(self) -> None:
        """Run promise reactions until none is left; an endless chain of them ends at the deadline."""
        pending, execute = self._call["qjs_is_job_pending"], self._call["qjs_execute_pending_job"]
        while pending():
            if execute() < 0:
                self._drop_exception(0)

    def run_code(self, code: bytes) -> int:
        """Run compiled code; a handle of its value (a module's: a promise of its namespace).

        Raises:
            SandboxError: when it throws.
            SandboxMemoryError: when it does not fit.

        """
        pointer = self._call["wasm_malloc"](len(code))
        if not pointer:
            raise out_of_memory()
        self.instance.write(pointer, code)
        handle = self._call["qjs_eval_bytecode"](pointer, len(code))
        self._call["wasm_free"](pointer)
        if not handle or self._call["qjs_is_exception"](handle):
            if handle:
                self._call["qjs_free_value"](handle)
            self._raise_exception(1 << 16)
        return handle

    def compile(self, source: str, filename: str, kind: int) -> bytes:
        """The bytecode of a source text; needs `add_compiler`.

        Raises:
            SandboxError: a SyntaxError, with its place.

        """
        code = compile_source(self.instance, source.encode("utf-8", "replace"), filename, flags=kind)
        if not code:
            self._raise_exception(1 << 16)
        return code

    # --- failures

    def _raise_exception(self, limit: int) -> NoReturn:
        """Raise the exception that the engine holds as an error that the host understands."""
        thrown = self._call["qjs_get_exception"]()
        self.instance.write(self._scratch + _ARGV, thrown.to_bytes(4, "little", signed=True))
        handle = self._call["qjs_call"](
            self._image.entries["describe"], self._image.undefined, 1, self._scratch + _ARGV
        )
        self._call["qjs_free_value"](thrown)
        if self._call["qjs_is_exception"](handle):
            self._drop_exception(handle)
            raise out_of_memory()
        try:
            described = self.read_string(handle, limit)
        finally:
            if self.instance.alive:
                self._call["qjs_free_value"](handle)
        raise ThrownError(described)

    def _drop_exception(self, handle: int) -> None:
        if handle:
            self._call["qjs_free_value"](handle)
        self._call["qjs_free_value"](self._call["qjs_get_exception"]())


class ThrownError(SandboxError):
    """What the guest threw, as the bootstrap described it: JSON that `stacks.py` turns into a proper error."""

    def __init__(self, described: bytes) -> None:
        super().__init__("thrown", "Thrown")
        self.described = described


def out_of_memory() -> SandboxMemoryError:
    """The guest's heap has no room left."""
    return SandboxMemoryError("out of memory", "InternalError")


def prepare_compiler() -> None:
    """Have the engine of `compiler` ready; what that takes on a new machine shall not be part of a guest's time."""
    image_for(engine_for(_COMPILER_STACK))


def compiler(memory_bytes: int) -> Guest:
    """A guest that compiles and runs nothing: made for one source text, then thrown away."""
    guest = Guest(engine_for(_COMPILER_STACK), memory_bytes, _COMPILER_STACK)
    guest.add_compiler()
    return guest
