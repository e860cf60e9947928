"""What a person reads of hostile terms: bounded, without invisible characters, with links into the explorer only."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode

from cortex_graph.naming.names import Names
from cortex_skills.doors.explorer.addresses import Addresses
from cortex_skills.doors.explorer.display import (
    IN_TABLE,
    OF_NAME,
    Display,
    ShownLiteral,
    ShownName,
    shown_name,
    shown_text,
)
from cortex_skills.doors.explorer.look_alike_names import alike, warning_of
from cortex_skills.safe_io.display import is_invisible, whole_characters

HERE = Display(Names("mayros"), Addresses("mayros"))
HOSTILE = st.text(st.one_of(st.characters(), st.sampled_from("a<>&\"'\u202e\u200b\u0301\n\t\U000e0041\ud800\ufe0f")))


@settings(max_examples=300, deadline=None)
@given(HOSTILE, st.integers(8, 60), st.sampled_from([1, 3, 20]))
def test_any_text_is_bounded_and_hides_nothing(text: str, most: int, lines: int) -> None:
    shown = shown_text(text, most, lines=lines)
    plain = "".join(piece.text for piece in shown.pieces if not piece.is_token)
    assert not [char for char in plain if is_invisible(char) and not (lines > 1 and char in "\n\t")]
    assert len(plain) + 8 * sum(piece.is_token for piece in shown.pieces) <= most + 8
    assert plain.count("\n") < lines
    assert shown.length == len(text)
    assert all(
        piece.is_token == piece.text.startswith(("U+", "+", "↵", "⇥")) or not piece.is_token for piece in shown.pieces
    )
    if not shown.is_clipped and not any(piece.is_token for piece in shown.pieces):
        assert plain == whole_characters(text)  # a lone surrogate is shown as U+FFFD


@settings(max_examples=200, deadline=None)
@given(HOSTILE)
def test_no_more_than_four_combining_marks_follow_each_other(text: str) -> None:
    run = 0
    for piece in shown_text(text + "\u0301" * 50).pieces:
        for char in piece.text:
            run = run + 1 if unicodedata.category(char) in ("Mn", "Me") else 0
            assert run <= 4


def test_what_hides_is_a_token_with_its_code_point() -> None:
    shown = shown_text("pay\u202e100\u200b\u200b")
    assert [(piece.text, piece.is_token) for piece in shown.pieces] == [
        ("pay", False),
        ("U+202E", True),
        ("100", False),
        ("U+200B ×2", True),
    ]
    assert shown.plain == "pay[U+202E]100[U+200B ×2]"


def test_a_text_of_one_megabyte_is_clipped_with_its_length() -> None:
    shown = shown_text("x" * (1 << 20))
    assert (len(shown.pieces[0].text), shown.length, shown.is_clipped) == (IN_TABLE, 1 << 20, True)


def test_a_literal_on_its_own_page_has_twenty_lines() -> None:
    shown = HERE.literal(Literal("line\n" * 30), 8_000, lines=20)
    assert shown.text.pieces[0].text.count("line") == 20
    assert shown.text.is_clipped


def test_a_name_is_a_link_into_the_explorer_and_its_prefix_is_apart() -> None:
    shown = HERE.term(NamedNode("urn:cortex:mayros:package:a%20b"))
    assert isinstance(shown, ShownName)
    assert (shown.prefix.plain, shown.local.plain) == ("mayros:", "package:a b")
    assert shown.href == "/explore/mayros/r?name=mayros:package:a%20b"
    assert shown.outside is None


@pytest.mark.parametrize(
    ("iri", "host"),
    [
        ("https://schema.org/name", "schema.org"),
        ("https://good.example@evil.example/a", "evil.example"),
        ("https://bücher.example/a", "xn--bcher-kva.example"),
        ("http://schema.org/name", None),
        ("javascript:alert(1)", None),
        ("data:text/html,<b>", None),
        ("https:///nohost", None),
        ("https://[broken/", None),
    ],
)
def test_only_an_external_https_iri_has_a_second_link_with_its_host(iri: str, host: str | None) -> None:
    shown = HERE.iri(iri)
    assert (shown.outside.host if shown.outside else None) == host
    assert shown.href is not None
    assert shown.href.startswith("/explore/mayros/r?name=")


def test_a_name_of_64_kilobytes_is_shown_and_is_no_link() -> None:
    shown = HERE.iri("urn:cortex:mayros:" + "n" * (64 << 10))
    assert shown.href is None
    assert len(shown.plain) <= OF_NAME + len("mayros:") + 1


@settings(max_examples=200, deadline=None)
@given(HOSTILE, st.integers(8, 60))
def test_a_long_name_hides_nothing_and_keeps_its_end(name: str, most: int) -> None:
    shown = shown_name(f"{'n' * most}{name}-1a", most)
    plain = "".join(piece.text for piece in shown.pieces if not piece.is_token)
    assert len(plain) + 8 * sum(piece.is_token for piece in shown.pieces) <= most + 1 + 16
    assert not [char for char in plain if is_invisible(char)]
    assert plain.startswith("n" * (most - most // 2))
    assert shown.is_clipped or plain.endswith("-1a")
    assert shown.only != f"{'n' * most}{name}-1a"


def test_names_that_differ_at_their_ends_are_shown_differently() -> None:
    names = [HERE.iri(f"https://example.org/{'supplier-' * 20}{n}") for n in range(3)]
    assert [name.local.plain[-10:] for name in names] == ["supplier-0", "supplier-1", "supplier-2"]
    assert [len(name.local.plain) for name in names] == [OF_NAME + 1] * 3


@settings(max_examples=150, deadline=None)
@given(st.text(min_size=1, max_size=40))
def test_every_link_is_ascii_and_local(name: str) -> None:
    try:
        shown = HERE.name(name)
    except ValueError:
        return
    for href in (shown.href, Addresses("mayros", "2026-01-01").resource(name)):
        assert href is None or (href.isascii() and href.startswith("/explore/mayros/r?name=") and " " not in href)


def test_a_literal_shows_language_direction_and_datatype() -> None:
    french = HERE.term(Literal("bonjour", language="fr"))
    assert isinstance(french, ShownLiteral)
    assert (french.language and french.language.plain, french.lang, french.datatype) == ("fr", "fr", None)
    year = HERE.literal(Literal("2026", datatype=NamedNode("http://www.w3.org/2001/XMLSchema#gYear")))
    assert year.datatype is not None
    assert year.datatype.plain == "xsd:gYear"


@pytest.mark.parametrize(
    ("text", "datatype"),
    [("5", "integer"), ("-0.5", "decimal"), ("true", "boolean"), ("2026-01-01", "date"), ("word", "string")],
)
def test_a_datatype_is_left_out_where_the_text_shows_it_and_nowhere_else(text: str, datatype: str) -> None:
    def shown(name: str) -> str | None:
        found = HERE.literal(Literal(text, datatype=NamedNode(f"http://www.w3.org/2001/XMLSchema#{name}"))).datatype
        return None if found is None else found.plain

    names = ("integer", "decimal", "boolean", "date", "dateTime", "string")
    assert [name for name in names if shown(name) is None] == [datatype]
    assert {shown(name) for name in names} == {None, *(f"xsd:{name}" for name in names if name != datatype)}


@pytest.mark.parametrize(
    ("name", "warning"),
    [
        ("mayros:аdmin", "mixes Cyrillic and Latin letters"),
        ("mayros:ｆull", "has letters of another style"),
        ("customer:сосо", "reads like “coco”, in Cyrillic letters"),
        ("mayros:Алексей", None),
        ("mayros:日本語テスト", None),
        ("mayros:naïve", None),
        ("mayros:plain", None),
    ],
)
def test_a_name_that_may_be_mistaken_has_a_warning(name: str, warning: str | None) -> None:
    assert warning_of(name) == warning
    assert HERE.name(name).warning == warning


def test_names_that_look_alike_are_found() -> None:
    assert alike(["mayros:coco", "mayros:сосо", "mayros:other"]) == {"mayros:сосо": "mayros:coco"}


def test_as_of_is_kept_in_addresses() -> None:
    addresses = Addresses("mayros", "2026-01-01")
    assert addresses.assertion("ab") == "/explore/mayros/t/ab?asOf=2026-01-01"
    assert addresses.triples(predicate="a&b", cursor=None) == "/explore/mayros/list?predicate=a%26b&asOf=2026-01-01"


def test_a_line_feed_in_one_line_is_a_sign_and_no_code() -> None:
    shown = shown_text("one\ntwo\tthree\u200b")
    assert [(piece.text, piece.is_token) for piece in shown.pieces] == [
        ("one", False),
        ("↵", True),
        ("two", False),
        ("⇥", True),
        ("three", False),
        ("U+200B", True),
    ]
