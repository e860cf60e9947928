"""A Virtuoso server for the tests, on loopback, without an installation.

Rules kept here:
- `virtuoso-t` is the installed one, or that of the Debian packages: these are fetched with `apt-get download` and
  unpacked into the user's cache folder, once; nothing needs root, and nothing outside the cache is changed. As root, on
  a machine without package lists, `apt-get update` fetches these first;
- one server for all workers of a test run would be one state for all of them, so each worker starts its own;
- it takes about 300 MB, listens on 127.0.0.1 only, and uses a separate folder;
- if the server is not available, `Unavailable` gives the reason.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
from platformdirs import user_cache_path

from tests.ports import quiet_port

PACKAGES = ("virtuoso-opensource-7-bin", "libminizip1", "libpcre3")
START_S = 100

INI = """
[Database]
DatabaseFile = virtuoso.db
ErrorLogFile = virtuoso.log
LockFile = virtuoso.lck
TransactionFile = virtuoso.trx
xa_persistent_file = virtuoso.pxa
FileExtend = 100

[TempDatabase]
DatabaseFile = temp.db
TransactionFile = temp.trx
FileExtend = 100

[Parameters]
ServerPort = 127.0.0.1:{sql}
DisableUnixSocket = 1
ServerThreads = 10
NumberOfBuffers = 3000
MaxDirtyBuffers = 2000
MaxMemPoolSize = 40000000
CheckpointInterval = 0
CaseMode = 2
DirsAllowed = .

[HTTPServer]
ServerPort = 127.0.0.1:{http}
ServerThreads = 8
"""


class Unavailable(Exception):
    """There is no Virtuoso to be had here."""


@dataclass(frozen=True)
class Virtuoso:
    """A running server: `dba` with the password `dba` may do everything, with digest authentication."""

    url: str
    pid: int


@contextmanager
def virtuoso(folder: Path) -> Iterator[Virtuoso]:
    """A server that keeps its files in a folder, until the end of the block.

    Raises:
        Unavailable: there is no program, or it does not start.

    """
    program, environment = _program()
    sql, http = quiet_port(), quiet_port()
    (folder / "virtuoso.ini").write_text(INI.format(sql=sql, http=http))
    with (folder / "output.txt").open("wb") as output:
        process = subprocess.Popen(
            [program, "-f", "-c", "virtuoso.ini"], cwd=folder, env=environment, stdout=output, stderr=output
        )
    try:
        url = f"http://127.0.0.1:{http}"
        _wait_for(url, process, folder)
        yield Virtuoso(url, process.pid)
    finally:
        process.send_signal(signal.SIGKILL)  # nothing of it is needed again
        process.wait()


def _program() -> tuple[str, dict[str, str]]:
    """The program, and the environment that it needs."""
    if installed := shutil.which("virtuoso-t"):
        return installed, dict(os.environ)
    cache = user_cache_path("cortex-skills-tests", appauthor=False)
    root = cache / "virtuoso"
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "virtuoso.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # of several workers one fetches
        if not (root / ".complete").exists():
            _fetch(root)
    libraries = [str(path) for path in sorted([*root.glob("usr/lib/*-linux-gnu"), *root.glob("lib/*-linux-gnu")])]
    return str(root / "usr/bin/virtuoso-t"), os.environ | {"LD_LIBRARY_PATH": os.pathsep.join(libraries)}


def _fetch(root: Path) -> None:
    for tool in ("apt-get", "dpkg-deb"):
        if not shutil.which(tool):
            raise Unavailable(f"there is no virtuoso-t and no {tool} to fetch it with")
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir()
    problem = _download(root)
    if problem and os.geteuid() == 0:
        subprocess.run(["apt-get", "update", "-qq"], capture_output=True, timeout=30, check=False)
        problem = _download(root)
    if problem:
        raise Unavailable(f"virtuoso-t cannot be fetched: {problem}")
    for package in root.glob("*.deb"):
        subprocess.run(["dpkg-deb", "-x", str(package), str(root)], check=True, timeout=60)
        package.unlink()
    (root / ".complete").touch()


def _download(root: Path) -> str:
    """Fetch the packages; what is wrong, if something is."""
    try:
        done = subprocess.run(
            ["apt-get", "download", "-qq", *PACKAGES], cwd=root, capture_output=True, text=True, timeout=30, check=False
        )
    except subprocess.TimeoutExpired:
        return "the download took too long"
    return "" if done.returncode == 0 else done.stderr.strip()[-500:] or f"apt-get ended with {done.returncode}"


def _wait_for(url: str, process: subprocess.Popen[bytes], folder: Path) -> None:
    end = time.monotonic() + START_S
    while time.monotonic() < end:
        if process.poll() is not None:
            raise Unavailable(f"virtuoso-t ended: {(folder / 'output.txt').read_text(errors='replace')[-500:]}")
        try:
            if httpx.get(f"{url}/sparql", timeout=START_S, trust_env=False).status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.05)
    raise Unavailable(f"virtuoso-t did not answer within {START_S} s")
