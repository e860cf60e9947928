"""`key create`, `key list` and `key export` on the command line."""

from __future__ import annotations

import json
import subprocess
from base64 import b64decode, b64encode, urlsafe_b64decode
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cortex_skills.config.settings import Config
from cortex_skills.doors.cli.app import program
from cortex_skills.errors import CortexError
from cortex_skills.keys import public_of, verify
from cortex_skills.keys.folder import key_folder, signing_key
from cortex_skills.keys.multibase import encode


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "keys"
    monkeypatch.setenv("CORTEX_PROOFS__KEYS", str(folder))
    return folder


def run(*words: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(program, list(words))
    return result.exit_code, result.stdout, result.stderr


def made(name: str = "alice") -> dict[str, Any]:
    code, out, _ = run("key", "create", name, "--json")
    assert code == 0
    document: dict[str, Any] = json.loads(out)
    return document


def test_a_key_is_created_listed_and_exported(folder: Path) -> None:
    did = made()["did"]
    assert json.loads(run("key", "list", "--json")[1]) == [{"name": "alice", "did": did, "problem": "", "hint": ""}]
    assert run("key", "export", "alice")[:2] == (0, f"{did}\n")
    assert run("key", "export", "alice", "--as", "multikey")[1].strip() == did.removeprefix("did:key:")
    assert (folder / "alice.seed").stat().st_size == 32


def test_the_jwk_and_the_pem_are_of_the_same_key() -> None:
    public = public_of(made()["did"])
    jwk = json.loads(run("key", "export", "alice", "--as", "jwk")[1])
    assert (jwk["kty"], jwk["crv"]) == ("OKP", "Ed25519")
    assert urlsafe_b64decode(jwk["x"] + "=") == public
    pem = run("key", "export", "alice", "--as", "pem")[1]
    first, der, last = pem.split("\n")[:3]
    assert (first, last) == ("-----BEGIN PUBLIC KEY-----", "-----END PUBLIC KEY-----")
    assert b64decode(der)[-32:] == public


def test_openssl_verifies_by_the_exported_pem(folder: Path, tmp_path: Path) -> None:
    key = key_folder(Config.load()).create("alice")
    (tmp_path / "key.pem").write_text(run("key", "export", "alice", "--as", "pem")[1])
    (tmp_path / "message").write_bytes(b"hello")
    (tmp_path / "signature").write_bytes(key.sign(b"hello"))
    words = [
        "openssl",
        "pkeyutl",
        "-verify",
        "-pubin",
        "-inkey",
        "key.pem",
        "-rawin",
        "-in",
        "message",
        "-sigfile",
        "signature",
    ]
    try:
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no openssl")
    assert "Verified Successfully" in done.stdout, done.stderr


def test_no_command_writes_the_secret(folder: Path) -> None:
    outputs = list(run("key", "create", "alice")[1:])
    for words in (["list"], ["list", "--json"], *(["export", "alice", "--as", form] for form in ("did", "jwk", "pem"))):
        outputs += run("key", *words)[1:]
    outputs += run("key", "export", "alice", "--json", "--verbose")[1:]
    seed = (folder / "alice.seed").read_bytes()
    for shown in (seed.hex(), b64encode(seed).decode().rstrip("="), encode(seed)[1:], repr(seed)[2:-1]):
        assert not any(shown in output for output in outputs)


def test_an_existing_key_is_not_created_again(folder: Path) -> None:
    did = made()["did"]
    code, out, error = run("key", "create", "alice")
    assert (code, out) == (1, "")
    assert "a key named alice exists" in error
    assert run("key", "export", "alice")[1].strip() == did


@pytest.mark.parametrize("name", ["../alice", "Alice", ".x"])
def test_an_invalid_name_is_refused_and_creates_nothing(folder: Path, name: str) -> None:
    for command in ("create", "export"):
        assert "malformed" in run("key", command, name)[2]
    assert not folder.exists()


def test_a_key_that_others_can_read_is_listed_with_its_problem_and_not_exported(folder: Path) -> None:
    made()
    (folder / "alice.seed").chmod(0o644)
    assert "cannot be used" in run("key", "list")[1]
    code, out, error = run("key", "export", "alice")
    assert (code, out) == (2, "")
    assert "read or written by others" in error


def test_the_signing_key_is_created_at_the_first_use_and_reused(folder: Path) -> None:
    key = signing_key(Config.load())
    assert signing_key(Config.load()).did == key.did
    assert [info.name for info in key_folder(Config.load()).list()] == ["local"]
    other = signing_key(Config.load(overrides={"proofs": {"key": "office"}}))
    assert other.did != key.did
    assert verify(other.public, b"x", other.sign(b"x"))


def test_a_signing_key_that_is_damaged_is_never_replaced(folder: Path) -> None:
    signing_key(Config.load())
    (folder / "local.seed").write_bytes(b"short")
    with pytest.raises(CortexError, match="is damaged"):
        signing_key(Config.load())
    assert (folder / "local.seed").read_bytes() == b"short"
