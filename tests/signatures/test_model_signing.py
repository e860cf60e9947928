"""Detached signatures of OpenSSF model signing, with the library of the extra, offline."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cortex_skills.cli.app import program
from cortex_skills.errors import CortexError
from cortex_skills.signatures.model_signing import MODEL_SIGNATURE, check_model_signature

pytest.importorskip("model_signing")
Written = Callable[..., Path]


@pytest.fixture
def model_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], Path]:
    """Signs a folder as the library does by default; returns the public key. No address can be reached."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from model_signing import signing

    def refused(*_: object, **__: object) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)

    def sign(folder: Path) -> Path:
        key = ec.generate_private_key(ec.SECP256R1())
        private, public = tmp_path / "model.key", tmp_path / "model.pub"
        form = serialization.PrivateFormat.PKCS8
        private.write_bytes(key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()))
        spki = serialization.PublicFormat.SubjectPublicKeyInfo
        public.write_bytes(key.public_key().public_bytes(serialization.Encoding.PEM, spki))
        signing.Config().use_elliptic_key_signer(private_key=private).sign(folder, folder / MODEL_SIGNATURE)
        return public

    return sign


def test_a_signature_is_verified_and_a_changed_folder_is_refused(
    skill: Written, model_key: Callable[[Path], Path]
) -> None:
    folder = skill()
    assert check_model_signature(folder, None) == "none"
    key = model_key(folder)
    assert check_model_signature(folder, None) == "not_evaluated"
    (folder / "SKILL.sig").write_text("made later")
    assert check_model_signature(folder, key) == "verified"
    changes: dict[str, Callable[[], object]] = {
        "another text": lambda: (folder / "skill.ts").write_text("changed"),
        "a new file": lambda: (folder / "new.md").write_text(""),
        "no JSON": lambda: (folder / MODEL_SIGNATURE).write_text("{"),
        "nested JSON": lambda: (folder / MODEL_SIGNATURE).write_text("[" * 100_000),
        "a large file": lambda: (folder / MODEL_SIGNATURE).write_bytes(b" " * (5 << 20)),
    }
    before = {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    for name, change in changes.items():
        change()
        with pytest.raises(CortexError) as caught:
            check_model_signature(folder, key)
        assert caught.value.code == "signature_invalid", name
        (folder / "new.md").unlink(missing_ok=True)
        for path, data in before.items():
            path.write_bytes(data)
    assert check_model_signature(folder, key) == "verified"


def test_a_signature_that_leaves_a_file_out_is_refused(skill: Written, model_key: Callable[[Path], Path]) -> None:
    from model_signing import hashing, signing

    folder = skill()
    key = model_key(folder)
    (folder / MODEL_SIGNATURE).unlink()
    some = hashing.Config().set_ignored_paths(paths=["skill.ts"])
    config = signing.Config().use_elliptic_key_signer(private_key=key.with_suffix(".key"))
    config.set_hashing_config(some).sign(folder, folder / MODEL_SIGNATURE)
    with pytest.raises(CortexError, match=r"skill\.ts"):
        check_model_signature(folder, key)


def test_the_key_of_someone_else_is_refused(skill: Written, model_key: Callable[[Path], Path]) -> None:
    first, second = skill("first"), skill("second")
    model_key(first)
    with pytest.raises(CortexError) as caught:
        check_model_signature(first, model_key(second))
    assert caught.value.code == "signature_invalid"


def test_verify_shows_a_model_signature(skill: Written, model_key: Callable[[Path], Path]) -> None:
    folder = skill()
    key = model_key(folder)
    assert run("sign", folder)[0] == 0
    assert run("verify", folder)[1]["skills"][0]["modelSignature"] == "not_evaluated"
    assert run("verify", folder, "--model-key", key)[1]["skills"][0]["modelSignature"] == "verified"
    code, document = run("verify", folder, "--model-key", key.with_suffix(".key"))
    assert (code, document["skills"][0]["error"]["code"]) == (1, "signature_invalid")


def run(*words: object) -> tuple[int, Any]:
    result = CliRunner().invoke(program, [*map(str, words), "--json"])
    return result.exit_code, json.loads(result.stdout) if result.stdout else None
