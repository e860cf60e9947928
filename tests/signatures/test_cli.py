"""`sign`, `verify` and `trust` on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cortex_skills.doors.cli.app import program
from cortex_skills.keys import KeyFolder, default_folder
from tests.signatures.conftest import ACME, OTHER

Written = Callable[..., Path]


def run(*words: object) -> tuple[int, Any, str]:
    """The exit code, the document on standard output, and what was written on standard error."""
    result = CliRunner().invoke(program, [*map(str, words), "--json"])
    return result.exit_code, json.loads(result.stdout) if result.stdout else None, result.stderr


@pytest.fixture(autouse=True)
def required(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CORTEX_VERIFICATION__REQUIRE_SIGNATURE", "true")


def test_a_locally_signed_skill_loads_on_this_machine_until_it_changes(skill: Written, tmp_path: Path) -> None:
    folder = skill()
    ask = ("query", "--store", "memory:", "--skills", folder, "--scope", "namespace")
    assert run(*ask)[0] == 1
    code, document, _ = run("sign", folder)
    assert (code, document["signed"][0]["publisher"]) == (0, "local-developer")
    assert not (folder / "SKILL.sig").exists()
    assert run(*ask)[0] == 0
    (folder / "new.md").write_text("x")
    code, _, error = run(*ask)
    assert code == 1
    assert "is not among the signed files" in error


def test_a_local_signature_is_not_valid_elsewhere(
    skill: Written, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = skill()
    run("sign", folder)
    moved = tmp_path / "elsewhere" / "probe"
    moved.parent.mkdir()
    folder.rename(moved)
    assert "signature_required" in run("verify", moved)[2]
    moved.rename(folder)
    assert run("verify", folder)[0] == 0
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "another user"))
    assert "signature_required" in run("verify", folder)[2]


def test_a_publisher_signs_and_another_user_trusts(
    skill: Written, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = skill()
    key = KeyFolder(default_folder()).create("mine")
    assert run("sign", folder, "--key", "mine", "--publisher", "example.org")[0] == 0
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "user/data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user/config"))
    assert "whom you do not trust" in run("verify", folder)[1]["skills"][0]["error"]["message"]
    assert run("trust", "add", "example.org", key.did)[0] == 0
    code, document, _ = run("verify", folder)
    assert (code, document["skills"][0]["publisher"]) == (0, "example.org")
    assert run("trust", "list")[1]["seen"] == []
    assert run("query", "--store", "memory:", "--skills", folder, "--scope", "namespace")[0] == 0
    listed = run("trust", "list")[1]
    assert [p["name"] for p in listed["publishers"]] == ["example.org"]
    assert [s["skill"] for s in listed["seen"]] == ["probe"]
    assert run("trust", "forget", "probe")[0] == 0
    assert run("trust", "remove", "example.org")[0] == 0
    assert run("verify", folder)[0] == 1


def test_another_key_is_not_added_over_a_known_one() -> None:
    keys = KeyFolder(default_folder())
    first, second = keys.create("first"), keys.create("second")
    run("trust", "add", "example.org", first.did)
    code, _, error = run("trust", "add", "example.org", second.did)
    assert code == 1
    assert "signs with another key" in error


@pytest.mark.parametrize(
    "words",
    [
        ("trust", "add", "local-developer", "did:key:z6MktwupdmLXVVqTzCw4i46r4uGyosGXRnR3XjN4Zq7oMMsw"),
        ("trust", "add", "Acme", "did:key:z6MktwupdmLXVVqTzCw4i46r4uGyosGXRnR3XjN4Zq7oMMsw"),
        ("trust", "add", "acme", "did:web:example.org"),
        ("trust", "remove", "nobody"),
        ("trust", "forget", "nothing"),
    ],
)
def test_an_invalid_argument_is_refused(words: tuple[str, ...]) -> None:
    code, _, error = run(*words)
    assert code == 1
    assert "invalid_arguments" in error


def test_a_key_without_a_publisher_is_a_wrong_usage(skill: Written) -> None:
    assert run("sign", skill(), "--key", "mine")[0] == 2


def test_the_name_of_the_local_developer_is_reserved(skill: Written) -> None:
    folder = skill()
    KeyFolder(default_folder()).create("mine")
    assert run("sign", folder, "--key", "mine", "--publisher", "local-developer")[0] == 1
    assert not (folder / "SKILL.sig").exists()


def test_every_skill_of_a_folder_is_verified(skill: Written) -> None:
    good, bad = skill("good"), skill("bad")
    run("sign", good)
    code, document, _ = run("verify", good.parent)
    assert code == 1
    assert {each["name"]: each["verified"] for each in document["skills"]} == {"bad": False, "good": True}
    assert bad.exists()


def test_the_owner_shares_what_is_trusted_with_a_host_of_another_home(
    signed: Written, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = run("key", "create", "owner")[1]["did"]
    monkeypatch.setenv("CORTEX_VERIFICATION__OWNER", owner)
    store, folder = ("--store", tmp_path / "store"), signed()
    assert run("trust", "add", "acme", ACME.did)[0] == 0
    code, document, _ = run("trust", "share", "--key", "owner", *store)
    assert (code, document) == (0, {"number": 1, "publishers": ["acme"], "revoked": []})
    run("trust", "revoke", OTHER.did)
    assert run("trust", "share", "--key", "owner", *store)[1]["revoked"] == [OTHER.did]
    for name in ("DATA", "CONFIG"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / "other" / name))
    assert run("query", *store, "--skills", folder, "--scope", "namespace")[0] == 0
    listed = run("trust", "list")[1]
    assert [each["name"] for each in listed["publishers"]] == ["acme"]
    assert [each["key"] for each in listed["revoked"]] == [OTHER.did]
    run("key", "create", "another")
    code, _, error = run("trust", "share", "--key", "another", *store)
    assert (code, "is not that of the owner" in error) == (1, True)
