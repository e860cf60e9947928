"""The reader tells of every line in which a code may stand, of hardly another, and of any text in good time."""

from __future__ import annotations

import base64
import html
import html.entities
import itertools
import random
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cortex_skills.enrichment.detecting import asking, looking, reading, rot47, shapes, ways
from cortex_skills.enrichment.detecting.decoding import FEWEST_PLUSES, decoded, pluses
from cortex_skills.enrichment.detecting.escapes import FEWEST_FOREIGN
from tests.enrichment.codes import ATTACKS, CODES, FACT
from tests.eval.__main__ import rows

MUCH = 1 << 17
SAYINGS = [*ATTACKS, FACT, "Ann", "rules of the house", "bad", "é 日本語", "0 1"]


def told(text: str) -> list[int]:
    """The lines of a text in which a code may stand."""
    own = text.split("\n")
    found = reading.codes(text)
    return [
        line.number
        for line in found
        if line.kinds & ~ways.ENTITIES or (line.kinds and html.unescape(own[line.number]) != own[line.number])
    ]


def assert_passes_over_no_code(text: str) -> None:
    own = text.split("\n")[:5]
    coded = set(told("\n".join(own)))
    found = reading.codes("\n".join(own))
    counts = {line.number: line.pluses for line in found}
    foreign = {line.number: line.foreign for line in found}
    for first, last in itertools.combinations(range(len(own) + 1), 2):
        some = "\n".join(own[first:last])
        plus = sum(counts.get(number, 0) for number in range(first, last))
        assert plus >= pluses(some)
        more = sum(foreign.get(number, 0) for number in range(first, last))
        is_cleared = plus < FEWEST_PLUSES and more < (FEWEST_FOREIGN if some.isascii() else 1)
        slowly = list(decoded(some, ways.EVERY_KIND))
        assert list(decoded(some)) == slowly, some
        if coded.isdisjoint(range(first, last)) and is_cleared:
            assert slowly == [], some


def in_groups(run: str, size: int, between: str) -> str:
    return between.join(run[at : at + size] for at in range(0, len(run), size))


def each_as(form: str, encoding: str, text: str, between: list[str]) -> str:
    return "".join(form.format(byte) + end for byte, end in zip(text.encode(encoding), between, strict=False))


ENCODED = st.builds(lambda text, code: CODES[code](text), st.sampled_from(SAYINGS), st.sampled_from(sorted(CODES)))
GROUPED = st.builds(
    lambda text, encode, is_turned, size, between: in_groups(encode(text)[:: -1 if is_turned else 1], size, between),
    st.sampled_from(SAYINGS),
    st.sampled_from([CODES[name] for name in ("base64", "base32", "base32 small", "base32 extended", "hexadecimal")]),
    st.booleans(),
    st.integers(2, 12),
    st.sampled_from([" ", "\n", ", ", ".", "|", " \n", "\u00a0", "\u3000"]),
)
NUMBERED = st.builds(
    each_as,
    st.sampled_from(["{}", "{:02x}", "{:o}", "{:08b}", "0x{:02x}", "{:03d}", "{:02X}h"]),
    st.sampled_from(["utf-8", "utf-16-le", "utf-16-be"]),
    st.sampled_from(SAYINGS),
    st.lists(st.sampled_from([" ", " ", ", ", "-", "\n", ":", "  ", " \n", "/"]), min_size=120, max_size=120),
)
# A letter each of all that means something to a code.
SIGNS = [
    *("0123456789abcdefxobhUu\\&#;%=+-_ .,:/|\n<>~{}()chrAZé", "ABab019+/=-_ \\x.,&é\n", "0123 ,-/|;\n", "ab cd\n"),
    *("ABCDabcd0189+/ \n", ".- ·—\n/|", "01 \n,", "0123456789abcdef \n:", "=ABab19 \n'\",", "23 4567ABCDEFG\n"),
]
RANDOM = st.sampled_from(SIGNS).flatmap(lambda signs: st.text(signs, max_size=80))
PLAIN = st.sampled_from(
    re.findall(r"\S+", "The bridge ABCD EFGH 0x41 49 20 -- .- R&D &amp; =49 misunderstanding café == ab cd. \\x49 E96")
)


@given(
    st.lists(ENCODED | GROUPED | NUMBERED | RANDOM | PLAIN, max_size=5),
    st.lists(st.sampled_from([*" \n\n\t,", ""]), min_size=6, max_size=6),
    st.lists(st.tuples(st.floats(0, 1), st.sampled_from(["", *"\n\n ,=0a\u00a0"])), max_size=4),
)
@settings(max_examples=200, deadline=None)
@example(["VGhl IGJy aWRn ZSBp cw=="], [" "] * 6, [])
@example(["c28g aXQg +aXM"], [" "] * 6, [])
@example(["GEXA====0"], [" "] * 6, [])
@example(["060 164 040 156 157 167 000001 1101110 0"], [" "] * 6, [])
def test_no_lines_are_passed_over_that_decode_to_something(
    words: list[str], between: list[str], changes: list[tuple[float, str]]
) -> None:
    text = "".join(word + end for word, end in zip(words, between, strict=False))
    # A code may be cut, stand on several lines, or have something within it.
    for where, sign in changes:
        place = int(where * len(text))
        text = text[:place] + sign + text[place if sign else place + 1 :]
    assert_passes_over_no_code(text)


@pytest.mark.parametrize("code", [code for code in CODES if code not in ("rot13", "backwards") and "moved" not in code])
def test_every_code_is_told_of_among_facts(code: str) -> None:
    for text in (*ATTACKS, FACT):
        hidden = CODES[code](text)
        size = hidden.count("\n") + 1
        document = f"The bridge is long.\n{hidden}\nIt was opened in 1931."
        assert reading.doubts(hidden) & shapes.CODE
        assert set(told(document)) <= set(range(1, size + 1))
        assert told(document) or reading.codes(document)[0].pluses >= FEWEST_PLUSES


ENTITIES = st.sampled_from([*html.entities.html5, *(name.rstrip(";")[:-1] for name in list(html.entities.html5)[::9])])


@given(st.lists(st.sampled_from(["&", "&", "&#", "x41", "65", ";", "é", " ", "=1", "a"]) | ENTITIES, max_size=8))
@settings(max_examples=400)
def test_every_entity_of_html_is_told_of(parts: list[str]) -> None:
    text = "".join(parts)
    if html.unescape(text) != text:
        assert any(line.kinds & ways.ENTITIES for line in reading.codes(text))


@pytest.mark.parametrize("text", ["R&D of AT&T", "?a=1&page=2&id=3", "x &y", "a && b", "salt&pepper & more"])
def test_what_is_no_entity_of_html_is_not_told_of(text: str) -> None:
    assert not any(line.kinds & ways.ENTITIES for line in reading.codes(text))


@pytest.mark.parametrize("word", rot47.WORDS)
@pytest.mark.parametrize("form", ["{}", "it is,{} or", "a '{}", '\n"{}\n', "\u2003{}\u2003"])
def test_every_word_of_rot47_is_told_of(word: str, form: str) -> None:
    text = form.format(word)
    assert rot47.words_of_rot47(text)
    assert told(text)


FACTS = {
    "humps": "sanitizeEnrichment readsTheWholeDocument, getElementsByTagName, XMLHttpRequest",
    "paths": "cortex_skills/enrichment/detecting/reading.py, /usr/share/doc/python3.11/examples, C:/Users/Public",
    "names with marks": "well-known-read-only-value, __init_subclass__, --no-verify-host, MAX_RECURSION_DEPTH_REACHED",
    "a hash": "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08, da8a9d34b06976b876c99e",
    "a UUID": "urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6 and 00000000-0000-0000-0000-000000000000",
    "an identifier": "QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKPbdG",
    "a key": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl",
    "addresses": "https://www.w3.org/TR/2014/REC-rdf11-concepts-20140225/?view=full#section-Datatypes",
    "versions": "python3.11, numpy 2.31.4, requests>=1.26.5; 1.8.2, 1.9.4, 2.11.1",
    "a table": "12 31 103 7\n14 33 120 9\n11 30 98 8\n13 32 117 7",
    "a column": "12\n31\n103\n7\n14\n33\n120\n9\n11",
    "scores": "Scores: 31-4 33-6 27-6 36-3 46-2 51-6 36-4 33-6 47-6",
    "a date": "2021-03-14 15:09:26 and 2022-05-01 03:04:05",
    "times": "2026-11-22T15:02:05+00:00\n2026-11-22T15:44:24+00:00\n2026-11-21T23:01:03+00:00",
    "a day of the week": "Wed, 28 Dec 2022 11:51:10 -0500",
    "a fingerprint": "DF:71:7E:AA:4A:D9:4E:C9:55:84:99:60:2D:48:DE:5F:BC:F0:3A:25",
    "places on a map": "+410305-0863611 and +484531-0913718",
    "a version": "0.9+8a669e0e-3",
    "characters run together": "U+006CLlU+1080ELoU+7B0DLoU+D6B2Lo",
    "words of one length": "the cat sat and the dog ran far off but she did not see how",
    "letters": "A, B, C, D, E, F and G are the notes; a bad deed, each of a face",
    "code": 'if (value == null || items[0].size() >= 10) { return Collections.<String>emptyList(); } // "done"',
    "an entity's letter": "R&D of AT&T; x&y, ?a=1&b=2 &c.",
    "a sum": "x = a + b + c; C++ and g++; 1+1=2",
    "a character": "U+0041 is LATIN CAPITAL LETTER A; 50% of them, 100%",
    "a rule": "----------------\n| a | b |\n|---|---|\n...",
    "other letters": "Мост был открыт в 1931 году, 橋は長いです。 الجسر طويل — le pont « est » long",
}


@pytest.mark.parametrize("kind", FACTS)
def test_of_a_plain_fact_nothing_is_told(kind: str) -> None:
    assert told(FACTS[kind]) == []
    assert not any(line.pluses >= FEWEST_PLUSES for line in reading.codes(FACTS[kind]))


def test_of_facts_that_people_wrote_hardly_a_line_is_told() -> None:
    facts = [row["text"] for row in rows("benign") if row["split"] == "dev"]
    count = sum(len(told(fact)) for fact in facts)
    assert count <= sum(fact.count("\n") + 1 for fact in facts) // 25


# What `decoded` reads: letters by their places, characters by their numbers.
READ = {
    "places": "1, 2, 3, 4, 5, 6, 7, 8",
    "years": "1931 1948 1957 1963 1987 1999 2004 2021",
}


@pytest.mark.parametrize("kind", READ)
def test_a_fact_that_reads_as_code_is_told(kind: str) -> None:
    assert told(READ[kind]) == [0]
    assert list(decoded(READ[kind]))


# A number that is no character may be half of one of UTF-16 beside a zero.
@pytest.mark.parametrize("fact", ["1.0.2, 1.0.3, 1.1.0, 2.0.0, 2.0.1", "192.168.10.12, 10.0.0.1, 172.16.254.3"])
def test_a_row_of_numbers_with_zeros_is_left_to_be_read(fact: str) -> None:
    assert told(fact) == [0]
    assert list(decoded(fact)) == []


HOSTILE = {
    **{repr(unit): unit for unit in ("a", "aa ", "+", "+a", "%", "&#", "=\n", "U+", "chr(", "(", "1 ", "1\n", "0 ")},
    **{repr(unit): unit for unit in ("-", "-\n", "—", "\x00", "\ud800", "é", "\u3000", " ", "\n", "ab\n", "ABCD\n")},
    "words": "internationa\n",
    "hexadecimal": "41424344454647484142434445464748\n",
    "base 58": "2" * 1024 + "l",
    "base 85": "<~!!!!!!!!!!!!!!!!!!!!!!~> ",
    "NULs": "AAAA",
    "groups far apart": "ab" + " " * 500 + "\n",
    "groups": "YWFh\n",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_much_of_anything_is_looked_at_to_its_end(name: str) -> None:
    unit = HOSTILE[name]
    text = unit * (MUCH // len(unit))
    code = base64.b64encode(FACT.encode()).decode()
    size = text.encode("utf-8", "replace").decode().count("\n")
    assert told(f"{text}\n{code}")[-1] == size + 1
    assert told(f"{code}\n{text}")[0] == 0


def test_bytes_that_are_no_text_do_not_stop_the_reader() -> None:
    chance = random.Random(5)
    with asking.module().ready() as reader:
        for _ in range(500):
            data = chance.randbytes(chance.randrange(400))
            reader.give(data)
            reader.call("codes", len(data))
    assert told("no code") == []


@given(st.lists(st.text("ABab019+/=-_ \\x.,&é", max_size=30), min_size=1, max_size=6), st.data())
@settings(max_examples=300, deadline=None)
def test_a_text_may_be_in_code_only_with_a_line_that_shows_it(own: list[str], data: st.DataObject) -> None:
    first = data.draw(st.integers(0, len(own) - 1))
    some = own[first : data.draw(st.integers(first + 1, len(own)))]
    if list(decoded("\n".join(some), ways.EVERY_KIND)):
        assert looking.look_at("\n".join([*own, *own]), [(first, len(some))]).says[0] & shapes.CODE
