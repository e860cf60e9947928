"""The indexes find what a full comparison finds; an embedder that fails leaves the words."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_skills.features.finder.embedders import EmbedderError
from cortex_skills.features.finder.static_vectors import StaticVectors, unit_rows
from cortex_skills.features.finder.vector_index import VectorIndex
from tests.finder.owned_index import OwnedIndex


def drawn(count: int, dimension: int = 256, seed: int = 1):
    return unit_rows(np.random.default_rng(seed).normal(size=(count, dimension)).astype(np.float32))


@pytest.mark.parametrize(("count", "dimension"), [(300, 256), (6000, 256), (3000, 100)])
def test_the_nearest_are_those_of_a_full_comparison(count, dimension):
    rows = drawn(count, dimension)
    index = VectorIndex(dimension)
    for number, row in enumerate(rows):
        index.add(number, row, 1.0)
    query = unit_rows(rows[[7]] + 0.5 * drawn(1, dimension, seed=2))[0]
    values = rows @ query
    found = index.search(query, 0.0, 3)
    assert found[0][0] == 7
    assert [number for number, _ in found] == list(np.argsort(-values)[:3]) or count > 2048
    assert found[0][1] == pytest.approx(float(values[7]), abs=2e-3)
    listed = len(index.search(query, 0.0, 10**6))
    assert listed == count if count <= 2048 else 1024 <= listed < 1536


def test_what_was_discarded_or_weighs_too_little_is_not_found():
    rows = drawn(3000)
    index = VectorIndex(256)
    for number, row in enumerate(rows):
        index.add(number, row, float(number % 2))
    for number in range(1, 3000, 4):
        index.discard(number)
    index.discard(1)
    assert len(index) == 2250
    found = [number for number, _ in index.search(rows[3], 1.0, 3000)]
    assert found[0] == 3
    assert len(found) == 750
    assert all(number % 4 == 3 for number in found)
    assert index.similarities(rows[3], [3, 5]) == {3: pytest.approx(1.0, abs=2e-3)}


def test_equal_vectors_are_found_in_the_order_of_their_numbers():
    index = VectorIndex(8)
    for number in (5, 3, 9):
        index.add(number, drawn(1, 8)[0], 1.0)
    assert [number for number, _ in index.search(drawn(1, 8)[0], 0.0, 3)] == [3, 5, 9]


TEXTS = [(1, "extract tables from a spreadsheet", 1.0), (2, "book a flight to Oslo", 1.0), (3, "boil an egg", 0.0)]


def test_a_text_is_found_by_meaning_without_a_common_word():
    index = OwnedIndex(StaticVectors())
    index.change(add=TEXTS)
    assert [hit.number for hit in index.search("read an Excel file", 0.0, 5).hits] == [1]
    by_words = OwnedIndex()
    by_words.change(add=TEXTS)
    assert by_words.search("read an Excel file", 0.0, 5).hits == []
    assert [hit.number for hit in index.search("cook eggs for breakfast", 1.0, 5).hits] == []


def test_a_text_is_found_once_with_both_scores():
    index = OwnedIndex(StaticVectors())
    index.change(add=TEXTS)
    (hit,) = index.search("tables", 0.0, 5).hits
    assert (hit.number, hit.mask, hit.similarity is not None and hit.similarity > 0.3) == (1, 1, True)
    index.change(add=[(4, "set the tables for guests", 1.0)], discard=[1])
    assert [hit.number for hit in index.search("tables", 0.0, 5).hits] == [4]


class Moody:
    """Vectors of this machine, or a failure."""

    name = "moody"

    def __init__(self) -> None:
        self.problem = ""
        self.dimension = 256

    def embed(self, texts, timeout_s):
        if self.problem:
            raise EmbedderError(self.problem)
        return StaticVectors().embed(texts, timeout_s)[:, : self.dimension]


def test_an_embedder_that_fails_leaves_the_words_and_what_it_missed_is_embedded_later():
    embedder = Moody()
    index = OwnedIndex(embedder)
    embedder.problem = "the server is down"
    index.change(add=TEXTS)
    found = index.search("a flight", 0.0, 5)
    assert ([hit.number for hit in found.hits], str(found.problem)) == (
        [2],
        "found by words alone: the server is down",
    )
    embedder.problem = ""
    found = index.search("read an Excel file", 0.0, 5)
    assert ([hit.number for hit in found.hits], found.problem) == ([1], None)


def test_a_search_by_meaning_states_which_texts_have_no_vector_yet():
    class OneTextAtATime(Moody):
        def embed(self, texts, timeout_s):
            self.problem = "the batch is refused" if len(texts) > 1 else ""
            return super().embed(texts, timeout_s)

    index = OwnedIndex(OneTextAtATime())
    index.change(add=TEXTS[:1])
    index.change(add=TEXTS[1:])
    found = index.search("read an Excel file", 0.0, 5)
    assert [hit.number for hit in found.hits] == [1]
    assert str(found.problem) == "2 texts have no vector yet, and are found by words alone: the batch is refused"


def test_an_embedder_that_changes_its_dimension_leaves_the_words():
    embedder = Moody()
    index = OwnedIndex(embedder)
    index.change(add=TEXTS[:2])
    embedder.dimension = 64
    found = index.search("a flight", 0.0, 5)
    assert [hit.number for hit in found.hits] == [2]
    reason = "the embedder answers with 64 dimensions, and had 256 before"
    assert str(found.problem) == f"found by words alone: {reason}"
    assert found.problem.for_model == "found by words alone: the embedder failed"
    index.change(add=TEXTS[2:])
    assert [hit.number for hit in index.search("egg", 0.0, 5).hits] == [3]


def test_vectors_of_one_direction_are_told_apart():
    common = drawn(1, seed=3)[0]
    rows = unit_rows(6 * common + drawn(6000))
    queries = unit_rows(6 * common + 0.8 * drawn(6000)[:50] + 0.6 * drawn(50, seed=4))
    index = VectorIndex(256)
    for number, row in enumerate(rows):
        index.add(number, row, 1.0)
    best = (rows @ queries.T).argmax(axis=0)
    found = [index.search(query, 0.0, 1)[0][0] for query in queries]
    assert sum(a == b for a, b in zip(found, best, strict=True)) >= 49


WORDS = ("cat", "dog", "emu", "fox", "gnu")


@given(
    st.lists(st.lists(st.sampled_from(WORDS), max_size=6), min_size=1, max_size=12), st.lists(st.sampled_from(WORDS))
)
@settings(max_examples=30)
def test_a_hit_states_which_words_of_the_query_it_has_and_rare_ones_weigh_more(texts, asked):
    index = OwnedIndex()
    index.change(add=[(number, " ".join(text), 1.0) for number, text in enumerate(texts)])
    found = index.search(" ".join(asked), 0.0, 100)
    assert found.asked.words == tuple(dict.fromkeys(asked))
    having = [sum(word in text for text in texts) for word in found.asked.words]
    by_rarity = sorted(zip(having, found.asked.weights, strict=True))
    assert [weight for _, weight in by_rarity] == sorted(found.asked.weights, reverse=True)
    expected = {number: set(text) & set(asked) for number, text in enumerate(texts)}
    words_of = {hit.number: {w for n, w in enumerate(found.asked.words) if hit.mask >> n & 1} for hit in found.hits}
    assert words_of == {number: words for number, words in expected.items() if words}
    for hit in found.hits:
        assert (found.asked.coverage(hit.mask) == 1) == (words_of[hit.number] == set(asked))


def test_an_unknown_word_of_a_query_keeps_the_coverage_below_one():
    index = OwnedIndex()
    index.change(add=[(1, "tea from Assam", 1.0)])
    (hit,) = (found := index.search("tea zebra", 0.0, 5)).hits
    assert 0 < found.asked.coverage(hit.mask) < 0.5
