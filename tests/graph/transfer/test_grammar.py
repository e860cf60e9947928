"""What one expression takes for triples, the engine takes for the same triples; and it takes what serialisers write."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Quad, RdfFormat, parse, serialize

from cortex_graph.transfer import grammar
from cortex_graph.transfer.grammar import TRIPLE, are_triples

NT = RdfFormat.N_TRIPLES
END = b"<urn:g> .\n"
TAKEN = st.from_regex(TRIPLE, fullmatch=True, alphabet=st.characters(codec="utf-8"))
# Terms that are valid, nearly valid, or begin like one.
PIECES = st.sampled_from(
    [
        *"<>\"'\\@^:/?#%-. \t\n\r[]{}|`_~",
        "urn:a",
        "http://a.org",
        "//",
        "%4",
        "%41",
        "%zz",
        "\\u0041",
        "\\ud800",
        "\\t",
        "@en",
        "@en-GB",
        "@e",
        "@en--ltr",
        "^^<urn:d>",
        "^^<http://www.w3.org/2001/XMLSchema#int>",
        "é",
        "\u200b",
        "\x00",
    ]
)


@settings(max_examples=15)  # drawing one takes long
@given(TAKEN)
def test_what_it_takes_is_a_triple_to_the_engine(line: str) -> None:
    assert are_triples(f"{line}<urn:g> .\n".encode(), END)
    (quad,) = parse(f"{line}<urn:g> .\n".encode(), RdfFormat.N_QUADS)
    assert quad.graph_name == NamedNode("urn:g")
    (triple,) = parse(f"{line}.\n".encode(), NT)
    assert triple.triple == quad.triple
    assert isinstance(quad.subject, NamedNode)
    assert isinstance(quad.object, NamedNode | Literal)


@given(st.lists(PIECES, max_size=8).map("".join), st.sampled_from([0, 1, 2]), st.sampled_from(["<{}>", '"{}"', "{}"]))
def test_it_takes_nothing_that_the_engine_refuses(text: str, place: int, form: str) -> None:
    terms = ["<urn:s>", "<urn:p>", "<urn:o>"]
    terms[place] = form.format(text)
    block = f"{' '.join(terms)} <urn:g> .\n".encode()
    if are_triples(block, END):
        quads = list(parse(block, RdfFormat.N_QUADS))
        assert len(quads) == block.count(b"\n")
        assert {quad.graph_name for quad in quads} == {NamedNode("urn:g")}


@given(
    st.lists(st.just("<urn:s> <urn:p> <urn:o> "), min_size=1, max_size=5),
    st.integers(0, 4),
    PIECES.filter(lambda piece: piece != " "),
)
def test_one_line_that_it_does_not_take_is_enough(lines: list[str], place: int, piece: str) -> None:
    lines.insert(place % len(lines), f"<urn:s> <urn:p> {piece} <urn:o> ")
    assert not are_triples("".join(f"{line}.\n" for line in lines).encode(), b".\n")


@given(
    st.text(alphabet=st.characters(codec="utf-8")),
    st.sampled_from([{}, {"language": "en"}, {"language": "en-GB"}, {"datatype": NamedNode(grammar.XSD + "decimal")}]),
)
def test_it_takes_what_the_engine_writes_of_a_text_without_control_characters(text: str, kind: dict[str, str]) -> None:
    subject, predicate = NamedNode("http://example.org/a%20b?c#d"), NamedNode("urn:p")
    written = serialize([Quad(subject, predicate, Literal(text, **kind))], format=NT)  # type: ignore[arg-type]
    assert written is not None
    unescaped = written.replace(b"\\\\", b"")
    assert are_triples(written, b".\n") == (b"\\u" not in unescaped and b"\\U" not in unescaped)


@pytest.mark.parametrize(
    "iri",
    [
        "a",
        "a/b",
        "//a",
        "urn:a b",
        "urn:a%4",
        "urn:a#b#c",
        "urn:é",
        "urn:[a]",
        "http://a:80x/",
        "http://a:80/",
        "http://u@a/",
        "http://[::1]/",
        "1urn:a",
    ],
)
def test_uncertain_iris_are_left_to_the_parser(iri: str) -> None:
    for line in (f"<{iri}> <urn:p> <urn:o> .\n", f"<urn:s> <{iri}> <urn:o> .\n", f"<urn:s> <urn:p> <{iri}> .\n"):
        assert not are_triples(line.encode(), b".\n")


def test_what_is_no_text_is_not_taken() -> None:
    assert are_triples(b'<urn:s> <urn:p> "\xc3\xa9" .\n', b".\n")
    assert not are_triples(b'<urn:s> <urn:p> "\xc3" .\n', b".\n")
    assert not are_triples(b'<urn:s> <urn:p> "\xed\xa0\x80" .\n', b".\n")


def test_a_term_that_is_longer_than_the_engine_takes_is_left_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    line = b'<urn:s> <urn:p> "%b" .\n' % (b"x" * 1000)
    assert are_triples(line, b".\n")
    monkeypatch.setattr(grammar, "_MAX_BLOCK", 1000)
    assert not are_triples(line, b".\n")


def test_a_block_that_nearly_fits_takes_time_with_its_length() -> None:
    """The expression never backtracks: with backtracking this would not end."""
    assert not are_triples(b"<urn:" + b"%41a" * 200_000 + b"<", b".\n")
    assert not are_triples(b"<urn:s> <urn:p> " + b'"\\t' * 200_000, b".\n")
    assert not are_triples(b"<urn:s> <urn:p> <urn:o> .\n" * 40_000 + b"x\n", b".\n")
