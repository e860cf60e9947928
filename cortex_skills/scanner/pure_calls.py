"""The pure built-in functions whose result is known when their arguments are constants.

Rules kept here:
- only functions without side effects, and only what hides a name in practice: joining, splitting, reversing, character
  codes, base64, percent encoding, JSON;
- a result that JavaScript might compute differently is unknown (None), never a guess;
- no result is larger than the limits of `values`.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import Literal, cast
from urllib.parse import unquote

from cortex_skills.scanner.text_literals import number_value
from cortex_skills.scanner.values import LIST_LIMIT, TEXT_LIMIT, Value

# ECMA-262, WhiteSpace and LineTerminator: what `trim` takes away.
_WHITE = "\t\n\v\f\r \xa0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(map(chr, range(0x2000, 0x200B)))
_UNICODE_ESCAPE = re.compile("%u([0-9a-fA-F]{4})")


def concat(left: Value, right: Value) -> Value:
    """`left + right` for constants; a list becomes the text of its items."""
    if not isinstance(left, str | tuple) and not isinstance(right, str | tuple):
        return left + right if isinstance(left, int | float) and isinstance(right, int | float) else None
    first, second = as_text(left), as_text(right)
    return None if first is None or second is None else bounded(first + second)


def as_text(value: Value) -> str | None:
    """The text that JavaScript makes of a constant."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        # A list in a list is left alone: how deep they lie is not bounded.
        joined = _join(value, ()) if not any(isinstance(item, tuple) for item in value) else None
        return joined if isinstance(joined, str) else None
    return str(value) if isinstance(value, int) else None


def as_number(value: Value) -> int | float | None:
    """The number that JavaScript makes of a constant."""
    if isinstance(value, int | float):
        return int(value) if isinstance(value, bool) else value
    text = as_text(value)
    if text is None:
        return None
    return number_value(text.strip()) if text.strip() else 0


def bounded(text: str) -> str | None:
    """`text`, or None when it is longer than a constant may be."""
    return text if len(text) <= TEXT_LIMIT else None


def call_global(path: tuple[str | None, ...], arguments: Sequence[Value]) -> Value:
    """The result of calling the global at `path`."""
    if path[-1:] == ("call",):
        path, arguments = path[:-1], arguments[1:]
    elif path[-1:] == ("apply",):
        listed = arguments[1] if len(arguments) > 1 else None
        path, arguments = path[:-1], listed if isinstance(listed, tuple) else ()
    function = _GLOBALS.get(path) if arguments else None
    return function(arguments) if function is not None else None


def call_method(target: Value, name: str, arguments: Sequence[Value]) -> Value:
    """The result of calling the method `name` of a constant."""
    if isinstance(target, str):
        method = _TEXT_METHODS.get(name)
        return method(target, arguments) if method is not None else None
    if isinstance(target, tuple):
        list_method = _LIST_METHODS.get(name)
        return list_method(target, arguments) if list_method is not None else None
    if isinstance(target, int) and name == "toString":
        return _in_radix(target, arguments)
    return None


def _from_char_codes(arguments: Sequence[Value]) -> Value:
    codes = [code for code in arguments if isinstance(code, int) and 0 <= code <= 0x10FFFF]
    return bounded("".join(map(chr, codes))) if len(codes) == len(arguments) else None


def _from_base64(arguments: Sequence[Value]) -> Value:
    if not arguments or not isinstance(arguments[0], str):
        return None
    text = "".join(arguments[0].split()).rstrip("=")
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True).decode("latin-1")
    except (binascii.Error, ValueError):
        return None


def _from_percent(arguments: Sequence[Value]) -> Value:
    return unquote(arguments[0]) if arguments and isinstance(arguments[0], str) else None


def _unescaped(arguments: Sequence[Value]) -> Value:
    if not arguments or not isinstance(arguments[0], str):
        return None
    return unquote(_UNICODE_ESCAPE.sub(lambda found: chr(int(found[1], 16)), arguments[0]))


def _from_json(arguments: Sequence[Value]) -> Value:
    if not arguments or not isinstance(arguments[0], str):
        return None
    try:
        value = json.loads(arguments[0])
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, str) else None


def _text(arguments: Sequence[Value]) -> Value:
    return as_text(arguments[0]) if arguments else None


def _split(text: str, arguments: Sequence[Value]) -> Value:
    if len(arguments) != 1 or not isinstance(arguments[0], str):
        return None
    parts = text.split(arguments[0]) if arguments[0] else list(text)
    return tuple(parts) if len(parts) <= LIST_LIMIT else None


def _join(items: tuple[Value, ...], arguments: Sequence[Value]) -> Value:
    separator = arguments[0] if arguments else ","
    texts = [as_text(item) for item in items]
    if not isinstance(separator, str) or None in texts:
        return None
    known = [text for text in texts if text is not None]
    length = sum(map(len, known)) + len(separator) * len(known)
    return separator.join(known) if length <= TEXT_LIMIT else None


def _append_text(text: str, arguments: Sequence[Value]) -> Value:
    result: Value = text
    for argument in arguments:
        result = concat(result, argument) if isinstance(result, str) else None
    return result


def _append_items(items: tuple[Value, ...], arguments: Sequence[Value]) -> Value:
    for argument in arguments:
        items = items + (argument if isinstance(argument, tuple) else (argument,))
        if len(items) > LIST_LIMIT:
            return None
    return items


def _slice(text: str, arguments: Sequence[Value]) -> Value:
    bounds = [bound for bound in arguments if isinstance(bound, int)]
    return text[slice(*bounds)] if len(bounds) == len(arguments) and len(bounds) == 2 else _tail(text, arguments)


def _substring(text: str, arguments: Sequence[Value]) -> Value:
    bounds = [max(bound, 0) for bound in arguments[:2] if isinstance(bound, int)]
    if not bounds or len(bounds) != len(arguments):
        return None
    return text[min(bounds) : max(bounds)] if len(bounds) == 2 else text[bounds[0] :]


def _substr(text: str, arguments: Sequence[Value]) -> Value:
    bounds = [bound for bound in arguments[:2] if isinstance(bound, int)]
    if not bounds or len(bounds) != len(arguments):
        return None
    rest = text[bounds[0] :]
    return rest[: max(bounds[1], 0)] if len(bounds) == 2 else rest


def _character(text: str, arguments: Sequence[Value]) -> Value:
    place = arguments[0] if arguments else 0
    return text[place] if isinstance(place, int) and -len(text) <= place < len(text) else None


def _character_code(text: str, arguments: Sequence[Value]) -> Value:
    place = arguments[0] if arguments else 0
    return ord(text[place]) if isinstance(place, int) and 0 <= place < len(text) else None


def _replace(count: int) -> Callable[[str, Sequence[Value]], Value]:
    def replace(text: str, arguments: Sequence[Value]) -> Value:
        if len(arguments) != 2 or not isinstance(arguments[0], str) or not isinstance(arguments[1], str):
            return None
        if "$" in arguments[1] or len(text) * (1 + len(arguments[1])) > 4 * TEXT_LIMIT:
            return None
        return bounded(text.replace(arguments[0], arguments[1], count))

    return replace


def _normalized(text: str, arguments: Sequence[Value]) -> Value:
    form = arguments[0] if arguments else "NFC"
    if form not in ("NFC", "NFD", "NFKC", "NFKD"):
        return None
    return bounded(unicodedata.normalize(cast(Literal["NFC", "NFD", "NFKC", "NFKD"], form), text))


def _item(items: tuple[Value, ...], arguments: Sequence[Value]) -> Value:
    place = arguments[0] if arguments else 0
    return items[place] if isinstance(place, int) and -len(items) <= place < len(items) else None


def _repeat(text: str, arguments: Sequence[Value]) -> Value:
    times = arguments[0] if len(arguments) == 1 else None
    return text * times if isinstance(times, int) and 0 <= times * len(text) <= TEXT_LIMIT and times >= 0 else None


def _in_radix(number: int, arguments: Sequence[Value]) -> Value:
    radix = arguments[0] if arguments else 10
    if isinstance(number, bool) or not isinstance(radix, int) or not 2 <= radix <= 36 or not 0 <= number < 1 << 53:
        return None
    digits = ""
    while number or not digits:
        number, digit = divmod(number, radix)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + digits
    return digits


def _tail(text: str, arguments: Sequence[Value]) -> Value:
    return text[arguments[0] :] if len(arguments) == 1 and isinstance(arguments[0], int) else None


_GLOBALS: dict[tuple[str | None, ...], Callable[[Sequence[Value]], Value]] = {
    ("JSON", "parse"): _from_json,
    ("String",): _text,
    ("String", "fromCharCode"): _from_char_codes,
    ("String", "fromCodePoint"): _from_char_codes,
    ("atob",): _from_base64,
    ("decodeURI",): _from_percent,
    ("decodeURIComponent",): _from_percent,
    ("unescape",): _unescaped,
}
_TEXT_METHODS: dict[str, Callable[[str, Sequence[Value]], Value]] = {
    "at": _character,
    "charAt": _character,
    "charCodeAt": _character_code,
    "codePointAt": _character_code,
    "normalize": _normalized,
    "repeat": _repeat,
    "replace": _replace(1),
    "replaceAll": _replace(-1),
    "substr": _substr,
    "substring": _substring,
    "toUpperCase": lambda text, _arguments: bounded(text.upper()),
    "concat": _append_text,
    "slice": _slice,
    "split": _split,
    "toString": lambda text, _arguments: text,
    "toLocaleLowerCase": lambda text, _arguments: bounded(text.lower()),
    "toLocaleUpperCase": lambda text, _arguments: bounded(text.upper()),
    "toLowerCase": lambda text, _arguments: bounded(text.lower()),
    "trim": lambda text, _arguments: text.strip(_WHITE),
    "trimEnd": lambda text, _arguments: text.rstrip(_WHITE),
    "trimStart": lambda text, _arguments: text.lstrip(_WHITE),
    "valueOf": lambda text, _arguments: text,
}
_LIST_METHODS: dict[str, Callable[[tuple[Value, ...], Sequence[Value]], Value]] = {
    "at": _item,
    "concat": _append_items,
    "join": _join,
    "reverse": lambda items, _arguments: items[::-1],
    "toReversed": lambda items, _arguments: items[::-1],
}
