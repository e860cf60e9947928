"""The filter programs, interpreted step by step for every architecture with a table."""

from __future__ import annotations

import errno
import re
import socket
import struct
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex_sandbox.isolation import syscall_numbers
from cortex_sandbox.isolation.syscalls import (
    ALLOW,
    ARCHITECTURES,
    COMMAND_CALLS,
    KILL,
    WORKER_CALLS,
    Architecture,
    command_filter,
    failing,
    worker_filter,
)

REFUSED, ABSENT = failing(errno.EPERM), failing(errno.ENOSYS)
EACH = pytest.mark.parametrize("architecture", ARCHITECTURES.values(), ids=ARCHITECTURES.keys())
# openat, socket, connect, execve, ptrace, kill, tgkill, prctl, process_vm_readv, io_uring_setup, fork and vfork
FORBIDDEN = {
    "x86_64": (257, 41, 42, 59, 101, 62, 234, 157, 310, 425, 57, 58),
    "aarch64": (56, 198, 203, 221, 117, 129, 131, 167, 270, 425),
}
THREAD = 0x3D0F00
PATH_ADDRESS = 0x7F12_3456_789A
COMMAND = partial(command_filter, path_address=PATH_ADDRESS, threads=True)
HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}


def verdict(
    architecture: Architecture, number: int, *arguments: int, audit: int | None = None, program=worker_filter
) -> int:
    """The action of a program for a call."""
    cells = [*arguments, *[0] * (6 - len(arguments))]
    data = struct.pack("<IIQ6Q", number, architecture.audit if audit is None else audit, 0, *cells)
    steps = list(struct.iter_unpack("=HBBI", program(architecture)))
    at, held = 0, 0
    while True:
        code, if_so, if_not, operand = steps[at]
        at += 1
        if code == 0x20:
            held = struct.unpack_from("<I", data, operand)[0]
        elif code == 0x15:
            at += if_so if held == operand else if_not
        elif code == 0x35:
            at += if_so if held >= operand else if_not
        elif code == 0x45:
            at += if_so if held & operand else if_not
        else:
            assert code == 0x06
            return operand


@EACH
def test_plain_calls_are_allowed(architecture):
    assert {verdict(architecture, number) for number in architecture.numbers(WORKER_CALLS)} == {ALLOW}


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_calls_that_reach_outside_are_refused(name):
    assert {verdict(ARCHITECTURES[name], number) for number in FORBIDDEN[name]} == {REFUSED}


@EACH
@given(number=st.integers(0, 2**32 - 1), first=st.integers(1, 2**64 - 1))
def test_unlisted_calls_are_refused(architecture, number, first):
    listed = architecture.numbers(f"{WORKER_CALLS} mmap mprotect clone prlimit64 recvfrom clone3")
    if number not in listed:
        assert verdict(architecture, number, first) == REFUSED


@EACH
def test_the_numbers_of_another_architecture_kill_the_process(architecture):
    for program in (worker_filter, COMMAND):
        assert verdict(architecture, 0, audit=0x40000003, program=program) == KILL


@EACH
def test_a_thread_may_start_and_a_process_may_not(architecture):
    clone = architecture.number("clone")
    for program in (worker_filter, COMMAND):
        assert verdict(architecture, clone, THREAD, program=program) == ALLOW
        for flags in (17, 0, THREAD & ~0x10000, THREAD | 0x10000000, THREAD | 0x40000000):
            assert verdict(architecture, clone, flags, program=program) == REFUSED
        assert verdict(architecture, 435, program=program) == ABSENT
    without = partial(command_filter, path_address=PATH_ADDRESS, threads=False)
    assert verdict(architecture, clone, THREAD, program=without) == REFUSED


@EACH
def test_memory_is_never_executable(architecture):
    for number in architecture.numbers("mmap mprotect"):
        assert verdict(architecture, number, 0, 4096, 3) == ALLOW
        assert verdict(architecture, number, 0, 4096, 5) == REFUSED
        assert verdict(architecture, number, 0, 4096, 7) == REFUSED


@EACH
@given(flags=st.integers(0, 2**32 - 1))
def test_a_socket_may_only_be_read_without_waiting(architecture, flags):
    expected = ALLOW if flags == socket.MSG_DONTWAIT else REFUSED
    assert verdict(architecture, architecture.number("recvfrom"), 3, 0, 1 << 16, flags) == expected
    assert verdict(architecture, architecture.number("recvfrom"), 3, 0, 1 << 16, socket.MSG_DONTWAIT) == ALLOW


@EACH
def test_only_limits_of_the_process_itself_may_be_set(architecture):
    assert verdict(architecture, architecture.number("prlimit64"), 0) == ALLOW
    assert verdict(architecture, architecture.number("prlimit64"), 1) == REFUSED


@EACH
@given(number=st.integers(0, 2**32 - 1), first=st.integers(1, 2**64 - 1))
def test_a_command_makes_listed_calls_only(architecture, number, first):
    listed = architecture.numbers(f"{COMMAND_CALLS} clone prlimit64 ioctl fcntl socketpair sched_getaffinity execve")
    attributes = architecture.numbers("getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr")
    expected = failing(errno.EOPNOTSUPP) if number in attributes else ABSENT if number >= 424 else REFUSED
    if number not in listed:
        assert verdict(architecture, number, first, program=COMMAND) == expected


@EACH
@given(address=st.integers(0, 2**64 - 1))
def test_a_command_executes_the_path_of_its_program_only(architecture, address):
    execve = architecture.number("execve")
    assert verdict(architecture, execve, PATH_ADDRESS, program=COMMAND) == ALLOW
    for other in (address, PATH_ADDRESS & 0xFFFFFFFF, PATH_ADDRESS ^ 1 << 32, PATH_ADDRESS + 1):
        if other != PATH_ADDRESS:
            assert verdict(architecture, execve, other, program=COMMAND) == REFUSED


@EACH
@pytest.mark.parametrize(
    ("name", "allowed", "refused"),
    [
        # TCGETS; FS_IOC_SETFLAGS, FS_IOC_ENABLE_VERITY, FICLONE, TIOCSTI
        ("ioctl", (3, 0x5401), [(3, 0x40086602), (3, 0x40806685), (3, 0x40049409), (3, 0x5412)]),
        # F_GETFL; F_SETOWN, F_SETSIG, F_SETLK, F_SETLEASE, F_NOTIFY, F_SETPIPE_SZ, F_ADD_SEALS
        ("fcntl", (3, 3), [(3, 8), (3, 10), (3, 6), (3, 1024), (3, 1026), (3, 1031), (3, 1033)]),
        ("socketpair", (socket.AF_UNIX, 1), [(socket.AF_INET, 1), (16, 3)]),
        ("sched_getaffinity", (0, 128), [(1, 128)]),
        ("prlimit64", (0, 7, 0, 1), [(0, 7, 1 << 32, 0), (0, 7, 16, 0)]),
    ],
)
def test_a_call_of_a_command_is_allowed_for_some_arguments(architecture, name, allowed, refused):
    number = architecture.number(name)
    assert verdict(architecture, number, *allowed, program=COMMAND) == ALLOW
    assert {verdict(architecture, number, *arguments, program=COMMAND) for arguments in refused} == {REFUSED}


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_the_numbers_are_those_of_the_kernel(name):
    if not HEADERS[name].exists():
        pytest.skip("the headers of the kernel are not installed")
    text = HEADERS[name].read_text().replace("__NR3264_fstatat", "__NR_newfstatat")
    kernel = {found[1]: int(found[2]) for found in re.finditer(r"#define __NR(?:3264)?_(\w+)\s+([0-9]+)", text)}
    column = ARCHITECTURES[name].column
    table = {call: numbers[column] for call, numbers in syscall_numbers._NUMBERS.items()}
    assert table == {call: kernel.get(call) for call in table}
