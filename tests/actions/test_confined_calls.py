"""What a confined command cannot do to a file and a process outside, call by call, with each version of landlock.

One confined interpreter for each version makes all calls by their numbers; each test looks at the result of one.
"""

from __future__ import annotations

import errno
import json
import os
import platform
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from cortex_skills.features.actions.child_output import run_child
from tests.actions.test_shell_safe import call, python
from tests.every_case import check_every

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() not in ("x86_64", "aarch64"), reason="seccomp needs a table"
)

# The numbers on x86-64 and aarch64, and the arguments: P the path of a file outside, N a name beside it, F an open
# descriptor of a readable file, V the process outside, B a buffer, Z what is zero.
CALLS: dict[str, tuple[int | None, int | None, str]] = {
    "chmod": (90, None, "P, 0o777"),
    "fchmod": (91, 52, "F, 0o777"),
    "fchmodat": (268, 53, "-100, P, 0o777"),
    "fchmodat2": (452, 452, "-100, P, 0o777, 0"),
    "chown": (92, None, "P, -1, -1"),
    "fchown": (93, 55, "F, -1, -1"),
    "lchown": (94, None, "P, -1, -1"),
    "fchownat": (260, 54, "-100, P, -1, -1, 0"),
    "utime": (132, None, "P, 0"),
    "utimes": (235, None, "P, 0"),
    "futimesat": (261, None, "-100, P, 0"),
    "utimensat": (280, 88, "-100, P, 0, 0"),
    "utimensat of a descriptor": (280, 88, "F, 0, 0, 0"),
    "setxattr": (188, 5, "P, b'user.a', b'1', 1, 0"),
    "lsetxattr": (189, 6, "P, b'user.a', b'1', 1, 0"),
    "fsetxattr": (190, 7, "F, b'user.a', b'1', 1, 0"),
    "setxattrat": (463, 463, "-100, P, 0, b'user.a', B, 16"),
    "removexattr": (197, 14, "P, b'user.kept'"),
    "lremovexattr": (198, 15, "P, b'user.kept'"),
    "fremovexattr": (199, 16, "F, b'user.kept'"),
    "removexattrat": (466, 466, "-100, P, 0, b'user.kept'"),
    "file_setattr": (469, 469, "-100, P, Z, 24, 0"),
    "truncate": (76, 45, "P, 0"),
    "ftruncate": (77, 46, "F, 0"),
    "fallocate": (285, 47, "F, 0, 0, 10"),
    "flock": (73, 32, "F, 6"),
    "ioctl FS_IOC_SETFLAGS": (16, 29, "F, 0x40086602, Z"),
    "ioctl FS_IOC_ENABLE_VERITY": (16, 29, "F, 0x40806685, Z"),
    "fcntl F_SETOWN": (72, 25, "F, 8, V"),
    "fcntl F_SETLEASE": (72, 25, "F, 1024, 0"),
    "fcntl F_NOTIFY": (72, 25, "F, 1026, 1"),
    "fcntl F_SETLK": (72, 25, "F, 6, Z"),
    "rename": (82, None, "P, N"),
    "renameat": (264, 38, "-100, P, -100, N"),
    "renameat2": (316, 276, "-100, P, -100, N, 0"),
    "link": (86, None, "P, N"),
    "linkat": (265, 37, "-100, P, -100, N, 0"),
    "symlink": (88, None, "P, N"),
    "symlinkat": (266, 36, "P, -100, N"),
    "mkdir": (83, None, "N, 0o700"),
    "mkdirat": (258, 34, "-100, N, 0o700"),
    "mknod": (133, None, "N, 0o10600, 0"),
    "mknodat": (259, 33, "-100, N, 0o10600, 0"),
    "creat": (85, None, "N, 0o600"),
    "rmdir": (84, None, "N"),
    "unlink": (87, None, "P"),
    "unlinkat": (263, 35, "-100, P, 0"),
    "prlimit64": (302, 261, "V, 4, Z, 0"),
    "setrlimit": (160, 164, "4, Z"),
    "setpriority": (141, 140, "0, V, 19"),
    "ioprio_set": (251, 30, "1, V, 3 << 13"),
    "sched_setaffinity": (203, 122, "V, 8, b'\\1' + bytes(7)"),
    "sched_setscheduler": (144, 119, "V, 3, Z"),
    "sched_setparam": (142, 118, "V, Z"),
    "sched_setattr": (314, 274, "V, struct.pack('=IIQiIQQQ', 48, 3, 0, 5, 0, 0, 0, 0), 0"),
    "kill": (62, 129, "V, 15"),
    "kill of all": (62, 129, "-1, 0"),
    "tkill": (200, 130, "V, 15"),
    "tgkill": (234, 131, "V, V, 15"),
    "rt_sigqueueinfo": (129, 138, "V, 15, struct.pack('=iii', 15, 0, -1) + bytes(116)"),
    "rt_tgsigqueueinfo": (297, 240, "V, V, 15, struct.pack('=iii', 15, 0, -1) + bytes(116)"),
    "pidfd_open": (434, 434, "V, 0"),
    "pidfd_send_signal": (424, 424, "F, 15, 0, 0"),
    "pidfd_getfd": (438, 438, "F, 0, 0"),
    "ptrace": (101, 117, "0x4206, V, 0, 0"),
    "process_vm_readv": (310, 270, "V, Z, 1, Z, 1, 0"),
    "process_vm_writev": (311, 271, "V, Z, 1, Z, 1, 0"),
    "process_madvise": (440, 440, "F, Z, 1, 20, 0"),
    "process_mrelease": (448, 448, "F, 0"),
    "kcmp": (312, 272, "V, V, 0, 0, 0"),
    "migrate_pages": (256, 238, "V, 8, Z, Z"),
    "move_pages": (279, 239, "V, 0, 0, 0, 0, 0"),
    "get_robust_list": (274, 100, "V, B, B"),
    "setpgid": (109, 154, "0, 0"),
    "setsid": (112, 157, ""),
    "fork": (57, None, ""),
    "clone": (56, 220, "17, 0, 0, 0, 0"),
    "clone of a thread": (56, 220, "0x3d0f00, 0, 0, 0, 0"),
    "clone3": (435, 435, "struct.pack('=QQQQQQQQ', 0, 0, 0, 0, 17, 0, 0, 0), 64"),
    "execve": (59, 221, "b'/usr/bin/true', POINTERS, POINTERS"),
    "execveat": (322, 281, "-100, b'/usr/bin/true', POINTERS, POINTERS, 0"),
    "shmget": (29, 194, "0, 4096, 0o1600"),
    "shmat": (30, 196, "0, 0, 0"),
    "semget": (64, 190, "0, 1, 0o1600"),
    "msgget": (68, 186, "0, 0o1600"),
    "mq_open": (240, 180, "b'cortex-test', 0o102, 0o600, 0"),
    "memfd_create": (319, 279, "b'a', 0"),
    "memfd_secret": (447, 447, "0"),
    "add_key": (248, 217, "b'user', b'a', b'1', 1, -3"),
    "request_key": (249, 218, "b'user', b'a', 0, -3"),
    "keyctl": (250, 219, "0, -3, 1"),
    "socket": (41, 198, "2, 1, 0"),
    "socket of Unix": (41, 198, "1, 1, 0"),
    "socket of netlink": (41, 198, "16, 3, 0"),
    "socketpair of another family": (53, 199, "30, 1, 0, B"),
    "connect": (42, 203, "F, B, 16"),
    "sendto": (44, 206, "F, B, 1, 0, 0, 0"),
    "io_uring_setup": (425, 425, "1, B"),
    "bpf": (321, 280, "0, B, 16"),
    "perf_event_open": (298, 241, "B, 0, -1, -1, 0"),
    "userfaultfd": (323, 282, "1"),
    "fanotify_init": (300, 262, "0, 0"),
    "inotify_init1": (294, 26, "0"),
    "name_to_handle_at": (303, 264, "-100, P, B, B, 0"),
    "open_by_handle_at": (304, 265, "F, B, 0"),
    "mount": (165, 40, "b'none', N, b'tmpfs', 0, 0"),
    "umount2": (166, 39, "N, 0"),
    "open_tree": (428, 428, "-100, P, 1"),
    "move_mount": (429, 429, "F, b'', F, b'', 0"),
    "fsopen": (430, 430, "b'tmpfs', 0"),
    "fsmount": (432, 432, "F, 0, 0"),
    "mount_setattr": (442, 442, "-100, P, 0, Z, 32"),
    "pivot_root": (155, 41, "N, N"),
    "chroot": (161, 51, "N"),
    "unshare": (272, 97, "0x10000000"),
    "setns": (308, 268, "F, 0"),
    "prctl PR_SET_PDEATHSIG": (157, 167, "1, 9, 0, 0, 0"),
    "prctl PR_SCHED_CORE": (157, 167, "62, 1, 0, 0, 0"),
    "seccomp": (317, 277, "0, 0, 0"),
    "personality": (135, 92, "0x0040000"),
    "capset": (126, 91, "B, B"),
    "setuid": (105, 146, "0"),
    "setgroups": (116, 159, "0, 0"),
    "sethostname": (170, 161, "b'a', 1"),
    "clock_settime": (227, 112, "0, Z"),
    "settimeofday": (164, 170, "Z, 0"),
    "adjtimex": (159, 171, "B"),
    "setitimer": (38, 103, "0, Z, 0"),
    "timer_create": (222, 107, "1, 0, B"),
    "sync": (162, 81, ""),
    "swapon": (167, 224, "P, 0"),
    "quotactl": (179, 60, "0, 0, 0, 0"),
    "acct": (163, 89, "P"),
    "syslog": (103, 116, "10, 0, 0"),
    "init_module": (175, 105, "B, 0, b''"),
    "kexec_load": (246, 104, "0, 0, 0, 0"),
    "reboot": (169, 142, "0, 0, 0, 0"),
    "vhangup": (153, 58, ""),
    "mlockall": (151, 230, "1"),
    "splice": (275, 76, "F, 0, 1, 0, 1, 0"),
    "sendfile": (40, 71, "1, F, 0, 1"),
    "a number of x32": (0x40000000 | 90, None, "P, 0o777"),
}
# Each succeeds without confinement for a user and its own file and process, so that its refusal has a meaning.
WORKING = {
    *("fchmodat", "fchownat", "utimensat", "prlimit64", "setpriority", "sched_setaffinity", "kill", "pidfd_open"),
    *("shmget", "semget", "msgget", "flock", "fcntl F_SETOWN", "setsid", "clone"),
}
REMOVES = {"shmget": (31, 195), "semget": (66, 191), "msgget": (71, 187)}  # what removes what they make
PROGRAM = """
import ctypes, json, os, struct
P, N, read, V, calls, removes = json.loads({given!r})
P, N, F, B, Z = P.encode(), N.encode(), os.open(read, os.O_RDONLY), ctypes.create_string_buffer(4096), bytes(4096)
POINTERS = (ctypes.c_char_p * 2)(b"true", None)
syscall = ctypes.CDLL(None, use_errno=True).syscall

def value(given):
    return ctypes.c_long(given) if isinstance(given, int) else given

found = dict()
for name, (number, arguments) in calls.items():
    result = syscall(ctypes.c_long(number), *map(value, eval("(" + arguments + ("," if arguments else "") + ")")))
    if result == 0 and name in ("fork", "clone", "clone3"):
        os._exit(0)
    found[name] = ctypes.get_errno() if result < 0 else 0
    if result >= 0 and name in removes:
        syscall(ctypes.c_long(removes[name]), ctypes.c_long(result), 0, 0)
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with an attribute, beside a folder that may be read."""
    path = tmp_path_factory.mktemp("files") / "outside"
    path.write_text("kept")
    path.chmod(0o600)
    with suppress(OSError):  # some file systems have none
        os.setxattr(path, "user.kept", b"1")
    (path.parent / "read").mkdir()
    (path.parent / "read" / "file").write_text("kept too")
    return path


@pytest.fixture(scope="module")
def victim() -> Iterator[int]:
    """A process outside."""
    with subprocess.Popen(["sleep", "600"], start_new_session=True) as process:
        yield process.pid
        process.kill()


def described(outside: Path, victim: int, names: set[str]) -> str:
    column = ("x86_64", "aarch64").index(platform.machine())
    calls = {
        name: (numbers[column], arguments)
        for name, (*numbers, arguments) in CALLS.items()
        if numbers[column] is not None and name in names
    }
    removes = {name: numbers[column] for name, numbers in REMOVES.items()}
    read = str(outside.parent / "read" / "file")
    return PROGRAM.format(given=json.dumps([str(outside), str(outside.parent / "new"), read, victim, calls, removes]))


@pytest.fixture(scope="module", params=[1, 3, 6], ids="landlock {}".format)
def refused(request, outside: Path, victim: int) -> dict[str, int]:
    """The error number of each call of a process that is confined with a version of landlock."""
    confined = python(described(outside, victim, set(CALLS)), landlock=request.param)
    confined = replace(confined, read=(*confined.read, str(outside.parent / "read")))
    done = run_child(confined, call(), outside.parent, {}, 100_000)
    assert (done.lacking, done.stderr, done.exit_code) == ((), b"", 0)
    return json.loads(done.stdout)


def test_a_confined_command_cannot_make_any_call(refused: dict[str, int]) -> None:
    column = ("x86_64", "aarch64").index(platform.machine())
    assert refused.keys() == {name for name, (*numbers, _) in CALLS.items() if numbers[column] is not None}

    def check(number: int) -> None:
        assert errno.errorcode[number] in ("EPERM", "ENOSYS")

    check_every(refused, check)


def test_the_file_and_the_process_outside_are_as_before(refused: dict[str, int], outside: Path, victim: int) -> None:
    assert (outside.read_text(), oct(outside.stat().st_mode)) == ("kept", "0o100600")
    assert os.listxattr(outside) in ([], ["user.kept"])
    assert sorted(path.name for path in outside.parent.iterdir()) == ["outside", "read"]
    assert Path(f"/proc/{victim}/stat").read_text().split()[2] == "S"
    assert (os.getpriority(os.PRIO_PROCESS, victim), os.sched_getscheduler(victim)) == (
        os.getpriority(os.PRIO_PROCESS, 0),
        os.sched_getscheduler(0),
    )
    assert os.sched_getaffinity(victim) == os.sched_getaffinity(0)
    assert resource.prlimit(victim, resource.RLIMIT_CORE) == resource.getrlimit(resource.RLIMIT_CORE)


def test_without_confinement_such_calls_succeed(outside: Path) -> None:
    copy = outside.with_name("copy")
    copy.write_text("another")
    with subprocess.Popen(["sleep", "600"]) as other:
        command = [sys.executable, "-c", described(copy, other.pid, WORKING)]
        found = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        other.kill()
    copy.unlink()
    assert found == dict.fromkeys(WORKING, 0)
