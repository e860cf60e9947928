"""Files come into one namespace and go out of it."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_graph import (
    FORMATS,
    WELL_KNOWN_VOCABULARIES,
    GraphStore,
    InvalidArguments,
    NamespacedGraph,
    export_rdf,
    import_rdf,
    open_store,
)
from cortex_graph.transfer.precheck import _deep_terms
from tests.graph.strategies import unicode_text, values

BROKEN = {
    "turtle": b"<urn:a> <urn:p> 1 .\n<urn:a> <urn:p> oops oops .\n",
    "n-triples": b"<urn:a> <urn:p> <urn:o> .\nbroken\n",
    "n-quads": b"<urn:a> <urn:p> <urn:o> <urn:g> .\n<urn:a> <urn:p> .\n",
    "trig": b"<urn:g> { <urn:a> <urn:p> 1 .\n <urn:a> , }",
    "json-ld": b'[{"@id": "urn:a", "urn:p": "x"},\n}',
    "rdf-xml": b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\n<rdf:Description></rdf:RDF>',
}


def exported(graph: NamespacedGraph, form: str = "n-quads") -> bytes:
    written = io.BytesIO()
    export_rdf(graph, written, form)
    return written.getvalue()


def objects(graph: NamespacedGraph) -> list[Any]:
    return [triple["object"] for triple in graph.list_triples({"limit": 1000})["triples"]]


@pytest.mark.parametrize("form", FORMATS)
def test_a_namespace_goes_out_and_comes_back_in_every_format(store: GraphStore, form: str) -> None:
    graph = NamespacedGraph(store, "mayros", vocabularies={"rdf": WELL_KNOWN_VOCABULARIES["rdf"]})
    rows: list[Any] = [1, 1.5, True, "a\n\"'é\u202e", {"node": "b c/d"}, {"value": "x", "language": "en"}, float("nan")]
    for value in rows:
        graph.create_triple({"subject": "a b%", "predicate": "rdf:value", "object": value})
    copy = NamespacedGraph(open_store("memory:"), "mayros", vocabularies=graph.names.vocabularies)
    assert import_rdf(copy, io.BytesIO(exported(graph, form)), form) == len(rows)
    assert sorted(exported(copy).splitlines()) == sorted(exported(graph).splitlines())


@pytest.mark.timeout(400)  # a process for each example
@settings(max_examples=50)
@given(st.sampled_from(list(FORMATS)), st.lists(st.tuples(unicode_text, values), max_size=5))
def test_every_value_survives_every_format(form: str, rows: list[tuple[str, Any]]) -> None:
    graph = NamespacedGraph(open_store("memory:"), "mayros")
    for name, value in rows:
        graph.create_triple({"subject": f"mayros:{name}", "predicate": f"mayros:{name}", "object": value})
    copy = NamespacedGraph(open_store("memory:"), "mayros")
    try:
        file = exported(graph, form)
    except InvalidArguments:
        assert form == "rdf-xml"
        return
    import_rdf(copy, io.BytesIO(file), form)
    assert sorted(exported(copy).splitlines()) == sorted(exported(graph).splitlines())


@pytest.mark.parametrize("form", BROKEN)
def test_an_invalid_file_imports_nothing_and_the_error_has_its_position(graph: NamespacedGraph, form: str) -> None:
    with pytest.raises(InvalidArguments) as caught:
        import_rdf(graph, io.BytesIO(BROKEN[form]), form)
    assert caught.value.details["field"] == "source"
    assert caught.value.details["line"] == 2
    assert isinstance(caught.value.details["column"], int)
    assert graph.count() == 0


def test_a_long_file_that_breaks_at_its_end_imports_nothing(graph: NamespacedGraph, tmp_path: Path) -> None:
    file = tmp_path / "long.nt"
    file.write_text("".join(f'<urn:a> <urn:p> "{number}" .\n' for number in range(20_000)) + "oops\n")
    with pytest.raises(InvalidArguments, match="20001"):
        import_rdf(graph, file)
    assert graph.count() == 0


def test_all_triples_are_imported_into_one_graph(graph: NamespacedGraph) -> None:
    file = b'<urn:a> <urn:p> "1" . <urn:cortex:may> { <urn:a> <urn:p> "2" } _:g { <urn:a> <urn:p> "3" }'
    assert import_rdf(graph, io.BytesIO(file), "trig") == 3
    assert sorted(objects(graph)) == ["1", "2", "3"]
    assert [name.value for name in graph.store.graph_names()] == ["urn:cortex:mayros"]


def test_foreign_iris_are_kept_and_can_be_written_back(graph: NamespacedGraph) -> None:
    file = b"<https://a.example/s> <tag:b,2024:p> <urn:cortex:may:o> ."
    import_rdf(graph, io.BytesIO(file), "turtle")
    (triple,) = graph.list_triples()["triples"]
    assert triple == {
        "id": triple["id"],
        "subject": "https://a.example/s",
        "predicate": "<tag:b,2024:p>",
        "object": {"node": "urn:cortex:may:o"},
    }
    again = graph.create_triple({key: triple[key] for key in ("subject", "predicate", "object")})
    assert again == triple | {"created": False}


def test_blank_nodes_become_names_the_same_ones_each_time(graph: NamespacedGraph) -> None:
    file = b"<urn:a> <urn:p> _:x, [ <urn:q> _:x ] ."
    for _ in range(2):
        assert import_rdf(graph, io.BytesIO(file), "turtle") == 3
    assert graph.count() == 3
    (inner,) = graph.list_triples({"predicate": "urn:q"})["triples"]
    assert inner["subject"].startswith("mayros:genid:")
    assert graph.list_triples({"object": {"node": inner["subject"]}})["total"] == 1
    assert graph.list_triples({"object": inner["object"]})["total"] == 2
    assert graph.create_triple({key: inner[key] for key in ("subject", "predicate", "object")})["created"] is False
    other = b"<urn:b> <urn:p> _:x ."
    import_rdf(graph, io.BytesIO(other), "turtle")
    assert graph.list_triples({"object": inner["object"]})["total"] == 2


def test_a_triple_term_is_refused(graph: NamespacedGraph) -> None:
    with pytest.raises(InvalidArguments, match="triple term"):
        import_rdf(graph, io.BytesIO(b"<urn:a> <urn:p> <<( <urn:s> <urn:p> <urn:o> )>> ."), "turtle")
    assert graph.count() == 0


RDF = b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="urn:e:">'
LAUGHS = b"".join(b'<!ENTITY a%d "%s">' % (n + 1, b"&a%d;" % n * 10) for n in range(12))
BOMBS = {
    "nested terms": (
        "n-triples",
        b"<urn:a> <urn:p> " + b"<<( <urn:a> <urn:p> " * 50_000 + b"1" + b" )>>" * 50_000 + b" .",
    ),
    "terms and comments": (
        "turtle",
        b"<urn:a> <urn:p> " + b"<<( <urn:a> <urn:p> " * 50_000 + b"1" + b")>>#\n" * 50_000 + b".",
    ),
    "nested elements": ("rdf-xml", RDF + b"<e:a>" * 100_000 + b"</e:a>" * 100_000 + b"</rdf:RDF>"),
    "entities": (
        "rdf-xml",
        b'<!DOCTYPE x [<!ENTITY a0 "lol">' + LAUGHS + b"]>" + RDF + b"<e:a e:p='&a12;'/></rdf:RDF>",
    ),
    "attributes": ("rdf-xml", RDF + b"<e:a " + b" ".join(b'e:p%d=""' % n for n in range(1001)) + b"/></rdf:RDF>"),
    "prefixes": (
        "rdf-xml",
        RDF + b"".join(b'<e:a xmlns:a%d="urn:a" xmlns:b%d="urn:b">' % (n, n) for n in range(500)),
    ),
    "arrays": ("json-ld", b"[" * 1_000_000),
    "collections": ("turtle", b"<urn:a> <urn:p> " + b"(" * 100_000),
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_file_made_to_exhaust_the_reader_is_refused(plain: NamespacedGraph, bomb: str) -> None:
    form, content = BOMBS[bomb]
    with pytest.raises(InvalidArguments) as caught:
        import_rdf(plain, io.BytesIO(content), form)
    assert caught.value.details["line"]
    assert plain.count() == 0


def test_as_many_names_as_a_file_of_xml_may_have_are_read(graph: NamespacedGraph) -> None:
    attributes = b" ".join(b'e:p%d=""' % number for number in range(1000))
    prefixes = b" ".join(b'xmlns:p%d="urn:p"' % number for number in range(900))
    twice = b"<rdf:Description %b/>" % prefixes * 2
    assert (
        import_rdf(graph, io.BytesIO(RDF + b"<rdf:Description %b/>" % attributes + twice + b"</rdf:RDF>"), "rdf-xml")
        == 1000
    )


MARKED = {
    "turtle": b"@prefix a: <urn:> . a:s a:p 1 .",
    "trig": b"@prefix a: <urn:> . a:g { a:s a:p 1 }",
    "n-triples": b'<urn:s> <urn:p> "1" .\n',
    "n-quads": b'<urn:s> <urn:p> "1" <urn:g> .\n',
    "json-ld": b'{"@id": "urn:s", "urn:p": 1}',
    "rdf-xml": b"<?xml version='1.0'?>" + RDF + b"<rdf:Description rdf:about='urn:s' e:p='1'/></rdf:RDF>",
}


@pytest.mark.parametrize("form", FORMATS)
def test_a_byte_order_mark_is_no_part_of_a_text(graph: NamespacedGraph, form: str) -> None:
    assert import_rdf(graph, io.BytesIO("\ufeff".encode() + MARKED[form]), form) == 1
    (triple,) = graph.list_triples()["triples"]
    assert triple["subject"] == "urn:s"


def test_a_byte_order_mark_elsewhere_is_a_character_like_others(graph: NamespacedGraph) -> None:
    with pytest.raises(InvalidArguments) as caught:
        import_rdf(graph, io.BytesIO(MARKED["n-triples"] + "\ufeff".encode() + MARKED["n-triples"]), "n-triples")
    assert caught.value.details["line"] == 2
    assert graph.count() == 0


@pytest.mark.parametrize(
    "content",
    [
        '{"@id": "a", "urn:p": 1}',
        '{"@id": "", "urn:p": 1}',
        '{"@id": "//host/a", "urn:p": 1}',
        '{"@id": "urn:a", "urn:p": {"@id": "../b"}}',
        '{"@id": "urn:a", "@type": "Kind"}',
        '{"@id": "urn:a", "urn:p": {"@value": "1", "@type": "kind"}}',
        '{"@id": "g", "@graph": {"@id": "urn:a", "urn:p": 1}}',
        '{"@context": {"@base": "b/"}, "@id": "urn:a", "urn:p": {"@id": "c"}}',
    ],
)
def test_a_relative_iri_of_json_ld_is_an_error_as_in_every_format(plain: NamespacedGraph, content: str) -> None:
    with pytest.raises(InvalidArguments, match="relative IRI"):
        import_rdf(plain, io.BytesIO(content.encode()), "json-ld")
    assert plain.count() == 0
    assert import_rdf(plain, io.BytesIO(content.encode()), "json-ld", base_iri="https://a.example/") == 1


def test_a_base_in_the_context_of_json_ld_makes_its_iris_absolute(graph: NamespacedGraph) -> None:
    content = b'{"@context": {"@base": "https://a.example/"}, "@id": "b", "urn:p": "<cortex-nowhere:///x>"}'
    assert import_rdf(graph, io.BytesIO(content), "json-ld") == 1
    assert graph.list_triples()["triples"][0]["subject"] == "https://a.example/b"


RUNS = {
    "closings": b")>>" * 999 + b"x",
    "closings and blanks": (b")>>" + b" " * 999) * 999 + b"x",
    "closings and comments": (b")>>" + b"#\n" * 500) * 999 + b"x",
    "closings in comments": b")>>#" * 500_000,
    "closings in comments of many lines": b")>>#)>>\n#)>>x\n" * 100_000,
}


@pytest.mark.parametrize("run", RUNS)
def test_what_only_looks_like_nested_terms_is_read_in_linear_time(plain: NamespacedGraph, run: str) -> None:
    comment = b"# " + RUNS[run] * (2_000_000 // len(RUNS[run])) + b"\n"
    with pytest.raises(InvalidArguments) as caught:
        import_rdf(plain, io.BytesIO(comment + b"<urn:s> <urn:p>"), "turtle")
    assert caught.value.details["line"]


@given(parts=st.lists(st.sampled_from([")>>", " ", "\n", "#", "x", '"']), max_size=40))
def test_terms_that_close_at_once_are_found_wherever_they_begin(parts: list[str]) -> None:
    content = "".join(parts).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cortex_graph.transfer.precheck.MAX_DEPTH", 3)
        found = _deep_terms(content)
    assert (found is None) == (re.search(rb"(?:\)>>(?:\s|#[^\n]*(?:\n|\Z))*){3}", content) is None)


@pytest.mark.parametrize(("predicate", "value"), [("p", "\x1f"), ("p", "\uffff"), ("1", "x"), ("p", "\x00")])
def test_what_xml_cannot_hold_is_not_written_as_xml(graph: NamespacedGraph, predicate: str, value: str) -> None:
    graph.create_triple({"subject": "a", "predicate": predicate, "object": value})
    written = io.BytesIO()
    with pytest.raises(InvalidArguments, match="cannot be rdf-xml"):
        export_rdf(graph, written, "rdf-xml")
    assert written.getvalue() == b""


def test_harmless_entities_are_read(graph: NamespacedGraph) -> None:
    entity = b'<!DOCTYPE x [<!ENTITY e "urn:e:">]>'
    content = RDF + b'<rdf:Description rdf:about="&e;s"><e:p>o</e:p></rdf:Description></rdf:RDF>'
    assert import_rdf(graph, io.BytesIO(entity + content), "rdf-xml") == 1


def test_an_import_adds_to_what_is_there(graph: NamespacedGraph) -> None:
    graph.create_triple({"subject": "a", "predicate": "p", "object": 1})
    import_rdf(graph, io.BytesIO(exported(graph)), "n-quads")
    import_rdf(graph, io.BytesIO(b""), "n-quads")
    assert graph.count() == 1


def test_a_format_is_derived_from_the_extension(graph: NamespacedGraph, tmp_path: Path) -> None:
    graph.create_triple({"subject": "a", "predicate": "p", "object": 1})
    for extension in ("ttl", "nt", "nq", "trig", "jsonld", "rdf"):
        file = tmp_path / f"a.{extension}"
        export_rdf(graph, file)
        assert import_rdf(graph, str(file)) == 1
    assert graph.count() == 1


def test_turtle_uses_the_names_of_the_namespace(graph: NamespacedGraph) -> None:
    graph.create_triple({"subject": "a", "predicate": "p", "object": {"node": "b"}})
    assert b"mayros:a mayros:p mayros:b ." in exported(graph, "turtle")


def test_relative_iris_need_a_base(graph: NamespacedGraph) -> None:
    with pytest.raises(InvalidArguments):
        import_rdf(graph, io.BytesIO(b"<a> <p> <b> ."), "turtle")
    import_rdf(graph, io.BytesIO(b"<a> <p> <b> ."), "turtle", base_iri="https://a.example/")
    assert objects(graph) == [{"node": "https://a.example/b"}]
    with pytest.raises(InvalidArguments, match="base_iri"):
        import_rdf(graph, io.BytesIO(b""), "turtle", base_iri="nowhere")


@pytest.mark.parametrize(
    "content", [b"\x00\xff\xfe", b"\x89PNG\r\n", b'{"@context": "http://127.0.0.1:1/c", "@id": "urn:a"}']
)
@pytest.mark.parametrize("form", FORMATS)
def test_garbage_is_refused_and_nothing_is_fetched(plain: NamespacedGraph, form: str, content: bytes) -> None:
    with pytest.raises(InvalidArguments):
        import_rdf(plain, io.BytesIO(content), form)
    assert plain.count() == 0


def test_a_file_that_is_missing_or_of_an_unknown_format_is_refused(graph: NamespacedGraph, tmp_path: Path) -> None:
    for source, form in [
        (tmp_path / "no.ttl", None),
        (tmp_path, "turtle"),
        ("a.docx", None),
        ("a.ttl", "n3"),
        (io.BytesIO(), None),
    ]:
        with pytest.raises(InvalidArguments):
            import_rdf(graph, source, form)
    with pytest.raises(InvalidArguments, match="cannot be written"):
        export_rdf(graph, tmp_path / "no" / "a.ttl")


def test_an_export_that_fails_leaves_the_file_that_was_there(graph: NamespacedGraph, tmp_path: Path) -> None:
    graph.create_triple({"subject": "a", "predicate": "p q", "object": "a control character: \x07"})
    target = tmp_path / "graph.rdf"
    target.write_text("what was there")
    with pytest.raises(InvalidArguments):
        export_rdf(graph, target)
    assert target.read_text() == "what was there"
    assert list(tmp_path.glob(".*.part")) == []
