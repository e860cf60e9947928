"""Artifacts that are built by Palyra's rules, here: verified, audited, installed and run; tampering refused."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from wasmtime import wat2wasm

from cortex_skills import Plugin
from cortex_skills.doors.cli.app import program
from cortex_skills.errors import CortexError
from cortex_skills.features.artifacts.artifact_operations import describe
from cortex_skills.features.artifacts.installed.security_audit import audit_artifact
from cortex_skills.features.artifacts.origin_store import read_origin_store
from cortex_skills.features.artifacts.package import sign_payload
from cortex_skills.keys import Key
from cortex_skills.secrets import SecretName, SecretStore
from tests.artifact_tools.conftest import open_plugin
from tests.installed.conftest import trust
from tests.installed.samples import install_with
from tests.interchange.palyra import original
from tests.interchange.palyra.original import Refused, encode_zip
from tests.interchange.palyra.samples import (
    ASSETS,
    BUILDER,
    CURRENT,
    EMPTY_MODULE,
    KEY,
    LEGACY,
    MODULE,
    PROVENANCE,
    SBOM,
    built,
    provenance,
    verified,
)
from tests.wasm.modules import CORE, core

__all__ = ["open_plugin", "trust"]

NAMES = st.text(alphabet="abcdefgh0123456789-_", min_size=1, max_size=8)
BUILT = original.decode_zip(built())
HOOK = core("(call $count)", f'(import "{CORE}" "http-count" (func $count (result i32)))')
CONSOLE = CURRENT.replace("[operator]", BUILDER + "\n[operator]")
BILL = json.dumps(
    {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "components": [{"type": "application", "name": "acme.echo_http", "version": "1.0.0", "publisher": "acme"}],
    }
).encode()
# What the console of Palyra writes beside a scaffold: subjects that are files of the project.
PROJECT = {"skill.toml": b"before the build", "README.md": b"# acme", "sbom.cdx.json": BILL}
# Three artifacts: of its library tests, of its daemon tests, and of a scaffold of its console.
ARTIFACTS = {
    "library": built(stated=provenance({"module.wasm": MODULE, "templates/prompt.txt": b"hello"})),
    "daemon": built(LEGACY, HOOK, {}, BILL, provenance({"modules/module.wasm": HOOK}, "palyra-test")),
    "console": built(CONSOLE, MODULE, ASSETS, BILL, provenance(PROJECT, "palyra.console", buildType="scaffold/v1")),
}


def resigned(entries: Mapping[str, bytes]) -> bytes:
    """Entries with a signature of the publisher; `integrity` as it was."""
    others = {path: data for path, data in entries.items() if path != "signature.json"}
    return encode_zip({**others, "signature.json": sign_payload(others, "acme", KEY, 1).to_bytes()})


@pytest.mark.parametrize("name", ARTIFACTS)
def test_an_artifact_by_palyras_rules_is_valid_in_unattested_form(name: str) -> None:
    original.inspect(ARTIFACTS[name])
    report = verified(ARTIFACTS[name])
    assert report.error is None
    (step,) = (step for step in report.steps if step.id == "provenance")
    assert step.status == "warned"
    assert step.message.startswith("unattested form, built by 'palyra")
    assert report.provenance is not None
    assert report.provenance.to_json()["form"] == "unattested form"


@pytest.mark.parametrize(("text", "module", "code"), [(CURRENT, MODULE, 7), (LEGACY, HOOK, 1)], ids=["2", "1"])
def test_an_artifact_by_palyras_rules_is_installed_and_runs(
    open_plugin: Callable[..., Plugin], text: str, module: bytes, code: int
) -> None:
    """Its configuration is validated as by `validate_plugin_config_instance`: a required value is missing first."""
    plugin = open_plugin()
    found = install_with(plugin, built(text, module))
    assert (found.status, found.key.version) == ("active", "1.0.0")
    if text == CURRENT:
        refused = plugin.call("acme.echo", {})
        assert refused.code == "config_invalid"
        assert "api_token is required, and has no value" in refused.text
        assert "api_base_url" not in refused.text  # its default is used
        SecretStore.of(plugin.config.secrets).set(
            SecretName("skill:acme.echo_http", "config.api_token"), "secret-token-1"
        )
    assert plugin.call("acme.echo", {}).details["outputs"] == {"code": code}
    shown = plugin.operate(describe, id="acme.echo_http").document()["config"]
    assert [(each["name"], each["value"]) for each in shown] == (
        [("api_base_url", "https://api.example.com"), ("api_token", "[redacted]")] if text == CURRENT else []
    )


def test_what_a_builder_of_palyra_made_waits_for_a_person(open_plugin: Callable[..., Plugin]) -> None:
    found = install_with(open_plugin(), ARTIFACTS["console"], first_use=True)
    assert (found.status, found.experimental, found.findings) == ("quarantined", True, ("experimental",))


def test_a_publisher_is_pinned_at_first_use_and_known_then(open_plugin: Callable[..., Plugin]) -> None:
    plugin = open_plugin()
    other = CURRENT.replace("acme", "umbra")
    with pytest.raises(CortexError):
        install_with(plugin, built(other))
    first = install_with(plugin, built(other), first_use=True)
    again = install_with(plugin, built(other.replace('"1.0.0"', '"1.1.0"')))
    assert [each.publisher for each in (first, again)] == ["umbra", "umbra"]
    with pytest.raises(CortexError) as caught:
        install_with(plugin, built(other.replace('"1.0.0"', '"1.2.0"'), key=Key("x", bytes([6]) * 32)), first_use=True)
    assert caught.value.code == "signature_invalid"


@pytest.mark.parametrize("missing", ["sbom.cdx.json", "skill.toml", "provenance.json", "signature.json"])
def test_an_artifact_without_one_of_its_files_is_refused(missing: str) -> None:
    data = encode_zip({path: content for path, content in BUILT.items() if path != missing})
    with pytest.raises(Refused, match=f"MissingArtifactEntry: {missing}"):
        original.inspect(data)
    assert f"contains no {missing}" in str(verified(data).error)


@pytest.mark.parametrize("path", [path for path in BUILT if path != "signature.json"])
def test_a_byte_more_in_an_entry_is_refused(path: str) -> None:
    data = encode_zip({**BUILT, path: BUILT[path] + b"\n"})
    with pytest.raises(Refused):
        original.inspect(data)
    error = verified(data).error
    assert error is not None
    assert "not those that were signed" in error.message or path == "modules/module.wasm"


@pytest.mark.parametrize("name", json.loads(BUILT["signature.json"]))
def test_a_changed_member_of_the_signature_is_refused_but_its_time(name: str) -> None:
    signature = json.loads(BUILT["signature.json"])
    value = signature[name]
    signature[name] = value + 1 if isinstance(value, int) else ("b" if value[0] != "b" else "c") + value[1:]
    data = encode_zip({**BUILT, "signature.json": json.dumps(signature).encode()})
    if name == "signed_at_unix_ms":  # not signed, and for display only
        assert verified(data).is_valid
        return
    with pytest.raises(Refused):
        original.inspect(data)
    error = verified(data).error
    assert error is not None
    assert error.code == "signature_invalid"


def test_a_module_that_was_replaced_under_a_new_signature_of_the_publisher_is_not_in_the_list_of_files() -> None:
    data = resigned({**BUILT, "modules/module.wasm": core("(i32.const 8)")})
    with pytest.raises(Refused, match="integrity"):
        original.inspect(data)
    assert "does not list exactly the entries" in str(verified(data).error)


@pytest.mark.parametrize("name", ["assets/", "comment", "before"])
def test_refused_an_archive_that_another_reader_could_read_otherwise(name: str) -> None:
    """Entries of folders, a comment of the archive, and bytes before it, which Palyra's library skips."""
    data = bytearray(encode_zip({**BUILT, **({"assets/": b""} if name == "assets/" else {})}))
    if name == "comment":
        data[-2:] = b"\1\0"
        data += b"x"
    elif name == "before":
        data[:0] = b"x"
    assert original.inspect(bytes(data))[0].skill_id == "acme.echo_http"
    assert verified(bytes(data)).steps[0].status == "failed"


@given(
    modules=st.dictionaries(NAMES.map(lambda name: f"{name}.wasm"), st.binary(max_size=40), min_size=1, max_size=3),
    assets=st.dictionaries(NAMES, st.binary(max_size=40), max_size=3),
    subjects=st.dictionaries(st.text(min_size=1, max_size=8), st.binary(max_size=8), min_size=1, max_size=3),
)
@settings(max_examples=30, deadline=None)
def test_any_modules_and_assets_that_palyra_packs_are_read_with_its_hash(
    modules: dict[str, bytes], assets: dict[str, bytes], subjects: dict[str, bytes]
) -> None:
    text = CURRENT.replace('default_module_path = "modules/module.wasm"\n', "")
    data = original.build(
        text, modules, assets, SBOM, provenance({f"of {name}": b for name, b in subjects.items()}), KEY
    )
    report = verified(data)
    assert report.error is None
    assert report.payload_sha256 == original.payload_hash(original.decode_zip(data))
    assert {path for path in report.entries if path.startswith("modules/")} == {f"modules/{name}" for name in modules}


def test_entries_are_those_that_were_signed_with_the_same_hash() -> None:
    manifest, entries = original.inspect(built())
    report = verified(built())
    assert dict(report.entries) == entries
    assert report.payload_sha256 == original.payload_hash(entries)
    assert report.manifest is not None
    assert report.manifest.skill_id == manifest.skill_id == "acme.echo_http"


@pytest.mark.parametrize(
    ("entries", "kind"),
    [
        ({f"assets/chunk-{index}.bin": bytes(1 << 20) for index in range(65)}, "ArtifactTooLarge"),
        ({f"modules/module-{index}.wasm": EMPTY_MODULE for index in range(257)}, "ArtifactTooManyEntries"),
        ({"assets/large.bin": bytes((16 << 20) + 1)}, "ArtifactEntryTooLarge"),
        ({"assets/../x": b""}, "InvalidArtifactPath"),
        ({"/assets/x": b""}, "InvalidArtifactPath"),
        ({"assets\\x": b"", "assets/x": b""}, "DuplicateArtifactEntry"),
        ({"c:/x": b""}, "InvalidArtifactPath"),
    ],
    ids=["65 MiB", "257 entries", "an entry of 16 MiB and a byte", "..", "absolute", "twice", "a drive"],
)
def test_an_archive_beyond_the_limits_is_refused_by_both(entries: Mapping[str, bytes], kind: str) -> None:
    data = encode_zip(entries)
    with pytest.raises(Refused) as caught:
        original.inspect(data)
    assert caught.value.kind == kind
    assert verified(data).steps[0].status == "failed"


@pytest.mark.parametrize(
    ("stated", "says"),
    [
        (provenance({"module.wasm": b"another"}), "no such module or asset"),
        (provenance({"prompt.txt": MODULE}), "no such module or asset"),
        (provenance({"sbom.cdx.json": b"{}"}), "no such module or asset"),
    ],
    ids=["module", "asset", "bill"],
)
def test_a_digest_of_another_file_is_refused(stated: bytes, says: str) -> None:
    assert says in str(verified(built(stated=stated)).error)


def test_what_cannot_be_compared_is_listed() -> None:
    report = verified(ARTIFACTS["console"])
    (step,) = (step for step in report.steps if step.id == "provenance")
    assert "not compared: 'skill.toml', 'README.md'" in step.message
    assert "no subject of the provenance: 'assets/templates/prompt.txt', 'modules/module.wasm'" in step.message
    none = verified(built(stated=PROVENANCE))
    assert "not compared: 'module.wasm'" in none.steps[3].message


@pytest.mark.parametrize(
    "stated",
    [
        b'{"builder":{"id":"local-dev"},"subject":[{"name":"module.wasm","digest":{"sha256":"placeholder"}}]}',
        b'{"builder":{"id":7},"subject":[{"name":"module.wasm"}]}',
        b'{"builder":{"id":"x"},"subject":[{"digest":{}}]}',
        b'{"builder":{"id":"x"},"subject":["module.wasm"]}',
    ],
    ids=["a placeholder for a digest", "a builder that is a number", "a subject without a name", "a text"],
)
def test_refused_a_provenance_that_states_nothing(stated: bytes) -> None:
    original.inspect(built(stated=stated))
    step = verified(built(stated=stated)).steps[3]
    assert (step.id, step.status) == ("provenance", "failed")


@pytest.mark.parametrize(
    "stated",
    [b"[]", b"{}", b'{"builder":"x","subject":[{"name":"a"}]}', b'{"builder":{},"subject":[]}', b'{"builder":{}}'],
    ids=["a list", "empty", "a text as builder", "no subject", "subject missing"],
)
def test_a_provenance_that_palyra_refuses_is_refused(stated: bytes) -> None:
    with pytest.raises(Refused, match="InvalidProvenance"):
        built(stated=stated)
    data = resigned({**BUILT, "provenance.json": stated})
    assert verified(data).steps[3].status == "failed"


@pytest.mark.parametrize(
    "bill", [b"[]", b'{"bomFormat":"SPDX","specVersion":"1.6"}', b'{"bomFormat":"CycloneDX"}'], ids=str
)
def test_a_bill_that_palyra_refuses_is_refused(bill: bytes) -> None:
    with pytest.raises(Refused, match="InvalidSbom"):
        built(sbom=bill)
    assert verified(resigned({**BUILT, "sbom.cdx.json": bill})).steps[2].status == "failed"


@pytest.mark.parametrize(
    ("manifest", "module", "finding"),
    [
        (CURRENT, MODULE, None),
        (CURRENT.replace("device_capabilities = []", 'device_capabilities = ["camera"]'), MODULE,
         "forbidden_device_capabilities:camera"),
        (CURRENT.replace("http_egress_allowlist", "wildcard_opt_in = { http_egress = true }\nhttp_egress_allowlist"),
         MODULE, "forbidden_wildcard_capabilities:http_egress"),
        (CURRENT.replace('["skills/data"]', "[]").replace('["skills/cache"]', "[]"),
         bytes(wat2wasm('(module (import "wasi:filesystem" "path_open" (func)) (func (export "run") (result i32) '
                        "i32.const 0))")), "wasm_imports:modules/module.wasm"),
        (CURRENT, core("(i32.const 1)", "(func $f) " + "".join(f'(export "e{n}" (func $f))' for n in range(128))),
         "wasm_exported_function_limit:modules/module.wasm"),
        (CURRENT, b"\0asm\1\0\0\0\xff", "wasm_module_validation:modules/module.wasm"),
    ],
    ids=["good", "device", "wildcard", "file system", "129 exports", "no module"],
)  # fmt: skip
def test_the_audit_quarantines_what_palyra_quarantines(manifest: str, module: bytes, finding: str | None) -> None:
    report = verified(built(manifest, module))
    assert audit_artifact(report).findings == (() if finding is None else (finding,))


@pytest.mark.parametrize(
    "module",
    [
        EMPTY_MODULE,
        core("(i32.const 0)", "(start $s) (func $s unreachable)"),
        b'(module (func (export "run") (result i32) i32.const 7))',
    ],
    ids=["without run", "a start that traps", "text"],
)
def test_refused_a_module_that_palyra_lets_pass_and_that_cannot_be_called(module: bytes) -> None:
    (finding,) = audit_artifact(verified(built(module=module))).findings
    assert finding in ("wasm_module_validation:modules/module.wasm", "wasm_module_start:modules/module.wasm")


def test_the_warning_about_version_1_is_a_check_of_the_audit() -> None:
    checks = {check.id: check.status for check in audit_artifact(verified(built(LEGACY))).checks}
    assert checks["manifest_warning:legacy_manifest_version"] == "warned"


@pytest.mark.parametrize(
    ("compat", "kind"),
    [
        ('required_protocol_major = 2\nmin_palyra_version = "0.1.0"', "UnsupportedProtocolMajor"),
        ('required_protocol_major = 1\nmin_palyra_version = "0.2.0"', "UnsupportedRuntimeVersion"),
        (
            'required_protocol_major = 1\nmin_palyra_version = "0.0.1"\nmax_palyra_version = "0.0.9"',
            "RuntimeVersionAboveSupportedMaximum",
        ),
    ],
)
def test_an_artifact_for_other_hosts_is_refused_by_both(compat: str, kind: str) -> None:
    text = CURRENT.replace('required_protocol_major = 1\nmin_palyra_version = "0.1.0"', compat)
    with pytest.raises(Refused, match=kind):
        built(text)
    others = {**BUILT, "skill.toml": BUILT["skill.toml"].replace(b"required_protocol_major = 1\n", b"")}
    lines = compat.split("\n")
    others["skill.toml"] = others["skill.toml"].replace(b'min_palyra_version = "0.1.0"', "\n".join(lines).encode())
    report = verified(resigned(others))
    (step,) = (step for step in report.steps if step.status == "failed")
    assert step.id == "compatibility"


@pytest.mark.parametrize(
    "store",
    [
        {"trusted_publishers": {"Acme": ["07" * 32]}, "tofu_publishers": {}},
        {"trusted_publishers": {"acme": ["not-hex"]}, "tofu_publishers": {}},
        {"trusted_publishers": {"acme": []}, "tofu_publishers": {}},
        {"trusted_publishers": {}, "tofu_publishers": {}, "more": {}},
    ],
    ids=["a name", "a key", "no key", "a member"],
)
def test_a_trust_store_that_palyra_refuses_is_refused(store: dict[str, object]) -> None:
    with pytest.raises(CortexError):
        read_origin_store(json.dumps(store).encode(), "2026-01-01T00:00:00Z")


def test_a_trust_store_of_palyra_is_read(tmp_path: Path) -> None:
    public = KEY.public.hex()
    store = {"trusted_publishers": {"acme": [public.upper()]}, "tofu_publishers": {"umbra": public}}
    found = read_origin_store(json.dumps(store).encode(), "2026-01-01T00:00:00Z")
    assert [(each.name, each.key, each.how) for each in found] == [
        ("acme", KEY.did, "listed"),
        ("umbra", KEY.did, "first use"),
    ]


def test_the_form_of_the_provenance_is_shown_by_the_command(tmp_path: Path) -> None:
    file = tmp_path / "it.palyra-skill"
    file.write_bytes(ARTIFACTS["library"])
    shown = CliRunner().invoke(program, ["package", "inspect", str(file)])
    assert shown.exit_code == 0, shown.output
    assert "warned provenance: unattested form, built by 'palyra-ci'" in shown.stdout
    stated = json.loads(CliRunner().invoke(program, ["package", "inspect", str(file), "--json"]).stdout)["provenance"]
    assert (stated["form"], stated["builder_id"]) == ("unattested form", "palyra-ci")
