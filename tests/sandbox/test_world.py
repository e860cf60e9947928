"""The world of one run of esbuild: what a guest finds there, and what it cannot reach or exhaust."""

from __future__ import annotations

import struct
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_sandbox.world import CALLS, Finished, World

FILES = {"skill.ts": "abcdef", "lib/a.ts": "A", "lib/deep/b.ts": "B"}
OK, BADF, INVAL, ISDIR, MFILE, NOENT, NOTDIR, ROFS, NOTCAPABLE = 0, 8, 28, 31, 33, 44, 54, 69, 76
ROOT = 3


class Memory:
    """64 KiB that fail as a guest's do."""

    def __init__(self) -> None:
        self.bytes = bytearray(1 << 16)

    def check(self, pointer: int, length: int) -> None:
        if not 0 <= pointer <= pointer + length <= len(self.bytes):
            raise IndexError("outside of the memory")

    def read(self, pointer: int, length: int) -> bytes:
        self.check(pointer, length)
        return bytes(self.bytes[pointer : pointer + length])

    def write(self, pointer: int, data: bytes) -> None:
        self.check(pointer, len(data))
        self.bytes[pointer : pointer + len(data)] = data


class Guest:
    """Calls the world as a program would."""

    def __init__(self, request: bytes = b"", answer_bytes: int = 1000) -> None:
        self.world = World(FILES, request, answer_bytes)
        self.memory = Memory()
        self.calls = {name: call for name, _, _, call in CALLS}

    def __call__(self, name: str, *parameters: int) -> int:
        cells = [SimpleNamespace(i32=value, i64=value) for value in parameters]
        return self.calls[name](self.world, self.memory, cells)

    def number(self, place: int) -> int:
        return int.from_bytes(self.memory.read(place, 4), "little")

    def open(self, path: bytes, *, base: int = ROOT, flags: int = 0) -> tuple[int, int]:
        self.memory.write(1000, path)
        return self("path_open", base, 0, 1000, len(path), flags, 0, 0, 0, 500), self.number(500)

    def read(self, descriptor: int, size: int) -> tuple[int, bytes]:
        self.memory.write(600, struct.pack("<II", 2000, size))
        status = self("fd_read", descriptor, 600, 1, 620)
        return status, self.memory.read(2000, self.number(620)) if status == OK else b""

    def say(self, data: bytes, descriptor: int = 1) -> int:
        self.memory.write(3000, data)
        self.memory.write(600, struct.pack("<II", 3000, len(data)))
        return self("fd_write", descriptor, 600, 1, 620)

    def entries(self, descriptor: int, room: int = 4000, cookie: int = 0) -> list[tuple[bytes, int]]:
        assert self("fd_readdir", descriptor, 2000, room, cookie, 500) == OK
        raw, found, at = self.memory.read(2000, self.number(500)), [], 0
        while at + 24 <= len(raw):
            _, _, size, kind = struct.unpack_from("<QQIB", raw, at)
            found.append((raw[at + 24 : at + 24 + size], kind))
            at += 24 + size
        return found


def test_files_are_read_piece_by_piece_to_their_end() -> None:
    guest = Guest()
    status, file = guest.open(b"skill.ts")
    assert status == OK
    assert [guest.read(file, 4) for _ in range(3)] == [(OK, b"abcd"), (OK, b"ef"), (OK, b"")]
    assert guest("fd_close", file) == OK
    assert guest.read(file, 4) == (BADF, b"")


def test_folders_list_what_is_in_them_and_go_on_where_they_stopped() -> None:
    guest = Guest()
    assert guest.entries(ROOT) == [(b"skill.ts", 4), (b"lib", 3)]
    assert guest.entries(ROOT, cookie=1) == [(b"lib", 3)]
    assert guest.entries(ROOT, cookie=2) == []
    assert guest.entries(ROOT, room=40) == [(b"skill.ts", 4)]
    status, folder = guest.open(b"lib")
    assert (status, guest.entries(folder)) == (OK, [(b"a.ts", 4), (b"deep", 3)])
    assert guest.read(folder, 4) == (ISDIR, b"")


@pytest.mark.parametrize(
    ("path", "status"),
    [
        (b"lib/../skill.ts", OK),
        (b"./lib//deep/./b.ts", OK),
        (b".", OK),
        (b"..", NOTCAPABLE),
        (b"lib/../../x", NOTCAPABLE),
        (b"/etc/hostname", NOTCAPABLE),
        (b"etc/hostname", NOENT),
        (b"skill.ts/", NOTDIR),
        (b"skill.ts/x", NOTDIR),
        (b"skill.ts/..", NOTDIR),
        (b"", NOENT),
        (b"skill.ts\0", INVAL),
        (b"x" * 256, 37),
        (b"\xff\xfe", NOENT),
    ],
)
def test_a_path_is_found_below_the_root_or_refused(path: bytes, status: int) -> None:
    guest = Guest()
    assert guest.open(path)[0] == status
    assert guest("path_filestat_get", ROOT, 0, 1000, len(path), 2000) == status


def test_a_path_is_taken_from_the_folder_that_is_open() -> None:
    guest = Guest()
    folder = guest.open(b"lib/deep")[1]
    assert guest.open(b"b.ts", base=folder)[0] == OK
    assert guest.open(b"../a.ts", base=folder)[0] == OK
    assert guest.open(b"../../../x", base=folder)[0] == NOTCAPABLE
    assert guest.open(b"b.ts", base=99)[0] == BADF


@pytest.mark.parametrize("flags", [1, 8, 9])
def test_nothing_can_be_written(flags: int) -> None:
    guest = Guest()
    assert guest.open(b"new.ts", flags=flags)[0] == ROFS
    assert guest.say(b"x", descriptor=guest.open(b"skill.ts")[1]) == BADF
    assert guest("path_unlink_file", ROOT, 1000, 3) == ROFS


def test_open_files_are_limited() -> None:
    guest = Guest()
    statuses = [guest.open(b"skill.ts")[0] for _ in range(1100)]
    assert (statuses.count(OK), statuses[-1]) == (999, MFILE)


def test_the_request_is_read_once_and_ends() -> None:
    guest = Guest(b"request")
    assert [guest.read(0, 5) for _ in range(3)] == [(OK, b"reque"), (OK, b"st"), (OK, b"")]


def test_a_complete_answer_ends_the_run() -> None:
    guest = Guest()
    assert guest.say(b"\x05\0\0\0ab") == OK
    assert guest.world.answer is None
    with pytest.raises(Finished):
        guest.say(b"cde")
    assert (guest.world.answer, guest.world.too_long) == (b"\x05\0\0\0abcde", False)


@pytest.mark.parametrize("said", [struct.pack("<I", 2000), b"\x05\0\0\0" + b"x" * 1000])
def test_an_answer_that_is_or_announces_too_much_ends_the_run(said: bytes) -> None:
    guest = Guest()
    with pytest.raises(Finished):
        guest.say(said)
    assert guest.world.too_long
    assert guest.world.answer is None


def test_what_is_said_about_a_failure_is_not_kept() -> None:
    guest = Guest()
    assert guest.say(b"x" * 2000, descriptor=2) == OK
    assert guest.world.answer is None
    with pytest.raises(Finished):
        guest("proc_exit", 2)


def test_waiting_for_input_or_for_a_time_ends_at_once() -> None:
    guest = Guest()
    guest.memory.write(0, struct.pack("<QB39x", 11, 0) + struct.pack("<QB39x", 12, 1) + struct.pack("<QB39x", 13, 2))
    assert guest("poll_oneoff", 0, 1000, 3, 500) == OK
    assert guest.number(500) == 2
    assert struct.unpack("<QHB21xQHB21x", guest.memory.read(1000, 64)) == (11, 0, 0, 12, 0, 1)
    assert guest("poll_oneoff", 0, 1000, 1 << 20, 500) == INVAL


def test_a_path_below_a_file_makes_no_world() -> None:
    with pytest.raises(ValueError, match="inside of what is a file"):
        World({"a.ts": "", "a.ts/b.ts": ""}, b"", 10)


@given(
    st.sampled_from([name for name, *_ in CALLS]), st.lists(st.integers(-(2**31), 2**31 - 1), min_size=9, max_size=9)
)
@settings(max_examples=500, deadline=None)
def test_any_call_with_any_parameters_is_answered_refused_or_outside_of_the_memory(name: str, raw: list[Any]) -> None:
    try:
        status = Guest()(name, *raw)
    except (IndexError, Finished):
        return
    assert status in range(77)
