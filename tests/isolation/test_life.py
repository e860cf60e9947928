"""No process and no descriptor is left, however a sandbox or its host ends."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cortex_sandbox import ProcessSandbox, SandboxError
from tests.time_limits import shortest

START = "import os, signal, sys, time\nfrom cortex_sandbox import *\n"


def descriptors() -> int:
    gc.collect()
    return len(list(Path("/proc/self/fd").iterdir()))


def state_of(pid: int) -> str:
    """The state of a process, such as `T` for stopped; `Z`, as for a zombie, when there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"


def states_of_threads(pid: int) -> list[str]:
    try:
        return [state_of(int(task.name)) for task in Path(f"/proc/{pid}/task").iterdir()]
    except OSError:
        return []


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def alive(pid: int) -> bool:
    """Whether a process runs; a zombie does not."""
    return state_of(pid) != "Z"


def test_a_hundred_sandboxes_leave_no_process_and_no_descriptor(processes, soon):
    ProcessSandbox().close()
    assert soon(lambda: len(processes()) == 2)  # the template, and a worker forked in advance

    def left_open() -> int:
        before = descriptors()
        for number in range(100):
            with ProcessSandbox() as box:
                assert box.evaluate(str(number)) == number
        return descriptors() - before

    assert shortest(left_open, 1) <= 0  # other code in this process may open descriptors once
    assert soon(lambda: len(processes()) == 2)


def test_a_garbage_collected_sandbox_is_closed(processes, soon):
    ProcessSandbox().close()
    before = descriptors()
    for _ in range(5):
        ProcessSandbox()
    assert soon(lambda: descriptors() <= before)
    assert soon(lambda: len(processes()) == 2)


def test_a_sandbox_that_could_not_be_made_leaves_no_process(processes, soon):
    ProcessSandbox().close()
    before = descriptors()
    for _ in range(5):
        with pytest.raises(ValueError, match="name"):
            ProcessSandbox(host={"not a name": print})
    assert soon(lambda: descriptors() <= before)
    assert soon(lambda: len(processes()) == 2)


def test_workers_have_only_the_descriptors_of_the_pipe_and_the_engine(process_box, pid_of):
    folder = Path(f"/proc/{pid_of(process_box)}/fd")
    try:
        held = {int(link.name): str(link.readlink()) for link in folder.iterdir()}
    except PermissionError:
        pytest.skip("only root may look into a process that cannot be inspected")
    assert [held.pop(number) for number in (0, 1, 2)] == ["/dev/null"] * 3
    assert sum(target.startswith("socket:") for target in held.values()) == 1
    assert all(target.startswith(("socket:", "/memfd:")) or target.endswith(".cwasm") for target in held.values())


@pytest.mark.parametrize("end", ["sys.exit(0)", "os._exit(0)", "os.kill(os.getpid(), signal.SIGKILL)", "for_ever()"])
def test_everything_ends_with_the_host(end, processes, soon):
    code = START + (
        "boxes = [ProcessSandbox(Limits(timeout_s=600), {'tell': lambda: print('in', flush=True)}) for _ in range(3)]\n"
        "for_ever = lambda: boxes[0].evaluate('tell(); for (;;);')\n"
        "print('up', flush=True)\n"
        "sys.stdin.readline()\n"
    )
    command = [sys.executable, "-W", "error", "-c", code + end]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **pipes) as host:
        assert host.stdout.readline() == "up\n"
        below = processes(host.pid)
        host.stdin.write("go\n")
        host.stdin.flush()
        if end == "for_ever()":
            assert host.stdout.readline() == "in\n"
            host.kill()
        host.wait(100)
        assert host.stderr.read() == ""
    assert len(below) >= 4
    assert soon(lambda: not any(alive(pid) for pid in below))


def test_a_forked_host_has_its_own_workers(run_host):
    output = run_host(
        START.replace("import os", "import warnings; warnings.simplefilter('ignore'); import os")
        + "box = ProcessSandbox()\n"
        "child = os.fork()\n"
        "if not child:\n"
        "    try:\n"
        "        box.evaluate('1')\n"
        "    except SandboxError as error:\n"
        "        print(error.name, box.alive, flush=True)\n"
        "    with ProcessSandbox() as own:\n"
        "        print(own.evaluate('\"child\"'), flush=True)\n"
        "    sys.exit(0)\n"
        "assert os.waitpid(child, 0)[1] == 0\n"
        "print(box.evaluate('\"parent\"'))\n"
        "box.close()\n"
    )
    assert output.splitlines() == ["SandboxClosed False", "child", "parent"]


def test_a_template_that_was_killed_is_replaced(processes, soon):
    ProcessSandbox().close()
    with ProcessSandbox() as box:
        for pid in processes():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        with pytest.raises(SandboxError) as caught:
            box.evaluate("1")
        assert caught.value.name == "SandboxBroken"
    with ProcessSandbox() as box:
        assert box.evaluate("2") == 2
    assert soon(lambda: len(processes()) == 2)


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGSTOP])
def test_a_worker_forked_in_advance_that_was_killed_or_stopped_is_replaced(end, processes, soon):
    ProcessSandbox().close()
    assert soon(lambda: len(processes()) == 2)
    (spare,) = (pid for pid in processes() if parent_of(pid) in processes())
    os.kill(spare, end)
    assert soon(lambda: all(state in "TZ" for state in states_of_threads(spare)))
    with ProcessSandbox() as box:
        assert box.evaluate("1 + 1") == 2
    assert soon(lambda: spare not in processes())
    assert soon(lambda: len(processes()) == 2)


def test_a_worker_that_is_killed_before_the_template_has_opened_it_is_replaced(run_host):
    output = run_host(
        START + "import socket\n"
        "from cortex_sandbox.isolation import template\n"
        "opened, kept, forked = template.open_process, [], []\n"
        "def killed_first(pid):\n"
        "    forked.append(pid)\n"
        "    if len(forked) == 1:\n"
        "        os.kill(pid, signal.SIGKILL)\n"
        "        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)\n"
        "    return opened(pid)\n"
        "template.open_process = killed_first\n"
        "template.serve = lambda pipe, parent: time.sleep(60)\n"
        "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
        "host, control = socket.socketpair()\n"
        "host.send(b'w')\n"
        "template._serve_one(control)\n"
        "answer, (pipe, process), _, _ = socket.recv_fds(host, 100, 2)\n"
        "print(answer.decode(), len(forked), template.is_running(process), os.path.exists(f'/proc/{forked[0]}'))\n"
        "template.kill_process(process)\n"
        "for each in (host, control, socket.socket(fileno=pipe)):\n"
        "    each.close()\n"
    )
    assert output == "w 2 True False\n"


def test_a_worker_that_cannot_be_started_is_an_error(run_host):
    output = run_host(
        START + "sys.executable = '/bin/false'\n"
        "try:\n"
        "    ProcessSandbox()\n"
        "except SandboxError as error:\n"
        "    print(error)\n"
    )
    assert output.startswith("SandboxUnavailable: no worker process could be started")


def test_on_other_systems_than_linux_it_is_an_error(run_host):
    output = run_host(
        START + "ProcessSandbox; sys.platform = 'darwin'\n"
        "try:\n"
        "    ProcessSandbox()\n"
        "except SandboxError as error:\n"
        "    print(error)\n"
    )
    assert output == "Unsupported: `ProcessSandbox` needs Linux: use `Sandbox`\n"


def test_the_environment_of_the_host_does_not_reach_the_template(processes):
    os.environ["A_SECRET_OF_THE_HOST"] = "yes"
    try:
        ProcessSandbox().close()
        for pid in processes():
            assert b"A_SECRET_OF_THE_HOST" not in Path(f"/proc/{pid}/environ").read_bytes()
    except (PermissionError, FileNotFoundError):
        pytest.skip("only root may look into a process that cannot be inspected")
    finally:
        del os.environ["A_SECRET_OF_THE_HOST"]
