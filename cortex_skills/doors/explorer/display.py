"""Terms and texts as a person reads them: the one border between data and the screen.

Rules kept here:
- invisible characters (control, zero-width, direction, tag and other characters of `safe_io.display`) become marked
  tokens with their code points; of a run of combining marks four are kept, and a token gives the number of the others;
- the length is bounded: text of any length is shown within `most` characters, a token counting as `_TOKEN` of them;
  `length` is that of the whole text;
- a name has its label, if the page looks labels up (`name_labels.py`) and it is not of a standard vocabulary: what
  such a name means is known, and a graph must not call `rdf:type` otherwise;
- a long name is shown without its middle, since names differ at their ends, and with its length;
- a name is a link into the explorer, and never to elsewhere; an external `https:` IRI has a second link with its host
  in ASCII (IDNA); an address that is longer than `_MAX_HREF` is no link;
- IRIs of standard vocabularies have their usual prefixes, which no name of the namespace has;
- a name that mixes scripts, or reads like another one, has a warning (`look_alike_names.py`);
- the results are plain strings, which the templates escape; nothing here is markup.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import groupby
from typing import Literal as Choice
from urllib.parse import quote, urlsplit

from pyoxigraph import Literal, NamedNode

from cortex_graph.namespace.labels import OF_LABEL
from cortex_graph.naming.names import WELL_KNOWN_VOCABULARIES, Names
from cortex_graph.naming.vocabulary import CORTEX
from cortex_skills.doors.explorer.addresses import Addresses
from cortex_skills.doors.explorer.look_alike_names import warning_of
from cortex_skills.doors.explorer.name_labels import NameLabels
from cortex_skills.safe_io.display import is_invisible, whole_characters

IN_TABLE = 300  # characters of a literal
OF_NAME = 64
OF_HEADING = 200
LINES = 20  # of a literal on its own page
OF_LINE = 400  # characters of such a line, on average

_TOKEN = 8
_MARKS = 4
_CODES = 3  # code points that a token names
_MAX_HREF = 600
_ASCII = "".join(map(chr, range(0x21, 0x7F)))  # an IRI becomes an URI by encoding all other characters (RFC 3987, §3.1)
_LANGUAGE = re.compile(r"[a-z]{2,8}(?:-[a-z0-9]{1,8}){0,4}", re.IGNORECASE)
_STRINGS = frozenset(
    {
        f"{WELL_KNOWN_VOCABULARIES['xsd']}string",
        f"{WELL_KNOWN_VOCABULARIES['rdf']}langString",
        f"{WELL_KNOWN_VOCABULARIES['rdf']}dirLangString",
    }
)
# What a text shows of its datatype: these forms are of no other one.
_OF_PLAIN = 40  # characters
_PLAIN = {
    f"{WELL_KNOWN_VOCABULARIES['xsd']}{name}": re.compile(form, re.ASCII)
    for name, form in (
        ("integer", r"[+-]?\d+"),
        ("decimal", r"[+-]?\d*\.\d+"),
        ("boolean", "true|false"),
        ("date", r"\d{4}-\d\d-\d\d"),
        ("dateTime", r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?"),
    )
}
_STANDARD = {**WELL_KNOWN_VOCABULARIES, "cortex": CORTEX}
_STANDARD_IRIS = tuple(_STANDARD.values())
_LOCAL = re.compile(r"\w[\w.-]*", re.ASCII)
_KEPT_IN_LINES = frozenset("\n\t")
_SIGNS = {"\n": "↵", "\t": "⇥"}  # in place of their codes, in a text of one line


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a shown text; a token is shown for what cannot be seen, and a hit was searched for."""

    text: str
    is_token: bool = False
    is_hit: bool = False


@dataclass(frozen=True, slots=True)
class ShownText:
    """A text without invisible characters.

    Attributes:
        pieces: its beginning.
        length: the number of characters of the whole text.
        is_clipped: whether the pieces are not all of it.
        is_cut: whether its middle is left out.
    """

    pieces: tuple[Piece, ...]
    length: int
    is_clipped: bool = False
    is_cut: bool = False

    @property
    def only(self) -> str:
        """The text if it is nothing but visible characters and whole, else empty: templates need no loop then."""
        is_whole = not (self.is_clipped or self.is_cut)
        is_plain = len(self.pieces) == 1 and is_whole and not (self.pieces[0].is_token or self.pieces[0].is_hit)
        return self.pieces[0].text if is_plain else ""

    @property
    def plain(self) -> str:
        """The pieces as one string: for pictures and for what is read aloud."""
        if only := self.only:
            return only
        text = "".join(f"[{piece.text}]" if piece.is_token else piece.text for piece in self.pieces)
        return f"{text}…" if self.is_clipped else text


@dataclass(frozen=True, slots=True)
class Outside:
    """A link to another site: its address, and its host for the reader."""

    href: str
    host: str


@dataclass(frozen=True, slots=True)
class ShownName:
    """A name.

    Attributes:
        prefix, local: the parts of the name; the prefix is shown less prominently.
        name: as the interfaces take it.
        href: its page; None for a name that is too long for an address.
        outside: the link to another site, if it is an external `https:` IRI.
        warning: why the name may be mistaken for another one, a phrase; None if nothing suggests that.
        is_own: whether it is a name of the namespace.
        is_simple: whether it is shown as a link with two parts and nothing else: in ASCII, whole, and without warning.
        iri: what the name stands for.
        labels: of the page; None if it shows none.
        marks: marks in its label what was searched for; None for nothing.
    """

    prefix: ShownText
    local: ShownText
    name: str
    href: str | None
    outside: Outside | None = None
    warning: str | None = None
    is_own: bool = False
    is_simple: bool = False
    is_name: bool = True
    iri: str = ""
    labels: NameLabels | None = field(default=None, compare=False, repr=False)
    marks: Callable[[ShownText], ShownText] | None = field(default=None, compare=False, repr=False)

    @property
    def plain(self) -> str:
        """The whole name as one string."""
        return self.prefix.plain + self.local.plain

    @property
    def label(self) -> ShownText | None:
        """What people call it; None if it has no label."""
        label = None if self.labels is None else self.labels.of(self.iri)
        shown = None if label is None else shown_text(label, OF_LABEL + 1)
        return shown if shown is None or self.marks is None else self.marks(shown)

    @property
    def is_clear(self) -> bool:
        """Whether the label can be shown without the name."""
        return self.warning is None and self.labels is not None and self.labels.is_clear(self.iri)

    @property
    def called(self) -> str:
        """The label if it can be shown without the name, else the name: for pictures."""
        label = self.label
        return label.plain if label is not None and self.is_clear else self.plain


@dataclass(frozen=True, slots=True)
class ShownLiteral:
    """A literal.

    Attributes:
        text: its lexical form.
        language: its language tag; None without one.
        lang: the language tag, if it is well-formed.
        direction: `ltr`, `rtl` or, if the literal has none, `auto`.
        datatype: the name of its datatype; None where the text shows it: a number, a boolean, a date or a time, or a
            string that looks like none of them.
    """

    text: ShownText
    language: ShownText | None = None
    lang: str | None = None
    direction: Choice["ltr", "rtl", "auto"] = "auto"
    datatype: ShownText | None = None
    is_name: bool = False

    @property
    def plain(self) -> str:
        """The text as one string."""
        return self.text.plain

    called = plain


ShownTerm = ShownName | ShownLiteral


def shown_text(text: str, most: int = IN_TABLE, *, lines: int = 1) -> ShownText:
    """A text without invisible characters.

    Args:
        text: any text.
        most: the number of characters that are shown.
        lines: of how many lines; line feeds and tabs are tokens when it is 1.
    """
    read = whole_characters(text[: 64 * most])
    if lines == 1 and len(text) <= most and read.isascii() and read.isprintable():
        return ShownText((Piece(read),) if read else (), len(text))
    kept = _KEPT_IN_LINES if lines > 1 else frozenset()
    pieces: list[Piece] = []
    left = most
    for kind, run in groupby(read, key=lambda char: _kind(char, kept)):
        chars = "".join(run)
        if kind == "text":
            part, lines = _within(chars, left, lines)
        else:
            part = chars[:_MARKS] if kind == "mark" else ""
        pieces.append(Piece(part))
        left -= len(part)
        if kind != "text" and len(part) < len(chars) and left >= _TOKEN:
            hidden = f"+{len(chars) - _MARKS} marks" if kind == "mark" else _codes(chars)
            pieces.append(Piece(hidden, is_token=True))
            left -= _TOKEN
        elif len(part) < len(chars) or left < 0:
            return ShownText(_joined(pieces), len(text), is_clipped=True)
    return ShownText(_joined(pieces), len(text), is_clipped=len(text) > 64 * most)


def shown_name(name: str, most: int = OF_NAME) -> ShownText:
    """A name without invisible characters, and without its middle if it is long.

    Args:
        name: any text.
        most: the number of characters that are shown, beside the `…` in the middle.
    """
    if len(name) <= most:
        return shown_text(name, most)
    end = most // 2
    first, last = shown_text(name[: most - end], most - end), shown_text(name[-end:], end)
    return ShownText(_joined([*first.pieces, Piece("…"), *last.pieces]), len(name), last.is_clipped, is_cut=True)


def _within(chars: str, most: int, lines: int) -> tuple[str, int]:
    """The beginning of a text with at most so many characters and lines, and the lines that are left."""
    part = chars[:most]
    if lines > 1:
        ends = part.split("\n", lines)
        if len(ends) > lines:
            return "\n".join(ends[:lines]), 0
        lines -= len(ends) - 1
    return part, lines


def _kind(char: str, kept: frozenset[str]) -> str:
    if char in kept:
        return "text"
    if is_invisible(char):
        return "hidden"
    return "mark" if not char.isascii() and unicodedata.category(char) in ("Mn", "Me") else "text"


def _codes(chars: str) -> str:
    codes = [_SIGNS.get(char) or f"U+{ord(char):04X}" for char in chars[:_CODES]]
    if len(set(chars)) == 1:
        codes = codes[:1] if len(chars) == 1 else [f"{codes[0]} ×{len(chars)}"]
    elif len(chars) > _CODES:
        codes.append(f"+{len(chars) - _CODES}")
    return " ".join(codes)


def _joined(pieces: list[Piece]) -> tuple[Piece, ...]:
    """The pieces, with neighbouring texts joined; a mark stays with the letter before it."""
    joined: list[Piece] = []
    for piece in pieces:
        if joined and not piece.is_token and not joined[-1].is_token:
            joined[-1] = Piece(joined[-1].text + piece.text)
        elif piece.text:
            joined.append(piece)
    return tuple(joined)


class Display:
    """Shows the terms of one namespace.

    Args:
        names: of the namespace.
        addresses: of its pages.
        labels: of the page that shows the terms; None for a page without labels.

    Attributes:
        addresses: of the pages that names link to.
    """

    def __init__(self, names: Names, addresses: Addresses, labels: NameLabels | None = None) -> None:
        self._names = names
        self.labels = labels
        self.addresses = addresses
        self._shown: dict[tuple[str, int], ShownName] = {}  # a page shows most names several times

    def term(self, term: object, most: int = IN_TABLE, *, lines: int = 1) -> ShownTerm:
        """A term; a blank node or a triple is shown as a text without a link."""
        if isinstance(term, Literal):
            return self.literal(term, most, lines=lines)
        if isinstance(term, NamedNode):
            return self.iri(term.value, min(most, OF_NAME))
        return ShownLiteral(shown_text(str(term), most))

    def terms(self, terms: Iterable[object]) -> list[ShownTerm]:
        """Some terms: before the label of one is needed, so that the labels of all are looked up together."""
        return [self.term(term) for term in terms]

    def iri(self, iri: str, most: int = OF_NAME) -> ShownName:
        """An IRI by its name in this namespace."""
        known = self._shown.get((iri, most))
        if known is None:
            known = self._shown[iri, most] = self._of_iri(iri, most)
        return known

    def _of_iri(self, iri: str, most: int) -> ShownName:
        name, is_own = self._names.name(iri), iri.startswith(f"{self._names.graph.value}:")
        short = name if is_own else self._short(name, iri)
        cut = _prefix_length(short, iri)
        href = self.addresses.resource(name)
        prefix, local = shown_name(short[:cut], most), shown_name(short[cut:], most)
        has_href, outside, warning = len(href) <= _MAX_HREF, None if is_own else _outside(iri), warning_of(name)
        is_whole = prefix.only == short[:cut] and local.only == short[cut:] and short.isascii()
        is_simple = is_whole and has_href and outside is None and warning is None
        labels = None if iri.startswith(_STANDARD_IRIS) else self.labels
        if labels is not None:
            labels.add(iri, short, short[cut:])
        shown_href = href if has_href else None
        return ShownName(prefix, local, name, shown_href, outside, warning, is_own, is_simple, iri=iri, labels=labels)

    def _short(self, name: str, iri: str) -> str:
        """The name of an IRI, with the prefix of a standard vocabulary if it has one."""
        for prefix, start in _STANDARD.items():
            if iri.startswith(start) and prefix != self._names.namespace and _LOCAL.fullmatch(iri, len(start)):
                return f"{prefix}:{iri[len(start) :]}"
        return name

    def name(self, name: str, most: int = OF_NAME) -> ShownName:
        """A name of this namespace.

        Raises:
            InvalidArguments: it is not a name.
        """
        return self.iri(self._names.node(name).value, most)

    def literal(self, literal: Literal, most: int = IN_TABLE, *, lines: int = 1) -> ShownLiteral:
        """A literal."""
        language, datatype = literal.language, literal.datatype.value
        direction = None if literal.direction is None else literal.direction.value
        return ShownLiteral(
            shown_text(literal.value, most, lines=lines),
            None if language is None else shown_name(language),
            language if language is not None and _LANGUAGE.fullmatch(language) else None,
            "ltr" if direction == "ltr" else "rtl" if direction == "rtl" else "auto",
            None if _is_plain(literal) else shown_name(self._short(self._names.name(datatype), datatype)),
        )


def _is_plain(literal: Literal) -> bool:
    """Whether the text of a literal shows its datatype."""
    datatype, text = literal.datatype.value, literal.value
    usual = next((name for name, form in _PLAIN.items() if len(text) <= _OF_PLAIN and form.fullmatch(text)), None)
    return datatype == usual if usual is not None else datatype in _STRINGS


def _prefix_length(name: str, iri: str) -> int:
    """How many characters of a name are its prefix: up to the colon, or up to the last segment of an absolute IRI."""
    if name == iri:
        end = iri.rstrip("/#")
        return max(end.rfind("/"), end.rfind("#"), end.rfind(":")) + 1
    return 0 if name.startswith("<") else name.find(":") + 1


def _outside(iri: str) -> Outside | None:
    if not iri[:8].lower().startswith("https://") or len(iri) > _MAX_HREF:
        return None
    try:
        host = urlsplit(iri).hostname
        shown = (host or "").encode("idna").decode("ascii")
    except ValueError:
        return None
    return Outside(quote(iri, safe=_ASCII), shown) if shown else None
