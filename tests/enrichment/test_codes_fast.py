"""What is looked at first, before something is decoded, passes over nothing that can be decoded."""

import base64
import re
from itertools import groupby

import re2
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cortex_skills.enrichment.detecting import bases, decoding, escapes, groups, ways
from tests.enrichment.texts import DEV

TEXTS = st.text(st.sampled_from("ab .\nIé·ÿ—日本\U0001f600\0\x01Ж"), min_size=7, max_size=12)


@given(st.text("ABCZabgw09+/=", min_size=8, max_size=24), st.integers(0, 24), st.sampled_from(["", "=", "=="]))
@settings(max_examples=500, deadline=None)
@example("SWdub3JlIGFsbCB0aGU", 0, "==")
@example("SWdub3JlIGFsbCB0aGU", 3, "=")
def test_base64_reads_what_the_library_reads(run: str, place: int, signs: str) -> None:
    run = run[:place] + signs + run[place:]
    slowly: list[str] = []
    for letters in (run, run[::-1]):
        bare = letters.rstrip("=")
        bare = bare[: len(bare) - (len(bare) % 4 == 1)]
        try:
            data = base64.b64decode(bare + "=" * (-len(bare) % 4))
        except ValueError:
            break
        if bases._may_be_text(data):
            slowly += [
                text for end in range(len(data), max(len(data) - 4, 0), -1) for text in bases.text_of(data[:end])
            ][:1]
        if slowly:
            break
    assert list(bases.base64(run)) == slowly


@given(st.one_of(TEXTS.map(str.encode), st.binary(min_size=4, max_size=12)), st.sampled_from(["a85", "b85"]))
@settings(max_examples=400, deadline=None)
def test_no_text_is_taken_for_other_bytes_by_its_first_letters_in_base85(data: bytes, form: str) -> None:
    run = base64.a85encode(data) if form == "a85" else base64.b85encode(data)
    if list(bases.text_of(data)):
        assert bases._may_be_base85(run, bases._ADOBE if form == "a85" else bases._GIT)
        found = list(bases.base85(run.decode()))
        assert bool(found) is (not bases._OF_85.isdisjoint(run.decode()) and b"://" not in run)


@given(st.text("!+,-./0AZ_`auvz{~<>:", max_size=24))
@settings(max_examples=400, deadline=None)
def test_base85_reads_what_the_library_reads(run: str) -> None:
    slowly: list[str] = []
    if set(run) & set("&*$@#^<>{}~`!;%?") and "://" not in run:
        for decode in (base64.a85decode, base64.b85decode):
            try:
                slowly += bases.text_of(decode(run.removeprefix("<~").split("~>")[0].encode()))
            except ValueError:
                continue
    assert list(bases.base85(run)) == slowly


@given(
    st.lists(st.text("abcé=+", max_size=4) | st.sampled_from(["x" * 80, "x" * 81, "y" * 255, "z" * 300]), max_size=24)
)
@settings(max_examples=300, deadline=None)
@example(["y" * 255, "z" * 300, "z" * 256, "ab", "cd", "ef"])
def test_groups_of_one_length_are_found(pieces: list[str]) -> None:
    pieces = [piece for piece in pieces if piece]
    rows, at = [], 0
    for size, row in groupby(pieces, len):
        for fits, group in groupby(list(row), lambda piece: re.fullmatch("[A-Za-z0-9+/=_-]+", piece) is not None):
            count = len(list(group))
            if fits and count >= 3 and count * size >= 16 and 1 < size <= 80:
                rows.append((at, at + count))
            at += count
    # A row of three or more is looked at, and what of it is of the alphabet.
    assert list(groups.groups([*pieces, ""])) == rows


NUMBERS_AND_STROKES = re.findall(r"\S+", "0x41 41h 101 7 a be dead 1234567890 .- -... · —— . q")
NUMBERS = st.lists(st.sampled_from(NUMBERS_AND_STROKES), min_size=6, max_size=14).flatmap(
    lambda parts: st.lists(
        st.sampled_from([" ", ", ", "-", "\n", " / ", "; ", "\r\n", "|", "", "    ", "\u00a0"]),
        min_size=len(parts),
        max_size=len(parts),
    ).map(lambda ends: "".join(part + end for part, end in zip(parts, ends, strict=True)))
)


@given(NUMBERS | st.text("0123abcxh .-·—\n,/|qZ27+_", max_size=80))
@settings(max_examples=600, deadline=None)
def test_no_way_of_writing_in_code_is_passed_over_that_is_there(text: str) -> None:
    encoded = text.encode()
    found = list(ways.ways_in(ways.EVERY_KIND, ways.words_in(encoded)))
    for way in ways.ways():
        if not way.is_word and way.pattern.search(encoded):
            assert way in found


@given(st.text("Aa0+/_-.é&~ \n", max_size=80))
@settings(max_examples=300, deadline=None)
def test_words_are_those_that_a_pattern_finds(text: str) -> None:
    encoded = text.encode()
    words = ways.words_in(encoded)
    assert words == re.findall(rb"[A-Za-z0-9+/_-]{12,}", encoded)
    way = next(way for way in ways.ways() if way.decode is bases.base85)
    assert list(ways.runs_of(way, encoded, words)) == re.findall(rb"[!-~]{20,}", encoded)


ESCAPES = st.sampled_from(
    [r"\x41", r"\\u0041", "%41", "=41", "=\r\n", r"\49 \50 ", r"\101", "%u0041", "U+0041 U+0042 "]
)


@given(st.lists(ESCAPES | st.sampled_from(["CHR(65)", "chrW(65)", "cHrb(65)", "+AEk-", "text", "x"]), max_size=4))
@settings(max_examples=200, deadline=None)
def test_no_escape_is_passed_over(parts: list[str]) -> None:
    text = " ".join(parts)
    if re2.search(escapes.escape(), text):
        assert escapes.may_be_escaped(text)


@given(st.text("ab1_+ é日\n", max_size=14))
def test_a_plus_counts_between_letters(text: str) -> None:
    around = zip(text, text[1:], text[2:], strict=False)
    assert decoding.pluses(text) == sum(a.isalpha() and plus == "+" and b.isalpha() for a, plus, b in around)


def test_what_is_written_in_base64_is_never_taken_for_plain_words() -> None:
    for text in DEV:
        runs = [base64.b64encode(text.encode()[start:]).decode().rstrip("=") for start in range(3)]
        assert all(len(run) < 12 or bases._NOT_PLAIN.search(run, 1) for run in runs)
    assert list(bases.base64("internationalization")) == list(bases.base64("Transportations")) == []
