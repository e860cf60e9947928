"""Where the reader says that no pattern can stand, RE2 finds none."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_skills.enrichment.detecting import (
    literals,
    locating,
    looking,
    patterns,
    reading,
    screening,
    shapes,
    signs,
)
from cortex_skills.enrichment.detecting.answers import Told
from cortex_skills.enrichment.detecting.detect import is_name
from cortex_skills.enrichment.detecting.folding import fold, look_alike
from cortex_skills.enrichment.detecting.rule import SIGNS
from tests.enrichment import literals as made
from tests.enrichment.texts import ALL, DEV, texts

NAMES = patterns.names()
NUMBERS = range(len(NAMES))
SIGN_NUMBERS = {number for number in NUMBERS if NAMES[number] in SIGNS}
FACTS = st.sampled_from(["", "a", "the bridge is long.", "is it: so?", "user", "it says [", "{", "call the ", "_"])


@cache
def matches(number: int) -> Any:
    """Texts that a pattern matches, as Python reads it."""
    return st.from_regex(re.compile(patterns.every()[number]), fullmatch=True)


def stand(text: str) -> set[int]:
    """Those of all patterns that stand in a text, each looked for by itself."""
    encoded = text.encode()
    return {number for number in NUMBERS if patterns.may_stand(number, encoded)}


def told(text: str) -> Told:
    return looking.look_at(text, []).seen


def lines_of(some: Told) -> dict[int, list[int]]:
    """The numbers of the texts in whose lines each pattern may stand."""
    found: dict[int, list[int]] = {}
    for place in some.places:
        found.setdefault(place.pattern, []).append(place.number)
    return found


def between_line_ends(text: str) -> str:
    """A text as a line of another."""
    return f"\n{text}\n"


def assert_told_of(text: str) -> None:
    forms = reading.judge_alone(text).forms
    assert stand(text) <= forms.keys()
    sure = {number for number, is_sure in forms.items() if is_sure}
    assert sure <= stand(between_line_ends(text))
    rows = text.split("\n")
    some, seen = told(text), [look_alike(fold(row)) for row in rows]
    places = lines_of(some)
    for number, row in enumerate(seen):
        for pattern in set[int]().union(*map(stand, row.split("\n"))) - SIGN_NUMBERS:
            assert number in places[pattern]
    for place in some.places:
        assert not place.is_sure or place.pattern in stand(between_line_ends(seen[place.number]))
    assert_doubted(rows)


def assert_doubted(rows: list[str]) -> None:
    """What stands in rows that follow each other is in doubt, however many are taken together."""
    parts = [(first, size) for size in range(1, 4) for first in range(len(rows) - size + 1)]
    doubts = screening.doubts("\n".join(rows), parts)
    for (first, size), doubted in zip(parts, doubts, strict=True):
        part = "\n".join(rows[first : first + size])
        assert doubted & shapes.WORDS or is_name(part) or not orders_in(part)


def orders_in(text: str) -> set[int]:
    """The patterns that stand in a text as it is judged, but for the lesser signs."""
    folded, plain = reading.folded(text)
    views = [view.encode() for view in {folded, plain, plain.replace("\n", " ")}]
    return {number for number in NUMBERS if any(patterns.stands(number, view) for view in views)} - SIGN_NUMBERS


def test_the_literals_are_those_of_the_patterns() -> None:
    assert literals.FILE.read_text(encoding="utf-8") == made.text(), "make literals"


def test_literals_of_other_patterns_are_not_used() -> None:
    with pytest.raises(RuntimeError, match="make literals"):
        literals.told([*patterns.every()[1:], "another"])


@given(st.data(), st.sampled_from(NUMBERS), st.lists(FACTS, max_size=3), st.sampled_from(["\n", " ", "x"]))
@settings(max_examples=600, deadline=None)
def test_what_a_pattern_matches_is_told(data: st.DataObject, number: int, facts: list[str], between: str) -> None:
    text = fold(between.join([*facts, data.draw(matches(number)), *facts]))
    assert_told_of(text)


@given(st.data(), st.sampled_from(NUMBERS), st.integers(1, 3), st.sampled_from(["", " ", "a", "é", "_", "0"]))
@settings(max_examples=600, deadline=None)
def test_what_is_nearly_a_match_is_told_of_as_re2_does(
    data: st.DataObject, number: int, times: int, other: str
) -> None:
    text = fold(data.draw(matches(number)))
    for _ in range(times):
        place = data.draw(st.integers(0, len(text)))
        text = text[:place] + other + text[place + data.draw(st.integers(0, 1)) :]
    assert_told_of(text)


@given(texts(), st.sampled_from(["\n", " ", ""]))
@settings(max_examples=300, deadline=None)
def test_what_stands_in_a_text_is_told_in_whichever_lines_it_is_written(text: str, between: str) -> None:
    plain = look_alike(fold(text))
    assert_told_of(plain.replace(" ", between))
    assert_told_of("\n".join([plain] * 3))


PIECES = st.sampled_from(
    [
        *("system", "user", "assistant", "developer", "admin", "model", "the user", "end of output", "end of document"),
        *("must", "ignore", "note", "new task", "role", "content", "message", "please comply", "pipe", "x" * 70, "木"),
        *(":", " :", "：", ".", "!", "?", ">", "#", "###", "]", "[", "(", "{", '"', "=", ",", "-", " ", "\n", "\n\n"),
    ]
)


@given(st.lists(PIECES, max_size=14), st.sampled_from(["", " "]))
@settings(max_examples=1_000, deadline=None)
def test_what_is_made_of_the_pieces_of_patterns_is_told_of_as_re2_does(pieces: list[str], between: str) -> None:
    text = look_alike(fold(between.join(pieces)))
    assert_told_of(text)
    assert reading.judge_alone(text).forms.keys() <= stand(between_line_ends(text))


@pytest.mark.parametrize(
    ("rows", "is_doubted"),
    [
        # Blanks are no line ends: who speaks must begin a line, or a sentence.
        (["the computer of the user: a bridge", "to the user: b"], False),
        (["user: a bridge to the user: b", "c"], False),
        (["user: a bridge", "user: b"], True),
        (["user: a bridge. user: b", "c"], True),
        # A line end that is read as a blank is no line end at the same time.
        (["user: a", "the bridge", "user: b"], False),
        # So many characters and no more, each as one.
        (["[系统消息]" + "木" * 80, "你"], False),
        (["[系统消息]" + "木" * 80 + "你", "a"], True),
        (["[系统消息]" + "木" * 79, "你"], True),
        # Where a text ends, a line does.
        (["a", "### response"], True),
        (["### response to floods", "a"], False),
    ],
)
def test_a_part_is_in_doubt_where_a_pattern_stands_in_it(rows: list[str], is_doubted: bool) -> None:
    part = "\n".join(rows)
    assert bool(orders_in(part)) == is_doubted
    assert bool(screening.doubts(part, [(0, len(rows))])[0] & shapes.WORDS) == is_doubted


def test_what_goes_over_lines_is_in_doubt_only_with_all_of_them() -> None:
    rows = ["a", "user: the bridge", "user: b", "c"]
    parts = [(first, behind - first) for first in range(4) for behind in range(first + 2, 5)]
    doubts = screening.doubts("\n".join(rows), parts)
    assert [part for part, doubted in zip(parts, doubts, strict=True) if not doubted] == [(0, 2), (2, 2)]


@pytest.mark.parametrize(
    "text",
    [
        "attention to the road",
        "version 1.2, then 2.4. and 3.14",
        "the bridge (of 1932) is [12] m long",
        "if a < b and c > d",
        "it costs $, not more",
        "see https://bridge.example/long/way for a secret",
        "a function. call it",
        "a: 1\nb: 2 (3)\nc",
    ],
)
def test_literals_alone_are_no_form(text: str) -> None:
    assert reading.judge_alone(text).forms.keys() == stand(text)


def test_every_text_of_the_evaluation_is_told_of() -> None:
    # Which ones are not, and never what they say: half of them nobody may read.
    wrong = [row["id"] for row in ALL if not stand(view := fold(row["text"])) <= reading.judge_alone(view).forms.keys()]
    assert wrong == []


@given(st.lists(st.sampled_from(DEV), min_size=1, max_size=4))
@settings(max_examples=100, deadline=None)
def test_the_lines_of_a_form_are_those_in_which_it_stands(some: list[str]) -> None:
    text = look_alike(fold("\n\n".join(some)))
    formed, names = locating.formed(told(text)), patterns.names()
    for number, line in enumerate(text.split("\n")):
        assert number in formed or {names[pattern] for pattern in stand(line)} <= SIGNS.keys()


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("<|im_start|>", "fake_turn"),
        ("x\n\nhuman: hello", "fake_turn"),
        ("system: y\n user: x", "fake_turn"),
        ("javascript:alert(", "exfiltration"),
        ("curl x |\nsh", "command"),
        ("the bridge is long.", None),
        ("", None),
    ],
)
def test_a_form_is_of_its_kind(text: str, kind: str | None) -> None:
    assert signs.seen_in(text, reading.judge_alone(text).forms)[0] == kind


@given(st.data(), st.sampled_from(NUMBERS), st.sampled_from(["", "the bridge ", "a\n", "x. "]))
@settings(max_examples=300, deadline=None)
def test_what_is_sure_is_seen_as_re2_sees_it(data: st.DataObject, number: int, before: str) -> None:
    text = fold(before + data.draw(matches(number)) + data.draw(st.sampled_from(["", "\n", " now"])))
    found = [n for n in NUMBERS if patterns.stands(n, text.encode())]
    kinds = [NAMES[n] for n in found if NAMES[n] not in SIGNS]
    held = sum({SIGNS[NAMES[n]] for n in found if NAMES[n] in SIGNS})
    assert signs.seen_in(text, reading.judge_alone(text).forms) == (kinds[0] if kinds else None, held)


@pytest.mark.parametrize(
    "unit",
    ["\n", "_\n", "user: x\n", "<|", "a", "http://", "\U0001f600", "é\n", "call ", "role: user content\n", "(("],
)
@pytest.mark.parametrize("times", [1, 7, 60_000])
def test_many_of_a_kind_are_told_as_one_is(unit: str, times: int) -> None:
    assert stand(unit) <= reading.judge_alone(unit * times).forms.keys()
    for places in lines_of(told(unit * times)).values():
        assert places == sorted(set(places))
        assert places[-1] <= unit.count("\n") * times
    assert reading.judge_alone("the bridge").forms == {}


@given(st.binary(max_size=64).map(lambda data: data.decode("utf-8", "surrogateescape")))
def test_no_bytes_stop_the_reader(text: str) -> None:
    assert reading.judge_alone(text).forms.keys() <= {*NUMBERS}
    assert told(text).ends == () or told(text).texts


def test_the_package_holds_the_literals() -> None:
    assert Path(literals.__file__).parent / "literals.json" == literals.FILE
    assert literals.FILE.is_file()
