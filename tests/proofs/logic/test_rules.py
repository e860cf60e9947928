"""Rule sets: what is read as shapes, and what is refused before anybody evaluates it."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex_skills import CortexError
from cortex_skills.skill_folder.rule_set import MAX_BYTES, read_rules, read_rules_file
from tests.proofs.logic.conftest import PREFIXES, shapes

FINE = ":S a sh:NodeShape ; sh:targetSubjectsOf :p ; sh:property [ sh:path :p ; sh:maxCount 1 ] ."

# A complete query that also closes a string opened before it.
CLOSING = """:S sh:sparql [ sh:prefixes :d ; sh:select "SELECT $this { $this ?p ''' ) } #''' }" ] ."""


def test_a_rule_set_is_named_by_its_text() -> None:
    rules = shapes(FINE)
    assert rules.digest == hashlib.sha256((PREFIXES + FINE).encode()).hexdigest()
    assert rules.named == ("skill:probe", "1.2.3", rules.digest)
    assert shapes(FINE + "\n# a comment").digest != rules.digest


def test_a_version_that_the_shapes_state_wins() -> None:
    stated = '<urn:x> <http://www.w3.org/2002/07/owl#versionInfo> "2.0\\n\\u0007" .'
    assert shapes(FINE + stated).version.startswith("2.0")
    assert "\n" not in shapes(FINE + stated).version


REFUSED = {
    "not Turtle": ("a b", "not Turtle"),
    "an unknown term": (":S a sh:NodeShape ; sh:minCuont 1 .", "sh:minCuont"),
    "JavaScript": (':S sh:js [ sh:jsLibrary [ sh:jsLibraryURL "http://x/" ] ] .', "sh:js"),
    "rules": (":S sh:rule [ a sh:TripleRule ] .", "sh:"),
    "a SPARQL target": (':S sh:target [ a sh:SPARQLTarget ; sh:select "SELECT ?this {?this ?p ?o}" ] .', "sh:"),
    "a function": (":F a sh:SPARQLFunction .", "sh:SPARQLFunction"),
    "an import": ("<urn:x> <http://www.w3.org/2002/07/owl#imports> <http://localhost:1/x> .", "import"),
    "another server": (':S sh:sparql [ sh:select "SELECT $this { SERVICE <http://localhost:1/> {} }" ] .', "SERVICE"),
    "a hidden server": (':S sh:sparql [ sh:select "SELECT $this { SER\\\\u0056ICE <http://x/> {} }" ] .', "query"),
    "another graph": (':S sh:sparql [ sh:select "SELECT $this FROM <file:///etc/passwd> {}" ] .', "FROM"),
    "a named graph": (':S sh:sparql [ sh:ask "ASK { GRAPH <urn:cortex:other> { $this ?p ?o } }" ] .', "GRAPH"),
    "a server in a prefix": (
        f"""{CLOSING} :d sh:declare [ sh:namespace "urn:y:" ;
        sh:prefix "x: <urn:x:> SELECT $this {{ SERVICE <http://localhost:1/> {{}} FILTER('''x" ] .""",
        "invalid prefix",
    ),
    "a server in a namespace": (
        f"""{CLOSING} :d sh:declare [ sh:prefix "x" ;
        sh:namespace "urn:x:> SELECT $this {{ SERVICE <http://localhost:1/> {{}} FILTER('''x" ] .""",
        "invalid namespace",
    ),
    "a prefix that is no text": (":d sh:declare [ sh:prefix :x ; sh:namespace :y ] .", "declare an invalid"),
    "a target that is none": (':S a sh:NodeShape ; sh:targetSubjectsOf "p" .', "targetSubjectsOf that is not an IRI"),
    "two severities": (":S a sh:NodeShape ; sh:severity sh:Info , sh:Violation .", "two severities"),
    "no query": (":S sh:sparql [ sh:select :x ] .", "not text"),
    "too deep a query": (f':S sh:sparql [ sh:ask "ASK {"{" * 100}{"}" * 100}" ] .', "query"),
    "what is not UTF-8": ("# \ufffd", "UTF-8"),
    "a surrogate": ("# \ud800", "surrogate"),
    "too much": ("#" * MAX_BYTES, "KiB"),
    "too many": (" ".join(f":s{n} :p :o ." for n in range(4001)), "statements"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_an_unsupported_term_is_refused_by_name(what: str) -> None:
    text, reported = REFUSED[what]
    with pytest.raises(CortexError, match=reported) as refused:
        shapes(text)
    assert refused.value.code == "manifest_invalid"
    assert refused.value.message.startswith("the shapes of skill:probe ")


def test_prefixes_of_any_script_are_declared() -> None:
    for prefix in ("", "x", "foaf-2", "größe", "a.b"):
        rules = shapes(f':d sh:declare [ sh:prefix "{prefix}" ; sh:namespace "urn:x:#"^^xsd:anyURI ] .')
        assert rules.name == "skill:probe"


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        assert read_rules(text, "skill:probe").text == text
    except CortexError as refused:
        assert refused.code == "manifest_invalid"  # noqa: PT017


def test_a_missing_file_has_no_rule_set(tmp_path: Path) -> None:
    assert read_rules_file(tmp_path / "shapes.ttl", "skill:probe") is None


def test_a_file_is_not_a_link_and_is_utf_8(tmp_path: Path) -> None:
    file = tmp_path / "shapes.ttl"
    file.write_bytes(b"\xff")
    with pytest.raises(CortexError, match="UTF-8"):
        read_rules_file(file, "skill:probe")
    file.write_text(PREFIXES + FINE)
    link = tmp_path / "link.ttl"
    link.symlink_to(file)
    with pytest.raises(CortexError, match="link"):
        read_rules_file(link, "skill:probe")
    read = read_rules_file(file, "namespace:mayros", "7")
    assert read is not None
    assert (read.name, read.version) == ("namespace:mayros", "7")
    if os.geteuid():
        file.chmod(0)
        with pytest.raises(CortexError, match="cannot be read"):
            read_rules_file(file, "skill:probe")
