"""`install`, `installed …`, `audit-artifact`, `quarantine` and `enable` on the command line."""

from __future__ import annotations

import json
import os
from contextlib import closing
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cortex_graph import open_store
from cortex_graph.naming.names import Names
from cortex_skills.doors.cli.app import program
from cortex_skills.features.artifacts.installed.installed_artifact import ArtifactVersions
from cortex_skills.features.artifacts.installed.installed_index import InstalledIndex
from cortex_skills.signatures import TrustFile
from tests.artifacts.samples import OTHER_KEY
from tests.installed.samples import NETWORK, artifact

ID = "acme.echo_http"
HOSTS = ["http=api.example.org", "http=cdn.example.org"]
REST = ["graph=read", "graph=write", "predicate=hasStatus", "secret=global/api_token"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "echo.palyra-skill"
    path.write_bytes(artifact(more=NETWORK))
    return path


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CORTEX_STORE", str(tmp_path / "store"))
    return tmp_path / "store"


def run(*words: object) -> tuple[int, Any, str]:
    """The exit code, the document on standard output, and the last document on standard error."""
    result = CliRunner().invoke(program, [*map(str, words), "--json"])
    error = json.loads(result.stderr.strip().split("\n")[-1]) if result.stderr.strip() else None
    return result.exit_code, json.loads(result.stdout) if result.stdout else None, error


def code(*words: object) -> str:
    status, _, error = run(*words)
    assert status != 0
    return str(error["code"])


def versions(*words: str) -> list[tuple[str, str, str]]:
    found = run("installed", "list", *words)[1]["artifacts"]
    return [(each["skillId"], each["version"], each["status"]) for each in found]


def test_without_an_answer_nothing_is_installed_and_the_options_are_named(file: Path) -> None:
    status, document, error = run("install", file, "--grant", HOSTS[0])
    assert (status, document, error["code"]) == (1, None, "grants_required")
    assert error["details"]["requested"] == sorted([HOSTS[1], *REST])
    assert "--grant KIND=VALUE" in error["hint"]
    assert versions() == []


def test_what_is_denied_is_shown_and_not_given(file: Path) -> None:
    status, document, _ = run("install", file, "--grant", "http=*.example.org", "--deny-all")
    assert status == 0
    assert document["grants"] == HOSTS
    assert [(each["difference"], f"{each['kind']}={each['value']}") for each in document["differences"]] == [
        *(("missing_grant", each) for each in REST),
        *(("unused", each) for each in sorted([*REST, *HOSTS])),
    ]
    info = run("installed", "info", ID)[1]
    assert info["requests"] == sorted([*HOSTS, *REST])
    assert info["tools"] == [{"id": "acme.echo", "description": "Echoes a text"}]


def test_a_denial_of_a_part_of_a_request_denies_the_whole(tmp_path: Path) -> None:
    path = tmp_path / "wide.palyra-skill"
    more = '[capabilities]\nhttp_egress_allowlist = ["*"]\nwildcard_opt_in = { http_egress = true }\n'
    path.write_bytes(artifact(more=more))
    status, document, _ = run("install", path, "--grant-all", "--deny", "http=evil.example")
    assert (status, document["status"], document["grants"]) == (1, "quarantined", [])
    assert ("wildcard_risk", "*") in [(each["difference"], each["value"]) for each in document["differences"]]


@pytest.mark.parametrize("given", ["http", "http=", "htp=a", "graph=all", "secret=token", "http=a\x1b[0m"])
def test_a_malformed_grant_is_refused(file: Path, given: str) -> None:
    assert code("install", file, "--grant", given) == "invalid_arguments"


def test_an_update_asks_only_for_what_is_new(file: Path, tmp_path: Path) -> None:
    run("install", file, "--grant", HOSTS[0], "--deny-all")
    newer = tmp_path / "newer.palyra-skill"
    newer.write_bytes(artifact("1.3.0", NETWORK.replace('"cdn.example.org"]', '"cdn.example.org", "new.example.org"]')))
    status, _, error = run("installed", "update", ID, newer)
    assert (status, error["details"]["requested"]) == (1, ["http=new.example.org"])
    document = run("installed", "update", ID, newer, "--deny", "http=new.example.org")[1]
    assert document["grants"] == [HOSTS[0]]
    assert versions("--current-only") == [(ID, "1.3.0", "active")]
    assert code("installed", "update", "acme.other", newer) == "artifact_not_found"
    run("install", tmp_path / "newer.palyra-skill", "--grant-all")
    assert code("installed", "update", ID, _write(tmp_path, artifact(name="other"))) == "artifact_invalid"


def _write(folder: Path, data: bytes) -> Path:
    path = folder / "other.palyra-skill"
    path.write_bytes(data)
    return path


def test_a_terminal_is_asked_for_each_request(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("click.testing._NamedTextIOWrapper.isatty", lambda self: self.name == "<stdin>", raising=False)
    result = CliRunner().invoke(program, ["install", str(file), "--grant", HOSTS[0]], input="y\n" + "n\n" * 4)
    assert result.exit_code == 0, result.output
    assert result.stderr.count("grant ") == 5
    assert run("installed", "info", ID)[1]["grants"] == ["graph=read", HOSTS[0]]


def test_quarantine_and_enable(file: Path) -> None:
    run("install", file, "--deny-all")
    assert run("quarantine", ID, "--version", "1.2.0", "--reason", "odd")[1]["status"] == "quarantined"
    assert versions("--quarantined-only") == [(ID, "1.2.0", "quarantined")]
    assert versions("--eligible-only") == versions("--publisher", "other") == []
    assert code("enable", ID, "--version", "1.2.0") == "state_conflict"
    assert code("enable", ID, "--version", "1.2.0", "--override") == "state_conflict"
    assert run("enable", ID, "--version", "1.2.0", "--override", "--reason", "fine")[1]["status"] == "active"
    assert run("installed", "disable", ID, "--version", "1.2.0")[1]["status"] == "disabled"
    assert run("quarantine", ID, "--version", "1.2.0")[0] == 2
    assert [each["version"] for each in run("installed", "remove", ID)[1]["removed"]] == ["1.2.0"]
    assert code("installed", "info", ID) == "artifact_not_found"


def test_the_list_has_the_status_that_holds_on_this_host(file: Path, store: Path) -> None:
    run("install", file, "--deny-all")
    found = "vulnerability_feed:CVE-2026-1@pkg:cargo/x"

    def stopped(before: ArtifactVersions) -> ArtifactVersions:
        return replace(before, versions=tuple(replace(each, findings=(f"host/1/{found}",)) for each in before.versions))

    with closing(open_store(str(store))) as opened:
        InstalledIndex(opened, Names("mayros")).change(ID, stopped, {"what": "audited"})
    assert versions() == versions("--eligible-only") == []
    assert versions("--all") == versions("--quarantined-only") == [(ID, "1.2.0", "quarantined")]
    info = run("installed", "info", ID)[1]
    assert (info["status"], info["reason"]) == ("quarantined", f"on this host: the security audit found {found}")
    assert run("enable", ID, "--version", "1.2.0", "--override", "--reason", "fine")[1]["status"] == "active"
    assert versions("--eligible-only") == [(ID, "1.2.0", "active")]


def test_files_and_installed_artifacts_are_audited(file: Path, store: Path) -> None:
    status, document, _ = run("audit-artifact", file)
    assert (status, document["passed"], document["skillId"], document["status"]) == (0, True, ID, None)
    run("install", file, "--deny-all")
    assert run("audit-artifact", ID)[1]["status"] == "active"
    (place,) = (store.with_name("store.artifacts") / "mayros" / ID).iterdir()
    (place / "artifact.palyra-skill").chmod(0o666)
    status, document, _ = run("installed", "check")
    assert (status, document["checked"], len(document["problems"])) == (1, 1, 1)
    status, document, _ = run("audit-artifact", ID)
    assert (status, document["status"]) == (1, "quarantined")
    assert run("installed", "info", ID)[1]["problems"][0].startswith("filesystem_safety: ")


def test_an_unknown_publisher_needs_an_option(tmp_path: Path, trust: TrustFile) -> None:
    trust.change(lambda known: known.without_publisher("acme"))
    path = _write(tmp_path, artifact(key=OTHER_KEY))
    assert code("install", path) == "signature_invalid"
    assert run("audit-artifact", path)[0] == 1
    key = OTHER_KEY.public.hex()
    digest = sha256(path.read_bytes()).hexdigest()
    document = run("install", path, "--trusted-publisher", f"acme={key}", "--sha256", digest)[1]
    assert document["trust"] == "allowlisted"
    assert trust.trust().publishers["acme"].key == OTHER_KEY.did


def test_a_file_that_is_no_artifact_is_an_error(tmp_path: Path, store: Path) -> None:
    for words in (("audit-artifact", ID), ("installed", "remove", ID)):
        assert code(*words) in ("invalid_arguments", "graph_unavailable")
    pipe = tmp_path / "pipe.palyra-skill"
    os.mkfifo(pipe)
    for words in (("audit-artifact", "missing.palyra-skill"), ("audit-artifact", pipe), ("install", pipe)):
        assert code(*words) == "artifact_invalid"
    assert not store.exists()
    assert code("install", _write(tmp_path, b"PK")) == "artifact_invalid"
    assert run("install", tmp_path / "missing")[0] == 2


def test_what_is_installed_is_text_for_a_person(file: Path) -> None:
    lines = CliRunner().invoke(program, ["install", str(file), "--deny-all"]).stdout.splitlines()
    assert f"{ID} 1.2.0 is installed; its status is active" in lines
    assert "missing_grant\thttp=api.example.org" in lines
    listed = CliRunner().invoke(program, ["installed", "list"]).stdout.splitlines()
    assert listed[1] == f"{ID}\t1.2.0\tcurrent\tactive\tacme"
    shown = CliRunner().invoke(program, ["installed", "info", ID]).stdout.splitlines()
    scopes = "  manifest_http_egress_scopes passed 'api.example.org', 'cdn.example.org'"
    assert {"grants: none", "current: true", scopes} <= {*shown}
    assert not [line for line in shown if "[]" in line or "None" in line]
    assert "0 versions" not in CliRunner().invoke(program, ["installed", "check"]).stdout


def test_what_the_host_gives_by_a_contract_is_shown_before_it_is_installed(tmp_path: Path) -> None:
    path = tmp_path / "memory.palyra-skill"
    path.write_bytes(artifact(more='\n[operator.plugin]\ncontracts = [{ kind = "memory_provider", version = 1 }]\n'))
    result = CliRunner().invoke(program, ["install", str(path), "--grant-all"])
    assert result.exit_code == 0, result.output
    assert "contract:memory_provider" in result.output
    checks = {each["id"]: each["status"] for each in run("audit-artifact", ID)[1]["checks"]}
    assert checks["contract:memory_provider"] == "warned"
