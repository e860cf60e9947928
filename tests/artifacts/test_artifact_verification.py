"""Verifying artifacts: the order of the steps, each step by an artifact that fails only it, and tampering."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_skills.features.artifacts.package import (
    ArtifactError,
    ExpectedArtifact,
    RuntimeVersions,
    VerificationReport,
    payload_hash,
    sign_payload,
    verify_artifact,
    verify_entries,
    write_archive,
)
from cortex_skills.features.artifacts.package.artifact_verification import STEPS
from cortex_skills.features.artifacts.package.provenance_statement import read_provenance
from tests.artifacts.samples import (
    BILL,
    KEY,
    MANIFEST,
    MODULE,
    OTHER_KEY,
    RUNTIME,
    SIGNED_AT,
    VECTOR,
    payload,
    signed,
    statement,
    trusts_acme,
)

ENTRIES = signed(payload())


def verified(entries: Mapping[str, bytes], expected: ExpectedArtifact | None = None) -> VerificationReport:
    return verify_entries(entries, RUNTIME, trusts_acme, expected)


def failed(report: VerificationReport, step: str, says: str = "") -> None:
    """Assert that exactly one step failed, that those before it passed and those after it were skipped."""
    statuses = {each.id: each.status for each in report.steps}
    index = list(STEPS).index(step)
    names = list(statuses)
    assert statuses[step] == "failed", statuses
    assert {statuses[name] for name in names[:index]} <= {"passed", "warned"}
    assert {statuses[name] for name in names[index + 1 :]} <= {"skipped"}
    assert not report.is_valid
    assert report.entries == {}
    assert report.error is not None
    assert says in report.error.message, report.error.message


def test_an_artifact_is_verified_step_by_step() -> None:
    report = verify_artifact(write_archive(ENTRIES), RUNTIME, trusts_acme)
    assert [(step.id, step.status) for step in report.steps] == [(name, "passed") for name in STEPS]
    assert list(STEPS) == [
        "archive", "manifest", "sbom", "provenance", "content", "signature_file", "payload_hash", "signature",
        "publisher", "integrity", "compatibility", "expected", "trust",
    ]  # fmt: skip
    assert report.is_valid
    assert report.entries == ENTRIES
    assert report.payload_sha256 == payload_hash(ENTRIES)
    assert report.manifest is not None
    assert report.manifest.skill_id == "acme.echo_http"
    assert [component.purl for component in report.components] == ["pkg:npm/left-pad@1.3.0"]
    assert report.steps[-1].message == "a listed publisher"
    shown = report.to_json()
    assert (shown["valid"], shown["skillId"], shown["keyId"]) == (True, "acme.echo_http", "ed25519:34750f98bd59fcfc")
    assert json.loads(json.dumps(shown)) == shown


def test_what_may_be_better_is_a_warning() -> None:
    content = {"modules/echo.wasm": MODULE, "assets/prompt.txt": b"hello"}
    subject = statement({"modules/echo.wasm": MODULE})
    report = verified(signed(payload(bill={**BILL, "components": []}, provenance=subject, content=content)))
    assert report.is_valid
    assert {step.id: step.message for step in report.steps if step.status == "warned"} == {
        "sbom": "the bill of materials names no component",
        "provenance": "no subject of the provenance: 'assets/prompt.txt'",
    }


def test_a_typescript_skill_needs_no_module() -> None:
    manifest = MANIFEST + '[operator.plugin]\nkind = "semantic"\n'
    content = {"assets/skill/SKILL.md": b"---\nname: echo\n---\n", "assets/skill/skill.ts": b"export {}"}
    assert verified(signed(payload(manifest, content))).is_valid
    failed(verified(signed(payload(manifest, {"assets/skill/skill.ts": b""}))), "content", "SKILL.md")


@pytest.mark.parametrize("name", ["skill.toml", "sbom.cdx.json", "provenance.json", "signature.json"])
def test_a_missing_entry_fails_its_step(name: str) -> None:
    steps = {"skill.toml": "manifest", "sbom.cdx.json": "sbom", "provenance.json": "provenance"}
    entries = {path: data for path, data in ENTRIES.items() if path != name}
    failed(verified(entries), steps.get(name, "signature_file"), f"contains no {name}")


def test_an_entry_that_does_not_belong_fails_the_first_step() -> None:
    failed(verified({**ENTRIES, "run.sh": b""}), "archive", "does not belong")
    failed(verify_artifact(b"PK", RUNTIME, trusts_acme), "archive", "not a ZIP")


def test_an_artifact_without_a_module_fails() -> None:
    failed(verified(signed(payload(content={"assets/a": b"1"}))), "content", "no module")
    manifest = MANIFEST + '[operator.plugin]\ndefault_module_path = "modules/other.wasm"\n'
    failed(verified(signed(payload(manifest))), "content", "default module")


def _subject(**changes: object) -> dict[str, Any]:
    good: dict[str, Any] = statement({"modules/echo.wasm": MODULE})
    return {**good, "subject": [{**good["subject"][0], **changes}]}


@pytest.mark.parametrize(
    ("provenance", "says"),
    [
        ({"subject": [{"name": "module.wasm"}]}, "_type"),
        ({**_subject(), "predicateType": "https://slsa.dev/provenance/v0.2"}, "predicateType"),
        ({**_subject(), "predicate": {}}, "buildType is missing"),
        ({**_subject(), "predicate": {"buildDefinition": {"buildType": "x"}}}, "builder.id is missing"),
        ({**_subject(), "subject": []}, "subject"),
        ({**_subject(), "subject": ["modules/echo.wasm"]}, "no name"),
        (_subject(digest={}), "no SHA-256"),
        (_subject(digest={"sha256": "placeholder-generated-at-build"}), "no SHA-256"),
        (_subject(digest={"sha256": "0" * 64}), "no such module or asset"),
        (_subject(name="prompt.txt"), "no such module or asset"),
        ([], "_type"),
    ],
)
def test_provenance_of_something_else_fails(provenance: object, says: str) -> None:
    failed(verified(signed(payload(provenance=provenance))), "provenance", says)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["id", "name", "digest", "sha256"]), inner)
    ),
    max_leaves=8,
)


@given(
    st.dictionaries(st.sampled_from(["builder", "subject", "_type", "predicate"]), _JSON)
    | st.fixed_dictionaries({"builder": st.dictionaries(st.just("id"), _JSON), "subject": st.lists(_JSON, max_size=3)})
)
@settings(max_examples=100, deadline=None)
def test_any_provenance_is_read_or_refused(document: object) -> None:
    try:
        found = read_provenance(json.dumps(document).encode(), {"modules/echo.wasm": MODULE})
    except ArtifactError:
        return
    assert not found.is_statement
    assert all(name for name, _ in found.subjects)
    assert found.uncovered({"modules/echo.wasm": MODULE}) == ["modules/echo.wasm"]


def test_a_subject_is_named_by_its_path_the_end_of_it_or_in_its_own_words() -> None:
    for name in ("modules/echo.wasm", "echo.wasm", "the module"):
        assert verified(signed(payload(provenance=_subject(name=name)))).is_valid
    failed(verified(signed(payload(provenance=_subject(name="prompt.txt")))), "provenance")


def test_a_bill_that_is_not_one_fails() -> None:
    failed(verified(signed(payload(bill={"bomFormat": "CycloneDX"}))), "sbom", "specVersion")


def test_every_entry_is_covered_by_the_payload_hash() -> None:
    for path in ("modules/echo.wasm", "assets/prompt.txt"):
        tampered = {**ENTRIES, path: ENTRIES[path] + b"!"}
        tampered["provenance.json"] = json.dumps(
            statement({name: data for name, data in tampered.items() if name.startswith(("modules/", "assets/"))})
        ).encode()
        failed(verified(tampered), "payload_hash", "not those that were signed")
    for path in ("skill.toml", "sbom.cdx.json", "provenance.json"):
        failed(verified({**ENTRIES, path: ENTRIES[path] + b"\n"}), "payload_hash")
    failed(verified({**ENTRIES, "assets/more.txt": b""}), "payload_hash")
    renamed = {**ENTRIES, "assets/other.txt": ENTRIES["assets/prompt.txt"]}
    del renamed["assets/prompt.txt"]
    renamed["provenance.json"] = json.dumps(statement({"modules/echo.wasm": MODULE})).encode()
    failed(verified(renamed), "payload_hash")


def test_a_signature_of_another_payload_or_key_fails() -> None:
    other = sign_payload(VECTOR, "acme", KEY, SIGNED_AT)
    document = json.loads(ENTRIES["signature.json"])
    failed(verified({**ENTRIES, "signature.json": other.to_bytes()}), "payload_hash")
    moved = json.dumps({**document, "signature_base64": other.signature_base64}).encode()
    failed(verified({**ENTRIES, "signature.json": moved}), "signature", "not made with the key")


def test_a_publisher_with_another_key_reaches_the_trust_check_and_fails_there() -> None:
    failed(verified(signed(payload(), key=OTHER_KEY)), "trust", "acme has another key")


def test_nobody_signs_for_another_publisher() -> None:
    failed(verified(signed(payload(), publisher="mallory")), "publisher", "'mallory'")
    manifest = MANIFEST.replace('skill_id = "acme.echo_http"', 'skill_id = "acmetools.echo"')
    failed(verified(signed(payload(manifest))), "publisher", "does not start with its publisher")


def test_the_list_of_files_is_exactly_the_entries() -> None:
    good = payload()["skill.toml"].decode().partition("[[integrity.files]]")
    files = "\n[[integrity.files]]" + good[2]
    failed(verified(signed(payload(files=""))), "integrity", "does not list exactly")
    renamed = files.replace("assets/prompt.txt", "assets/other.txt")
    failed(verified(signed(payload(files=renamed))), "integrity", "'assets/other.txt', 'assets/prompt.txt'")
    extra = files + f"\n[[integrity.files]]\npath = 'assets/x'\nsha256 = '{'0' * 64}'\n"
    failed(verified(signed(payload(files=extra))), "integrity", "'assets/x'")


@pytest.mark.parametrize(
    ("old", "new", "runtime", "says"),
    [
        ("required_protocol_major = 1", "required_protocol_major = 2", RUNTIME, "needs version 2 of the protocol"),
        ('min_palyra_version = "0.1.0"', 'min_palyra_version = "0.5.1"', RUNTIME, "needs runtime 0.5.1"),
        (
            'min_palyra_version = "0.1.0"',
            'min_palyra_version = "0.5.0"',
            RuntimeVersions(1, "0.5.0-rc.1"),
            "needs runtime",
        ),
        ("[operator]", 'max_palyra_version = "0.4.9"\n[operator]', RUNTIME, "runs up to runtime 0.4.9"),
    ],
)
def test_an_artifact_for_another_host_fails(old: str, new: str, runtime: RuntimeVersions, says: str) -> None:
    entries = signed(payload(MANIFEST.replace(old, new)))
    failed(verify_entries(entries, runtime, trusts_acme), "compatibility", says)


def test_another_artifact_than_the_expected_one_fails() -> None:
    good = ExpectedArtifact("acme.echo_http", "1.2.0", payload_hash(ENTRIES))
    assert verified(ENTRIES, good).is_valid
    failed(verified(ENTRIES, ExpectedArtifact(skill_id="acme.other")), "expected", "id")
    failed(verified(ENTRIES, ExpectedArtifact(version="1.2.1")), "expected", "'1.2.0', not '1.2.1'")
    failed(verified(ENTRIES, ExpectedArtifact(payload_sha256="0" * 64)), "expected", "payload hash")


def test_trust_is_asked_only_for_a_valid_artifact() -> None:
    asked = []

    def trust(signature: object, manifest: object) -> str:
        asked.append(signature)
        return ""

    tampered = {**ENTRIES, "skill.toml": ENTRIES["skill.toml"] + b"\n"}
    assert not verify_entries(tampered, RUNTIME, trust).is_valid
    assert asked == []
    assert verify_entries(ENTRIES, RUNTIME, trust).is_valid
    assert len(asked) == 1


_ARCHIVE = write_archive(ENTRIES)


@settings(max_examples=80, deadline=None)
@given(st.integers(0, len(_ARCHIVE) - 1), st.integers(1, 255))
def test_a_flipped_byte_of_the_archive_does_not_verify_or_changes_no_payload(position: int, mask: int) -> None:
    data = bytearray(_ARCHIVE)
    data[position] ^= mask
    report = verify_artifact(bytes(data), RUNTIME, trusts_acme)
    assert not report.is_valid or payload_hash(report.entries) == payload_hash(ENTRIES)


@settings(max_examples=80, deadline=None)
@given(st.sampled_from(sorted(ENTRIES)), st.data())
def test_a_flipped_byte_of_an_entry_does_not_verify(path: str, data: st.DataObject) -> None:
    content = bytearray(ENTRIES[path])
    content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    report = verified({**ENTRIES, path: bytes(content)})
    if path == "signature.json" and report.is_valid:  # white space and the time are not signed
        assert report.signature is not None
        assert report.signature.payload_sha256 == payload_hash(ENTRIES)
    else:
        assert not report.is_valid
