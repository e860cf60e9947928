"""The words of texts, also of hostile ones."""

from __future__ import annotations

import time
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_skills.features.finder import index_follower
from cortex_skills.features.finder.folded_words import _STEMMERS, stems, stems_of_all
from cortex_skills.features.finder.question_words import asked_words
from cortex_skills.features.finder.word_stems import MAX_QUERY_WORDS, stems_of
from cortex_skills.features.finder.words import LONGEST, MAX_WORDS, without_accents, words
from tests.finder.owned_index import OwnedIndex
from tests.property_examples import examples


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n\t", []),
        ("?!… — «»", []),
        ("The tea", ["the", "tea"]),
        ("snake_case and kebab-case", ["snake", "case", "and", "kebab", "case"]),
        ("Ana's tea, isn’t it?", ["ana", "tea", "isn't", "it"]),
        ("rock 'n' roll'", ["rock", "n", "roll"]),
        ("GROẞE Straße", ["grosse", "strasse"]),
        ("ﬁne Ⅷ ½", ["fine", "viii", "1", "2"]),
        ("café", ["café"]),
        ("cafe\u0301", ["café"]),
        ("東京都庁", ["東京", "京都", "都庁"]),
        ("東", ["東"]),
        ("Python3で書く", ["python3", "で書", "書く"]),
        ("ﾃｽﾄ", ["テス", "スト"]),
        ("한국어 텍스트", ["한국어", "텍스트"]),
        ("привет МИР", ["привет", "мир"]),
        ("Ελλάδα ёлка", ["ελλαδα", "елка"]),
        ("n\u0308", ["n"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("مرحبا بالعالم", ["مرحبا", "بالعالم"]),
        ("ภาษาไทย", ["ภา", "าษ", "ษา", "าไ", "ไท", "ทย"]),
        ("v1.2.3 2026-06-01", ["v1", "2", "3", "2026", "06", "01"]),
    ],
)
def test_the_words_of_a_text(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@given(st.text())
def test_the_words_of_a_word_are_the_word(text: str) -> None:
    found = words(text)
    assert len(found) <= MAX_WORDS
    assert all(0 < len(word) <= LONGEST and not word.isspace() and " " not in word for word in found)


@given(st.text(alphabet=st.characters(codec="ascii")))
def test_ascii_texts_are_split_like_other_texts(text: str) -> None:
    assert words(text) == [word for word in words(f"{text} \u00e9")[:-1] if word][:MAX_WORDS]


@pytest.mark.parametrize("text", ["a" * 1_000_000, "東" * 500_000, "a'" * 500_000, "' " * 500_000, "é\u0301" * 300_000])
def test_a_long_text_is_split_quickly(text: str) -> None:
    start = time.thread_time()
    assert len(words(text)) <= MAX_WORDS
    assert time.thread_time() - start < 20


@pytest.fixture(scope="module")
def index() -> OwnedIndex:
    index = OwnedIndex()
    index.change(add=[(1, "Ana prefers tea", 0.5), (2, "東京タワー", 0.9)])
    return index


@given(query=st.text(max_size=200), least=st.floats(0, 1))
def test_any_query_is_answered(index: OwnedIndex, query: str, least: float) -> None:
    found = index.asked(query)
    assert len(found.words) <= MAX_QUERY_WORDS
    assert set(index.numbers(found, least, 10)) <= {1, 2}


@given(text=st.text(min_size=1, max_size=300))
def test_a_text_with_an_indexed_word_finds_itself(text: str) -> None:
    index = OwnedIndex()
    index.change(add=[(7, text, 0.5)])
    found = index.asked(text)
    assert index.numbers(found, 0.5, 10) == ([7] if found.words else [])


def test_a_discarded_number_is_not_found() -> None:
    index = OwnedIndex()
    index.change(add=[(number, "tea", 0.5) for number in range(5)])
    index.change(discard=[1, 3, 99])
    assert sorted(index.numbers("tea", 0, 10)) == [0, 2, 4]


def test_stop_words_do_not_count_and_rare_words_weigh_more() -> None:
    index = OwnedIndex()
    assert stems_of("the of and is") == []
    index.change(add=[(0, "tea with milk", 0.5), *((number, "tea with lemon", 0.5) for number in range(1, 9))])
    best, *_ = index.numbers("tea and milk", 0, 10)
    assert best == 0


@pytest.mark.parametrize(
    ("text", "query"),
    [("Zoë Müller", "zoe"), ("Zoe Muller", "müller"), ("Łódź", "lodz"), ("Ørsted", "orsted"), ("Ελλάδα", "ελλαδα"),
     ("ёлка", "елка"), ("le thé vert", "thé"), ("Việt Nam", "viet"), ("ré\u0301sumés", "resume")],
)  # fmt: skip
def test_words_with_and_without_accents_find_each_other(text: str, query: str) -> None:
    index = OwnedIndex()
    index.change([(1, text, 1.0), (2, "something else", 1.0)])
    assert index.numbers(query, 0.0, 5) == [1]


def test_a_text_is_looked_for_without_case_and_accents() -> None:
    assert without_accents("ZOË Müller Ελλάδα") == "zoe muller ελλαδα"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("When did Ana's brother move to Oslo?", ["ana", "brother", "move", "to", "oslo"]),
        ("Wann hat Jürgen in Köln geheiratet?", ["hat", "jürgen", "in", "köln", "geheiratet"]),
        ("Où est-ce que Zoé a travaillé ?", ["est", "ce", "zoé", "a", "travaillé"]),
        ("¿Cuándo y dónde nació José?", ["y", "nació", "josé"]),
        ("hat of the era in the US", ["hat", "of", "the", "era", "in", "the", "us"]),
        ("what who when", []),
        ("", []),
    ],
)
def test_a_query_is_searched_without_its_question_words(query: str, expected: list[str]) -> None:
    assert asked_words(query) == expected


def test_a_query_of_question_words_alone_is_searched_as_it_is() -> None:
    index = OwnedIndex()
    index.change(add=[(1, "The Who played in Leeds", 1.0), (2, "Ana asked when the train leaves", 1.0)])
    assert index.asked("The Who?").words == ("who",)
    assert index.numbers("The Who?", 0.0, 5) == [1]
    assert index.numbers("when did the Who play", 0.0, 5) == [1]


@given(
    rounds=st.lists(
        st.tuples(
            st.lists(st.sampled_from(["tea", "milk oslo", "tea milk", "rome"]), max_size=4),
            st.lists(st.integers(0, 12), max_size=2, unique=True),
        ),
        max_size=5,
    ),
    few=st.integers(0, 5),
)
@settings(max_examples=60, deadline=None)
def test_what_is_not_written_yet_is_found_as_what_is(rounds: list, few: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(index_follower, "MOVED_AT", few)
        index, there, numbers = OwnedIndex(), {}, count()
        for texts, discarded in rounds:
            new = [(next(numbers), text, 0.5) for text in texts]
            gone = [number for number in discarded if number in there]
            index.change(add=new, discard=gone)
            there = {n: text for n, text in there.items() if n not in gone} | {n: text for n, text, _ in new}
            for query in ("tea", "milk", "oslo rome"):
                asked = index.asked(query)
                expected = {n for n, text in there.items() if set(text.split()) & set(asked.words)}
                assert set(index.numbers(asked, 0.4, 100)) == expected
                assert index.numbers(asked, 0.6, 100) == []


@given(st.lists(st.text("abcdeinrsté̈ßüøçşıь", min_size=1, max_size=8), max_size=5), st.sampled_from(sorted(_STEMMERS)))
@settings(max_examples=examples(100), deadline=None)
def test_the_stems_of_words_together_are_those_of_each(texts, language):
    given = words(" ".join(texts))
    assert stems_of_all(language, given) == frozenset().union(*(stems(language, word) for word in given))
