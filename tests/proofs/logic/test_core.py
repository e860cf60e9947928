"""The core rules, each with statements that it accepts and that it refuses."""

from __future__ import annotations

import hashlib
from calendar import monthrange
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import BlankNode, Literal, NamedNode, Quad

from cortex_graph import WELL_KNOWN_VOCABULARIES, Names
from cortex_graph.naming.terms import to_term
from cortex_skills.features.proofs.logic import core
from cortex_skills.features.proofs.logic.findings import Severity
from tests.graph.strategies import unicode_text, values

NAMES = Names("mayros", vocabularies=dict(WELL_KNOWN_VOCABULARIES))
XSD, SCHEMA, PROV = (WELL_KNOWN_VOCABULARIES[prefix] for prefix in ("xsd", "schema", "prov"))
S, P = NAMES.node("s"), NAMES.node("p")


def typed(text: str, kind: str) -> Literal:
    return Literal(text, datatype=NamedNode(XSD + kind))


def found(subject: Any = S, predicate: Any = P, object_: Any = Literal("x")) -> list[str]:  # noqa: B008
    statement = core.AssertedStatement(Quad(subject, predicate, object_, NAMES.graph), NAMES)
    return [finding.rule for finding in core.check_core(statement)]


def test_an_ordinary_statement_has_no_findings() -> None:
    assert found() == []
    assert found(object_=NAMES.node("o")) == []


@given(name=unicode_text, value=values)
def test_no_statement_makes_a_rule_fail(name: str, value: Any) -> None:
    quad = Quad(NAMES.node(f"mayros:{name}"), P, to_term(value, NAMES), NAMES.graph)
    rules = {finding.rule for finding in core.check_core(core.AssertedStatement(quad, NAMES))}
    assert rules <= set(core.DESCRIPTION.replace(" (a warning)", "").replace("\n", ": ").split(": "))


def test_a_blank_node_is_neither_subject_nor_object() -> None:
    assert found(subject=BlankNode("b")) == ["subject-well-formed"]
    assert found(object_=BlankNode("b")) == ["object-well-formed"]


@pytest.mark.parametrize("part", ["subject", "predicate", "object_"])
def test_the_length_of_an_iri_is_bounded(part: str) -> None:
    rule = f"{part.removesuffix('_')}-well-formed"
    assert found(**{part: NAMES.node("x" * (8192 - len(NAMES.graph.value) - 1))}) == []
    assert rule in found(**{part: NAMES.node("x" * 8192)})


WELL_TYPED = [
    *(("integer", text) for text in ("0", "-7", "+7", "007", "9" * 5000)),
    *(("nonNegativeInteger", text) for text in ("0", "-0", "9" * 5000)),
    *(("byte", text) for text in ("127", "-128")),
    *(("unsignedLong", text) for text in ("18446744073709551615",)),
    *(("decimal", text) for text in ("1", "1.", ".5", "-1.50")),
    *(("double", text) for text in ("1", "1e3", "-.5E-7", "1.7976931348623157e308")),
    *(("boolean", text) for text in ("true", "false", "0", "1")),
    *(("date", text) for text in ("2024-02-29", "2000-02-29", "-0004-02-29", "12024-02-29", "2026-01-31+14:00")),
    *(("dateTime", text) for text in ("2026-01-31T24:00:00", "2026-01-31T23:59:59.999Z", "2026-01-31T00:00:00-05:00")),
    *(("dateTimeStamp", text) for text in ("2026-01-31T00:00:00Z",)),
    *(("time", text) for text in ("00:00:00", "12:30:00.5Z")),
    *(("gYear", text) for text in ("2026", "-0001", "12026Z")),
    *(("gYearMonth", text) for text in ("2026-12",)),
    *(("anyURI", text) for text in ("not looked at",)),
]
ILL_TYPED = [
    *(("integer", text) for text in ("", "1.0", "x", " 1", "١", "1e3", "--1")),
    *(("nonNegativeInteger", text) for text in ("-1", "-" + "9" * 5000)),
    *(("byte", text) for text in ("128", "-129", "1" * 5000)),
    *(("positiveInteger", text) for text in ("0",)),
    *(("decimal", text) for text in (".", "1e3", "INF")),
    *(("double", text) for text in ("", "e3", "inf", "nan", "0x1p3", "1_000")),
    *(("boolean", text) for text in ("True", "yes", "")),
    *(("date", text) for text in ("2023-02-29", "1900-02-29", "2026-04-31", "2026-13-01", "026-01-01", "2026-1-1")),
    *(("date", text) for text in ("2026-01-31+15:00", "02026-01-01", "2026-01-01\n")),
    *(
        ("dateTime", text)
        for text in ("2026-01-31", "2026-01-31T25:00:00", "2026-01-31T24:00:01", "2026-01-31 12:00:00")
    ),
    *(("dateTimeStamp", text) for text in ("2026-01-31T00:00:00",)),
    *(("time", text) for text in ("24:01:00", "1:00:00")),
    *(("gYear", text) for text in ("26", "0x26")),
    *(("gYearMonth", text) for text in ("2026-00", "2026-13")),
]


@pytest.mark.parametrize(("kind", "text"), WELL_TYPED, ids=lambda part: part[:24])
def test_a_literal_that_its_datatype_allows_is_well_formed(kind: str, text: str) -> None:
    assert found(object_=typed(text, kind)) == []


@pytest.mark.parametrize(("kind", "text"), ILL_TYPED, ids=lambda part: part[:24])
def test_a_literal_that_its_datatype_does_not_allow_is_not(kind: str, text: str) -> None:
    assert found(object_=typed(text, kind)) == ["object-well-formed"]


@given(year=st.integers(1, 9999), month=st.integers(1, 12), day=st.integers(1, 31))
def test_a_date_is_one_of_the_calendar(year: int, month: int, day: int) -> None:
    is_one = day <= monthrange(year, month)[1]
    assert (found(object_=typed(f"{year:04}-{month:02}-{day:02}", "date")) == []) is is_one


@given(st.datetimes())
def test_what_the_standard_library_writes_is_a_time(moment: datetime) -> None:
    assert found(predicate=NAMES.node("createdAt"), object_=Literal(moment.isoformat())) == []


@pytest.mark.parametrize("character", ["\x00", "\x07", "\x1b", "\x7f", "\x85", "\u202e", "\u2066"])
def test_an_iri_has_no_invisible_character(character: str) -> None:
    hidden = NAMES.node(f"a{character}b")
    assert found(subject=hidden) == found(object_=hidden) == ["no-control-characters"]
    assert found(predicate=hidden) == ["no-control-characters"]


@pytest.mark.parametrize("character", ["\x00", "\x07", "\x1b", "\x7f", "\x9b"])
def test_a_text_has_no_control_character(character: str) -> None:
    assert found(object_=Literal(f"a{character}b")) == ["no-control-characters"]
    assert found(object_=Literal("a\tb\r\nc \u202e d")) == []


@pytest.mark.parametrize("text", ["INF", "-INF", "+INF", "NaN", "1e999", "-1e309"])
def test_a_number_is_finite(text: str) -> None:
    assert found(object_=typed(text, "double")) == ["finite-numbers"]


def test_a_float_is_finite_as_a_float() -> None:
    assert found(object_=typed("3.4028234e38", "float")) == []
    assert found(object_=typed("3.5e38", "float")) == ["finite-numbers"]
    assert found(object_=typed("3.5e38", "double")) == []


TEMPORAL = [
    NAMES.node("createdAt"),
    NAMES.node("birthDate"),
    NamedNode(f"{SCHEMA}startDate"),
    NamedNode(f"{PROV}atTime"),
]


@pytest.mark.parametrize("predicate", TEMPORAL, ids=str)
def test_the_object_of_a_temporal_predicate_is_a_time(predicate: NamedNode) -> None:
    rule = ["temporal-predicates-hold-times"]
    for text in ("2026-01-31", "2026-01-31T12:00:00Z", "2026", "12:00:00"):
        assert found(predicate=predicate, object_=Literal(text)) == []
    for text in ("soon", "", "31.01.2026", "2026-02-30", "20260131"):
        assert found(predicate=predicate, object_=Literal(text)) == rule
    assert found(predicate=predicate, object_=NAMES.node("o")) == rule
    assert found(predicate=predicate, object_=Literal(1767225600)) == rule
    assert found(predicate=predicate, object_=typed("2026-02-30", "date")) == ["object-well-formed", *rule]


def test_temporal_names_of_another_namespace_are_not_temporal() -> None:
    assert found(predicate=NamedNode("urn:cortex:mayros2:createdAt"), object_=Literal("soon")) == [
        "predicate-namespaced"
    ]
    assert found(predicate=NAMES.node("looksAt"), object_=Literal("soon")) == []


@pytest.mark.parametrize("predicate", ["rdf:type", "mayros:rdf:type"])
def test_the_object_of_a_type_is_a_name(predicate: str) -> None:
    names = Names("mayros") if predicate.startswith("mayros") else NAMES
    assert found(predicate=names.node(predicate), object_=NAMES.node("Person")) == []
    assert found(predicate=names.node(predicate), object_=Literal("Person")) == ["type-objects-are-names"]


def test_a_statement_does_not_relate_its_subject_to_itself() -> None:
    assert found(object_=S) == ["no-self-reference"]
    assert found(object_=Literal(S.value)) == []


def test_a_predicate_without_a_namespace_is_only_a_warning() -> None:
    statement = core.AssertedStatement(Quad(S, NamedNode("https://example.org/p"), Literal("x"), NAMES.graph), NAMES)
    (finding,) = core.check_core(statement)
    assert (finding.rule, finding.severity) == ("predicate-namespaced", Severity.WARNING)
    assert found(predicate=NamedNode(f"{SCHEMA}name")) == []


def test_the_digest_is_that_of_the_description() -> None:
    assert core.digest() == hashlib.sha256(core.DESCRIPTION.encode()).hexdigest()
    # A change of the description must change VERSION, and then this digest.
    assert (core.VERSION, core.digest()[:16]) == ("1", "c9ce2423bb62fb12")
