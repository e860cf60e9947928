"""The process of esbuild: what it has of the host, and how it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from cortex_sandbox import SandboxTimeout, TranspileError, transpile
from cortex_sandbox.esbuild import bundler, bundling
from tests.sandbox.test_processes import needs_fork, run

needs_proc = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")
SLOW = "".join(f"export const v{i} = [{i}, () => {i}];\n" for i in range(60_000))


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No cache of bundles, and no process before or after the test."""
    monkeypatch.setattr(bundler, "recall", lambda *_: None)
    monkeypatch.setattr(bundler, "keep", lambda *_, **__: None)
    bundling._pool.end()
    yield
    bundling._pool.end()


def idle() -> psutil.Process:
    (one,) = bundling._pool._idle
    return psutil.Process(one._process.pid)


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@needs_proc
def test_it_has_no_environment_and_no_descriptor_of_the_host_and_the_host_has_none_of_its_code(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CORTEX_TEST_SECRET", "secret")
    with (tmp_path / "open").open("w") as file:
        os.set_inheritable(file.fileno(), True)
        transpile("export const a = 1")
        process = idle()
    assert set(process.environ()) <= {"LD_LIBRARY_PATH", "LC_CTYPE"}
    folder = Path(f"/proc/{process.pid}/fd")
    opened = sorted(str(path.readlink()).partition(":")[0] for path in folder.iterdir())
    assert [opened[0], Path(opened[1]).suffix, *opened[2:]] == ["/dev/null", ".cwasm", "pipe", "pipe"]
    assert "/esbuild-" not in Path("/proc/self/maps").read_text()
    assert "/esbuild-" in Path(f"/proc/{process.pid}/maps").read_text()


def test_one_process_answers_one_request_after_another_and_ends_when_it_is_idle() -> None:
    transpile("export const a = 1")
    process = idle()
    assert "b" in transpile("export const b = 1")
    assert idle() == process
    bundling._pool.end_idle()
    assert not process.is_running()


def test_a_process_that_was_killed_is_replaced() -> None:
    transpile("export const a = 1")
    process = idle()
    process.kill()
    psutil.wait_procs([process], timeout=60)
    assert "b" in transpile("export const b = 1")
    assert idle() != process


def test_a_late_request_ends_neither_the_process_nor_the_next_request() -> None:
    transpile("export const a = 1")
    process = idle()
    with pytest.raises(SandboxTimeout):
        transpile(SLOW, timeout_s=0.02)
    assert "b" in transpile("export const b = 1")
    assert idle() == process
    until(lambda: not process.children())


def test_a_process_that_stops_is_ended_after_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundling, "_GRACE_S", 0.1)
    transpile("export const a = 1")
    process = idle()
    process.suspend()
    with pytest.raises(SandboxTimeout):
        transpile("export const b = 1", timeout_s=0.1)
    assert not process.is_running()
    assert "c" in transpile("export const c = 1")


def test_a_process_that_breaks_off_is_an_error_of_the_source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundling._Process, "ask", lambda self, *_: (self.end(), (bundling.STOPPED, b""))[1])
    with pytest.raises(TranspileError, match="too large"):
        transpile("export const a = 1")
    assert bundling._pool._all == set()


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs POSIX signals")
def test_a_signal_handler_that_raises_ends_the_request_and_its_processes() -> None:
    transpile("export const a = 1")
    process = idle()

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(KeyboardInterrupt):
            transpile(SLOW * 20, timeout_s=60)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    until(lambda: not process.is_running())
    assert "b" in transpile("export const b = 1")


@needs_fork
def test_it_ends_with_a_host_that_is_killed() -> None:
    source = (
        "import os, time\n"
        "from cortex_sandbox import transpile\n"
        "from cortex_sandbox.esbuild import bundler, bundling\n"
        "bundler.recall = lambda *_: None\n"
        "transpile('export const a = 1')\n"
        "child = os.fork()\n"
        "if child:\n"
        "    print(bundling._pool._idle[0]._process.pid, child, flush=True)\n"
        "time.sleep(600)\n"  # the forked child keeps no pipe open
    )
    with subprocess.Popen([sys.executable, "-c", source], stdout=subprocess.PIPE, text=True) as host:
        assert host.stdout is not None
        esbuild, child = (psutil.Process(int(number)) for number in host.stdout.readline().split())
        host.kill()
        psutil.wait_procs([esbuild], timeout=60)
    assert not esbuild.is_running()
    assert child.is_running()
    child.kill()


@needs_fork
def test_nothing_is_left_after_the_host_exits() -> None:
    printed = run("""
        from cortex_sandbox import transpile
        from cortex_sandbox.esbuild import bundler, bundling
        bundler.recall = lambda *_: None
        transpile("export const a = 1")
        print(bundling._pool._idle[0]._process.pid)
    """)
    assert not psutil.pid_exists(int(printed))
