"""Palyra's cases of manifests: both readers are asked, and agree."""

from __future__ import annotations

import tomllib

import pytest

from cortex_skills.features.artifacts.package import ArtifactError, read_archive, read_skill_toml
from tests.interchange.palyra import original
from tests.interchange.palyra.original import Refused, parse_manifest
from tests.interchange.palyra.samples import (
    BUILDER,
    CURRENT,
    LEGACY,
    MANIFEST,
    OPERATOR,
    OPTED,
    built,
    contracts,
    verified,
)

SIX = (
    "memory_provider",
    "context_engine",
    "routing_strategy",
    "run_lifecycle_hook",
    "delivery_adapter",
    "connector_adapter",
)

ACCEPTED = {
    "the old names of compat": CURRENT.replace("required_protocol_major", "min_protocol_major").replace(
        "min_palyra_version", "min_runtime_version"
    ),
    "version 1 without operator": LEGACY,
    "* in a path with opt-in": CURRENT.replace('["skills/data"]', '["skills/*"]').replace(
        "http_egress_allowlist", OPTED
    ),
    "a scope of a principal": CURRENT.replace("skill:acme.echo_http", "principal:admin:ops"),
    "a scope of a channel": CURRENT.replace("skill:acme.echo_http", "channel:discord:acct_1"),
    "a scope of a skill": CURRENT,
    "a builder with its checklist": CURRENT + BUILDER,
    "six contracts": CURRENT + contracts(*((kind, 1) for kind in SIX)),
    "a contract without its version": CURRENT + '\n[[operator.plugin.contracts]]\nkind = "memory_provider"\n',
}
REFUSED = {
    **{
        f"the skill id {name}": CURRENT.replace('skill_id = "acme.echo_http"', f'skill_id = "{name}"')
        for name in (".", "..", "acme..echo_http", ".acme", "acme.", "c:temp", "acme:echo_http")
    },
    "* in a host without opt-in": CURRENT.replace('"api.example.com"', '"*"'),
    **{
        f"the path {path}": CURRENT.replace('["skills/data"]', f'["{path}"]').replace("http_egress_allowlist", OPTED)
        for path in ("../*", "*//foo", "skills//*/data")
    },
    **{
        f"the scope {scope}": CURRENT.replace("skill:acme.echo_http", scope)
        for scope in ("principal:", "channel:", "skill:")
    },
    "operator in version 1": LEGACY + OPERATOR,
    "a default tool that is none of the tools": CURRENT.replace(
        'default_tool_id = "acme.echo"', 'default_tool_id = "acme.missing"'
    ),
    "a kind of contract twice": CURRENT + contracts(("memory_provider", 1), ("memory_provider", 1)),
    "a contract of version 0": CURRENT + contracts(("memory_provider", 0)),
    "a contract of version 99": CURRENT + contracts(("run_lifecycle_hook", 99)),
    "an unknown contract": CURRENT + contracts(("memory", 1)),
    "a maximum below the minimum": CURRENT.replace(
        'min_palyra_version = "0.1.0"', 'min_palyra_version = "2.0.0"\nmax_palyra_version = "1.9.0"'
    ),
    "a builder without a test harness": CURRENT + BUILDER.replace("tests/smoke.test.json", ""),
    "a tool id without the publisher": CURRENT.replace('id = "acme.echo"', 'id = "echo"'),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_a_manifest_that_palyra_accepts_is_accepted(name: str) -> None:
    parsed, ours = parse_manifest(ACCEPTED[name]), read_skill_toml(ACCEPTED[name].encode())
    assert (ours.skill_id, ours.version, ours.compat.required_protocol_major) == ("acme.echo_http", "1.0.0", 1)
    assert ours.manifest_version == parsed.manifest_version
    assert [tool.id for tool in ours.tools] == [tool.id for tool in parsed.entrypoints.tools]
    assert [secret.scope for secret in ours.capabilities.secrets] == [s.scope for s in parsed.capabilities.secrets]
    assert bool(ours.builder) == (parsed.builder is not None)
    declared = [each["kind"] for each in ours.plugin.get("contracts", ())]
    assert declared == [each.kind for each in parsed.operator.plugin.contracts]


@pytest.mark.parametrize("name", REFUSED)
def test_a_manifest_that_palyra_refuses_is_refused(name: str) -> None:
    with pytest.raises(Refused) as theirs:
        parse_manifest(REFUSED[name])
    assert theirs.value.kind in ("ManifestValidation", "InvalidArtifactPath", "ManifestParse")
    with pytest.raises(ArtifactError) as ours:
        read_skill_toml(REFUSED[name].encode())
    assert ours.value.code == "manifest_invalid"


@pytest.mark.parametrize("text", [CURRENT, LEGACY])
def test_what_palyra_writes_of_a_manifest_is_read(text: str) -> None:
    """It writes the current names, and all defaults: an empty `[operator]` in version 1, too."""
    entries = read_archive(built(text))
    written = tomllib.loads(entries["skill.toml"].decode())
    assert set(written["compat"]) == {"required_protocol_major", "min_palyra_version"}
    assert "operator" in written
    assert written["capabilities"]["wildcard_opt_in"] == dict.fromkeys(original.Wildcards.model_fields, False)
    ours = read_skill_toml(entries["skill.toml"])
    assert ours.manifest_version == parse_manifest(text).manifest_version
    assert set(ours.integrity) == set(entries) - {"skill.toml", "signature.json"}


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        (CURRENT, []),
        (LEGACY, ["legacy_manifest_version", "missing_operator_metadata"]),
        (MANIFEST, ["missing_operator_metadata"]),
        (CURRENT.replace('display_name = "Echo HTTP"\n', ""), ["missing_operator_display_name"]),
        (MANIFEST + '[operator]\ndisplay_name = "x"\n[operator.config]\n', ["empty_operator_config_contract"]),
        (CURRENT.replace("redacted = true", ""), ["operator_config_redaction_recommended"]),
    ],
    ids=["current", "version 1", "no operator", "no name", "empty config", "open secret"],
)
def test_the_warnings_about_a_manifest_are_those_of_palyra(text: str, codes: list[str]) -> None:
    assert original.warnings_of(parse_manifest(text)) == codes
    assert sorted(read_skill_toml(text.encode()).warnings) == sorted(codes)


@pytest.mark.parametrize(
    ("text", "field"),
    [
        (CURRENT.replace("acme.echo_http", "echo.http"), ""),
        (CURRENT.replace('"number"', '"numeral"'), "output_schema"),
        (CURRENT.replace('name = "Echo + HTTP"', f'name = "{"x" * 300}"'), "name"),
    ],
    ids=["the id of another publisher", "a schema that is none", "a name of 300 characters"],
)
def test_refused_what_palyra_reads_without_a_look(text: str, field: str) -> None:
    assert parse_manifest(text).publisher == "acme"
    if field:
        with pytest.raises(ArtifactError, match=field):
            read_skill_toml(text.encode())
    else:  # a manifest that is signed so is refused at the step `publisher`
        assert "does not start with its publisher" in str(verified(built(text)).error)
