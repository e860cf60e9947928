"""The JSON Schema of a type, as models and programs read it.

Rules kept here:
- a schema is whole in itself: what a type refers to is in its place;
- it has no titles, which only repeat the names, and an optional member has no null, which is the same as none.
"""

from __future__ import annotations

from typing import Any

from cortex_skills.safe_io.schemas.validation import schema_of_type

_NULL = {"type": "null"}
_MEANINGLESS: tuple[Any, ...] = (None, "", [])  # defaults that only state that a member may be left out


def schema_of(type_: Any, *, closed: bool = False) -> dict[str, Any]:
    """The JSON Schema of a type.

    Args:
        type_: a `TypedDict`, a dataclass, or any other type that pydantic knows.
        closed: whether an object has no other members than those that it names.
    """
    found: dict[str, Any] = _written(schema_of_type(type_), closed)
    found.pop("description", None)
    return found


def _written(schema: Any, closed: bool) -> Any:
    if isinstance(schema, list):
        return [_written(each, closed) for each in schema]
    if not isinstance(schema, dict):
        return schema
    found = {
        key: {name: _optional(_written(each, closed)) for name, each in value.items()}
        if key == "properties"
        else _written(value, closed)
        for key, value in schema.items()
        if key != "title" and (key, value) not in (("additionalProperties", True), ("items", {}))
    }
    forms = found.get("anyOf", ())
    plain = [form["type"] for form in forms if form.keys() == {"type"}]
    if len(plain) > 1 or plain == [form.get("type") for form in forms]:
        others = [form for form in forms if form.keys() != {"type"}]
        if others:
            found["anyOf"] = [{"type": plain}, *others]
        elif forms:
            found = {"type": plain, **{key: value for key, value in found.items() if key != "anyOf"}}
    if closed and "properties" in found:
        found["additionalProperties"] = False
    return found


def _optional(member: dict[str, Any]) -> dict[str, Any]:
    """The schema of a member, without null where null is only that it may be left out."""
    if "default" in member and member["default"] in _MEANINGLESS:
        forms = [form for form in member.get("anyOf", ()) if form != _NULL]
        rest = {key: value for key, value in member.items() if key not in ("anyOf", "default")}
        if isinstance(types := rest.get("type"), list):
            kinds = [each for each in types if each != "null"]
            rest["type"] = kinds[0] if len(kinds) == 1 else kinds
        return {**forms[0], **rest} if len(forms) == 1 else {**rest, **({"anyOf": forms} if forms else {})}
    return member
