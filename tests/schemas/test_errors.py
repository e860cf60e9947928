"""What is wrong with a document is told in a time that the document cannot stretch."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator, ValidationError

from cortex_skills import CortexError
from cortex_skills.proofs.bundle import read_bundle
from cortex_skills.proofs.logic.document import read_document
from cortex_skills.schemas import errors_of, first_error
from cortex_skills.schemas.errors import FEW
from cortex_skills.server.schemas import problems_of
from cortex_skills.tools import TOOLS

TEXTS = Draft202012Validator({"type": "array", "items": {"type": "string"}})


class Watched:
    """A validator that says how many members the documents had of which it worked out every error."""

    def __init__(self) -> None:
        self.members: list[int] = []

    def validate(self, document: Any) -> None:
        TEXTS.validate(document)

    def iter_errors(self, document: Any) -> Any:
        self.members.append(len(document))
        return TEXTS.iter_errors(document)


def test_a_document_in_order_has_no_errors() -> None:
    assert errors_of(TEXTS, ["a"] * (FEW + 1), 5) == []
    assert first_error(TEXTS, ["a"]) is None


@pytest.mark.parametrize(("members", "told"), [(3, 3), (FEW, 5), (FEW + 1, 1), (100_000, 1)])
def test_of_a_large_document_the_first_error_is_told_and_no_other_is_worked_out(members: int, told: int) -> None:
    watched = Watched()
    errors = errors_of(watched, [0] * members, 5)  # type: ignore[arg-type]
    assert [error.message for error in errors] == ['0 is not of type "string"'] * told
    assert isinstance(errors[0], ValidationError)
    assert watched.members == ([members] if members <= FEW else [])


def test_members_are_counted_wherever_they_are() -> None:
    deep = {"a": [{str(number): [0] for number in range(FEW // 2)}]}
    schema = {"additionalProperties": {"items": {"additionalProperties": {"items": {"type": "string"}}}}}
    assert len(errors_of(Draft202012Validator(schema), deep, 5)) == 1


LARGE = [0] * 200_000


@pytest.fixture
def no_list_of_all_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    def every(*_: Any) -> Any:
        raise AssertionError("every error of a large document was asked for")

    monkeypatch.setattr("cortex_skills.schemas.errors.islice", every)


@pytest.mark.parametrize(
    ("name", "key"),
    [
        *(("ToValidate", "triples"), ("AssertionsToVerify", "assertions"), ("NewTriples", "triples")),
        *(("NewProofs", "proofs"), ("ProofIds", "proof_ids")),
    ],
)
def test_a_client_cannot_keep_the_server_busy_with_mistakes(name: str, key: str, no_list_of_all_errors: None) -> None:
    (problem,) = problems_of(name, {key: LARGE})
    assert problem["field"].startswith(key)


@pytest.mark.parametrize("tool", TOOLS.values(), ids=lambda tool: tool.name)
def test_an_agent_cannot_keep_its_host_busy_with_mistakes(tool: Any, no_list_of_all_errors: None) -> None:
    for arguments in ({"subject": LARGE}, {str(number): 0 for number in range(10_000)}):
        with pytest.raises(CortexError) as refused:
            tool.check_arguments(arguments)
        assert refused.value.code == "invalid_arguments"
        assert len(refused.value.message) < 5_000


def test_who_hands_a_proof_in_cannot_keep_its_verifier_busy_with_mistakes(no_list_of_all_errors: None) -> None:
    with pytest.raises(CortexError, match="no Proof of Logic"):
        read_document(json.dumps({"type": "ProofOfLogic", "rules": [0] * 100_000}, separators=(",", ":")))
    with pytest.raises(CortexError, match="no bundle"):
        read_bundle(json.dumps({"type": "CortexProofBundle", "premises": LARGE}))
