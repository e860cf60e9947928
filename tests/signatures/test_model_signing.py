"""Detached signatures of OpenSSF model signing, with the library of the extra, offline."""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cortex_graph import open_store
from cortex_skills import Config, Plugin
from cortex_skills.doors.cli.app import program
from cortex_skills.errors import CortexError
from cortex_skills.features.artifacts.cards.skill_card import card_of_folder
from cortex_skills.features.artifacts.installed.installed_audit import audit_installed
from cortex_skills.features.artifacts.installed.security_audit import SecurityAudit
from cortex_skills.manifest import load_manifest
from cortex_skills.signatures import Publisher, TrustFile, sign_for_others
from cortex_skills.signatures.model_signing import MODEL_SIGNATURE, check_model_signature
from cortex_skills.signatures.trust import Trust
from tests.artifacts.samples import KEY
from tests.installed.samples import artifact, install, place
from tests.signatures.conftest import ACME, NOW

Written = Callable[..., Path]


@pytest.fixture(autouse=True)
def library() -> None:
    """Imported when a test runs: collecting the tests would import it in each worker."""
    pytest.importorskip("model_signing")


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
    assert check_model_signature(folder, ()) == "none"
    key = model_key(folder)
    assert check_model_signature(folder, ()) == "not_evaluated"
    (folder / "SKILL.sig").write_text("made later")
    assert check_model_signature(folder, [key]) == "verified"
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
            check_model_signature(folder, [key])
        assert caught.value.code == "signature_invalid", name
        (folder / "new.md").unlink(missing_ok=True)
        for path, data in before.items():
            path.write_bytes(data)
    assert check_model_signature(folder, [key]) == "verified"


def test_a_signature_that_leaves_a_file_out_is_refused(skill: Written, model_key: Callable[[Path], Path]) -> None:
    from model_signing import hashing, signing

    folder = skill()
    key = model_key(folder)
    (folder / MODEL_SIGNATURE).unlink()
    some = hashing.Config().set_ignored_paths(paths=["skill.ts"])
    config = signing.Config().use_elliptic_key_signer(private_key=key.with_suffix(".key"))
    config.set_hashing_config(some).sign(folder, folder / MODEL_SIGNATURE)
    with pytest.raises(CortexError, match=r"skill\.ts"):
        check_model_signature(folder, [key])


def test_the_key_of_someone_else_is_refused(skill: Written, model_key: Callable[[Path], Path]) -> None:
    first, second = skill("first"), skill("second")
    model_key(first)
    with pytest.raises(CortexError) as caught:
        check_model_signature(first, [model_key(second)])
    assert caught.value.code == "signature_invalid"


def test_verify_shows_a_model_signature(skill: Written, model_key: Callable[[Path], Path]) -> None:
    folder = skill()
    key = model_key(folder)
    assert run("sign", folder)[0] == 0
    assert run("verify", folder)[1]["skills"][0]["modelSignature"] == "not_evaluated"
    assert run("verify", folder, "--model-key", key)[1]["skills"][0]["modelSignature"] == "verified"
    code, document = run("verify", folder, "--model-key", key.with_suffix(".key"))
    assert (code, document["skills"][0]["error"]["code"]) == (1, "signature_invalid")


def test_a_folder_of_keys_verifies_with_any_of_them(
    skill: Written, model_key: Callable[[Path], Path], tmp_path: Path
) -> None:
    keys = tmp_path / "keys"
    keys.mkdir()
    first, second = skill("first"), skill("second")
    key = model_key(first).read_bytes()
    with pytest.raises(CortexError, match="no key of model signing") as caught:
        check_model_signature(first, [keys])
    assert caught.value.code == "config_invalid"
    (keys / "a.pem").write_bytes(key)
    (keys / "b.pem").write_bytes(model_key(second).read_bytes())
    assert [check_model_signature(each, [keys]) for each in (first, second)] == ["verified", "verified"]
    (keys / "a.pem").unlink()
    with pytest.raises(CortexError) as caught:
        check_model_signature(first, [keys])
    assert caught.value.code == "signature_invalid"
    (keys / "a.pem").symlink_to(keys / "b.pem")
    with pytest.raises(CortexError, match="symbolic link"):
        check_model_signature(first, [keys])


def test_without_the_extra_a_signature_is_refused(
    skill: Written, model_key: Callable[[Path], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = skill()
    key = model_key(folder)
    monkeypatch.setitem(sys.modules, "model_signing", None)
    with pytest.raises(CortexError) as caught:
        check_model_signature(folder, [key])
    assert (caught.value.code, "cortex-skills[model-signing]" in caught.value.hint) == ("config_invalid", True)
    assert check_model_signature(folder, ()) == "not_evaluated"


@pytest.mark.parametrize("required", [True, False])
def test_a_folder_loads_only_with_a_valid_signature(
    signed: Written,
    skill: Written,
    model_key: Callable[[Path], Path],
    opened: Callable[..., Plugin],
    trusted: TrustFile,
    required: bool,
) -> None:
    folder = skill()
    key = str(model_key(folder))
    sign_for_others(folder, load_manifest(folder), ACME, "acme", NOW)
    assert opened(modelKeys=[key], requireSignature=required).load(folder) == ["probe"]
    card = card_of_folder(folder, Config(verification={"modelKeys": [key]}))
    assert card["modelSignature"]["status"] == "verified"
    (folder / "late.md").write_text("not signed by the model signature")
    sign_for_others(folder, load_manifest(folder), ACME, "acme", NOW + timedelta(days=1))
    plugin = opened(modelKeys=[key], requireSignature=required)
    with pytest.raises(CortexError, match=r"skill\.oms\.sig is not valid") as caught:
        plugin.load(folder)
    assert (caught.value.code, dict(plugin.skills)) == ("signature_invalid", {})
    assert opened(requireSignature=required).load(folder) == ["probe"]
    assert opened(modelKeys=[key], requireSignature=required, developing=[folder]).load(folder) == ["probe"]
    assert card_of_folder(folder, Config(verification={"modelKeys": [key]}))["modelSignature"]["status"] == "refused"
    assert card_of_folder(folder, Config())["modelSignature"]["status"] == "not_evaluated"


def test_an_artifact_with_a_signature_is_verified_installed_and_audited(
    skill: Written, model_key: Callable[[Path], Path], tmp_path: Path, trusted: TrustFile
) -> None:
    folder = skill()
    key = str(model_key(folder))

    def made(version: str = "1.2.0", **changed: bytes) -> bytes:
        files = {f"assets/skill/{each.name}": each.read_bytes() for each in folder.iterdir() if each.is_file()}
        more = {f"assets/skill/{name}": data for name, data in changed.items()}
        return artifact(version, more='[operator.plugin]\nkind = "semantic"\n', content=files | more, key=KEY)

    trusted.change(lambda _: Trust())
    trusted.change(lambda known: known.with_publisher(Publisher("acme", KEY.did, "listed", "2026-01-01T00:00:00Z")))
    with_key = place(tmp_path / "with", verification={"modelKeys": [key]})
    store = open_store("memory:")
    without = place(tmp_path / "without", store)
    assert install(with_key, made()).status == "active"
    audit = audit_installed(with_key, "acme.echo_http", actor="ada").audit
    assert statuses(audit)["model_signature"] == "passed"
    with pytest.raises(CortexError, match="not valid") as caught:
        install(place(tmp_path / "other", verification={"modelKeys": [key]}), made("1.3.0", note=b"added"))
    assert caught.value.code == "signature_invalid"
    assert install(without, made("1.3.0", note=b"added")).status == "active"
    audit = audit_installed(without, "acme.echo_http", actor="ada").audit
    assert statuses(audit)["model_signature"] == "warned"
    later = place(tmp_path / "without", store, verification={"modelKeys": [key]})
    found = audit_installed(later, "acme.echo_http", actor="ada").installed
    assert (found.status, found.findings) == ("quarantined", ("model_signature",))
    file = tmp_path / "made.palyra-skill"
    file.write_bytes(made())
    assert run("package", "inspect", file)[1]["modelSignature"]["status"] == "not_evaluated"


def statuses(audit: SecurityAudit) -> dict[str, str]:
    return {check.id: check.status for check in audit.checks}


def run(*words: object) -> tuple[int, Any]:
    result = CliRunner().invoke(program, [*map(str, words), "--json"])
    return result.exit_code, json.loads(result.stdout) if result.stdout else None
