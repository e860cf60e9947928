"""Two homes with a server each on one SPARQL server: the periodic audit of one harms nothing of the other."""

from __future__ import annotations

import json
import os
import subprocess
import time
from contextlib import closing
from pathlib import Path

import pytest

from cortex_graph import open_store
from cortex_graph.naming.names import Names
from cortex_graph.store import Pattern
from cortex_skills.features.artifacts.installed.installed_index import AUDIT_ENDED, InstalledIndex
from tests import fork_server
from tests.artifacts.samples import KEY
from tests.installed.samples import artifact
from tests.services.oxigraph import oxigraph

WAIT_S = 120.0


def environment(home: Path, store: str) -> dict[str, str]:
    """The variables of a host."""
    mine = {"XDG_DATA_HOME": home / "data", "XDG_CONFIG_HOME": home / "config", "CORTEX_STORE": store}
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CORTEX_")}
    return kept | {name: str(value) for name, value in mine.items()}


def run(variables: dict[str, str], *words: str) -> str:
    """What a command of a host prints."""
    done = subprocess.run([fork_server.command(), *words], env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.extended
@pytest.mark.slow
def test_the_audit_of_a_second_host_quarantines_nothing_and_the_artifact_runs_there_once_it_is_trusted(
    tmp_path: Path,
) -> None:
    file = tmp_path / "echo.palyra-skill"
    file.write_bytes(artifact())
    with oxigraph() as server, closing(open_store(server.url)) as store:
        first, second = (environment(tmp_path / name, server.url) for name in "ab")
        run(first, "trust", "add", "acme", KEY.did)
        run(first, "install", str(file), "--grant-all")
        errors = tmp_path / "errors.txt"
        with errors.open("w") as output:
            serving = subprocess.Popen([fork_server.command(), "serve", "--port", "0"], env=second, stderr=output)
        names, index = Names("mayros"), InstalledIndex(store, Names("mayros"))
        ended = Pattern(names.artifacts_graph, None, AUDIT_ENDED)
        until = time.monotonic() + WAIT_S
        try:
            while not store.count(ended, 1):
                assert time.monotonic() < until, errors.read_text()
                time.sleep(0.2)
        finally:
            serving.terminate()
            serving.wait()
        assert "acme.echo_http 1.2.0 was not audited" in errors.read_text()
        assert [each.status for each in index.versions("acme.echo_http").versions] == ["active"]
        assert json.loads(run(first, "audit-artifact", "acme.echo_http", "--json"))["passed"] is True
        run(second, "trust", "add", "acme", KEY.did)
        assert json.loads(run(second, "audit-artifact", "acme.echo_http", "--json"))["passed"] is True
        assert list((tmp_path / "b" / "data").rglob("artifact.palyra-skill"))
