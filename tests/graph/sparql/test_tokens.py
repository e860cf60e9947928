"""The tokens and the serialisation of SPARQL texts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Store

from cortex_graph import GraphError, InvalidArguments, NamespacedGraph, PermissionDenied, open_store
from cortex_graph.sparql.prologue import Prologue
from cortex_graph.sparql.serialize import TYPE_ERROR, SparqlWriter
from cortex_graph.sparql.tokens import read_tokens
from tests.graph.sparql.conftest import content


def written(text: str, depth: int = 64) -> str:
    tokens = read_tokens(text, depth)
    prologue = Prologue(text, {})
    at = prologue.read(tokens, 0)
    return SparqlWriter(text, prologue).write([tokens[at:]]).text.strip()


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * { SERVICE <U> { ?s ?p ?o } }",
        "SELECT * { service <U> { ?s ?p ?o } }",
        "SELECT * { SeRvIcE SILENT <U> { ?s ?p ?o } }",
        "SELECT * { SERVICE ?s { ?s ?p ?o } }",
        "SELECT * { ?s ?p ?o . { SELECT * { SERVICE<U>{ ?s ?p ?o } } } }",
        "SELECT * { FILTER EXISTS { SERVICE <U> { ?s ?p ?o } } }",
        "SELECT * {# {\nSERVICE# }\n<U> { ?s ?p ?o } }",
        'SELECT * { ?s ?p "\\"" . SERVICE <U> { ?s ?p "\\"" } }',
        "SELECT * { ?s ?p '''a'b''' . SERVICE <U> { ?s ?p ''' ''' } }",
        # Oxigraph reads keywords without a boundary.
        "SELECT * { SERVICESILENT<U> { ?s ?p ?o } }",
        "SELECT * { ?s ?p trueSERVICE<U> { ?s ?p ?o } }",
        "SELECT * { ?s ?p 1SERVICE<U> { ?s ?p ?o } }",
        "SELECT * { ?s ?p 1e5SERVICE<U> { ?s ?p ?o } }",
        "SELECT * { ?s ?p _:b.SERVICE<U> { ?s ?p ?o } }",
        # An engine that takes `<` for "less than" finds a comment or a string where another finds an IRI.
        'SELECT * { ?s ?p ?o FILTER(?o<5#>"""\n)SERVICE <U> { ?s ?p ?o } } #"""',
        "SELECT * { ?s ?p ?o FILTER(?o<'>#')SERVICE <U> { ?s ?p ?o } }",
        "SELECT * { VALUES ?o { 1 } FILTER(?o<?o)SERVICE<U>{?s ?p ?o} }",
        "INSERT { ?s ?p ?o } WHERE { SERVICE <U> { ?s ?p ?o } }",
        "LOAD <U>",
        "LOAD SILENT <U> INTO GRAPH <urn:cortex:shop>",
    ],
)
def test_no_text_reaches_another_server(text: str, unreached: str) -> None:
    store = open_store("memory:")
    graph = NamespacedGraph(store, "shop")
    graph.create_triple({"subject": "a", "predicate": "p", "object": 1})
    text = text.replace("<U>", f"<{unreached}>")
    try:
        with pytest.raises(PermissionDenied) as refused:
            graph.update(text) if text.startswith(("INSERT", "LOAD")) else graph.query(text)
        assert refused.value.code == "permission_denied"
        assert "other server" in refused.value.message
    finally:
        store.close()


@pytest.mark.parametrize(
    "text",
    [
        "PREFIX SERVICE: <U> SELECT * { SERVICE:x { ?s ?p ?o } }",
        "PREFIX serviceX: <U> SELECT * { serviceX:x { ?s ?p ?o } }",
        "SELECT * { S\\u0045RVICE <U> { ?s ?p ?o } }",
        "SELECT * { \\u0053ERVICE <U> { ?s ?p ?o } }",
        "SELECT * { ?s ?p ?o \\u007D SERVICE <U> { ?s ?p ?o } }",
        'SELECT * { ?s ?p ?o FILTER(?o<5#>"""\n} SERVICE <U> { ?s ?p ?o } #""") }',
        "SELECT * { ?s ?p ?o FILTER(?o<<U>SERVICE<U>) }",
        "SELECT * { ?s ?p ?o FILTER(?o<<b'>'||'x')SERVICE <U> {} #') }",
        "SELECT * { ?s ?p ?o } ; LOAD <U>",
    ],
)
def test_what_only_some_engine_would_take_for_another_server_reaches_none(text: str, unreached: str) -> None:
    store = open_store("memory:")
    graph = NamespacedGraph(store, "shop")
    graph.create_triple({"subject": "a", "predicate": "p", "object": 1})
    try:
        with pytest.raises(GraphError):
            content(graph.query(text.replace("<U>", f"<{unreached}>")))
    finally:
        store.close()


def test_a_store_that_is_asked_directly_asks_no_other_server_either(unreached: str) -> None:
    from cortex_graph import Dataset

    store = open_store("memory:")
    with pytest.raises(PermissionDenied):
        store.query(f"SELECT * {{ SERVICE <{unreached}> {{ ?s ?p ?o }} }}", Dataset(()))
    store.close()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("ASK { ?service <http://e/service> 'SERVICE' } # SERVICE", "ASK { ?service <http://e/service> 'SERVICE' }"),
        ("SELECT * { ?s ?p ?o FILTER(?o<5#>\n) }", "SELECT * { ?s ?p ?o FILTER ( ?o <  5\n) }"),
        ("SELECT * { ?s <urn:a#b> ?o }", "PREFIX iri0: <urn:a#b>  SELECT * { ?s iri0: ?o }"),
        ("PREFIX iri: <urn:x> SELECT * { ?s <urn:a'> ?o }", "PREFIX irii0: <urn:a'>  SELECT * { ?s irii0: ?o }"),
        ("PREFIX service: <urn:s:> ASK { service:x ?p 1 }", "PREFIX iri0: <urn:s:x>  ASK { iri0: ?p 1 }"),
        ("PREFIX a: <urn:a:> ASK { a:b\\'c ?p 1 }", "PREFIX iri0: <urn:a:b'c>  ASK { iri0: ?p 1 }"),
        ("BASE <http://e/a/> ASK { <../b> ?p <?q> }", "ASK { <http://e/b> ?p <http://e/a/?q> }"),
        ("BASE <http://e/a/> SELECT (iri('b') AS ?x) {}", "BASE <http://e/a/>  SELECT ( IRI( 'b' ) AS ?x ) { }"),
        ("ASK { ?s ?p '\\u0027 } \\U0001F600' }", 'ASK { ?s ?p "\' } 😀" }'),
        ('ASK { ?s ?p "\\\\u0041" }', 'ASK { ?s ?p "\\\\\\u00750041" }'),
        ("ASK { ?s ?p <urn:\\u0061> }", "ASK { ?s ?p <urn:a> }"),
        ("ask{?s?p-1.5,+2,'a'@en--ltr,'1'^^<t:t>,TRUE}", "ASK { ?s ?p -1.5 , +2 , 'a'@en--ltr , '1'^^<t:t> , true }"),
        ("PREFIX x: <bif:> ASK { FILTER(x:f(1)) }", f"ASK {{ FILTER ( {TYPE_ERROR} ) }}"),
        ("ASK { ?s ?p (1) FILTER <bif:f>(DISTINCT ((1)), ')') }", f"ASK {{ ?s ?p ( 1 ) FILTER {TYPE_ERROR} }}"),
        ("SELECT (CONCAT ('a', STR(BNODE( ))) AS ?x) {}", "SELECT ( CONCAT( 'a' , STR( BNODE() ) ) AS ?x ) { }"),
    ],
)  # fmt: skip
def test_a_text_is_serialised_so_that_every_engine_parses_the_same(text: str, shown: str) -> None:
    assert written(text) == shown
    Store().query(shown)


@pytest.mark.parametrize(
    "opened",
    ["{", "(", "[", "FILTER EXISTS {", "{SELECT * {", "STR(", "<urn:p>/(", "!(", "OPTIONAL {", "^("],
)
def test_what_nests_too_deeply_is_refused_with_its_place(opened: str) -> None:
    for deep in (65, 10_000):
        with pytest.raises(InvalidArguments, match=r"line 1, column .*nest more than 64 deep"):
            read_tokens(f"SELECT * {{ {opened * deep}", 64)


@pytest.mark.parametrize("sign", ["!", "-", "+"])
def test_a_long_run_of_prefix_operators_is_refused(sign: str) -> None:
    with pytest.raises(InvalidArguments, match="nest more than 64 deep"):
        read_tokens(f"SELECT * {{ FILTER({sign * 100}1) }}", 64)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("SELECT * { ?s ?p 'a }", "line 1, column 18: the string does not end"),
        ("SELECT * {\n ?s ?p '''a\n }", "line 2, column 8: the string does not end"),
        ("SELECT * { ?s ?p ?o", "line 1, column 10: `{` is not closed"),
        ("SELECT * { ?s ?p ?o ) }", "line 1, column 21: `)` closes nothing"),
        ("SELECT * }", "line 1, column 10: `}` closes nothing"),
        ("SELECT * { ?s ?p ?o } \x00", "line 1, column 23: '\\x00' is not allowed in SPARQL"),
        ("SELECT * { \u00a0 }", "is not allowed in SPARQL"),
        ("SELECTDISTINCT * {}", "`SELECTDISTINCT` is no keyword of SPARQL"),
        ("SELECT * { << ?s ?p ?o >> ?x ?y }", "triple terms (RDF 1.2) are not stored here"),
    ],
)
def test_what_is_no_sparql_is_refused_with_its_place(text: str, problem: str) -> None:
    with pytest.raises(InvalidArguments) as refused:
        read_tokens(text, 64)
    assert problem in refused.value.message
    assert refused.value.details["line"] >= 1


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("SELECT * { ?s x:p ?o }", "the prefix `x:` is not declared"),
        ("SELECT * { ?s <p> ?o }", "<p> is relative, and there is no base"),
        ("PREFIX x: SELECT * {}", "`PREFIX` is incomplete"),
        ("PREFIX x:y <urn:z> SELECT * {}", "`x:y` cannot be declared as a prefix"),
        ("SELECT * { ?s <urn:\\u0020> ?o }", "is a character that IRIs cannot contain"),
        ("SELECT * { ?s ?p '\\uD800' }", "the string has an invalid escape"),
        ("SELECT * { ?s ?p '\\q' }", "the string has an invalid escape"),
    ],
)
def test_names_that_mean_nothing_are_refused(text: str, problem: str) -> None:
    with pytest.raises(InvalidArguments) as refused:
        written(text)
    assert problem in refused.value.message


_SIGNS = """{ } ( ) [ ] < > ' " ''' # \\ . ; , | / ^ ^^ ! = != <= >= && || + - *"""
_WORDS = "SELECT ASK FILTER BIND AS VALUES UNION EXISTS SERVICE PREFIX BASE ?x $y @en 1 1.5 .5 1e5"
_NAMES = "<urn:a> <urn:a#b> <urn:'> a:b :c _:d service: \\u0027 \\\\u0041"
_PARTS = st.sampled_from([*_SIGNS.split(), *_WORDS.split(), *_NAMES.split(), '"""', "\n"])


@given(st.lists(_PARTS, max_size=25), st.sampled_from(["", " "]))
def test_any_text_is_parsed_or_refused_and_its_serialisation_parses_to_the_same(parts: list[str], gap: str) -> None:
    text = gap.join(parts)
    try:
        once = written(f"PREFIX a: <urn:a:> PREFIX : <urn:b:> {text}")
    except (InvalidArguments, PermissionDenied):
        return
    twice = written(once)
    assert _meaning(twice) == _meaning(once)


def _meaning(text: str) -> list[tuple[str, str]]:
    tokens = read_tokens(text, 64)
    prologue = Prologue(text, {})
    at = prologue.read(tokens, 0)
    return [
        (token.kind, token.text) if token.kind not in ("iri", "pname") else ("iri", prologue.iri(token))
        for token in tokens[at:]
    ]


@given(st.text(max_size=60))
def test_any_characters_are_read_or_refused(text: str) -> None:
    try:
        tokens = read_tokens(text, 64)
    except (InvalidArguments, PermissionDenied):
        return
    assert [token.start for token in tokens] == sorted(token.start for token in tokens)
