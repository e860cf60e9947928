"""The card of a skill: it matches its schema, and states what is true of a folder, a file and an installed artifact."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from jsonschema_rs import Draft202012Validator
from pydantic import TypeAdapter

from cortex_skills import Config
from cortex_skills.doors.cli.app import program
from cortex_skills.errors import CortexError
from cortex_skills.features.artifacts.cards import card_of_artifact, card_of_folder
from cortex_skills.features.artifacts.cards.card_form import Card, card_schema
from cortex_skills.features.artifacts.package import build_artifact, read_project, write_archive
from cortex_skills.manifest import load_manifest
from cortex_skills.signatures import Publisher, RevokedKey, sign_for_others
from cortex_skills.signatures.trust_file import trust_of
from tests.artifacts.samples import KEY, SIGNED_AT, payload, signed

NOW = datetime(2026, 11, 24, tzinfo=UTC)
SKILL = """---
name: kyc
type: semantic
description: Says who was checked. Use it to check a customer.
license: MIT
semantic:
  skillVersion: 1.4.0
  permissions:
    graph: [read, write]
    proofs: [request]
  assertions:
    - predicate: checked
      requireProof: true
    - predicate: noted
  queries:
    - predicate: checked
---
Check the customer.
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home/data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home/config"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "kyc"
    place.mkdir()
    (place / "SKILL.md").write_text(SKILL)
    (place / "skill.ts").write_text("export default { name: 'kyc' };\n")
    return place


def valid(card: dict[str, Any]) -> dict[str, Any]:
    assert TypeAdapter(Card).validate_python(card) == card
    Draft202012Validator(card_schema()).validate(card)
    assert json.loads(json.dumps(card)) == card
    return card


def trust(config: Config) -> None:
    trust_of(config).change(lambda state: state.with_publisher(Publisher("acme", KEY.did, "listed", "now")))


def test_the_card_of_a_folder_follows_its_signature(folder: Path) -> None:
    config = Config()
    assert valid(card_of_folder(folder, config))["signature"]["status"] == "none"
    sign_for_others(folder, load_manifest(folder), KEY, "acme", NOW)
    card = valid(card_of_folder(folder, config))
    assert (card["signature"]["status"], card["publisher"]) == ("refused", {"name": "acme", "key": KEY.did})
    trust(config)
    card = valid(card_of_folder(folder, config))
    assert (card["source"], card["kind"], card["name"], card["version"]) == ("folder", "semantic", "kyc", "1.4.0")
    assert card["signature"]["status"] == "trusted"
    assert card["permissions"] == ["graph:read", "graph:write", "proofs:request"]
    assert card["asserts"] == ["checked", "noted"]
    assert card["queries"] == ["checked"]
    assert card["proofs"] == [
        {"kind": "credential", "predicates": ["checked", "noted"]},
        {"kind": "pol", "predicates": ["checked"]},
        {"kind": "zk", "predicates": []},
    ]
    assert card["findings"] == {"critical": 0, "warnings": 0, "items": []}
    trust_of(config).change(lambda state: state.with_revoked(RevokedKey(KEY.did, "", "now")))
    assert card_of_folder(folder, config)["signature"]["status"] == "refused"
    (folder / "skill.ts").write_text("eval('1')")
    card = valid(card_of_folder(folder, config))
    assert card["findings"]["critical"] == 1
    assert card["findings"]["items"][0]["rule"] == "dynamic-code"


def test_the_card_of_an_artifact_of_a_skill(folder: Path) -> None:
    config = Config()
    built = build_artifact(read_project(folder, "acme"), KEY, SIGNED_AT)
    card = valid(card_of_artifact(built.data, config, NOW))
    assert (card["signature"]["status"], card["name"], card["kind"]) == ("refused", "acme.kyc", "semantic")
    trust(config)
    card = valid(card_of_artifact(built.data, config, NOW))
    assert card["signature"] == {"status": "trusted", "message": "allowlisted", "signed": ""}
    assert card["digests"] == {"payload": built.report.payload_sha256}
    assert (card["description"], card["license"]) == ("Says who was checked. Use it to check a customer.", "MIT")
    assert [proof["kind"] for proof in card["proofs"]] == ["credential", "pol", "zk"]
    assert any(request.startswith("graph") for request in card["requests"])


def test_the_card_of_an_artifact_of_a_module() -> None:
    card = valid(card_of_artifact(write_archive(signed(payload())), Config(), NOW))
    assert (card["kind"], card["version"], card["components"]) == ("wasm", "1.2.0", ["pkg:npm/left-pad@1.3.0"])
    assert card["tools"] == [{"name": "acme.echo", "description": "Echoes a text", "requiresApproval": False}]


def test_what_is_not_an_artifact_has_no_card() -> None:
    entries = signed(payload())
    with pytest.raises(CortexError) as caught:
        card_of_artifact(write_archive({**entries, "assets/more": b""}), Config(), NOW)
    assert caught.value.code == "signature_invalid"


def test_the_command_writes_the_card_of_what_it_is_given(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "a.palyra-skill"
    file.write_bytes(build_artifact(read_project(folder, "acme"), KEY, SIGNED_AT).data)
    trust(Config())
    store = ("--store", tmp_path / "graph")
    assert run("install", file, "--grant-all", *store)[0] == 0
    for subject, source in ((folder, "folder"), (file, "artifact"), ("acme.kyc", "installed")):
        code, card = run("card", subject, *store)
        assert (code, valid(card)["source"]) == (0, source)
    assert card["installed"]["status"] == "active"
    assert run("card", "acme.other", *store)[0] == 1


def run(*words: object) -> tuple[int, Any]:
    result = CliRunner().invoke(program, [*map(str, words), "--json"])
    return result.exit_code, json.loads(result.stdout) if result.stdout else None


def test_the_form_is_written_as_a_json_schema_and_takes_no_other_members(folder: Path) -> None:
    result = CliRunner().invoke(program, ["card", "--schema"])
    assert (result.exit_code, json.loads(result.stdout)) == (0, card_schema())
    card = card_of_folder(folder, Config())
    for wrong in ({**card, "more": 1}, {**card, "format": "other"}, {**card, "digests": {}}, {**card, "tools": [{}]}):
        assert not Draft202012Validator(card_schema()).is_valid(wrong)
