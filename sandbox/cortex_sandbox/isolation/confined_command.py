"""Confines this process, and replaces it by a command of the system: files below some paths, no network.

Rules kept here:
- landlock restricts it to the files and folders that it is given, some to read, some to execute, some to write; a
  folder is given with all that it holds, and nothing else can be opened;
- seccomp refuses sockets, tracing, mounting, signals, leaving the process group, and numbers of another architecture;
- processor time, memory, descriptors and the length of written files are limited;
- what the kernel lacks is written to a pipe before the command starts; where landlock or seccomp is lacking the command
  does not start, unless the caller says so.
"""

from __future__ import annotations

import json
import os
import resource
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, NoReturn

from cortex_sandbox.isolation import confinement
from cortex_sandbox.isolation.confinement import EXECUTE, READ_FILE, READ_FOLDER, TRUNCATE, WRITE_FILE
from cortex_sandbox.isolation.syscalls import command_filter

NOT_CONFINED, NOT_STARTED = 125, 127  # the exit codes of this program
_NEEDED = ("landlock", "seccomp")
_READ_BYTES = 1 << 16
_DESCRIPTORS = 128


@dataclass(frozen=True, slots=True)
class ConfinedCommand:
    """A command, and what it may open and use.

    Attributes:
        command: the path of a program, and its arguments.
        read: paths that it may read; no path has a symbolic link in it.
        listed: folders whose names it may read, and those of the folders in them.
        execute: paths that it may read and execute.
        write: files that it may read and write.
        cpu_s: seconds of processor time.
        memory_bytes: of address space.
        needs_all: whether it starts only where landlock and seccomp are in force.

    """

    command: tuple[str, ...]
    read: tuple[str, ...]
    execute: tuple[str, ...]
    listed: tuple[str, ...] = ()
    write: tuple[str, ...] = ()
    cpu_s: int = 30
    memory_bytes: int = 2 << 30
    needs_all: bool = True

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
    tried = confinement.tried
    protections = [
        tried("privileges", confinement.refuse_new_privileges),
        tried("limits", lambda: _limit(given)),
        tried("landlock", lambda: f"version {confinement.restrict_files(_rights(given))}"),
        tried("seccomp", _filter),
    ]
    lacking = [one for one in protections if not one.in_force]
    os.write(status, json.dumps([f"{one.name} ({one.detail})" for one in lacking]).encode())
    if given["needs_all"] and any(one.name in _NEEDED for one in lacking):
        os._exit(NOT_CONFINED)
    try:
        os.execve(given["command"][0], given["command"], dict(os.environ))  # noqa: S606 - what this program is for
    except OSError as error:
        os.write(2, f"{given['command'][0]}: {error.strerror}\n".encode())
    os._exit(NOT_STARTED)


def _rights(given: Mapping[str, Any]) -> dict[str, int]:
    listed = dict.fromkeys(given["listed"], READ_FOLDER)
    read = dict.fromkeys(given["read"], READ_FILE | READ_FOLDER)
    execute = dict.fromkeys(given["execute"], READ_FILE | READ_FOLDER | EXECUTE)
    return listed | read | execute | dict.fromkeys(given["write"], READ_FILE | WRITE_FILE | TRUNCATE)


def _limit(given: Mapping[str, Any]) -> str:
    limits = {
        resource.RLIMIT_CPU: given["cpu_s"],
        resource.RLIMIT_AS: given["memory_bytes"],
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_NOFILE: _DESCRIPTORS,
    }
    for kind, limit in limits.items():
        confinement.set_limit(kind, limit)
    return "processor time, memory, descriptors and files are limited"


def _filter() -> str:
    confinement.install_filter(command_filter)
    return "no socket, no tracing, no mount, no signal"
