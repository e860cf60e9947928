"""Errors of documents are computed in bounded time."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator, ValidationError

from cortex_skills import CortexError
from cortex_skills.features.proofs.bundle import read_bundle
from cortex_skills.features.proofs.logic.document import read_document
from cortex_skills.safe_io.schemas import errors_of, first_error
from cortex_skills.safe_io.schemas.validation import FEW
from cortex_skills.tools import own_tools

TEXTS = Draft202012Validator({"type": "array", "items": {"type": "string"}})


class Watched:
    """A validator that records the size of each document whose errors are all computed."""

    def __init__(self) -> None:
        self.members: list[int] = []

    def validate(self, document: Any) -> None:
        TEXTS.validate(document)

    def iter_errors(self, document: Any) -> Any:
        self.members.append(len(document))
        return TEXTS.iter_errors(document)


def test_a_valid_document_has_no_errors() -> None:
    assert errors_of(TEXTS, ["a"] * (FEW + 1), 5) == []
    assert first_error(TEXTS, ["a"]) is None


@pytest.mark.parametrize(("members", "reported"), [(3, 3), (FEW, 5), (FEW + 1, 1), (100_000, 1)])
def test_only_the_first_error_of_a_large_document_is_computed(members: int, reported: int) -> None:
    watched = Watched()
    errors = errors_of(watched, [0] * members, 5)  # type: ignore[arg-type]
    assert [error.message for error in errors] == ['0 is not of type "string"'] * reported
    assert isinstance(errors[0], ValidationError)
    assert watched.members == ([members] if members <= FEW else [])


def test_members_are_counted_at_every_depth() -> None:
    deep = {"a": [{str(number): [0] for number in range(FEW // 2)}]}
    schema = {"additionalProperties": {"items": {"additionalProperties": {"items": {"type": "string"}}}}}
    assert len(errors_of(Draft202012Validator(schema), deep, 5)) == 1


LARGE = [0] * 200_000


@pytest.fixture
def no_list_of_all_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    def every(*_: Any) -> Any:
        raise AssertionError("every error of a large document was asked for")

    monkeypatch.setattr("cortex_skills.safe_io.schemas.validation.islice", every)


@pytest.mark.parametrize("tool", own_tools().values(), ids=lambda tool: tool.name)
def test_large_invalid_arguments_compute_one_error(tool: Any, no_list_of_all_errors: None) -> None:
    for arguments in ({"subject": LARGE}, {str(number): 0 for number in range(10_000)}):
        with pytest.raises(CortexError) as refused:
            tool.check_arguments(arguments)
        assert refused.value.code == "invalid_arguments"
        assert len(refused.value.message) < 5_000


def test_a_large_invalid_proof_computes_one_error(no_list_of_all_errors: None) -> None:
    with pytest.raises(CortexError, match="not a Proof of Logic"):
        read_document(json.dumps({"type": "ProofOfLogic", "rules": [0] * 100_000}, separators=(",", ":")))
    with pytest.raises(CortexError, match="not a bundle"):
        read_bundle(json.dumps({"type": "CortexProofBundle", "premises": LARGE}))
