"""`cortex-skills explore`, as a process: codes, the private socket, the file for the browser."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import stat
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from cortex_skills.config.settings import Config
from cortex_skills.doors.explorer.callers import ExplorerState
from cortex_skills.doors.explorer.code_socket import CodeSocket, path_for
from cortex_skills.doors.http.auth import AccessControl
from cortex_skills.tokens import TokenFile, new_token
from tests import fork_server
from tests.cli.conftest import Answer, run, store  # noqa: F401 - fixtures
from tests.explorer.http.browsing import CLICKED, submitted
from tests.server.serving import FAST, WAIT_S

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Unix sockets")


_BROWSER = """#!/bin/sh
f=${{1#file://}}
(echo "$1"; stat -c %a "$f"; cat "$f") > {notes}
"""


class Machine:
    """A user's machine: a data folder, a store, and a browser that notes what it is given."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = folder / "w"
        self.notes = folder / "notes"
        browser = folder / "browser.sh"
        browser.write_text(_BROWSER.format(notes=self.notes))
        browser.chmod(0o700)
        kept = {name: value for name, value in os.environ.items() if not name.startswith("CORTEX_")}
        self.variables = {**kept, "XDG_DATA_HOME": str(folder / "d"), "BROWSER": f"{browser} %s"}
        self.variables["CORTEX_STORE"] = str(self.store)
        self.sockets = folder / "d" / "cortex-skills" / "explorer"

    def run(self, *words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        """Run a command to its end."""
        done = subprocess.run(
            [fork_server.command(), *words], env=self.variables, capture_output=True, text=True, timeout=WAIT_S
        )
        assert done.returncode == code, done
        return done

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Start a command."""
        pipe = subprocess.PIPE
        return subprocess.Popen(
            [fork_server.command(), *words], env=self.variables, stdout=pipe, stderr=pipe, text=True
        )


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    machine = Machine(tmp_path_factory.mktemp("m"))
    facts = machine.folder / "facts.ttl"
    facts.write_text("@prefix : <urn:cortex:mayros:> . :nails :inStock 3 .")
    machine.run("graph", "import", str(facts))
    return machine


@pytest.fixture(scope="module")
def exploring(machine: Machine) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`explore --print`, which serves; and the address that it printed."""
    process = machine.start("explore", "--print", "--port", "0")
    try:
        assert process.stdout is not None
        yield process, process.stdout.readline().strip()
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=WAIT_S)
        assert process.returncode == 0
        assert list(machine.sockets.glob("*.sock")) == []


def opened(address: str) -> httpx.Client:
    """A browser that has opened an address with a code."""
    url, _, code = address.partition("/explore/enter#")
    browser = httpx.Client(base_url=url, timeout=WAIT_S, trust_env=False, **FAST)
    assert submitted(browser, "/explore/enter", {"code": code}).status_code == 303
    return browser


def test_the_printed_address_opens_a_session_on_the_store(exploring: tuple[object, str]) -> None:
    with closing(opened(exploring[1])) as browser:
        page = browser.get("/explore?format=html", headers=CLICKED)
        assert page.status_code in (200, 303)
        assert browser.get("/explore", headers={"Accept": "application/json"}).json()["namespaces"] == ["mayros"]


def test_a_running_server_is_asked_for_a_code(machine: Machine, exploring: tuple[object, str]) -> None:
    url = exploring[1].partition("/explore")[0]
    answer = json.loads(machine.run("explore", "--print", "--json").stdout)
    assert answer["url"] == url
    opened(answer["address"]).close()
    assert machine.run("explore", "--no-browser").stdout == f"{url}/explore\n"


def test_the_socket_is_private(machine: Machine, exploring: tuple[object, str]) -> None:
    assert exploring
    (path,) = machine.sockets.glob("*.sock")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_session_has_the_rights_of_the_named_token(machine: Machine, exploring: tuple[object, str]) -> None:
    assert exploring
    tokens = TokenFile(machine.folder / "d" / "cortex-skills" / "tokens.json")
    tokens.add(new_token("ann", ["mayros"], ["read", "audit"], None, datetime.now(UTC))[0])
    with closing(opened(machine.run("explore", "--print", "--token", "ann").stdout.strip())) as browser:
        assert "<dt>Permissions</dt><dd>audit, read</dd>" in browser.get("/explore/logout", headers=CLICKED).text
        tokens.remove("ann")
        assert browser.get("/explore/mayros", headers=CLICKED).status_code == 303
    refused = machine.run("explore", "--print", "--token", "ann", code=1)
    assert "there is no valid token of that name" in refused.stderr


def test_the_browser_gets_the_code_in_a_private_file_that_is_removed(
    machine: Machine, exploring: tuple[object, str]
) -> None:
    assert exploring
    process = machine.start("explore")
    assert process.stdout is not None
    process.stdout.readline()
    given, mode, *page = machine.notes.read_text().splitlines()
    assert (given.startswith(machine.sockets.as_uri()), mode) == (True, "600")
    address = "\n".join(page).partition(";url=")[2].partition('"')[0]
    file = Path(given.removeprefix("file://"))
    assert file.exists()
    arguments = Path(f"/proc/{process.pid}/cmdline").read_bytes() if Path("/proc").exists() else b""
    assert address.rpartition("#")[2].encode() not in arguments
    opened(address).close()
    process.communicate(timeout=WAIT_S)
    assert (process.returncode, file.exists()) == (0, False)


def test_a_misspelt_store_is_not_created(run: Callable[..., Answer], tmp_path: Path) -> None:  # noqa: F811
    refused = run("explore", "--store", tmp_path / "typo", "--print")
    assert (refused.exit_code, "there is no store in" in refused.stderr) == (2, True)
    assert not (tmp_path / "typo").exists()


def test_options_that_exclude_each_other_are_refused(run: Callable[..., Answer]) -> None:  # noqa: F811
    assert run("explore", "--print", "--no-browser").exit_code == 2


def test_a_socket_that_was_left_behind_is_replaced_and_a_live_one_is_not(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    base = tmp_path_factory.mktemp("s")

    async def check() -> None:
        folder = base / "s"
        folder.mkdir(mode=0o700)
        path = folder / "a.sock"
        with socket.socket(socket.AF_UNIX) as left_behind:
            left_behind.bind(str(path))
        explorer, access = ExplorerState("mayros"), AccessControl(Config())
        first = await CodeSocket.open(path, explorer, access, "http://one")
        assert first is not None
        assert await CodeSocket.open(path, explorer, access, "http://two") is None
        first.close()
        folder.chmod(0o755)
        assert await CodeSocket.open(path, explorer, access, "http://three") is None

    asyncio.run(check())


@pytest.mark.parametrize("line", [b"x\n", b"[]\n", b'{"token": 7}\n', b"{" * 100_000 + b"\n", b"\xff\n", b""])
def test_a_line_that_is_no_request_gets_nothing(tmp_path_factory: pytest.TempPathFactory, line: bytes) -> None:
    path = tmp_path_factory.mktemp("s") / "s" / "a.sock"  # the path of a socket has about a hundred characters

    async def check() -> None:
        explorer = ExplorerState("mayros")
        opened_socket = await CodeSocket.open(path, explorer, AccessControl(Config()), "http://one")
        assert opened_socket is not None
        reader, writer = await asyncio.open_unix_connection(path)
        writer.write(line)
        with suppress(ConnectionError):
            writer.write_eof()
            assert await reader.read() == b""
        writer.close()
        opened_socket.close()

    asyncio.run(check())


def test_a_socket_belongs_to_a_store_and_a_namespace(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", "/d")
    monkeypatch.chdir(tmp_path)
    one = path_for(Config(store="w"))
    assert one is not None
    assert one == path_for(Config(store=str(tmp_path / "w")))
    assert one != path_for(Config(store="v"))
    assert one != path_for(Config(store="w", agentNamespace="other"))
    assert path_for(Config(store="memory:")) is None
    monkeypatch.setenv("XDG_DATA_HOME", "/d" * 60)
    assert path_for(Config(store="w")) is None
