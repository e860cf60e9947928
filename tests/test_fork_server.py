"""A command that is forked does what the installed one does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from tests import fork_server

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the command is the installed one")
WAIT_S = 100


@pytest.mark.parametrize(
    "words", [["--version"], ["nonsense"], ["key", "list", "--json"], ["validate", "nowhere"]], ids=" ".join
)
def test_its_exit_code_and_its_output_are_those_of_the_installed_command(words: list[str], tmp_path: Path) -> None:
    environment = {**os.environ, "XDG_DATA_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
    forked, installed = (
        subprocess.run([program, *words], env=environment, cwd=tmp_path, capture_output=True, timeout=WAIT_S)
        for program in (fork_server.command(), fork_server.INSTALLED)
    )
    assert (forked.returncode, forked.stdout, forked.stderr) == (
        installed.returncode,
        installed.stdout,
        installed.stderr,
    )


@pytest.mark.parametrize(
    "code",
    [
        "import sys; print(sys.argv, __name__, input()); sys.exit(3)",
        "import atexit; atexit.register(print, 'last'); del atexit",
        "import os; os._exit(5)",
        "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
        "import os, signal; os.kill(os.getpid(), signal.SIGTERM)",
        "class A: pass\nimport pickle\nprint(pickle.loads(pickle.dumps(A())).__class__.__module__)",
    ],
)
def test_code_runs_as_in_a_new_interpreter(code: str) -> None:
    forked, new = (
        subprocess.run([program, "-c", code, "a b"], input="read\n", capture_output=True, text=True, timeout=WAIT_S)
        for program in (fork_server.python(), sys.executable)
    )
    assert (forked.returncode, forked.stdout, forked.stderr) == (new.returncode, new.stdout, new.stderr)


def test_an_error_of_the_code_is_its_end_with_a_traceback() -> None:
    done = subprocess.run([fork_server.python(), "-c", "1 / 0"], capture_output=True, text=True, timeout=WAIT_S)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (1, "ZeroDivisionError: division by zero")


def test_it_has_the_input_folder_environment_and_umask_of_who_starts_it(tmp_path: Path) -> None:
    environment = {"PATH": "/bin", "CORTEX_STORE": "here"}
    statement = b"<urn:a> <urn:p> <urn:b> ."
    words = [fork_server.command(), "graph", "import", "-", "--format", "turtle"]
    run = partial(subprocess.run, env=environment, cwd=tmp_path, check=True, capture_output=True, timeout=WAIT_S)
    run(words, umask=0o077, input=statement)
    words = [fork_server.command(), "graph", "export"]
    found = run(words)
    assert b"<urn:a> <urn:p> <urn:b>" in found.stdout
    assert (tmp_path / "here").stat().st_mode & 0o077 == 0


def _commands() -> list[int]:
    """The processes that the server has forked."""
    server = _server_pid()
    return [int(pid) for pid in Path(f"/proc/{server}/task/{server}/children").read_text().split()]


def _server_pid() -> int:
    address = str(Path(fork_server.command()).parents[1] / "socket")
    for children in Path(f"/proc/{os.getpid()}/task").glob("*/children"):
        for pid in children.read_text().split():
            if address.encode() in Path(f"/proc/{pid}/cmdline").read_bytes():
                return int(pid)
    raise AssertionError(address)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_it_ends_with_its_launcher(number: int) -> None:
    pipe = subprocess.PIPE
    before = set(_commands())
    with subprocess.Popen([fork_server.command(), "mcp", "--store", "memory:"], stdin=pipe, stdout=pipe) as launcher:
        assert launcher.stdin is not None
        assert launcher.stdout is not None
        launcher.stdin.write(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
        launcher.stdin.flush()
        assert launcher.stdout.readline()
        assert len(set(_commands()) - before) == 1
        launcher.send_signal(number)
        assert launcher.wait(WAIT_S) == (0 if number == signal.SIGTERM else -number)
    until = time.monotonic() + WAIT_S
    while set(_commands()) - before:
        assert time.monotonic() < until
        time.sleep(0.01)
