"""Artifacts for the tests: the vector of the format, and a small signed artifact with a module and an asset."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256

from cortex_skills.errors import CortexError
from cortex_skills.features.artifacts.package import ArtifactManifest, ArtifactSignature, RuntimeVersions, sign_payload
from cortex_skills.keys import Key

KEY = Key("acme", bytes([1]) * 32)
OTHER_KEY = Key("mallory", bytes([2]) * 32)
RUNTIME = RuntimeVersions(1, "0.5.0")
MODULE = bytes.fromhex("0061736d01000000")
SIGNED_AT = 1_760_000_000_000

VECTOR = {
    "modules/module.wasm": MODULE,
    "assets/templates/prompt.txt": b"hello",
    "sbom.cdx.json": b'{"bomFormat":"CycloneDX","specVersion":"1.6"}',
    "provenance.json": b'{"builder":{"id":"palyra-ci"},"subject":[{"name":"module.wasm"}]}',
    "skill.toml": b"x = 1\n",
}

TOOL = """
[[entrypoints.tools]]
id = "acme.echo"
name = "echo"
description = "Echoes a text"
input_schema = { type = "object", properties = { text = { type = "string" } }, required = ["text"] }
output_schema = { type = "object" }
"""
MANIFEST = f"""
manifest_version = 2
skill_id = "acme.echo_http"
name = "Echo"
version = "1.2.0"
publisher = "acme"
{TOOL}
[compat]
required_protocol_major = 1
min_palyra_version = "0.1.0"

[operator]
display_name = "Echo"
"""
BILL = {
    "bomFormat": "CycloneDX",
    "specVersion": "1.6",
    "components": [{"type": "library", "name": "left-pad", "version": "1.3.0", "purl": "pkg:npm/left-pad@1.3.0"}],
}


def statement(content: Mapping[str, bytes]) -> dict[str, object]:
    """The provenance of modules and assets by path."""
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": path, "digest": {"sha256": sha256(data).hexdigest()}} for path, data in content.items()],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {"buildType": "https://example.test/build/1", "externalParameters": {}},
            "runDetails": {"builder": {"id": "https://example.test/builder"}},
        },
        "builder": {"id": "https://example.test/builder"},
    }


def listed(entries: Mapping[str, bytes]) -> str:
    """`[[integrity.files]]` of entries."""
    return "".join(
        f"\n[[integrity.files]]\npath = {json.dumps(path)}\nsha256 = '{sha256(data).hexdigest()}'\n"
        for path, data in sorted(entries.items())
        if path not in ("skill.toml", "signature.json")
    )


def payload(
    manifest: str = MANIFEST,
    content: Mapping[str, bytes] | None = None,
    bill: object = BILL,
    provenance: object = None,
    files: str | None = None,
) -> dict[str, bytes]:
    """The entries of an artifact without its signature."""
    content = {"modules/echo.wasm": MODULE, "assets/prompt.txt": b"hello"} if content is None else content
    entries = {
        **content,
        "sbom.cdx.json": json.dumps(bill).encode(),
        "provenance.json": json.dumps(statement(content) if provenance is None else provenance).encode(),
    }
    entries["skill.toml"] = (manifest + (listed(entries) if files is None else files)).encode()
    return entries


def signed(entries: Mapping[str, bytes], publisher: str = "acme", key: Key = KEY) -> dict[str, bytes]:
    """Entries with their signature."""
    return {**entries, "signature.json": sign_payload(entries, publisher, key, SIGNED_AT).to_bytes()}


def trusts_acme(signature: ArtifactSignature, manifest: ArtifactManifest) -> str:
    """A trust check that knows one publisher and one key."""
    if manifest.publisher != "acme" or signature.public_key != KEY.public:
        raise CortexError("signature_invalid", f"{manifest.publisher} has another key")
    return "a listed publisher"
