"""Standard output of `cortex-skills mcp`: the protocol's own, and nothing that the event loop waits for."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there, the SDK writes")

if sys.platform != "win32":
    from cortex_skills.doors.mcp.output import ProtocolOutput

LARGE = "é" * (1 << 20)


def pair(kind: str) -> tuple[int, int]:
    """Where to read and where to write."""
    if kind == "pipe":
        return os.pipe()
    one, other = socket.socketpair()
    return one.detach(), other.detach()


def read(descriptor: int, size: int) -> bytes:
    found = b""
    while len(found) < size:
        found += os.read(descriptor, 1 << 16)
    return found


@pytest.mark.parametrize("kind", ["pipe", "socket"])
def test_the_event_loop_runs_while_the_reader_is_stalled(kind: str):
    async def check() -> None:
        reading, writing = pair(kind)
        output = ProtocolOutput(writing)
        await output.write("first\n")
        assert os.read(reading, 100) == b"first\n"
        writes = asyncio.create_task(output.write(LARGE))
        for _ in range(50):
            await asyncio.sleep(0)
        assert not writes.done()
        expected = LARGE.encode()
        assert await asyncio.to_thread(read, reading, len(expected)) == expected
        await writes
        await output.write("last\n")
        assert os.read(reading, 100) == b"last\n"
        os.close(reading)
        os.close(writing)

    asyncio.run(check())


@pytest.mark.parametrize("text", ["x\n", LARGE], ids=["short", "large"])
@pytest.mark.parametrize("kind", ["pipe", "socket"])
def test_a_closed_reader_is_reported(kind: str, text: str):
    reading, writing = pair(kind)
    os.close(reading)
    with pytest.raises(BrokenPipeError):
        asyncio.run(ProtocolOutput(writing).write(text))
    os.close(writing)


def test_a_pipe_that_does_not_wait_is_written_to_as_well():
    async def check() -> None:
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        writes = asyncio.create_task(ProtocolOutput(writing).write(LARGE))
        assert await asyncio.to_thread(read, reading, len(LARGE.encode())) == LARGE.encode()
        await writes
        os.close(reading)
        os.close(writing)

    asyncio.run(check())


def test_a_file_takes_everything(tmp_path):
    with (tmp_path / "out").open("wb") as file:
        asyncio.run(ProtocolOutput(file.fileno()).write(LARGE))
    assert (tmp_path / "out").read_text() == LARGE


PROGRAM = """
import asyncio, os, subprocess, sys
from cortex_skills.doors.mcp.output import claimed
print("before")
with claimed() as output:
    print("printed", flush=True)
    subprocess.run([sys.executable, "-c", "print('of a child')"])
    asyncio.run(output.write("protocol\\n"))
print("after")
"""


def test_what_anything_prints_meanwhile_goes_to_standard_error():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["before", "protocol", "after"]
    assert done.stderr.splitlines() == ["printed", "of a child"]


def test_without_a_standard_output_of_its_own_nothing_is_claimed():
    program = "import sys, io\nfrom cortex_skills.doors.mcp.output import claimed\nsys.stdout = io.StringIO()\n"
    program += "with claimed() as output: sys.exit(0 if output is None else 1)"
    assert subprocess.run([sys.executable, "-c", program], timeout=60).returncode == 0
