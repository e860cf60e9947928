"""A setting: declared once, with its type, default, description and limits; the JSON Schema is made from that.

    @dataclass(frozen=True, slots=True)
    class FinderSettings:
        \"\"\"How skills and memories are found.\"\"\"

        embedder: Literal["none", "local"] = setting("none", "What finds by meaning.")
        folder: str = setting("", "The folder with the files of the model.", path=PUBLIC, maxLength=4096)

Rules kept here:
- the description of a section is its docstring;
- a setting that is a path, a list of paths or a mapping to paths has a mark (`path`); nothing else lists such settings;
- no library makes the schema: every command reads the configuration, and importing pydantic takes longer than that.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import cache
from types import MappingProxyType, NoneType, UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

_KINDS = {bool: "boolean", int: "integer", str: "string", tuple: "array", Mapping: "object"}


@dataclass(frozen=True, slots=True)
class PathSetting:
    """The mark of a setting that is a path.

    Attributes:
        access: what the actions of agents may do with what is there, if it is in the workspace: nothing (`private`),
            read it (`read-only`), or what the rules of the workspace allow (`public`).
        may_be_address: whether a value may be something else: a URL, or a name such as `memory:`, `cortex`,
            `artifact:ID`.
    """

    access: Literal["private", "read-only", "public"]
    may_be_address: bool = False


PRIVATE = PathSetting("private")
READ_ONLY = PathSetting("read-only")
PUBLIC = PathSetting("public")


@dataclass(frozen=True, slots=True)
class FormerName:
    """A setting of an earlier version that has become one with another.

    Attributes:
        section: in camelCase.
        key: in camelCase.
        covered: what the new setting is about.
    """

    section: str
    key: str
    covered: str


@dataclass(frozen=True, slots=True)
class Setting:
    """What is declared of a setting beside its type and default.

    Attributes:
        schema: its JSON Schema.
        path: the mark of a path.
        former: the setting of an earlier version.
        loaded: its value for `Config.load` where no source has one, in place of the default.
    """

    schema: Mapping[str, Any]
    path: PathSetting | None
    former: FormerName | None
    loaded: Callable[[], Any] | None


def setting(
    default: Any,
    description: str,
    *,
    path: PathSetting | None = None,
    former: FormerName | None = None,
    loaded: Callable[[], Any] | None = None,
    shown: bool = True,
    **rules: Any,
) -> Any:
    """The field of a setting.

    Args:
        default: its value without one in any source; None for none.
        description: what it means; the hint of an error about it.
        path: the mark of a path.
        former: the setting of an earlier version that is read as this one.
        loaded: returns its value for `Config.load` where no source has one.
        shown: whether it is shown when the configuration is printed.
        rules: JSON Schema, beyond what follows from the type.
    """
    of = {"setting": (description, rules, path, former, loaded)}
    if isinstance(default, Mapping):
        return field(default_factory=lambda: dict(default), hash=False, metadata=of)
    return field(default=default, repr=shown, metadata=of)


@cache
def settings_of(section: type) -> Mapping[str, Setting]:
    """The settings of a section by their names in snake_case."""
    types = get_type_hints(section)
    return MappingProxyType(
        {each.name: _declared(each, types[each.name]) for each in fields(section) if "setting" in each.metadata}
    )


def section_schema(section: type) -> dict[str, Any]:
    """The JSON Schema of a section."""
    properties = {camel(name): dict(each.schema) for name, each in settings_of(section).items()}
    described = {"description": inspect.cleandoc(section.__doc__ or ""), "type": "object"}
    return {**described, "additionalProperties": False, "properties": properties}


def default_of(item: Field[Any]) -> Any:
    """The default of a field."""
    return item.default if item.default_factory is MISSING else item.default_factory()


def snake(name: str) -> str:
    """A camelCase name in snake_case."""
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


def camel(name: str) -> str:
    """A snake_case name in camelCase; a camelCase name is unchanged."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _declared(item: Field[Any], of: Any) -> Setting:
    description, rules, path, former, loaded = item.metadata["setting"]
    schema = {"description": description, **_type_schema(of), **rules}
    if "items" in schema:
        schema["items"] = {"type": _KINDS[get_args(of)[0]], **schema["items"]}
    if (default := default_of(item)) is not None:
        schema["default"] = list(default) if isinstance(default, tuple) else default
    return Setting(MappingProxyType(schema), path, former, loaded)


def _type_schema(of: Any) -> dict[str, Any]:
    """The JSON Schema of the type of a setting."""
    origin = get_origin(of) or of
    if origin is Literal:
        return {"type": "string", "enum": list(get_args(of))}
    if origin is UnionType:
        kinds = [_type_schema(part)["type"] for part in get_args(of) if part is not NoneType]
        return {"type": kinds[0] if len(kinds) == 1 else kinds}
    return {"type": _KINDS[origin]}
