"""Building artifacts: verified, reproducible, covered by bill and provenance; every change of one is found."""

from __future__ import annotations

import json
import os
import struct
import tomllib
import zlib
from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from cortex_skills.errors import CortexError
from cortex_skills.features.artifacts.package import (
    HOST_VERSIONS,
    ArtifactError,
    ArtifactProject,
    build_artifact,
    read_archive,
    verify_artifact,
    verify_entries,
)
from cortex_skills.features.artifacts.package.dependencies import ContainedPackage, read_dependencies
from cortex_skills.features.artifacts.package.project import read_project
from tests.artifacts.samples import KEY, MANIFEST, MODULE, OTHER_KEY, SIGNED_AT, listed, signed, trusts_acme

LOCK = {
    "lockfileVersion": 3,
    "packages": {
        "": {"name": "mine", "version": "1.0.0"},
        "node_modules/left-pad": {"version": "1.3.0", "integrity": "sha512-" + "A" * 86 + "=="},
        "node_modules/@scope/tool": {"version": "2.0.0"},
        "node_modules/a/node_modules/left-pad": {"version": "1.2.0"},
        "node_modules/only-dev": {"version": "1.0.0", "dev": True},
    },
}
SKILL = """---
name: echo
type: semantic
description: Says what it was told. Use it in tests.
semantic:
  skillVersion: 1.4.0
  permissions:
    graph: [read, write]
  assertions:
    - predicate: said
---
Echo.
"""


def project(**files: bytes) -> ArtifactProject:
    content = {"modules/echo.wasm": MODULE, "assets/prompt.txt": b"hello", **files}
    return ArtifactProject(tomllib.loads(MANIFEST), content, (ContainedPackage("pkg:npm/left-pad@1.3.0"),))


def written(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


def test_what_is_built_passes_every_step_without_a_warning() -> None:
    built = build_artifact(project(), KEY, SIGNED_AT)
    report = verify_artifact(built.data, HOST_VERSIONS, trusts_acme)
    assert [(step.id, step.message) for step in report.steps if step.status != "passed"] == []
    assert report.manifest is not None
    assert (report.manifest.skill_id, report.manifest.version) == ("acme.echo_http", "1.2.0")
    assert sorted(component.purl.partition("?")[0] for component in report.components) == [
        "pkg:generic/acme.echo_http@1.2.0",
        "pkg:generic/acme.echo_http@1.2.0",
        "pkg:npm/left-pad@1.3.0",
    ]
    assert report.provenance is not None
    assert dict(report.provenance.subjects) == {
        "modules/echo.wasm": sha256(MODULE).hexdigest(),
        "assets/prompt.txt": sha256(b"hello").hexdigest(),
    }


def test_the_same_project_gives_the_same_bytes_but_for_the_time() -> None:
    first, again = (build_artifact(project(), KEY, SIGNED_AT).data for _ in range(2))
    assert first == again
    later = read_archive(build_artifact(project(), KEY, SIGNED_AT + 1).data)
    assert {path for path, data in read_archive(first).items() if later[path] != data} == {"signature.json"}
    document = json.loads(later["sbom.cdx.json"])
    assert "timestamp" not in document["metadata"]
    other = read_archive(build_artifact(project(**{"assets/x": b""}), KEY, SIGNED_AT).data)
    assert json.loads(other["sbom.cdx.json"])["serialNumber"] != document["serialNumber"]


def test_the_rules_of_the_origin_hold_for_what_is_built() -> None:
    """What the origin's reader checks, written down once more."""
    entries = read_archive(build_artifact(project(), KEY, SIGNED_AT).data)
    manifest = tomllib.loads(entries["skill.toml"].decode())
    provenance, bill = (json.loads(entries[name]) for name in ("provenance.json", "sbom.cdx.json"))
    assert "builder" not in provenance  # only with the form palyra: tests/interchange/palyra
    assert isinstance(provenance["subject"], list) and provenance["subject"]  # noqa: PT018 - one rule
    assert bill["bomFormat"] == "CycloneDX"
    assert bill["specVersion"]
    assert any(path.startswith("modules/") and path.endswith(".wasm") for path in entries)
    declared = {file["path"]: file["sha256"] for file in manifest["integrity"]["files"]}
    assert declared == {
        path: sha256(data).hexdigest() for path, data in entries.items() if path not in ("skill.toml", "signature.json")
    }
    payload = sha256(b"palyra.skill.payload.v1")
    for path, data in sorted(entries.items()):
        if path != "signature.json":
            payload.update(struct.pack(">Q", len(path)) + path.encode() + struct.pack(">Q", len(data)) + data)
    assert json.loads(entries["signature.json"])["payload_sha256"] == payload.hexdigest()
    assert json.loads(entries["signature.json"])["publisher"] == manifest["publisher"]


def test_an_artifact_that_is_written_as_the_origin_writes_is_verified() -> None:
    """Its manifest of version 1 with old names, its entries in a map's order, and the headers of its ZIP library."""
    manifest = """manifest_version = 1
skill_id = "acme.echo_http"
name = "Echo + HTTP"
version = "1.0.0"
publisher = "acme"

[[entrypoints.tools]]
id = "acme.echo"
name = "echo"
description = "Echoes provided text"

[entrypoints.tools.input_schema]
type = "object"

[entrypoints.tools.output_schema]
type = "object"

[entrypoints.tools.risk]
default_sensitive = false
requires_approval = false

[capabilities]
http_egress_allowlist = ["api.example.com"]
secrets = []
device_capabilities = []
node_capabilities = []

[capabilities.filesystem]
read_roots = ["skills/data"]
write_roots = ["skills/cache"]

[capabilities.quotas]
wall_clock_timeout_ms = 2000
fuel_budget = 5000000
max_memory_bytes = 33554432

[capabilities.wildcard_opt_in]
filesystem = false
http_egress = false
secrets = false
device = false
node = false

[compat]
min_protocol_major = 1
min_runtime_version = "0.1.0"
"""
    subject = {"name": "module.wasm", "digest": {"sha256": sha256(MODULE).hexdigest()}}
    entries = {
        "assets/prompt.txt": b"Echo the text.",
        "modules/module.wasm": MODULE,
        "provenance.json": json.dumps(
            {
                "_type": "https://in-toto.io/Statement/v1",
                "builder": {"id": "palyra-ci"},
                "subject": [subject],
                "predicateType": "https://slsa.dev/provenance/v1",
                "predicate": {
                    "buildDefinition": {"buildType": "palyra", "externalParameters": {}},
                    "runDetails": {"builder": {"id": "palyra-ci"}},
                },
            }
        ).encode(),
        "sbom.cdx.json": b'{"bomFormat":"CycloneDX","specVersion":"1.5","version":1,"components":[]}',
    }
    entries["skill.toml"] = (manifest + listed(entries)).encode()
    data = _zip(signed(entries))
    report = verify_artifact(data, HOST_VERSIONS, trusts_acme)
    assert report.is_valid, report.to_json()
    assert report.manifest is not None
    assert report.manifest.compat.min_palyra_version == "0.1.0"


def _zip(entries: Mapping[str, bytes]) -> bytes:
    """A ZIP with the fields that Rust's `zip` writes: version 2.0, deflated, 1980-01-01, mode 0644 on Unix."""
    body, directory = b"", b""
    for path, data in sorted(entries.items()):
        deflate = zlib.compressobj(6, zlib.DEFLATED, -15)
        packed = deflate.compress(data) + deflate.flush()
        common = struct.pack(
            "<5H3I2H", 20, 0, 8, 0, 0x21, zlib.crc32(data), len(packed), len(data), len(path.encode()), 0
        )
        directory += b"PK\1\2" + struct.pack("<H", 0x0314) + common
        directory += struct.pack("<3H2I", 0, 0, 0, 0o100644 << 16, len(body)) + path.encode()
        body += b"PK\3\4" + common + path.encode() + packed
    end = struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, len(entries), len(entries), len(directory), len(body), 0)
    return body + directory + end


@pytest.mark.parametrize(
    "path", ["skill.toml", "sbom.cdx.json", "provenance.json", "modules/echo.wasm", "assets/prompt.txt"]
)
def test_a_changed_entry_of_what_was_built_fails(path: str) -> None:
    entries = read_archive(build_artifact(project(), KEY, SIGNED_AT).data)
    for changed in ({**entries, path: entries[path] + b" "}, {name: entries[name] for name in entries if name != path}):
        assert not verify_entries(changed, HOST_VERSIONS, trusts_acme).is_valid


@pytest.mark.parametrize(
    "field", ["publisher", "key_id", "public_key_base64", "payload_sha256", "signature_base64", "algorithm"]
)
def test_a_changed_field_of_the_signature_fails(field: str) -> None:
    entries = read_archive(build_artifact(project(), KEY, SIGNED_AT).data)
    other = json.loads(
        read_archive(build_artifact(project(**{"assets/x": b""}), OTHER_KEY, SIGNED_AT).data)["signature.json"]
    )
    document = json.loads(entries["signature.json"])
    document[field] = {"publisher": "mallory", "algorithm": "ed25519"}.get(field, other[field])
    assert not verify_entries(
        {**entries, "signature.json": json.dumps(document).encode()}, HOST_VERSIONS, trusts_acme
    ).is_valid


def test_a_typescript_skill_becomes_an_artifact(tmp_path: Path) -> None:
    files = {
        "SKILL.md": SKILL,
        "skill.ts": "export default {};",
        "references/a.md": "a",
        "SKILL.sig": "{}",
        ".git/x": "x",
    }
    read = read_project(written(tmp_path / "echo", files), "acme")
    assert sorted(read.content) == ["assets/skill/SKILL.md", "assets/skill/references/a.md", "assets/skill/skill.ts"]
    manifest = build_artifact(read, KEY, SIGNED_AT).report.manifest
    assert manifest is not None
    assert (manifest.skill_id, manifest.version, manifest.is_semantic) == ("acme.echo", "1.4.0", True)
    capabilities = manifest.capabilities
    assert (capabilities.graph_read, capabilities.graph_write, capabilities.graph_predicates) == (True, True, ("said",))


def test_a_plain_skill_of_agentskills_becomes_an_artifact(tmp_path: Path) -> None:
    text = "---\nname: plain\ndescription: Plain instructions.\n---\nDo it.\n"
    folder = written(tmp_path / "plain", {"SKILL.md": text, "scripts/run.py": "", "requirements.txt": "requests>=2\n"})
    with pytest.raises(ArtifactError, match="no version"):
        read_project(folder, "acme")
    with pytest.raises(ArtifactError, match="no publisher"):
        read_project(folder)
    report = build_artifact(read_project(folder, "acme", "0.3.0"), KEY, SIGNED_AT).report
    assert report.manifest is not None
    assert (report.manifest.skill_id, report.manifest.is_semantic) == ("acme.plain", True)
    assert "assets/skill/requirements.txt" in report.entries
    assert "pkg:pypi/requests" in [component.purl for component in report.components]


def test_a_project_is_read_from_its_folders(tmp_path: Path) -> None:
    files = {
        "skill.toml": MANIFEST + "[[integrity.files]]\npath = 'x'\nsha256 = 'y'\n",
        "modules/echo.wasm": MODULE,
        "assets/a/b.txt": "b",
        "src/echo.c": "not packed",
        "package-lock.json": json.dumps(LOCK),
        "dependencies.txt": "# of the module\npkg:cargo/serde@1.0.0\n",
    }
    read = read_project(written(tmp_path, files))
    assert sorted(read.content) == ["assets/a/b.txt", "modules/echo.wasm"]
    assert [dependency.purl for dependency in read.dependencies] == [
        "pkg:cargo/serde@1.0.0",
        "pkg:npm/%40scope/tool@2.0.0",
        "pkg:npm/left-pad@1.2.0",
        "pkg:npm/left-pad@1.3.0",
    ]
    built = build_artifact(read, KEY, SIGNED_AT)
    provenance = json.loads(built.report.entries["provenance.json"])
    assert provenance["predicate"]["buildDefinition"]["resolvedDependencies"][3] == {
        "uri": "pkg:npm/left-pad@1.3.0",
        "digest": {"sha512": "00" * 64},
    }
    with pytest.raises(ArtifactError, match="names the publisher 'acme'"):
        read_project(tmp_path, "other")


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({"dependencies.txt": b"left-pad"}, "line 1 is not a package URL"),
        ({"dependencies.txt": b"\npkg:npm/left-pad"}, "line 2, 'pkg:npm/left-pad', has no version"),
        ({"dependencies.txt": b"\xff"}, "not UTF-8"),
        ({"package-lock.json": b"{"}, "not JSON"),
        ({"package-lock.json": b"{}"}, "no packages"),
        ({"package-lock.json": b'{"packages": {"node_modules/a": {}}}'}, "no name or version"),
        ({"requirements.txt": b"-r other.txt"}, "is not a package"),
        ({"requirements.txt": b"git+https://example.org/a"}, "is not a package"),
    ],
)
def test_a_list_of_dependencies_that_cannot_be_read_is_refused(files: dict[str, bytes], says: str) -> None:
    with pytest.raises(ArtifactError, match=says):
        read_dependencies(files)


def test_pinned_packages_have_their_digest() -> None:
    text = f"Requests[socks]==2.32.0 ; python_version > '3' \\\n  --hash=sha256:{'ab' * 32}\nurllib3==2.0.0 # why\n"
    assert read_dependencies({"requirements.txt": text.encode()}) == (
        ContainedPackage("pkg:pypi/requests@2.32.0", (("sha256", "ab" * 32),)),
        ContainedPackage("pkg:pypi/urllib3@2.0.0"),
    )


@pytest.mark.parametrize("kind", ["pipe", "link", "large"])
def test_what_is_no_file_in_a_project_is_refused_without_waiting(tmp_path: Path, kind: str) -> None:
    written(tmp_path, {"skill.toml": MANIFEST, "modules/echo.wasm": MODULE})
    odd = tmp_path / "assets" / "odd"
    odd.parent.mkdir()
    if kind == "pipe":
        os.mkfifo(odd)
    elif kind == "link":
        odd.symlink_to("/etc/passwd")
    else:
        with odd.open("wb") as file:
            file.truncate(10 << 30)
    with pytest.raises(ArtifactError, match="assets/odd"):
        read_project(tmp_path)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"skill_id": "other.echo"}, "does not start with its publisher"),
        ({"version": "1"}, "version"),
        ({"surprise": 1}, "surprise"),
        ({"compat": {"required_protocol_major": 2, "min_palyra_version": "0.1.0"}}, "protocol"),
        ({"name": datetime.now(UTC)}, "date"),
        ({"name": None}, "cannot be written"),
    ],
)
def test_what_would_not_be_valid_is_not_built(change: dict[str, Any], says: str) -> None:
    good = project()
    with pytest.raises(CortexError, match=says):
        build_artifact(ArtifactProject({**good.manifest, **change}, good.content), KEY, SIGNED_AT)


def test_only_modules_and_assets_are_packed() -> None:
    with pytest.raises(ArtifactError, match="neither a module nor an asset"):
        build_artifact(project(**{"run.sh": b""}), KEY, SIGNED_AT)
    with pytest.raises(ArtifactError, match="no module"):
        build_artifact(ArtifactProject(tomllib.loads(MANIFEST), {"assets/a": b""}), KEY, SIGNED_AT)
