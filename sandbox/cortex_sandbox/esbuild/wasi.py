"""The WASI calls that esbuild makes, answered from memory: the source files, one request, one output.

Rules kept here:
- no call reaches the files, the clock, the environment or the network of the host: the only files are the texts passed
  in, they are read-only, and the output is kept in memory;
- every run has its own `WasiState`, or takes one over from a service that waits for its first request: nothing is left
  for the next run, no thread and no open file of the host;
- everything that comes from the guest is checked: counts, the number of open files, and (by `Instance`) pointers;
- output longer than the limit ends the run.

wasmtime's own WASI is not used: it starts threads for file access, and a process forked after that would wait for them
forever (decision 13). The calls and structures are those of WASI preview 1 (`wasi_snapshot_preview1`) that a Go program
uses.
"""

from __future__ import annotations

import os
import posixpath
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

# wasi_snapshot_preview1: `errno`, `filetype`, `eventtype`, `oflags`
_SUCCESS, _AGAIN, _BADF, _INVAL, _ISDIR, _MFILE = 0, 6, 8, 28, 31, 33
_NOENT, _NOSYS, _NOTDIR, _ROFS, _NOTCAPABLE = 44, 52, 54, 69, 76
_DIRECTORY, _FILE = 3, 4
_NONBLOCK = 4  # of `fdflags`: a Go program then waits in `poll_oneoff`, not in `fd_read`
_CLOCK, _READABLE = 0, 1
_CREATE, _MUST_BE_DIRECTORY, _TRUNCATE = 1, 2, 8

_STDIN, _STDOUT, _STDERR, _ROOT = range(4)
_MAX_OPEN = 1000
_MAX_BUFFERS = 1024
_MAX_RANDOM = 64 << 10
_CLOCK_STEP_NS = 1000
_U32 = struct.Struct("<I")
_BUFFER = struct.Struct("<II")
_FDSTAT = struct.Struct("<BxH4xQQ")
_FILESTAT = struct.Struct("<QQB7xQQ24x")
_ENTRY = struct.Struct("<QQIB3x")
_EVENT = struct.Struct("<8sHB21x")
_SUBSCRIPTION_BYTES = 48
_ALL_RIGHTS = (1 << 64) - 1


class GuestMemory(Protocol):
    """The memory of the guest. Both methods raise an error for a range outside of it."""

    def read(self, pointer: int, length: int) -> bytes:
        """Bytes of the memory."""

    def write(self, pointer: int, data: bytes) -> None:
        """Write bytes to the memory."""


class Finished(Exception):
    """The guest exited, or its output is too long."""


class WasiState:
    """The state of one run.

    Args:
        files: text by relative POSIX path.
        request: the standard input.
        output_bytes: the maximum size of the output.
        waits: called when the guest waits for input, until there is a request by `take`; without it the input ends
            after the request.

    Attributes:
        output: the standard output.
        too_long: whether the guest tried to write more than that.
    """

    def __init__(
        self,
        files: Mapping[str, str],
        request: bytes,
        output_bytes: int,
        waits: Callable[[WasiState], None] | None = None,
    ) -> None:
        self._now_ns = 0
        self.output = bytearray()
        self.take(files, request, output_bytes)
        self._waits = waits

    def take(self, files: Mapping[str, str], request: bytes, output_bytes: int) -> None:
        """Replace the files and the limit, and end the input with this request; arguments as for the class."""
        self._files = {_raw(path): _raw(text) for path, text in files.items()}
        self._folders: dict[bytes, dict[bytes, None]] = {b"": {}}  # the names in each folder, in order
        for path in self._files:
            while path:
                path, name = posixpath.split(path)
                self._folders.setdefault(path, {})[name] = None
        self._open: dict[int, tuple[bytes, int]] = {_ROOT: (b"", 0)}  # path and position by descriptor
        self._next = _ROOT + 1
        self._request = request
        self._output_bytes = output_bytes
        self._waits = None
        self.too_long = False

    # --- calls: each gets the guest's memory and the parameters, and returns an `errno`

    def clock_time_get(self, memory: GuestMemory, cells: Any) -> int:
        """A clock that advances by a microsecond at each call."""
        self._now_ns += _CLOCK_STEP_NS
        memory.write(cells[2].i32, self._now_ns.to_bytes(8, "little"))
        return _SUCCESS

    def random_get(self, memory: GuestMemory, cells: Any) -> int:
        """Random bytes."""
        length = cells[1].i32
        if not 0 <= length <= _MAX_RANDOM:
            return _INVAL
        memory.write(cells[0].i32, os.urandom(length))
        return _SUCCESS

    def poll_oneoff(self, memory: GuestMemory, cells: Any) -> int:
        """Wait for input or for a time: both are ready at once."""
        count = cells[2].i32
        if not 0 < count <= _MAX_BUFFERS:
            return _INVAL
        if self._waits is not None and not self._request:
            self._waits(self)
        raw = memory.read(cells[0].i32, _SUBSCRIPTION_BYTES * count)
        items = [raw[at : at + _SUBSCRIPTION_BYTES] for at in range(0, len(raw), _SUBSCRIPTION_BYTES)]
        events = [_EVENT.pack(item[:8], _SUCCESS, item[8]) for item in items if item[8] in (_CLOCK, _READABLE)]
        memory.write(cells[1].i32, b"".join(events))
        memory.write(cells[3].i32, _U32.pack(len(events)))
        return _SUCCESS

    def proc_exit(self, _memory: GuestMemory, _cells: Any) -> int:
        """End the run."""
        raise Finished

    def fd_prestat_get(self, memory: GuestMemory, cells: Any) -> int:
        """The root folder is the only preopened one."""
        if cells[0].i32 != _ROOT:
            return _BADF
        memory.write(cells[1].i32, _BUFFER.pack(0, 1))
        return _SUCCESS

    def fd_prestat_dir_name(self, memory: GuestMemory, cells: Any) -> int:
        """The name of the root folder."""
        memory.write(cells[1].i32, b"/")
        return _SUCCESS

    def fd_fdstat_get(self, memory: GuestMemory, cells: Any) -> int:
        """The type of a descriptor."""
        descriptor = cells[0].i32
        if descriptor not in self._open and not _STDIN <= descriptor <= _STDERR:
            return _BADF
        kind = self._kind(self._open[descriptor][0]) if descriptor in self._open else _FILE
        flags = _NONBLOCK if descriptor == _STDIN else 0
        memory.write(cells[1].i32, _FDSTAT.pack(kind, flags, _ALL_RIGHTS, _ALL_RIGHTS))
        return _SUCCESS

    def fd_write(self, memory: GuestMemory, cells: Any) -> int:
        """Add to the output; error messages of the program are dropped."""
        descriptor = cells[0].i32
        buffers = _buffers(memory, cells)
        if descriptor not in (_STDOUT, _STDERR) or buffers is None:
            return _BADF
        total = sum(length for _, length in buffers)
        if descriptor == _STDOUT:
            self.too_long = len(self.output) + total > self._output_bytes
            if self.too_long:
                raise Finished
            for pointer, length in buffers:
                self.output += memory.read(pointer, length)
        memory.write(cells[3].i32, _U32.pack(total & 0xFFFFFFFF))
        return _SUCCESS

    def fd_read(self, memory: GuestMemory, cells: Any) -> int:
        """Read the request, or a file."""
        descriptor = cells[0].i32
        path, position = self._open.get(descriptor, (b"", 0))
        if path in self._folders and descriptor != _STDIN:
            return _ISDIR if descriptor in self._open else _BADF
        buffers = _buffers(memory, cells)
        if buffers is None:
            return _INVAL
        if descriptor == _STDIN and self._waits is not None and not self._request:
            return _AGAIN
        source = self._request if descriptor == _STDIN else self._files[path]
        begin = position
        for pointer, length in buffers:
            piece = source[position : position + length]
            memory.write(pointer, piece)
            position += len(piece)
        if descriptor == _STDIN:
            self._request = source[position:]
        else:
            self._open[descriptor] = path, position
        memory.write(cells[3].i32, _U32.pack(position - begin))
        return _SUCCESS

    def fd_close(self, _memory: GuestMemory, cells: Any) -> int:
        """Close a file or folder."""
        return _BADF if self._open.pop(cells[0].i32, None) is None else _SUCCESS

    def fd_filestat_get(self, memory: GuestMemory, cells: Any) -> int:
        """Type and size of an open file or folder."""
        if cells[0].i32 not in self._open:
            return _BADF
        memory.write(cells[1].i32, self._stat(self._open[cells[0].i32][0]))
        return _SUCCESS

    def fd_readdir(self, memory: GuestMemory, cells: Any) -> int:
        """The names in a folder, from a number on, as far as they fit."""
        folder, room, first = self._open.get(cells[0].i32), cells[2].i32, cells[3].i64
        if folder is None or folder[0] not in self._folders:
            return _BADF
        if room < 0 or first < 0:
            return _INVAL
        listing = bytearray()
        for number, name in enumerate(self._folders[folder[0]], 1):
            if number > first and len(listing) < room:
                kind = self._kind(posixpath.join(folder[0], name))
                listing += _ENTRY.pack(number, number, len(name), kind) + name
        memory.write(cells[1].i32, bytes(listing[:room]))
        memory.write(cells[4].i32, _U32.pack(min(len(listing), room)))
        return _SUCCESS

    def path_open(self, memory: GuestMemory, cells: Any) -> int:
        """Open a file or a folder for reading."""
        if cells[4].i32 & (_CREATE | _TRUNCATE):
            return _ROFS
        if len(self._open) >= _MAX_OPEN:
            return _MFILE
        path = self._find(memory, cells[0].i32, cells[2].i32, cells[3].i32)
        if isinstance(path, int):
            return path
        if cells[4].i32 & _MUST_BE_DIRECTORY and path in self._files:
            return _NOTDIR
        self._open[self._next] = path, 0
        memory.write(cells[8].i32, _U32.pack(self._next))
        self._next += 1
        return _SUCCESS

    def path_filestat_get(self, memory: GuestMemory, cells: Any) -> int:
        """Type and size of a file or folder."""
        path = self._find(memory, cells[0].i32, cells[2].i32, cells[3].i32)
        if isinstance(path, int):
            return path
        memory.write(cells[4].i32, self._stat(path))
        return _SUCCESS

    # --- inside

    def _find(self, memory: GuestMemory, descriptor: int, pointer: int, length: int) -> bytes | int:
        """The path below the root of an existing file or folder, or an `errno`."""
        if descriptor not in self._open:
            return _BADF
        asked = memory.read(pointer, length)
        path = posixpath.normpath(posixpath.join(self._open[descriptor][0], asked))
        if path == b"..":
            return _NOTCAPABLE
        path = b"" if path == b"." else path
        return path if asked and (path in self._files or path in self._folders) else _NOENT

    def _kind(self, path: bytes) -> int:
        return _DIRECTORY if path in self._folders else _FILE

    def _stat(self, path: bytes) -> bytes:
        return _FILESTAT.pack(1, hash(path) & 0xFFFFFFFF, self._kind(path), 1, len(self._files.get(path, b"")))


def _raw(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _buffers(memory: GuestMemory, cells: Any) -> list[tuple[int, int]] | None:
    """Pointers and lengths of the buffers of a read or write; None when there are too many."""
    count = cells[2].i32
    if not 0 <= count <= _MAX_BUFFERS:
        return None
    return list(_BUFFER.iter_unpack(memory.read(cells[1].i32, _BUFFER.size * count)))


Call = Callable[[WasiState, GuestMemory, Any], int]


def _sizes(items: Sequence[str]) -> Call:
    def write(_state: WasiState, memory: GuestMemory, cells: Any) -> int:
        memory.write(cells[0].i32, _U32.pack(len(items)))
        memory.write(cells[1].i32, _U32.pack(sum(len(_raw(item)) + 1 for item in items)))
        return _SUCCESS

    return write


def _strings(items: Sequence[str]) -> Call:
    def write(_state: WasiState, memory: GuestMemory, cells: Any) -> int:
        pointers, at = cells[0].i32, cells[1].i32
        for index, item in enumerate(items):
            memory.write(pointers + 4 * index, _U32.pack(at & 0xFFFFFFFF))
            memory.write(at, _raw(item) + b"\0")
            at += len(_raw(item)) + 1
        return _SUCCESS

    return write


def _answered(errno: int) -> Call:
    return lambda _state, _memory, _cells: errno


def calls(arguments: Sequence[str], environment: Sequence[str]) -> Iterator[tuple[str, str, str, Call]]:
    """The functions that a Go program imports: name, parameters, results, function.

    Args:
        arguments: the command line.
        environment: `NAME=value` items.
    """
    yield "args_get", "ii", "i", _strings(arguments)
    yield "args_sizes_get", "ii", "i", _sizes(arguments)
    yield "environ_get", "ii", "i", _strings(environment)
    yield "environ_sizes_get", "ii", "i", _sizes(environment)
    yield "proc_exit", "i", "", WasiState.proc_exit
    yield "fd_fdstat_set_flags", "ii", "i", _answered(_SUCCESS)
    yield "sched_yield", "", "i", _answered(_SUCCESS)
    for call, params in (
        (WasiState.clock_time_get, "iIi"),
        (WasiState.fd_close, "i"),
        (WasiState.fd_fdstat_get, "ii"),
        (WasiState.fd_filestat_get, "ii"),
        (WasiState.fd_prestat_dir_name, "iii"),
        (WasiState.fd_prestat_get, "ii"),
        (WasiState.fd_read, "iiii"),
        (WasiState.fd_readdir, "iiiIi"),
        (WasiState.fd_write, "iiii"),
        (WasiState.path_filestat_get, "iiiii"),
        (WasiState.path_open, "iiiiiIIii"),
        (WasiState.poll_oneoff, "iiii"),
        (WasiState.random_get, "ii"),
    ):
        yield call.__name__, params, "i", call
    for name, params in (
        ("fd_pread", "iiiIi"),
        ("fd_seek", "iIii"),
        ("path_create_directory", "iii"),
        ("path_readlink", "iiiiii"),
        ("path_remove_directory", "iii"),
        ("path_unlink_file", "iii"),
        ("sock_accept", "iii"),
        ("sock_shutdown", "ii"),
    ):
        yield name, params, "i", _answered(_NOSYS)
