"""No answer of a tool is above 2,500 tokens unless it was asked for, however large the graph and what it holds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cortex_skills import Plugin
from cortex_skills.features.memory.requests import new_memory
from cortex_skills.features.registry.documents.skill_md import inline_document
from cortex_skills.tools import own_tools
from cortex_skills.tools.token_estimate import tokens_of

MOST = 2_500
WORDS = "remarkable sentences about harbours "
RDFS_LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
RDF_TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
# What returns one document whose whole text is asked for, or a proof or a skill that another test makes.
OF_ONE_DOCUMENT = {
    "load_skill",
    "memory_skill_get",
    "memory_skill_resource",
    "memory_skill_compositional_context",
    "memory_skill_export",
    "memory_skill_register",
    "memory_skill_promote_from_reflection",
    "skill_feedback",
    "skill_learn",
    "skill_memory_reflect",
    "skill_request_zk_proof",
    "skill_verify_zk_proof",
    "skill_write",
    "approval_status",
}
CALLS: dict[str, list[dict[str, Any]]] = {
    "skill_graph_query": [{"scope": "namespace"}, {"scope": "namespace", "predicate": "note"}],
    "skill_assert": [
        {"statements": [{"subject": f"n{n}", "predicate": "note", "object": WORDS * 50} for n in range(20)]}
    ],
    "skill_retract": [],
    "graph_overview": [{}, {"class": "Class0"}],
    "graph_find": [{"text": "harbours"}, {"text": "thing 1", "class": "Class0"}],
    "graph_describe": [{"name": "hub"}, {"name": "thing:1"}, {"name": "sealed"}],
    "graph_sparql": [
        {"query": "SELECT * { ?s ?p ?o }"},
        {"query": "CONSTRUCT WHERE { ?s ?p ?o }"},
        {"query": "SELECT (GROUP_CONCAT(?o) AS ?all) { ?s mayros:note ?o }"},
        {"query": "DESCRIBE mayros:hub"},
    ],
    "graph_difference": [
        {"since": "24h"},
        {"since": "24h", "subject": "hub"},
        {"since": "24h", "query": "SELECT * { ?s mayros:note ?o }"},
    ],
    "skill_verify_assertion": [
        {"subject": "hub", "predicate": "sealed"},
        {"subject": "hub", "predicate": "links1"},
        {"subject": "thing:1", "predicate": "note"},
    ],
    "skill_memory_context": [{"query": "harbours"}],
    "skill_memory_remember": [{"text": (WORDS * 20)[:512]}],
    "skill_find": [{"query": "harbour"}],
    "skill_read": [{}],
    "memory_skill_list": [{}],
}


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plugin]:
    from tests.configs import config
    from tests.plugin.skills import write_skill

    folder: Path = tmp_path_factory.mktemp("large")
    granted = {
        "graph": ["read", "write"],
        "proofs": ["request", "verify"],
        "memory": ["remember", "recall"],
        "registry": ["read", "learn"],
    }
    write_skill(folder / "probe", permissions=granted)
    limits = {"maxCallsPerMinute": 1000, "maxAssertions": 1000}
    with Plugin.open(config(tools={"profiles": ["core", "registry", "proofs"]}, skillSandbox=limits)) as plugin:
        plugin.load(folder / "probe")
        rows: list[dict[str, Any]] = []
        for n in range(1000):
            rows += [
                {"subject": f"thing:{n}", "predicate": RDFS_LABEL, "object": f"Thing {n} of {WORDS * 8}"},
                {"subject": f"thing:{n}", "predicate": "note", "object": f"{n} {WORDS * 25}"},
                {"subject": f"thing:{n}", "predicate": RDF_TYPE, "object": {"node": f"Class{n % 60}{'x' * (n % 60)}"}},
                {"subject": "hub", "predicate": f"links{n % 120}", "object": {"node": f"thing:{n}"}},
            ]
        plugin.graph.create_triples(rows)
        sealed = [{"subject": "hub", "predicate": "sealed", "object": f"{n} {WORDS * 25}"} for n in range(12)]
        done = plugin.call("skill_assert", {"statements": sealed})
        assert done.code is None, done.text
        for n in range(120):
            memory = new_memory(f"harbour {n} {WORDS * 13}"[:512], {"tags": [f"t{k}{'y' * 30}" for k in range(8)]})
            plugin.memories.remember(memory, agent=plugin.agent)
        for n in range(40):
            text = f"Reads harbour {n}. {WORDS * 25}"[:1000]
            document = inline_document({"name": f"harbour-{n}", "description": text, "body": "b"}, "mayros")
            plugin.registry.register(document, actor="ada", origin="human")
        yield plugin


def test_every_tool_is_called_here_or_named() -> None:
    assert CALLS.keys() | OF_ONE_DOCUMENT == own_tools().keys()


@pytest.mark.parametrize("tool", CALLS)
def test_an_answer_is_within_the_budget(large: Plugin, tool: str) -> None:
    for arguments in CALLS[tool]:
        result = large.call(tool, arguments)
        assert result.code is None, result.text
        seen = result.text
        if own_tools()[tool].output_schema:
            structured = json.dumps(result.details, ensure_ascii=False)
            assert tokens_of(structured) <= MOST, (tool, arguments, len(structured))
        assert tokens_of(seen) <= MOST, (tool, arguments, len(seen))
        assert len(seen) > 0


def test_a_list_of_skills_without_a_limit_is_read_whole_by_its_cursors(large: Plugin) -> None:
    names: list[str] = []
    arguments: dict[str, Any] = {}
    while True:
        details = large.call("memory_skill_list", arguments).details
        assert tokens_of(json.dumps(details)) <= MOST
        names += [each["name"] for each in details["skills"] if each["name"].startswith("harbour-")]
        if details["cursor"] is None:
            break
        arguments = {"cursor": details["cursor"]}
    assert sorted(names) == sorted(f"harbour-{n}" for n in range(40))
    asked = large.call("memory_skill_list", {"limit": 15}).details["skills"]
    assert len(asked) == 15


def test_the_records_of_found_skills_are_the_first_ones_unless_there_is_a_limit(large: Plugin) -> None:
    few, all_of = (large.call("skill_find", {"query": "harbour", **more}) for more in ({}, {"limit": 5}))
    assert 1 <= len(few.details["skills"]) < len(all_of.details["skills"]) == 5
    assert (few.details["truncated"], all_of.details["truncated"]) == (True, False)
    assert few.details["skills"] == all_of.details["skills"][: len(few.details["skills"])]
    assert few.text == all_of.text
    assert len(large.call("skill_read", {"limit": 9}).details["skills"]) == 9


def test_a_verification_counts_the_parts_that_it_leaves_out_and_its_verdict_is_of_all(large: Plugin) -> None:
    result = large.call("skill_verify_assertion", {"subject": "hub", "predicate": "sealed"})
    details = result.details
    assert details["total"] == 12
    assert details["partsLeftOut"] > 0
    assert f"{details['partsLeftOut']} more parts were checked" in result.text
    assert "2 more were not checked: give an object." in result.text
    assert result.text.count("Found: ") == 10
    assert details["checks"]
