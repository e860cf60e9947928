"""The manifest, bill and provenance that most of Palyra's own cases start from, rebuilt, and artifacts of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256

from cortex_skills.features.artifacts.package import (
    HOST_VERSIONS,
    ArtifactManifest,
    ArtifactSignature,
    VerificationReport,
    verify_artifact,
)
from cortex_skills.keys import Key
from tests.artifacts.samples import KEY
from tests.interchange.palyra import original
from tests.wasm.modules import core

EMPTY_MODULE = bytes.fromhex("0061736d01000000")
MODULE = core("(i32.const 7)")

MANIFEST = """manifest_version = 2
skill_id = "acme.echo_http"
name = "Echo + HTTP"
version = "1.0.0"
publisher = "acme"

[[entrypoints.tools]]
id = "acme.echo"
name = "echo"
description = "Echo payload"
input_schema = { type = "object", properties = { text = { type = "string" } } }
output_schema = { type = "object", properties = { echo = { type = "string" } } }
risk = { default_sensitive = false, requires_approval = false }

[[entrypoints.tools]]
id = "acme.http_get"
name = "http_get"
description = "Fetch one URL"
input_schema = { type = "object", properties = { url = { type = "string" } } }
output_schema = { type = "object", properties = { status = { type = "number" } } }
risk = { default_sensitive = true, requires_approval = true }

[capabilities.filesystem]
read_roots = ["skills/data"]
write_roots = ["skills/cache"]

[capabilities]
http_egress_allowlist = ["api.example.com"]
device_capabilities = []
node_capabilities = []

[[capabilities.secrets]]
scope = "skill:acme.echo_http"
key_names = ["api_token"]

[capabilities.quotas]
wall_clock_timeout_ms = 2000
fuel_budget = 5000000
max_memory_bytes = 33554432

[compat]
required_protocol_major = 1
min_palyra_version = "0.1.0"
"""
OPERATOR = """
[operator]
display_name = "Echo HTTP"
summary = "Echoes a payload and can call one external API."
description = "Metadata for an operator."
categories = ["messaging", "network"]
tags = ["sample", "echo"]
docs_url = "https://example.com/skills/echo-http"

[operator.plugin]
default_tool_id = "acme.echo"
default_module_path = "modules/module.wasm"
default_entrypoint = "run"

[operator.config]
schema_version = 1
required = ["api_base_url", "api_token"]

[operator.config.properties.api_base_url]
type = "string"
title = "API base URL"
description = "Outbound endpoint"
default = "https://api.example.com"

[operator.config.properties.api_token]
type = "string"
title = "API token"
description = "Credential used by the sample skill"
redacted = true
"""
CURRENT = MANIFEST + OPERATOR
LEGACY = MANIFEST.replace("manifest_version = 2", "manifest_version = 1")
OPTED = "wildcard_opt_in = { filesystem = true }\nhttp_egress_allowlist"
BUILDER = """
[builder]
experimental = true
source_kind = "procedure"
source_ref = "candidate-proc-1"
rollout_flag = "PALYRA_EXPERIMENTAL_DYNAMIC_TOOL_BUILDER"
review_status = "quarantined"

[builder.checklist]
capability_declaration_path = "builder-capabilities.json"
provenance_path = "provenance.json"
test_harness_path = "tests/smoke.test.json"
review_notes = "Needs signing review"
"""
SBOM = b'{"bomFormat":"CycloneDX","specVersion":"1.6"}'
PROVENANCE = b'{"builder":{"id":"palyra-ci"},"subject":[{"name":"module.wasm"}]}'
ASSETS = {"templates/prompt.txt": b"hello"}


def contracts(*declared: tuple[str, int]) -> str:
    """The declarations of contracts."""
    return "".join(f'\n[[operator.plugin.contracts]]\nkind = "{kind}"\nversion = {n}\n' for kind, n in declared)


def provenance(subjects: Mapping[str, bytes], builder: str = "palyra-ci", **more: object) -> bytes:
    """A provenance in Palyra's form, with a digest for each subject."""
    named = [{"name": name, "digest": {"sha256": sha256(data).hexdigest()}} for name, data in subjects.items()]
    return json.dumps({"builder": {"id": builder}, "subject": named, **more}).encode()


def built(
    manifest: str = CURRENT,
    module: bytes = MODULE,
    assets: Mapping[str, bytes] = ASSETS,
    sbom: bytes = SBOM,
    stated: bytes = PROVENANCE,
    key: Key = KEY,
) -> bytes:
    """An artifact by Palyra's rules."""
    return original.build(manifest, {"module.wasm": module}, assets, sbom, stated, key)


def verified(data: bytes) -> VerificationReport:
    """The verification of an artifact, here; every publisher is trusted."""
    return verify_artifact(data, HOST_VERSIONS, _known)


def _known(signature: ArtifactSignature, manifest: ArtifactManifest) -> str:
    return "known"
