"""The WASI calls of one run of esbuild: which files it sees, and what it cannot reach or exhaust."""

from __future__ import annotations

import struct
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_sandbox.esbuild.wasi import Finished, WasiState, calls

FILES = {"skill.ts": "abcdef", "lib/a.ts": "A", "lib/deep/b.ts": "B"}
OK, BADF, INVAL, ISDIR, MFILE, NOENT, NOSYS, NOTDIR, ROFS, NOTCAPABLE = 0, 8, 28, 31, 33, 44, 52, 54, 69, 76
ARGUMENTS, ENVIRONMENT = ["program", "--ü"], ["PWD=/"]
ROOT = 3


class Memory:
    """64 KiB of memory, checked like a guest's."""

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
    """Makes WASI calls as a program does."""

    def __init__(self, request: bytes = b"", output_bytes: int = 1000) -> None:
        self.wasi = WasiState(FILES, request, output_bytes)
        self.memory = Memory()
        self.calls = {name: call for name, _, _, call in calls(ARGUMENTS, ENVIRONMENT)}

    def __call__(self, name: str, *parameters: int) -> int:
        cells = [SimpleNamespace(i32=value, i64=value) for value in parameters]
        return self.calls[name](self.wasi, self.memory, cells)

    def number(self, place: int) -> int:
        return int.from_bytes(self.memory.read(place, 4), "little")

    def open(self, path: bytes, *, base: int = ROOT, flags: int = 0) -> tuple[int, int]:
        self.memory.write(1000, path)
        return self("path_open", base, 0, 1000, len(path), flags, 0, 0, 0, 500), self.number(500)

    def read(self, descriptor: int, size: int) -> tuple[int, bytes]:
        self.memory.write(600, struct.pack("<II", 2000, size))
        status = self("fd_read", descriptor, 600, 1, 620)
        return status, self.memory.read(2000, self.number(620)) if status == OK else b""

    def write(self, data: bytes, descriptor: int = 1) -> int:
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


def test_a_file_is_read_in_pieces_to_its_end() -> None:
    guest = Guest()
    status, file = guest.open(b"skill.ts")
    assert status == OK
    assert [guest.read(file, 4) for _ in range(3)] == [(OK, b"abcd"), (OK, b"ef"), (OK, b"")]
    assert guest("fd_close", file) == OK
    assert guest.read(file, 4) == (BADF, b"")


def test_a_folder_is_listed_from_any_entry_on() -> None:
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
        (b"lib/../../x", NOENT),
        (b"/etc/hostname", NOENT),
        (b"etc/hostname", NOENT),
        (b"skill.ts/x", NOENT),
        (b"", NOENT),
        (b"skill.ts\0", NOENT),
        (b"x" * 256, NOENT),
        (b"\xff\xfe", NOENT),
    ],
)
def test_a_path_resolves_to_a_source_file_or_fails(path: bytes, status: int) -> None:
    guest = Guest()
    assert guest.open(path)[0] == status
    assert guest("path_filestat_get", ROOT, 0, 1000, len(path), 2000) == status


def test_a_path_is_relative_to_the_open_folder() -> None:
    guest = Guest()
    folder = guest.open(b"lib/deep")[1]
    assert guest.open(b"b.ts", base=folder)[0] == OK
    assert guest.open(b"../a.ts", base=folder)[0] == OK
    assert guest.open(b"../../../x", base=folder)[0] == NOENT
    assert guest.open(b"b.ts", base=99)[0] == BADF


@pytest.mark.parametrize("flags", [1, 8, 9])
def test_nothing_can_be_written(flags: int) -> None:
    guest = Guest()
    assert guest.open(b"new.ts", flags=flags)[0] == ROFS
    assert guest.write(b"x", descriptor=guest.open(b"skill.ts")[1]) == BADF
    assert guest("path_unlink_file", ROOT, 1000, 3) == NOSYS


def test_the_number_of_open_files_is_limited() -> None:
    guest = Guest()
    statuses = [guest.open(b"skill.ts")[0] for _ in range(1100)]
    assert (statuses.count(OK), statuses[-1]) == (999, MFILE)


def test_the_request_is_the_standard_input() -> None:
    guest = Guest(b"request")
    assert [guest.read(0, 5) for _ in range(3)] == [(OK, b"reque"), (OK, b"st"), (OK, b"")]


def test_the_output_is_what_was_written_to_standard_output() -> None:
    guest = Guest()
    assert [guest.write(b"ab"), guest.write(b"message", descriptor=2), guest.write(b"cde")] == [OK] * 3
    with pytest.raises(Finished):
        guest("proc_exit", 0)
    assert (guest.wasi.output, guest.wasi.too_long) == (b"abcde", False)


def test_output_over_the_limit_ends_the_run() -> None:
    guest = Guest(output_bytes=1000)
    assert guest.write(b"x" * 1000) == OK
    with pytest.raises(Finished):
        guest.write(b"x")
    assert guest.wasi.too_long


def test_arguments_and_environment_are_the_given_ones() -> None:
    guest = Guest()
    for name, expected in (("args", ARGUMENTS), ("environ", ENVIRONMENT)):
        assert guest(f"{name}_sizes_get", 500, 504) == OK
        assert guest(f"{name}_get", 600, 1000) == OK
        text = guest.memory.read(1000, guest.number(504))
        assert text.decode().split("\0") == [*expected, ""]
        assert (guest.number(500), guest.number(600)) == (len(expected), 1000)


def test_waiting_for_input_or_for_a_time_ends_at_once() -> None:
    guest = Guest()
    guest.memory.write(0, struct.pack("<QB39x", 11, 0) + struct.pack("<QB39x", 12, 1) + struct.pack("<QB39x", 13, 2))
    assert guest("poll_oneoff", 0, 1000, 3, 500) == OK
    assert guest.number(500) == 2
    assert struct.unpack("<QHB21xQHB21x", guest.memory.read(1000, 64)) == (11, 0, 0, 12, 0, 1)
    assert guest("poll_oneoff", 0, 1000, 1 << 20, 500) == INVAL


def test_the_clock_advances_without_the_time_of_the_host() -> None:
    guest = Guest()
    times = []
    for _ in range(2):
        assert guest("clock_time_get", 0, 0, 500) == OK
        times.append(guest.number(500))
    assert times == [1000, 2000]


def test_the_root_is_the_only_preopened_folder() -> None:
    guest = Guest()
    assert guest("fd_prestat_get", ROOT, 500) == OK
    assert guest("fd_prestat_dir_name", ROOT, 600, guest.number(504)) == OK
    assert guest.memory.read(600, 1) == b"/"
    assert guest("fd_prestat_get", ROOT + 1, 500) == BADF


@given(
    st.sampled_from([name for name, *_ in calls(ARGUMENTS, ENVIRONMENT)]),
    st.lists(st.integers(-(2**31), 2**31 - 1), min_size=9, max_size=9),
)
@settings(max_examples=500, deadline=None)
def test_a_call_with_any_parameters_returns_an_errno_or_is_stopped(name: str, raw: list[Any]) -> None:
    try:
        status = Guest()(name, *raw)
    except (IndexError, Finished):
        return
    assert status in range(77)
