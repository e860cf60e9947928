"""Confines the current process to what a worker needs: no files, network, other processes or privileges.

Rules kept here:
- called once, while the process has one thread, before any untrusted data is read; nothing reverses it;
- protections are independent: one that the kernel does not support is reported, and the others are applied;
- open descriptors stay open: the pipe to the host, /dev/null, and read-only handles of the compiled guest.

The system calls are made with ctypes: PyPI's `pyseccomp` needs the system library libseccomp, which slim images lack,
and landlock needs only three calls and no rules here.
"""

from __future__ import annotations

import ctypes
import os
import platform
import resource
import signal
import struct
import sys
from collections.abc import Callable
from pathlib import Path

from cortex_sandbox.isolation.protection import Protection
from cortex_sandbox.isolation.syscalls import ARCHITECTURES, worker_filter

# What the interpreter and the engine may add to the address space: the measured maximum is twice the guest's limit
# (its memory, and a text on its way into it) and 20 MiB; memory that grows may be there twice while it is moved.
_ADDRESS_SPACE_BYTES = 128 << 20
_ADDRESS_SPACE_FACTOR = 4
# A worker that spins without a request ends after this much processor time.
_CPU_S = 6 * 3600

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 1, 4, 22, 38
_SECCOMP_MODE_FILTER = 2
_CAPABILITY_VERSION_3 = 0x20080522
# The numbers of landlock's calls are the same on every architecture.
_LANDLOCK_CREATE, _LANDLOCK_RESTRICT = 444, 446
_LANDLOCK_VERSION_FLAG = 1
# The rights in each version of landlock's ABI (Documentation/userspace-api/landlock.rst): files; bind and connect of
# TCP from version 4; abstract Unix sockets and signals from version 6.
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
_NET_RIGHTS, _SCOPES = 0b11, 0b11


class _Lacking(Exception):
    """The kernel does not support a protection, or does not let this process use it."""


_libc = ctypes.CDLL(None, use_errno=True)


def confine(parent: int) -> list[Protection]:
    """Confine this process permanently; the protections, in force or not.

    Args:
        parent: the process id of the parent; this process is killed when it ends.

    """
    os.environ.clear()
    return [
        _tried("capabilities", _drop_capabilities),
        _tried("privileges", _refuse_new_privileges),
        _tried("parent", lambda: _end_with(parent)),
        _tried("inspection", _refuse_inspection),
        _tried("landlock", _restrict_by_landlock),
        _tried("limits", _limit_resources),
        _tried("seccomp", _filter_system_calls),
    ]


def limit_memory(held_bytes: int, memory_bytes: int) -> None:
    """Limit the address space of this process permanently; also allowed in a confined process.

    Args:
        held_bytes: its address space before it was confined; 0 when unknown, then there is no limit.
        memory_bytes: the limit of the guest that will run here.

    """
    if held_bytes:
        _set_limit(resource.RLIMIT_AS, held_bytes + _ADDRESS_SPACE_BYTES + _ADDRESS_SPACE_FACTOR * memory_bytes)


def address_space() -> int:
    """The bytes of address space in use; 0 where /proc is not mounted."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    except OSError:
        return 0


def _tried(name: str, protect: Callable[[], str]) -> Protection:
    try:
        return Protection(name, True, protect())
    except _Lacking as lacking:
        return Protection(name, False, str(lacking))
    except (OSError, ValueError, AttributeError) as error:
        return Protection(name, False, f"refused by the system: {error}")


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def _prctl(option: int, argument: int, pointer: int = 0) -> None:
    _checked(_libc.prctl(option, *(ctypes.c_ulong(value) for value in (argument, pointer, 0, 0))))


def _drop_capabilities() -> str:
    header = struct.pack("=Ii", _CAPABILITY_VERSION_3, 0)
    _checked(_libc.capset(header, bytes(24)))
    return "none are left"


def _refuse_new_privileges() -> str:
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    return "no program that it starts gives it more privileges"


def _end_with(parent: int) -> str:
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before the line above
        os._exit(0)
    return "it ends with the process that started it"


def _refuse_inspection() -> str:
    _prctl(_PR_SET_DUMPABLE, 0)
    return "no other process of the user reads its memory, and it leaves no core"


def _restrict_by_landlock() -> str:
    version = _libc.syscall(_LANDLOCK_CREATE, None, ctypes.c_size_t(0), _LANDLOCK_VERSION_FLAG)
    if version < 1:
        raise _Lacking("this kernel has no landlock, or landlock is not enabled")
    attributes = struct.pack(
        "=QQQ",
        (1 << _FILE_RIGHTS.get(version, _FILE_RIGHTS[5])) - 1,
        _NET_RIGHTS if version >= 4 else 0,
        _SCOPES if version >= 6 else 0,
    )
    size = 8 if version < 4 else 16 if version < 6 else 24
    rules = _checked(_libc.syscall(_LANDLOCK_CREATE, attributes, ctypes.c_size_t(size), 0))
    try:
        _checked(_libc.syscall(_LANDLOCK_RESTRICT, rules, 0))
    finally:
        os.close(rules)
    held = ["no file"]
    if version >= 4:
        held.append("no TCP")
    if version >= 6:
        held.append("no signal to the outside")
    return f"{', '.join(held)} (version {version})"


def _limit_resources() -> str:
    for kind in (resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE, resource.RLIMIT_CORE):
        _set_limit(kind, 0)
    _set_limit(resource.RLIMIT_CPU, _CPU_S)
    return f"no new descriptor, nothing written to files, {_CPU_S // 3600} hours of processor time"


def _set_limit(kind: int, limit: int) -> None:
    _, most = resource.getrlimit(kind)
    least = limit if most == resource.RLIM_INFINITY else min(limit, most)
    resource.setrlimit(kind, (least, least))


def _filter_system_calls() -> str:
    architecture = ARCHITECTURES.get(platform.machine())
    if architecture is None or sys.maxsize < 1 << 32:
        raise _Lacking(f"there is no table of system calls for {platform.machine()} with this interpreter")
    steps = worker_filter(architecture)
    program = ctypes.create_string_buffer(steps, len(steps))
    described = ctypes.create_string_buffer(struct.pack("@HP", len(steps) // 8, ctypes.addressof(program)))
    try:
        _prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.addressof(described))
    except OSError as error:
        raise _Lacking(f"this kernel accepts no seccomp filter: {error.strerror}") from None
    return "only system calls that compute, wait and talk to the host"
