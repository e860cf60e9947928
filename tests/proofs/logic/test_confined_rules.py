"""The confined process evaluates rules as the libraries do outside it, and what it cannot evaluate has no verdict."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable

import pytest
import rdflib.term
from pyshacl import validate
from rdflib import RDF, XSD, Graph

from cortex_graph import NamespacedGraph
from cortex_skills import CortexError
from cortex_skills.features.proofs.logic.evaluate import evaluate
from cortex_skills.features.proofs.logic.shacl_engine import ENGINE
from cortex_skills.features.proofs.logic.verify import verify
from cortex_skills.features.proofs.verdict import Verdict
from tests.proofs.logic.conftest import ORIGIN, PREFIXES, config_with_time, shapes

TEXTS = (
    *("1", "-1", "1.5", "1e3", "true", "x", "en", "", "0aFF", "QUJD", "2026-11-27", "2026-11-27T10:00:00Z", "10:00:00"),
    *("P1D", "P1Y2M", "<p>a &amp; <b>b</b></p>", "<p>", "a b"),
)
DATATYPES = sorted(filter(None, rdflib.term._toPythonMapping))
# Each constraint of SHACL Core (W3C, 2017, section 4), on the values of `:p`.
CONSTRAINTS = """
sh:class :C
sh:datatype xsd:integer
sh:nodeKind sh:IRI
sh:nodeKind sh:Literal
sh:minCount 2
sh:maxCount 0
sh:minExclusive 1
sh:minInclusive 1
sh:maxExclusive 1
sh:maxInclusive 1
sh:minInclusive "2026-01-01"^^xsd:date
sh:maxExclusive "2026-12-01T00:00:00Z"^^xsd:dateTime
sh:minLength 2
sh:maxLength 2
sh:pattern "^[a-z]"
sh:pattern "\\\\N{EN DASH}"
sh:pattern "A" ; sh:flags "i"
sh:languageIn ( "en" "de" )
sh:uniqueLang true
sh:equals :q
sh:disjoint :q
sh:lessThan :q
sh:lessThanOrEquals :q
sh:not [ sh:datatype xsd:string ]
sh:and ( [ sh:minLength 1 ] [ sh:maxLength 9 ] )
sh:or ( [ sh:datatype xsd:string ] [ sh:datatype rdf:HTML ] )
sh:xone ( [ sh:minLength 1 ] [ sh:maxLength 9 ] )
sh:node [ sh:nodeKind sh:Literal ]
sh:property [ sh:path :q ; sh:minCount 1 ]
sh:hasValue 1
sh:in ( 1 "x" )
sh:qualifiedValueShape [ sh:minLength 2 ] ; sh:qualifiedMinCount 1 ; sh:qualifiedMaxCount 1
""".strip().splitlines()
OBJECTS = (
    f'"1"^^<{XSD.integer}>',
    f'"7"^^<{XSD.integer}>',
    '"x"',
    '"ab"@en',
    '"ab"@fr',
    "<urn:cortex:mayros:b>",
    f'"2026-11-27"^^<{XSD.date}>',
    '"–"',
)


def confined(line: str, text: str) -> bool | str:
    """Whether a statement conforms in the confined process; or why it has no result there."""
    try:
        (result,) = ENGINE.evaluate(line, [text], lambda _: [], timeout_s=60)
    except CortexError as error:
        return error.message
    return result.conforms


def unconfined(line: str, text: str) -> bool | str:
    """Whether a statement conforms by the libraries in this process."""
    data, rules = Graph(), Graph()
    rdflib.NORMALIZE_LITERALS = False
    try:
        data.parse(data=line, format="nt")
        rules.parse(data=text, format="turtle")
        return bool(validate(data, shacl_graph=rules, inplace=True)[0])
    except Exception as error:
        return type(error).__name__
    finally:
        rdflib.NORMALIZE_LITERALS = True


def statement(object_: str) -> str:
    return f"<urn:cortex:mayros:a> <urn:cortex:mayros:p> {object_} ."


def different(cases: Iterable[tuple[str, str]]) -> list[tuple[object, ...]]:
    """The statements and shapes that have another verdict in the confined process."""
    found = []
    for line, shape in cases:
        text = f"{PREFIXES}:S a sh:NodeShape ; sh:targetNode :a ; sh:property [ sh:path :p ; {shape} ] ."
        inside, outside = confined(line, text), unconfined(line, text)
        if inside != outside and not (isinstance(inside, str) and isinstance(outside, str) and outside in inside):
            found.append((line, shape, inside, outside))
    return found


@pytest.mark.parametrize("datatype", DATATYPES)
def test_a_literal_of_each_datatype_has_the_verdict_of_the_libraries(datatype: str) -> None:
    text = f"{PREFIXES}:S a sh:NodeShape ; sh:targetNode :a ; sh:property [ sh:path :p ; sh:datatype <{datatype}> ] ."
    lines = [statement(f'"{each}"^^<{datatype}>') for each in TEXTS]
    assert [confined(line, text) for line in lines] == [unconfined(line, text) for line in lines]


def test_each_constraint_has_the_verdict_of_the_libraries() -> None:
    assert different((statement(each), shape) for shape in CONSTRAINTS for each in OBJECTS) == []


@pytest.mark.parametrize("datatype", [RDF.HTML, RDF.XMLLiteral])
def test_a_valid_literal_of_markup_is_proved(plain: NamespacedGraph, datatype: str) -> None:
    value = {"value": "<p>a <b>b</b></p>", "datatype": str(datatype)}
    rules = shapes(f":S a sh:NodeShape ; sh:targetNode :a ; sh:property [ sh:path :p ; sh:datatype <{datatype}> ] .")
    quad = plain.quad_of({"subject": "a", "predicate": "p", "object": value})
    assert evaluate(quad, plain, [rules], timeout_s=60).verdict is Verdict.VERIFIED


BEYOND_PYTHON = {
    "-0044-03-15": XSD.date,
    "12026-11-27Z": XSD.date,
    "0000-02-29T24:00:00": XSD.dateTime,
    "2026-11-27T24:00:00Z": XSD.dateTime,
    "24:00:00": XSD.time,
    "P99999999999D": XSD.dayTimeDuration,
    "9" * 5_000: XSD.integer,
}


@pytest.mark.parametrize(("value", "datatype"), BEYOND_PYTHON.items(), ids=lambda each: each[:12])
def test_a_valid_literal_without_a_value_in_python_is_of_its_datatype(value: str, datatype: str) -> None:
    line = statement(f'"{value}"^^<{datatype}>')
    assert different([(line, "sh:minCount 1")]) == []
    text = f"{PREFIXES}:S a sh:NodeShape ; sh:targetNode :a ; sh:property [ sh:path :p ; sh:datatype <{datatype}> ] ."
    assert confined(line, text) is True


@pytest.mark.parametrize(
    ("value", "datatype"),
    [
        ("-0044-13-15", XSD.date),
        ("12026-11-32", XSD.date),
        ("00012026-11-27", XSD.date),
        ("12026-11-27T99:00:00", XSD.dateTime),
        ("2026-11-27T24:00:01", XSD.dateTime),
        ("24:01:00", XSD.time),
        ("P99999999999", XSD.dayTimeDuration),
    ],
)
def test_an_invalid_literal_is_refuted_also_beyond_the_values_of_python(value: str, datatype: str) -> None:
    text = f"{PREFIXES}:S a sh:NodeShape ; sh:targetNode :a ; sh:property [ sh:path :p ; sh:datatype <{datatype}> ] ."
    assert confined(statement(f'"{value}"^^<{datatype}>'), text) is False


USES = {
    "a limit": 'sh:property [ sh:path :p ; sh:minInclusive "2026-01-01"^^xsd:date ]',
    "the other limit": 'sh:property [ sh:path :p ; sh:maxExclusive "2026-01-01"^^xsd:date ]',
    "a part": 'sh:sparql [ sh:select "SELECT $this { $this <urn:cortex:mayros:p> ?d FILTER(YEAR(?d) > 0) }" ]',
    "a comparison": 'sh:sparql [ sh:select "SELECT $this { $this <urn:cortex:mayros:p> ?d FILTER('
    "?d < '2026-01-01'^^<http://www.w3.org/2001/XMLSchema#date>) }\" ]",
}


@pytest.mark.parametrize("use", USES)
def test_comparing_a_value_that_python_lacks_has_no_verdict(use: str) -> None:
    text = f"{PREFIXES}:S a sh:NodeShape ; sh:targetNode :a ; {USES[use]} ."
    why = confined(statement(f'"-0044-03-15"^^<{XSD.date}>'), text)
    assert str(why).endswith("was not checked: -0044-03-15 is beyond the values that can be compared here")


def test_a_literal_that_needs_more_than_the_process_has_is_not_refuted() -> None:
    deep = "<b>" * 3_000 + "</b>" * 3_000
    text = f"{PREFIXES}:S a sh:NodeShape ; sh:targetNode :a ; sh:property [ sh:path :p ; sh:datatype rdf:HTML ] ."
    assert confined(statement(f'"{deep}"^^<{RDF.HTML}>'), text) is not False


def test_a_proof_that_cannot_be_replayed_is_not_evaluated(plain: NamespacedGraph, tmp_path) -> None:
    from cortex_skills.features.proofs.logic.prover import Prover

    prover = Prover(config_with_time(keys=str(tmp_path / "keys")), plain)
    rules = shapes(
        ':S a sh:NodeShape ; sh:targetNode :a ; sh:property [ sh:path :q ; sh:minInclusive "2026-01-01"^^xsd:date ] .'
    )
    made = prover.assert_proved({"subject": "a", "predicate": "p", "object": 1}, ORIGIN, rules)
    proof = plain.proofs.get(made.proof)
    assert proof is not None
    old = {"value": "-0044-03-15", "datatype": str(XSD.date)}
    plain.create_triple({"subject": "a", "predicate": "q", "object": old})
    (logic,) = [check for check in verify(proof, plain, timeout_s=60) if check.part == "logic"]
    assert (logic.verdict, "not checked" in logic.reasons[0]) == (Verdict.NOT_CHECKED, True)


# `colorsys` is a module that nothing loads; the second function of rdflib that needs it catches everything.
LATE = """
import sys
from cortex_skills.features.proofs.logic import shacl_libraries, shacl_worker
from cortex_sandbox.isolation.confined_imports import refuse_imports
import rdflib.term

def late(text):
    try:
        import colorsys
    except {caught}:
        raise ValueError("not valid")
    return text

class Parent:
    def send(self, kind, content): pass
    def receive(self): return b"J", b'{{"triples": ""}}'

shapes = '''@prefix sh: <http://www.w3.org/ns/shacl#> .
    <urn:s> a sh:NodeShape ; sh:targetNode <urn:a> ; sh:property [ sh:path <urn:p> ; sh:datatype <urn:d> ] .'''
data, cache = shacl_libraries.prepare(), shacl_worker.ShapesCache()
shacl_worker.evaluate(shacl_libraries.SHAPES, cache, data, [shacl_libraries.NODE])
rdflib.term._toPythonMapping[rdflib.URIRef("urn:d")] = late
shacl_libraries.keep_own_errors()
if {confined}:
    refuse_imports()
request = {{"statement": '<urn:a> <urn:p> "x"^^<urn:d> .', "nodes": "", "shapes": [shapes]}}
for _ in range(2):
    print(shacl_worker.answer(request, cache, Parent()))
"""


@pytest.mark.parametrize(("caught", "confined"), [("ImportError", True), ("BaseException", True), ("OSError", False)])
def test_a_module_that_was_not_loaded_in_time_leaves_no_verdict(caught: str, confined: bool) -> None:
    program = LATE.format(caught=caught, confined=confined)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=100, check=True)
    missing = "{'failed': 'the statement was not checked: the module colorsys was not loaded"
    expected = missing if confined else "{'sets': [{'applied': 1, 'conforms': True"
    assert [line[: len(expected)] for line in done.stdout.splitlines()] == [expected] * 2
