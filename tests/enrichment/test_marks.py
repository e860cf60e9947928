"""Text is marked as data, by a mark that cannot be known before."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_skills.enrichment import Policy, Sanitized, read_block, sanitize_enrichment
from cortex_skills.manifest import EnrichmentField

FACT = "The bridge over the river was opened in 1890 and is made of steel and stone."


def mark_of(result: Sanitized) -> str | None:
    found = re.match(r'<skill-enrichment type="data" mark="([^"]+)">\n', result.text)
    return found[1] if found else None


def json_of(result: Sanitized) -> Any:
    return json.loads(result.text.splitlines()[1])


def test_text_carries_the_mark_before_it_and_every_eight_words() -> None:
    result = sanitize_enrichment({"note": FACT, "n": 7})
    mark = mark_of(result)
    assert json_of(result) == {
        "note": f"{mark} The bridge over the river was opened in {mark} 1890 and is made of steel and stone.",
        "n": 7,
    }


def test_each_block_has_a_mark_of_its_own() -> None:
    marks = {mark_of(sanitize_enrichment({"note": FACT})) for _ in range(50)}
    assert len(marks) == 50
    assert all(mark and re.fullmatch("~[bcdfghjkmnpqrstvwxz2-9]{8}", mark) for mark in marks)


@pytest.mark.parametrize(
    "value",
    [
        {"n": 7},
        {"note": "of steel and stone"[:8]},
        {"note": "three words only"},
        {"name": "mayros:package:libfoo-perl", "at": "2026-11-23"},
        {"note": "石の橋"},
    ],
)
def test_short_text_and_what_is_typed_carries_none(value: Any) -> None:
    result = sanitize_enrichment(value)
    assert mark_of(result) is None
    assert json_of(result) == value


@pytest.mark.parametrize("blank", [" ", "\t", "  ", "\r"])
def test_words_are_counted_between_any_blanks(blank: str) -> None:
    marked = {
        words: mark_of(sanitize_enrichment({"note": blank.join(words.split())})) for words in ("a b c", "a b c d")
    }
    assert (marked["a b c"], marked["a b c d"] is None) == (None, False)


def test_a_term_and_an_enumerated_string_carry_none_however_long() -> None:
    triples = [{"subject": "s", "predicate": "p", "object": FACT}]
    fields = [EnrichmentField("state", ("waiting for a second look by hand",))]
    value = {"x": FACT, "state": "waiting for a second look by hand"}
    result = sanitize_enrichment(value, triples=triples, fields=fields)
    assert (mark_of(result), json_of(result)) == (None, value)


def test_text_of_a_writing_without_blanks_is_marked_by_its_length() -> None:
    text = "この橋は川の上にあり、鉄と石でできていて、とても長いです。"
    result = sanitize_enrichment({"note": text})
    assert json_of(result) == {"note": f"{mark_of(result)} {text}"}


@given(st.lists(st.text(max_size=200) | st.just(FACT), max_size=12))
@settings(max_examples=100, deadline=None)
def test_a_block_without_its_marks_is_the_text(texts: list[str]) -> None:
    result = sanitize_enrichment({"a": texts, "n": 1})
    kept = read_block(result.text)
    if not result.stripped_count:
        whole = [text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace") for text in texts]
        assert kept == {"a": whole, "n": 1}


def test_a_mark_that_text_claims_is_not_its_mark() -> None:
    result = sanitize_enrichment({"note": f"~bbbbbbbb {FACT}"})
    assert mark_of(result) != "~bbbbbbbb"
    assert read_block(result.text) == {"note": f"~bbbbbbbb {FACT}"}


def test_a_block_of_marked_text_is_no_longer_than_any() -> None:
    result = sanitize_enrichment({"notes": [FACT * 6] * 50})
    assert 3500 < len(result.text) <= 4096
    assert read_block(result.text)["truncated"] is True


def test_a_policys_mark_is_added_to_that_of_the_block() -> None:
    result = sanitize_enrichment({"note": FACT, "short": "of steel"}, Policy(mark="▁"))
    mark = mark_of(result)
    assert json_of(result)["short"] == "of▁steel"
    assert json_of(result)["note"].startswith(f"{mark}▁The▁bridge▁")
    assert " " not in json_of(result)["note"]


@pytest.mark.parametrize("answer", ["", "1 triple found:\nmayros:a mayros:b 1", '<skill-enrichment type="data">\n{}'])
def test_an_answer_without_a_block_has_none(answer: str) -> None:
    assert read_block(answer) is None
