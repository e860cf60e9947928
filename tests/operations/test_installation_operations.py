"""What this installation trusts and keeps: the owner's alone, and one record for each change."""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cortex_skills import Plugin
from cortex_skills.audit.journal_files import day_files
from cortex_skills.doors.cli.app import program
from cortex_skills.errors import CortexError
from cortex_skills.features.artifacts.index.seen_indexes import SeenIndexes
from cortex_skills.features.artifacts.index.snapshot_check import SeenIndex
from cortex_skills.features.artifacts.installed.installation import InstallOptions
from cortex_skills.operations.caller import Caller
from cortex_skills.operations.operation import all_operations
from cortex_skills.operations.run import run
from tests.artifacts.samples import KEY, OTHER_KEY
from tests.configs import config

SECRET = "Aa1!Bb2@Cc3#Dd4$Ee5%"
GIVEN: dict[str, dict[str, Any]] = {
    "trust.list": {},
    "trust.add": {"publisher": "acme", "key": KEY.did},
    "trust.remove": {"publisher": "acme"},
    "trust.forget": {"skill": "acme.echo"},
    "trust.revoke": {"key": KEY.did},
    "trust.rotate": {},
    "trust.share": {"key": "owner"},
    "trust.import": {"data": b"{}"},
    "secrets.list": {},
    "secrets.set": {"secret": "global/a", "value": SECRET},
    "secrets.remove": {"secret": "global/a"},
    "index.list": {},
    "index.forget": {"url": "https://example.org/"},
    "index.fetch": {"url": "https://example.org/"},
    "index.build": {"folder": Path("in"), "output": Path("out"), "key": "k", "publisher": "acme"},
    "package.build": {"folder": Path("in"), "signed_at_unix_ms": 0},
    "package.inspect": {"data": b""},
    "package.verify": {"data": b"", "options": InstallOptions()},
    "openings.list": {},
    "openings.commit": {"value": SECRET, "is_text": True},
    "openings.take": {"file": Path("opening.json")},
    "openings.forget": {"commitment": "c"},
    "tokens.list": {},
    "tokens.create": {"token": "demo"},
    "tokens.revoke": {"token": "demo"},
    "host.differences": {},
    "host.adopt": {"host": "0" * 32},
    "keys.list": {},
    "keys.create": {"key": "index"},
    "skills.sign": {"folder": Path("in")},
    "skills.permissions": {},
    "skills.grant": {"skill": "echo"},
}


OWN = {name.partition(".")[0] for name in GIVEN}


@pytest.fixture
def command(tmp_path: Path) -> Callable[..., dict[str, Any] | None]:
    """Runs a command; returns the data of the record that it left, if it left one."""
    settings = {
        "store": str(tmp_path / "store"),
        "audit": {"folder": str(tmp_path / "journal"), "journal": "on"},
        "verification": {"trustStore": str(tmp_path / "trust" / "trust.json")},
        "secrets": {"store": "file", "file": str(tmp_path / "secrets.json"), "key": str(tmp_path / "secrets.key")},
        "proofs": {
            "keys": str(tmp_path / "keys"),
            "openings": str(tmp_path / "openings"),
            "openingsKey": str(tmp_path / "openings.key"),
        },
    }
    (tmp_path / "cortex.yaml").write_text(json.dumps(settings))

    def records() -> list[dict[str, Any]]:
        files = day_files(tmp_path / "journal") if (tmp_path / "journal").exists() else []
        lines = [json.loads(line) for file in files for line in file.read_text().splitlines()]
        assert SECRET not in json.dumps(lines)
        return [line for line in lines if not line["event"].startswith("audit.")]

    def run_it(*words: str, code: int = 0, typed: str = "") -> dict[str, Any] | None:
        before = len(records())
        result = CliRunner().invoke(program, [*words, "--config", str(tmp_path / "cortex.yaml")], input=typed)
        assert result.exit_code == code, result.output
        found = records()[before:]
        assert len(found) <= 1
        return {"event": found[0]["event"], **found[0]["details"]["data"]} if found else None

    return run_it


def test_each_change_of_a_secret_leaves_a_record_without_its_value(command: Callable[..., Any]) -> None:
    record = command("secrets", "set", "global/token", typed=f"{SECRET}\n")
    assert (record["event"], record["object"], record["before"], record["after"]) == (
        "secrets.set", "global/token", None, "set",
    )  # fmt: skip
    assert command("secrets", "set", "global/token", typed="another\n")["replaced"] is True
    assert command("secrets", "list") is None
    assert command("secrets", "remove", "global/token")["after"] is None
    failed = command("secrets", "remove", "global/token", code=1)
    assert (failed["event"], failed["object"], failed["before"]) == ("secrets.remove", "global/token", None)


def test_a_commitment_is_recorded_without_its_value(command: Callable[..., Any], tmp_path: Path) -> None:
    record = command("proof", "commit", "--text", typed=SECRET)
    assert (record["event"], record["before"], record["handedOut"]) == ("openings.commit", None, False)
    assert record["after"].startswith("its opening is stored since ")
    assert command("proof", "openings") is None
    file = tmp_path / "opening.json"
    handed = command("proof", "commit", "--hand-out", str(file), typed="1")
    assert (handed["object"], handed["handedOut"]) == (json.loads(file.read_text())["commitment"], True)
    taken = command("proof", "take", str(file))
    assert (taken["event"], taken["object"], taken["before"]) == ("openings.take", handed["object"], None)
    assert command("proof", "take", str(file))["before"] == taken["after"]
    forgotten = command("proof", "forget", record["object"])
    assert (forgotten["before"], forgotten["after"]) == (record["after"], None)
    assert command("proof", "forget", record["object"], code=1)["event"] == "openings.forget"
    assert command("proof", "commit", typed="no number", code=1)["event"] == "openings.commit"


def test_what_is_built_is_recorded_with_its_file_and_hash(command: Callable[..., Any], tmp_path: Path) -> None:
    skill, file = tmp_path / "echo", tmp_path / "built" / "echo.palyra-skill"
    skill.mkdir()
    file.parent.mkdir()
    (skill / "SKILL.md").write_text("---\nname: echo\ndescription: d\n---\nb\n")
    built = ("package", "build", str(skill), "-o", str(file), "--publisher", "acme", "--version", "1.0.0")
    record = command(*built)
    assert (record["event"], record["object"], record["before"]) == ("package.build", str(file), None)
    assert record["after"] == f"sha256 {sha256(file.read_bytes()).hexdigest()}"
    assert command(*built)["before"] == record["after"]
    assert command("package", "inspect", str(file)) is None
    (skill / "SKILL.md").unlink()
    assert command(*built, code=1)["before"] == command(*built, code=1)["after"]
    created = command("key", "create", "index")
    assert (created["event"], created["object"], created["before"]) == ("keys.create", "index", None)
    assert created["after"].startswith("did:key:")
    out = tmp_path / "index"
    made = command("index", "build", str(file.parent), "-o", str(out), "--key", "index")
    assert (made["event"], made["object"], made["after"]) == ("index.build", str(out), "snapshot 1, 1 artifacts")
    refused = command("index", "build", str(file.parent), "-o", str(file.parent), "--key", "index", code=1)
    assert (refused["before"], refused["after"]) == (None, None)


def test_a_token_and_a_signature_are_recorded_without_a_secret(
    command: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    record = command("token", "create", "demo", "--permission", "write", "--person", "Ada", "--expires", "never")
    assert (record["event"], record["object"], record["before"]) == ("tokens.create", "demo", None)
    assert record["after"] == "agent of ada, write in mayros, until it is revoked"
    assert "cortex_" not in json.dumps(record)
    assert command("token", "list") is None
    revoked = command("token", "revoke", "demo")
    assert (revoked["before"], revoked["after"]) == (record["after"], None)
    assert command("token", "revoke", "demo", code=1)["event"] == "tokens.revoke"
    (tmp_path / "echo").mkdir()
    (tmp_path / "echo" / "SKILL.md").write_text("---\nname: echo\ndescription: d\n---\nb\n")
    signed = command("sign", str(tmp_path / "echo"))
    assert (signed["event"], signed["object"], signed["before"]) == (
        "skills.sign", str(tmp_path / "echo"), "not signed",
    )  # fmt: skip
    assert signed["after"].startswith("signed by local-developer at 20")
    assert command("sign", str(tmp_path / "echo"))["before"] == signed["after"]


def test_what_only_reads_opens_no_journal(tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    (tmp_path / "c.yaml").write_text(json.dumps({"store": "memory:", "audit": {"folder": str(journal)}}))
    for words, is_kept in ((("trust", "list"), False), (("secrets", "list"), False), (("trust", "remove", "x"), True)):
        CliRunner().invoke(program, [*words, "--config", str(tmp_path / "c.yaml")])
        assert (words, journal.exists()) == (words, is_kept)


def test_a_refused_change_of_what_is_trusted_is_recorded_too(command: Callable[..., Any]) -> None:
    assert command("trust", "add", "acme", KEY.did)["before"] is None
    refused = command("trust", "add", "acme", OTHER_KEY.did, code=1)
    assert refused["before"] == refused["after"] == "listed, ed25519:34750f98bd59fcfc"
    assert command("trust", "remove", "other", code=1)["object"] == "other"
    assert command("trust", "remove", "acme")["after"] is None
    assert command("trust", "list") is None


def test_publishers_of_another_store_are_imported_with_one_record_that_names_them(
    command: Callable[..., Any], tmp_path: Path
) -> None:
    file = tmp_path / "palyra.json"
    listed = {"trusted_publishers": {"acme": [KEY.public.hex()], "other": [OTHER_KEY.public.hex()]}}
    file.write_text(json.dumps(listed))
    record = command("trust", "import", str(file))
    assert (record["event"], record["object"], record["before"]) == ("trust.import", "acme other", None)
    assert record["after"].startswith("acme listed, ed25519:34750f98bd59fcfc; other listed, ed25519:")
    file.write_text("{")
    assert command("trust", "import", str(file), code=1)["event"] == "trust.import"


def test_an_index_that_is_forgotten_is_recorded_with_its_snapshot(command: Callable[..., Any], tmp_path: Path) -> None:
    seen = SeenIndexes(tmp_path / "trust" / "indexes.json")
    seen.path.parent.mkdir(mode=0o700)
    address = "https://example.org/index.json"
    seen.change(address, lambda _: SeenIndex(address, "acme", KEY.did, 7, "0" * 64, 0))
    record = command("index", "forget", "https://example.org/")
    assert (record["object"], record["after"]) == (address, None)
    assert record["before"] == "snapshot 7, signed with ed25519:34750f98bd59fcfc"
    assert command("index", "forget", "https://example.org/", code=1)["event"] == "index.forget"


def test_an_index_that_is_fetched_is_recorded_also_when_it_is_refused(command: Callable[..., Any]) -> None:
    record = command("index", "verify", "https://127.0.0.1:1/", code=1)
    assert (record["event"], record["object"], record["before"], record["after"]) == (
        "index.fetch", "https://127.0.0.1:1/", None, None,
    )  # fmt: skip


@pytest.mark.parametrize("kind", ["person", "agent", "program"])
def test_no_other_caller_reads_or_changes_them(tmp_path: Path, kind: Any) -> None:
    every = {name for name in all_operations() if name.partition(".")[0] in OWN}
    assert every == GIVEN.keys()
    settings = {"verification": {"trustStore": str(tmp_path / "trust.json")}}
    with Plugin.open(config(**settings)) as plugin:
        host = plugin.host_of(plugin.graph)
        every_other = {"read", "write", "approve", "registry", "audit"}
        for name, given in GIVEN.items():
            if name == "trust.rotate":
                continue  # its statement is made with a key
            operation = all_operations()[name]
            caller = Caller("eve", kind, "rest", frozenset(every_other - {operation.permission}))
            with pytest.raises(CortexError) as caught:
                run(operation, caller, given, host)
            assert (name, caught.value.code) == (name, "permission_denied")
    assert not (tmp_path / "trust.json").exists()
