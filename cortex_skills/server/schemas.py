"""The shapes of what goes over the wire: one source for the checks and for the OpenAPI document.

Rules kept here:
- each shape is a component of `schemas/api.schema.json`, in JSON Schema 2020-12, as OpenAPI 3.1 has it.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from cortex_skills.schemas import errors_of, field_name, schema

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator

_MAX_PROBLEMS = 20
_MAX_MESSAGE = 300


def components() -> dict[str, Any]:
    """All shapes by name; shared, not to be changed."""
    shapes: dict[str, Any] = schema("api")["components"]["schemas"]
    return shapes


def component(name: str) -> dict[str, Any]:
    """The shape of a name."""
    shape: dict[str, Any] = components()[name]
    return shape


def reference(name: str) -> dict[str, str]:
    """A reference to a shape, as JSON Schema and OpenAPI write it."""
    return {"$ref": f"#/components/schemas/{name}"}


def problems_of(name: str, document: Any) -> list[dict[str, str]]:
    """What is wrong with a document, as `{field, message}`; at most twenty things, of a large one only the first."""
    return [
        {"field": field_name(tuple(error.instance_path)), "message": error.message[:_MAX_MESSAGE]}
        for error in errors_of(_validator(name), document, _MAX_PROBLEMS)
    ]


@cache
def _validator(name: str) -> Draft202012Validator:
    from jsonschema_rs import Draft202012Validator

    shape = {**reference(name), "components": {"schemas": components()}}
    return Draft202012Validator(shape, mask="what is there")  # which may be long, or a secret
