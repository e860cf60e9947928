"""The ranking of memories."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cortex_skills.features.memory.ranking import Candidate, rank

NOW = 1_780_000_000.0
DAY = 86_400.0

candidates = st.lists(
    st.builds(
        Candidate,
        st.uuids().map(str),
        st.floats(0, 1e6),
        st.floats(0, 1),
        st.floats(-1e11, 1e11),
    ),
    max_size=20,
)


@given(candidates)
def test_every_factor_is_a_fraction_and_the_best_is_first(given_: list[Candidate]) -> None:
    ranked = rank(given_, NOW)
    assert sorted(identifier for identifier, _ in ranked) == sorted(each.id for each in given_)
    scores = [scored.score for _, scored in ranked]
    assert scores == sorted(scores, reverse=True)
    for _, scored in ranked:
        assert 0 <= scored.relevance <= 1
        assert 0.5 <= scored.importance <= 1
        assert 0.7 - 1e-9 <= scored.recency <= 1


@given(candidates, st.randoms())
def test_the_order_does_not_depend_on_the_order_given(given_: list[Candidate], chance) -> None:
    shuffled = list(given_)
    chance.shuffle(shuffled)
    assert rank(shuffled, NOW) == rank(given_, NOW)


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1e5), st.floats(0, 1e5))
def test_with_the_same_words_the_more_important_and_newer_wins(
    one: float, two: float, age: float, older: float
) -> None:
    best = Candidate("z", 3.0, max(one, two), NOW - min(age, older) * DAY)
    other = Candidate("a", 3.0, min(one, two), NOW - max(age, older) * DAY)
    first, second = (scored for _, scored in rank([other, best], NOW))
    assert first.score >= second.score
    if (best.importance, best.time) != (other.importance, other.time) and first.score != second.score:
        assert rank([other, best], NOW)[0][0] == "z"


def test_the_weight_of_each_factor() -> None:
    whole = Candidate("a", 4.0, 1.0, NOW)
    month = Candidate("b", 4.0, 1.0, NOW - 30 * DAY)
    unimportant = Candidate("c", 4.0, 0.0, NOW)
    half = Candidate("d", 2.0, 1.0, NOW + 9 * DAY)
    scores = {identifier: round(scored.score, 6) for identifier, scored in rank([half, unimportant, month, whole], NOW)}
    assert scores == {"a": 1.0, "b": 0.85, "c": 0.5, "d": 0.5}
    assert list(scores) == ["a", "b", "d", "c"]  # of equals the newer one


def test_nothing_ranks_to_nothing() -> None:
    assert rank([], NOW) == []
