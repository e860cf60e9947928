"""`skill.toml`: what is read, and each rule by the field that its problem names."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_skills.features.artifacts.package import ArtifactError, ArtifactManifest, read_skill_toml
from cortex_skills.features.artifacts.package.artifact_manifest import ArtifactQuotas, SecretScope
from tests.artifacts.samples import MANIFEST, TOOL

FULL = """
manifest_version = 2
skill_id = "acme.tools.echo_http"
name = "Echo and HTTP"
version = "1.2.0-rc.1"
publisher = "acme"

[[entrypoints.tools]]
id = "acme.echo"
name = "echo"
description = "Echoes a text"
input_schema = { type = "object", "$defs" = { t = { type = "string" } }, items = { "$ref" = "#/$defs/t" } }
output_schema = { type = "object" }
risk = { default_sensitive = true, requires_approval = true }

[capabilities]
http_egress_allowlist = ["api.example.com", "*.example.org"]
device_capabilities = ["camera"]
node_capabilities = ["gpu"]

[capabilities.filesystem]
read_roots = ["skills/data"]
write_roots = ["skills\\\\cache"]

[[capabilities.secrets]]
scope = "skill:acme.tools.echo_http"
key_names = ["api_token"]

[capabilities.graph]
read = true
predicates = ["hasStatus", "https://example.test/p"]

[capabilities.quotas]
wall_clock_timeout_ms = 2000

[capabilities.wildcard_opt_in]
http_egress = true

[compat]
min_protocol_major = 1
min_runtime_version = "0.1.0"
max_palyra_version = "2.0.0"

[operator]
display_name = "Echo"
categories = ["text"]
docs_url = "https://example.test/docs?q=1"

[operator.plugin]
default_tool_id = "acme.echo"
default_module_path = "modules/echo.wasm"
default_entrypoint = "run"
contracts = [{ kind = "memory_provider", version = 1 }]

[operator.config]
required = ["level"]
properties.level = { type = "string", default = "low", enum_values = ["low", "high"] }
properties.api_token = { type = "string", redacted = true }

[builder]
experimental = true
source_kind = "prompt"
source_ref = "p-1"
rollout_flag = "tool_builder"

[builder.checklist]
capability_declaration_path = "assets/c.json"
provenance_path = "provenance.json"
test_harness_path = "assets/t"
"""


def problems(text: str) -> list[str]:
    with pytest.raises(ArtifactError) as caught:
        read_skill_toml(text.encode())
    assert caught.value.code == "manifest_invalid"
    return [f"{each['field']}: {each['message']}" for each in caught.value.details["errors"]]


def read(text: str) -> ArtifactManifest:
    return read_skill_toml(text.encode())


def test_every_part_is_read() -> None:
    manifest = read(FULL)
    assert (manifest.skill_id, manifest.version, manifest.publisher) == ("acme.tools.echo_http", "1.2.0-rc.1", "acme")
    (tool,) = manifest.tools
    assert (tool.id, tool.default_sensitive, tool.requires_approval) == ("acme.echo", True, True)
    capabilities = manifest.capabilities
    assert capabilities.http_hosts == ("api.example.com", "*.example.org")
    assert capabilities.secrets == (SecretScope("skill:acme.tools.echo_http", ("api_token",)),)
    assert (capabilities.read_roots, capabilities.write_roots) == (("skills/data",), ("skills\\cache",))
    assert (capabilities.graph_read, capabilities.graph_write) == (True, False)
    assert capabilities.graph_predicates == ("hasStatus", "https://example.test/p")
    assert capabilities.quotas == ArtifactQuotas(2000, 10_000_000, 64 << 20)
    assert capabilities.wildcard_opt_in == {"http_egress"}
    assert manifest.plugin["contracts"] == [{"kind": "memory_provider", "version": 1}]
    assert manifest.warnings == {}
    assert not manifest.is_semantic


def test_the_old_names_of_compat_are_the_new_ones() -> None:
    assert (read(FULL).compat.required_protocol_major, read(FULL).compat.min_palyra_version) == (1, "0.1.0")
    both = FULL.replace("[compat]", "[compat]\nrequired_protocol_major = 1")
    assert problems(both) == ["compat.min_protocol_major: is the old name of required_protocol_major, given too"]


def test_what_is_not_given_has_its_default() -> None:
    manifest = read(MANIFEST)
    assert manifest.capabilities.quotas == ArtifactQuotas(30_000, 10_000_000, 67_108_864)
    assert manifest.capabilities.http_hosts == manifest.capabilities.secrets == ()
    assert read(MANIFEST.replace("manifest_version = 2", "")).manifest_version == 2


def test_version_1_has_no_operator() -> None:
    first = MANIFEST.replace("manifest_version = 2", "manifest_version = 1")
    assert problems(first) == ["operator: needs manifest_version 2"]
    manifest = read(first.replace('[operator]\ndisplay_name = "Echo"', ""))
    assert manifest.manifest_version == 1
    assert set(manifest.warnings) == {"legacy_manifest_version", "missing_operator_metadata"}


def test_only_a_typescript_skill_may_have_no_tools() -> None:
    without = MANIFEST.replace(TOOL, "entrypoints = { tools = [] }\n")
    assert problems(without) == ["entrypoints.tools: is empty"]
    assert read(without + '\n[operator.plugin]\nkind = "semantic"').is_semantic


def test_what_is_allowed_but_not_recommended_is_a_warning() -> None:
    manifest = read(FULL.replace(", redacted = true", "").replace('display_name = "Echo"', ""))
    assert manifest.warnings == {
        "missing_operator_display_name": "operator.display_name is missing",
        "operator_config_redaction_recommended": "api_token: secret, but not redacted",
    }
    for name, is_secret in (("session_cookie", True), ("max_tokens", False)):
        given = FULL.replace(", redacted = true", "").replace("api_token", name)
        assert ("operator_config_redaction_recommended" in read(given).warnings) is is_secret
    assert set(read(MANIFEST + "[operator.config]").warnings) == {"empty_operator_config_contract"}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("manifest_version = 2", "manifest_version = 3", "manifest_version: 3 is more than 2"),
        ("manifest_version = 2", "manifest_version = true", "manifest_version: must be a whole number"),
        ("manifest_version = 2", "manifest_verison = 2", "manifest_verison: unknown key"),
        ('skill_id = "acme.tools.echo_http"', "", "skill_id: is missing"),
        ("acme.tools.echo_http", "acme..echo", "skill_id: "),
        ('skill_id = "acme', 'skill_id = "Acme', "skill_id: "),
        ('publisher = "acme"', 'publisher = "ac me"', "publisher: "),
        ('publisher = "acme"', 'publisher = "acme\\n"', "publisher: "),
        ('publisher = "acme"', 'publisher = "acm"', "entrypoints.tools[0].id: does not start with acm"),
        ('name = "Echo and HTTP"', 'name = " "', "name: "),
        ('"1.2.0-rc.1"', '"1.2"', "version: is shorter than"),
        ('"1.2.0-rc.1"', '"01.2.0"', "version: '01.2.0' is not a version"),
        ('"1.2.0-rc.1"', "1.2", "version: must be text"),
        ('"1.2.0-rc.1"', '"1.2.0-α"', "version: "),
        ('max_palyra_version = "2.0.0"', 'max_palyra_version = "0.0.9"', "compat.max_palyra_version: is below"),
        ('min_runtime_version = "0.1.0"', 'min_runtime_version = "newest"', "compat.min_palyra_version: 'newest'"),
        ('min_runtime_version = "0.1.0"', "", "compat.min_palyra_version: is missing"),
        ('id = "acme.echo"\n', 'id = "echo"\n', "entrypoints.tools[0].id: does not start with acme"),
        ('id = "acme.echo"\n', 'id = "acme.Echo"\n', "entrypoints.tools[0].id: "),
        ('output_schema = { type = "object" }', "output_schema = true", "entrypoints.tools[0].output_schema: must be"),
        ('output_schema = { type = "object" }', 'output_schema = { type = "text" }', "output_schema: is not a JSON"),
        ('output_schema = { type = "object" }', 'output_schema = { pattern = "(" }', "output_schema: is not a JSON"),
        ("#/$defs/t", "https://example.test/t", "refers to another schema"),
        ("#/$defs/t", "file:///etc/passwd", "refers to another schema"),
        ('{ type = "object" }', '{ "$id" = "https://example.test/" }', "names another schema"),
        ('{ type = "object" }', '{ "$schema" = "http://json-schema.org/draft-07/schema#" }', "names another schema"),
        ("risk = { default_sensitive", "risk = { default_sensible", "risk.default_sensible: unknown key"),
        ('"skills/data"', '"/etc"', "capabilities.filesystem.read_roots[0]: "),
        ('"skills/data"', '"a/../../b"', "capabilities.filesystem.read_roots[0]: "),
        ('"skills/data"', '"skills/*"', "read_roots[0]: contains *"),
        ('"skills/data"', '"a/b", "a\\\\b"', "read_roots[1]: 'a\\\\b' is there twice"),
        ('"api.example.com"', '"api.example.com/x"', "capabilities.http_egress_allowlist[0]: "),
        ('"api.example.com"', '"-a.test"', "capabilities.http_egress_allowlist[0]: "),
        ('"api.example.com"', '"a..test"', "capabilities.http_egress_allowlist[0]: "),
        ('"api.example.com"', '"a.*.test"', "capabilities.http_egress_allowlist[0]: "),
        ("http_egress = true", "http_egress = false", "http_egress_allowlist[1]: contains *"),
        ("skill:acme.tools.echo_http", "everywhere", "capabilities.secrets[0].scope: "),
        ("skill:acme.tools.echo_http", "skill:", "capabilities.secrets[0].scope: "),
        ('key_names = ["api_token"]', "key_names = []", "capabilities.secrets[0].key_names: "),
        ('key_names = ["api_token"]', "", "capabilities.secrets[0].key_names: is missing"),
        ('key_names = ["api_token"]', 'key_names = ["*"]', "key_names[0]: contains *"),
        ('"camera"', '"camera*"', "capabilities.device_capabilities[0]: contains *"),
        ('"gpu"', '"*"', "capabilities.node_capabilities[0]: contains *"),
        ('"hasStatus"', '"*"', "capabilities.graph.predicates[0]: contains *"),
        ('"hasStatus"', '"a b"', "capabilities.graph.predicates[0]: "),
        ("wall_clock_timeout_ms = 2000", "wall_clock_timeout_ms = 0", "wall_clock_timeout_ms: 0 is less than 1"),
        ("wall_clock_timeout_ms = 2000", "fuel_budget = 0", "fuel_budget: 0 is less than 1"),
        ("wall_clock_timeout_ms = 2000", "max_memory_bytes = 65535", "max_memory_bytes: 65535 is less than 65536"),
        ("http_egress = true", "everything = true", "wildcard_opt_in.everything: unknown key"),
        ("https://example.test/docs", "http://example.test/docs", "operator.docs_url: "),
        ("/docs?q=1", "/docs#a", "operator.docs_url: "),
        ("/docs?q=1", "/do cs", "operator.docs_url: "),
        ('["text"]', '["Text"]', "operator.categories[0]: "),
        ('default_tool_id = "acme.echo"', 'default_tool_id = "acme.other"', "default_tool_id: 'acme.other' is none"),
        ('"modules/echo.wasm"', '"assets/echo.wasm"', "operator.plugin.default_module_path: "),
        ('"modules/echo.wasm"', '"modules/../echo.wasm"', "operator.plugin.default_module_path: "),
        ('default_entrypoint = "run"', 'default_entrypoint = "Run!"', "operator.plugin.default_entrypoint: "),
        ("version = 1 }]", "version = 0 }]", "contracts[0].version: 0 is less than 1"),
        ("version = 1 }]", 'version = 1 }, { kind = "memory_provider", version = 2 }]', "contracts[1].kind: "),
        ('required = ["level"]', 'required = ["speed"]', "operator.config.required[0]: 'speed' is none"),
        ('default = "low"', 'default = "mid"', "properties.level.default: is none of enum_values"),
        ('default = "low"', "default = 3", "properties.level.default: is not of the type string"),
        ('["low", "high"]', '["low", "low"]', "properties.level.enum_values: contains a value twice"),
        ('type = "string", redacted = true', 'type = "text"', "properties.api_token.type: 'text' is not one of"),
        ('type = "string", redacted', 'type = "integer", enum_values = ["1"], redacted', "enum_values: needs the type"),
        ('type = "string", redacted', 'type = "integer", default = true, redacted', "default: is not of the type"),
        ('type = "string", redacted', 'type = "string_list", default = [1], redacted', "default: is not of the type"),
        ("properties.api_token", 'properties."API token"', "has a name with other characters"),
        ("experimental = true", "experimental = false", "builder.experimental: is not true"),
        ('source_kind = "prompt"', 'source_kind = ""', "builder.source_kind: "),
        ('"assets/c.json"', '"../c.json"', "builder.checklist.capability_declaration_path: "),
        ('display_name = "Echo"', "display_name = 2024-01-01", "operator.display_name: is a date or a time"),
        ("wall_clock_timeout_ms = 2000", f"fuel_budget = {1 << 63}", "is an integer of more than 64 bits"),
        ("default = \"low\"", "default = inf", "properties.level.default: is not a finite number"),
    ],
)  # fmt: skip
def test_a_rule_that_is_broken_names_its_field(old: str, new: str, expected: str) -> None:
    assert old in FULL
    found = problems(FULL.replace(old, new))
    assert any(expected in problem for problem in found), found


def test_a_tool_that_is_there_twice_is_refused() -> None:
    assert problems(MANIFEST.replace(TOOL, TOOL * 2)) == ["entrypoints.tools[1].id: 'acme.echo' is there twice"]


def test_all_problems_are_reported_together() -> None:
    text = FULL.replace("experimental = true", "experimental = false").replace('"hasStatus"', '"*"')
    assert [problem.split(":")[0] for problem in problems(text)] == [
        "capabilities.graph.predicates[0]",
        "builder.experimental",
    ]


@pytest.mark.parametrize(
    "data",
    [
        b"\xff", b"x", b"[", b"a = [" + b"[" * 50_000, b"a = " + b"{a = " * 5_000, b"#" * (257 << 10),
        b"a = 1\na = 2", b"a = " + b"9" * 5_000, b"\xef\xbb\xbfa = 1", b'a = "\\ud800"', b"a = 1\0",
        b"a." * 101 + b"a = 1", '"\u2028".'.encode() * 9_000 + b"a = 1",
    ],
)  # fmt: skip
def test_what_is_not_such_a_file_is_refused(data: bytes) -> None:
    with pytest.raises(ArtifactError, match=r"skill\.toml") as caught:
        read_skill_toml(data)
    assert caught.value.code == "manifest_invalid"


@settings(max_examples=150, deadline=None)
@given(st.integers(0, len(FULL)), st.integers(0, 30), st.text(max_size=12))
def test_random_changes_raise_nothing_else(start: int, length: int, new: str) -> None:
    try:
        manifest = read_skill_toml((FULL[:start] + new + FULL[start + length :]).encode("utf-8", "replace"))
    except ArtifactError as error:
        assert error.code == "manifest_invalid"  # noqa: PT017
    else:
        assert manifest.tools[0].id.startswith(f"{manifest.publisher}.")
