"""Nothing of a file is left out of an import in silence: it is refused with its place, or counted by its name."""

from __future__ import annotations

import io
import json
import logging
from pathlib import Path
from typing import Any

import pytest

from cortex_graph import InvalidArguments, NamespacedGraph, import_rdf, open_store
from cortex_graph.transfer import import_file
from tests.graph.transfer.support import read_here

XML = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="urn:e:">%s</rdf:RDF>'


def written(document: Any) -> bytes:
    return json.dumps(document).encode()


@pytest.mark.parametrize(
    ("document", "named", "column"),
    [
        ({"@id": "urn:a b", "urn:p": "x"}, "the IRI 'urn:a b'", 9),
        ({"@id": "urn:a", "urn:p q": "x"}, "the IRI 'urn:p q'", 18),
        ({"@id": "urn:a", "urn:p": {"@id": "urn:x y"}}, "the IRI 'urn:x y'", 35),
        ({"@id": "urn:a", "@type": "urn:x y"}, "the IRI 'urn:x y'", 27),
        ({"@id": "urn:a", "urn:p": {"@list": ["x", {"@id": "urn:x y"}]}}, "the IRI 'urn:x y'", 51),
        ({"@id": "urn:a", "@reverse": {"urn:p": {"@id": "urn:x y"}}}, "the IRI 'urn:x y'", 48),
        ({"@id": "urn:g h", "@graph": [{"@id": "urn:a", "urn:p": "x"}]}, "the IRI 'urn:g h'", 9),
        ({"@id": "urn:a", "urn:p": {"@value": "x", "@type": "urn:x y"}}, "the IRI 'urn:x y'", 52),
        ({"@id": "urn:a", "urn:p": {"@value": "x", "@language": "not a tag"}}, "the language tag 'not a tag'", 56),
        ({"@id": "urn:a", "_:p": "x"}, "the property '_:p'", 18),
        ({"@id": "_:a b", "urn:p": "x"}, "the blank node '_:a b'", 9),
        ({"@id": "urn:a", "urn:p": {"@id": "_:a."}}, "the blank node '_:a.'", 35),
        ({"@id": "urn:a", "@type": "_:"}, "the blank node '_:'", 27),
        ({"@id": "urn:a", "@reverse": {"urn:p": {"@id": "_:-a"}}}, "the blank node '_:-a'", 48),
        ({"@id": "_:g h", "@graph": [{"@id": "urn:a", "urn:p": "x"}]}, "the blank node '_:g h'", 9),
        ({"@context": {"@base": None}, "@id": "a", "urn:p": "x"}, "the relative IRI <a>", 38),
        ({"@context": {"@base": None}, "@id": "urn:a", "@type": "T"}, "the relative IRI <T>", 56),
        ({"@id": "b c", "urn:p": "x"}, "the relative IRI <b c>", 9),
        ({"@context": {"e": "http://e x/"}, "e:a": 1}, "the IRI 'http://e x/a'", None),
    ],
)
def test_a_statement_that_the_parser_would_leave_out_is_refused_with_its_place(
    tmp_path: Path, document: Any, named: str, column: int | None
) -> None:
    with pytest.raises(InvalidArguments) as raised:
        read_here(written(document), "json-ld", tmp_path)
    assert named in raised.value.message
    assert raised.value.details.get("column") == column


def test_members_without_a_meaning_are_counted_by_their_names(caplog: pytest.LogCaptureFixture) -> None:
    graph = NamespacedGraph(open_store("memory:"), "m")
    document = {
        "@id": "urn:a",
        "urn:p": "x",
        "name": ["y", "z"],
        "author": {"@id": "urn:b", "urn:q": "dropped with its member"},
        "@unknown": 1,
        "nothing": None,
        "urn:q": {"@id": "@home"},
    }
    done = import_file(graph, io.BytesIO(written(document)), "json-ld")
    assert done.statements == 1
    assert done.members == {"@unknown": 1, "@home": 1, "name": 2, "author": 1}
    assert (
        done.shown_members()
        == "members without a meaning in their context: @unknown (1), @home (1), name (2), author (1)"
    )
    with caplog.at_level(logging.WARNING, "cortex_graph"):
        import_rdf(graph, io.BytesIO(written(document)), "json-ld")
    assert "name (2)" in caplog.text


@pytest.mark.parametrize(
    ("document", "statements"),
    [
        ({"@id": "urn:a", "urn:p": {"@list": [{"@list": [1]}, 2]}}, 7),
        ({"@id": "urn:a", "urn:p": {"@value": {"a": 1}, "@type": "@json"}}, 1),
        ({"@id": "_:g", "@graph": [{"@id": "urn:a", "urn:p": "x"}]}, 1),
        ({"@id": "urn:a", "urn:p": None, "urn:q": [None, 1]}, 1),
        ({"@context": {"name": None, "@vocab": "urn:v:"}, "@id": "urn:a", "name": "x", "other": 1}, 1),
        ({"@included": [{"@id": "urn:a", "urn:p": "x"}]}, 1),
        ({"@id": "urn:a", "urn:p": {"@value": "x", "@language": "en", "@direction": "rtl"}}, 1),
        (
            {
                "@context": {"p": {"@id": "urn:p", "@container": "@language"}},
                "@id": "urn:a",
                "p": {"en": "x", "de": "y"},
            },
            2,
        ),
    ],
)
def test_what_json_ld_defines_is_no_omission(tmp_path: Path, document: Any, statements: int) -> None:
    found, _ = read_here(written(document), "json-ld", tmp_path)
    assert (found["statements"], found["members"]) == (statements, {})


@pytest.mark.parametrize(
    ("inner", "problem"),
    [
        ('<rdf:Description rdf:about="urn:a" rdf:bagID="x"><e:p>1</e:p></rdf:Description>', "has rdf:bagID"),
        ('<rdf:Description rdf:aboutEach="urn:a"><e:p>1</e:p></rdf:Description>', "has rdf:aboutEach"),
        ('<e:C rdf:about="urn:a"><e:p rdf:parseType="Other"><e:x/></e:p></e:C>', "the unknown rdf:parseType 'Other'"),
        (
            '<e:C rdf:about="urn:a"><e:p rdf:resource="urn:b" rdf:datatype="urn:c"/></e:C>',
            "rdf:resource and rdf:datatype",
        ),
    ],
)
def test_rdf_xml_whose_statements_would_be_left_out_is_refused(tmp_path: Path, inner: str, problem: str) -> None:
    with pytest.raises(InvalidArguments) as raised:
        read_here((XML % inner).encode(), "rdf-xml", tmp_path)
    assert problem in raised.value.message
    assert raised.value.details["line"] == 1


def test_an_xml_literal_may_have_any_attribute(tmp_path: Path) -> None:
    inner = '<e:C rdf:about="urn:a"><e:p rdf:parseType="Literal"><e:x rdf:bagID="b" rdf:parseType="Other"/></e:p></e:C>'
    assert read_here((XML % inner).encode(), "rdf-xml", tmp_path)[0]["statements"] == 2
