"""The commands and the Python of docs/server.md work, in their order."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests import fork_server
from tests.ports import quiet_port

# As on the page, but also waits until the store has answered within its two seconds.
HEALTHY = """healthy() { said=$(curl "$@") && echo "$said" && [[ $said == *'"status":"healthy"'* ]]; }"""
PAGE = (Path(__file__).parents[2] / "docs" / "server.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.timeout(300)
@pytest.mark.skipif(shutil.which("curl") is None, reason="the page uses curl")
def test_every_command_of_the_page_works(tmp_path):
    port = quiet_port()
    lines = "\n".join(blocks("sh")).replace("19090", str(port)).replace("serve --store", f"serve --port {port} --store")
    lines = f"{HEALTHY}\n{lines.replace('until curl', 'until healthy')}"
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CORTEX_")}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", f"set -m; {lines}"],
        cwd=tmp_path,
        env=kept
        | {
            "PATH": fork_server.search_path(),
            "CORTEX_CORTEX__TOKEN_FILE": str(tmp_path / "tokens.json"),
        },
        capture_output=True,
        text=True,
        timeout=250,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for part in (
        '"status":"healthy"',
        '"subject":"mayros:hammer","predicate":"mayros:inStock","object":3,"created":true',
        '"duplicates":0',
        '"agent":"demo"',
        '"subjects":["mayros:hammer","mayros:nails"]',
        '"triple_count":3',
        "urn:cortex:mayros:hammer,3",
        '{"inserted":1,"removed":1}',
        '{"head":{},"boolean":true}',
        '"valid":true,"verdict":"well-formed"',
        '"subject":"nails","predicate":"kept","verified":false,"verdict":"not checked","found":true',
        '"total_proofs":0',
        "demo is revoked",
    ):
        assert part in done.stdout


def test_the_python_of_the_page_runs(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"token": "of a server"}
    for code in blocks("python"):
        exec(compile(code, "server.md", "exec"), names)
    assert type(names["app"]).__name__ == "Starlette"
