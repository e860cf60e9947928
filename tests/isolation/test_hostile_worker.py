"""A hostile worker: the host raises a typed error in time, and the worker is killed."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import time

import pytest

from cortex_sandbox import Limits, ProcessSandbox, SandboxError, SandboxTimeout
from cortex_sandbox.isolation import worker_client
from cortex_sandbox.isolation.link import WorkerLink
from cortex_sandbox.isolation.processes import open_process
from cortex_sandbox.isolation.wire import ERROR, HOST_CALL, LOG, READY, RESULT, frame

OK = frame(READY, b"[1000000, []]")
PATIENT = Limits(timeout_s=60, transfer_bytes=1024)
SHORT = Limits(timeout_s=0.3, transfer_bytes=1024)


class Rogue:
    """A process with a descriptor; the test has the other end of its pipe."""

    def __init__(self) -> None:
        self.process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        self.ours, self.theirs = socket.socketpair()

    def link(self, limit: int) -> WorkerLink:
        return WorkerLink(self.theirs, open_process(self.process.pid), limit)

    def say(self, data: bytes) -> None:
        threading.Thread(target=self._say, args=(data,), daemon=True).start()

    def say_for_ever(self, data: bytes) -> None:
        threading.Thread(target=self._say, args=(data, 1 << 40), daemon=True).start()

    def _say(self, data: bytes, times: int = 1) -> None:
        try:
            for _ in range(times):
                self.ours.sendall(data)
        except OSError:
            return  # the host has closed its end


@pytest.fixture
def rogue(monkeypatch):
    one = Rogue()
    monkeypatch.setattr(worker_client, "take_worker", one.link)
    with one.ours, one.theirs, one.process:
        try:
            yield one
            assert one.process.wait(100) == -9  # the host has killed it
        finally:
            one.process.kill()


@pytest.mark.parametrize(
    "answer",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"\xff" * 4096,
        (1 << 30).to_bytes(4, "big") + RESULT,
        frame(b"C", b"{}"),
        frame(READY, b"[1, []]"),
        frame(RESULT, b"nonsense"),
        frame(RESULT, b"[true, -1"),
        frame(RESULT, b'{"alive": true}\n1'),
        frame(RESULT, b'["yes", 5]\n1'),
        frame(RESULT, b"[" * 50_000 + b"\n1"),
        frame(ERROR, b"[true, 5]\n[]"),
        frame(ERROR, b'[true, 5]\n{"code": "skill_error"}'),
        frame(RESULT, b"[true, 5]\n" + b"x" * (4 << 20)),
        frame(LOG, b"info\nx") * 3 + b"\0\0\0\0\0",
    ],
)
def test_a_malformed_message_is_a_broken_sandbox(rogue, answer):
    rogue.say(OK)
    with ProcessSandbox(PATIENT) as box:
        rogue.say(answer)
        with pytest.raises(SandboxError) as caught:
            box.evaluate("1")
        assert caught.value.name == "SandboxBroken"
        assert not box.alive


@pytest.mark.parametrize(
    "answer", [b"nonsense", b'cos\nsystem\n(S"true"\ntR.', b"[1", b'{"__proto__": 1}', b"\x80\x04N."]
)
def test_a_result_that_is_not_plain_json_is_an_error_of_the_guest(rogue, answer):
    rogue.say(OK)
    with ProcessSandbox(PATIENT) as box:
        rogue.say(frame(RESULT, b"[true, 5]\n", answer))
        with pytest.raises(SandboxError):
            box.evaluate("1")


@pytest.mark.parametrize("first", [b"", b"\0\0", frame(LOG, b"info\nx"), frame(READY, b"[5]"), frame(READY, b"\xff")])
def test_a_worker_that_fails_to_start_makes_no_sandbox(rogue, first, monkeypatch):
    monkeypatch.setattr(worker_client, "_READY_S", 0.2)
    rogue.say(first)
    with pytest.raises(SandboxError):
        ProcessSandbox(SHORT)


@pytest.mark.parametrize("answer", [b"", b"\0\0", (100).to_bytes(4, "big") + RESULT + b"[true"])
def test_a_silent_worker_is_stopped_at_the_deadline(rogue, answer):
    rogue.say(OK)
    with ProcessSandbox(SHORT) as box:
        rogue.say(answer)
        with pytest.raises(SandboxTimeout):
            box.evaluate("1")
        assert not box.alive


def test_a_flood_of_log_lines_is_bounded_and_stopped_at_the_deadline(rogue):
    rogue.say(OK)
    with ProcessSandbox(Limits(timeout_s=0.3, log_bytes=1000)) as box:
        rogue.say(frame(LOG, b"info\n" + b"x" * 100) * 300_000)
        with pytest.raises(SandboxTimeout):
            box.evaluate("1")
        assert len(box.take_logs()) < 12


@pytest.mark.parametrize("first", [b"", (2 << 20).to_bytes(4, "big") + RESULT], ids=["log", "a result in drops"])
def test_a_worker_that_sends_without_end_is_stopped_at_the_deadline(rogue, first):
    rogue.say(OK)
    with ProcessSandbox(Limits(timeout_s=0.3, transfer_bytes=8 << 20)) as box:
        rogue.ours.sendall(first)
        rogue.say_for_ever(b"x" if first else frame(LOG, b"info\nx") * 9_000)
        with pytest.raises(SandboxTimeout):
            box.evaluate("1")
        assert not box.alive


@pytest.mark.parametrize(
    "request_text",
    [
        b"",
        b"\n",
        b"absent\n[]",
        b"ask",
        b"ask\n{}",
        b"ask\n[",
        b"ask\n" + b"[" * 900,
        b"\xff\xff\n[]",
        b":seed\nx",
        b"ask\n[1,2,3]",
    ],
)
def test_a_host_call_of_any_form_gets_an_answer(rogue, request_text):
    asked = []
    rogue.say(OK)
    with ProcessSandbox(PATIENT, {"ask": lambda value: asked.append(value)}) as box:
        rogue.say(frame(HOST_CALL, request_text) + frame(RESULT, b"[true, 5]\n7"))
        assert box.evaluate("1") == 7
    assert asked == []


def test_a_worker_that_does_not_read_is_stopped(rogue):
    rogue.say(OK)
    with ProcessSandbox(Limits(timeout_s=0.3)) as box:
        start = time.monotonic()
        with pytest.raises(SandboxTimeout):
            box.call("f", "x" * (4 << 20))
        assert time.monotonic() - start < 60  # not forever
