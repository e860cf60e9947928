"""Validates documents against JSON Schemas (draft 2020-12).

Rules kept here:
- all problems of a document of a person are reported, at most a hundred;
- the hint comes from the schema (`description`, `enum`, the known keys), so an editor shows the same text;
- a misspelt key or value gets a "did you mean";
- a value whose schema has `writeOnly` (a secret) never appears in a message;
- a problem that reading found is not reported again;
- a message about a long value has its reason, which is behind the value, and less of the value;
- a large document from a client gets only its first error: the library computes all errors before it returns one, at
  15 µs each, and holds the interpreter lock meanwhile; a million would block all threads for 15 s.

Schemas are read and compiled when they are first needed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import islice
from typing import TYPE_CHECKING, Any

from cortex_skills.safe_io.schemas.located_document import LocatedDocument, Path, Problem, shown

if TYPE_CHECKING:
    from jsonschema_rs import Draft7Validator, Draft202012Validator, ValidationError

MAX_PROBLEMS = 100
FEW = 2_000
_MOST_OF_REASON = 200

_ABOUT_KEYS = frozenset({"additionalProperties", "required", "dependentRequired"})

_TYPES = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "a mapping",
}


@dataclass(frozen=True, eq=False)
class MadeSchema:
    """A form whose schema is made when the program runs."""

    rules: dict[str, Any]


Form = str | type | MadeSchema


@cache
def schema(form: Form) -> dict[str, Any]:
    """The schema of a form: of a file of the package, such as `skill`, or of a type; it must not be changed."""
    if isinstance(form, MadeSchema):
        return form.rules
    if isinstance(form, str):
        text = resources.files(__package__).joinpath(f"{form}.schema.json").read_text(encoding="utf-8")
        loaded: dict[str, Any] = json.loads(text)
        return loaded
    return schema_of_type(form)


def schema_of_type(type_: Any) -> dict[str, Any]:
    """The JSON Schema of a type that pydantic knows, with what it refers to in its place.

    So the path of an error leads through it. The docstring of a class is not about the member that has it.
    """
    from pydantic import TypeAdapter

    made = TypeAdapter(type_).json_schema()
    whole: dict[str, Any] = _inlined(made, made.pop("$defs", {}))
    return whole


def _inlined(part: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(part, list):
        return [_inlined(each, definitions) for each in part]
    if not isinstance(part, dict):
        return part
    referred = definitions[part["$ref"].rpartition("/")[2]] if "$ref" in part else {}
    if "properties" in referred:
        referred = {key: value for key, value in referred.items() if key != "description"}
    merged = {**referred, **{key: value for key, value in part.items() if key != "$ref"}}
    return {key: _inlined(value, definitions) for key, value in merged.items()}


def check(form: Form, document: LocatedDocument) -> list[Problem]:
    """The problems of a document under the schema of a form, after those that reading found."""
    broken = {problem.path for problem in document.problems}
    try:
        json.dumps(document.data, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return [*document.problems, document.problem((), "contains text that is not valid Unicode")]
    errors = _validator(form).iter_errors(document.data)
    new = (e for e in errors if e.schema_path[-1] in _ABOUT_KEYS or tuple(e.instance_path) not in broken)
    found = (problem for error in new for problem in _explained(error, schema(form), document))
    return [*document.problems, *islice(found, MAX_PROBLEMS)]


def first_error(validator: Draft202012Validator | Draft7Validator, document: Any) -> ValidationError | None:
    """The first error of a document; None for a valid one.

    Raises:
        ValueError, TypeError, OverflowError, RecursionError: the document is not JSON.
    """
    from jsonschema_rs import ValidationError

    try:
        validator.validate(document)
    except ValidationError as error:
        return error
    return None


def errors_of(validator: Draft202012Validator, document: Any, most: int) -> list[ValidationError]:
    """The errors of a document, at most `most`; only the first one of a document with more than `FEW` members.

    Raises:
        ValueError, TypeError, OverflowError, RecursionError: the document is not JSON.
    """
    first = first_error(validator, document)
    if first is None:
        return []
    return list(islice(validator.iter_errors(document), most)) if has_few_members(document) else [first]


def reason_of(error: ValidationError) -> str:
    """The message of an error, which begins with the value or ends with it; from a long one the middle is left out."""
    message: str = error.message
    if len(message) <= _MOST_OF_REASON:
        return message
    half = _MOST_OF_REASON // 2
    return f"{message[:half]}…{message[1 - half :]}"


def has_few_members(document: Any) -> bool:
    """Whether a document has at most `FEW` members."""
    left, pending = FEW, [document]
    while pending:
        value = pending.pop()
        if isinstance(value, dict | list):
            left -= len(value)
            if left < 0:
                return False
            pending.extend(value.values() if isinstance(value, dict) else value)
    return True


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The hint for a misspelt word; empty when no known word is similar."""
    from cortex_graph.naming.spelling import nearest

    near = nearest(word, known)
    return f"did you mean {near[0]}?" if near else ""


def _closest(word: str, known: Iterable[str]) -> str:
    words = list(known)
    return did_you_mean(word, words) or f"known: {', '.join(words)}"


@cache
def _validator(form: Form) -> Draft202012Validator:
    from jsonschema_rs import Draft202012Validator

    return Draft202012Validator(schema(form))


def _explained(error: ValidationError, root: dict[str, Any], document: LocatedDocument) -> Iterator[Problem]:
    path: Path = tuple(error.instance_path)
    *parents, keyword = error.schema_path
    kind: Any = error.kind  # its attributes depend on the keyword
    rule: Any = root
    for parent in parents:
        rule = rule[parent]
    value, text = error.instance, document.texts.get(path)
    description = rule.get("description", "")
    secret = rule.get("writeOnly", False)
    value_shown = "the value" if secret else shown(value)
    match keyword:
        case "additionalProperties":
            for key in kind.unexpected:
                yield document.problem((*path, key), "unknown key", _closest(key, rule["properties"]))
        case "required" | "dependentRequired":
            key = kind.property
            hint = rule["properties"][key].get("description", "")
            yield document.problem((*path, key), "is missing", hint)
        case "type" if value is None:
            yield document.problem(path, "has no value", "give it a value, or remove the key")
        case "type":
            quote = rule["type"] == "string" and text and not isinstance(value, list | dict)
            hint = f'put it in quotes: "{text}"' if quote and not secret else description
            what = "" if secret else f", not {_named(value)}"
            kinds = rule["type"] if isinstance(rule["type"], list) else [rule["type"]]
            yield document.problem(path, f"must be {' or '.join(_TYPES[each] for each in kinds)}{what}", hint)
        case "enum":
            hint = _closest(value, rule["enum"]) if isinstance(value, str) else description
            yield document.problem(path, f"{value_shown} is not one of {', '.join(rule['enum'])}", hint)
        case "maxLength" if isinstance(value, str) and not secret:
            message = f"has {len(value):,} characters, and at most {rule[keyword]:,} are allowed"
            yield document.problem(path, message, description)
        case "minLength" | "maxLength":
            bound = "shorter" if keyword == "minLength" else "longer"
            yield document.problem(path, f"is {bound} than {rule[keyword]} characters", description)
        case "minimum" | "maximum":
            bound = "less" if keyword == "minimum" else "more"
            yield document.problem(path, f"{value_shown} is {bound} than {rule[keyword]}", description)
        case _:
            yield document.problem(path, f"{value_shown} is not allowed", description)


def _named(value: Any) -> str:
    """The type of a value, for a message."""
    if isinstance(value, bool):
        return f"the boolean {shown(value)}"
    if isinstance(value, int | float):
        return f"the number {shown(value)}"
    if isinstance(value, str):
        return f"the text {shown(value)}"
    return "a list" if isinstance(value, list) else "a mapping"
