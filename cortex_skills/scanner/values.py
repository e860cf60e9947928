"""What an expression is known to be before the code runs.

Rules kept here:
- a value is a constant text, number or truth value, a list of values, a global reached by a path of names, a function,
  or a constructor or prototype taken from an object; everything else is unknown (None);
- a constant never grows past `TEXT_LIMIT` characters or `LIST_LIMIT` members: what would be larger is unknown;
- a path never grows past `PATH_LIMIT` names.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias, Union

TEXT_LIMIT = 1024
LIST_LIMIT = 256
PATH_LIMIT = 4

GLOBAL_OBJECT_NAMES = frozenset({"global", "globalThis", "self", "window"})

HOST_OBJECTS = frozenset({("Bun",), ("Deno",), ("import.meta",), ("module",), ("process",)})


@dataclass(frozen=True)
class Global:
    """A global, by the names that lead to it: `("process", "env")`; `()` is the global object itself.

    A name of None stands for a computed name that is not known.
    """

    path: tuple[str | None, ...]


class Kind(Enum):
    """A value that is known by what it is rather than by its content."""

    FUNCTION = "a function of the author's"
    CONSTRUCTOR = "the constructor of an object"
    OWN_CONSTRUCTOR = "this.constructor"
    PROTOTYPE = "the prototype that objects share"


Value: TypeAlias = Union[str, int, float, "tuple[Value, ...]", Global, Kind, None]

_CONSTRUCTORS = (Kind.CONSTRUCTOR, Kind.OWN_CONSTRUCTOR)
FUNCTION_CONSTRUCTOR = Global(("Function",))
GLOBAL_OBJECT = Global(())

# Globals that are functions: their constructor is Function.
_LOWER_CASE_FUNCTIONS = frozenset(
    {
        "atob",
        "btoa",
        "decodeURI",
        "decodeURIComponent",
        "encodeURI",
        "encodeURIComponent",
        "escape",
        "eval",
        "fetch",
        "isFinite",
        "isNaN",
        "parseFloat",
        "parseInt",
        "queueMicrotask",
        "require",
        "setInterval",
        "setTimeout",
        "structuredClone",
        "unescape",
    }
)


def is_notable(value: Value) -> bool:
    """True for a value that matters to rules by what it is, whatever else a variable may hold."""
    return isinstance(value, Global | Kind)


def leads_on(value: Value) -> bool:
    """True for a global object whose members are what rules look for: the global object itself, `process`, ..."""
    return isinstance(value, Global) and (not value.path or value.path[0] is None or value.path in HOST_OBJECTS)


def truth(value: Value) -> bool | None:
    """Whether a constant counts as true in a condition; None when that is not known."""
    if isinstance(value, str | int | float):
        return bool(value)
    return True if isinstance(value, tuple) else None


def global_named(name: str) -> Global:
    """The global that the bare name `name` means."""
    return GLOBAL_OBJECT if name in GLOBAL_OBJECT_NAMES else Global((name,))


def member(value: Value, name: str | None, of_this: bool = False) -> Value:
    """The property `name` (None: a computed name that is not known) of `value`; `of_this` when the object is `this`."""
    if name == "constructor":
        return _constructor_of(value, of_this)
    if isinstance(value, Global):
        if name == "__proto__" and value != FUNCTION_CONSTRUCTOR:
            return Kind.PROTOTYPE
        if not value.path and name in GLOBAL_OBJECT_NAMES:
            return GLOBAL_OBJECT
        return Global((*value.path, name)) if len(value.path) < PATH_LIMIT else None
    if value is Kind.FUNCTION and name in ("__proto__", "prototype"):
        return Kind.FUNCTION
    if name == "__proto__" or (name == "prototype" and value in _CONSTRUCTORS):
        return Kind.PROTOTYPE
    if isinstance(value, str | tuple) and name is not None and name.isascii() and name.isdigit() and len(name) < 5:
        return value[int(name)] if int(name) < len(value) else None
    return None


def _constructor_of(value: Value, of_this: bool) -> Value:
    if isinstance(value, Kind) and value is not Kind.PROTOTYPE:
        return FUNCTION_CONSTRUCTOR
    if isinstance(value, Global) and value.path:
        first, last = value.path[0], value.path[-1]
        if first == "Function" or (last is not None and (last[:1].isupper() or last in _LOWER_CASE_FUNCTIONS)):
            return FUNCTION_CONSTRUCTOR
        if first == "module":
            return Global(("module", "constructor"))
    return Kind.OWN_CONSTRUCTOR if of_this else Kind.CONSTRUCTOR
