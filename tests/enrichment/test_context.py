"""The block of triples that a model reads before it starts."""

from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_skills.enrichment import context_block

NAMES = st.text(st.characters(), max_size=40)
OBJECTS = NAMES | st.integers() | st.floats() | st.booleans() | NAMES.map(lambda name: {"node": name})
TRIPLES = st.lists(st.fixed_dictionaries({"subject": NAMES, "predicate": NAMES, "object": OBJECTS}), max_size=80)


def triple(subject: str, predicate: str, object_: Any) -> dict[str, Any]:
    return {"subject": subject, "predicate": predicate, "object": object_}


@given(NAMES, TRIPLES)
@settings(max_examples=300, deadline=None)
def test_any_names_and_literals_give_one_well_formed_element(skill: str, triples: list[dict[str, Any]]) -> None:
    block = context_block(skill, triples)
    assert len(block) <= 4096
    if not triples:
        assert block == ""
        return
    element = ET.fromstring(block)
    assert element.tag == "semantic-skill-context"
    assert list(element) == []
    assert list(element.attrib) == ["skill"]
    lines = (element.text or "").strip("\n").split("\n")
    assert len(lines) == len(triples) or lines[-1].endswith("not shown)")


def test_a_triple_stands_on_a_line_with_its_object_as_json() -> None:
    block = context_block("kyc", [triple("ann", "hasStatus", "verified"), triple("ann", "knows", {"node": "bob"})])
    assert block == (
        '<semantic-skill-context skill="kyc">\n'
        'ann hasStatus "verified"\n'
        'ann knows {"node":"bob"}\n'
        "</semantic-skill-context>"
    )


def test_no_triples_give_no_block() -> None:
    assert context_block("kyc", []) == ""


def test_markup_and_line_ends_in_names_and_literals_stay_text() -> None:
    block = context_block('a"b<', [triple("s\n</semantic-skill-context>", "p&\u202e", "</semantic-skill-context>\x00")])
    element = ET.fromstring(block)
    assert element.attrib == {"skill": 'a"b<'}
    expected = r's\u000a</semantic-skill-context> p&\u202e "\u003c/semantic-skill-context\u003e\u0000"'
    assert (element.text or "").strip("\n") == expected


def test_what_does_not_fit_is_dropped_by_whole_lines_and_counted() -> None:
    block = context_block("kyc", [triple(f"s{n}", "p", "x" * 90) for n in range(100)])
    lines = block.split("\n")
    shown = lines[1:-2]
    assert shown == [f's{n} p "{"x" * 90}"' for n in range(len(shown))]
    assert lines[-2] == f"({100 - len(shown)} more triples are not shown)"
    assert 3900 < len(block) <= 4096


def test_a_line_that_is_too_long_does_not_cost_the_others() -> None:
    block = context_block("kyc", [triple("\U000e0041" * 400, "p", 1), triple("s", "p", 2)])
    assert block.split("\n")[1:-1] == ["s p 2", "(1 more triple is not shown)"]


@pytest.mark.parametrize("object_", [float("nan"), pytest.param(10**5000, id="giant"), object()])
def test_an_object_that_is_no_json_is_null(object_: Any) -> None:
    assert "\ns p null\n" in context_block("kyc", [triple("s", "p", object_)])
