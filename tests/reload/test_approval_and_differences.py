"""Which changes need approval, how differences are reported, and which skills form a group."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex_skills import CortexError
from cortex_skills.lifecycle.reload.approval import check_approved, check_tools_kept
from cortex_skills.lifecycle.reload.differences import differences
from cortex_skills.lifecycle.reload.groups import connected, groups, links
from cortex_skills.manifest import Manifest, parse_manifest
from cortex_skills.manifest.model import (
    Dependency,
    EnrichmentField,
    ManifestAssertion,
    Permissions,
    Query,
    Semantic,
    default_tools,
)
from tests.plugin.skills import manifest_text

TOOLS = st.just(["*"]) | st.lists(st.sampled_from([*default_tools(), "own_tool"]), unique=True)
NAMES = st.sampled_from("abcdef")
TIES = st.lists(st.tuples(NAMES, NAMES), max_size=8)


def semantic(**given: object) -> Semantic:
    parsed = parse_manifest(manifest_text("probe", **given)).semantic
    assert parsed is not None
    return parsed


def manifest(name: str = "probe", **given: object) -> Manifest:
    return Manifest(name, "d", semantic=Semantic(1, **given))  # type: ignore[arg-type]


# --- tools


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (["skill_assert"], ["skill_assert", "hub_search"]),
        (["skill_assert", "hub_search"], ["hub_search", "skill_assert"]),
        (["skill_assert"], ["*"]),
        ([], ["*"]),
        ([], list(default_tools())),
        ([], [*default_tools(), "own_tool"]),
        (["*"], ["*"]),
    ],
)
def test_tools_may_be_gained(old: list[str], new: list[str]) -> None:
    check_tools_kept("probe", semantic(allowedTools=old), semantic(allowedTools=new))


@pytest.mark.parametrize(
    ("old", "new", "lost"),
    [
        (["skill_assert", "hub_search"], ["skill_assert"], ["hub_search"]),
        (["*"], list(default_tools()), ["*"]),
        ([], ["skill_assert"], sorted(set(default_tools()) - {"skill_assert"})),
    ],
)
def test_no_tool_may_be_lost(old: list[str], new: list[str], lost: list[str]) -> None:
    with pytest.raises(CortexError) as refused:
        check_tools_kept("probe", semantic(allowedTools=old), semantic(allowedTools=new))
    assert (refused.value.code, refused.value.details["lost"]) == ("tool_not_allowed", lost)


@pytest.mark.parametrize("old", [["skill_assert"], ["*"], list(default_tools())], ids=repr)
def test_a_list_may_not_be_removed_even_when_the_default_has_more(old: list[str]) -> None:
    with pytest.raises(CortexError, match="were removed"):
        check_tools_kept("probe", semantic(allowedTools=old), semantic())


@given(old=TOOLS, new=TOOLS)
def test_a_tool_that_could_be_called_before_a_reload_can_be_called_after_it(old: list[str], new: list[str]) -> None:
    before, after = semantic(allowedTools=old), semantic(allowedTools=new)
    try:
        check_tools_kept("probe", before, after)
    except CortexError:
        return
    assert all(after.allows_tool(tool) for tool in [*default_tools(), "own_tool", "any"] if before.allows_tool(tool))


# --- permissions


def test_a_permission_that_was_not_approved_is_refused() -> None:
    with pytest.raises(CortexError) as refused:
        check_approved("probe", frozenset({"graph:read", "graph:write"}), frozenset({"graph:read"}), False)
    assert (refused.value.code, refused.value.details["missing"]) == ("permission_denied", ["graph:write"])


@pytest.mark.parametrize(
    "approval",
    [
        True,
        ["graph:write"],
        {"graph:write", "memory:recall"},
        lambda name, added: (name, added) == ("probe", {"graph:write"}),
    ],
    ids=["all", "list", "set", "function"],
)
def test_a_host_approves_in_several_ways(approval: object) -> None:
    asked = frozenset({"graph:read", "graph:write"})
    assert check_approved("probe", asked, frozenset({"graph:read"}), approval) == asked  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "approval",
    [False, [], ["graph:read"], lambda *_: False, lambda *_: "yes"],
    ids=["no", "none", "other", "f", "truthy"],
)
def test_only_true_approves(approval: object) -> None:
    with pytest.raises(CortexError, match="memory:recall"):
        check_approved("probe", frozenset({"memory:recall"}), frozenset(), approval)  # type: ignore[arg-type]


def test_a_string_is_not_a_list_of_permissions() -> None:
    with pytest.raises(CortexError, match="must be a list"):
        check_approved("probe", frozenset({"graph:read"}), frozenset(), "graph:read")


def test_a_permission_may_be_removed_and_added_again() -> None:
    granted = check_approved("probe", frozenset(), frozenset({"graph:read"}), False)
    assert check_approved("probe", frozenset({"graph:read"}), granted, False) == {"graph:read"}


# --- differences

BEFORE = {
    "permissions": Permissions(graph=frozenset({"read", "write"})),
    "assertions": (ManifestAssertion("note"), ManifestAssertion("sealed", require_proof=True)),
    "queries": (Query("seen", "namespace"),),
    "allowed_tools": ("skill_assert",),
    "max_queries": 5,
    "skill_version": "1.0.0",
    "dependencies": (Dependency("base", "^1.0.0"),),
    "fields": (EnrichmentField("status", ("clear", "flagged")),),
}


@pytest.mark.parametrize(
    ("change", "reported", "security"),
    [
        ({"permissions": Permissions(graph=frozenset({"read"}))}, "semantic.permissions: removed graph:write", False),
        (
            {"permissions": Permissions(graph=frozenset({"read", "write"}), memory=frozenset({"recall"}))},
            "semantic.permissions: added memory:recall",
            True,
        ),
        ({"allowed_tools": ("skill_assert", "hub_search")}, "semantic.allowedTools: added hub_search", True),
        ({"allowed_tools": ("*",)}, "semantic.allowedTools: added *", True),
        ({"assertions": (ManifestAssertion("note"),)}, "semantic.assertions: removed sealed", False),
        ({"assertions": (*BEFORE["assertions"], ManifestAssertion("new"))}, "semantic.assertions: added new", True),  # type: ignore[misc]
        (
            {"assertions": (ManifestAssertion("note"), ManifestAssertion("sealed"))},
            "semantic.assertions: sealed needs no proof now",
            True,
        ),
        ({"queries": (Query("seen", "global"),)}, "semantic.queries: seen has scope global, was namespace", True),
        ({"queries": (Query("seen", "agent"),)}, "semantic.queries: seen has scope agent, was namespace", False),
        ({"max_queries": 6}, "semantic.maxQueries: was 5, is now 6", True),
        ({"max_queries": 4}, "semantic.maxQueries: was 5, is now 4", False),
        ({"max_queries": None}, "semantic.maxQueries: was 5, is now the host's limit", True),
        ({"skill_version": "1.1.0"}, "semantic.skillVersion: was 1.0.0, is now 1.1.0", False),
        ({"version": 2}, "semantic.version: was 1, is now 2", False),
        ({"dependencies": ()}, "semantic.dependencies: base was ^1.0.0, is not stated now", True),
        ({"fields": ()}, "semantic.enrichment.fields: status was clear, flagged, is not stated now", False),
        (
            {"fields": (EnrichmentField("status"),)},
            "semantic.enrichment.fields: status was clear, flagged, is now text",
            True,
        ),
    ],
)
def test_each_difference_is_reported_once_and_security_relevant_ones_are_marked(
    change: dict[str, object], reported: str, security: bool
) -> None:
    old = Manifest("probe", "d", semantic=Semantic(version=1, **BEFORE))  # type: ignore[arg-type]
    assert old.semantic is not None
    new = replace(old, semantic=replace(old.semantic, **change))  # type: ignore[arg-type]
    assert [(str(d), d.security) for d in differences(old, new)] == [(reported, security)]


def test_differences_of_texts_are_one_short_line() -> None:
    old, new = manifest(), replace(manifest(), description="a\nb\x1b[31m" + "x" * 500, body="other")
    reported = [str(difference) for difference in differences(old, new)]
    assert reported[0].startswith("description: was d, is now a\\u000ab\\u001b[31mxxx")
    assert len(reported[0]) < 200
    assert reported[1:] == ["body: changed"]


@given(tools=TOOLS)
def test_a_manifest_does_not_differ_from_itself(tools: list[str]) -> None:
    probe = parse_manifest(manifest_text("probe", allowedTools=tools))
    assert differences(probe, probe) == ()


def test_the_differences_of_a_new_skill_are_what_it_may_do() -> None:
    reported = [str(difference) for difference in differences(None, manifest(**BEFORE))]
    assert reported[0] == "semantic.permissions: added graph:read, graph:write"
    assert "semantic.dependencies: base is now ^1.0.0" in reported


# --- groups


def tied(*names: str) -> Manifest:
    name, *others = names
    return manifest(name, dependencies=tuple(Dependency(other, "*") for other in others))


def test_skills_connected_through_an_unchanged_one_are_one_group() -> None:
    ties = links([tied("a", "b"), tied("b", "c"), tied("c"), tied("d")])
    assert groups({"a", "c", "d"}, ties, []) == [["a", "c"], ["d"]]


def test_groups_that_were_rejected_before_come_last() -> None:
    assert groups({"a", "b", "c"}, links([]), ["a"]) == [["b"], ["c"], ["a"]]


@given(pairs=TIES, changed=st.sets(NAMES))
def test_every_change_is_in_one_group_and_links_never_cross_groups(
    pairs: list[tuple[str, str]], changed: set[str]
) -> None:
    ties = links([tied(a, b) for a, b in pairs])
    found = groups(changed, ties, [])
    assert sorted(name for group in found for name in group) == sorted(changed)
    for group in found:
        assert set(group) == connected(group[0], ties) & changed
