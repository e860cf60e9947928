"""A bounded run of the fuzzer, and property tests with generated text."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from .deadlines import soak
from .fuzz import Grammar, Mutator, check, fuzz
from .harness import all_scripts


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_generated_scripts_have_a_typed_outcome_within_their_limits(seed: int) -> None:
    count, found = fuzz(seconds=2, seed=seed, least=20)  # `make fuzz` takes ten minutes
    assert found == []
    assert count >= 20


@given(st.text(max_size=60))
@settings(max_examples=150, deadline=None)
def test_any_text_as_a_script_has_a_typed_outcome(text: str) -> None:
    assert check(text) is None


@given(st.lists(st.sampled_from(list("(){}[]`$\\'\"/*,;:?.=!&|<>+-~^%#@\n 0a"))).map("".join))
@settings(max_examples=150, deadline=None)
def test_any_punctuation_as_a_script_has_a_typed_outcome(text: str) -> None:
    assert check(text, is_module=len(text) % 2 == 0) is None


def test_a_run_is_reproducible_by_its_seed() -> None:
    def made(seed: int) -> list[str]:
        dice = random.Random(seed)
        return [Grammar(dice).script(), Mutator(dice, all_scripts()).script()]

    assert made(5) == made(5) != made(6)


@pytest.mark.slow
def test_guests_that_never_end_are_stopped_under_load() -> None:
    found = soak(count=60, seed=3)
    assert {one.ended for one in found} == {"timeout"}
    assert found[0].own_s < 10  # the machine may be busy; `python -m fuzz.deadlines` allows one second
