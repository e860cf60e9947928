"""Reads settings from the YAML file, the environment and the arguments, each into a `LocatedDocument`.

Rules kept here:
- an environment variable separates words by `_` and levels by `__`: `CORTEX_AGENT_NAMESPACE`,
  `CORTEX_VERIFICATION__REQUIRE_SIGNATURE=false`; a list is separated by commas; an empty variable is ignored, as
  is a line end behind a value; a `CORTEX_` variable for an unknown setting gets a warning;
- arguments are in camelCase or snake_case, with sections as mappings; the file is in camelCase;
- a key without a value (`null`, None) is not set;
- the former name of a setting is read as the new one, with a warning; the new name in the same source wins;
- where a setting has the values `on` and `off`, these words are text without quotes, too;
- a value of the wrong type is passed on unchanged, and the schema rejects it.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from cortex_skills.config.sections import ENVIRONMENT_PREFIX, declared
from cortex_skills.config.setting import camel
from cortex_skills.errors import CortexError
from cortex_skills.safe_io.expanded_path import variable
from cortex_skills.safe_io.schemas import LocatedDocument, Mark, Problem, did_you_mean, summary
from cortex_skills.safe_io.strict_json import read_json

# Variables that other modules read and that are not settings.
OTHER_VARIABLES = frozenset({"CORTEX_SANDBOX_CACHE", "CORTEX_SECRETS_PASSPHRASE", "CORTEX_UNSAFE_DIRECT_LOAD"})

_FLAGS = dict.fromkeys(("true", "1", "yes", "on"), True) | dict.fromkeys(("false", "0", "no", "off"), False)
_EMPTY = ("", "~", "null")  # a setting that is not set, where YAML is read as text
_INTEGER = re.compile(r"[-+]?[0-9]{1,15}", re.ASCII)

_MOST = 1 << 20  # bytes of a file

Setting = tuple[str, ...]


def from_file(path: Path) -> LocatedDocument:
    """The settings of a YAML file.

    Raises:
        CortexError: `config_invalid`: it cannot be read, or is not a mapping.
    """
    from cortex_skills.safe_io.strict_yaml import read

    try:
        with path.open("rb") as file:
            data = file.read(_MOST + 1)
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise invalid([Problem((), "is not UTF-8", "", Mark(str(path)))]) from None
    except (OSError, ValueError) as error:  # ValueError: the path contains a NUL
        reason = getattr(error, "strerror", None) or error
        raise invalid([Problem((), f"cannot be read: {reason}", "", Mark(str(path)))]) from None
    if len(data) > _MOST:
        raise invalid([Problem((), f"is larger than {_MOST >> 20} MiB", "", Mark(str(path)))])
    document = read(text, file=str(path), is_text=(words := declared().words).__contains__)
    for section, key in words:
        given = document.data.get(section) if isinstance(document.data, dict) else None
        if isinstance(given, dict) and given.get(key) in _EMPTY:
            given[key] = None
    if document.data is None or isinstance(document.data, dict):
        return document
    raise invalid([*document.problems, document.problem((), "must be a mapping of settings")])


def from_environment(env: Mapping[str, str]) -> LocatedDocument:
    """The settings in the environment."""
    data: dict[str, Any] = {}
    marks: dict[tuple[str | int, ...], Mark] = {}
    known = declared()
    for name, setting in known.variables.items():
        if text := variable(name, env):
            *section, key = setting
            target = data.setdefault(section[0], {}) if section else data
            new, _ = known.former.get(setting, (setting, ""))
            target[key] = _typed(text, known.rules[new]["type"])
            marks[setting] = Mark(name)
    return LocatedDocument(data, marks)


def _typed(text: str, kind: str) -> Any:
    """The text of a variable converted to the type of its setting; unchanged when it cannot be converted."""
    match kind:
        case list() | "object" if text.lstrip().startswith("{"):  # a store or shapes, as JSON
            try:
                return read_json(text)
            except ValueError:
                return text
        case "boolean":
            return _FLAGS.get(text.strip().lower(), text)
        case "integer":
            digits = text.strip()  # which removes more than int() accepts around digits, such as \x1f
            return int(digits) if _INTEGER.fullmatch(digits) else text
        case "array":
            return [part.strip() for part in text.split(",")]
    return text


def unknown_variables(env: Mapping[str, str]) -> Iterator[str]:
    """A warning for each `CORTEX_` variable that is not a setting."""
    known = {*declared().variables, *OTHER_VARIABLES}
    for name in sorted(env):
        if name.startswith(ENVIRONMENT_PREFIX) and name not in known:
            hint = did_you_mean(name, known)
            yield f"the environment variable {name} is not a setting{f'; {hint}' if hint else ''}"


def from_arguments(settings: Mapping[str, Any]) -> LocatedDocument:
    """The settings of Python arguments, with keys in camelCase."""
    problems: list[Problem] = []
    data: dict[str, Any] = {}
    for key, value in settings.items():
        name = camel(key)
        if name in data:
            problems.append(Problem((name,), "is given twice, in camelCase and in snake_case"))
        try:
            data[name] = json.loads(json.dumps(value, default=_json_ready))
        except (TypeError, ValueError, RecursionError):
            problems.append(Problem((name,), f"contains a value that no setting allows: {type(value).__name__}"))
            continue
        if isinstance(data[name], dict):
            data[name] = {camel(inner): part for inner, part in data[name].items()}
    return LocatedDocument(data, problems=tuple(problems))


def _json_ready(value: object) -> Any:
    return dict(value) if isinstance(value, Mapping) else os.fspath(value)  # type: ignore[call-overload]


def renamed(source: LocatedDocument) -> tuple[LocatedDocument, tuple[str, ...]]:
    """A source with the new names of settings, and a warning for each former one."""
    warnings: list[str] = []
    for (section, key), (new, covered) in declared().former.items():
        given = source.data.get(section) if isinstance(source.data, dict) else None
        if not isinstance(given, dict) or key not in given:
            continue
        value, others = given[key], {name: part for name, part in given.items() if name != key}
        target = source.data.get(new[0]) or {}
        data = {**source.data, section: others}
        if isinstance(target, dict) and value is not None:
            known = {name: part for name, part in target.items() if part is not None}
            data[new[0]] = {new[1]: value, **known}
        message = f"is read as {'.'.join(new)}, which is about {covered}"
        warnings.append(str(source.problem((section, key), message)))
        marks = {new: source.mark((section, key)), **source.marks}
        source = replace(source, data=data, marks=marks)
    return source, tuple(warnings)


def merged(sources: list[LocatedDocument]) -> LocatedDocument:
    """One document from all sources, by ascending precedence, without keys that have no value."""
    data: dict[str, Any] = {}
    for source in sources:
        for key, value in (source.data or {}).items():
            if (
                isinstance(value, dict) and key != "store"
            ):  # a store is replaced whole, so that no password goes to another server
                section = data[key] if isinstance(data.get(key), dict) else {}
                data[key] = section | {inner: part for inner, part in value.items() if part is not None}
            elif value is not None:
                data[key] = value
    return LocatedDocument(
        data,
        {path: mark for source in sources for path, mark in source.marks.items()},
        {path: text for source in sources for path, text in source.texts.items()},
        tuple(problem for source in sources for problem in source.problems),
    )


def invalid(problems: list[Problem]) -> CortexError:
    """The error with all problems."""
    return CortexError(
        "config_invalid",
        summary("the configuration", problems),
        hint="correct the settings above",
        details={"errors": [problem.to_json() for problem in problems]},
    )
