"""The world of one run of esbuild: some files in memory, one request, one answer, and nothing of the host's.

Rules kept here:
- no call reaches the host's files, clock of day, environment or network: what WASI calls a file is a text that was
  handed in, and nothing can be written but the answer;
- a run begins with this world and ends with it: nothing is left for the next one;
- what comes from the guest is checked: paths stay below the root, counts and the number of open files are limited,
  every pointer is checked by `Instance`;
- the answer is complete, or the run failed; a longer one than is allowed ends the run at its first bytes.

The calls are those of WASI preview 1 (`wasi_snapshot_preview1`) that a Go program makes.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Mapping
from itertools import count
from typing import Any, Protocol

from .esbuild_protocol import answer_length

# wasi_snapshot_preview1: `errno`, `filetype`, `fdflags`, `oflags`, `eventtype`
_SUCCESS, _BADF, _INVAL, _ISDIR, _MFILE = 0, 8, 28, 31, 33
_NAMETOOLONG, _NOENT, _NOSYS, _NOTDIR, _ROFS, _NOTCAPABLE = 37, 44, 52, 54, 69, 76
_DIRECTORY, _FILE = 3, 4
_NONBLOCK = 4
_CREATE, _MUST_BE_DIRECTORY, _TRUNCATE = 1, 2, 8
_CLOCK, _READABLE = 0, 1

_STDIN, _STDOUT, _STDERR, _ROOT = 0, 1, 2, 3
_MAX_OPEN = 1000
_MAX_PIECES = 1024
_MAX_NAME_BYTES = 255
_MAX_RANDOM = 64 << 10
_PIECE = struct.Struct("<II")
_FDSTAT = struct.Struct("<BxH4xQQ")
_FILESTAT = struct.Struct("<QQB7xQQ24x")
_ENTRY = struct.Struct("<QQIB3x")
_EVENT = struct.Struct("<QHB21x")
_ALL_RIGHTS = (1 << 64) - 1


class Memory(Protocol):
    """The guest's memory, checked."""

    def read(self, pointer: int, length: int) -> bytes:
        """Bytes of it."""

    def write(self, pointer: int, data: bytes) -> None:
        """Put bytes into it."""


class Finished(Exception):
    """The guest has said what it had to say, or ended."""


class _Node:
    """A file (its bytes) or a folder (what is in it, by name)."""

    __slots__ = ("content", "number")

    def __init__(self, number: int, content: bytes | dict[bytes, _Node]) -> None:
        self.number = number
        self.content = content

    @property
    def kind(self) -> int:
        return _DIRECTORY if isinstance(self.content, dict) else _FILE

    def stat(self) -> bytes:
        size = 0 if isinstance(self.content, dict) else len(self.content)
        return _FILESTAT.pack(1, self.number, self.kind, 1, size)


class _Open:
    """A file or folder that the guest has opened."""

    __slots__ = ("at", "node", "place")

    def __init__(self, place: tuple[bytes, ...], node: _Node) -> None:
        self.place = place
        self.node = node
        self.at = 0


class World:
    """What one run sees and says.

    Args:
        files: text by relative POSIX path.
        request: what it reads from its input.
        answer_bytes: the longest answer.

    Raises:
        ValueError: when a path lies below a file.

    Attributes:
        too_long: whether the guest began an answer that is longer than that.

    """

    def __init__(self, files: Mapping[str, str], request: bytes, answer_bytes: int) -> None:
        self._numbers = count(1)
        self._root = _Node(next(self._numbers), {})
        for path, text in files.items():
            self._add(path, text.encode("utf-8", "replace"))
        self._request = request
        self._answer_bytes = answer_bytes
        self._open = {_ROOT: _Open((), self._root)}
        self._next = _ROOT + 1
        self._said = bytearray()
        self.too_long = False

    def _add(self, path: str, content: bytes) -> None:
        *folders, name = path.encode("utf-8", "replace").split(b"/")
        at = self._root.content
        for folder in folders:
            if not isinstance(at, dict):
                break
            at = at.setdefault(folder, _Node(next(self._numbers), {})).content
        if not isinstance(at, dict):
            raise ValueError(f"{path!r} lies inside of what is a file")
        at[name] = _Node(next(self._numbers), content)

    @property
    def answer(self) -> bytes | None:
        """What the guest said, when that is complete."""
        return bytes(self._said) if answer_length(self._said) == len(self._said) else None

    # --- calls: each takes the guest's memory and the parameters, and gives an `errno`

    def random_get(self, memory: Memory, cells: Any) -> int:
        """Random bytes."""
        length = cells[1].i32
        if not 0 <= length <= _MAX_RANDOM:
            return _INVAL
        memory.write(cells[0].i32, os.urandom(length))
        return _SUCCESS

    def sched_yield(self, _memory: Memory, _cells: Any) -> int:
        """Nobody else is there."""
        return _SUCCESS

    def poll_oneoff(self, memory: Memory, cells: Any) -> int:
        """Wait for input or for a time: input is there, and no time needs to pass."""
        wanted = cells[2].i32
        if not 0 < wanted <= _MAX_PIECES:
            return _INVAL
        raw = memory.read(cells[0].i32, 48 * wanted)
        events = [
            _EVENT.pack(int.from_bytes(raw[at : at + 8], "little"), _SUCCESS, raw[at + 8])
            for at in range(0, len(raw), 48)
            if raw[at + 8] in (_CLOCK, _READABLE)
        ]
        memory.write(cells[1].i32, b"".join(events))
        memory.write(cells[3].i32, len(events).to_bytes(4, "little"))
        return _SUCCESS

    def proc_exit(self, _memory: Memory, _cells: Any) -> int:
        """The end; it never returns."""
        raise Finished

    def fd_write(self, memory: Memory, cells: Any) -> int:
        """The answer, or what is said about a failure, which is not kept."""
        descriptor = cells[0].i32
        if descriptor not in (_STDOUT, _STDERR):
            return _BADF
        pieces = self._pieces(memory, cells)
        if pieces is None:
            return _INVAL
        total = 0
        for pointer, length in pieces:
            if descriptor == _STDOUT:
                self._hear(memory, pointer, length)
            total += length
        memory.write(cells[3].i32, (total & 0xFFFFFFFF).to_bytes(4, "little"))
        return _SUCCESS

    def _hear(self, memory: Memory, pointer: int, length: int) -> None:
        if len(self._said) + length <= self._answer_bytes:
            self._said += memory.read(pointer, length)
            announced = answer_length(self._said) or 0
        else:
            announced = len(self._said) + length
        self.too_long = announced > self._answer_bytes
        if self.too_long or announced == len(self._said):
            raise Finished

    def fd_read(self, memory: Memory, cells: Any) -> int:
        """The request, then its end; or a file."""
        descriptor = cells[0].i32
        opened = self._open.get(descriptor)
        if opened is not None:
            source = opened.node.content
            if isinstance(source, dict):
                return _ISDIR
        elif descriptor == _STDIN:
            source = self._request
        else:
            return _BADF
        pieces = self._pieces(memory, cells)
        if pieces is None:
            return _INVAL
        begin = at = 0 if opened is None else opened.at
        for pointer, length in pieces:
            piece = source[at : at + length]
            memory.write(pointer, piece)
            at += len(piece)
        if opened is None:
            self._request = source[at:]
        else:
            opened.at = at
        memory.write(cells[3].i32, (at - begin).to_bytes(4, "little"))
        return _SUCCESS

    def fd_close(self, _memory: Memory, cells: Any) -> int:
        """Forget an open file."""
        return _BADF if self._open.pop(cells[0].i32, None) is None else _SUCCESS

    def fd_fdstat_get(self, memory: Memory, cells: Any) -> int:
        """Of what kind a descriptor is."""
        opened = self._open.get(cells[0].i32)
        if opened is None and not _STDIN <= cells[0].i32 <= _STDERR:
            return _BADF
        kind, flags = (_FILE, _NONBLOCK) if opened is None else (opened.node.kind, 0)
        memory.write(cells[1].i32, _FDSTAT.pack(kind, flags, _ALL_RIGHTS, _ALL_RIGHTS))
        return _SUCCESS

    def fd_fdstat_set_flags(self, _memory: Memory, _cells: Any) -> int:
        """Whether reading may block, which it never does."""
        return _SUCCESS

    def fd_filestat_get(self, memory: Memory, cells: Any) -> int:
        """Kind and size of what is open."""
        opened = self._open.get(cells[0].i32)
        if opened is None:
            return _BADF
        memory.write(cells[1].i32, opened.node.stat())
        return _SUCCESS

    def fd_readdir(self, memory: Memory, cells: Any) -> int:
        """What is in a folder, from an entry on, as far as it fits."""
        opened, room, first = self._open.get(cells[0].i32), cells[2].i32, cells[3].i64
        if opened is None or not isinstance(opened.node.content, dict):
            return _BADF
        if room < 0 or first < 0:
            return _INVAL
        listing = bytearray()
        for number, (name, node) in enumerate(opened.node.content.items(), 1):
            if number > first and len(listing) < room:
                listing += _ENTRY.pack(number, node.number, len(name), node.kind) + name
        memory.write(cells[1].i32, bytes(listing[:room]))
        memory.write(cells[4].i32, min(len(listing), room).to_bytes(4, "little"))
        return _SUCCESS

    def path_open(self, memory: Memory, cells: Any) -> int:
        """Open a file or a folder for reading."""
        if cells[4].i32 & (_CREATE | _TRUNCATE):
            return _ROFS
        if len(self._open) >= _MAX_OPEN:
            return _MFILE
        found = self._find(memory, cells[0].i32, cells[2].i32, cells[3].i32)
        if isinstance(found, int):
            return found
        if cells[4].i32 & _MUST_BE_DIRECTORY and found.node.kind != _DIRECTORY:
            return _NOTDIR
        self._open[self._next] = found
        memory.write(cells[8].i32, self._next.to_bytes(4, "little"))
        self._next += 1
        return _SUCCESS

    def path_filestat_get(self, memory: Memory, cells: Any) -> int:
        """Kind and size of what is at a path."""
        found = self._find(memory, cells[0].i32, cells[2].i32, cells[3].i32)
        if isinstance(found, int):
            return found
        memory.write(cells[4].i32, found.node.stat())
        return _SUCCESS

    def path_readlink(self, memory: Memory, cells: Any) -> int:
        """There are no links."""
        found = self._find(memory, cells[0].i32, cells[1].i32, cells[2].i32)
        return found if isinstance(found, int) else _INVAL

    # --- inside

    def _find(self, memory: Memory, descriptor: int, pointer: int, length: int) -> _Open | int:
        """What is at a path below an open folder, or why there is nothing."""
        base = self._open.get(descriptor)
        if base is None:
            return _BADF
        path = memory.read(pointer, length)
        if b"\0" in path:
            return _INVAL
        if not path:
            return _NOENT
        if path.startswith(b"/"):
            return _NOTCAPABLE
        way = [self._root]
        for name in base.place:
            content = way[-1].content
            if not isinstance(content, dict):
                return _NOTDIR
            way.append(content[name])
        names = list(base.place)
        for name in path.split(b"/"):
            content = way[-1].content
            if not isinstance(content, dict):
                return _NOTDIR
            if name in (b"", b"."):
                continue
            if name == b"..":
                if not names:
                    return _NOTCAPABLE
                names.pop()
                way.pop()
                continue
            if len(name) > _MAX_NAME_BYTES:
                return _NAMETOOLONG
            if name not in content:
                return _NOENT
            names.append(name)
            way.append(content[name])
        return _Open(tuple(names), way[-1])

    @staticmethod
    def _pieces(memory: Memory, cells: Any) -> list[tuple[int, int]] | None:
        """Where data comes from or goes to: pointers and lengths."""
        pieces = cells[2].i32
        if not 0 <= pieces <= _MAX_PIECES:
            return None
        return list(_PIECE.iter_unpack(memory.read(cells[1].i32, _PIECE.size * pieces)))


Call = Callable[[World, Memory, Any], int]


def _refuse(errno: int) -> Call:
    return lambda _world, _memory, _cells: errno


# What a Go program imports: name, parameters, results, answer. It asked for its arguments, its environment and its
# root folder before the image was taken; the time is in the image (`wasm_inside.py`).
CALLS: tuple[tuple[str, str, str, Call], ...] = (
    ("args_get", "ii", "i", _refuse(_NOSYS)),
    ("args_sizes_get", "ii", "i", _refuse(_NOSYS)),
    ("clock_time_get", "iIi", "i", _refuse(_NOSYS)),
    ("environ_get", "ii", "i", _refuse(_NOSYS)),
    ("environ_sizes_get", "ii", "i", _refuse(_NOSYS)),
    ("fd_close", "i", "i", World.fd_close),
    ("fd_fdstat_get", "ii", "i", World.fd_fdstat_get),
    ("fd_fdstat_set_flags", "ii", "i", World.fd_fdstat_set_flags),
    ("fd_filestat_get", "ii", "i", World.fd_filestat_get),
    ("fd_pread", "iiiIi", "i", _refuse(_NOSYS)),
    ("fd_prestat_dir_name", "iii", "i", _refuse(_BADF)),
    ("fd_prestat_get", "ii", "i", _refuse(_BADF)),
    ("fd_read", "iiii", "i", World.fd_read),
    ("fd_readdir", "iiiIi", "i", World.fd_readdir),
    ("fd_seek", "iIii", "i", _refuse(_NOSYS)),
    ("fd_write", "iiii", "i", World.fd_write),
    ("path_create_directory", "iii", "i", _refuse(_ROFS)),
    ("path_filestat_get", "iiiii", "i", World.path_filestat_get),
    ("path_open", "iiiiiIIii", "i", World.path_open),
    ("path_readlink", "iiiiii", "i", World.path_readlink),
    ("path_remove_directory", "iii", "i", _refuse(_ROFS)),
    ("path_unlink_file", "iii", "i", _refuse(_ROFS)),
    ("poll_oneoff", "iiii", "i", World.poll_oneoff),
    ("proc_exit", "i", "", World.proc_exit),
    ("random_get", "ii", "i", World.random_get),
    ("sched_yield", "", "i", World.sched_yield),
    ("sock_accept", "iii", "i", _refuse(_NOSYS)),
    ("sock_shutdown", "ii", "i", _refuse(_NOSYS)),
)
