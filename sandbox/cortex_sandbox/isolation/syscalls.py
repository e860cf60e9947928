"""The system calls that a confined worker may make, as a seccomp program.

Rules kept here:
- pure: the program is made, not installed;
- an allow-list: the calls that a warmed-up interpreter and a loaded engine need to compute, wait, exit, and read and
  write open descriptors. No call that opens, connects, signals, traces, or starts a process;
- `recvfrom` is allowed with MSG_DONTWAIT and no other flag: others reach more code of the kernel than needed;
- no memory becomes executable; `clone` starts threads of this process only; limits can only be lowered, and only those
  of the process itself;
- a refused call fails with EPERM, so that a library which tries something optional continues; a call with the numbers
  of another architecture kills the process.

The numbers are those of Linux's arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h; the
program's format is that of the kernel's Documentation/userspace-api/seccomp_filter.rst.
"""

from __future__ import annotations

import errno
import struct
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Architecture:
    """The numbers of one architecture.

    Attributes:
        audit: the number of the architecture in a filter.
        plain: the calls that are allowed with any arguments, the frequent ones first.
        clone: the number of `clone`.
        maps: the numbers of `mmap` and `mprotect`.
        limits: the number of `prlimit64`.
        receive: the number of `recvfrom`.
        refused: the calls that a confined command may not make.

    """

    audit: int
    plain: tuple[int, ...]
    clone: int
    maps: tuple[int, int]
    limits: int
    receive: int
    refused: tuple[int, ...]


# The plain calls, in this order:
# read, write, futex, clock_nanosleep, clock_gettime, munmap, madvise, mremap, brk, getrandom, gettimeofday, nanosleep,
# sched_yield, restart_syscall, close, exit, exit_group, rt_sigaction, rt_sigprocmask, rt_sigreturn, sigaltstack,
# set_robust_list, rseq, membarrier, getpid, gettid, getppid
# The refused calls of commands, in this order:
# socket, socketpair, setsid, setpgid, ptrace, process_vm_readv, process_vm_writev, mount, umount2, pivot_root, chroot,
# unshare, setns, keyctl, add_key, request_key, bpf, perf_event_open, userfaultfd, kexec_load, kill, tkill, tgkill
ARCHITECTURES = {
    "x86_64": Architecture(
        audit=0xC000003E,
        plain=(
            *(0, 1, 202, 230, 228, 11, 28, 25, 12, 318, 96, 35),
            *(24, 219, 3, 60, 231, 13, 14, 15, 131),
            *(273, 334, 324, 39, 186, 110),
        ),
        clone=56,
        maps=(9, 10),
        limits=302,
        receive=45,
        refused=(
            *(41, 53, 112, 109, 101, 310, 311, 165, 166, 155, 161),
            *(272, 308, 250, 248, 249, 321, 298, 323, 246, 62, 200, 234),
        ),
    ),
    "aarch64": Architecture(
        audit=0xC00000B7,
        plain=(
            *(63, 64, 98, 115, 113, 215, 233, 216, 214, 278, 169, 101),
            *(124, 128, 57, 93, 94, 134, 135, 139, 132),
            *(99, 293, 283, 172, 178, 173),
        ),
        clone=220,
        maps=(222, 226),
        limits=261,
        receive=207,
        refused=(
            *(198, 199, 157, 154, 117, 270, 271, 40, 39, 41, 51),
            *(97, 268, 219, 217, 218, 280, 241, 282, 104, 129, 130, 131),
        ),
    ),
}
_CLONE3 = 435  # the same everywhere; its flags are in memory, where a filter cannot read them

# CLONE_VM | FS | FILES | SIGHAND | THREAD | SYSVSEM | SETTLS | PARENT_SETTID | CHILD_CLEARTID, as glibc starts a
# thread; musl adds CLONE_DETACHED, which has no effect.
_THREADS = (0x3D0F00, 0x7D0F00)
_PROT_EXEC = 4
_MSG_DONTWAIT = 0x40

# Offsets in struct seccomp_data, and the low halves of arguments.
_NUMBER, _ARCHITECTURE, _FIRST, _THIRD, _FOURTH = 0, 4, 16, 32, 40
# BPF_LD|BPF_W|BPF_ABS, BPF_JMP|BPF_JEQ|BPF_K, BPF_JMP|BPF_JSET|BPF_K, BPF_RET|BPF_K
_LOAD, _IF_EQUAL, _IF_ANY_BIT, _RETURN = 0x20, 0x15, 0x45, 0x06
_IF_NOT_LESS = 0x35  # BPF_JMP|BPF_JGE|BPF_K
_OTHER_NUMBERS = 0x40000000  # from here on those of x32
_NEW_REFUSED = (425, 426, 427, 428, 429, 430, 432, 442)  # io_uring and mounts; the same everywhere
ALLOW, KILL = 0x7FFF0000, 0x80000000

_Step = tuple[int, int, int, int]


def failing(number: int) -> int:
    """The action that makes a call fail with an error number."""
    return 0x00050000 | number


def worker_filter(architecture: Architecture) -> bytes:
    """The program for a worker: an array of `struct sock_filter`."""
    refused = (_RETURN, 0, 0, failing(errno.EPERM))
    allowed = (_RETURN, 0, 0, ALLOW)
    steps: list[_Step] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_IF_EQUAL, 1, 0, architecture.audit),
        (_RETURN, 0, 0, KILL),
        (_LOAD, 0, 0, _NUMBER),
    ]
    for number in architecture.plain:
        steps += _when(number, allowed)
    for number in architecture.maps:
        steps += _when(number, (_LOAD, 0, 0, _THIRD), (_IF_ANY_BIT, 0, 1, _PROT_EXEC), refused, allowed)
    threads = [step for flags in _THREADS for step in _when(flags, allowed)]
    steps += _when(architecture.clone, (_LOAD, 0, 0, _FIRST), *threads, refused)
    steps += _when(architecture.receive, (_LOAD, 0, 0, _FOURTH), *_when(_MSG_DONTWAIT, allowed), refused)
    steps += _when(architecture.limits, (_LOAD, 0, 0, _FIRST), *_when(0, allowed), refused)
    steps += _when(_CLONE3, (_RETURN, 0, 0, failing(errno.ENOSYS)))  # glibc then uses clone
    return assembled([*steps, refused])


def command_filter(architecture: Architecture) -> bytes:
    """The program for a command of the system: everything but some calls, as an array of `struct sock_filter`."""
    refused = (_RETURN, 0, 0, failing(errno.EPERM))
    steps: list[_Step] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_IF_EQUAL, 1, 0, architecture.audit),
        (_RETURN, 0, 0, KILL),
        (_LOAD, 0, 0, _NUMBER),
        (_IF_NOT_LESS, 0, 1, _OTHER_NUMBERS),
        refused,
    ]
    for number in (*architecture.refused, *_NEW_REFUSED):
        steps += _when(number, refused)
    return assembled([*steps, (_RETURN, 0, 0, ALLOW)])


def _when(value: int, *steps: _Step) -> Iterator[_Step]:
    """The steps, run when the last loaded value equals `value`, skipped otherwise."""
    yield (_IF_EQUAL, 0, len(steps), value)
    yield from steps


def assembled(steps: list[_Step]) -> bytes:
    """Steps as `struct sock_filter`: a code, two jump distances, an operand."""
    return b"".join(struct.pack("=HBBI", *step) for step in steps)
