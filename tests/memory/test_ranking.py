"""The ranking of memories."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cortex_skills.features.finder.query_words import QueryWords
from cortex_skills.features.memory.ranking import Candidate, rank
from cortex_skills.features.memory.time_order import TimeOrder

NOW = 1_780_000_000.0
DAY = 86_400.0
WORDS = QueryWords.of(("common", "rare", "unknown"), (50, 1, 0), 100)

candidates = st.lists(
    st.builds(
        Candidate,
        st.uuids().map(str),
        st.integers(0, 7),
        st.floats(0, 1),
        st.floats(NOW - 4000, NOW + 4000) | st.floats(-1e11, 1e11),
        st.integers(0, 30),
        st.none() | st.floats(-1, 1),
    ),
    max_size=20,
    unique_by=lambda candidate: candidate.place,
)


def scores(*given_: Candidate) -> dict[str, float]:
    return {identifier: round(scored.score, 6) for identifier, scored in rank(given_, WORDS, NOW)}


@given(candidates)
def test_every_factor_is_a_fraction_and_the_best_is_first(given_: list[Candidate]) -> None:
    ranked = list(rank(given_, WORDS, NOW))
    assert sorted(identifier for identifier, _ in ranked) == sorted(each.id for each in given_)
    totals = [scored.score for _, scored in ranked]
    assert totals == sorted(totals, reverse=True)
    for _, scored in ranked:
        assert 0 <= scored.relevance <= 1
        assert 0.5 <= scored.importance <= 1
        assert 0.7 - 1e-9 <= scored.recency <= 1
        assert scored.coverage is not None
        assert 0 <= scored.coverage <= 1
        assert scored.similarity is None or 0 <= scored.similarity <= 1


@given(candidates, st.randoms())
def test_the_order_does_not_depend_on_the_order_given(given_: list[Candidate], chance) -> None:
    shuffled = list(given_)
    chance.shuffle(shuffled)
    assert list(rank(shuffled, WORDS, NOW)) == list(rank(given_, WORDS, NOW))


@given(candidates)
def test_lent_words_never_count_as_much_as_own_ones(given_: list[Candidate]) -> None:
    by_words = [Candidate(each.id, each.mask, 1.0, each.time, each.place) for each in given_]
    whole = Candidate("whole", 0b111, 1.0, NOW, 1000)
    relevance = {identifier: scored.relevance for identifier, scored in rank([*by_words, whole], WORDS, NOW)}
    assert relevance["whole"] == 1
    assert all(relevance[each.id] < 1 for each in by_words if each.mask != 0b111)


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1e5), st.floats(0, 1e5))
def test_with_the_same_words_the_more_important_and_newer_wins(
    one: float, two: float, age: float, older: float
) -> None:
    best = Candidate("z", 2, max(one, two), NOW - min(age, older) * DAY, 9)
    other = Candidate("a", 2, min(one, two), NOW - max(age, older) * DAY, 0)
    first, second = (scored for _, scored in rank([other, best], WORDS, NOW))
    assert first.score >= second.score
    if (best.importance, best.time) != (other.importance, other.time) and first.score != second.score:
        assert next(rank([other, best], WORDS, NOW))[0] == "z"


def test_the_weight_of_each_factor() -> None:
    whole = Candidate("a", 0b111, 1.0, NOW, 30)
    month = Candidate("b", 0b111, 1.0, NOW - 30 * DAY, 20)
    unimportant = Candidate("c", 0b111, 0.0, NOW, 10)
    assert scores(unimportant, month, whole) == {"a": 1.0, "b": 0.85, "c": 0.5}


def test_a_rare_word_counts_more_than_a_common_one_and_the_coverage_is_absolute() -> None:
    common, rare = Candidate("common", 0b001, 1.0, NOW, 0), Candidate("rare", 0b010, 1.0, NOW, 10)
    ranked = dict(rank([common, rare], WORDS, NOW))
    assert [round(ranked[name].coverage or 0, 3) for name in ("common", "rare")] == [0.068, 0.412]
    assert ranked["rare"].relevance == 1
    ((_, alone),) = rank([common], WORDS, NOW)
    assert (alone.relevance, round(alone.coverage or 0, 3)) == (1.0, 0.068)


def test_of_equal_scores_the_newer_memory_is_first() -> None:
    old, new = Candidate("a", 1, 1.0, NOW, 0), Candidate("b", 1, 1.0, NOW + 9 * DAY, 9)
    assert list(scores(old, new)) == ["b", "a"]


def lent(places: int, seconds: float, *, similarity: float | None = None) -> float:
    """The relevance of a memory with the common word, so far from one with the rare word."""
    borrower = Candidate("borrower", 0b001, 1.0, NOW, 0)
    lender = Candidate("lender", 0b110, 1.0, NOW + seconds, places, similarity)
    whole = Candidate("whole", 0b111, 1.0, NOW, 100)
    return dict(rank([borrower, lender, whole], WORDS, NOW))["borrower"].relevance


def test_a_memory_borrows_the_words_of_the_two_before_and_after() -> None:
    own, rest = WORDS.coverage(0b001), WORDS.coverage(0b110)
    for places in (1, -1):
        assert round(lent(places, 60 * places), 6) == round(own + 0.6 * rest, 6)
        assert round(lent(2 * places, 60 * places), 6) == round(own + 0.3 * rest, 6)
        assert round(lent(3 * places, 60 * places), 6) == round(own, 6)
    assert round(lent(1, 601), 6) == round(own, 6)
    assert lent(1, 600) > own


def test_a_word_that_two_neighbours_have_is_borrowed_once() -> None:
    borrower = Candidate("borrower", 0b001, 1.0, NOW, 5)
    lenders = [Candidate(str(place), 0b010, 1.0, NOW, place) for place in (3, 4, 6, 7)]
    whole = Candidate("whole", 0b111, 1.0, NOW, 100)
    relevance = dict(rank([borrower, *lenders, whole], WORDS, NOW))["borrower"].relevance
    assert round(relevance, 6) == round(WORDS.coverage(0b001) + 0.6 * WORDS.coverage(0b010), 6)


def test_words_and_meaning_are_added_up() -> None:
    words = Candidate("words", 0b111, 1.0, NOW, 0, 0.1)
    meaning = Candidate("meaning", 0, 1.0, NOW, 50, 0.9)
    both = Candidate("both", 0b111, 1.0, NOW, 100, 0.9)
    relevance = {
        identifier: round(scored.relevance, 6) for identifier, scored in rank([words, meaning, both], WORDS, NOW)
    }
    assert relevance == {"both": 1.0, "words": round(1.03 / 1.27, 6), "meaning": round(0.27 / 1.27, 6)}


def test_nothing_ranks_to_nothing() -> None:
    assert list(rank([], WORDS, NOW)) == []


@given(
    st.lists(st.tuples(st.integers(0, 5).map(float), st.integers(0, 200)), unique_by=lambda pair: pair[1]), st.data()
)
def test_an_order_of_times_is_that_of_sorting(pairs: list[tuple[float, int]], data) -> None:
    cut = data.draw(st.integers(0, len(pairs)))
    order = TimeOrder()
    order.add(pairs[:cut])
    order.add(pairs[cut:])
    gone = data.draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    order.discard(gone)
    expected = sorted(set(pairs) - set(gone))
    assert [order.place(*pair) for pair in expected] == list(range(len(expected)))
    for place in range(len(expected)):
        near = expected[max(0, place - 2) : place + 3]
        assert [*order.beside(place, reach=2)] == [pair for pair in near if pair != expected[place]]


def test_many_numbers_are_ordered_and_removed_at_once() -> None:
    order = TimeOrder()
    order.add([(float(-number), number) for number in range(500)])
    order.discard([(float(-number), number) for number in range(0, 500, 2)])
    assert [*order.beside(order.place(-251.0, 251), reach=1)] == [(-253.0, 253), (-249.0, 249)]
