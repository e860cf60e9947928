"""Manifests of actions: what is refused, by field, and what a version is."""

from __future__ import annotations

from typing import Any

import pytest

from cortex_skills import CortexError
from cortex_skills.features.actions.manifest import ActionField, ActionManifest
from tests.actions.manifests import manifest


def problems(document: object) -> list[str]:
    with pytest.raises(CortexError) as caught:
        ActionManifest.of(document)
    assert caught.value.code == "manifest_invalid"
    return [f"{problem['field']}: {problem['message']}" for problem in caught.value.details["errors"]]


@pytest.mark.parametrize(
    ("changes", "field", "says"),
    [
        ({"minTrustLevel": "always"}, "minTrustLevel", "is not one of observe, suggest"),
        ({"risk": "none"}, "risk", "is not one of low, medium, high"),
        ({"category": "disk"}, "category", "is not one of fs, memory"),
        ({"cost": "3"}, "cost", "is not one of free, cheap"),
        ({"risc": "low"}, "risc", "unknown key"),
        ({"risk": None}, "risk", "is missing"),
        ({"id": "Count"}, "id", "is not allowed"),
        ({"id": "count\n"}, "id", "is not allowed"),
        ({"requiresApproval": "no"}, "requiresApproval", "must be true or false"),
        ({"limits": {"perMinute": 0}}, "limits.perMinute", "is less than 1"),
        ({"limits": {"perHour": 1}}, "limits.perHour", "unknown key"),
        ({"inputs": {"text": {"type": "text"}}}, "inputs.text.type", "is not one of string"),
        ({"inputs": {"text": {}}}, "inputs.text.type", "is missing"),
        ({"inputs": []}, "inputs", "must be a mapping"),
        (
            {"inputs": {"a": {"type": "object", "schema": {"$ref": "http://x.test/"}}}},
            "inputs.a.schema['$ref']",
            "refers",
        ),
        ({"inputs": {"a": {"type": "array", "schema": {"items": {"$ref": "#"}}}}}, "inputs.a.schema['$ref']", "refers"),
        (
            {"inputs": {"a": {"type": "string", "schema": {"type": "null"}}}},
            "inputs.a.schema.type",
            "beside the schema",
        ),
        (
            {"inputs": {"a": {"type": "string", "schema": {"minLength": "x"}}}},
            "inputs.a.schema",
            "is not a JSON Schema",
        ),
        ({"allowedDirectories": ["out"]}, "allowedDirectories", "restricts no input"),
        ({"commandWhitelist": ["ls"]}, "commandWhitelist", "restricts no input"),
        (
            {"inputs": {"path": {"type": "string", "schema": {"format": "workspace-path"}}}},
            "allowedDirectories",
            "is missing",
        ),
    ],
)
def test_a_wrong_field_is_named(changes: dict[str, Any], field: str, says: str) -> None:
    (problem,) = problems(manifest(**changes))
    assert problem.startswith(f"{field}: ")
    assert says in problem


def test_all_problems_are_reported_at_once() -> None:
    assert len(problems(manifest(risk="x", minTrustLevel="y", name=""))) == 3


@pytest.mark.parametrize("document", [None, [], "count_lines", 3])
def test_a_manifest_is_a_mapping(document: object) -> None:
    assert problems(document)[0].startswith("document: must be a mapping")


def test_a_manifest_that_is_built_in_python_is_checked_too() -> None:
    fields = {"inputs": {}, "outputs": {}, "risk": "low", "cost": "free", "min_trust_level": "observe"}
    with pytest.raises(CortexError, match="category"):
        ActionManifest("a", "A", "A.", "disk", **fields)
    with pytest.raises(CortexError, match="another type"):
        ActionManifest("a", "A", "A.", "fs", **{**fields, "inputs": None})
    assert ActionManifest("a", "A", "A.", "fs", **{**fields, "inputs": {"x": ActionField("string")}}).id == "a"


def test_the_version_changes_with_every_part_and_with_nothing_else() -> None:
    first = ActionManifest.of(manifest())
    assert first.version == ActionManifest.of(dict(reversed(manifest().items()))).version
    assert first.version == ActionManifest.of(first.to_json()).version
    others = [
        manifest(description="Other."),
        manifest(risk="high"),
        manifest(requiresApproval=True),
        manifest(limits={"perMinute": 1}),
        manifest(inputs={"text": {"type": "string"}}),
    ]
    assert len({first.version, *(ActionManifest.of(other).version for other in others)}) == 6
