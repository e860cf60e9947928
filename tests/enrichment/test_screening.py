"""Looking at a whole document at once never clears what is judged to be an instruction by itself."""

import itertools
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_skills.enrichment import pieces as reads
from cortex_skills.enrichment.detecting import Screen, detect, signs
from cortex_skills.enrichment.detecting.locating import Formed
from cortex_skills.enrichment.verdicts import Verdicts
from tests.enrichment.texts import ALL, ATTACKS, DEV, DISGUISES, WORDS, words_of_any_kind


def parts(run: str) -> list[str]:
    lines = run.split("\n")
    cuts = itertools.combinations(range(len(lines) + 1), 2)
    return ["\n".join(lines[first:last]) for first, last in cuts]


def assert_clears_no_instruction(run: str) -> None:
    screen = Screen([run])
    kinds = {part: detect(part) for part in parts(run)}
    assert {part: screen.kind(part) for part in kinds} == kinds
    # Many that are looked at together are judged no otherwise.
    together = Screen([run])
    together.look_at(kinds)
    assert {part: together.kind(part) for part in kinds} == kinds
    assert all(map(screen.holds, kinds))


@pytest.mark.parametrize(
    "text", ["verification; marca ", "verification;  marca", " verification; marca", "rules. ignore "]
)
def test_two_words_that_end_first_are_judged_as_they_are_alone(text: str) -> None:
    assert_clears_no_instruction(text)
    assert_clears_no_instruction(f"The bridge is long.\n{text}")


@pytest.mark.parametrize("between", ["\n", "\n\n", "\n \n\t\n", " "])
def test_doubled_letters_are_read_over_empty_lines(between: str) -> None:
    run = f"nnow mmessage{between}ffrom{between}aanthropic"
    assert detect(run) == "fake_turn"
    assert_clears_no_instruction(run)


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


@given(st.lists(words_of_any_kind(), max_size=24))
@settings(max_examples=150, deadline=None)
def test_words_of_any_script_in_any_disguise_are_judged_as_they_are_alone(words: list[str]) -> None:
    assert_clears_no_instruction("\n".join("".join(words).split("\n")[:5]))


@pytest.mark.parametrize("size", [1, 30])
def test_every_text_of_the_evaluation_is_judged_in_a_document_as_it_is_alone(size: int) -> None:
    chance = random.Random(size)
    texts = ALL[:]
    chance.shuffle(texts)
    # Which ones differ, and never what they say: half of them nobody may read.
    wrong = []
    for start in range(0, len(texts), size):
        some = texts[start : start + size]
        screen = Screen(["\n".join(row["text"] for row in some)])
        wrong += [row["id"] for row in some if screen.kind(row["text"]) != detect(row["text"])]
    assert wrong == []


def test_a_longer_document_with_many_disguises_is_judged_text_by_text() -> None:
    chance = random.Random(3)
    for _ in range(12):
        texts = [DISGUISES[chance.choice([*DISGUISES])](text) for text in chance.sample(DEV, 24)]
        pieces = [(at % 2 == 0, f"fact {at}" if at % 2 == 0 else text) for at, text in enumerate(texts)]
        screen = Screen(reads.runs(pieces))
        together = [*(text for _, text in pieces), *reads.joined(pieces)]
        assert [screen.kind(text) for text in together] == [detect(text) for text in together]
        at_once = Screen(reads.runs(pieces))
        at_once.look_at(together)
        assert [at_once.kind(text) for text in together] == [detect(text) for text in together]


def test_what_is_no_part_of_a_document_is_judged_by_itself() -> None:
    chance = random.Random(11)
    for _ in range(12):
        texts = [DISGUISES[chance.choice([*DISGUISES])](text) for text in chance.sample(DEV, 12)]
        verdicts = Verdicts()
        verdicts.look_at(["\n".join(texts)])
        lines = "\n".join(texts).split("\n")
        # Lines in their order, lines that are no neighbours, and some that were never seen.
        others = ["\n".join(lines[at : at + 3]) for at in range(len(lines))]
        others += ["\n".join(chance.sample(lines, 2)) for _ in range(6)] + chance.sample(DEV, 6)
        kinds = [detect(text) for text in others]
        assert verdicts.first(others) == next((kind for kind in kinds if kind is not None), None)
        assert [verdicts.kind(text) for text in others] == kinds


def test_the_form_of_a_text_is_seen_within_another() -> None:
    for text in (text.lower() for text in DEV if text.isascii()):
        kind, found = signs.seen_in(text)
        formed = Formed(f"x {text} x")
        assert formed.lines or kind is None
        assert found & ~formed.signs() == 0


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
