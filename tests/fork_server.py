"""Starts `cortex-skills` without importing it again: a server that has imported the product forks for each command.

Rules kept here:
- each command is a process, with the standard streams, arguments, environment, working directory and umask of
  who started it. A launcher, which imports nothing, is started: it hands these to the server, passes signals on,
  and ends as the command ends; when the launcher is killed, the command is killed;
- each process of tests has one server, which ends with it. The server has no threads and no open files when it forks;
- a test about starting uses the installed command: that of imports, of a pid, of limits of a process, of a terminal;
- `python` does what `python -c CODE` does, with the product imported already;
- without `fork` and `pidfd_open` (not on Linux), `command` is the installed command.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import gc
import importlib
import marshal
import os
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import types
from pathlib import Path
from typing import Any

INSTALLED = Path(sys.executable).with_name("cortex-skills")
IMPORTED = (
    "cortex_sandbox.isolation.process_sandbox",
    "cortex_sandbox.quickjs.compiler",
    "cortex_skills.features.actions.own_files",
    "cortex_skills.doors.cli.app",
    "cortex_skills.config.open_graph",
    "cortex_skills.gate.gate",
    "cortex_skills.lifecycle.loader",
    "cortex_skills.lifecycle.reload.reloader",
    "cortex_skills.plugin",
    "cortex_skills.features.registry.parts",
    "cortex_skills.runtime.runtime",
    "cortex_skills.safe_io.strict_yaml",
    "cortex_skills.doors.explorer.routes",
    "cortex_skills.doors.mcp.stdio",
    "cortex_skills.doors.rest.routes",
    "cortex_skills.doors.server.serve",
    "cortex_skills.signatures.verifier",
    "jsonschema_rs",
    "platformdirs.unix",
    "pyoxigraph",
    "rich.table",
    "rich.console",
    "wasmtime",
)
_SIGNALS = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2)
_LENGTH_BYTES = 8
_PYTHON = "python"

# It runs with -I -S and imports only what is part of the interpreter.
_LAUNCHER = """\
#!{python} -IS
import _signal, _socket, marshal, posix, sys

streams = []
for number in range(3):
    try:
        posix.fstat(number)
        streams.append(number)
    except OSError:
        pass
umask = posix.umask(0)
posix.umask(umask)
ignored = [number for number in {signals} if _signal.getsignal(number) == _signal.SIG_IGN]
asked = marshal.dumps([sys.argv, posix.environ, posix.getcwdb(), umask, ignored, streams])
server = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
server.connect({address!r})
for number in {signals}:
    _signal.signal(number, lambda number, _: server.send(bytes([number])))
handed = b"".join(number.to_bytes(4, sys.byteorder) for number in streams)
server.sendmsg([len(asked).to_bytes({length}, "big")], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, handed)])
server.sendall(asked)
kept = [posix.dup(number) for number in streams if posix.isatty(number)]  # a terminal hangs up when this ends
nothing = posix.open("/dev/null", posix.O_RDWR)
for number in streams:
    posix.dup2(nothing, number)
said = server.recv(4)
code = posix.waitstatus_to_exitcode(int.from_bytes(said, "big")) if said else 255
if code < 0:
    if -code in {signals}:
        _signal.signal(-code, _signal.SIG_DFL)
    posix.kill(posix.getpid(), -code)
posix._exit(code)
"""


@functools.cache
def command() -> str:
    """The path of a program that does what `cortex-skills` does; it has the same name."""
    if sys.platform != "linux":
        return str(INSTALLED)
    folder = Path(tempfile.mkdtemp(prefix="fork-"))
    address = str(folder / "socket")
    program = folder / "bin" / INSTALLED.name
    program.parent.mkdir()
    program.write_text(
        _LAUNCHER.format(
            python=sys.executable, address=address, signals=tuple(map(int, _SIGNALS)), length=_LENGTH_BYTES
        )
    )
    program.chmod(0o700)
    (folder / "code").mkdir()
    (folder / "code" / _PYTHON).symlink_to(program)
    words = [sys.executable, "-m", "tests.fork_server", address]
    server = subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=Path(__file__).parents[1], env={**os.environ}
    )
    atexit.register(_end, server, folder)
    if server.stdout.readline() != b"ready\n":
        raise RuntimeError(f"the server of {folder} did not start")
    return str(program)


def python() -> str:
    """The path of a program that does what `python -c CODE …` does, and nothing else of `python`."""
    return str(Path(command()).parents[1] / "code" / _PYTHON) if sys.platform == "linux" else sys.executable


def search_path() -> str:
    """A PATH on which `cortex-skills` is `command`, and Python is that of the tests."""
    return os.pathsep.join((str(Path(command()).parent), str(INSTALLED.parent), os.environ["PATH"]))


def _end(server: subprocess.Popen[bytes], folder: Path) -> None:
    server.communicate()
    shutil.rmtree(folder, ignore_errors=True)


def _received(launcher: socket.socket) -> list[Any] | None:
    """What a launcher asks for, its streams as descriptors of this process; None if it was killed before."""
    data, streams, _, _ = socket.recv_fds(launcher, _LENGTH_BYTES, 3)
    while len(data) < _LENGTH_BYTES or len(data) < _LENGTH_BYTES + int.from_bytes(data[:_LENGTH_BYTES], "big"):
        if not (more := launcher.recv(1 << 20)):
            return None
        data += more
    *asked, numbers = marshal.loads(data[_LENGTH_BYTES:])
    return [*asked, dict(zip(numbers, streams, strict=True))]


def _become(
    words: list[str],
    environment: dict[bytes, bytes],
    folder: bytes,
    umask: int,
    ignored: list[int],
    streams: dict[int, int],
) -> None:
    """Make this process, which was forked, what the launcher was."""
    spare = [os.dup(os.open(os.devnull, os.O_RDWR)) for _ in range(3)]  # so that no stream has a number below 3
    for number in range(3):
        if number in streams:
            os.dup2(streams[number], number)
        else:
            os.close(number)
    os.closerange(3, max([*streams.values(), *spare, 1 << 16]))
    os.environ.clear()
    os.environb.update(environment)
    os.chdir(folder)
    os.umask(umask)
    time.tzset()
    for each in _SIGNALS:  # the server ignores some: SIGINT, and SIGHUP where it was started under nohup
        usual = signal.default_int_handler if each == signal.SIGINT else signal.SIG_DFL
        signal.signal(each, signal.SIG_IGN if each in ignored else usual)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        errors = "backslashreplace" if name == "stderr" else getattr(sys, name).errors
        stream = (
            os.fdopen(number, "w" if number else "r", encoding="utf-8", errors=errors) if number in streams else None
        )
        if number and stream is not None:
            stream.reconfigure(line_buffering=number == 2 or stream.isatty())
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    sys.argv = words


def _serve(address: str) -> bool:
    """Fork for each launcher, until the standard input ends: then the server returns False. Each forked process
    returns True at once."""
    selector = selectors.DefaultSelector()
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen(64)
    selector.register(listener, selectors.EVENT_READ)
    selector.register(0, selectors.EVENT_READ)
    running: dict[int, tuple[int, socket.socket]] = {}  # the process and the launcher, by the descriptor of either
    os.write(1, b"ready\n")
    while True:
        key, _ = selector.select()[0]  # one at a time: handling it may close another, whose number is used again
        if key.fd == 0:
            for pid, _ in running.values():
                os.kill(pid, signal.SIGKILL)
            return False
        if key.fileobj is listener:
            launcher, _ = listener.accept()
            if (asked := _received(launcher)) is None:
                launcher.close()
                continue
            if (pid := os.fork()) == 0:
                selector.close()
                _become(*asked)
                return True
            for stream in asked[-1].values():
                os.close(stream)
            ends = os.pidfd_open(pid)
            running[ends] = running[launcher.fileno()] = pid, launcher
            selector.register(ends, selectors.EVENT_READ)
            selector.register(launcher, selectors.EVENT_READ)
        elif key.fd in running:
            pid, launcher = running[key.fd]
            if key.fileobj is launcher:
                asked_for = launcher.recv(64)
                for number in asked_for or [signal.SIGKILL]:
                    os.kill(pid, number)
                if not asked_for:
                    selector.unregister(launcher)
                continue
            _, status = os.waitpid(pid, 0)
            with contextlib.suppress(OSError):
                launcher.sendall(status.to_bytes(4, "big"))
            with contextlib.suppress(KeyError):
                selector.unregister(launcher)
            selector.unregister(key.fd)
            del running[key.fd], running[launcher.fileno()]
            os.close(key.fd)
            launcher.close()


def _main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal: it is for the tests, which end this
    for name in IMPORTED:
        importlib.import_module(name)
    if threading.active_count() != 1:
        raise RuntimeError(f"threads of the imported modules: {threading.enumerate()}")
    gc.collect()
    gc.freeze()
    if not _serve(sys.argv[1]):
        return
    program = Path(sys.argv[0]).name
    if program == _PYTHON:
        option, code, *words = sys.argv[1:]
        sys.argv = [option, *words]
        module = sys.modules["__main__"] = types.ModuleType("__main__")
        exec(compile(code, "<string>", "exec"), vars(module))
        return
    from cortex_skills.doors.cli import main

    sys.argv[0] = program
    sys.exit(main())


if __name__ == "__main__":
    _main()
