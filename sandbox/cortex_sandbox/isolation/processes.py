"""Process descriptors (pidfd), which stay valid when a process id is reused.

Rules kept here:
- the system calls are made by number, which is the same on every architecture: common builds of the interpreter lack
  `os.pidfd_open` and `signal.pidfd_send_signal`.
"""

from __future__ import annotations

import ctypes
import os
import signal

_SEND_SIGNAL, _OPEN = 424, 434  # Linux 5.1, 5.3

_libc = ctypes.CDLL(None, use_errno=True)


def open_process(pid: int) -> int:
    """A descriptor of a process; it becomes readable when the process ends.

    Raises:
        OSError: when there is no such process, or the kernel does not support it.
    """
    return _called(_OPEN, pid, 0)


def kill_process(descriptor: int) -> None:
    """Kill a process by its descriptor; no effect when it has ended.

    Raises:
        OSError: when it may not be killed.
    """
    try:
        _called(_SEND_SIGNAL, descriptor, int(signal.SIGKILL), None, 0)
    except ProcessLookupError:
        return


def is_running(descriptor: int) -> bool:
    """Whether a child of this process, by its descriptor, has neither ended nor been stopped (SIGSTOP)."""
    try:
        return os.waitid(os.P_PIDFD, descriptor, os.WEXITED | os.WSTOPPED | os.WNOHANG | os.WNOWAIT) is None
    except ChildProcessError:  # it has ended, and where SIGCHLD is ignored the system has reaped it
        return False


def _called(number: int, *arguments: int | None) -> int:
    result = int(_libc.syscall(ctypes.c_long(number), *arguments))
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return result
