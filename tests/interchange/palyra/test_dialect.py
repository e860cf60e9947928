"""Each field of Palyra's files is mapped, or named as not kept; what only this host knows is named, too."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from cortex_skills.features.artifacts.dialects.palyra import FIELDS, ONLY_HERE, is_kept
from cortex_skills.features.artifacts.package import ArtifactSignature
from cortex_skills.features.artifacts.package.skill_toml_form import SkillToml
from cortex_skills.safe_io.schemas import schema
from tests.interchange.palyra.original import Manifest

OLD = {"compat.min_protocol_major", "compat.min_runtime_version"}


def original_fields(model: type[BaseModel], path: str = "") -> Iterator[str]:
    """The paths of the fields of a form of Palyra."""
    for name, field in model.model_fields.items():
        here = f"{path}{name}"
        parts = [part for part in (field.annotation, *get_args(field.annotation)) if isinstance(part, type)]
        inner = next((part for part in parts if issubclass(part, BaseModel)), None)
        if inner is None:
            yield here
            continue
        is_list = getattr(field.annotation, "__origin__", None) is list
        is_table = getattr(field.annotation, "__origin__", None) is dict
        yield from original_fields(inner, f"{here}[]." if is_list else f"{here}.*." if is_table else f"{here}.")


def our_fields(rule: dict[str, Any], root: dict[str, Any], path: str = "") -> Iterator[str]:
    """The paths of the fields of the form of a manifest here."""
    while "$ref" in rule:
        rule = root["$defs"][rule["$ref"].rpartition("/")[2]]
    if "properties" in rule:
        for name, inner in rule["properties"].items():
            yield from our_fields(inner, root, f"{path}.{name}" if path else name)
    elif rule.get("type") == "array":
        yield from our_fields(rule["items"], root, f"{path}[]")
    elif isinstance(rule.get("additionalProperties"), dict):
        yield from our_fields(rule["additionalProperties"], root, f"{path}.*")
    else:
        yield path.removesuffix("[]")


def test_each_field_of_a_manifest_of_palyra_is_mapped() -> None:
    theirs = set(original_fields(Manifest))
    assert set(FIELDS["skill.toml"]) == theirs | OLD
    assert len(theirs) > 50


def test_each_field_of_a_manifest_that_is_mapped_is_one_of_ours_and_the_others_are_named() -> None:
    rules = schema(SkillToml)
    ours = {path.replace("[].[]", "[]") for path in our_fields(rules, rules)}
    kept = {target for target in FIELDS["skill.toml"].values() if is_kept(target)}
    assert kept <= ours
    left = {path for path in ours - kept if not path.startswith(ONLY_HERE)}
    assert left == set()
    assert all(any(path.startswith(name) for path in ours) for name in ONLY_HERE)


def test_each_member_of_a_signature_is_mapped() -> None:
    assert list(FIELDS["signature.json"]) == [field.name for field in fields(ArtifactSignature)]


@pytest.mark.parametrize("file", sorted(FIELDS))
def test_a_field_that_is_not_kept_has_a_reason(file: str) -> None:
    for target in FIELDS[file].values():
        assert is_kept(target) or len(target.split()) > 5
