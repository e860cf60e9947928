"""The OpenAPI document is valid and true: schemathesis sends what it describes, and what it does not describe."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from jsonschema_rs import Draft202012Validator
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

from cortex_skills.doors.rest.openapi import document_of, index_operations
from cortex_skills.doors.server.app import api
from tests.actions.conftest import operator
from tests.docs.conformance_page import counts_of
from tests.every_case import check_every
from tests.property_examples import examples
from tests.server.api_requests import every_right, mix
from tests.server.serving import WAIT_S

__all__ = ["operator"]

EXAMPLES = examples(15)
BEYOND_SCHEMAS = {
    "cursor",  # which cursors there are
    "from",  # how many days a month has
    "to",
    "offset",  # that it goes with no cursor
    "provenance.time",  # how many days a month has
    "asOf",
    "undated",  # that it goes with a moment only
    "since",
    "until",
    "object.language",  # which tags BCP 47 has
    "object.datatype",  # all of RFC 3987
    "proof_data",  # what is a proof
    "rule_set",  # which rule sets there are
    "name",  # which letters are lower-case (Unicode); that a delete names skills once
    "document",  # that a registration names one source
    "source",  # that a skill is not merged into itself
    "folder_path",  # which folders there are
    "target_folder",
    "data",  # how long the text of a JSON value is
}
BEYOND_SCHEMAS_OF = {
    "previewEditedApproval": {"arguments"},  # which inputs the action has
    "graphCheckChange": {"id", "subject", "predicate", "object"},  # that three parts are given, or an id
    "graphCorrect": {"id"},
    "graphFind": {"class"},  # which classes there are, and what SPARQL is
    "graphOverview": {"class"},
    "graphSparql": {"query"},
    "graphDifference": {"query", "since", "until"},
    "approvalsRuleAdd": {"approval", "ends", "folder"},
    "approvalsRulePreview": {"approval", "ends", "folder"},
    "graphSaveQuery": {"query", "parameters", "name"},
    "graphRunQuery": {"values", "query"},
    "reflectOnEntries": {"reflects_on", "text"},  # which memories the agent has
    "submitProof": {"subject", "predicate", "proof_type", "rules"},  # that they are those of the proof
}


DOCUMENT = document_of([*api(), *index_operations(api())])


@pytest.fixture(scope="module")
def everything(tmp_path_factory, operator):
    """A server with something to answer for each operation, and a token with every permission."""
    with every_right(tmp_path_factory.mktemp("everything"), operator) as found:
        yield found


@pytest.mark.slow
@pytest.mark.timeout(100)
def test_each_operation_succeeds_as_the_document_describes(everything):
    """No test of an operation passes because every request of it is refused."""
    failed, made = {}, None
    for found in schemathesis.openapi.from_dict(DOCUMENT).get_all_operations():
        operation = found.ok()
        name = operation.definition.raw["operationId"]
        made = made or everything.requests()
        case = operation.Case(**{"media_type": "application/json", **made.get(name, {})})
        headers = {"Authorization": f"Bearer {everything.token}"}
        response = case.call(base_url=everything.running.url, headers=headers, timeout=WAIT_S)
        if response.status_code not in (200, 201, 204):
            failed[name] = (response.status_code, response.text)
        case.validate_response(response, headers=headers)
        if operation.method.upper() != "GET":  # what it changed is made again
            made = None
    assert failed == {}


@pytest.fixture(params=sorted(DOCUMENT["paths"]))
def schema(request, everything):
    """The document with one path. Its cases are generated where its test runs, and not when tests are collected."""
    request.node._nodeid = request.node.nodeid  # schemathesis 4.32 reads it, and pytest 9.2 does not set it
    everything.known = everything.requests()
    return schemathesis.openapi.from_dict({**DOCUMENT, "paths": {request.param: DOCUMENT["paths"][request.param]}})


@pytest.mark.extended
@pytest.mark.slow
@pytest.mark.timeout(400)
@schemathesis.pytest.from_fixture("schema").parametrize()
@settings(max_examples=EXAMPLES, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_the_server_does_what_the_document_describes(case, everything):
    if case.meta.generation.mode is schemathesis.GenerationMode.POSITIVE:
        mix(case, everything.known.get(case.operation.definition.raw["operationId"], {}))
    headers = {"Authorization": f"Bearer {everything.token}"}
    response = case.call(base_url=everything.running.url, headers=headers, timeout=WAIT_S)
    # A value such as an empty list is not part of the URL: what was sent may be valid though the case is not.
    sent = parse_qs(urlsplit(response.request.url).query, keep_blank_values=True)
    was_lost = not set(case.query or ()) <= sent.keys()
    # 413, 414, 431: refused before it was looked at
    excluded = [negative_data_rejection] if was_lost or response.status_code in (413, 414, 431) else []
    refusal = response.json() if response.status_code == 400 else {}
    # manifest_invalid: the rules of a SKILL.md, such as that a list has no entry twice
    beyond = BEYOND_SCHEMAS | BEYOND_SCHEMAS_OF.get(case.operation.definition.raw["operationId"], set())
    details = refusal.get("details", {})
    fields = {details.get("field"), *(each["field"] for each in details.get("errors", ()))}
    if refusal.get("code") == "manifest_invalid" or fields & beyond:
        excluded.append(positive_data_acceptance)
    case.validate_response(response, headers=headers, excluded_checks=excluded)


def test_the_document_is_served(server):
    assert server.client().get("/openapi.json").json() == DOCUMENT


def test_every_operation_is_described_with_what_it_takes_and_answers(server):
    document = server.client().get("/openapi.json").json()
    for operation in api():
        described = document["paths"][operation.path][operation.method.lower()]
        assert described["operationId"] == operation.name
        assert {str(status) for status in operation.answers} <= set(described["responses"])
        assert ("requestBody" in described) == (operation.body is not None)
        assert ("401" in described["responses"]) == (operation.permission is not None)
    assert len({operation.name for operation in api()}) == len(api())


def test_an_optional_member_of_a_request_may_be_null_and_one_of_an_answer_may_not():
    schemas = DOCUMENT["components"]["schemas"]
    reason = schemas["DecideRequestBody"]["properties"]["reason"]
    assert Draft202012Validator(reason).is_valid(None)
    assert not Draft202012Validator(reason).is_valid(1)
    assert {"type": "null"} not in schemas["LanguageValue"]["properties"]["direction"].get("anyOf", [])
    (of_pair, *_) = schemas["GivenEvent"]["allOf"]
    assert [Draft202012Validator(of_pair).is_valid(each) for each in ({"id": "e"}, {"id": None}, {})] == [
        True,
        False,
        False,
    ]


def test_every_component_is_a_schema_with_a_description():
    components = DOCUMENT["components"]["schemas"]
    references = [{"$ref": f"#/components/schemas/{name}"} for name in components]
    Draft202012Validator({"allOf": references, "components": {"schemas": components}})

    def check(component):
        assert component["description"].endswith(".")
        assert component.get("additionalProperties", False) is False

    check_every(components, check)


def test_the_page_of_conformance_counts_the_operations() -> None:
    operations = schemathesis.openapi.from_dict(DOCUMENT).get_all_operations()
    assert counts_of("schemathesis") == (len(list(operations)), 0)
