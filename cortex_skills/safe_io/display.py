"""Text for display to a model or a person, without invisible characters, and without markup in JSON.

Rules kept here:
- `<`, `>` and `&` are escaped in JSON, so no content opens or closes a tag or is an entity;
- invisible characters (control, format, bidirectional, tag and private-use characters, line separators, spaces other
  than U+0020, fillers, variation selectors) are escaped;
- a lone surrogate (RFC 8259 §8.2) becomes U+FFFD, and a surrogate pair becomes its character.
"""

from __future__ import annotations

import json
import re
import secrets
from typing import Any

import orjson

# Invisible characters that `str.isprintable` accepts, and frequent ones that it does not accept.
_HIDDEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef"
    "\u00a0\u00ad\u200b-\u200f\u2028-\u202f\u2060\u3000\ufeff]"
)
PLAIN = r"!#-%'-;=?-\[\]-~"  # the characters of most names and values: JSON writes them unchanged
_PLAIN = re.compile(f"[ {PLAIN}]*")
_PLAIN_NAME = re.compile(f"[{PLAIN}]+")
_UNQUOTED = re.compile(r"[^\s\"<>&\\]+")
# ASCII characters that JSON writes unchanged, and that are escaped here.
_UNSAFE = tuple((char.encode(), f"\\u{ord(char):04x}".encode()) for char in "<>&\x7f")
_ASCII = bytes(range(0x80))
# Python's encoder writes the values that orjson does not write, or writes differently: floats, integers of more than 64
# bits, lone surrogates.
_JSON_ALONE = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_SUBCLASS
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def json_text(value: Any) -> str:
    """`value`, of JSON types only, as compact JSON with markup and invisible characters escaped."""
    if type(value) is str and _PLAIN.fullmatch(value):
        return f'"{value}"'
    written = _written(value)
    for char, escape in _UNSAFE:
        if char in written:
            written = written.replace(char, escape)
    if written.isascii():
        return written.decode()
    return _with_escapes(_read(written), _read(written.translate(None, _ASCII)))


def one_line(text: str) -> str:
    """`text` on one line with invisible characters escaped; markup is unchanged."""
    text = whole_characters(text)
    return text if text.isascii() and text.isprintable() else _with_escapes(text, text)


def shown_name(name: str) -> str:
    """A name; as a JSON string when it contains spaces, quotes, markup or invisible characters."""
    if _PLAIN_NAME.fullmatch(name) or (_UNQUOTED.fullmatch(name) and one_line(name) == name):
        return name
    return json_text(name)


def is_invisible(char: str) -> bool:
    """Whether a reader cannot see a character, or takes it for an ordinary space."""
    return not char.isprintable() or _HIDDEN.match(char) is not None


def without_invisible(text: str) -> str:
    """`text` without its invisible characters; ends of lines, tabs and ordinary spaces stay."""
    if text.isprintable() and not _HIDDEN.search(text):
        return text
    hidden = {ord(char): None for char in set(text) if is_invisible(char) and char not in "\n\r\t"}
    return text.translate(hidden) if hidden else text


def whole_characters(text: str) -> str:
    """`text` without lone surrogates."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _written(value: Any) -> bytes:
    """`value` as compact JSON in UTF-8, in the form of Python's encoder."""
    try:
        written = orjson.dumps(value, option=_JSON_ALONE)
    except orjson.JSONEncodeError:
        return _of_python(value)
    return _of_python(value) if _holds_float(value) else written


def _of_python(value: Any) -> bytes:
    return _ENCODER.encode(value).encode("utf-8", "surrogatepass")


def _read(written: bytes) -> str:
    return written.decode("utf-8", "surrogatepass")


def _holds_float(value: Any) -> bool:
    """Whether a value, which must not contain itself, contains a float."""
    found = [value]
    for item in found:
        if type(item) is str:
            continue
        if isinstance(item, dict):
            found += item.values()
        elif isinstance(item, (list, tuple)):
            found += item
        elif type(item) is float:
            return True
    return False


def _with_escapes(text: str, among: str) -> str:
    """`text` with its invisible characters escaped; they are all in `among`."""
    for char in set(_HIDDEN.findall(among)):
        text = text.replace(char, _escaped(char))
        among = among.replace(char, "")
    if among.isprintable():
        return text
    escapes = {char: _escaped(char) for char in set(among) if not char.isprintable()}
    return "".join(map(escapes.get, text, text))


def _escaped(char: str) -> str:
    """The JSON escape (RFC 8259 §7): one or two UTF-16 code units in four hexadecimal digits each."""
    return f"\\u{ord(char):04x}" if ord(char) <= 0xFFFF else json.dumps(char)[1:-1]


def between_marks(kind: str, name: str, text: str) -> str:
    """A text between two lines that it cannot contain."""
    mark = secrets.token_hex(4)
    return f"[{kind} {shown_name(name)} {mark}]\n{text.rstrip()}\n[end {mark}]"
