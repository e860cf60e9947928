"""What may change without the host, what is told of it, and what goes together."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex_skills import CortexError
from cortex_skills.manifest import Manifest, parse_manifest
from cortex_skills.manifest.model import (
    DEFAULT_TOOLS,
    Assertion,
    Dependency,
    Permissions,
    Query,
    Semantic,
)
from cortex_skills.reload import check_approved, check_tools_kept, differences, groups, links, together
from tests.plugin.skills import manifest_text

TOOLS = st.just(["*"]) | st.lists(st.sampled_from([*DEFAULT_TOOLS, "own_tool"]), unique=True)
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
        ([], list(DEFAULT_TOOLS)),
        ([], [*DEFAULT_TOOLS, "own_tool"]),
        (["*"], ["*"]),
    ],
)
def test_tools_may_be_gained(old: list[str], new: list[str]) -> None:
    check_tools_kept("probe", semantic(allowedTools=old), semantic(allowedTools=new))


@pytest.mark.parametrize(
    ("old", "new", "lost"),
    [
        (["skill_assert", "hub_search"], ["skill_assert"], ["hub_search"]),
        (["*"], list(DEFAULT_TOOLS), ["*"]),
        ([], ["skill_assert"], sorted(set(DEFAULT_TOOLS) - {"skill_assert"})),
    ],
)
def test_no_tool_may_be_lost(old: list[str], new: list[str], lost: list[str]) -> None:
    with pytest.raises(CortexError) as refused:
        check_tools_kept("probe", semantic(allowedTools=old), semantic(allowedTools=new))
    assert (refused.value.code, refused.value.details["lost"]) == ("tool_not_allowed", lost)


@pytest.mark.parametrize("old", [["skill_assert"], ["*"], list(DEFAULT_TOOLS)], ids=repr)
def test_a_list_may_not_go_away_for_the_default_even_when_that_has_more(old: list[str]) -> None:
    with pytest.raises(CortexError, match="went away"):
        check_tools_kept("probe", semantic(allowedTools=old), semantic())


@given(old=TOOLS, new=TOOLS)
def test_what_could_be_called_before_a_reload_that_passes_can_be_called_after_it(
    old: list[str], new: list[str]
) -> None:
    before, after = semantic(allowedTools=old), semantic(allowedTools=new)
    try:
        check_tools_kept("probe", before, after)
    except CortexError:
        return
    assert all(after.allows_tool(tool) for tool in [*DEFAULT_TOOLS, "own_tool", "any"] if before.allows_tool(tool))


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
def test_what_is_not_approved_outright_is_refused(approval: object) -> None:
    with pytest.raises(CortexError, match="memory:recall"):
        check_approved("probe", frozenset({"memory:recall"}), frozenset(), approval)  # type: ignore[arg-type]


def test_a_text_is_no_list_of_permissions() -> None:
    with pytest.raises(CortexError, match="must be a list"):
        check_approved("probe", frozenset({"graph:read"}), frozenset(), "graph:read")


def test_a_permission_may_go_and_come_back() -> None:
    granted = check_approved("probe", frozenset(), frozenset({"graph:read"}), False)
    assert check_approved("probe", frozenset({"graph:read"}), granted, False) == {"graph:read"}


# --- differences

BEFORE = {
    "permissions": Permissions(graph=frozenset({"read", "write"})),
    "assertions": (Assertion("note"), Assertion("sealed", require_proof=True)),
    "queries": (Query("seen", "namespace"),),
    "allowed_tools": ("skill_assert",),
    "max_queries": 5,
    "skill_version": "1.0.0",
    "dependencies": (Dependency("base", "^1.0.0"),),
}


@pytest.mark.parametrize(
    ("change", "told", "security"),
    [
        ({"permissions": Permissions(graph=frozenset({"read"}))}, "semantic.permissions: removed graph:write", False),
        (
            {"permissions": Permissions(graph=frozenset({"read", "write"}), memory=frozenset({"recall"}))},
            "semantic.permissions: added memory:recall",
            True,
        ),
        ({"allowed_tools": ("skill_assert", "hub_search")}, "semantic.allowedTools: added hub_search", True),
        ({"allowed_tools": ("*",)}, "semantic.allowedTools: added *", True),
        ({"assertions": (Assertion("note"),)}, "semantic.assertions: removed sealed", False),
        ({"assertions": (*BEFORE["assertions"], Assertion("new"))}, "semantic.assertions: added new", True),  # type: ignore[misc]
        (
            {"assertions": (Assertion("note"), Assertion("sealed"))},
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
    ],
)
def test_each_difference_is_told_once_and_what_widens_is_marked(
    change: dict[str, object], told: str, security: bool
) -> None:
    old = Manifest("probe", "d", semantic=Semantic(version=1, **BEFORE))  # type: ignore[arg-type]
    assert old.semantic is not None
    new = replace(old, semantic=replace(old.semantic, **change))  # type: ignore[arg-type]
    assert [(str(d), d.security) for d in differences(old, new)] == [(told, security)]


def test_texts_are_told_of_on_one_line_and_short() -> None:
    old, new = manifest(), replace(manifest(), description="a\nb\x1b[31m" + "x" * 500, body="other")
    told = [str(difference) for difference in differences(old, new)]
    assert told[0].startswith("description: was d, is now a\\u000ab\\u001b[31mxxx")
    assert len(told[0]) < 200
    assert told[1:] == ["body: is another text"]


@given(tools=TOOLS)
def test_a_manifest_does_not_differ_from_itself(tools: list[str]) -> None:
    probe = parse_manifest(manifest_text("probe", allowedTools=tools))
    assert differences(probe, probe) == ()


def test_a_new_skill_is_told_by_what_it_may_do() -> None:
    told = [str(difference) for difference in differences(None, manifest(**BEFORE))]
    assert told[0] == "semantic.permissions: added graph:read, graph:write"
    assert "semantic.dependencies: base is now ^1.0.0" in told


# --- groups


def tied(*names: str) -> Manifest:
    name, *others = names
    return manifest(name, dependencies=tuple(Dependency(other, "*") for other in others))


def test_what_is_tied_through_one_that_did_not_change_goes_together() -> None:
    ties = links([tied("a", "b"), tied("b", "c"), tied("c"), tied("d")])
    assert groups({"a", "c", "d"}, ties, []) == [["a", "c"], ["d"]]


def test_what_was_rejected_before_comes_last() -> None:
    assert groups({"a", "b", "c"}, links([]), ["a"]) == [["b"], ["c"], ["a"]]


@given(pairs=TIES, changed=st.sets(NAMES))
def test_every_change_is_in_one_group_and_ties_never_cross_groups(
    pairs: list[tuple[str, str]], changed: set[str]
) -> None:
    ties = links([tied(a, b) for a, b in pairs])
    found = groups(changed, ties, [])
    assert sorted(name for group in found for name in group) == sorted(changed)
    for group in found:
        assert set(group) == together(group[0], ties) & changed
