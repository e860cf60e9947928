"""`skill_assert` with `statements`: all written or none, each answered, proofs and budgets for each."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cortex_graph.store import Pattern
from cortex_skills import Plugin
from cortex_skills.gate.result import Result

Opened = Callable[..., Plugin]
Written = Callable[..., Path]
HOSTS_TAKE = 100_000  # bytes: 25,000 tokens
ONE_NOTE = """\
@prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix : <urn:cortex:mayros:> .
:S a sh:NodeShape ; sh:targetSubjectsOf :sealed ; sh:property [ sh:path :sealed ; sh:maxCount 1 ] .
"""


def note(number: Any, predicate: str = "note", **more: Any) -> dict[str, Any]:
    return {"subject": f"s{number}", "predicate": predicate, "object": number, **more}


def size(result: Result) -> int:
    """The bytes of an answer over MCP."""
    return len(result.text.encode()) + len(json.dumps(result.details, ensure_ascii=False).encode())


def several(plugin: Plugin, statements: list[dict[str, Any]], **more: Any) -> Result:
    return plugin.call("skill_assert", {"statements": statements, **more})


def quads(plugin: Plugin) -> int:
    store, registry = plugin.graph.store, plugin.graph.names.registry_graph
    return sum(store.count(Pattern(graph)) for graph in store.graph_names() if graph != registry)


def used(plugin: Plugin) -> int:
    count: int = plugin.status()["skills"][0]["assertionsUsed"]
    return count


@pytest.fixture(params=["memory", "disk"])
def asserting(request: pytest.FixtureRequest, opened: Opened, skill: Written, tmp_path: Path) -> Plugin:
    store = "memory:" if request.param == "memory" else str(tmp_path / "store")
    plugin = opened(store=store, sandbox={"maxAssertions": 100})
    plugin.load(skill("probe"))
    return plugin


def test_several_statements_are_written_with_their_records_and_each_is_answered(asserting: Plugin) -> None:
    single = asserting.call("skill_assert", note(1))
    result = several(asserting, [note(1), note(2), note(3)])
    assert result.details["createdCount"] == 2
    first, second, third = result.details["statements"]
    assert first == {**single.details, "created": False}
    assert (second["subject"], second["object"], second["created"], second["verified"]) == ("mayros:s2", 2, True, False)
    assert result.text.split("\n") == [
        "Asserted 2 of 3 statements; 1 were there already:",
        *(
            f"{n}. mayros:s{n} mayros:note {n} hash {each['tripleHash']}"
            for n, each in enumerate((first, second, third), 1)
        ),
    ]
    record = asserting.graph.provenance_of(third["tripleHash"])
    assert record is not None
    assert (record["agent"], record["skill"]) == ("a1", "probe")
    assert used(asserting) == 3


def test_values_have_a_datatype_or_a_language_and_names_are_compact(asserting: Plugin) -> None:
    values = [
        {"value": "2026-12-01", "datatype": "xsd:date"},
        {"value": "12.5", "datatype": "http://www.w3.org/2001/XMLSchema#decimal"},
        {"value": "Faktura", "language": "sv"},
        {"node": "company:acme"},
        True,
    ]
    result = several(asserting, [note("x", object=value) | {"subject": "person:ada"} for value in values])
    kept = [asserting.graph.get_triple(each["tripleHash"]) for each in result.details["statements"]]
    assert [triple and triple["object"] for triple in kept] == [
        {"value": "2026-12-01", "datatype": "http://www.w3.org/2001/XMLSchema#date"},
        *values[1:3],
        {"node": "mayros:company:acme"},
        True,
    ]
    for value in values:  # and a query takes them
        found = asserting.call("skill_graph_query", {"object": value, "scope": "namespace"})
        assert found.details["total"] == 1


@pytest.mark.parametrize(
    ("bad", "code", "message"),
    [
        (note(2, "other"), "undeclared_predicate", "does not declare that it asserts 'other'"),
        (note(2, object={"datatype": "xsd:date"}), "invalid_arguments", "unknown form"),
        (note(2, object={"value": "x", "language": "no tag"}), "invalid_arguments", "not a language tag"),
        (note(2, subject="\ud800"), "invalid_arguments", "surrogate"),
        (note(2, object={"node": "s2"}, requireProof=True), "proof_failed", "no-self-reference"),
    ],
)
def test_nothing_is_written_when_one_statement_is_refused(
    asserting: Plugin, bad: dict[str, Any], code: str, message: str
) -> None:
    result = several(asserting, [note(1), bad, note(3), bad])
    assert (result.code, quads(asserting), used(asserting)) == (code, 0, 0)
    assert "2 of 4 statements cannot be asserted, and nothing was written: statement 2: " in result.text
    assert message in result.text
    problems = result.details["details"]["problems"]
    assert [(problem["statement"], problem["code"]) for problem in problems] == [(2, code), (4, code)]


def test_each_statement_of_several_that_needs_a_proof_gets_one(asserting: Plugin) -> None:
    result = several(asserting, [note(1, "sealed"), note(2), note(3, requireProof=True)])
    verdicts = [each["verdict"] for each in result.details["statements"]]
    assert verdicts == ["well-formed", "not checked", "well-formed"]
    for number, proved in ((1, True), (2, False), (3, True)):
        found = asserting.call("skill_graph_query", {"subject": f"s{number}"})
        assert found.details["matches"][0].get("proved", False) is proved
    count = quads(asserting)
    again = several(asserting, [note(1, "sealed"), note(2), note(3, requireProof=True)])
    assert again.details["createdCount"] == 0
    assert [each.get("proofHash") for each in again.details["statements"]] == [
        each.get("proofHash") for each in result.details["statements"]
    ]
    assert (quads(asserting), used(asserting)) == (count, 3)


@pytest.mark.parametrize("asked", [{"requireProof": True}, {"proofType": "pol"}])
def test_a_proof_that_the_call_requires_is_not_switched_off_by_a_statement(asserting: Plugin, asked: Any) -> None:
    result = several(asserting, [note(1, requireProof=False), note(2)], **asked)
    assert [each["verdict"] for each in result.details["statements"]] == ["well-formed"] * 2


def test_statements_that_contradict_one_another_are_refused_together(opened: Opened, skill: Written) -> None:
    plugin = opened()
    permissions = {"graph": ["read", "write"], "proofs": ["request", "verify"]}
    plugin.load(skill("probe", files={"shapes.ttl": ONE_NOTE}, permissions=permissions))
    two = [{"subject": "s", "predicate": "sealed", "object": value} for value in (1, 2)]
    result = several(plugin, two)
    assert (result.code, quads(plugin)) == ("proof_failed", 0)
    assert len(result.details["details"]["problems"]) == 2
    assert several(plugin, two[:1]).details["createdCount"] == 1
    assert several(plugin, two[1:]).code == "proof_failed"
    # A proof has the statements that were asserted with it among its premises, and holds afterwards.
    pair = several(plugin, [{"subject": name, "predicate": "sealed", "object": 1} for name in ("t", "u")])
    for each in pair.details["statements"]:
        subject = {"subject": each["subject"], "predicate": "sealed"}
        checked = plugin.call("skill_verify_assertion", subject)
        assert checked.details["verdict"] == "verified", checked.text


def test_a_batch_uses_a_slot_for_each_new_statement_or_none(opened: Opened, skill: Written) -> None:
    plugin = opened(sandbox={"maxAssertions": 5})
    plugin.load(skill("probe"))
    assert several(plugin, [note(1), note(2), note(1)]).details["createdCount"] == 2
    assert used(plugin) == 2
    refused = several(plugin, [note(number) for number in range(3, 7)])
    assert (refused.code, used(plugin)) == ("assertion_limit", 2)
    assert "probe has used 2 assertions of 5 in this session, and this call needs 4" in refused.text
    assert several(plugin, [note(number) for number in range(1, 6)]).details["createdCount"] == 3
    assert several(plugin, [note(number) for number in range(1, 6)]).details["createdCount"] == 0
    assert several(plugin, [note(6)]).code == "assertion_limit"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "give subject, predicate, object or statements"),
        ({"subject": "s", "predicate": "note"}, "object: is missing: give subject, predicate, object"),
        ({**note(1), "statements": [note(2)]}, "not both"),
        ({"statements": []}, "statements"),
        ({"statements": [note(1)] * 101}, "has more than 100 items"),
        ({**note(1), "subject": "s" * 5000}, "is longer than 4096 characters"),
        ({"statements": [{"subject": "s", "predicate": "note"}]}, "statements.0"),
        ({"statements": [note(1, object=None)]}, "statements.0.object"),
        ({"statements": [note(1, agent="eve")]}, "statements.0"),
    ],
)
def test_a_call_gives_one_statement_or_up_to_a_hundred(asserting: Plugin, arguments: Any, message: str) -> None:
    result = asserting.call("skill_assert", arguments)
    assert (result.code, quads(asserting)) == ("invalid_arguments", 0)
    assert message in result.text


def test_the_answer_to_a_hundred_long_statements_is_short(asserting: Plugin) -> None:
    name = "n" * 1500
    long = [{"subject": f"{name}{n}", "predicate": "note", "object": "word " * 5000} for n in range(100)]
    result = several(asserting, long)
    assert size(result) < HOSTS_TAKE
    assert result.details["createdCount"] == 100
    assert all(len(each["tripleHash"]) == 64 for each in result.details["statements"])
    assert "without the triples, which are too long for an answer" in result.text
    short = several(asserting, long[:1])
    assert short.details["statements"][0]["objectLength"] == 25_000


def test_the_answer_to_a_hundred_refused_statements_is_short(opened: Opened, skill: Written) -> None:
    plugin = opened(sandbox={"maxAssertions": 100})
    declared = [{"predicate": f"predicate-{number}"} for number in range(300)]
    plugin.load(skill("probe", assertions=declared))
    result = several(plugin, [note(number, "x" * 4000) for number in range(100)])
    assert (result.code, len(result.details["details"]["problems"])) == ("undeclared_predicate", 100)
    assert size(result) < HOSTS_TAKE
