"""A bounded run of the fuzzer, and hypothesis on what comes in and out as text."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from .fuzz import Grammar, Mutator, check, fuzz
from .harness import all_scripts


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_made_up_scripts_end_in_a_typed_outcome_within_their_limits(seed: int) -> None:
    count, found = fuzz(seconds=5, seed=seed, least=20)
    assert found == []
    assert count >= 20


@given(st.text(max_size=60))
@settings(max_examples=150, deadline=None)
def test_any_text_is_a_script_that_ends_in_a_typed_outcome(text: str) -> None:
    assert check(text) is None


@given(st.lists(st.sampled_from(list("(){}[]`$\\'\"/*,;:?.=!&|<>+-~^%#@\n 0a"))).map("".join))
@settings(max_examples=150, deadline=None)
def test_any_heap_of_punctuation_is_a_script_that_ends_in_a_typed_outcome(text: str) -> None:
    assert check(text, is_module=len(text) % 2 == 0) is None


def test_a_run_is_repeated_by_its_seed() -> None:
    def made(seed: int) -> list[str]:
        dice = random.Random(seed)
        return [Grammar(dice).script(), Mutator(dice, all_scripts()).script()]

    assert made(5) == made(5) != made(6)
