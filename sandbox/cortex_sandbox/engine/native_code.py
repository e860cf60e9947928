"""WebAssembly → native code, in a child process that ends.

Rules kept here:
- compiling takes up to 0.9 GB of memory, which an allocator does not give back: only a process that ends does;
- the child never sees a skill, only the guest's bytes, and it writes only its output and the file of the cache;
- where the code is kept, the child ends its work when this process is killed or stops waiting, and holds the lock of
  the file until then: compiling is not repeated from the start. The child has its own time limit;
- output that is not whole is never used: the error states how the child ended.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO

from cortex_sandbox import compiling
from cortex_sandbox.engine.child_program import command
from cortex_sandbox.errors import CompileError, SandboxError

# Compiling esbuild takes 6 s on a fast processor, a minute on a slow one, and six where others use the processor too.
COMPILE_S = 1800.0
FOREIGN_COMPILE_S = 300.0
INVALID = 65  # the status of a child that refuses the bytes
SIZE_BYTES = 8
KEPT = b"\xff" * SIZE_BYTES
_LOOK_S = 0.1
_MAX_REASON = 1024


def compile_apart(dimensions: tuple[int, ...], wasm: bytes) -> bytearray:
    """The native code of a module, as `wasmtime.Module.deserialize` takes it.

    Args:
        dimensions: of the engine (`Engine.dimensions`).
        wasm: the module.

    Raises:
        CompileError: the bytes are not a module.
        SandboxError: named `SandboxUnavailable`: the child cannot be started, is killed, or fails; `Interrupted`: this
            thread stopped waiting (`compiling.unless`).
    """
    code, reason = _compile(dimensions, wasm, None, None)
    if code is None:
        raise _unavailable(reason)
    return code


def compile_into(path: Path, lock: int | None, dimensions: tuple[int, ...], wasm: bytes) -> bytearray | None:
    """Keep the native code of a module in a file of the cache; the code when it cannot be written, else None.

    Args:
        path: the file.
        lock: a descriptor with the lock of the file, which the child holds too.
        dimensions: as for `compile_apart`.
        wasm: the module.

    Raises:
        SandboxError: as `compile_apart`.
    """
    code, reason = _compile(dimensions, wasm, path, lock)
    if code is None and reason:
        raise _unavailable(reason)
    return code


def _compile(
    dimensions: tuple[int, ...], wasm: bytes, keep: Path | None, lock: int | None
) -> tuple[bytearray | None, str]:
    """The code, None when it was kept or is not whole, and in the latter case the reason."""
    try:
        child = subprocess.Popen(  # noqa: S603 - this interpreter and a function of this package
            command("cortex_sandbox.engine.compile_child", *dimensions),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            pass_fds=() if lock is None else (lock,),
            start_new_session=keep is not None,  # what is kept is worth ending after a Ctrl-C, too
        )
    except OSError as error:
        raise _unavailable(f"{sys.executable or 'the interpreter'} cannot be started: {error.strerror}") from None
    too_late = threading.Timer(COMPILE_S, child.kill)
    too_late.daemon, too_late.name = True, "cortex-compiling-deadline"
    too_late.start()
    try:
        code, is_kept, reason = _exchange(child, os.fsencode(keep or ""), wasm)
    except BaseException:  # this thread was interrupted, or waits no longer
        if keep is None:
            child.kill()
        threading.Thread(target=child.wait, name="cortex-compiling", daemon=True).start()
        raise
    finally:
        too_late.cancel()
        for pipe in (child.stdout, child.stderr):
            _of(pipe).close()
    child.wait()
    if child.returncode == INVALID:
        raise CompileError(f"not a WebAssembly module that runs here: {reason[:_MAX_REASON]}", "CompileError")
    return code, "" if is_kept or code is not None else reason or _ending(child.returncode)


def _exchange(child: subprocess.Popen[bytes], *parts: bytes) -> tuple[bytearray | None, bool, str]:
    """The code, None when it is not whole; whether it was kept instead; and the last line of the standard error.

    The child reads all of its input before it writes.
    """
    with contextlib.suppress(BrokenPipeError), _of(child.stdin) as to_child:
        for part in parts:
            left = memoryview(len(part).to_bytes(SIZE_BYTES, "little") + part)
            while left:
                left = left[to_child.write(left) :]
    output = _of(child.stdout)
    _await(output)
    size = output.read(SIZE_BYTES)
    if size == KEPT:
        return None, True, ""
    code = bytearray(int.from_bytes(size, "little"))  # read into place: it is needed once only
    left = memoryview(code)
    while left and (count := output.readinto(left)):  # type: ignore[attr-defined]
        left = left[count:]
    reason = _of(child.stderr).read().decode("utf-8", "replace").strip().rpartition("\n")[2]
    return (code if code and not left else None), False, reason


def _await(output: IO[bytes]) -> None:
    """Wait for the output of the child.

    Raises:
        SandboxError: named `Interrupted`: this thread stopped waiting.
    """
    if os.name != "posix":
        return
    readable = select.poll()  # `select.select` refuses descriptors above 1023
    readable.register(output, select.POLLIN)
    while not readable.poll(_LOOK_S * 1000):
        check_waiting()


def check_waiting() -> None:
    """Raise an error if this thread should stop waiting for a compiler.

    Raises:
        SandboxError: named `Interrupted`.
    """
    if compiling.is_abandoned():
        raise SandboxError("stopped while the sandbox is compiled for this machine", "Interrupted")


def _of(stream: IO[bytes] | None) -> IO[bytes]:
    if stream is None:
        raise ValueError("not a pipe")
    return stream


def _ending(status: int) -> str:
    if status >= 0:
        return f"its process ended with status {status}"
    try:
        return f"its process was killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"its process was killed by signal {-status}"


def _unavailable(reason: str) -> SandboxError:
    return SandboxError(
        f"the sandbox was not compiled for this machine: {reason}. The compiler, a separate Python process, runs once "
        "and needs up to 1 GB of memory: try again when it has that",
        "SandboxUnavailable",
    )
