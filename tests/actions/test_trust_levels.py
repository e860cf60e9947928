"""The matrix of trust levels, and the level in the store."""

from __future__ import annotations

from typing import Any

import pytest
from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph import GraphError
from cortex_skills import CortexError
from cortex_skills.features.actions.manifest import ActionManifest
from cortex_skills.features.actions.trust_store import TRUST_LEVEL
from cortex_skills.policy.trust_levels import LEVELS, NeedsApproval, Refused, Run, decide
from tests.actions.manifests import manifest

READ = {"id": "fs_read"}
SEARCH = {"id": "search_index"}
AGENT = {"id": "run_agent", "minTrustLevel": "supervised_auto", "risk": "medium", "requiresApproval": True}
WRITE = {"id": "fs_write", "minTrustLevel": "supervised_auto", "risk": "medium", "requiresApproval": True}
SHELL = {"id": "shell_safe", "minTrustLevel": "bounded_auto", "risk": "high", "requiresApproval": True}

# One letter for each level, from observe to bounded_auto: - refused, a on approval, r runs.
MATRIX = [
    (READ, "aarr"),
    (SEARCH, "aarr"),
    (AGENT, "--aa"),
    (WRITE, "--aa"),
    (SHELL, "---a"),
    ({"risk": "low"}, "aarr"),
    ({"risk": "medium"}, "aaar"),
    ({"risk": "high"}, "aaaa"),
    ({"risk": "low", "requiresApproval": True}, "aaaa"),
    ({"risk": "low", "minTrustLevel": "suggest"}, "-arr"),
    ({"risk": "low", "minTrustLevel": "supervised_auto"}, "--rr"),
    ({"risk": "low", "minTrustLevel": "bounded_auto"}, "---r"),
    ({"risk": "medium", "minTrustLevel": "suggest"}, "-aar"),
    ({"risk": "high", "minTrustLevel": "supervised_auto"}, "--aa"),
    ({"risk": "high", "minTrustLevel": "bounded_auto", "requiresApproval": True}, "---a"),
]
LETTERS = {Refused: "-", NeedsApproval: "a", Run: "r"}


@pytest.mark.parametrize(("changes", "row"), MATRIX)
def test_the_matrix(changes: dict[str, Any], row: str) -> None:
    action = ActionManifest.of(manifest(**changes))
    assert "".join(LETTERS[type(decide(level, action))] for level in LEVELS) == row
    expected = "rrrr" if action.id in ("fs_read", "search_index") else row
    assert "".join(LETTERS[type(decide(level, action, allow_reads=True))] for level in LEVELS) == expected


@pytest.mark.parametrize(
    "level", [None, "", "always", "BOUNDED_AUTO", "bounded_auto ", 3, ["bounded_auto"], b"suggest"]
)
def test_a_level_that_is_not_known_is_observe(level: object) -> None:
    action = ActionManifest.of(manifest(**WRITE))
    assert decide(level, action) == Refused("supervised_auto", "observe")


def test_the_level_of_the_configuration_holds_until_one_is_set(acting) -> None:
    plugin = acting(trustLevel="suggest")
    assert plugin.trust.level() == "suggest"
    change = plugin.trust.set("bounded_auto", actor="ada")
    assert (change.before, change.after, plugin.trust.level()) == ("suggest", "bounded_auto", "bounded_auto")
    plugin.trust.set("observe", actor="ada")
    assert plugin.trust.level() == "observe"


def test_a_change_of_the_level_is_audited(acting) -> None:
    plugin = acting()
    plugin.trust.set("suggest", actor="ada")
    record = plugin.recent_calls.page().calls[0].record
    assert (record.event, record.actor, record.outcome) == ("actions.trust_level.set", "ada", "ok")


def test_there_are_no_other_levels(acting) -> None:
    plugin = acting()
    with pytest.raises(CortexError, match="there is no trust level") as caught:
        plugin.trust.set("supervised", actor="ada")
    assert (caught.value.code, caught.value.hint) == ("invalid_arguments", "did you mean supervised_auto?")
    assert plugin.trust.level() == "observe"


@pytest.mark.parametrize("values", [["always"], ["suggest", "bounded_auto"], [""], [NamedNode("urn:x")]])
def test_a_corrupt_level_is_observe(acting, values: list[Any]) -> None:
    plugin = acting(trustLevel="bounded_auto")
    graph = plugin.graph.names.trust_graph
    terms = [Literal(value) if isinstance(value, str) else value for value in values]
    plugin.graph.store.apply([Quad(graph, TRUST_LEVEL, term, graph) for term in terms])
    assert plugin.trust.level() == "observe"
    plugin.trust.set("suggest", actor="ada")
    assert plugin.trust.level() == "suggest"


def test_no_client_of_the_namespace_writes_the_level(acting) -> None:
    plugin = acting()
    graph = plugin.graph.names.trust_graph.value
    plugin.graph.create_triple({"subject": graph, "predicate": TRUST_LEVEL.value, "object": "bounded_auto"})
    quad = f'<{graph}> <{TRUST_LEVEL.value}> "bounded_auto"'
    with pytest.raises(GraphError):
        plugin.graph.update(f"INSERT DATA {{ GRAPH <{graph}> {{ {quad} }} }}")
    assert plugin.trust.level() == "observe"
    plugin.trust.set("suggest", actor="ada")
    found = plugin.graph.query(f"SELECT ?o WHERE {{ GRAPH ?g {{ <{graph}> <{TRUST_LEVEL.value}> ?o }} }}")
    assert "suggest" not in str(found)
