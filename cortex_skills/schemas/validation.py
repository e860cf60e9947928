"""Checks a document against one of the shipped JSON Schemas (draft 2020-12) and explains what it finds.

Rules kept here:
- every problem is reported, not only the first; a hundred are enough;
- the hint comes out of the schema (`description`, `enum`, the known keys): an editor and the validator say
  the same;
- a misspelt key or value gets a "did you mean";
- a value whose schema says `writeOnly` (a secret) never appears in a message;
- what reading has already found wrong is not reported a second time.

Schemas are read and compiled when they are first needed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import resources
from itertools import islice
from typing import TYPE_CHECKING, Any

from cortex_skills.schemas.document import Document, Path, Problem, shown

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator, ValidationError

MAX_PROBLEMS = 100

_MAX_WORD = 64  # a longer word is no misspelling, and comparing it would be slow

_ABOUT_KEYS = frozenset({"additionalProperties", "required", "dependentRequired"})

_TYPES = {
    "string": "text",
    "integer": "a whole number",
    "boolean": "true or false",
    "array": "a list",
    "object": "a mapping",
}


@cache
def schema(name: str) -> dict[str, Any]:
    """The shipped schema `name` (`skill` or `config`); shared, not to be changed."""
    text = resources.files(__package__).joinpath(f"{name}.schema.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def check(name: str, document: Document) -> list[Problem]:
    """What is wrong with `document` under the schema `name`, with what reading has already found."""
    broken = {problem.path for problem in document.problems}
    try:
        json.dumps(document.data, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return [*document.problems, document.problem((), "holds text that is not valid Unicode")]
    errors = _validator(name).iter_errors(document.data)
    new = (e for e in errors if e.schema_path[-1] in _ABOUT_KEYS or tuple(e.instance_path) not in broken)
    found = (problem for error in new for problem in _explained(error, schema(name), document))
    return [*document.problems, *islice(found, MAX_PROBLEMS)]


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The hint for a misspelt word; empty when no known word is close to it."""
    from difflib import get_close_matches

    by_folded = {other.casefold(): other for other in known}
    matches = get_close_matches(word.casefold(), by_folded, n=1) if len(word) <= _MAX_WORD else []
    return f"did you mean {by_folded[matches[0]]}?" if matches else ""


def _closest(word: str, known: Iterable[str]) -> str:
    words = list(known)
    return did_you_mean(word, words) or f"known: {', '.join(words)}"


@cache
def _validator(name: str) -> Draft202012Validator:
    from jsonschema_rs import Draft202012Validator

    return Draft202012Validator(schema(name))


def _explained(error: ValidationError, root: dict[str, Any], document: Document) -> Iterator[Problem]:
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
            yield document.problem(path, "has no value", "give it a value, or leave the key out")
        case "type":
            quote = rule["type"] == "string" and text and not isinstance(value, list | dict)
            hint = f'put it in quotes: "{text}"' if quote and not secret else description
            what = "" if secret else f", not {_named(value)}"
            kinds = rule["type"] if isinstance(rule["type"], list) else [rule["type"]]
            yield document.problem(path, f"must be {' or '.join(_TYPES[each] for each in kinds)}{what}", hint)
        case "enum":
            hint = _closest(value, rule["enum"]) if isinstance(value, str) else description
            yield document.problem(path, f"{value_shown} is not one of {', '.join(rule['enum'])}", hint)
        case "minLength" | "maxLength":
            bound = "shorter" if keyword == "minLength" else "longer"
            yield document.problem(path, f"is {bound} than {rule[keyword]} characters", description)
        case "minimum" | "maximum":
            bound = "less" if keyword == "minimum" else "more"
            yield document.problem(path, f"{value_shown} is {bound} than {rule[keyword]}", description)
        case _:
            yield document.problem(path, f"{value_shown} is not allowed", description)


def _named(value: Any) -> str:
    """What a value of the wrong type is, for a person."""
    if isinstance(value, bool):
        return f"the boolean {shown(value)}"
    if isinstance(value, int | float):
        return f"the number {shown(value)}"
    if isinstance(value, str):
        return f"the text {shown(value)}"
    return "a list" if isinstance(value, list) else "a mapping"
