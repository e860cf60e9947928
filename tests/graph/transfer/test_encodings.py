"""Files as they are in the world: compressed, in other encodings, with other extensions."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import zipfile
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Triple

from cortex_graph import InvalidArguments, NamespacedGraph, export_rdf, import_rdf, open_store
from cortex_graph.transfer.encodings import plain_file
from cortex_graph.transfer.formats import FORMATS, format_in, format_of
from tests.graph.transfer.support import read_here

NAMESPACES = 'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="urn:e:"'
XML = f'<rdf:RDF {NAMESPACES}><rdf:Description rdf:about="urn:a"><e:p>äß</e:p></rdf:Description></rdf:RDF>'
TEXTS = {
    "turtle": "<urn:a> <urn:e:p> 'äß' .",
    "n-triples": '<urn:a> <urn:e:p> "äß" .\n',
    "n-quads": '<urn:a> <urn:e:p> "äß" .\n',
    "trig": "<urn:a> <urn:e:p> 'äß' .",
    "json-ld": '{"@id": "urn:a", "urn:e:p": "äß"}',
    "rdf-xml": XML,
}
TRIPLE = Triple(NamedNode("urn:a"), NamedNode("urn:e:p"), Literal("äß"))
zipped = partial(gzip.compress, mtime=0)  # without the time, which would be in the names of the tests
OWL_XML = '<Ontology xmlns="http://www.w3.org/2002/07/owl#" ontologyIRI="urn:o"><Declaration/></Ontology>'


@pytest.mark.parametrize("form", FORMATS)
def test_a_gzip_file_is_read_in_every_format(tmp_path: Path, form: str) -> None:
    assert read_here(zipped(TEXTS[form].encode()), form, tmp_path)[1] == {TRIPLE}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.ttl", TEXTS["turtle"].encode()),
        ("a.nt.GZ", zipped(TEXTS["n-triples"].encode()[:10]) + zipped(TEXTS["n-triples"].encode()[10:])),
        ("a.owl", XML.encode()),
        ("a.OWL", f"\ufeff<?xml version='1.0'?>\n<!-- x -->{XML}".encode()),
        ("a.rdfs", XML.encode()),
        ("a.xml", XML.encode()),
        ("a.owl", f"# an ontology\n{TEXTS['turtle']}".encode()),
        ("a.owl", "<urn:a><urn:e:p>'äß'.".encode()),
        ("a.owl", TEXTS["json-ld"].encode()),
        ("a.owl.gz", zipped(TEXTS["turtle"].encode())),
        ("a.n3", TEXTS["turtle"].encode()),
        ("a.json", TEXTS["json-ld"].encode()),
        ("a.turtle", TEXTS["turtle"].encode()),
    ],
)
def test_a_file_is_read_by_its_extension_and_its_first_bytes(tmp_path: Path, name: str, content: bytes) -> None:
    form = format_of(name, None, compressed=True)
    assert read_here(content, form, tmp_path, guessed=True)[1] == {TRIPLE}


def test_a_compressed_ontology_is_imported_from_its_path(tmp_path: Path) -> None:
    (tmp_path / "a.owl.gz").write_bytes(zipped(f'<?xml version="1.0" encoding="UTF-16"?>{XML}'.encode("utf-16")))
    graph = NamespacedGraph(open_store("memory:"), "m")
    assert import_rdf(graph, tmp_path / "a.owl.gz") == 1
    assert graph.list_triples()["triples"][0]["object"] == "äß"


def test_a_blank_node_of_a_compressed_file_has_the_same_name(tmp_path: Path) -> None:
    text = b"_:x <urn:p> 1 ."
    plain, packed = (read_here(content, "turtle", tmp_path)[1] for content in (text, zipped(text)))
    assert plain == packed != set()


@pytest.mark.parametrize(
    ("content", "problem", "hint"),
    [
        (bz2.compress(b"x"), "compressed by bzip2", "bunzip2 -c FILE | cortex-skills graph import - --format turtle"),
        (lzma.compress(b"x"), "compressed by xz", "xz -dc"),
        (b"\x28\xb5\x2f\xfd\x00", "compressed by zstd", "zstd -dc"),
        (zipped(b"x")[:-4], "damaged gzip file", "again"),
        (zipped(b"x") + b"junk", "damaged gzip file", "again"),
        (b"\x1f\x8b\x08", "damaged gzip file", "again"),
        (zipped(zipped(b"x")), "compressed by gzip twice", "gunzip -c"),
        ("<urn:a> <urn:p> 1 .".encode("utf-16"), "encoded in UTF-16", "iconv -f UTF-16 -t UTF-8"),
        ("<urn:a> <urn:p> 1 .".encode("utf-16-le"), "encoded in UTF-16", "iconv"),
        ("<urn:a> <urn:p> 1 .".encode("utf-16-be"), "encoded in UTF-16", "iconv"),
        ("@prefix : <urn:a> .".encode("utf-16-le"), "encoded in UTF-16", "iconv"),
        ("<urn:a> <urn:p> 1 .".encode("utf-32"), "encoded in UTF-32", "iconv"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_named_with_what_to_do(tmp_path: Path, content: bytes, problem: str, hint: str) -> None:
    with pytest.raises(InvalidArguments) as raised:
        read_here(content, "turtle", tmp_path)
    assert problem in raised.value.message
    assert hint in raised.value.hint


def test_a_zip_file_is_named(tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a.ttl", "x")
    with pytest.raises(InvalidArguments) as raised:
        read_here(packed.getvalue(), "rdf-xml", tmp_path)
    assert "unzip -p" in raised.value.hint


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("a.ttl", bz2.compress(b"x"), "is compressed by bzip2"),
        ("a.rdf", b"<?xml version='1.0'?><a>", "is not well-formed XML"),
        ("a.jsonld", b'{"@id": "urn:a b", "urn:p": 1}', "has the IRI 'urn:a b' at line 1, column 9"),
        ("a.owl", OWL_XML.encode(), "is in OWL/XML, which is no format of RDF"),
        ("a.trig", b"<urn:a> <urn:p> <<( <urn:a> <urn:p> 1 )>> .", "has a triple term"),
    ],
)
def test_the_error_of_a_file_names_the_file(tmp_path: Path, name: str, content: bytes, problem: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InvalidArguments) as raised:
        import_rdf(NamespacedGraph(open_store("memory:"), "m"), path)
    assert raised.value.message.startswith(f"{path} {problem}")
    assert raised.value.details["field"] == "source"


def test_rdf_xml_in_an_encoding_that_it_does_not_declare_is_not_called_malformed_only(tmp_path: Path) -> None:
    for declaration in ("", "<?xml version='1.0'?>"):
        with pytest.raises(InvalidArguments) as raised:
            read_here(f"{declaration}{XML}".encode("latin-1"), "rdf-xml", tmp_path)
        assert "it is not UTF-8: state its encoding in its first line" in raised.value.hint
    with pytest.raises(InvalidArguments) as raised:
        read_here(b"<a>", "rdf-xml", tmp_path)
    assert raised.value.hint == "nothing was imported; correct it and import it again"


def test_the_hint_for_another_encoding_names_a_converter() -> None:
    graph = NamespacedGraph(open_store("memory:"), "m")
    with pytest.raises(InvalidArguments, match="Invalid UTF-8") as raised:
        import_rdf(graph, io.BytesIO("<urn:a> <urn:p> 'ä' .".encode("latin-1")), "turtle")
    assert "iconv -f ENCODING -t UTF-8" in raised.value.hint


@pytest.mark.parametrize("inner", ["decompressed", "decoded"])
def test_a_small_file_that_grows_without_end_is_refused(tmp_path: Path, inner: str) -> None:
    text = "<?xml version='1.0' encoding='latin1'?>" + "ä" * 100_000
    content = zipped(text.encode()) if inner == "decompressed" else text.encode("latin-1")
    (tmp_path / "bomb").write_bytes(content)
    with pytest.raises(InvalidArguments, match="far more than its size"):
        plain_file(tmp_path / "bomb", "rdf-xml", tmp_path, 150_000, lambda: None)


@pytest.mark.parametrize("line_end", ["\r\n", "\r", "\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_line_of_xml_ends_with_a_line_feed(tmp_path: Path, encoding: str, line_end: str) -> None:
    text = XML.replace("äß", "ä\n\nß&#13;").replace("\n", line_end)
    assert {triple.object.value for triple in read_here(text.encode(encoding), "rdf-xml", tmp_path)[1]} == {"ä\n\nß\r"}


def test_the_line_ends_of_a_literal_in_turtle_stay(tmp_path: Path) -> None:
    (tmp_path / "a.owl").write_bytes(b"<urn:a> <urn:e:p> '''a\r\nb''' .\r\n")
    graph = NamespacedGraph(open_store("memory:"), "n")
    import_rdf(graph, tmp_path / "a.owl")
    (match,) = graph.pattern_query({})["matches"]
    assert match["object"] == "a\r\nb"


@pytest.mark.parametrize(
    ("encoding", "declared"),
    [
        *(("utf-16", name) for name in ("UTF-16", "utf-16", None)),
        *((name, "UTF-16") for name in ("utf-16-le", "utf-16-be")),
        *((name, name) for name in ("ISO-8859-1", "iso-8859-15", "latin1", "windows-1252", "utf8", "UTF-8")),
        ("utf-8-sig", "UTF-8"),
        ("utf-8-sig", None),
    ],
)
def test_rdf_xml_is_read_in_the_encoding_that_it_declares(tmp_path: Path, encoding: str, declared: str | None) -> None:
    head = "" if declared is None else f'<?xml version="1.0" encoding="{declared}" standalone="yes"?>\n'
    assert read_here(f"{head}{XML}".encode(encoding), "rdf-xml", tmp_path)[1] == {TRIPLE}


@pytest.mark.parametrize(
    ("declared", "content", "problem"),
    [
        ("UTF-16", XML.encode(), "declares the encoding UTF-16, and is not encoded so"),
        ("punycode", XML.encode(), "declares the encoding punycode, which is not known"),
        ("unicode_escape", XML.encode(), "which is not known"),
        ("rot13", XML.encode(), "which is not known"),
        ("nothing-like-it", XML.encode(), "which is not known"),
        ("us-ascii", XML.encode(), "is not valid ASCII at line 2"),
        ("UTF-8", XML.encode("latin-1"), "line 2"),
    ],
)
def test_a_wrong_declaration_is_refused(tmp_path: Path, declared: str, content: bytes, problem: str) -> None:
    head = f'<?xml version="1.0" encoding="{declared}"?>\n'.encode()
    with pytest.raises(InvalidArguments) as raised:
        read_here(head + content, "rdf-xml", tmp_path)
    assert problem in raised.value.message


@settings(max_examples=60)
@given(st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=20), st.sampled_from(["utf-16", "utf-16-be"]))
def test_no_character_of_another_encoding_is_changed(
    tmp_path_factory: pytest.TempPathFactory, text: str, encoding: str
) -> None:
    folder = tmp_path_factory.mktemp("plain")
    written = f'<?xml version="1.0" encoding="UTF-16"?><a>{text}</a>'
    (folder / "file").write_bytes(written.encode(encoding))
    plain = plain_file(folder / "file", "rdf-xml", folder, 1 << 20, lambda: None)
    assert plain.read_bytes().decode() == written.replace("UTF-16", "UTF-8", 1)


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        *(("a.owx", "OWL/XML"), ("a.ofn", "functional syntax"), ("a.trix", "TriX"), ("a.rq", "SPARQL query")),
        *(("a.doc", "one of turtle"), ("a.gz", "one of turtle")),
    ],
)
def test_a_file_that_is_no_rdf_is_refused_by_its_extension(name: str, problem: str) -> None:
    with pytest.raises(InvalidArguments) as raised:
        format_of(name, None, compressed=True)
    assert problem in f"{raised.value.message} {raised.value.hint}"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (OWL_XML, "OWL/XML"),
        ("Prefix(:=<urn:a#>)\nOntology(<urn:o>)", "the functional syntax of OWL"),
        ("Prefix: : <urn:a#>\nOntology: <urn:o>", "the Manchester syntax of OWL"),
    ],
)
def test_a_syntax_of_owl_that_is_no_rdf_is_refused_by_its_first_bytes(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(InvalidArguments) as raised:
        read_here(text.encode(), "rdf-xml", tmp_path, guessed=True)
    assert problem in raised.value.message
    assert "convert it to Turtle" in raised.value.hint


def test_an_ontology_of_rdf_xml_is_no_owl_xml() -> None:
    head = b'<rdf:RDF xmlns:owl="x"><owl:Ontology rdf:about="urn:o"/>'
    assert format_in(head, "rdf-xml", guessed=True) == "rdf-xml"
    root = b'<Ontology xmlns="http://www.w3.org/2002/07/owl#" xmlns:rdf="x" rdf:about="urn:o"/>'
    assert format_in(root, "rdf-xml", guessed=True) == "rdf-xml"


def test_nothing_is_exported_uncompressed_into_a_file_with_the_name_of_a_compressed_one(tmp_path: Path) -> None:
    with pytest.raises(InvalidArguments) as raised:
        export_rdf(NamespacedGraph(open_store("memory:"), "m"), tmp_path / "a.ttl.gz")
    assert re.search(r"export to .*a\.ttl, and compress that", raised.value.hint)
