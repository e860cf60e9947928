"""Looking at a whole document at once never clears what is judged to be an instruction by itself."""

import itertools
import random
from functools import reduce
from operator import or_

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_skills.enrichment import pieces as reads
from cortex_skills.enrichment.detecting import Screen, detect, necessary, reading, rules, signs
from cortex_skills.enrichment.detecting.lexicon import lexicon
from tests.eval.__main__ import rows

DEV = [row["text"] for name in ("attacks", "benign") for row in rows(name) if row["split"] == "dev"]
ATTACKS = [row["text"] for row in rows("attacks") if row["split"] == "dev" and row["kind"] != "split"]
WORDS = sorted(word for word in lexicon().words if word.isascii())


def parts(run: str) -> list[str]:
    lines = run.split("\n")
    cuts = itertools.combinations(range(len(lines) + 1), 2)
    return ["\n".join(lines[first:last]) for first, last in cuts]


def assert_clears_no_instruction(run: str) -> None:
    screen = Screen([run])
    kinds = [detect(part) for part in parts(run)]
    assert [screen.kind(part) for part in parts(run)] == kinds
    if screen.clears_all:
        assert set(kinds) == {None}


def test_an_instruction_is_found_among_facts_as_it_is_alone() -> None:
    chance = random.Random(7)
    for start in range(0, len(DEV), 20):
        texts = DEV[start : start + 20]
        chance.shuffle(texts)
        screen = Screen(["\n".join(texts)])
        assert [screen.kind(text) for text in texts] == [detect(text) for text in texts]


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text[::-1],
        lambda text: " ".join(reversed(text.split())),
        lambda text: text.replace(" ", "\n"),
        lambda text: text.replace(" ", "-"),
        lambda text: text.replace("e", "3").replace("o", "0"),
        lambda text: "".join(char * 2 for char in text),
        lambda text: " ".join(text),
        lambda text: text.title().replace(" ", ""),
        lambda text: text.lower(),
    ],
)
def test_no_disguise_is_cleared(change: object) -> None:
    assert callable(change)
    for text in ATTACKS[::7]:
        hidden = change(text)
        assert Screen([f"The bridge is long.\n{hidden}\nA fact"]).kind(hidden) == detect(hidden)


@given(
    st.lists(
        st.sampled_from(WORDS) | st.sampled_from([". ", ",", "\n", "\n", '"', "don't", "the", "x-y"]), max_size=24
    ),
)
@settings(max_examples=150, deadline=None)
def test_any_lines_that_follow_each_other_are_judged_as_they_are_alone(words: list[str]) -> None:
    run = " ".join(words).replace("\n ", "\n").replace(" ,", ",")
    assert_clears_no_instruction("\n".join(run.split("\n")[:6]))


@given(st.text("aAnNoOtT013'@%&+-_./:*|\"\r\t\x1b <>[]{}éß\u202e\n", max_size=60))
@settings(max_examples=150, deadline=None)
def test_any_signs_are_judged_as_they_are_alone(run: str) -> None:
    assert_clears_no_instruction("\n".join(run.split("\n")[:6]))


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=12), st.integers(0, sum(rules.SIGNS.values())))
@settings(max_examples=400, deadline=None)
def test_what_a_rule_finds_is_held_to_be_possible(words: list[str], found: int) -> None:
    sentences = list(reading.sentences(" ".join(words)))
    row = [mask for sentence in sentences for mask in sentence.row]
    filled = reduce(or_, map(necessary.filled_by, row), necessary.filled_from_the_start(found))
    if rules.judge(sentences, found) is not None:
        assert necessary.may_hold(filled)


def test_the_form_of_a_text_is_seen_within_another() -> None:
    for text in (text.lower() for text in DEV if text.isascii()):
        kind, found = signs.seen_in(text)
        may_be_kind, may_be_found = signs.anywhere([f"x {text} x"])
        assert may_be_kind or kind is None
        assert found & ~may_be_found == 0


@given(
    st.lists(
        st.tuples(st.booleans(), st.sampled_from(["user: x", "a", "b c", "The end.", "ends", "system: y", "k"])),
        max_size=12,
    )
)
@settings(max_examples=300, deadline=None)
def test_what_is_read_together_is_in_a_run(pieces: list[tuple[bool, str]]) -> None:
    lines = [f"\n{run}\n" for run in reads.runs(pieces)]
    for text in [*(piece for _, piece in pieces), *reads.joined(pieces)]:
        assert any(f"\n{text}\n" in run for run in lines), text
