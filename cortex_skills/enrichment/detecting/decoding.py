"""What is written in code within a text: escapes, numbers, base 16, 32, 58, 64 and 85, Morse code, rot47.

Rules kept here:
- only what decodes to a text that can be read is given back; a hash, a key or a picture is none;
- a code is looked for where the text shows it, with patterns that cannot backtrack into each other (RE2), at most
  `_MOST_RUNS` times each; a run that was broken into groups of one length is put together first;
- what asks for less is asked first: a pattern is only looked for where what it is made of is there;
- a sentence whose Latin letters are written one by one as numbers is a disguise whatever it says: nobody writes a fact
  so, and what was cut from its end cannot be judged;
- what is decoded is shorter than what it came from, so decoding again and again ends.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from itertools import accumulate, chain, combinations, groupby, islice
from typing import Any, NamedTuple

import re2

from cortex_skills.enrichment.detecting import bases, numerals
from cortex_skills.enrichment.detecting.escapes import escape, may_be_escaped, unescaped
from cortex_skills.enrichment.detecting.joined import Joined

_MOST_RUNS, _MOST_OF_ALL, _MOST_SAID = 8, 512, 64
_WORDS, _LETTERS = 6, 20
_GROUPS, _LONGEST_GROUP, _FEW_LINES = 3, 80, 4
# Something that is no word of a language, apart, since RE2 is slow with many at once. In a line: escapes and many signs
# without a blank; digits or capitals within a long word. Also over lines: numbers in even groups, dots and strokes,
# words of rot47; groups of one length.
CODED_IN_LINES = (
    "|".join(
        (
            r"\\[xuU0-7]|=[0-9A-F]{2}|%u[0-9A-Fa-f]{4}|\bU\+[0-9A-Fa-f]{4}|\b[cC]hr[bw]?\([0-9]",
            r"\+[A-Z][A-Za-z0-9+/]{2,}-|<~[!-u]{20}|[!-~]{20}[&*$@#^<>{}~][!-~]{10}",
        )
    ),
    "|".join(
        (
            "[A-Za-z+/_-]{3,}[0-9+/=][A-Za-z0-9+/_-]{7,}|[0-9][A-Za-z0-9+/_-]{11,}|[a-z][A-Z][A-Za-z0-9+/_-]{6,}",
            "[A-Z]{2}[a-z][A-Za-z0-9+/_-]{9,}|[A-Z2-7]{16}",
        )
    ),
)
CODED_OVER_LINES = (
    "|".join(
        (
            r"[01]{7,8}[\W_]{0,2}[01]{7,8}|(?:[0-9a-fA-F]{2}[hH]?[ :,.|_/\r\n-]){7}|(?:[0-9]{1,2}[ -]){8}",
            r"(?:[0-9]{2,3}[ ,;.:/\r\n-]{1,2}){6}|(?:0[xXoObB][0-9a-fA-F]{2,8}[\s,;]{1,3}){5}",
            r"(?:[.\-·•–—−]{1,6}[ /|]{1,3}){8}",
            r"[\s'\",](?:E96|J@F|J@FC|2==|:8\?@C6|7@C|E9:D|H:E9) ",
        )
    ),
    "|".join(
        (
            r"(?:\b[A-Za-z0-9+/]{4}[\s.,|:]{1,2}){5}|(?:\b[A-Za-z0-9+/]{5,6}[\s.,|:]{1,2}){6}",
            r"(?:\b[A-Za-z0-9+/]{8}[\s.,|:]{1,2}){3}|(?:\b[A-Za-z0-9+/]{10}[\s.,|:]){3}",
        )
    ),
)
_BASE64_LINES = r"[A-Za-z0-9+/_-]{12,}(?:[\s\"',]{1,4}[A-Za-z0-9+/_-]{8,})+(?:[\s\"',]{1,4}[A-Za-z0-9+/_-]{2,7})?={0,2}"
_BETWEEN = r"[ \t\r\n,;:.|/_+\"'\[\](){}-]"
_NUMBERS = rf"(?:(?:0[xXoObB])?[0-9a-fA-F]{{1,8}}[hH]?{_BETWEEN}{{1,4}}){{7,}}[0-9a-fA-FxXoObB]{{1,10}}"
_GROUP_ENDS = "\"',.;:|"
_ALIKE = re.compile(b"\0\0+")  # lengths that are no others than the next, three at least
_LONGEST_TOLD = 255
_HEXADECIMAL = re.compile("[0-9a-fA-F]*")
_ALPHABET = re.compile("[A-Za-z0-9+/=_-]+")
_LONG_WORD, _SOLID_WORD, _LONG_85 = 12, 16, 20
_ROT47 = {code: 33 + (code + 14) % 94 for code in range(33, 127)}
_ROT47_WORDS = re.compile(
    r"(?<![^\s'\",])"
    r"(?:E96[>C]?|%96|J@FC?|2==|[x:]8?@C6|2\?5|E@|:D|@7|@E96C|ECFDE|H9@|:\?|7@C|E9:D|E92E|H:E9|FD6C|\?@E"
    r"|2\?DH6C|7C@>)"
    r"(?!\S)"
)
# A text without any of these as a piece, and without any of those in it, has no such word.
_ROT47_PIECES = frozenset(
    re.findall(
        r"\S+",
        "E96 E96> E96C %96 J@F J@FC 2== x8@C6 x@C6 8@C6 @C6 2?5 E@ @7 @E96C ECFDE H9@ 7@C E92E E9 FD6C ?@E 2?DH6C 7C@>",
    )
)
_ROT47_PARTS = (":D", ":?")
_PLUS = re.compile(r"\+(?<=[^\W\d_]\+)(?=[^\W\d_])")
_HEADER_WORD = re.compile(r"=\?[\w-]{1,20}\?[qQ]\?|\?=")
_FIELD = re.compile(r"[?&;]\w{1,40}=")


class Decoded(NamedTuple):
    """A text that was written in code; whether that alone is a disguise."""

    text: str
    is_disguise: bool


def decoded(text: str, shows_code: bool) -> Iterator[Decoded]:
    """Every text that is written in code within `text`.

    Args:
        text: any.
        shows_code: whether it shows what `CODED_IN_LINES` or `CODED_OVER_LINES` ask for.

    """
    if shows_code or "%" in text or "&" in text:
        plain, letters = unescaped(text)
        if plain != text:
            yield Decoded(plain, letters >= _LETTERS and _is_sentence(plain))
            if "=?" in text:
                yield Decoded(_HEADER_WORD.sub("\n", plain).replace("_", " "), False)
    if ("%20" in text and "=" in text) or pluses(text) >= _GROUPS:
        yield Decoded(unescaped(_FIELD.sub("\n", text.replace("+", " "))).text, False)
    if not shows_code:
        return
    encoded = text.encode("utf-8", "replace")
    words = _words(encoded)
    for way in _ways_in(encoded, words):
        for run in islice(_runs(way, encoded, words), _MOST_RUNS):
            for plain in _read(way.decode, run):
                yield Decoded(plain, way.spells and _is_sentence(plain))
    pieces = [*_pieces(text), ""]
    for joined in _put_together(pieces):
        for plain in _based(joined):
            yield Decoded(plain, False)
    if _may_be_rot47(text, set(pieces)) and len(_ROT47_WORDS.findall(text)) > 1:
        yield Decoded(text.translate(_ROT47), False)


def pluses(text: str) -> int:
    """How often `+` stands between letters."""
    return len(_PLUS.findall(text)) if "+" in text else 0


def lines_in_code(lines: list[str]) -> set[int]:
    """The numbers of lines; no others hold what `decoded` finds in any of them that follow each other.

    Where blanks and fields of an address are written as `+` and `%20`, it is left to the reader.
    """
    run = Joined(lines)
    apart = [line.split() for line in _parted(run.text).split("\n")]
    pieces = [*chain.from_iterable(apart), ""]
    each = set(pieces)
    # A word in code is within a piece.
    words = list(dict.fromkeys(_words(" ".join([piece for piece in each if len(piece) >= _LONG_WORD]).encode())))
    found = set(run.found(escape())) if may_be_escaped(run.text) else set()
    if "&" in run.text:
        found.update(number for number, line in enumerate(lines) if "&" in line and html.unescape(line) != line)
    # Of base85, only the lines count in which a sign of it stands.
    signed = b"\n".join([line for line in run.encoded.split(b"\n") if bases.has_sign_of_85(line)])
    for way in _ways_in(run.encoded, words):
        if way.is_word:
            found.update(_lines_with(way, dict.fromkeys(_runs(way, signed, words)), lines))
            continue
        for count, (match, first, last) in enumerate(run.matches(way.pattern)):
            if count == _MOST_OF_ALL:
                found.update(range(first, len(lines)))
                break
            if first == last and _read(way.decode, match.group()):
                found.add(first)
            elif first != last:
                found.update(_lines_of_run(way.pattern, way.decode, lines, first, last))
    found.update(_lines_in_groups(pieces, list(accumulate(map(len, apart)))))
    if _may_be_rot47(run.text, each):
        found.update(number for number, line in enumerate(lines) if _ROT47_WORDS.search(line))
    return found


def _may_be_rot47(text: str, pieces: set[str]) -> bool:
    return not _ROT47_PIECES.isdisjoint(pieces) or any(part in text for part in _ROT47_PARTS)


def _lines_with(way: _Way, runs: Iterable[bytes], lines: list[str]) -> Iterator[int]:
    """The numbers of the lines with any of some runs, each within a line, that say something."""
    # Each is looked for in each line.
    said = list(islice((run.decode() for run in runs if _read(way.decode, run)), _MOST_SAID + 1))
    if len(said) > _MOST_SAID:
        yield from range(len(lines))
    elif said:
        yield from (number for number, line in enumerate(lines) if any(run in line for run in said))


def _lines_of_run(
    pattern: Any, decode: Callable[[str], Iterator[str]], lines: list[str], first: int, last: int
) -> set[int]:
    """The numbers of those of the lines of a run that may be code, with or without the others."""
    whole = range(first, last + 1)
    # A run of words is the same without some of its lines; another may be read otherwise.
    if decode not in (bases.base64, bases.hexadecimal) or len(whole) > _FEW_LINES:
        return set(whole)
    found = set[int]()
    for start, end in combinations(range(first, last + 2), 2):
        some = "\n".join(lines[start:end]).encode()
        if any(_read(decode, match.group()) for match in pattern.finditer(some)):
            found.update(range(start, end))
    return found


def _lines_in_groups(pieces: list[str], ends: list[int]) -> Iterator[int]:
    """The numbers of the lines with runs that were broken into groups of one length, and may be code.

    Args:
        pieces: of all lines.
        ends: how many of them there are up to the end of each line.

    """
    for start, end in _groups(pieces):
        owners = [bisect_right(ends, place) for place in range(start, end)]
        # Any of the lines may stand without the others.
        cuts = [start + place for place in range(1, end - start) if owners[place] != owners[place - 1]]
        if len(cuts) >= _FEW_LINES:
            yield from range(owners[0], owners[-1] + 1)
            continue
        for first, last in combinations((start, *cuts, end), 2):
            run = "".join(pieces[first:last])
            rest = _rest(pieces[first], pieces[last]) if last == end else ""
            if last - first >= _GROUPS and (_based(run) or (rest and _based(run + rest))):
                yield from range(owners[first - start], owners[last - 1 - start] + 1)


class _Way(NamedTuple):
    """A way to write in code.

    Attributes:
        pattern: what finds a run of it.
        decode: how it is read.
        spells: whether it spells a text letter by letter.
        is_word: whether `_runs` finds it by its letters, without the pattern.

    """

    pattern: Any
    decode: Callable[[str], Iterator[str]]
    spells: bool = False
    is_word: bool = False


@cache
def _ways() -> tuple[_Way, ...]:
    """Where a code may stand, and how it is read, in the order in which they are tried."""
    return (
        _Way(re2.compile(_NUMBERS), numerals.numbers, spells=True),
        _Way(re2.compile(r"(?:[0-9]{1,2}[ ,;|/\n-]{1,3}){7,}[0-9]{1,2}"), numerals.places),
        _Way(re2.compile(r"[01]{40,}"), numerals.binary, spells=True),
        _Way(re2.compile(r"(?:0[3-9][0-9]|1[0-2][0-9]){8,}"), numerals.decimals, spells=True),
        _Way(re2.compile(r"[0-9a-fA-F]{16,}(?:[\r\n ]{1,2}[0-9a-fA-F]{8,})*"), bases.hexadecimal),
        _Way(re2.compile(r"[A-Z2-7]{16,}|[a-z2-7]{16,}|[0-9A-V]{16,}"), bases.base32),
        _Way(None, bases.base64, is_word=True),
        _Way(re2.compile(_BASE64_LINES), bases.base64),
        _Way(re2.compile(r"[1-9A-HJ-NP-Za-km-z]{20,}"), bases.base58),
        _Way(None, bases.base85, is_word=True),
        _Way(re2.compile(r"(?:[.\-·•–—−]{1,6}[ /|\n]{1,3}){7,}[.\-·•–—−]{1,6}"), numerals.morse),
    )


_IN_ROWS = (numerals.numbers, numerals.places, numerals.morse)
_SOLID = (numerals.binary, numerals.decimals, bases.hexadecimal, bases.base32, bases.base58)


def _ways_in(encoded: bytes, words: list[bytes]) -> Iterator[_Way]:
    """Those of the ways in which something may be written in a text with these long words."""
    is_there: dict[Callable[[str], Iterator[str]], bool] = {}
    is_there[bases.base64] = bool(words)
    is_there[bases.base85] = bases.has_sign_of_85(encoded)
    is_there |= dict.fromkeys(_IN_ROWS, _row().search(encoded.translate(_AS_ROWS)) is not None)
    solid = b" ".join([word for word in words if len(word) >= _SOLID_WORD])
    is_there |= dict.fromkeys(_SOLID, bool(solid) and _solid().search(solid) is not None)
    return (way for way in _ways() if is_there[way.decode])


def _runs(way: _Way, encoded: bytes, words: list[bytes]) -> Iterator[bytes]:
    """What is found of a way in a text with these long words."""
    if not way.is_word:
        return (match.group() for match in way.pattern.finditer(encoded))
    if way.decode is bases.base64:
        return iter(words)
    return (run for run in encoded.translate(_AS_BASE85).split() if len(run) >= _LONG_85)


def _blanked(letters: str) -> bytes:
    """A table that makes a blank of all bytes but some."""
    return bytes(code if chr(code) in letters else 32 for code in range(256))


_AS_BASE64 = _blanked("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-")
_AS_BASE85 = _blanked("".join(map(chr, range(33, 127))))


def _words(encoded: bytes) -> list[bytes]:
    """The runs of letters of base64, but for those that are shorter than what is read."""
    return [word for word in encoded.translate(_AS_BASE64).split() if len(word) >= _LONG_WORD]


def _as_rows() -> bytes:
    """A table of what numbers and strokes in rows are made of: digits, what stands between them, strokes, all else."""
    kinds = dict.fromkeys(b"0123456789abcdefABCDEFxXoOhH", b"0") | dict.fromkeys(b"\t\r,;:_+\"'[](){}", b",")
    kinds |= dict.fromkeys(b" /|\n", b" ") | dict.fromkeys(b".-", b"-") | dict.fromkeys("·•–—−".encode(), b"~")
    return b"".join(kinds.get(code, b"x") for code in range(256))


_AS_ROWS = _as_rows()


@cache
def _row() -> Any:
    """Eight numbers or strokes in a row, as `_AS_ROWS` tells them: no pattern of `_IN_ROWS` asks for less."""
    return re2.compile("(?:0+[ ,-]+){7}0|(?:[~-]+ +){7}[~-]")


@cache
def _solid() -> Any:
    """What any of the patterns of `_SOLID` begins with, as one."""
    return re2.compile("[0-9a-fA-F]{16}|[A-Z2-7]{16}|[a-z2-7]{16}|[0-9A-V]{16}|[1-9A-HJ-NP-Za-km-z]{20}")


@lru_cache(maxsize=1024)
def _read(decode: Callable[[str], Iterator[str]], run: bytes) -> tuple[str, ...]:
    """What a run says; it stands in a text, and in what that text is read together with."""
    return tuple(decode(run.decode("utf-8", "replace")))


def _is_sentence(text: str) -> bool:
    """Whether a text is a sentence, by its words in Latin letters."""
    words = [word for word in text.split() if word.isascii() and word.strip(".,:;!?'\"").isalpha()]
    return len(words) >= _WORDS and sum(map(len, words)) >= _LETTERS


@lru_cache(maxsize=1024)
def _based(run: str) -> tuple[str, ...]:
    """What a run says that was put together, in whatever base it may be."""
    bare = run.rstrip("=")
    if _HEXADECIMAL.fullmatch(bare):
        plain = bases.hexadecimal(bare)
    elif bare.isupper() or (bare.islower() and not bare.isalpha()):
        plain = bases.base32(bare)
    else:
        plain = iter(())
    return *plain, *bases.base64(run)


def _put_together(pieces: list[str]) -> Iterator[str]:
    """Runs that were broken into groups of one length, of which only the last may be shorter."""
    for start, end in _groups(pieces):
        yield "".join(pieces[start:end]) + _rest(pieces[start], pieces[end])


def _pieces(text: str) -> list[str]:
    return _parted(text).split()


def _parted(text: str) -> str:
    for end in _GROUP_ENDS:
        text = text.replace(end, " ")
    return text


def _rest(group: str, piece: str) -> str:
    """What of the piece behind some groups belongs to them."""
    return piece if len(piece) < len(group) and _is_of_alphabet(piece) else ""


def _groups(pieces: list[str]) -> Iterator[tuple[int, int]]:
    """The beginning and the end of each row of groups of one length; the last of all pieces is empty."""
    try:
        sizes = bytes(map(len, pieces))
    except ValueError:
        # Those that are longer than any group may be taken to be alike.
        sizes = bytes([min(len(piece), _LONGEST_TOLD) for piece in pieces])
    others = int.from_bytes(sizes[:-1]) ^ int.from_bytes(sizes[1:])
    for alike in _ALIKE.finditer(others.to_bytes(len(sizes) - 1)):
        start, behind = alike.start(), alike.end() + 1
        if 1 < sizes[start] <= _LONGEST_GROUP:
            for fits, group in groupby(pieces[start:behind], _is_of_alphabet):
                end = start + sum(1 for _ in group)
                if fits and end - start >= _GROUPS:
                    yield start, end
                start = end


def _is_of_alphabet(piece: str) -> bool:
    return _ALPHABET.fullmatch(piece) is not None
