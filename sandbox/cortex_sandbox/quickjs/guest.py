"""A QuickJS guest: text in, text out, compiled code, host calls.

Rules kept here:
- only bytes cross: JSON, or `!` and the JSON of an error (see `guest/bootstrap.ts`); the host holds no reference to a
  value in the guest (see `guest/engine/guest.c`);
- an entry crosses once: the guest runs its pending jobs before it returns;
- output of the guest is data: a text that is too long, not JSON or malformed is an error.
"""

from __future__ import annotations

from cortex_sandbox.engine.bake import PAGE
from cortex_sandbox.engine.engine import Engine, engine_for
from cortex_sandbox.engine.instance import Instance
from cortex_sandbox.errors import SandboxError, SandboxMemoryError
from cortex_sandbox.quickjs.image import (
    ENTRIES,
    EXPORTS,
    NO_MEMORY,
    NOTHING,
    OVERHEAD_BYTES,
    SCRATCH_BYTES,
    STOP_AT,
    THREW,
    compile_source,
    image_for,
    read_mail,
)

# The compiler reads hostile source too. With this limit its recursion fits into 2 MB of native stack.
_COMPILER_STACK = 128 << 10
# More than any description of an error that the bootstrap makes.
_DESCRIBED_BYTES = 256 << 10

SCRIPT, MODULE = 0, 1
CALL, SETTLE, ADOPT, INSTALL = map(ENTRIES.index, ("call", "settle", "adopt", "install"))


class Guest:
    """A live QuickJS context.

    Args:
        engine: the engine of the guest.
        memory_bytes: the limit of its JavaScript heap.
        stack_bytes: the limit of its call stack.
    """

    def __init__(self, engine: Engine, memory_bytes: int, stack_bytes: int) -> None:
        self.engine = engine
        self._image = image = image_for(engine, memory_bytes)
        whole = image.memory_bytes + memory_bytes + OVERHEAD_BYTES
        final = image.final_bytes is not None
        self.instance = Instance(engine, image.pre, image.final_bytes or whole, EXPORTS, final=final)
        self.instance.stop_word = image.mail + STOP_AT
        self._full_at = image.memory_bytes + memory_bytes * 3 // 4
        self._call = self.instance.functions
        self._call["guest_limit"](memory_bytes, whole // PAGE, stack_bytes)

    @property
    def memory_bytes(self) -> int:
        """The memory in use, in bytes, as the guest reports it, and at most the size of its memory."""
        pages = int.from_bytes(self.instance.read(self._image.used, 4), "little")
        return min(pages * PAGE, self.instance.memory_size)

    @property
    def has_been_full(self) -> bool:
        """Whether its memory, which never shrinks, was nearly used up at some time."""
        return self.instance.alive and self.memory_bytes >= self._full_at

    def add_compiler(self) -> None:
        """Add the compiler to the context; only for a guest that runs nothing."""
        self._call["guest_add_compiler"]()

    def enter(self, entry: int, text: bytes | None = None, *, limit: int) -> bytes | None:
        """Call a function of the bootstrap, run all pending jobs, and return the result.

        Args:
            entry: the function: its index in `ENTRIES`.
            text: its argument, as JSON.
            limit: the maximum size of the result in bytes of UTF-8; a lone surrogate counts as three.

        Returns:
            The result as JSON; None when it is a promise that no remaining job can settle.

        Raises:
            ThrownError: it threw.
            SandboxError: the result is longer than `limit`.
            SandboxMemoryError: the guest has no memory left.
        """
        pointer = 0
        if text is not None:
            pointer = self._placed(text)
        return self._answer(self._call["guest_enter"](entry, pointer, len(text or b"")), limit)

    def run_code(self, code: bytes, entry: int, *, limit: int) -> bytes | None:
        """Run compiled code and pass its value to an entry, `SETTLE` or (for a module) `ADOPT`; else as `enter`."""
        pointer = self._placed(code)
        return self._answer(self._call["guest_run"](pointer, len(code), entry), limit)

    def compile(self, source: str, filename: str, kind: int) -> bytes:
        """The bytecode of a source text; needs `add_compiler`.

        Raises:
            ThrownError: a SyntaxError, with its place.
            SandboxMemoryError: it does not fit.
        """
        raw = source.encode("utf-8", "replace")
        status = compile_source(self.instance, raw, filename, as_module=kind == MODULE)
        return self._answer(status, self.instance.memory_size) or b""

    def write_answer(self, text: bytes) -> int:
        """Write the answer to a host call to the guest's memory; the result of the import: its length.

        -1 when the guest has no memory left for it; the guest then throws an error.
        """
        if len(text) <= SCRATCH_BYTES:
            self.instance.write(self._image.scratch, text)
            return len(text)
        pointer = self._call["guest_alloc"](len(text))
        if not pointer:
            return -1
        self.instance.write(pointer, text)
        self.instance.write(self._image.mail, pointer.to_bytes(4, "little", signed=True))
        return len(text)

    def _answer(self, status: int, limit: int) -> bytes | None:
        if status == NOTHING:
            return None
        if status == NO_MEMORY:
            raise out_of_memory()
        if status == THREW:
            raise ThrownError(read_mail(self.instance, self._image.mail, _DESCRIBED_BYTES), self.has_been_full)
        return read_mail(self.instance, self._image.mail, limit)

    def _placed(self, text: bytes) -> int:
        """The address of bytes written to the guest: in its scratch buffer, or in memory that the guest frees."""
        if len(text) > SCRATCH_BYTES:
            return self._allocated(text)
        self.instance.write(self._image.scratch, text)
        return self._image.scratch

    def _allocated(self, data: bytes) -> int:
        pointer = self._call["guest_alloc"](len(data))
        if not pointer:
            raise out_of_memory()
        self.instance.write(pointer, data)
        return pointer


class ThrownError(SandboxError):
    """An error in the guest, as the bootstrap described it; `stack_traces.py` makes a `SandboxError` of it.

    Attributes:
        described: the description, as JSON.
        has_been_full: whether the memory of the guest was nearly used up at some time.
    """

    def __init__(self, described: bytes, has_been_full: bool) -> None:
        super().__init__("thrown", "Thrown")
        self.described = described
        self.has_been_full = has_been_full


def out_of_memory() -> SandboxMemoryError:
    """The error for a guest whose heap is full."""
    return SandboxMemoryError("out of memory", "InternalError")


def prepare_compiler(memory_bytes: int) -> None:
    """Load the engine of `compiler`, so that its compilation on a new machine does not count as a guest's run time."""
    image_for(engine_for(_COMPILER_STACK), memory_bytes)


def compiler(memory_bytes: int) -> Guest:
    """A guest that compiles one source text and runs nothing."""
    guest = Guest(engine_for(_COMPILER_STACK), memory_bytes, _COMPILER_STACK)
    guest.add_compiler()
    return guest
