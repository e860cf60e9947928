"""Checks what a client sends against the models, and describes the models as JSON Schema.

Rules kept here:
- one source: the same model validates a request and appears in the OpenAPI document; `null` for an optional member is
  the same as none;
- a problem names its field and the rule, never the value, which may be long or secret;
- at most twenty problems are reported, and of a document with thousands of them only their number;
- of a long list in a large document only the first wrong item is looked at, so that finding the others takes no time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic_core import SchemaValidator

from cortex_skills.doors.http.bodies import invalid, pairs_of
from cortex_skills.safe_io.lenient_values import by_schema
from cortex_skills.safe_io.schemas import field_name, has_few_members, shown

_MAX_PARAMETERS = 32
_MAX_PROBLEMS = 20
_MANY = 2_000  # above it, listing the errors would take longer than finding them
_REFERENCE = "#/components/schemas/{model}"


def check(model: Any, document: Any) -> Any:
    """Return a document if it is valid for a model.

    Raises:
        HttpError: `invalid_arguments`, with the problems in `details.errors`.
    """
    document = by_schema(document, *_described(model))
    try:
        return _adapter(model).validate_python(document)
    except ValidationError as error:
        problems = _problems(_all_errors(model, document) or error, document)
    first = problems[0]
    raise invalid(f"`{first['field']}`: {first['message']}", errors=problems, field=first["field"])


def parse_query(model: Any | None, query: bytes, read: Callable[[str], str] = str) -> dict[str, Any]:
    """The parameters of a query string; None stands for a model without parameters.

    Args:
        model: the model of the parameters.
        query: the query string.
        read: makes the text that a value stands for.

    Raises:
        HttpError: `invalid_arguments`.
    """
    try:
        pairs = pairs_of(query, _MAX_PARAMETERS)
    except ValueError:
        raise invalid("the query string is malformed", "percent-encode it, in UTF-8") from None
    known: Collection[str] = () if model is None else model.__annotations__
    given: dict[str, str] = {}
    for key, text in pairs:
        if key in given:
            raise invalid(f"`{key[:80]}` is given twice")
        if key not in known:
            raise invalid(f"`{key[:80]}` is not a known parameter", f"known: {', '.join(known) or 'none'}")
        given[key] = read(text)
    for key in sorted(required_parameters(model) - given.keys()):
        raise invalid(f"`{key}` is missing", field=key)
    return given if model is None else dict(check(model, given))


def references(models: Collection[Any]) -> tuple[dict[Any, dict[str, Any]], dict[str, Any]]:
    """The JSON Schema of each model, and the components that they refer to."""
    inputs = [(str(place), "validation", _adapter(model)) for place, model in enumerate(models)]
    found, definitions = TypeAdapter.json_schemas(inputs, ref_template=_REFERENCE)  # type: ignore[arg-type]
    schemas = {model: _untitled(schema) for model, schema in zip(models, found.values(), strict=True)}
    components = _untitled(definitions.get("$defs", {}))
    for component in components.values():
        if "properties" in component:
            component.setdefault("additionalProperties", False)
    return schemas, components


def required_parameters(model: Any | None) -> frozenset[str]:
    """The parameters of a query string that must be given."""
    return frozenset() if model is None else frozenset(_described(model)[0].get("required", ()))


def parameters_of(model: Any) -> dict[str, dict[str, Any]]:
    """The JSON Schema of each parameter of a query string."""
    properties: dict[str, dict[str, Any]] = _untitled(_adapter(model).json_schema())["properties"]
    return properties


@cache
def _described(model: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The JSON Schema of a model, and the definitions that it refers to."""
    schema = _adapter(model).json_schema()
    return schema, schema.get("$defs", {})


@cache
def _adapter(model: Any) -> TypeAdapter[Any]:
    return TypeAdapter(model)


def _untitled(schema: Any) -> Any:
    """A schema without the titles that pydantic derives from names."""
    return _without("title", schema)


def _without(name: str, schema: Any) -> Any:
    if isinstance(schema, Mapping):
        return {key: _without(name, value) for key, value in schema.items() if key != name}
    return [_without(name, value) for value in schema] if isinstance(schema, list) else schema


@cache
def _thorough(model: Any) -> SchemaValidator:
    """A validator that goes on after the first wrong item of a list."""
    return SchemaValidator(_without("fail_fast", _adapter(model).core_schema))


def _all_errors(model: Any, document: Any) -> ValidationError | None:
    """All errors of a wrong document; None for a large one."""
    if not has_few_members(document):
        return None
    try:
        _thorough(model).validate_python(document)
    except ValidationError as error:
        return error
    return None


def _problems(error: ValidationError, document: Any) -> list[dict[str, str]]:
    if error.error_count() > _MANY:
        return [{"field": "document", "message": f"has {error.error_count():,} problems"}]
    problems: list[dict[str, str]] = []
    for found in error.errors(include_url=False, include_context=False, include_input=False):
        path, rest = _split(found["loc"], document)
        match found["type"], rest:
            case "missing", (name,):
                message = f"`{name}` is missing"
            case "extra_forbidden", ():
                *path, name = path
                message = f"{shown(name)} is not a known member"
            case "string_pattern_mismatch", ():
                message = "does not have the form that /openapi.json describes"
            case _, ():
                message = found["msg"]
            case _:
                message = "has none of the forms that are allowed"
        problem = {"field": field_name(tuple(path)), "message": message}
        if problem not in problems[-_MAX_PROBLEMS:]:
            problems.append(problem)
    return problems[:_MAX_PROBLEMS]


def _split(location: tuple[str | int, ...], document: Any) -> tuple[list[str | int], tuple[str | int, ...]]:
    """Split an error's location into the path that exists in the document, and the rest.

    The rest is the name of a missing member, or begins with the form of a union that was tried.
    """
    path: list[str | int] = []
    for place, part in enumerate(location):
        known: Any = document if isinstance(document, dict) else ()
        if isinstance(document, list) and isinstance(part, int):
            known = range(len(document))
        if part not in known:
            return path, location[place:]
        document = document[part]
        path.append(part)
    return path, ()
