"""Invisible characters are escaped."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex_skills.safe_io.display import json_text, one_line, shown_name

HIDDEN = "\x7f\x85\xa0\xad\u034f\u061c\u115f\u180e\u200b\u200d\u2028\u202e\u2800\u3000\u3164\ufe0f\ufeff\uffa0"
BEYOND = "\ue000\U000e0041\U000e0101\U000f0000"
SHOWN = "aé’—Жر中😀 'x"
TEXTS = st.text(st.one_of(st.sampled_from(HIDDEN + BEYOND + SHOWN + "<>&"), st.characters(exclude_categories=["Cs"])))


@given(st.dictionaries(TEXTS, st.lists(TEXTS)))
def test_json_contains_the_value_and_no_invisible_character(value: dict[str, list[str]]) -> None:
    text = json_text(value)
    assert json.loads(text) == value
    assert text.isprintable()
    assert set(HIDDEN + BEYOND + "<>&").isdisjoint(text)


@given(TEXTS, TEXTS)
def test_escaping_does_not_depend_on_neighbouring_characters(text: str, other: str) -> None:
    assert json_text(text + other) == f"{json_text(text)[:-1]}{json_text(other)[1:]}"
    assert one_line(text + other) == one_line(text) + one_line(other)


def test_visible_characters_are_unchanged() -> None:
    assert json_text(SHOWN) == f'"{SHOWN}"'
    assert one_line(f"{SHOWN} <b> & c") == f"{SHOWN} <b> & c"


def test_many_hidden_characters_are_escaped_each() -> None:
    escapes = "".join(f"\\u{ord(char):04x}" for char in HIDDEN)
    assert json_text(f"’{HIDDEN}’") == f'"’{escapes}’"'
    assert one_line(f"<{HIDDEN}>") == f"<{escapes}>"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a\nb\tc", "a\\u000ab\\u0009c"),
        ("\U000e0101", "\\udb40\\udd01"),
        ("\ud800\u200b", "\ufffd\\u200b"),
        ("\ud83d\ude00", "😀"),
        ("\\u200b", "\\u200b"),
    ],
)
def test_a_text_is_one_line(text: str, line: str) -> None:
    assert one_line(text) == line


def test_a_name_with_invisible_characters_is_quoted() -> None:
    assert shown_name("ex:naïve’s") == "ex:naïve’s"
    assert shown_name("ex:a\u200bb") == '"ex:a\\u200bb"'
    assert shown_name("ex:<b>") == '"ex:\\u003cb\\u003e"'
