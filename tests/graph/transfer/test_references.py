"""IRIs of files: relative and invalid ones are refused with their position, all others come back from every format."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyoxigraph import RdfFormat, parse

from cortex_graph import (
    FORMATS,
    GraphError,
    InvalidArguments,
    NamespacedGraph,
    RelativeIri,
    RemoteContext,
    export_rdf,
    import_rdf,
    open_store,
)
from cortex_graph.transfer.read_worker import FileReader

XML = '<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:x="{x}">\n  {element}</r:RDF>'
RELATIVE = {
    "turtle": ("<urn:a>\n  <urn:p> 1, <b/é> .", "<b/é>", 2, 14),
    "trig": ("<g> { <urn:a> <urn:p> 1 }", "<g>", 1, 1),
    "n-triples": ("<urn:a> <urn:p> 1 .\n".replace("1", '"1"') + '<urn:a> <urn:p> "1"^^<t> .\n', "<t>", 2, 22),
    "n-quads": ("<urn:a> <urn:p> <urn:b> <> .", "<>", 1, 25),
    "json-ld": ('{"urn:t": ["a"],\n "@id": "a"}', "<a>", 2, 9),
    "rdf-xml": (XML.format(x="urn:x:", element='<x:T r:about="a"/>'), "<a>", 2, 3),
}


@pytest.fixture
def plain() -> NamespacedGraph:
    return NamespacedGraph(open_store("memory:"), "mayros")


def refused(graph: NamespacedGraph, content: str, form: str) -> InvalidArguments:
    with pytest.raises(InvalidArguments) as caught:
        import_rdf(graph, io.BytesIO(content.encode()), form)
    assert graph.count() == 0
    return caught.value


@pytest.mark.parametrize("form", FORMATS)
def test_a_relative_iri_is_an_error_with_its_position(plain: NamespacedGraph, form: str) -> None:
    content, iri, line, column = RELATIVE[form]
    error = refused(plain, content, form)
    assert (type(error), error.code) == (RelativeIri, "relative_iri")
    assert error.message.endswith(f"has the relative IRI {iri} at line {line}, column {column}")
    assert error.details == {"field": "source", "line": line, "column": column}
    assert error.hint.startswith("write it in full")
    assert ("has no base" in error.hint) == form.startswith("n-")


@pytest.mark.parametrize("attribute", ['r:ID="a b"', 'r:ID="a"', 'x:p="a" r:about="#a"'])
def test_a_relative_name_of_an_element_of_xml_is_located(plain: NamespacedGraph, attribute: str) -> None:
    element = f'<x:T r:about="urn:b" x:p="a"/><x:T {attribute}/>'
    error = refused(plain, XML.format(x="urn:x:", element=element), "rdf-xml")
    if attribute != 'r:ID="a b"':  # which is no name at all
        assert (error.code, error.details["column"]) == ("relative_iri", 33)


def test_a_relative_namespace_of_xml_is_located(plain: NamespacedGraph) -> None:
    error = refused(plain, XML.format(x="rel/", element='<x:T r:about="urn:b"/>'), "rdf-xml")
    assert (error.code, error.details["line"]) == ("relative_iri", 2)


@pytest.mark.parametrize(
    ("content", "named", "line", "column"),
    [
        ('{"@context": "https://schema.org/", "@id": "urn:a"}', '"https://schema.org/"', 1, 14),
        ('{"n": "\\"@context\\": \\"x\\"",\n"@context" : [{"n": "urn:n"},\n "./é"]}', '"./é"', 3, 2),
        ('{"@context": {"@import": "urn:c"}, "@id": "urn:a"}', '"urn:c"', 1, 26),
        ('{"@context": {"k": {"@id": "urn:k", "@context": ""}}, "k": {"@id": "urn:a"}}', '""', 1, 49),
        ('[{"@context": {"n": "urn:n"}, "n": 1},\n{"@context": ["urn:c", null], "n": 2}]', '"urn:c"', 2, 15),
    ],
)
def test_a_context_that_is_not_in_the_file_is_an_error_with_its_position(
    plain: NamespacedGraph, content: str, named: str, line: int, column: int
) -> None:
    error = refused(plain, content, "json-ld")
    assert (type(error), error.code) == (RemoteContext, "remote_context")
    assert f"names the context {named} at line {line}, column {column}, which" in error.message
    assert error.details == {"field": "source", "line": line, "column": column}
    assert "nothing is fetched" in error.hint


@pytest.mark.parametrize("character", ["\U000e01ef", "\U000e0001", "\U0001ffff", "\U000efffe"])
@pytest.mark.parametrize("form", ["turtle", "trig"])
def test_a_prefixed_name_that_is_no_iri_is_refused_with_its_position(
    plain: NamespacedGraph, form: str, character: str
) -> None:
    content = f'@prefix x: <urn:x/> .\nx:a x:b "a{character}" .\nx:c x:d x:v{character}w .'
    error = refused(plain, content, form)
    escaped = ascii(character)[1:-1]
    assert error.message.startswith(f"the stream has the IRI urn:x/v{escaped}w at line 3, column 12, with a character")
    assert error.details == {"field": "source", "line": 3, "column": 12}


CHARACTERS = st.one_of(
    st.sampled_from("\U000e01ef\U000e0001\U000e1000\U0001fffe\U000effff\ufffd\ufdd0\ue000%\\-.~é·‿ "),
    st.characters(exclude_categories=["Cs"]),
)
PARTS = st.text(CHARACTERS, min_size=1, max_size=4)
TERMS = st.one_of(
    st.builds("x:{}".format, PARTS),
    st.builds("<urn:x:{}>".format, PARTS),
    st.builds(lambda part: f"<urn:x:{''.join(f'{chr(92)}U{ord(character):08X}' for character in part)}>", PARTS),
    st.builds("<{}>".format, PARTS),
)
OBJECTS = st.one_of(TERMS, st.builds('"a"^^{}'.format, TERMS), st.builds('"a{}"@{}'.format, PARTS, PARTS))


def read(content: bytes, form: str, folder: Path) -> set[Any] | None:
    """The triples that the reader of files accepts; None for an invalid file."""
    file = folder / "source"
    file.write_bytes(content)
    job = {"file": str(file), "format": form, "base_iri": None, "folder": str(folder), "namespace": "mayros"}
    try:
        FileReader(job | {"base": "urn:cortex:", "with_provenance": False, "guessed": False, "most": 1 << 20}).run()
    except (SyntaxError, GraphError):
        return None
    return {quad.triple for quad in parse((folder / "data.nt").read_bytes(), RdfFormat.N_TRIPLES)}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(["turtle", "trig"]), st.lists(st.tuples(TERMS, TERMS, OBJECTS), min_size=1, max_size=3))
def test_what_is_imported_is_exported_and_imported_again_unchanged(tmp_path: Path, form: str, rows: Any) -> None:
    lines = (f"{subject} {predicate} {object_} ." for subject, predicate, object_ in rows)
    text = "@prefix x: <urn:x/> .\n" + "\n".join(lines)
    triples = read(text.encode(), form, tmp_path)
    if triples is None:
        return
    graph = NamespacedGraph(open_store("memory:"), "mayros")
    graph.store.bulk_load(tmp_path / "data.nt", graph.names.graph)
    for other in FORMATS:
        written = io.BytesIO()
        try:
            export_rdf(graph, written, other)
        except InvalidArguments:  # XML cannot represent every graph
            assert other == "rdf-xml"
            continue
        assert read(written.getvalue(), other, tmp_path) == triples, other
