"""What the reader is told of characters, at once and later, is what they are."""

from __future__ import annotations

import pytest

from cortex_skills.enrichment.detecting import asking, characters, knowledge, reading
from cortex_skills.enrichment.detecting.folding import fold, folded_alone, folded_by_neighbours, look_alike


@pytest.mark.parametrize("ends", knowledge.ALIKE)
def test_characters_that_are_told_of_as_alike_become_themselves_and_are_the_same(ends: tuple[str, str]) -> None:
    text = knowledge.block(*ends)
    assert folded_alone(text) == list(text)
    assert look_alike(text) == text
    assert len(set(characters.classes(text))) == 1
    assert not folded_by_neighbours(text)


def test_what_is_told_of_at_once_is_not_told_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def tell(*_: object) -> None:
        raise AssertionError("told again")

    text = knowledge.block("\0", "\U0001ffff")
    later = knowledge.uncommon(text) | folded_by_neighbours(text)
    at_once = "".join(char for char in text if char not in later)
    assert {"a", "ж", "ह", "中", "한", "—", "😀"} <= set(at_once)
    monkeypatch.setattr(asking, "_tell_characters", tell)
    assert reading.folded(at_once) == (fold(at_once), look_alike(fold(at_once)))


def test_any_character_is_told_of_when_it_is_met() -> None:
    text = "ⲁ𐐨𝔸ꙁ\u31f0 ꭰ"
    assert knowledge.uncommon(text) > {"ⲁ", "𝔸"}
    assert reading.folded(text) == (fold(text), look_alike(fold(text)))


def test_of_no_character_nothing_is_told() -> None:
    assert characters.told("") == (b"", 0)
