"""Values: what the scanner knows about an expression before the code runs.

Rules kept here:
- a value is a constant text, number or boolean, a list of values, a global with the path of names that leads to it, or
  a `ValueKind`; an unknown value is None;
- only concatenation, `join`, indexes and lengths are computed; the result of any other call on constants is
  `ValueKind.COMPUTED`;
- a text has at most `TEXT_LIMIT` characters, a list at most `LIST_LIMIT` items, a path at most `PATH_LIMIT` names; a
  larger value is unknown;
- the escapes in a literal are those of ECMAScript (§12.9.4).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias, Union

TEXT_LIMIT = 1024
LIST_LIMIT = 256
PATH_LIMIT = 4

GLOBAL_OBJECT_NAMES = frozenset({"global", "globalThis", "self", "window"})
HOST_OBJECTS = frozenset({("Bun",), ("Deno",), ("import.meta",), ("module",), ("process",)})

Path: TypeAlias = tuple[str | None, ...]


@dataclass(frozen=True)
class Global:
    """A global as the names that lead to it: `("process", "env")`; `()` is the global object.

    A name of None is a computed name that is unknown.
    """

    path: Path


class ValueKind(Enum):
    """A value of which the kind is known, and not the content."""

    COMPUTED = "text that calls compute from constants"
    FUNCTION = "a function that the source declares"
    CONSTRUCTOR = "the constructor of an object"
    OWN_CONSTRUCTOR = "this.constructor"
    PROTOTYPE = "the prototype that objects share"


Value: TypeAlias = Union[str, int, float, "tuple[Value, ...]", Global, ValueKind, None]

FUNCTION_CONSTRUCTOR = Global(("Function",))
GLOBAL_OBJECT = Global(())

_CONSTRUCTORS = (ValueKind.CONSTRUCTOR, ValueKind.OWN_CONSTRUCTOR)
# Globals in lower case that are functions: their constructor is `Function`.
_FUNCTIONS = frozenset({
    "atob", "btoa", "decodeURI", "decodeURIComponent", "encodeURI", "encodeURIComponent", "escape", "eval", "fetch",
    "isFinite", "isNaN", "parseFloat", "parseInt", "queueMicrotask", "require", "setInterval", "setTimeout",
    "structuredClone", "unescape",
})  # fmt: skip
# Functions and methods that make a text (or its parts) from constants, and are not computed here.
_TEXT_FUNCTIONS = frozenset({
    ("JSON", "parse"), ("String",), ("String", "fromCharCode"), ("String", "fromCodePoint"), ("String", "raw"),
    ("atob",), ("decodeURI",), ("decodeURIComponent",), ("unescape",),
})  # fmt: skip
_TEXT_METHODS = frozenset({
    "at", "charAt", "charCodeAt", "codePointAt", "concat", "join", "normalize", "repeat", "replace", "replaceAll",
    "reverse", "slice", "split", "substr", "substring", "toLocaleLowerCase", "toLocaleUpperCase", "toLowerCase",
    "toReversed", "toString", "toUpperCase", "trim", "trimEnd", "trimStart", "valueOf",
})  # fmt: skip

_ESCAPE = re.compile(
    r"\\(?:u\{0*([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([0-3]?[0-7]{1,2})|(\r\n|.))", re.DOTALL
)
_SINGLE_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_CONTINUATIONS = frozenset({"\n", "\r", "\r\n", "\u2028", "\u2029"})
_LONGEST_NUMBER = 32


def is_notable(value: Value) -> bool:
    """True for a value that rules look for, also among other values of a variable."""
    return isinstance(value, Global | ValueKind) and value is not ValueKind.COMPUTED


def leads_on(value: Value) -> bool:
    """True for a global object whose members rules look for: the global object, `process`, ..."""
    return isinstance(value, Global) and (not value.path or value.path[0] is None or value.path in HOST_OBJECTS)


def truth(value: Value) -> bool | None:
    """Whether a constant is truthy; None when that is unknown."""
    if isinstance(value, str | int | float):
        return bool(value)
    return True if isinstance(value, tuple) else None


def text_of_literal(source: str) -> str | None:
    """The text of the inside of a quoted string or of a piece of a template."""
    if len(source) > 8 * TEXT_LIMIT:
        return None
    return bounded(_ESCAPE.sub(_unescape, source) if "\\" in source else source)


def number_of_literal(source: str) -> int | float | None:
    """The value of a number literal; None for a BigInt or a literal of more than 32 characters."""
    if len(source) > _LONGEST_NUMBER:
        return None
    digits = source.replace("_", "")
    try:
        if digits[:1] == "0" and digits[1:2] in tuple("xXoObB"):
            return int(digits, 0)
        number = float(digits)
    except ValueError:
        return None
    return int(number) if number.is_integer() else number


def bounded(text: str) -> str | None:
    """`text`, or None when it is longer than `TEXT_LIMIT`."""
    return text if len(text) <= TEXT_LIMIT else None


def as_text(value: Value) -> str | None:
    """The text to which JavaScript converts a constant."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return _join(value, ",")
    return str(value) if isinstance(value, int) else None


def concat(left: Value, right: Value) -> Value:
    """`left + right` for constants; a list is converted to text."""
    if ValueKind.COMPUTED in (left, right):
        return ValueKind.COMPUTED if _is_constant(left) and _is_constant(right) else None
    if not isinstance(left, str | tuple) and not isinstance(right, str | tuple):
        return left + right if isinstance(left, int | float) and isinstance(right, int | float) else None
    first, second = as_text(left), as_text(right)
    return None if first is None or second is None else bounded(first + second)


def call_function(path: Path, arguments: Sequence[Value]) -> Value:
    """The result of calling the global at `path`."""
    if path[-1:] in (("call",), ("apply",)):
        path, arguments = path[:-1], arguments[1:]
    is_known = path in _TEXT_FUNCTIONS and bool(arguments) and all(map(_is_constant, arguments))
    return ValueKind.COMPUTED if is_known else None


def call_method(target: Value, name: str | None, arguments: Sequence[Value]) -> Value:
    """The result of calling the method `name` of a constant."""
    if name not in _TEXT_METHODS or not _is_constant(target) or not all(map(_is_constant, arguments)):
        return None
    if name == "join" and isinstance(target, tuple):
        separator = arguments[0] if arguments else ","
        return _join(target, separator) if isinstance(separator, str) else ValueKind.COMPUTED
    if name == "concat" and isinstance(target, str):
        result: Value = target
        for argument in arguments:
            result = concat(result, argument) if result is not None else None
        return result
    return ValueKind.COMPUTED


def global_named(name: str) -> Global:
    """The global with the name `name`."""
    return GLOBAL_OBJECT if name in GLOBAL_OBJECT_NAMES else Global((name,))


def member(value: Value, name: str | None, of_this: bool = False) -> Value:
    """The property `name` (None: unknown) of `value`; `of_this` is True when the object is `this`."""
    if name == "constructor":
        return _constructor_of(value, of_this)
    if isinstance(value, Global):
        if name == "__proto__" and value != FUNCTION_CONSTRUCTOR:
            return ValueKind.PROTOTYPE
        if not value.path and name in GLOBAL_OBJECT_NAMES:
            return GLOBAL_OBJECT
        return Global((*value.path, name)) if len(value.path) < PATH_LIMIT else None
    if value is ValueKind.FUNCTION and name in ("__proto__", "prototype"):
        return ValueKind.FUNCTION
    if name == "__proto__" or (name == "prototype" and value in _CONSTRUCTORS):
        return ValueKind.PROTOTYPE
    if name is None or not (name.isascii() and name.isdigit() and len(name) < 5):
        return None
    if isinstance(value, str | tuple):
        return value[int(name)] if int(name) < len(value) else None
    return value if value is ValueKind.COMPUTED else None


def _constructor_of(value: Value, of_this: bool) -> Value:
    if value is ValueKind.FUNCTION or value in _CONSTRUCTORS:
        return FUNCTION_CONSTRUCTOR
    if isinstance(value, Global) and value.path:
        first, last = value.path[0], value.path[-1]
        if first == "Function" or (last is not None and (last[:1].isupper() or last in _FUNCTIONS)):
            return FUNCTION_CONSTRUCTOR
        if first == "module":
            return Global(("module", "constructor"))
    return ValueKind.OWN_CONSTRUCTOR if of_this else ValueKind.CONSTRUCTOR


def _is_constant(value: Value) -> bool:
    if isinstance(value, tuple):
        return all(isinstance(item, str | int | float) or item is ValueKind.COMPUTED for item in value)
    return isinstance(value, str | int | float) or value is ValueKind.COMPUTED


def _join(items: tuple[Value, ...], separator: str) -> str | None:
    # A list in a list is unknown: the depth of lists is not bounded.
    texts = [None if isinstance(item, tuple) else as_text(item) for item in items]
    known = [text for text in texts if text is not None]
    length = sum(map(len, known)) + len(separator) * len(known)
    return separator.join(known) if len(known) == len(texts) and length <= TEXT_LIMIT else None


def _unescape(match: re.Match[str]) -> str:
    code = match[1] or match[2] or match[3]
    if code is not None:
        return chr(int(code, 16)) if int(code, 16) <= 0x10FFFF else "�"
    if match[4] is not None:
        return chr(int(match[4], 8))
    single = match[5]
    return "" if single in _CONTINUATIONS else _SINGLE_ESCAPES.get(single, single)
