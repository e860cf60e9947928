"""The fields of a valid SKILL.md."""

import dataclasses
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex_skills.features.actions.core import CORE_IDS
from cortex_skills.manifest import (
    Dependency,
    ManifestAssertion,
    Permissions,
    Query,
    Semantic,
    default_tools,
    parse_manifest,
)
from cortex_skills.tools import own_tools


def test_a_whole_manifest_is_read_into_its_fields(whole):
    manifest = parse_manifest(whole, "verify-kyc")
    assert manifest.name == "verify-kyc"
    assert manifest.description == "Checks whether a person is verified."
    assert manifest.semantic == Semantic(
        version=1,
        permissions=Permissions(
            graph=frozenset({"read", "write"}),
            proofs=frozenset({"request", "verify", "publish"}),
            memory=frozenset({"recall", "remember"}),
        ),
        assertions=(ManifestAssertion("isVerified", require_proof=True),),
        queries=(Query("hasStatus", "namespace"), Query("hasName", "agent")),
        allowed_tools=("skill_graph_query", "skill_assert", "hub_search"),
        max_queries=100,
        skill_version="1.0.0",
        dependencies=(Dependency("verify-kyc-base", "^1.0.0"),),
    )
    assert manifest.body == "# Verify\n\nAsk for the status.\n"


def test_a_plain_agentskills_file_is_valid_and_has_no_semantic_part():
    manifest = parse_manifest(
        "---\nname: a\ndescription: b\nlicense: MIT\ncompatibility: Needs git\n"
        'metadata: {author: me, version: "1.0"}\nallowed-tools: Read Bash(git:*)\n---\nBody'
    )
    assert manifest.semantic is None
    assert (manifest.license, manifest.compatibility) == ("MIT", "Needs git")
    assert manifest.metadata == {"author": "me", "version": "1.0"}
    assert manifest.allowed_tools_text == "Read Bash(git:*)"
    assert manifest.body == "Body"
    assert not manifest.has_permission("graph:read")


def test_a_minimal_semantic_block_gets_the_defaults(semantic):
    block = parse_manifest(semantic("version: 1")).semantic
    assert block.allowed_tools == default_tools()
    assert block.max_queries is None
    assert block.skill_version == "0.0.0"
    assert block.permissions == Permissions()


def test_the_default_tools_are_those_of_the_features_the_core_actions_and_three_more():
    assert set(default_tools()) == {*own_tools(), *CORE_IDS, "hub_search", "hub_verify", "mesh_request_knowledge"}
    assert len(set(default_tools())) == len(default_tools())


def test_an_empty_list_of_tools_is_the_default_list(semantic):
    assert parse_manifest(semantic("version: 1\nallowedTools: []")).semantic.allowed_tools == default_tools()


def test_a_star_allows_any_tool(semantic):
    block = parse_manifest(semantic('version: 1\nallowedTools: ["*"]')).semantic
    assert block.allows_tool("anything")
    assert not parse_manifest(semantic("version: 1\nallowedTools: [x]")).semantic.allows_tool("y")


def test_a_permission_is_tested_by_area_and_action(semantic):
    manifest = parse_manifest(semantic("version: 1\npermissions: {graph: [read]}"))
    assert manifest.has_permission("graph:read")
    assert not manifest.has_permission("graph:write")
    assert not manifest.has_permission("read")


def test_a_manifest_cannot_be_changed(whole):
    manifest = parse_manifest(whole)
    with pytest.raises(dataclasses.FrozenInstanceError):
        manifest.name = "other"
    with pytest.raises(TypeError):
        manifest.metadata["x"] = "y"
    assert hash(manifest) == hash(parse_manifest(whole))


def test_a_byte_order_mark_and_windows_line_ends_are_read(whole):
    manifest = parse_manifest("\ufeff" + whole.replace("\n", "\r\n"))
    assert manifest.semantic == parse_manifest(whole).semantic
    assert manifest.body == "# Verify\r\n\r\nAsk for the status.\r\n"


def test_a_rule_of_dashes_in_the_body_stays_in_the_body():
    assert parse_manifest("---\nname: a\ndescription: b\n---\nx\n---\ny").body == "x\n---\ny"


@pytest.mark.parametrize(
    "version", ["0.0.0", "1.2.3-alpha.1", "1.0.0-0A.is.legal", "1.0.0+build.01", "999.0.0-x-y-z.--"]
)
def test_every_semver_is_a_skill_version(semantic, version):
    manifest = parse_manifest(semantic(f'version: 1\nskillVersion: "{version}"'))
    assert manifest.semantic.skill_version == version


def test_the_semantic_block_in_a_companion_gives_the_same_manifest(whole):
    head, block = whole.split("type: semantic\nsemantic:\n")
    block, body = block.split("---\n")
    text = f"{head}metadata: {{semantic: semantic.yaml}}\n---\n{body}"
    manifest = parse_manifest(text, "verify-kyc", companion=block.replace("\n  ", "\n")[2:])
    assert manifest.semantic == parse_manifest(whole).semantic
    assert manifest.body == body


def test_a_companion_is_not_read_when_none_is_named():
    assert parse_manifest("---\nname: a\ndescription: b\n---\n", companion="version: 1").semantic is None


name_words = st.text("abc019", min_size=1, max_size=8)
names = st.lists(name_words, min_size=1, max_size=5).map("-".join)
texts = st.text(st.characters(max_codepoint=0xFFFF, exclude_categories=["Cs", "Cc"]), min_size=1, max_size=80).filter(
    str.strip
)


predicates = texts.filter(lambda text: not re.match("<?[a-z0-9+.-]*:", text, re.IGNORECASE))


@given(names, texts, predicates, st.integers(1, 2**31), st.sampled_from(["agent", "global"]))
def test_quoted_text_is_read_unchanged(name, description, predicate, queries, scope):
    text = (
        f"---\nname: '{name}'\ndescription: {json.dumps(description)}\ntype: semantic\nsemantic:\n  version: 1\n"
        f"  permissions: {{graph: [read]}}\n  maxQueries: {queries}\n"
        f"  queries:\n    - predicate: {json.dumps(predicate)}\n      scope: {scope}\n---\n"
    )
    manifest = parse_manifest(text, name)
    assert manifest.description == description.strip()
    assert manifest.semantic.queries == (Query(predicate, scope),)
    assert manifest.semantic.max_queries == queries
