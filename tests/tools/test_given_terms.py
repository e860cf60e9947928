"""Every form of a name and of a value that an answer prints is taken as an argument."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_skills import Plugin
from cortex_skills.skill_folder.builtin import NOTEBOOK, builtin_skill
from tests.configs import config
from tests.property_examples import examples
from tests.tools.shop_graph import fill

XSD = "http://www.w3.org/2001/XMLSchema#"
VALUES: dict[str, Any] = {
    "text": "Faktura",
    "quoted": 'a "b"',
    "swedish": {"value": "Faktura", "language": "sv"},
    "decimal": {"value": "12.50", "datatype": f"{XSD}decimal"},
    "double": 0.75,
    "whole": 7,
    "truth": True,
    "day": {"value": "2026-12-01", "datatype": f"{XSD}date"},
    "own": {"node": "person:ada"},
    "spaced": {"node": "Ada Berg"},
    "outside": {"node": "https://example.org/x"},
    "imported": {"node": "http://shop.example/data/p1"},
}


@pytest.fixture(scope="module")
def shop() -> Iterator[Plugin]:
    with Plugin.open(config(skillSandbox={"maxCallsPerMinute": 1000})) as plugin:
        plugin.load(builtin_skill(NOTEBOOK))
        fill(plugin.graph)
        for name, value in VALUES.items():
            plugin.graph.create_triple({"subject": name, "predicate": "is", "object": value})
        yield plugin


def found(plugin: Plugin, **arguments: Any) -> list[str]:
    result = plugin.call("skill_graph_query", {"scope": "namespace", **arguments})
    assert not result.is_error, result.text
    return [match["subject"].removeprefix("mayros:") for match in result.details["matches"]]


@pytest.mark.parametrize("name", VALUES)
def test_a_value_of_an_answer_given_back_finds_its_triple_in_every_tool(shop: Plugin, name: str) -> None:
    (match,) = shop.call("skill_graph_query", {"subject": name}).details["matches"]
    given_back = {"predicate": match["predicate"], "object": match["object"]}
    assert name in found(shop, **given_back)
    checked = shop.call("skill_verify_assertion", {"subject": match["subject"], **given_back})
    assert checked.details["found"]
    again = shop.call("skill_assert", {"subject": match["subject"], **given_back})
    assert (again.details["tripleHash"], again.details["created"]) == (match["id"], False)


@pytest.mark.parametrize("name", VALUES)
def test_the_text_of_a_value_given_back_finds_its_triple(shop: Plugin, name: str) -> None:
    text = shop.call("skill_graph_query", {"subject": name}).text.splitlines()[1]
    shown = text.removeprefix(f"mayros:{name} mayros:is ")
    assert name in found(shop, predicate="is", object=shown)
    if name not in ("own", "spaced", "outside", "imported"):
        assert name in found(
            shop, subject=name, object=json.loads(shown) if shown[0] == '"' and shown[-1] == '"' else shown
        )


@pytest.mark.parametrize(
    ("given_value", "name", "note"),
    [
        ("2026-12-01", "day", 'No triple has exactly "2026-12-01" here; this is "2026-12-01"^^xsd:date.'),
        (12.5, "decimal", "No triple has exactly 12.5e0 here; this is 12.5."),
        ("12.50", "decimal", 'No triple has exactly "12.50" here; this is 12.5.'),
        (
            {"value": "Faktura", "language": "de"},
            "swedish",
            'No triple has exactly "Faktura"@de here; this is "Faktura"@sv.',
        ),
        ('"Faktura"@sv', "swedish", 'this is "Faktura"@sv.'),
        ("Faktura", "text", ""),
        ("7", "whole", 'No triple has exactly "7" here; this is 7.'),
        (0.750, "double", ""),
    ],
)
def test_near_forms_are_tried_and_named(shop: Plugin, given_value: Any, name: str, note: str) -> None:
    result = shop.call("skill_graph_query", {"subject": name, "predicate": "is", "object": given_value})
    assert [match["subject"] for match in result.details["matches"]] == [f"mayros:{name}"]
    assert note in result.text
    checked = shop.call("skill_verify_assertion", {"subject": name, "predicate": "is", "object": given_value})
    assert (checked.details["found"], "Not found" in checked.text) == (True, False)


def test_a_text_with_a_language_is_found_by_its_words_alone_and_others_are_named(shop: Plugin) -> None:
    result = shop.call("skill_graph_query", {"predicate": "rdfs:label", "object": "Skruv M4", "scope": "namespace"})
    assert [match["subject"] for match in result.details["matches"]] == ["http://shop.example/data/p1"]
    assert 'No triple has exactly "Skruv M4" here; this is "Skruv M4"@sv.' in result.text
    nothing = shop.call("skill_graph_query", {"predicate": "rdfs:label", "object": "Skruv", "scope": "namespace"})
    assert nothing.text == "No matching triples."


def test_equal_subjects_are_grouped_and_names_have_prefixes(shop: Plugin) -> None:
    lines = shop.call("skill_graph_query", {"subject": "d:p4"}).text.splitlines()
    assert lines[0] == "6 triples found:"
    assert lines[1].startswith("d:p4 ")
    assert all(line.startswith("  ") for line in lines[2:])
    assert {line.split(" ", 1)[1].strip() for line in lines[1:]} == {
        "rdf:type v:Product",
        'rdfs:label "Hammer"@en',
        "v:from d:s3",
        "v:price 19.9",
        "v:stock 12",
        "v:weight 0.8e0",
    }


def test_names_with_prefixes_of_imported_files_are_written(shop: Plugin) -> None:
    written = shop.call("skill_assert", {"subject": "d:p4", "predicate": "note", "object": '"Bra"@sv'})
    assert (written.details["subject"], written.details["object"]) == (
        "http://shop.example/data/p4",
        {"value": "Bra", "language": "sv"},
    )
    assert 'Asserted: d:p4 mayros:note "Bra"@sv' in written.text
    plain = shop.call("skill_assert", {"subject": "d:p4", "predicate": "note", "object": {"value": '"Bra"@sv'}})
    assert plain.details["object"] == '"Bra"@sv'


def test_pages_of_a_near_form_follow_one_another(shop: Plugin) -> None:
    for number in range(5):
        day = {"value": "1999-09-09", "datatype": f"{XSD}date"}
        shop.graph.create_triple({"subject": f"n{number}", "predicate": "on", "object": day})
    seen: list[str] = []
    arguments: dict[str, Any] = {"predicate": "on", "object": "1999-09-09", "scope": "namespace", "limit": 2}
    while True:
        result = shop.call("skill_graph_query", arguments)
        seen += [match["subject"] for match in result.details["matches"]]
        if result.details["nextCursor"] is None:
            break
        arguments["cursor"] = result.details["nextCursor"]
    assert sorted(seen) == [f"mayros:n{number}" for number in range(5)]


@given(
    st.one_of(
        st.text(max_size=20), st.floats(), st.integers(), st.dictionaries(st.text(max_size=5), st.text(max_size=5))
    )
)
@settings(max_examples=examples(60), deadline=None)
def test_any_value_has_an_answer_or_is_refused(shop: Plugin, value: Any) -> None:
    result = shop.call("skill_graph_query", {"predicate": "is", "object": value, "scope": "namespace"})
    assert result.code in (None, "invalid_arguments")
