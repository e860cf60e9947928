"""Processes of two hosts on one server install and open at once, and some are killed: everything is whole, and once."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from random import Random
from typing import Any
from uuid import uuid4

import pytest

from cortex_graph import GraphStore, open_store
from cortex_skills.features.artifacts.installed import InstalledArtifacts
from cortex_skills.features.artifacts.installed.artifact_bytes import PIECE
from cortex_skills.features.artifacts.installed.installed_audit import check_files
from tests.installed.samples import MODULE, artifact, install, place
from tests.installed.test_processes_that_install import ROOT, go, line, written
from tests.services.oxigraph import oxigraph
from tests.services.virtuoso import Unavailable, virtuoso

ID = "acme.echo_http"
NOISE = Random(1).randbytes(2 * PIECE)


def extended(*steps: str) -> list[Any]:
    """Steps that `make test` leaves out: each starts a process."""
    return [pytest.param(step, marks=pytest.mark.extended) for step in steps]


class Fleet:
    """Two hosts, `a` and `b`, on one server."""

    def __init__(self, store: Any, folder: Path) -> None:
        self.store, self.folder, self.namespace = store, folder, f"n{uuid4().hex}"
        self.all: list[subprocess.Popen[str]] = []
        self.stores: list[GraphStore] = []

    def start(self, host: str, step: str, *given: object) -> subprocess.Popen[str]:
        """Start a process of a host."""
        words = [json.dumps(self.store), self.folder / host / "artifacts", self.namespace, step, *given]
        command = [sys.executable, "-m", "tests.installed.fleet_host", *map(str, words)]
        process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.all.append(process)
        return process

    def killed_after(self, host: str, step: str, *given: object) -> None:
        """Start a process of a host, and kill it after a step."""
        process = self.start(host, step, *given)
        go(process)
        assert [line(process), line(process)] == ["ready", step]
        process.kill()
        process.wait()

    def host(self, name: str) -> InstalledArtifacts:
        """A host, in this process."""
        self.stores.append(open_store(self.store))
        return place(self.folder / name / "artifacts", self.stores[-1], self.namespace)

    def close(self) -> None:
        """End everything."""
        for process in self.all:
            process.kill()
            process.communicate()
        for store in self.stores:
            store.close()


@pytest.fixture(scope="module", params=["oxigraph", pytest.param("virtuoso", marks=pytest.mark.extended)])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The store of a server, as in a configuration."""
    with ExitStack() as stack:
        if request.param == "oxigraph":
            yield stack.enter_context(oxigraph()).url
            return
        try:
            url = stack.enter_context(virtuoso(tmp_path_factory.mktemp("virtuoso"))).url
        except Unavailable as error:
            pytest.skip(f"no Virtuoso: {error}")
        stack.enter_context(pytest.MonkeyPatch.context()).setenv("VIRTUOSO_PASSWORD", "dba")
        auth = {"type": "digest", "user": "dba", "password": "${VIRTUOSO_PASSWORD}"}
        yield {"query": f"{url}/sparql-auth", "update": f"{url}/sparql-auth", "auth": auth}


@pytest.fixture
def fleet(server: Any, tmp_path: Path) -> Iterator[Fleet]:
    found = Fleet(server, tmp_path)
    yield found
    found.close()


@pytest.fixture
def long(tmp_path: Path) -> Path:
    """An artifact of several pieces."""
    path = tmp_path / "long.palyra-skill"
    path.write_bytes(artifact(content={"modules/echo.wasm": MODULE, "assets/noise.bin": NOISE}))
    return path


@pytest.mark.extended
@pytest.mark.slow
def test_four_processes_of_two_hosts_install_everything_once(fleet: Fleet, tmp_path: Path) -> None:
    same = written(tmp_path, "2.0.0")
    own = [written(tmp_path, f"1.{number}.0") for number in range(4)]
    processes = [fleet.start("ab"[number % 2], "", same, own[number]) for number in range(4)]
    assert [line(process) for process in processes] == ["ready"] * 4
    for process in processes:
        go(process)
    assert [[line(process), line(process)] for process in processes] == [["active"] * 2] * 4
    first, second = fleet.host("a"), fleet.host("b")
    assert sorted(each.key.version for each in first.list()) == ["1.0.0", "1.1.0", "1.2.0", "1.3.0", "2.0.0"]
    assert sum(each.current for each in first.list()) == 1
    assert [each["what"] for each in first.index.history(ID, 100)] == ["installed"] * 8  # the same four times
    for host in (first, second):
        assert {host.open(ID, each.key.version).installed.status for each in host.list()} == {"active"}
        assert check_files(host) == []


@pytest.mark.parametrize("step", ["piece", *extended("size", "stage", "rename", "index")])
def test_a_host_that_is_killed_while_it_installs_leaves_all_or_nothing_to_the_other(
    fleet: Fleet, long: Path, step: str
) -> None:
    fleet.killed_after("a", step, long)
    second = fleet.host("b")
    assert [each.status for each in second.list()] == (["active"] if step == "index" else [])
    first = fleet.host("a")
    assert install(first, long.read_bytes()).current
    assert second.open(ID).entries["assets/noise.bin"] == NOISE
    assert check_files(first) == check_files(second) == []


@pytest.mark.parametrize("step", ["stage", *extended("get", "verified", "rename")])
def test_a_host_that_is_killed_while_it_gets_an_artifact_gets_it_the_next_time(
    fleet: Fleet, long: Path, step: str
) -> None:
    first = fleet.host("a")
    install(first, long.read_bytes())
    fleet.killed_after("b", step, ID)
    second = fleet.host("b")
    assert second.open(ID).entries == first.open(ID).entries
    assert check_files(second) == []
    assert [path.name for path in second.files.folder.glob(".staging-*")] == []
