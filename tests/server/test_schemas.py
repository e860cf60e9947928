"""Checking requests against the models: which field is named, what is converted, and how many problems are listed."""

from __future__ import annotations

import math
from typing import Any

import pytest

from cortex_skills.doors.http.http_errors import HttpError
from cortex_skills.doors.rest.schemas import check, parse_query
from cortex_skills.doors.rest.server_models import NewSandbox
from cortex_skills.features.graph.rest.triple_models import (
    ChangeRequest,
    ListQuery,
    NewTriple,
    NewTriples,
    ObjectList,
    TriplePattern,
)
from cortex_skills.features.proofs.rest.proof_models import AssertionsToVerify, NewProofs, ProofIds, ToValidate

TRIPLE = {"subject": "a", "predicate": "p", "object": 1}
MANY = 200_000


def problems(model: Any, document: Any) -> list[tuple[str, str]]:
    with pytest.raises(HttpError) as refused:
        check(model, document)
    assert refused.value.code == "invalid_arguments"
    errors = refused.value.details["errors"]
    assert refused.value.details["field"] == errors[0]["field"]
    assert refused.value.message == f"`{errors[0]['field']}`: {errors[0]['message']}"
    return [(error["field"], error["message"]) for error in errors]


@pytest.mark.parametrize(
    "value", ["text", "", 0, 10**40, -0.0, 1.5, True, {"node": "b"}, {"value": "a", "language": "de"}]
)
def test_a_valid_document_is_returned_as_it_was_sent(value: Any) -> None:
    document = check(NewTriple, {**TRIPLE, "object": value})
    assert (document["object"], type(document["object"])) == (value, type(value))
    assert repr(document["object"]) == repr(value)


@pytest.mark.parametrize(
    ("model", "document", "expected"),
    [
        (NewTriple, [], [("document", "Input should be a valid dictionary")]),
        (NewTriple, {"subject": "a", "object": 1}, [("document", "`predicate` is missing")]),
        (NewTriple, TRIPLE | {"graph": 1}, [("document", "'graph' is not a known member")]),
        (NewTriple, TRIPLE | {"subject": ""}, [("subject", "String should have at least 1 character")]),
        (NewTriple, TRIPLE | {"subject": 5}, [("subject", "Input should be a valid string")]),
        (NewTriple, TRIPLE | {"object": None}, [("object", "has none of the forms that are allowed")]),
        (NewTriple, TRIPLE | {"object": {"node": 1}}, [("object", "has none of the forms that are allowed")]),
        (NewTriple, TRIPLE | {"object": math.inf}, [("object", "has none of the forms that are allowed")]),
        (TriplePattern, {"limit": math.inf}, [("limit", "Input should be a valid integer")]),
        (
            NewTriple,
            TRIPLE | {"subject": "\ud800"},
            [("subject", "Input should be a valid string, unable to parse raw data as a unicode string")],
        ),
        (
            NewTriples,
            {"triples": [TRIPLE, {**TRIPLE, "subject": 1, "x": 2}]},
            [("triples[1].subject", "Input should be a valid string"), ("triples[1]", "'x' is not a known member")],
        ),
        (ToValidate, {}, [("document", "needs either `triples` or `statements`")]),
        (
            ToValidate,
            {"triples": [TRIPLE], "statements": [TRIPLE]},
            [("document", "needs either `triples` or `statements`")],
        ),
    ],
)
def test_a_problem_names_its_field_and_the_rule(model: Any, document: Any, expected: list[tuple[str, str]]) -> None:
    assert problems(model, document) == expected


@pytest.mark.parametrize(
    ("model", "document", "fields"),
    [
        (NewTriples, {"triples": [{**TRIPLE, "object": None}] * 3}, [f"triples[{place}].object" for place in range(3)]),
        (NewTriples, {"triples": [TRIPLE, 1, TRIPLE, 2]}, ["triples[1]", "triples[3]"]),
        (NewTriples, {"triples": [1] * 30}, [f"triples[{place}]" for place in range(20)]),
        (ChangeRequest, {"insert": {"triples": [1], "records": [1]}}, ["insert.triples[0]", "insert.records[0]"]),
        (ObjectList, {"objects": [1, None, None]}, ["objects[1]", "objects[2]"]),
    ],
)
def test_all_wrong_items_of_a_small_list_are_reported(model: Any, document: Any, fields: list[str]) -> None:
    assert [field for field, _ in problems(model, document)] == fields


def test_of_a_long_list_the_first_wrong_item_is_reported() -> None:
    document = {"triples": [TRIPLE, *[{**TRIPLE, "object": None}] * 9_000]}
    assert [field for field, _ in problems(NewTriples, document)] == ["triples[1].object"]


def test_a_problem_shows_no_value() -> None:
    secret = "a-secret-value"
    for document in (TRIPLE | {"object": [secret]}, {"subject": [secret]}, secret):
        assert secret not in str(problems(NewTriple, document))


@pytest.mark.parametrize("limit", [1.0, 10_000, None])
def test_a_number_without_a_fraction_is_an_integer(limit: Any) -> None:
    assert check(TriplePattern, {"limit": limit}) == {"limit": limit}


@pytest.mark.parametrize("limit", ["5", True, 1.5, 0, 10_001])
def test_no_value_is_converted_to_an_integer(limit: Any) -> None:
    problems(TriplePattern, {"limit": limit})
    problems(NewSandbox, {"namespace": "a", "ttl_seconds": limit if limit != 10_001 else 86_401})


def test_parameters_are_read_by_their_type() -> None:
    given = parse_query(ListQuery, b"limit=5&exactTotal=true&subject=5&object=5")
    assert given == {"limit": 5, "exactTotal": True, "subject": "5", "object": "5"}
    assert parse_query(ListQuery, b"limit=5.0") == {"limit": 5}  # as in JSON
    for query in (b"limit=5.5", b"limit=1_0", b"limit=%205", b"limit=true", b"exactTotal=1", b"exactTotal=True"):
        with pytest.raises(HttpError):
            parse_query(ListQuery, query)


@pytest.mark.parametrize(
    ("model", "document", "field"),
    [
        (ToValidate, lambda: {"triples": [0] * MANY}, "triples"),
        (AssertionsToVerify, lambda: {"assertions": [0] * MANY}, "assertions"),
        (NewTriples, lambda: {"triples": [0] * MANY}, "triples[0]"),
        (NewProofs, lambda: {"proofs": [0] * MANY}, "proofs"),
        (ProofIds, lambda: {"proof_ids": [0] * MANY}, "proof_ids"),
        (
            ChangeRequest,
            lambda: {"insert": {"triples": [{**TRIPLE, "subject": 1}] * 100_000}},
            "insert.triples[0].subject",
        ),
        (NewTriple, lambda: {**TRIPLE, **{str(number): 0 for number in range(MANY)}}, "document"),
        (NewTriples, lambda: {"triples": [{**TRIPLE, **{str(number): 0 for number in range(MANY)}}]}, "document"),
    ],
    ids=range(8),
)
def test_of_many_mistakes_one_is_reported(model: Any, document: Any, field: str) -> None:
    ((found, message),) = problems(model, document())
    assert found == field
    assert (message == f"has {MANY:,} problems") == (field == "document"), message
