"""The OpenAPI document is valid and true: schemathesis asks for what it says, and for what it does not say."""

from __future__ import annotations

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from jsonschema_rs import Draft202012Validator
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

from cortex_skills.server.app import API
from cortex_skills.server.index import index_operations
from cortex_skills.server.openapi import document_of
from cortex_skills.server.schemas import components
from tests.server.serving import WAIT_S

EXAMPLES = 40
NO_SCHEMA_CAN_SAY = {
    "cursor",  # which cursors there are
    "offset",  # that it goes with no cursor
    "provenance.time",  # how many days a month has
    "object.language",  # which tags BCP 47 has
    "object.datatype",  # all of RFC 3987
    "proof_data",  # what is a proof
    "rule_set",  # which rule sets there are
}


DOCUMENT = document_of([*API, *index_operations(API)])

schema = schemathesis.openapi.from_dict(DOCUMENT)


@pytest.mark.slow
@pytest.mark.timeout(400)
@schema.parametrize()
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
def test_what_the_document_says_is_so(case, server):
    token = server.token("schemathesis", ("mayros",), ("read", "write", "provenance"))
    headers = {"Authorization": f"Bearer {token}"}
    response = case.call(base_url=server.url, headers=headers, timeout=WAIT_S)
    unsaid = [negative_data_rejection] if response.status_code == 414 else []  # refused before it was looked at
    if response.status_code == 400 and response.json().get("details", {}).get("field") in NO_SCHEMA_CAN_SAY:
        unsaid.append(positive_data_acceptance)
    case.validate_response(response, headers=headers, excluded_checks=unsaid)


def test_the_document_is_served(server):
    assert server.client().get("/openapi.json").json() == DOCUMENT


def test_every_operation_is_described_with_what_it_takes_and_answers(server):
    document = server.client().get("/openapi.json").json()
    for operation in API:
        described = document["paths"][operation.path][operation.method.lower()]
        assert described["operationId"] == operation.name
        assert {str(status) for status in operation.answers} <= set(described["responses"])
        assert ("requestBody" in described) == (operation.body is not None)
        assert ("401" in described["responses"]) == (operation.permission is not None)
    assert len({operation.name for operation in API}) == len(API)


@pytest.mark.parametrize("name", sorted(components()))
def test_every_shape_is_a_schema_and_is_used(name, server):
    Draft202012Validator({"$ref": f"#/components/schemas/{name}", "components": {"schemas": components()}})
    document = server.client().get("/openapi.json").text
    queries = {operation.query for operation in API}
    assert name in queries or f'"#/components/schemas/{name}"' in document
