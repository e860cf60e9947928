"""`package inspect` shows which contracts this host accepts, and why not the others."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from cortex_skills.doors.cli.app import program
from cortex_skills.features.artifacts.package import write_archive
from tests.artifacts.samples import MANIFEST, payload, signed

CONTRACTS = """
[operator.plugin]
contracts = [{ kind = "run_lifecycle_hook", version = 1 }, { kind = "context_engine", version = 1 }]
"""


def test_the_contracts_of_an_artifact_are_shown_with_their_reasons(tmp_path: Path) -> None:
    file = tmp_path / "it.palyra-skill"
    manifest = MANIFEST.replace('acme.echo"', 'acme.echo_http.plan_context"') + CONTRACTS
    file.write_bytes(write_archive(signed(payload(manifest))))
    done = CliRunner().invoke(program, ["package", "inspect", str(file), "--json"])
    shown = json.loads(done.stdout)["contracts"]
    assert (shown["mode"], shown["ready"]) == ("typed", False)
    assert [(each["kind"], each["status"]) for each in shown["contracts"]] == [
        ("run_lifecycle_hook", "rejected"),
        ("context_engine", "not_invoked_here"),
    ]
    text = CliRunner().invoke(program, ["package", "inspect", str(file)]).stdout
    assert "contract run_lifecycle_hook 1: the artifact has no tool acme.echo_http.decide_run_lifecycle" in text
    assert "contract context_engine 1: not_invoked_here" in text
