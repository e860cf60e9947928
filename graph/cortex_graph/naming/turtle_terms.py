"""Terms as they are written in Turtle and SPARQL, with prefixed names, and read back.

Rules kept here:
- what is written here is the same term when it is read here, and the same value in any parser of Turtle that knows the
  prefixes;
- a name has a prefix if its local part needs no escapes; else it is an IRI in angle brackets. The names of `Names`
  encode `%`, so that a local part with it has none of their prefixes;
- a string is in quotes, with its language or datatype; an integer, decimal, double or boolean is written without quotes
  where Turtle reads it so (Turtle §2.5.2, §2.5.3).

    >>> terms = TurtleTerms({"ex": "http://example.org/"})
    >>> terms.written(NamedNode("http://example.org/a")), terms.written(Literal("Faktura", language="sv"))
    ('ex:a', '"Faktura"@sv')
    >>> terms.read('"12.50"^^ex:price') == Literal("12.50", datatype=NamedNode("http://example.org/price"))
    True
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from cortex_graph.naming.names import WELL_KNOWN_VOCABULARIES

_XSD = WELL_KNOWN_VOCABULARIES["xsd"]
_FORMS = (
    ("integer", re.compile(r"[+-]?[0-9]+")),
    ("decimal", re.compile(r"[+-]?[0-9]*\.[0-9]+")),
    ("double", re.compile(r"[+-]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+)[eE][+-]?[0-9]+")),
    ("boolean", re.compile(r"true|false")),
)
_BARE = {f"{_XSD}{name}": form for name, form in _FORMS}
_PLAIN_DOUBLE = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?")
# PN_LOCAL of SPARQL 1.1 §19.8 without backslashes and joiners, which are invisible.
_FIRST = (
    "A-Za-z0-9_:\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u2070-\u218f\u2c00-\u2fef\u3001-\ud7ff"
    "\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_INNER = f"{_FIRST}.\u00b7\u0300-\u036f\u203f-\u2040\\-"
_LOCAL = re.compile(f"(?:[{_FIRST}]|%[0-9A-Fa-f]{{2}})(?:[{_INNER}]|%[0-9A-Fa-f]{{2}})*(?<!\\.)")
_QUOTED = re.compile(
    r'("(?:[^"\\\n\r]|\\.)*")(?:@([A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*)|\^\^(<[^<>"{}|^`\\\s]*>|[^\s<>"]+))?'
)
_IRI = re.compile(r'<([A-Za-z][A-Za-z0-9+.-]*:[^<>"{}|^`\\\x00-\x20]*)>')
_ESCAPE = re.compile(r"\\u([0-9A-Fa-f]{4})")
_NAME = re.compile(r"([A-Za-z][\w.-]*):(\S*)", re.ASCII)

Term = NamedNode | Literal


def json_string(text: str) -> str:
    """Return a text in quotes, with the escapes of JSON, which Turtle has too."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _unescaped(text: str) -> str:
    """Return an IRI with its codepoint escapes (Turtle §6.4) decoded; pairs of surrogates as in JSON."""
    try:
        whole = _ESCAPE.sub(lambda found: chr(int(found[1], 16)), text)
        return whole.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    except UnicodeDecodeError:
        return text


class TurtleTerms:
    """Writes terms with prefixes, and reads them.

    Args:
        prefixes: prefix → start of the IRIs.
        encoded: those of them whose names are encoded (`Names`).
        quoted: returns a text in quotes.
    """

    def __init__(
        self,
        prefixes: Mapping[str, str],
        encoded: Collection[str] = (),
        quoted: Callable[[str], str] = json_string,
    ) -> None:
        self._prefixes = prefixes
        self._encoded = encoded
        self._quoted = quoted
        self._longest_first = sorted(prefixes.items(), key=lambda item: -len(item[1]))
        self.used: set[str] = set()

    def name(self, iri: str) -> str | None:
        """Return the prefixed name of an IRI; None when it has none."""
        for prefix, start in self._longest_first:
            if iri.startswith(start) and _LOCAL.fullmatch(iri, len(start)) and not self._encodes(prefix, iri, start):
                self.used.add(prefix)
                return f"{prefix}:{iri[len(start) :]}"
        return None

    def _encodes(self, prefix: str, iri: str, start: str) -> bool:
        return prefix in self._encoded and "%" in iri[len(start) :]

    def node(self, iri: str) -> str:
        """Return an IRI as it is written."""
        return self.name(iri) or f"<{iri}>"

    def written(self, term: NamedNode | Literal | BlankNode | Triple) -> str:
        """Return a term as it is written."""
        if isinstance(term, NamedNode):
            return self.node(term.value)
        if not isinstance(term, Literal):
            return str(term)
        text, datatype = term.value, term.datatype.value
        if term.language:
            direction = f"--{term.direction.value}" if term.direction else ""
            return f"{self._quoted(text)}@{term.language}{direction}"
        if datatype == f"{_XSD}string":
            return self._quoted(text)
        form = _BARE.get(datatype)
        if form is not None and form.fullmatch(text):
            return text
        if datatype == f"{_XSD}double" and _PLAIN_DOUBLE.fullmatch(text) and Literal(float(text)).value == text:
            return f"{text}e0"
        return f"{self._quoted(text)}^^{self.node(datatype)}"

    def read(self, text: str) -> Term | None:
        """Return the term that a text writes; None when it writes none."""
        for datatype, form in _BARE.items():
            if form.fullmatch(text):
                bare = Literal(text, datatype=NamedNode(datatype))
                if datatype == f"{_XSD}double" and text.endswith("e0") and _PLAIN_DOUBLE.fullmatch(text[:-2]):
                    double = Literal(float(text[:-2]))
                    return double if double.value == text[:-2] else bare
                return bare
        if text.startswith('"'):
            return self._literal(text)
        return self.iri(text)

    def iri(self, text: str) -> NamedNode | None:
        """Return the IRI that a text writes, in angle brackets or with a prefix; None when it writes none."""
        found = _IRI.fullmatch(_unescaped(text) if "\\" in text and text.startswith("<") else text)
        name = None if found else _NAME.fullmatch(text)
        if name is not None and name[1] in self._prefixes and (not name[2] or _LOCAL.fullmatch(name[2])):
            return NamedNode(self._prefixes[name[1]] + name[2])
        if found is None:
            return None
        try:
            return NamedNode(found[1])
        except ValueError:
            return None

    def _literal(self, text: str) -> Literal | None:
        found = _QUOTED.fullmatch(text)
        if found is None:
            return None
        try:
            value = json.loads(found[1], strict=False)
            if found[2]:
                return Literal(value, language=found[2])
            if found[3]:
                datatype = self.iri(found[3])
                return None if datatype is None else Literal(value, datatype=datatype)
            return Literal(value)
        except ValueError:
            return None
