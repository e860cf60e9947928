"""WebAssembly → native code, in a child process that ends.

Rules kept here:
- compiling takes up to 0.9 GB of memory, which an allocator does not give back: only a process that ends does;
- the child never sees a skill, only the guest's bytes, and it writes only to its output;
- output that is not whole is never used: the error states how the child ended.
"""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import threading
from typing import IO

from cortex_sandbox.engine.child_program import command
from cortex_sandbox.errors import SandboxError

# Compiling esbuild takes 6 s on a fast processor, and less than a minute on a slow one.
_COMPILE_S = 600.0
SIZE_BYTES = 8


def compile_apart(dimensions: tuple[int, int], wasm: bytes) -> bytearray:
    """The native code of a module, as `wasmtime.Module.deserialize` takes it.

    Args:
        dimensions: of the engine (`Engine.dimensions`).
        wasm: the module.

    Raises:
        SandboxError: named `SandboxUnavailable`: the child cannot be started, is killed, or fails, as it does when the
            bytes are not a module.

    """
    try:
        child = subprocess.Popen(  # noqa: S603 - this interpreter and a function of this package
            command("cortex_sandbox.engine.compile_child", *dimensions),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
        )
    except OSError as error:
        raise _unavailable(f"{sys.executable or 'the interpreter'} cannot be started: {error.strerror}") from None
    too_late = threading.Timer(_COMPILE_S, child.kill)
    too_late.daemon = True
    too_late.start()
    with child:
        try:
            code, reason = _exchange(child, wasm)
        except BaseException:  # this thread was interrupted
            child.kill()
            raise
        finally:
            too_late.cancel()
    if code is None:
        raise _unavailable(reason or _ending(child.returncode))
    return code


def _exchange(child: subprocess.Popen[bytes], wasm: bytes) -> tuple[bytearray | None, str]:
    """The code, None when it is not whole; and the last line that the child wrote to its standard error.

    The child reads all of its input before it writes.
    """
    with contextlib.suppress(BrokenPipeError), _of(child.stdin) as to_child:
        left = memoryview(wasm)
        while left:
            left = left[to_child.write(left) :]
    output = _of(child.stdout)
    code = bytearray(int.from_bytes(output.read(SIZE_BYTES), "little"))  # read into place: it is needed once only
    left = memoryview(code)
    while left and (count := output.readinto(left)):  # type: ignore[attr-defined]
        left = left[count:]
    reason = _of(child.stderr).read().decode("utf-8", "replace").strip().rpartition("\n")[2]
    return (code if code and not left else None), reason


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
