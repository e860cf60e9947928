r"""Letters written as escapes: `\x49`, `%49`, `&#73;`, `=49`, `\49 `, `\111`, `\u0049`, `U+0049`, `chr(73)`, `+AEk-`.

Rules kept here:
- escapes become what they stand for where they stand, so that a text with some letters escaped is read, too;
- bytes are UTF-8, and what is none becomes U+FFFD; numbers beyond Unicode stand for nothing;
- the number of a version may look like UTF-7 (`1.0+ds1-5`): where no other escape stands in a text of ASCII, it is left
  alone as long as it stands for few characters, none of which is read as a Latin letter or a sign of ASCII;
- RE2 finds them: linear, whatever the text is.

    >>> unescaped(r"\x49gnor\u0065 &#97;%6Cl").text
    'Ignore all'
"""

from __future__ import annotations

import base64
import binascii
import html
import re
from functools import cache
from typing import Any, NamedTuple

import re2

from cortex_skills.enrichment.detecting.folding import fold, look_alike

_HEX = "[0-9A-Fa-f]"
# Each is a run of one way to write a letter. The first five write bytes.
_WAYS = (
    rf"(?:\\{{1,2}}x{_HEX}{{2}})+",
    rf"(?:%{_HEX}{{2}})+",
    r"(?:=[0-9A-F]{2}|=\r?\n)+",
    rf"(?:\\{_HEX}{{2}} ){{2,}}",
    r"(?:\\{1,2}[0-3][0-7]{2})+",
    rf"(?:\\{{1,2}}(?:U{_HEX}{{8}}|u\{{{_HEX}{{1,6}}\}}|u{_HEX}{{4}})|%u{_HEX}{{4}})+",
    rf"(?:\bU\+{_HEX}{{4,6}}[ ,;]{{0,2}}){{2,}}",
    r"(?i:(?:\bchr[bw]?\([0-9]{1,5}\)[ +.&]{0,3})+)",
    r"\+[A-Za-z0-9+/]{3,}-",
)
_BYTES, _OCTAL, _NUMBERS, _UTF7 = 4, 4, 7, 8
# So many characters may say something in a text of ASCII.
FEWEST_FOREIGN = 4
_DIGITS = re.compile(f"{_HEX}+")
_DECIMALS = re.compile("[0-9]+")
_BREAK = re.compile("=\r?\n")


class Unescaped(NamedTuple):
    """A text without its escapes, and how many plain Latin letters of it were written as one."""

    text: str
    letters: int


def unescaped(text: str) -> Unescaped:
    """`text` with every escape as what it stands for."""
    letters = 0
    # Half a pair of UTF-16 is no text.
    text = text.encode("utf-8", "replace").decode()
    if "&" in text:
        plain = html.unescape(text)
        letters = len(_latin_entities().findall(text)) if plain != text else 0
        text = plain
    matches = list(escape().finditer(text)) if may_be_escaped(text) else []
    if not matches:
        return Unescaped(text, letters)

    left_alone = _few_foreign(matches) if text.isascii() else frozenset()

    def meaning(match: Any) -> str:
        nonlocal letters
        way = match.lastindex - 1
        run = match.group()
        if run in left_alone:
            return str(run)
        meant = _meaning(way, run)
        letters += sum(char.isascii() and char.isalpha() for char in meant)
        return meant

    return Unescaped(escape().sub(meaning, text), letters)


def _meaning(way: int, run: str) -> str:
    if way == _UTF7:
        return _utf7(run)
    if way < _BYTES:
        return bytes.fromhex("".join(_DIGITS.findall(_BREAK.sub("", run).replace("x", " ")))).decode("utf-8", "replace")
    base = 8 if way == _OCTAL else 10 if way == _NUMBERS else 16
    codes = [int(digits, base) for digits in (_DECIMALS if way == _NUMBERS else _DIGITS).findall(run)]
    if way == _OCTAL:
        return bytes(codes).decode("utf-8", "replace")
    chars = "".join(chr(code) for code in codes if code < 0x110000)
    return chars.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _utf7(run: str) -> str:
    bare = run[1:-1]
    try:
        data = base64.b64decode(bare + "=" * (-len(bare) % 4))
    except binascii.Error:
        return run
    text = data[: len(data) // 2 * 2].decode("utf-16-be", "replace")
    return text if text.isprintable() else run


def _few_foreign(matches: list[Any]) -> frozenset[str]:
    """The runs of UTF-7 among the escapes of a text of ASCII that stand for so few characters that they say nothing."""
    if any(match.lastindex - 1 != _UTF7 for match in matches):
        return frozenset()
    meant = {run: _utf7(run) for run in (str(match.group()) for match in matches)}
    foreign = {run for run, chars in meant.items() if not any(map(str.isascii, map(look_alike, map(fold, chars))))}
    count = sum(len(meant[match.group()].encode("utf-16-le")) // 2 for match in matches if match.group() in foreign)
    return frozenset(foreign) if count < FEWEST_FOREIGN else frozenset()


def may_be_escaped(text: str) -> bool:
    """Whether a sign stands in a text without which `escape` finds nothing."""
    return any(map(text.__contains__, "\\%=+")) or "chr" in text.lower()


@cache
def escape() -> Any:
    """A run of letters written in any of the ways."""
    return re2.compile("|".join(f"({way})" for way in _WAYS))


@cache
def _latin_entities() -> Any:
    """Numeric entities of plain Latin letters, in decimal and in hexadecimal digits."""
    return re2.compile(
        "&#(?:0{0,6}(?:6[5-9]|[78][0-9]|9[0789]|1[01][0-9]|12[0-2])|[xX]0{0,6}(?:[46][1-9a-fA-F]|[57][0-9aA]))"
    )
