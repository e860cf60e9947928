"""The filter program, interpreted step by step for every architecture with a table."""

from __future__ import annotations

import errno
import socket
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex_sandbox.isolation.syscalls import ALLOW, ARCHITECTURES, KILL, Architecture, failing, worker_filter

REFUSED = failing(errno.EPERM)
EACH = pytest.mark.parametrize("architecture", ARCHITECTURES.values(), ids=ARCHITECTURES.keys())
# openat, socket, connect, execve, ptrace, kill, tgkill, prctl, process_vm_readv, io_uring_setup, fork and vfork
FORBIDDEN = {
    "x86_64": (257, 41, 42, 59, 101, 62, 234, 157, 310, 425, 57, 58),
    "aarch64": (56, 198, 203, 221, 117, 129, 131, 167, 270, 425),
}
THREAD = 0x3D0F00


def verdict(architecture: Architecture, number: int, *arguments: int, audit: int | None = None) -> int:
    """The action of the program for a call."""
    cells = [*arguments, *[0] * (6 - len(arguments))]
    data = struct.pack("<IIQ6Q", number, architecture.audit if audit is None else audit, 0, *cells)
    steps = list(struct.iter_unpack("=HBBI", worker_filter(architecture)))
    at, held = 0, 0
    while True:
        code, if_so, if_not, operand = steps[at]
        at += 1
        if code == 0x20:
            held = struct.unpack_from("<I", data, operand)[0]
        elif code == 0x15:
            at += if_so if held == operand else if_not
        elif code == 0x45:
            at += if_so if held & operand else if_not
        else:
            assert code == 0x06
            return operand


@EACH
def test_plain_calls_are_allowed(architecture):
    assert {verdict(architecture, number) for number in architecture.plain} == {ALLOW}


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_calls_that_reach_outside_are_refused(name):
    assert {verdict(ARCHITECTURES[name], number) for number in FORBIDDEN[name]} == {REFUSED}


@EACH
@given(number=st.integers(0, 2**32 - 1), first=st.integers(1, 2**64 - 1))
def test_unlisted_calls_are_refused(architecture, number, first):
    listed = {
        *architecture.plain,
        *architecture.maps,
        architecture.clone,
        architecture.limits,
        architecture.receive,
        435,
    }
    if number not in listed:
        assert verdict(architecture, number, first) == REFUSED


@EACH
def test_the_numbers_of_another_architecture_kill_the_process(architecture):
    assert verdict(architecture, 0, audit=0x40000003) == KILL


@EACH
def test_a_thread_may_start_and_a_process_may_not(architecture):
    assert verdict(architecture, architecture.clone, THREAD) == ALLOW
    for flags in (17, 0, THREAD & ~0x10000, THREAD | 0x10000000, THREAD | 0x40000000):
        assert verdict(architecture, architecture.clone, flags) == REFUSED
    assert verdict(architecture, 435) == failing(errno.ENOSYS)


@EACH
def test_memory_is_never_executable(architecture):
    for number in architecture.maps:
        assert verdict(architecture, number, 0, 4096, 3) == ALLOW
        assert verdict(architecture, number, 0, 4096, 5) == REFUSED
        assert verdict(architecture, number, 0, 4096, 7) == REFUSED


@EACH
@given(flags=st.integers(0, 2**32 - 1))
def test_a_socket_may_only_be_read_without_waiting(architecture, flags):
    expected = ALLOW if flags == socket.MSG_DONTWAIT else REFUSED
    assert verdict(architecture, architecture.receive, 3, 0, 1 << 16, flags) == expected
    assert verdict(architecture, architecture.receive, 3, 0, 1 << 16, socket.MSG_DONTWAIT) == ALLOW


@EACH
def test_only_limits_of_the_process_itself_may_be_set(architecture):
    assert verdict(architecture, architecture.limits, 0) == ALLOW
    assert verdict(architecture, architecture.limits, 1) == REFUSED


def test_the_tables_have_the_same_calls():
    x86, arm = ARCHITECTURES.values()
    assert len(x86.plain) == len(arm.plain) == len(set(x86.plain)) == len(set(arm.plain))
