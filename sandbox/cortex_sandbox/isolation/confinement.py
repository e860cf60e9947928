"""Confines the current process to what a worker needs: no files, network, other processes or privileges.

Rules kept here:
- called once, while the process has one thread, before any untrusted data is read; nothing reverses it;
- protections are independent: one that the kernel does not support is reported, and the others are applied;
- open descriptors stay open: the pipe to the host, /dev/null, and read-only handles of the compiled guest;
- a module that was not loaded before is refused with a special error (`confined_imports`), which no library takes
  for a fault of its data.

The system calls are made with ctypes: PyPI's `pyseccomp` needs the system library libseccomp, which slim images lack,
and landlock needs only three calls and no rules here.
"""

from __future__ import annotations

import ctypes
import os
import platform
import resource
import signal
import stat
import struct
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from cortex_sandbox.engine.process_limits import set_limit
from cortex_sandbox.isolation.confined_imports import refuse_imports
from cortex_sandbox.isolation.protection import Protection
from cortex_sandbox.isolation.syscalls import ARCHITECTURES, Architecture, worker_filter

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
_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446
_LANDLOCK_PATH_BENEATH = 1
_OPENAT2, _AT_FDCWD, _RESOLVE_NO_SYMLINKS = 437, -100, 4
_LANDLOCK_VERSION_FLAG = 1
# The rights in each version of landlock's ABI (Documentation/userspace-api/landlock.rst): files; bind and connect of
# TCP from version 4; abstract Unix sockets and signals from version 6.
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
_NET_RIGHTS, _SCOPES = 0b11, 0b11
LANDLOCK_NEWEST = 6  # later versions add nothing that is used here
# Rights of a path: execute, write and read a file, read a folder, truncate. The last bit is ioctl of a device.
EXECUTE, WRITE_FILE, READ_FILE, READ_FOLDER, TRUNCATE = 1, 1 << 1, 1 << 2, 1 << 3, 1 << 14
_RIGHTS_OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | 1 << 15


class Lacking(Exception):
    """The kernel does not support a protection, or does not let this process use it."""


_libc = ctypes.CDLL(None, use_errno=True)


def confine(parent: int) -> list[Protection]:
    """Confine this process permanently; the protections, in force or not.

    Args:
        parent: the process id of the parent; this process is killed when it ends.
    """
    os.environ.clear()
    applied = [
        tried("capabilities", _drop_capabilities),
        tried("privileges", refuse_new_privileges),
        tried("parent", lambda: _end_with(parent)),
        tried("inspection", _refuse_inspection),
        tried("landlock", _restrict_by_landlock),
        tried("limits", _limit_resources),
        tried("seccomp", _filter_system_calls),
    ]
    refuse_imports()
    return applied


def limit_memory(held_bytes: int, memory_bytes: int) -> None:
    """Limit the address space of this process permanently; also allowed in a confined process.

    Args:
        held_bytes: its address space before it was confined; 0 when unknown, then there is no limit.
        memory_bytes: the limit of the guest that will run here.
    """
    if held_bytes:
        set_limit(resource.RLIMIT_AS, held_bytes + _ADDRESS_SPACE_BYTES + _ADDRESS_SPACE_FACTOR * memory_bytes)


def address_space() -> int:
    """The bytes of address space in use; 0 where /proc is not mounted."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    except OSError:
        return 0


def tried(name: str, protect: Callable[[], str]) -> Protection:
    """Apply a protection, and report it."""
    try:
        return Protection(name, True, protect())
    except Lacking as lacking:
        return Protection(name, False, str(lacking))
    except (OSError, ValueError, AttributeError) as error:
        return Protection(name, False, f"refused by the system: {error}")


def checked(result: int) -> int:
    """The result of a system call; its error is raised."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def _prctl(option: int, argument: int, pointer: int = 0) -> None:
    checked(_libc.prctl(option, *(ctypes.c_ulong(value) for value in (argument, pointer, 0, 0))))


def _drop_capabilities() -> str:
    header = struct.pack("=Ii", _CAPABILITY_VERSION_3, 0)
    checked(_libc.capset(header, bytes(24)))
    return "none are left"


def refuse_new_privileges() -> str:
    """Refuse more privileges to this process and its children permanently."""
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
    version = restrict_files({})
    held = ["no file"]
    if version >= 4:
        held.append("no TCP")
    if version >= 6:
        held.append("no signal to the outside")
    return f"{', '.join(held)} (version {version})"


def restrict_files(allowed: Mapping[str, int], newest: int = LANDLOCK_NEWEST) -> int:
    """Restrict this process by landlock to some paths; the version of landlock.

    Args:
        allowed: rights by path, of which those that the version does not know are left out; nothing else is opened.
        newest: the newest version of which the restrictions are used.

    Raises:
        Lacking: the kernel has no landlock.
        OSError: it was refused.
    """
    version: int = _libc.syscall(_LANDLOCK_CREATE, None, ctypes.c_size_t(0), _LANDLOCK_VERSION_FLAG)
    if version < 1:
        raise Lacking("this kernel has no landlock, or landlock is not enabled")
    version = min(version, newest)
    known = (1 << _FILE_RIGHTS.get(version, _FILE_RIGHTS[5])) - 1
    attributes = struct.pack("=QQQ", known, _NET_RIGHTS if version >= 4 else 0, _SCOPES if version >= 6 else 0)
    size = 8 if version < 4 else 16 if version < 6 else 24
    rules = checked(_libc.syscall(_LANDLOCK_CREATE, attributes, ctypes.c_size_t(size), 0))
    try:
        for path, rights in allowed.items():
            _allow(rules, path, rights & known)
        checked(_libc.syscall(_LANDLOCK_RESTRICT, rules, 0))
    finally:
        os.close(rules)
    return version


def _allow(rules: int, path: str, rights: int) -> None:
    """Add a rule for a path, unless it does not exist, or is or passes a symbolic link."""
    how = struct.pack("=QQQ", os.O_PATH | os.O_CLOEXEC, 0, _RESOLVE_NO_SYMLINKS)
    held = _libc.syscall(_OPENAT2, _AT_FDCWD, os.fsencode(path), how, ctypes.c_size_t(len(how)))
    if held < 0:
        return
    try:
        state = os.fstat(held)
        of_kind = rights if stat.S_ISDIR(state.st_mode) else rights & _RIGHTS_OF_FILES
        rule = struct.pack("=Qi", of_kind, held)
        checked(_libc.syscall(_LANDLOCK_ADD, rules, _LANDLOCK_PATH_BENEATH, rule, 0))
    finally:
        os.close(held)


def _limit_resources() -> str:
    for kind in (resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE, resource.RLIMIT_CORE):
        set_limit(kind, 0)
    set_limit(resource.RLIMIT_CPU, _CPU_S)
    return f"no new descriptor, nothing written to files, {_CPU_S // 3600} hours of processor time"


def _filter_system_calls() -> str:
    install_filter(worker_filter)
    return "only system calls that compute, wait and talk to the host"


def install_filter(made: Callable[[Architecture], bytes]) -> None:
    """Filter the system calls of this process permanently, by a program that is made for its architecture.

    Raises:
        Lacking: the kernel or the architecture has no such filter.
    """
    architecture = ARCHITECTURES.get(platform.machine())
    if architecture is None or sys.maxsize < 1 << 32:
        raise Lacking(f"there is no table of system calls for {platform.machine()} with this interpreter")
    steps = made(architecture)
    program = ctypes.create_string_buffer(steps, len(steps))
    described = ctypes.create_string_buffer(struct.pack("@HP", len(steps) // 8, ctypes.addressof(program)))
    try:
        _prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.addressof(described))
    except OSError as error:
        raise Lacking(f"this kernel accepts no seccomp filter: {error.strerror}") from None
