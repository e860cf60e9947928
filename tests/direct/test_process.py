"""The Node.js process: time limits, its end, malformed messages, leaks."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from cortex_sandbox import Limits, Sandbox, SandboxError, SandboxTimeout
from cortex_sandbox.direct import IMPORT_TIMEOUT_S, DirectSandbox
from tests.signals import signals_delivered
from tests.time_limits import shortest

from .conftest import PATIENCE_S, is_running, needs_node

pytestmark = needs_node

Opened = Callable[..., DirectSandbox]
SKILL = """
import { spawn } from 'node:child_process';
import fs from 'node:fs';

const pipes = () => fs.readdirSync('/proc/self/fd').map(Number).filter((fd) => {
  try { return fd > 2 && fs.readlinkSync('/proc/self/fd/' + fd).startsWith('pipe:'); } catch { return false; }
});
const write = (bytes) => {
  for (const fd of pipes()) { try { fs.writeSync(fd, Buffer.from(bytes)); } catch { } }
};
let timer;
export default {
  hello: () => 'hello',
  loop() { for (;;); },
  microtasks() { const next = () => Promise.resolve().then(next); return next(); },
  never: () => new Promise(() => {}),
  exit: (code) => process.exit(code),
  die() { process.kill(process.pid, 'SIGTERM'); for (;;); },
  async closePipes() { for (const fd of pipes()) { try { fs.closeSync(fd); } catch { } } await new Promise(() => {}); },
  async garbage(bytes) { write(bytes); await new Promise(() => {}); },
  garbageLater(bytes) { setTimeout(write, 1, bytes); },
  flood() { for (;;) console.log('x'.repeat(1000)); },
  floodOutput() { for (;;) { try { fs.writeSync(1, 'x'.repeat(60000)); } catch { } } },
  print() { for (let i = 0; i < 10000; i++) console.log('line'); },
  childHoldsPipes() { spawn('sleep', ['600'], { stdio: 'inherit' }).unref(); process.exit(4); },
  child: () => spawn('sleep', ['600'], { stdio: 'ignore' }).pid,
  noisyChild() { spawn('sh', ['-c', 'echo from a child'], { stdio: 'inherit' }); },
  big: () => 'x'.repeat(5000),
  bigToHost: () => { try { return echo('x'.repeat(5000)); } catch (error) { return error.name; } },
  bigFromHost: () => bigger().length,
  start() { timer = setInterval(() => { try { console.log(echo('ok')); } catch (e) { console.log(e.code); } }, 1); },
  stop() { clearInterval(timer); },
  uncaught() { setTimeout(() => { throw new Error('from a timer'); }, 1); Promise.reject(new Error('unhandled')); },
  sleep: () => new Promise((resolve) => setTimeout(resolve, 20)),
  environment: () => Object.keys(process.env),
  arguments: () => [process.argv.length, process.execArgv],
  ask: () => ask(),
};
"""


@pytest.fixture
def box(opened: Opened) -> DirectSandbox:
    return opened("", files={"skill.mjs": SKILL}, entry="skill.mjs", host={"echo": lambda value: value})


def is_sound(opened: Opened) -> bool:
    """Whether another skill works."""
    return opened("export default { two: () => 2 };").call("two") == 2


# --- time


def test_the_time_limit_of_the_import_is_five_seconds() -> None:
    assert IMPORT_TIMEOUT_S == 5.0


@pytest.mark.parametrize(
    "code", ["for (;;);", "await new Promise(() => {});", "const f = () => Promise.resolve().then(f); await f();"]
)
def test_an_import_that_does_not_end_is_killed(code: str, folder: Callable[..., Path], opened: Opened) -> None:
    with DirectSandbox(folder(code + "\nexport default {};")) as box:
        with pytest.raises(SandboxTimeout):
            box.load(timeout_s=0.5)
        assert not box.alive
        with pytest.raises(SandboxError, match="SandboxClosed"):
            box.call("hello")
    assert is_sound(opened)


@pytest.mark.parametrize("name", ["loop", "microtasks", "never", "flood", "floodOutput"])
def test_a_call_past_its_limit_is_killed_and_the_next_skill_works(
    name: str, box: DirectSandbox, opened: Opened
) -> None:
    pid = box.pid
    assert pid is not None
    with pytest.raises(SandboxTimeout):
        box.call(name, timeout_s=0.2)
    assert not box.alive
    assert not is_running(pid)
    assert is_sound(opened)


def test_the_time_limit_applies_to_calls(opened: Opened) -> None:
    box = opened("export default { loop() { for (;;); } };", limits=Limits(timeout_s=0.2))
    with pytest.raises(SandboxTimeout):
        box.call("loop")


def test_a_deadline_during_a_host_function_is_enforced(opened: Opened) -> None:
    code = "export default { go() { wait(); return 1; } }; declare const wait: any;"
    box = opened(code, host={"wait": lambda: time.sleep(0.2)})
    with pytest.raises(SandboxTimeout):
        box.call("go", timeout_s=0.1)


def test_programs_started_by_a_skill_are_killed_with_it(box: DirectSandbox) -> None:
    child = box.call("child")
    assert is_running(child)
    box.close()
    assert _gone(child)


# --- the end of the process and malformed messages


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("exit", [0], "exit status 0"),
        ("exit", [3], "exit status 3"),
        ("die", [], "SIGTERM"),
        ("closePipes", [], "ended"),
    ],
)
def test_a_skill_that_ends_its_process_is_an_error(
    name: str, arguments: list[Any], message: str, box: DirectSandbox, opened: Opened
) -> None:
    with pytest.raises(SandboxError, match=message) as ended:
        box.call(name, *arguments)
    assert ended.value.name == "ProcessEnded"
    assert not box.alive
    assert box.pid is None
    assert is_sound(opened)


def test_a_process_that_is_killed_from_outside_is_an_error(box: DirectSandbox, opened: Opened) -> None:
    pid = box.pid
    assert pid is not None
    killer = threading.Timer(0.1, os.kill, (pid, signal.SIGKILL))
    killer.start()
    with pytest.raises(SandboxError, match="SIGKILL"):
        box.call("loop")
    killer.join()
    assert not is_running(pid)
    assert is_sound(opened)


def test_a_child_process_that_holds_the_pipes_open_does_not_hide_the_end(opened: Opened) -> None:
    with ExitStack() as held:  # Node.js closes low descriptors before it starts a program, but not all high ones
        for _ in range(64):
            held.enter_context(Path(os.devnull).open())
        box = opened("", files={"skill.mjs": SKILL}, entry="skill.mjs")
        with pytest.raises(SandboxError, match="exit status 4"):
            box.call("childHoldsPipes")


def test_a_process_that_ended_between_two_calls_is_an_error(box: DirectSandbox) -> None:
    assert box.pid is not None
    os.kill(box.pid, signal.SIGKILL)
    with pytest.raises(SandboxError, match="ProcessEnded"):
        box.call("hello")


GARBAGE = [
    b"\xff" * 64,
    b"x\0\0\0\1a",
    b"o\xff\xff\xff\xff",
    b"o\0\0\0\2{{",
    b"c\0\0\0\2\xff\n",
    b"l\0\0\0\1x",
    b"o\0\0\1\0",
    b"u\0\0\0\0",
]


@pytest.mark.parametrize("bytes_", GARBAGE)
def test_malformed_messages_never_hang_or_crash_the_host(bytes_: bytes, box: DirectSandbox, opened: Opened) -> None:
    with pytest.raises(SandboxError):
        box.call("garbage", list(bytes_), timeout_s=0.5)
    box.close()
    assert is_sound(opened)


@pytest.mark.parametrize("bytes_", [b"\xff" * 64, b"o\0\0\0\0011"])
def test_a_malformed_message_between_two_calls_ends_the_process(bytes_: bytes, box: DirectSandbox) -> None:
    box.call("garbageLater", list(bytes_))
    assert _eventually(lambda: box.take_logs() == [] and not box.alive)
    with pytest.raises(SandboxError, match="SandboxClosed"):
        box.call("hello")


def test_a_text_that_is_too_long_is_refused_in_both_directions(opened: Opened) -> None:
    host = {"echo": lambda value: value, "bigger": lambda: "x" * 5000}
    box = opened("", files={"skill.mjs": SKILL}, entry="skill.mjs", host=host, limits=Limits(transfer_bytes=2048))
    with pytest.raises(SandboxError, match="a text of 5002 bytes exceeds the transfer limit of 2048"):
        box.call("big")
    assert box.call("bigToHost") == "RangeError"
    assert box.call("bigFromHost") == 5000
    assert box.alive


# --- logs


def test_printed_text_is_kept_up_to_the_limit(opened: Opened) -> None:
    box = opened("", files={"skill.mjs": SKILL}, entry="skill.mjs", limits=Limits(log_bytes=200))
    box.call("print")
    lines = box.take_logs()
    assert [line.text for line in lines[:10]] == ["line"] * 10
    assert lines[-1].text.endswith("further lines were dropped")


def test_direct_output_to_the_standard_streams_is_logged_too(box: DirectSandbox) -> None:
    box.call("noisyChild")
    lines: list[str] = []
    assert _eventually(lambda: bool(lines.extend(line.text for line in box.take_logs()) or lines))
    assert lines == ["from a child"]


def test_a_host_function_outside_of_a_call_is_refused(box: DirectSandbox) -> None:
    box.call("start")
    lines: list[str] = []
    assert _eventually(lambda: bool(lines.extend(line.text for line in box.take_logs()) or "host_error" in lines))
    box.call("stop")
    assert box.call("hello") == "hello"


def test_an_uncaught_error_is_logged_and_the_skill_continues(box: DirectSandbox) -> None:
    box.call("uncaught")
    box.call("sleep")
    texts = [line.text for line in box.take_logs() if line.level == "error"]
    assert sorted(text.partition("\n")[0] for text in texts) == [
        "Uncaught Error: from a timer",
        "Uncaught Error: unhandled",
    ]
    assert box.call("hello") == "hello"


def test_the_process_has_a_small_environment_without_the_runner(
    folder: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "t")
    monkeypatch.setenv("NODE_OPTIONS", "--require=/absent.cjs")
    with DirectSandbox(folder("", {"skill.mjs": SKILL}), "skill.mjs") as box:
        box.load(timeout_s=PATIENCE_S)
        names = box.call("environment")
        assert "PATH" in names
        assert not {"SECRET_TOKEN", "NODE_OPTIONS", "CORTEX_UNSAFE_DIRECT_LOAD"} & set(names)
        assert box.call("arguments") == [2, []]


# --- life


def test_a_skill_must_be_loaded_once_before_it_is_called(folder: Callable[..., Path]) -> None:
    with DirectSandbox(folder("export default { a: () => 1 };")) as box:
        with pytest.raises(SandboxError, match="NotLoaded"):
            box.call("a")
        box.load(timeout_s=PATIENCE_S)
        with pytest.raises(SandboxError, match="already loaded"):
            box.load(timeout_s=PATIENCE_S)
        assert box.call("a") == 1
    assert not box.alive
    box.close()
    with pytest.raises(SandboxError, match="it was closed"):
        box.call("a")


def test_a_hundred_calls_and_ten_skills_leave_no_process_and_no_descriptor(opened: Opened, box: DirectSandbox) -> None:
    box.close()

    def left_open() -> int:
        gc.collect()
        before = _descriptors()
        pids = []
        for _ in range(5):
            box = opened("export default { two: () => 2, exit: () => process.exit() };")
            pids.append(box.pid)
            assert [box.call("two") for _ in range(20)] == [2] * 20
            with pytest.raises(SandboxError):
                box.call("exit")
        for _ in range(5):
            box = opened("export default {};")
            pids.append(box.pid)
            box.close()
        assert not any(is_running(pid) for pid in pids if pid is not None)
        return _descriptors() - before

    assert shortest(left_open, 1) <= 0  # other code in this process may open descriptors once


def test_a_garbage_collected_sandbox_is_closed_its_process(folder: Callable[..., Path]) -> None:
    box = DirectSandbox(folder("export default {};"))
    box.load(timeout_s=PATIENCE_S)
    pid = box.pid
    assert pid is not None
    del box
    assert not is_running(pid)


def test_a_folder_that_cannot_be_the_working_directory_is_an_error_without_leaks(folder: Callable[..., Path]) -> None:
    home = folder("export default {};", {"skill.mjs": ""})
    with DirectSandbox(home, "skill.mjs") as box:
        (home / "skill.mjs").unlink()
        (home / "skill.ts").unlink()
        home.rmdir()
        with pytest.raises(SandboxError, match="cannot be started"):
            box.load(timeout_s=PATIENCE_S)


def test_threads_wait_for_each_other(opened: Opened) -> None:
    box = opened("let n = 0; export default { async next() { const m = n; await null; n = m + 1; return n; } };")
    answers: list[int] = []
    threads = [threading.Thread(target=lambda: answers.extend(box.call("next") for _ in range(10))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == list(range(1, 41))


def test_a_host_function_cannot_call_the_skill_that_waits_for_it(opened: Opened) -> None:
    boxes: list[DirectSandbox] = []

    def through_a_sandbox() -> Any:
        with Sandbox(host={"back": lambda: boxes[0].call("hello")}) as inner:
            inner.load_module("export default { go: () => back() };")
            return inner.call("go")

    def asked() -> list[str]:
        reported = []
        for work in (lambda: boxes[0].call("hello"), lambda: boxes[0].close(), through_a_sandbox):
            try:
                work()
            except SandboxError as error:
                reported.append(error.message)
        return reported

    boxes.append(opened("", files={"skill.mjs": SKILL}, entry="skill.mjs", host={"ask": asked}))
    assert boxes[0].call("ask") == ["a host function cannot use the sandbox that waits for it"] * 3


def test_an_interrupt_in_a_host_function_reaches_the_caller(opened: Opened) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    box = opened("", files={"skill.mjs": SKILL}, entry="skill.mjs", host={"ask": interrupted})
    with pytest.raises(KeyboardInterrupt):
        box.call("ask")
    assert not box.alive


def test_an_event_loop_is_not_blocked(opened: Opened) -> None:
    turned = threading.Event()
    box = opened("", files={"skill.mjs": SKILL}, entry="skill.mjs", host={"ask": lambda: turned.wait(50)})

    async def main() -> tuple[bool, str]:
        call = asyncio.create_task(box.acall("ask"))
        for _ in range(5):
            await asyncio.sleep(0)
        turned.set()
        return await call, await box.acall("hello")

    assert asyncio.run(main()) == (True, "hello")


def test_a_cancelled_call_is_killed(box: DirectSandbox) -> None:
    async def main() -> None:
        call = asyncio.create_task(box.acall("loop", timeout_s=60))
        while box._ticket is None:
            await asyncio.sleep(0.01)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    pid = box.pid
    assert pid is not None
    asyncio.run(main())  # would wait a minute for its thread if the call continued
    assert not box.alive
    assert not is_running(pid)


def test_a_call_cancelled_before_its_start_never_starts(opened: Opened) -> None:
    entered, leave = threading.Event(), threading.Event()

    def hold() -> None:
        entered.set()
        leave.wait(50)

    code = "let n = 0; export default { hold: () => hold(), next: () => ++n }; declare const hold: any;"
    box = opened(code, host={"hold": hold})

    async def main() -> int:
        first = asyncio.create_task(box.acall("hold"))
        while not entered.is_set():
            await asyncio.sleep(0.01)
        second = asyncio.create_task(box.acall("next"))
        await asyncio.sleep(0.05)
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second
        leave.set()
        await first
        return int(await box.acall("next"))

    assert asyncio.run(main()) == 1


# --- the end of the host

HOST_PROGRAM = """
import os, signal, sys
from pathlib import Path
from cortex_sandbox.direct import DirectSandbox

box = DirectSandbox(Path(sys.argv[1]), "skill.mjs")
box.load(timeout_s=60)
if sys.argv[2] == "fork" and os.fork() == 0:
    sys.exit()
if sys.argv[2] == "fork":
    os.wait()
    print(box.call("hello"), flush=True)
print(box.pid, flush=True)
if sys.argv[2] == "loop":
    box.call("loop", timeout_s=60)
"""


@pytest.fixture
def host(folder: Callable[..., Path]) -> Iterator[Callable[[str], subprocess.Popen[str]]]:
    """Starts a separate host, which opens a skill and prints the process id."""
    home = folder("", {"skill.mjs": SKILL})
    with ExitStack() as ending:

        def start(then: str) -> subprocess.Popen[str]:
            command = [sys.executable, "-c", HOST_PROGRAM, str(home), then]
            with signals_delivered(signal.SIGINT, signal.SIGTERM):
                process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            ending.enter_context(process)
            ending.callback(process.kill)
            return process

        yield start


def test_the_process_ends_with_its_host(host: Callable[[str], subprocess.Popen[str]]) -> None:
    reported, _ = host("end").communicate(timeout=100)
    assert _gone(int(reported))


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_host_that_is_killed_in_a_call_leaves_no_process(
    by: signal.Signals, host: Callable[[str], subprocess.Popen[str]]
) -> None:
    process = host("loop")
    assert process.stdout is not None
    pid = int(process.stdout.readline())
    process.send_signal(by)
    process.communicate(timeout=100)
    assert _gone(pid)


def test_the_end_of_a_forked_host_does_not_end_the_process(host: Callable[[str], subprocess.Popen[str]]) -> None:
    reported, _ = host("fork").communicate(timeout=100)
    answer, pid = reported.split()
    assert answer == "hello"
    assert _gone(int(pid))


def _descriptors() -> int:
    """The number of open descriptors of this process, where the system reports it."""
    folder = Path("/proc/self/fd")
    return len(list(folder.iterdir())) if folder.exists() else 0


def _eventually(holds: Callable[[], bool]) -> bool:
    """Whether a condition becomes true within a minute."""
    end = time.monotonic() + 60
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


def _gone(pid: int) -> bool:
    """Whether the process ends; one of another parent may stay a zombie until it is reaped."""

    def ended() -> bool:
        try:
            return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].startswith("Z")
        except OSError:
            return not is_running(pid)

    return _eventually(ended)
