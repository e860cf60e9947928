"""Text that can be shown to a model or a person: nothing hidden, and in JSON no tag of its own.

Rules kept here:
- `<`, `>` and `&` never stand in JSON as themselves, so no content closes a tag, opens one, or is an entity;
- what a reader cannot see (control, format, bidirectional, tag and private-use characters, line separators, blanks that
  are not a space, fillers, variation selectors) is written as an escape;
- a lone surrogate is no character (RFC 8259 §8.2): it becomes U+FFFD, and two that make a pair become their character.
"""

from __future__ import annotations

import json
import re
from typing import Any

import orjson

# Default-ignorable and blank characters that Unicode nevertheless calls printable, and of the others those that texts
# of many languages hold.
_HIDDEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef"
    "\u00a0\u00ad\u200b-\u200f\u2028-\u202f\u2060\u3000\ufeff]"
)
PLAIN = r"!#-%'-;=?-\[\]-~"  # what JSON writes as it is, and no blank or markup: most of all names and values
_PLAIN = re.compile(f"[ {PLAIN}]*")
_PLAIN_NAME = re.compile(f"[{PLAIN}]+")
_UNQUOTED = re.compile(r"[^\s\"<>&\\]+")
# What JSON writes as it is of ASCII, and is not to be shown so.
_UNSAFE = tuple((char.encode(), f"\\u{ord(char):04x}".encode()) for char in "<>&\x7f")
_ASCII = bytes(range(0x80))
# For what orjson does not write, or otherwise than Python: floats, integers of more than 64 bits, lone surrogates.
_JSON_ALONE = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_SUBCLASS
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def json_text(value: Any) -> str:
    """`value` as compact JSON with everything escaped that is not plainly visible; `value` holds JSON types only."""
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
    """`text` on one line, with what is hidden in it escaped; markup stays as it is."""
    text = whole_characters(text)
    return text if text.isascii() and text.isprintable() else _with_escapes(text, text)


def shown_name(name: str) -> str:
    """A name; as a JSON string when it holds blanks, quotes, markup or what cannot be seen."""
    if _PLAIN_NAME.fullmatch(name) or (_UNQUOTED.fullmatch(name) and one_line(name) == name):
        return name
    return json_text(name)


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
    """`value` as compact JSON in UTF-8, as Python's encoder writes it."""
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
    """Whether a float stands in a value, which does not contain itself."""
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
    """`text` with what is hidden in it escaped, all of which is among some characters."""
    for char in set(_HIDDEN.findall(among)):
        text = text.replace(char, _escaped(char))
        among = among.replace(char, "")
    if among.isprintable():
        return text
    escapes = {char: _escaped(char) for char in set(among) if not char.isprintable()}
    return "".join(map(escapes.get, text, text))


def _escaped(char: str) -> str:
    """The escape of JSON (RFC 8259 §7): a code unit of UTF-16 in four hexadecimal digits, or two of them."""
    return f"\\u{ord(char):04x}" if ord(char) <= 0xFFFF else json.dumps(char)[1:-1]
