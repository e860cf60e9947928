"""The code writes what the ontology, the shapes and the context define."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime, timedelta, timezone

import pyoxigraph
import pytest
import rdflib
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Quad, RdfFormat, parse
from pyshacl import validate
from rdflib.compare import isomorphic

from cortex_graph import WELL_KNOWN_VOCABULARIES, NamespacedGraph, Provenance, export_rdf, open_store
from cortex_graph.assertion_records.proofs import StoredProof, content_id
from cortex_graph.naming import vocabulary
from cortex_graph.naming.ontology import context, ontology, shapes
from cortex_graph.naming.terms import to_term
from cortex_graph.store import Pattern
from tests.graph.strategies import unicode_text, values

# rdflib's own parser of JSON-LD uses what rdflib has deprecated.
pytestmark = pytest.mark.filterwarnings("ignore:(ConjunctiveGraph|Dataset).* is deprecated:DeprecationWarning")

TEXTS = {"ontology": ontology, "shapes": shapes}
STANDARD = {
    "rdf": "type Statement subject predicate object value",
    "rdfs": "label",
    "prov": "Entity Agent SoftwareAgent wasAttributedTo generatedAtTime invalidatedAtTime specializationOf "
    "wasRevisionOf",
    "schema": "softwareVersion",
    "xsd": "dateTime string",
}


def recorded(*rows: dict, base: str = "urn:cortex:", **origin) -> NamespacedGraph:
    graph = NamespacedGraph(open_store("memory:"), "mayros", base=base)
    graph.create_triples(rows, Provenance(**origin))
    return graph


def records_of(graph: NamespacedGraph) -> list[Quad]:
    return list(graph.store.quads(Pattern(graph.names.provenance_graph)))


def as_rdflib(quads: list[Quad]) -> rdflib.Graph:
    text = pyoxigraph.serialize((quad.triple for quad in quads), format=RdfFormat.N_TRIPLES)
    return rdflib.Graph().parse(data=text, format="nt")


def report(quads: list[Quad]) -> tuple[bool, str]:
    conforms, _, text = validate(as_rdflib(quads), shacl_graph=rdflib.Graph().parse(data=shapes()), meta_shacl=False)
    return conforms, text


@pytest.mark.parametrize("name", TEXTS)
def test_both_parsers_read_the_same(name: str) -> None:
    text = TEXTS[name]()
    ours = rdflib.Graph()
    ours.parse(data=pyoxigraph.serialize((q.triple for q in parse(text, RdfFormat.TURTLE)), format=RdfFormat.N_TRIPLES))
    assert isomorphic(rdflib.Graph().parse(data=text), ours)
    assert len(ours) > 20


@pytest.mark.extended
def test_the_shapes_are_well_formed() -> None:
    conforms, _, text = validate(rdflib.Graph(), shacl_graph=rdflib.Graph().parse(data=shapes()), meta_shacl=True)
    assert conforms, text


def test_each_term_that_the_code_uses_is_defined_here_or_standard() -> None:
    defined = {
        quad.subject.value for quad in parse(ontology(), RdfFormat.TURTLE) if isinstance(quad.subject, NamedNode)
    }
    known = {f"{WELL_KNOWN_VOCABULARIES[prefix]}{name}" for prefix, names in STANDARD.items() for name in names.split()}
    used = {term.value for term in vars(vocabulary).values() if isinstance(term, NamedNode)}
    assert used <= defined | known
    in_shapes = {
        part.value
        for quad in parse(shapes(), RdfFormat.TURTLE)
        for part in (quad.subject, quad.predicate, quad.object)
        if isinstance(part, NamedNode) and part.value.startswith(vocabulary.CORTEX)
    }
    assert {term for term in in_shapes if not term.endswith("Shape") and "#No" not in term} <= defined


TIMES = st.datetimes(min_value=datetime(1900, 1, 1), max_value=datetime(2900, 1, 1)).map(
    lambda moment: moment.replace(tzinfo=timezone(timedelta(hours=moment.hour - 12)))
)
TEXT = st.one_of(st.none(), unicode_text)


@settings(max_examples=25)
@given(
    # rdflib reads no base directions yet (RDF 1.2)
    rows=st.lists(
        st.tuples(unicode_text, values.filter(lambda value: not isinstance(value, dict) or "direction" not in value)),
        min_size=1,
        max_size=4,
    ),
    skill=TEXT,
    version=TEXT,
    agent=TEXT,
    time=TIMES,
    base=st.sampled_from(["urn:cortex:", "https://example.org/", "https://example.org/graph#"]),
)
def test_every_record_that_is_written_conforms_to_the_shapes(rows, skill, version, agent, time, base) -> None:
    triples = [{"subject": f"mayros:{name}", "predicate": "p", "object": value} for name, value in rows]
    graph = recorded(*triples, base=base, skill=skill, skill_version=version, agent=agent, time=time)
    quads = records_of(graph)
    assert quads
    conforms, text = report(quads)
    assert conforms, text


ROW = {"subject": "a", "predicate": "p", "object": 1}


def test_a_record_with_a_proof_conforms() -> None:
    graph = proved()
    conforms, text = report(records_of(graph))
    assert conforms, text
    assert {term.value for term in (vocabulary.PROOF_CLASS, vocabulary.RULE_SET)} <= {
        quad.object.value for quad in records_of(graph)
    }


@pytest.mark.parametrize("has_record", [True, False])
def test_a_withdrawn_record_conforms(has_record: bool) -> None:
    graph = proved() if has_record else NamespacedGraph(open_store("memory:"), "mayros")
    triple_id = graph.create_triple(ROW)["id"]
    assert graph.withdraw(triple_id, Provenance(skill="t", skill_version="2.0.0", agent="b"))
    assert graph.create_triple(ROW, Provenance(agent="c"))["created"]
    quads = records_of(graph)
    conforms, text = report(quads)
    assert conforms, text
    for predicate in (vocabulary.INVALIDATED_AT, vocabulary.SPECIALIZATION_OF, vocabulary.SUBJECT):
        conforms, _ = report([quad for quad in quads if quad.predicate != predicate])
        assert not conforms, predicate


def proved() -> NamespacedGraph:
    graph = recorded(ROW, skill="s", skill_version="1.0.0", agent="a")
    (triple,) = graph.list_triples()["triples"]
    rules = "# rules"
    on = {"premises": ("0" * 64,), "rests_on_graph": True, "rules": (content_id(rules),)}
    graph.proofs.add(StoredProof("pol", "{}", "2026-01-01T00:00:00Z", (triple["id"],), **on), [rules])
    return graph


@pytest.mark.parametrize("predicate", [vocabulary.CONTENT, vocabulary.PROOF_KIND, vocabulary.PROVES, vocabulary.TYPE])
def test_a_proof_that_lacks_something_does_not_conform(predicate: NamedNode) -> None:
    graph = proved()
    (proof, *_) = {quad.subject for quad in records_of(graph) if quad.predicate == vocabulary.PROOF_KIND}
    (rules, *_) = {quad.object for quad in records_of(graph) if quad.predicate == vocabulary.RULES}
    of = rules if predicate == vocabulary.TYPE else proof
    kept = [quad for quad in records_of(graph) if (quad.subject, quad.predicate) != (of, predicate)]
    assert len(kept) < len(records_of(graph))
    assert not report(kept)[0]


@pytest.mark.parametrize(
    "predicate",
    [
        vocabulary.TYPE,
        vocabulary.SUBJECT,
        vocabulary.PREDICATE,
        vocabulary.OBJECT,
        vocabulary.GENERATED_AT,
        vocabulary.ATTRIBUTED_TO,
        vocabulary.LABEL,
        vocabulary.SOFTWARE_VERSION,
    ],
)
def test_a_record_with_a_repeated_property_does_not_conform(predicate: NamedNode) -> None:
    graph = recorded(ROW, skill="s", skill_version="1.0.0", agent="a", time=datetime(2026, 1, 1, tzinfo=UTC))
    (*_, quad) = [quad for quad in records_of(graph) if quad.predicate == predicate]
    other = {
        vocabulary.GENERATED_AT: Literal("2027-01-01T00:00:00Z", datatype=vocabulary.DATE_TIME),
        vocabulary.LABEL: Literal("other"),
        vocabulary.SOFTWARE_VERSION: Literal("9"),
    }.get(predicate, NamedNode("urn:cortex:mayros:agent:other"))
    assert report(records_of(graph))[0]
    assert not report([*records_of(graph), Quad(quad.subject, predicate, other, quad.graph_name)])[0]


@pytest.mark.parametrize(
    "predicate", [vocabulary.SUBJECT, vocabulary.OBJECT, vocabulary.GENERATED_AT, vocabulary.LABEL]
)
def test_a_record_that_lacks_something_does_not_conform(predicate: NamedNode) -> None:
    graph = recorded(ROW, skill="s", skill_version="1.0.0", agent="a")
    assert not report([quad for quad in records_of(graph) if quad.predicate != predicate])[0]


def expanded(document: dict) -> list[rdflib.Graph]:
    """What two parsers make of a JSON-LD document."""
    text = json.dumps(document)
    return [as_rdflib(list(parse(text.encode(), RdfFormat.JSON_LD))), rdflib.Graph().parse(data=text, format="json-ld")]


def test_records_that_are_written_with_the_context_are_the_same_graph() -> None:
    graph = recorded(
        ROW,
        {"subject": "a", "predicate": "p", "object": {"value": "x", "language": "en"}},
        {"subject": "a", "predicate": "p", "object": {"node": "b"}},
        skill="s",
        skill_version="1.0.0",
        agent="a",
    )
    expected = as_rdflib(records_of(graph))
    compacted = json.loads(expected.serialize(format="json-ld", context=context()["@context"], auto_compact=False))
    for found in expanded(compacted):
        assert isomorphic(found, expected)


def test_an_exported_json_ld_file_is_the_same_graph_with_the_context_in_it() -> None:
    graph = recorded(ROW, {"subject": "a", "predicate": "p", "object": "x"}, skill="s", agent="a")
    written = io.BytesIO()
    export_rdf(graph, written, "json-ld", with_provenance=True)
    document = json.loads(written.getvalue())
    assert isinstance(document, list)
    document = context(graph.names) | {"@graph": document}
    quads = [*graph.store.quads(Pattern(graph.names.graph)), *records_of(graph)]
    assert set(parse(json.dumps(document).encode(), RdfFormat.JSON_LD)) == set(quads)
    dataset = rdflib.Dataset().parse(data=json.dumps(document), format="json-ld")
    assert len(list(dataset.quads())) == len(quads)


WIRE = [
    "text",
    "é\n\"'",
    5,
    -7,
    1.5,
    True,
    {"node": "mayros:b"},
    {"node": "https://example.org/x"},
    {"value": "2026-01-01", "datatype": "http://www.w3.org/2001/XMLSchema#date"},
    {"value": "hallo", "language": "de"},
]


@pytest.mark.parametrize("value", WIRE, ids=str)
def test_a_triple_on_the_wire_is_its_statement_in_json_ld(value) -> None:
    graph = NamespacedGraph(open_store("memory:"), "mayros", vocabularies={"schema": WELL_KNOWN_VOCABULARIES["schema"]})
    wire = graph.create_triple({"subject": "a", "predicate": "schema:name", "object": value})
    del wire["created"]
    for found in expanded(context(graph.names) | wire):
        (node,) = set(found.subjects())
        assert str(found.value(node, rdflib.RDF.subject)) == "urn:cortex:mayros:a"
        assert str(found.value(node, rdflib.RDF.predicate)) == "https://schema.org/name"
        assert str(found.value(node, rdflib.URIRef(f"{vocabulary.CORTEX}id"))) == wire["id"]
        (object_,) = found.objects(node, rdflib.RDF.object)
        quad = Quad(NamedNode("urn:s"), NamedNode("urn:p"), to_term(value, graph.names))
        (expected,) = as_rdflib([quad]).objects()
        assert object_.eq(expected)
