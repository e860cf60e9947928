"""What a graph of others may hold: names with marks, texts of a megabyte, many that are nearly equal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from cortex_skills import Plugin
from cortex_skills.skill_folder.builtin import NOTEBOOK, builtin_skill
from cortex_skills.tools.token_estimate import tokens_of
from tests.configs import config

LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
NAMES = {
    "quoted": "harbour \"of\" 'quotes'",
    "lines": "harbour\nof\r\nlines\u2028and\u2029more",
    "marks": "harbour o\u0301\u0301\u0301f marks",
    "hebrew": "harbour \u202eof \u05e0\u05de\u05dc\u202c\u200f",
    "arabic": "\u0645\u064a\u0646\u0627\u0621 harbour",
    "control": "harbour \x00\x07\x1b[31mred",
}
TOOLS: dict[str, list[dict[str, Any]]] = {
    "graph_find": [{"text": "harbour"}],
    "graph_describe": [{"name": f"place:{name}"} for name in NAMES],
    "graph_sparql": [{"query": f"SELECT ?s ?label {{ ?s {LABEL} ?label }}"}],
    "graph_overview": [{}],
    "skill_graph_query": [{"scope": "namespace", "predicate": LABEL}],
    "graph_difference": [{"since": "24h"}, {"since": "24h", "query": f"SELECT ?s ?label {{ ?s {LABEL} ?label }}"}],
}


@pytest.fixture
def plugin() -> Iterator[Plugin]:
    with Plugin.open(config()) as opened:
        opened.load(builtin_skill(NOTEBOOK))
        yield opened


def test_names_with_marks_are_found_and_stay_on_one_line(plugin: Plugin) -> None:
    for name, label in NAMES.items():
        plugin.graph.create_triple({"subject": f"place:{name}", "predicate": LABEL, "object": label})
    found = plugin.call("graph_find", {"text": "harbour"})
    assert {each["name"].rpartition(":")[2] for each in found.details["hits"]} == NAMES.keys()
    for tool, calls in TOOLS.items():
        for arguments in calls:
            text = plugin.call(tool, arguments).text
            assert not set(text) & set("\r\u2028\u2029\u202e\u202c\x00\x07\x1b"), (tool, arguments)
            assert "\nof" not in text
            assert "\nlines" not in text


def test_names_of_things_with_marks_are_found_and_an_answer_takes_back_what_it_prints(plugin: Plugin) -> None:
    for number, name in enumerate(NAMES.values()):
        plugin.graph.create_triple({"subject": f"place:{name}", "predicate": "note", "object": number})
    found = plugin.call("graph_find", {"text": "harbour"})
    hits = [each["name"] for each in found.details["hits"]]
    assert len(hits) == found.details["total"] == len(NAMES)
    assert len(found.text.splitlines()) == len(NAMES) + 1
    notes = set()
    for name in hits:
        described = plugin.call("graph_describe", {"name": name})
        first, note = described.text.splitlines()
        assert not set(first) & set("\u202e\u202c\x00\x07\x1b")
        notes.add(note)
    assert notes == {f"  mayros:note {number}" for number in range(len(NAMES))}


def test_a_literal_of_a_megabyte_disturbs_no_answer(plugin: Plugin) -> None:
    graph = plugin.graph
    graph.create_triple({"subject": "place:big", "predicate": "note", "object": "harbour " + "x" * 1_000_000})
    graph.create_triple({"subject": "place:big", "predicate": LABEL, "object": "wide harbour " * 80_000})
    graph.create_triple({"subject": "place:small", "predicate": LABEL, "object": "small harbour"})
    calls = {**TOOLS, "graph_describe": [{"name": "place:big"}], "skill_graph_query": [{"scope": "namespace"}]}
    for tool, each in calls.items():
        for arguments in each:
            result = plugin.call(tool, arguments)
            assert result.code is None, result.text
            assert tokens_of(result.text) <= 2_500, tool
    hits = plugin.call("graph_find", {"text": "harbour"}).details["hits"]
    assert [each["name"].rpartition(":")[2] for each in hits] == ["small", "big"]


def test_a_query_for_everything_is_a_page_with_the_true_number(plugin: Plugin) -> None:
    rows = [{"subject": f"s{n}", "predicate": f"p{n % 7}", "object": n} for n in range(3_000)]
    plugin.graph.create_triples(rows)
    result = plugin.call("graph_sparql", {"query": "SELECT * { ?s ?p ?o }"})
    assert "3,000" in result.text.partition("\n")[0]
    assert tokens_of(result.text) <= 2_500
    crossed = plugin.call("graph_sparql", {"query": "SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }", "limit": 5})
    assert crossed.code in (None, "query_timeout", "query_limit")
    assert plugin.call("graph_find", {"text": "s17"}).details["hits"][0]["name"].endswith("s17")
