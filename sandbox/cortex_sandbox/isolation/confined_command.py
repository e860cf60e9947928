"""Confines this process, and replaces it by a command of the system: files below some paths, no network.

Rules kept here:
- landlock restricts it to the files and folders that it is given, some to read, some to write; a folder is given with
  all that it holds, and nothing else can be opened. Only the program and its loader can be executed;
- seccomp allows what reading files needs (`syscalls`): no socket, no other process, no change of a file, threads on
  demand, and no program after this one, so that what a configuration in the data names is not started;
- processor time, memory, descriptors and the length of written files are limited;
- what the kernel lacks is written to a pipe before the command starts; where landlock or seccomp is lacking the command
  does not start, unless the caller says so.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from cortex_sandbox.engine.process_limits import set_limit
from cortex_sandbox.isolation import confinement
from cortex_sandbox.isolation.confinement import EXECUTE, READ_FILE, READ_FOLDER, TRUNCATE, WRITE_FILE
from cortex_sandbox.isolation.syscalls import command_filter

NOT_CONFINED, NOT_STARTED = 125, 127  # the exit codes of this program
_NEEDED = ("landlock", "seccomp")
_READ_BYTES = 1 << 16
_DESCRIPTORS = 128
_ELF_64, _PT_INTERP = b"\x7fELF\x02", 3

_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, slots=True)
class ConfinedCommand:
    """A command, and what it may open and use.

    Attributes:
        program: the path of the program, an executable file of the system (ELF) without a symbolic link in its path.
        words: the name that it is called by, and its arguments.
        read: paths that it may read; no path has a symbolic link in it.
        listed: folders whose names it may read, and those of the folders in them.
        write: files that it may read and write.
        cpu_s: seconds of processor time.
        memory_bytes: of address space.
        threads: whether it may start threads.
        needs_all: whether it starts only where landlock and seccomp are in force.
        landlock: the newest version of landlock of which the restrictions are used.
    """

    program: str
    words: tuple[str, ...]
    read: tuple[str, ...]
    listed: tuple[str, ...] = ()
    write: tuple[str, ...] = ()
    cpu_s: int = 30
    memory_bytes: int = 2 << 30
    threads: bool = False
    needs_all: bool = True
    landlock: int = confinement.LANDLOCK_NEWEST

    def to_json(self) -> bytes:
        """The command as the program reads it."""
        return json.dumps(asdict(self)).encode()


def main(status: int, described: int) -> NoReturn:
    """Confine this process, and run a command.

    Args:
        status: a pipe that is closed when the command starts; it gets a JSON list of what is lacking.
        described: a pipe with a `ConfinedCommand` as JSON.
    """
    os.set_inheritable(status, False)
    os.set_inheritable(described, False)
    text = b""
    while chunk := os.read(described, _READ_BYTES):
        text += chunk
    given = json.loads(text)
    rights = _rights(given)
    path = ctypes.create_string_buffer(os.fsencode(given["program"]))
    words = _texts(os.fsencode(word) for word in given["words"])
    environment = _texts(b"=".join(pair) for pair in os.environb.items())
    tried = confinement.tried
    protections = [
        tried("privileges", confinement.refuse_new_privileges),
        tried("limits", lambda: _limit(given)),
        tried("landlock", lambda: f"version {confinement.restrict_files(rights, given['landlock'])}"),
        tried("seccomp", lambda: _filter(ctypes.addressof(path), threads=given["threads"])),
    ]
    lacking = [one for one in protections if not one.in_force]
    os.write(status, json.dumps([f"{one.name} ({one.detail})" for one in lacking]).encode())
    if given["needs_all"] and any(one.name in _NEEDED for one in lacking):
        os._exit(NOT_CONFINED)
    _libc.execve(path, words, environment)
    os.write(2, f"{given['program']}: {os.strerror(ctypes.get_errno())}\n".encode())
    os._exit(NOT_STARTED)


def _texts(texts: Iterable[bytes]) -> ctypes.Array[ctypes.c_char_p]:
    """An array of C, ended by a null pointer."""
    held = [*texts, None]
    return (ctypes.c_char_p * len(held))(*held)


def _rights(given: Mapping[str, Any]) -> dict[str, int]:
    listed = dict.fromkeys(given["listed"], READ_FOLDER)
    read = dict.fromkeys(given["read"], READ_FILE | READ_FOLDER)
    write = dict.fromkeys(given["write"], READ_FILE | WRITE_FILE | TRUNCATE)
    execute = dict.fromkeys((given["program"], *_loader(given["program"])), READ_FILE | EXECUTE)
    return listed | read | write | execute


def _loader(program: str) -> Iterator[str]:
    """The path of the dynamic loader that a program names, if it names one: the segment PT_INTERP of the ELF format."""
    with Path(program).open("rb") as file:
        if file.read(len(_ELF_64)) != _ELF_64:
            return
        file.seek(0x20)
        (table,) = struct.unpack("=Q", file.read(8))
        file.seek(0x36)
        size, count = struct.unpack("=HH", file.read(4))
        for number in range(count):
            file.seek(table + number * size)
            kind, _, place, _, _, length = struct.unpack("=IIQQQQ", file.read(40))
            if kind == _PT_INTERP:
                file.seek(place)
                yield os.path.realpath(file.read(length).rstrip(b"\0").decode())


def _limit(given: Mapping[str, Any]) -> str:
    limits = {
        resource.RLIMIT_CPU: given["cpu_s"],
        resource.RLIMIT_AS: given["memory_bytes"],
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_NOFILE: _DESCRIPTORS,
    }
    for kind, limit in limits.items():
        set_limit(kind, limit)
    return "processor time, memory, descriptors and files are limited"


def _filter(path_address: int, *, threads: bool) -> str:
    confinement.install_filter(partial(command_filter, path_address=path_address, threads=threads))
    return "only system calls that read files"
