"""What was searched for is marked where the index finds it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_skills.doors.explorer.display import shown_text
from cortex_skills.features.explorer.hit_marks import HitMarks


def hits(query: str, text: str, tag: str | None = None) -> list[str]:
    return [piece.text for piece in HitMarks(query).marked(shown_text(text), tag).pieces if piece.is_hit]


@pytest.mark.parametrize(
    ("query", "text", "tag", "found"),
    [
        ("muller", "Zoë Müller", None, ["Müller"]),
        ("LODZ", "Łódź, Poland", None, ["Łódź"]),
        ("chain", "two chains and a chainring", None, ["chains", "chainring"]),
        ("chain links", "the links of a chain", None, ["links", "chain"]),
        ("häuser", "Das Haus am See", "de", ["Haus"]),
        ("lovelace", "person:adaLovelace", None, ["Lovelace"]),
        ("東京", "東京都", None, ["東京"]),
        ("a", "", None, []),
        ("", "text", None, []),
        ("ring ", "a ringer", None, []),  # the word is complete
        ("<b>", "<b>bold</b>", None, ["b", "b"]),
    ],
)
def test_words_are_marked_as_the_index_matches_them(query: str, text: str, tag: str | None, found: list[str]) -> None:
    assert hits(query, text, tag) == found


@given(st.text(max_size=20), st.text(max_size=60))
@settings(max_examples=200)
def test_marks_change_no_character(query: str, text: str) -> None:
    shown = shown_text(text)
    marked = HitMarks(query).marked(shown)
    assert "".join(piece.text for piece in marked.pieces) == "".join(piece.text for piece in shown.pieces)
    assert [piece for piece in marked.pieces if piece.is_token] == [piece for piece in shown.pieces if piece.is_token]
