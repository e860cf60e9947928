"""What Python code in a confined process cannot do, with all protections in force and with some missing."""

from __future__ import annotations

import json
import platform
import subprocess
import sys

import pytest

from cortex_sandbox.isolation.syscalls import ARCHITECTURES

# Simulates a kernel without a protection, for this process and its children.
LACKING = """
import ctypes, errno, platform, struct
from cortex_sandbox.isolation.syscalls import ALLOW, ARCHITECTURES, assembled, failing

def hide(what):
    prctl = {"x86_64": 157, "aarch64": 167}[platform.machine()]
    load, if_equal, answer = 0x20, 0x15, 0x06
    steps = {
        "landlock": [(load, 0, 0, 0), (if_equal, 0, 1, 444), (answer, 0, 0, failing(errno.ENOSYS))],
        "seccomp": [(load, 0, 0, 0), (if_equal, 0, 3, prctl), (load, 0, 0, 16), (if_equal, 0, 1, 22),
                    (answer, 0, 0, failing(errno.EINVAL))],
    }[what]
    steps = ctypes.create_string_buffer(assembled([*steps, (answer, 0, 0, ALLOW)]))
    program = ctypes.create_string_buffer(struct.pack("@HP", len(steps) // 8, ctypes.addressof(steps)))
    libc = ctypes.CDLL(None)
    assert libc.prctl(38, *map(ctypes.c_ulong, (1, 0, 0, 0))) == 0
    assert libc.prctl(22, *map(ctypes.c_ulong, (2, ctypes.addressof(program), 0, 0))) == 0
"""
ATTEMPTS = {
    "read a file": "open('/etc/hostname').read()",
    "read its environment": "open('/proc/self/environ', 'rb').read()",
    "write a file": "open('/tmp/confined-was-here', 'w').write('x')",
    "list a folder": "os.listdir('/')",
    "duplicate a descriptor": "os.dup(1)",
    "make a pipe": "os.pipe()",
    "make a TCP socket": "socket.socket()",
    "make a UDP socket": "socket.socket(socket.AF_INET, socket.SOCK_DGRAM)",
    "make a Unix socket": "socket.socket(socket.AF_UNIX)",
    "connect": "libc_call('connect', early.fileno(), address, len(address))",
    "bind": "early.bind(('127.0.0.1', 0))",
    "listen": "early.listen()",
    "run a program": "os.execv('/bin/true', ['true'])",
    "trace its parent": "libc_call('ptrace', 16, os.getppid(), 0, 0)",
    "read its parent's memory": "libc_call('process_vm_readv', os.getppid(), iovec, 1, iovec, 1, 0)",
    "kill its parent": "os.kill(os.getppid(), 0)",
    "become root, or act as root": "libc_call('setresuid', 0, 0, 0) if os.getuid() else libc_call('chroot', b'/tmp')",
    "get descriptors back": "resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))",
}
ONLY_SECCOMP = {
    "kill everybody": "os.kill(-1, 0)",
    "make a namespace": "libc_call('unshare', 0x10000000)",
    "start a process": "os.fork() or os._exit(0)",
    "map executable memory": "mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC)",
    "limit its parent": "resource.prlimit(os.getppid(), resource.RLIMIT_CORE)",
    "change its name": "libc_call('prctl', 15, b'another', 0, 0, 0)",
}
PROGRAM = """
import ctypes, errno, json, mmap, os, resource, socket, struct, sys
lacking, attempts = json.loads(sys.argv[1])
for what in lacking:
    hide(what)
from cortex_sandbox.isolation.confinement import confine

libc = ctypes.CDLL(None, use_errno=True)
early = socket.socket()
address = struct.pack("=H", socket.AF_INET) + (9).to_bytes(2, "big") + bytes([127, 0, 0, 1]) + bytes(8)
buffer = ctypes.create_string_buffer(8)
iovec = struct.pack("@PN", ctypes.addressof(buffer), 8)

def libc_call(name, *arguments):
    if getattr(libc, name)(*arguments) < 0:
        raise OSError(ctypes.get_errno(), name)

def tried(code):
    try:
        eval(code)
    except OSError as error:
        return errno.errorcode.get(error.errno, "?")
    except ValueError as error:  # `resource` raises it for EPERM
        return "EPERM" if "not allowed" in str(error) else str(error)
    return "done"

in_force = {p.name: p.in_force for p in confine(os.getppid())}
sys.stdout.write(json.dumps([in_force, {name: tried(code) for name, code in attempts.items()}, dict(os.environ)]))
sys.stdout.flush()
os._exit(0)
"""


def confined(*lacking: str):
    """The protections in force in a confined process, the results of its attempts, and its environment."""
    asked = json.dumps([lacking, {**ATTEMPTS, **ONLY_SECCOMP}])
    command = [sys.executable, "-c", LACKING + PROGRAM, asked]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def require(in_force, *names: str) -> None:
    for name in names:
        if not in_force[name].in_force:
            pytest.skip(f"{name}: {in_force[name].detail}")


@pytest.fixture(scope="module")
def whole():
    return confined()


@pytest.fixture(scope="module")
def without_landlock():
    return confined("landlock")


@pytest.fixture(scope="module")
def without_seccomp():
    return confined("seccomp")


@pytest.mark.parametrize("attempt", [*ATTEMPTS, *ONLY_SECCOMP])
def test_a_confined_process_cannot(attempt, whole, in_force):
    require(in_force, "seccomp")
    assert whole[1][attempt] in {"EPERM", "EACCES", "EMFILE"}


@pytest.mark.parametrize("attempt", [*ATTEMPTS, *ONLY_SECCOMP])
def test_without_landlock_it_still_cannot(attempt, without_landlock, in_force):
    require(in_force, "seccomp")
    assert without_landlock[0]["landlock"] is False
    assert without_landlock[1][attempt] in {"EPERM", "EACCES", "EMFILE"}


@pytest.mark.parametrize("attempt", sorted(ATTEMPTS.keys() - {"listen"}))
def test_without_seccomp_it_still_cannot(attempt, without_seccomp, in_force):
    require(in_force, "seccomp", "landlock")
    if "version 1)" in in_force["landlock"].detail or "signal" not in in_force["landlock"].detail:
        pytest.skip(f"this kernel's landlock is too old: {in_force['landlock'].detail}")
    assert without_seccomp[0]["seccomp"] is False
    assert without_seccomp[1][attempt] in {"EPERM", "EACCES", "EMFILE", "EINVAL"}


def test_a_confined_process_has_no_environment(whole):
    assert whole[2] == {}


@pytest.mark.parametrize("caught", ["Exception", "BaseException"])
def test_a_confined_process_names_the_module_that_it_has_not_loaded(run_host, caught):
    written = run_host(
        "import os\n"
        "from cortex_sandbox.isolation.confined_imports import ModuleNotLoaded, refused_imports\n"
        "from cortex_sandbox.isolation.confinement import confine\n"
        "def late():\n"
        "    try:\n"
        "        import colorsys\n"
        f"    except {caught}:\n"
        "        return 'it looks like a fault of the data'\n"
        "confine(os.getppid())\n"
        "try:\n"
        "    late()\n"
        "except ModuleNotLoaded as error:\n"
        "    print(error)\n"
        "import _symtable, zipimport, json\n"  # a part of the interpreter, and what is loaded
        "print(refused_imports(), refused_imports(), flush=True)\n"
        "os._exit(0)\n"
    )
    named = "the module colorsys was not loaded before the process was confined\n" if caught == "Exception" else ""
    assert written == f"{named}['colorsys'] []\n"


def test_a_confined_process_has_no_capabilities(run_host):
    reported = run_host(
        "import os, sys\n"
        "from cortex_sandbox.isolation.confinement import _drop_capabilities\n"
        "_drop_capabilities()\n"
        "print(open('/proc/self/status').read())\n"
    )
    lines = dict(line.split(":\t") for line in reported.splitlines() if line.startswith("Cap"))
    assert {int(lines[name], 16) for name in ("CapInh", "CapPrm", "CapEff")} == {0}


@pytest.mark.parametrize("lacking", [["landlock"], ["seccomp"], ["landlock", "seccomp"]])
def test_sandboxes_work_without_a_protection_and_log_one_warning(run_host, lacking, in_force):
    require(in_force, "seccomp")
    output = run_host(
        LACKING + "import sys\n"
        "for what in sys.argv[1:]:\n"
        "    hide(what)\n"
        "from cortex_sandbox import ProcessSandbox\n"
        "for number in range(3):\n"
        "    with ProcessSandbox(host={'twice': lambda n: 2 * n}) as box:\n"
        "        print(box.evaluate(f'twice({number})'), [p.name for p in box.protections if not p.in_force])\n",
        *lacking,
    )
    assert [line for line in output.splitlines() if line[0].isdigit()] == [f"{2 * n} {lacking}" for n in range(3)]
    warnings = [line for line in output.splitlines() if "without these protections" in line]
    assert len(warnings) == 1
    assert all(what in warnings[0] for what in lacking)


def test_seccomp_is_reported_as_missing_on_an_unknown_architecture(in_force):
    if platform.machine() not in ARCHITECTURES:
        assert not in_force["seccomp"].in_force
        assert platform.machine() in in_force["seccomp"].detail


def test_the_report_names_every_protection(in_force):
    assert list(in_force) == ["capabilities", "privileges", "parent", "inspection", "landlock", "limits", "seccomp"]
    assert all(protection.detail for protection in in_force.values())
