"""`by_schema`: values as JSON Schema means them, for readers that distinguish more.

Rules kept here:
- `null` for an optional member is the same as none: clients that must send every member write it so. A required member
  keeps its `null`, and so does one whose schema allows it;
- a number without a fraction is an integer where the schema wants one (JSON Schema 2020-12 §4.2.3: 5.0 is 5); where it
  allows any number, 5.0 stays as it is;
- what the schema does not describe is unchanged, and left to the validator.

>>> schema = {"properties": {"limit": {"type": "integer"}, "cursor": {"type": "string"}}}
>>> by_schema({"limit": 5.0, "cursor": None}, schema)
{'limit': 5}
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from cortex_skills.safe_io.strict_json import read_json

Schema = Mapping[str, Any]
_NONE: Schema = MappingProxyType({})
_ANY = frozenset({"null", "number"})
_AS_IT_IS = frozenset({str, int, bool})


def by_schema(value: Any, schema: Schema, definitions: Schema = _NONE) -> Any:
    """A value with `null` and integers as its schema means them.

    Args:
        value: JSON.
        schema: a JSON Schema.
        definitions: the schemas that `$ref` names by their last part.
    """
    if type(value) in _AS_IT_IS:
        return value
    if type(value) is dict and _AS_IT_IS.issuperset(map(type, value.values())):
        return dict(value)
    schema = _resolved(schema, definitions)
    if isinstance(value, dict):
        forms = [each for each in _forms(schema, definitions) if "properties" in each]
        if len(forms) > 1:
            return _without_nulls(value, forms, definitions)
        schema = forms[0] if forms else schema
        known, required = schema.get("properties", _NONE), schema.get("required", ())
        return {
            name: by_schema(part, known[name], definitions) if name in known else part
            for name, part in value.items()
            if part is not None or name in required or name not in known or "null" in _types(known[name], definitions)
        }
    if isinstance(value, list) and isinstance(items := schema.get("items"), Mapping):
        return [by_schema(part, items, definitions) for part in value]
    if type(value) is float and value.is_integer():
        types = _types(schema, definitions)
        return int(value) if "integer" in types and "number" not in types else value
    return value


def _without_nulls(value: dict[str, Any], forms: list[Schema], definitions: Schema) -> dict[str, Any]:
    """An object of one of several forms without the members that are null and may be null in none of them."""
    known: dict[str, list[Schema]] = {}
    for form in forms:
        for name, part in form["properties"].items():
            known.setdefault(name, []).append(part)
    return {
        name: part
        for name, part in value.items()
        if part is not None or name not in known or any("null" in _types(each, definitions) for each in known[name])
    }


def _forms(schema: Schema, definitions: Schema) -> list[Schema]:
    """The alternatives of a schema."""
    alternatives = [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
    return [_resolved(each, definitions) for each in alternatives] or [schema]


def _resolved(schema: Schema, definitions: Schema) -> Schema:
    """The schema that another one refers to, or the only one of its alternatives that is not null."""
    while isinstance(schema, Mapping):
        others = [each for each in schema.get("anyOf", ()) if each != {"type": "null"}]
        if "$ref" in schema:
            schema = definitions.get(schema["$ref"].rpartition("/")[2], _NONE)
        elif len(others) == 1:
            schema = others[0]
        else:
            return schema
    return _NONE


def _types(schema: Schema, definitions: Schema) -> frozenset[str]:
    """The types that a schema allows; of one that names none, all."""
    if not isinstance(schema, Mapping):
        return _ANY
    if "$ref" in schema:
        return _types(definitions.get(schema["$ref"].rpartition("/")[2], _NONE), definitions)
    if alternatives := [*schema.get("anyOf", ()), *schema.get("oneOf", ())]:
        return frozenset[str]().union(*(_types(each, definitions) for each in alternatives))
    if "type" in schema:
        return frozenset([schema["type"]] if isinstance(schema["type"], str) else schema["type"])
    values = [schema["const"]] if "const" in schema else schema.get("enum")
    if values is None:
        return _ANY
    return frozenset({"null"} if None in values else ())


def json_or_text(text: str) -> Any:
    """A value of a query string or of a command: JSON (`5`, `true`, `{"node": "a"}`), or text that is no JSON."""
    try:
        value = read_json(text, repeated_keys=True)  # what reads it refuses what is no value
    except ValueError:
        return text
    if isinstance(value, float) and math.isinf(value):  # `1e999`
        return text
    return value if isinstance(value, str | int | float | dict) else text
