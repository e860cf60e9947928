"""The system calls that a confined process may make, as a seccomp program: of a worker, and of a command of the system.

Rules kept here:
- pure: a program is made, not installed;
- allow-lists: what is not listed is refused. No call that connects, signals, traces, starts a process, or changes a
  file that is not open: its mode, owner, times, attributes, name. `clone` starts threads of the process or nothing;
  a worker lowers its own limits only, a command none;
- a worker has what a warmed-up interpreter and a loaded engine need to compute, wait, exit, and read and write open
  descriptors: it opens nothing, and no memory becomes executable; `recvfrom` is allowed with MSG_DONTWAIT and no other
  flag: others reach more code of the kernel than needed;
- a command also opens and lists files, for landlock to permit. It replaces the program that confines it once: `execve`
  is allowed for one address of memory, which the random layout of the started program does not have again. `ioctl` and
  `fcntl` are allowed for what neither changes a file, nor locks one, nor has a signal sent;
- a refused call fails with EPERM, so that a library which tries something optional continues, and in a command a newer
  one with ENOSYS, so that an older one is used; a call with the numbers of another architecture kills the process.

The program's format is that of the kernel's Documentation/userspace-api/seccomp_filter.rst.
"""

from __future__ import annotations

import errno
import struct
from collections.abc import Iterable, Iterator

from cortex_sandbox.isolation.syscall_numbers import ARCHITECTURES, Architecture

__all__ = ["ALLOW", "ARCHITECTURES", "KILL", "Architecture", "assembled", "command_filter", "failing", "worker_filter"]

# Allowed with any arguments, the frequent ones first.
WORKER_CALLS = """
read write futex clock_nanosleep clock_gettime munmap madvise mremap brk getrandom gettimeofday nanosleep sched_yield
restart_syscall close exit exit_group rt_sigaction rt_sigprocmask rt_sigreturn sigaltstack set_robust_list rseq
membarrier getpid gettid getppid
"""
COMMAND_CALLS = f"""
newfstatat openat statx getdents64 mmap mprotect fstat lseek pread64 {WORKER_CALLS}
open stat lstat access faccessat faccessat2 readlink readlinkat getdents getcwd chdir fchdir statfs fstatfs
fadvise64 readv preadv writev copy_file_range dup dup2 dup3 pipe pipe2 close_range poll ppoll select pselect6
epoll_create1 epoll_ctl epoll_wait epoll_pwait eventfd2 uname getuid geteuid getgid getegid getgroups umask
sysinfo getrlimit getrusage times time clock_getres set_tid_address arch_prctl
"""
# Of a command, which continues as on a file system without them.
_ATTRIBUTES = "getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr"
# TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX
_IOCTLS = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
# F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC
_FCNTLS = (0, 1, 2, 3, 4, 1030)

# CLONE_VM | FS | FILES | SIGHAND | THREAD | SYSVSEM | SETTLS | PARENT_SETTID | CHILD_CLEARTID, as glibc starts a
# thread; musl adds CLONE_DETACHED, which has no effect.
_THREADS = (0x3D0F00, 0x7D0F00)
_PROT_EXEC = 4
_MSG_DONTWAIT, _AF_UNIX = 0x40, 1
# From here on numbers are the same on every architecture, and a library has an older call to use instead.
_NEW_NUMBERS = 424

# Offsets in struct seccomp_data: of arguments those of the low halves, which the high ones follow.
_NUMBER, _ARCHITECTURE, _FIRST, _SECOND, _THIRD, _FOURTH = 0, 4, 16, 24, 32, 40
_HIGH_HALF = 4
# BPF_LD|BPF_W|BPF_ABS, BPF_JMP|BPF_JEQ|BPF_K, BPF_JMP|BPF_JGE|BPF_K, BPF_JMP|BPF_JSET|BPF_K, BPF_RET|BPF_K
_LOAD, _IF_EQUAL, _IF_NOT_LESS, _IF_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
ALLOW, KILL = 0x7FFF0000, 0x80000000

_Step = tuple[int, int, int, int]


def failing(number: int) -> int:
    """The action that makes a call fail with an error number."""
    return 0x00050000 | number


_REFUSE: _Step = (_RETURN, 0, 0, failing(errno.EPERM))
_ALLOW: _Step = (_RETURN, 0, 0, ALLOW)
_ABSENT: _Step = (_RETURN, 0, 0, failing(errno.ENOSYS))
_UNSUPPORTED: _Step = (_RETURN, 0, 0, failing(errno.EOPNOTSUPP))


def worker_filter(architecture: Architecture) -> bytes:
    """The program for a worker: an array of `struct sock_filter`."""
    number = architecture.number
    steps = list(_begun(architecture, WORKER_CALLS))
    for name in ("mmap", "mprotect"):
        steps += _when(number(name), (_LOAD, 0, 0, _THIRD), (_IF_ANY_BIT, 0, 1, _PROT_EXEC), _REFUSE, _ALLOW)
    steps += _only(number("recvfrom"), _FOURTH, (_MSG_DONTWAIT,))
    steps += _only(number("prlimit64"), _FIRST, (0,))
    return assembled([*steps, _REFUSE])


def command_filter(architecture: Architecture, path_address: int, *, threads: bool) -> bytes:
    """The program for a command of the system, as an array of `struct sock_filter`.

    Args:
        architecture: of this machine.
        path_address: the address of the path of the program, for which alone `execve` is allowed.
        threads: whether it may start threads.
    """
    number = architecture.number
    steps = list(_begun(architecture, COMMAND_CALLS, threads=threads))
    steps += _only(number("execve"), _FIRST, (path_address & 0xFFFFFFFF,), (path_address >> 32,))
    steps += _only(number("prlimit64"), _THIRD, (0,), (0,))  # no new limit, but the present one
    steps += _only(number("sched_getaffinity"), _FIRST, (0,))
    steps += _only(number("socketpair"), _FIRST, (_AF_UNIX,))
    steps += _only(number("ioctl"), _SECOND, _IOCTLS)
    steps += _only(number("fcntl"), _SECOND, _FCNTLS)
    for each in architecture.numbers(_ATTRIBUTES):
        steps += _when(each, _UNSUPPORTED)
    return assembled([*steps, (_IF_NOT_LESS, 0, 1, _NEW_NUMBERS), _ABSENT, _REFUSE])


def _begun(architecture: Architecture, plain: str, *, threads: bool = True) -> Iterator[_Step]:
    """The steps that both programs begin with: the architecture, the plain calls, threads."""
    yield from [(_LOAD, 0, 0, _ARCHITECTURE), (_IF_EQUAL, 1, 0, architecture.audit), (_RETURN, 0, 0, KILL)]
    yield (_LOAD, 0, 0, _NUMBER)
    for number in architecture.numbers(plain):
        yield from _when(number, _ALLOW)
    yield from _only(architecture.number("clone"), _FIRST, _THREADS if threads else ())
    yield from _when(architecture.number("clone3"), _ABSENT)  # its flags are in memory; glibc then uses clone


def _only(number: int, argument: int, low: Iterable[int], high: Iterable[int] = ()) -> Iterator[_Step]:
    """The steps that allow a call when an argument has one of some values in its low half, and in its high half."""
    is_high = [step for value in high for step in _when(value, _ALLOW)]
    then = [(_LOAD, 0, 0, argument + _HIGH_HALF), *is_high, _REFUSE] if is_high else [_ALLOW]
    allowed = [step for value in low for step in _when(value, *then)]
    return _when(number, (_LOAD, 0, 0, argument), *allowed, _REFUSE)


def _when(value: int, *steps: _Step) -> Iterator[_Step]:
    """The steps, run when the last loaded value equals `value`, skipped otherwise."""
    yield (_IF_EQUAL, 0, len(steps), value)
    yield from steps


def assembled(steps: list[_Step]) -> bytes:
    """Steps as `struct sock_filter`: a code, two jump distances, an operand."""
    return b"".join(struct.pack("=HBBI", *step) for step in steps)
