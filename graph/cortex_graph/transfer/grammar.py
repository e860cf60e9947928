"""Recognises lines that are certainly triples, with one regular expression for a whole block.

Rules kept here:
- it accepts a subset of N-Triples (RDF 1.1 N-Triples §7): lines as serialisers write them, with one space between the
  terms, of IRIs and literals. Other lines may be triples, too, and are parsed;
- an IRI is absolute and ASCII, its host a plain name, its `%` followed by two hexadecimal digits (RFC 3987 §2.2);
- a literal is any text with one-letter escapes, with a language such as `en` or `en-GB`, or an XSD datatype;
- the expression never backtracks, so its time is linear in the length of a block: a fifth of the parser's time.
"""

from __future__ import annotations

import re
from functools import lru_cache

from cortex_graph.naming.names import WELL_KNOWN_VOCABULARIES

XSD = WELL_KNOWN_VOCABULARIES["xsd"]
_MAX_BLOCK = 8 << 20  # the engine refuses terms of twice that length
_CHARS = r"A-Za-z0-9._~!$&'()*+,;=:@/\-"


def _some(characters: str) -> str:
    return rf"[{characters}]*+(?:%[0-9A-Fa-f]{{2}}[{characters}]*+)*+"


_HOST = r"//[A-Za-z0-9._~\-]*+(?=[/?#>])|(?!//)"
_IRI = (
    rf"<[A-Za-z][A-Za-z0-9+.\-]*+:(?:{_HOST}){_some(_CHARS)}(?:\?{_some(_CHARS + '?')})?+(?:#{_some(_CHARS + '?')})?+>"
)
_TEXT = r'"[^"\\\n\r]*+(?:\\[tbnrf"\'\\][^"\\\n\r]*+)*+"'
_KIND = rf"@[a-z]{{2,3}}(?:-[A-Za-z]{{2}})?+|\^\^<{re.escape(XSD)}[A-Za-z]++>"
TRIPLE = rf"{_IRI} {_IRI} (?:{_IRI}|{_TEXT}(?:{_KIND})?+) "


def are_triples(block: bytes, end: bytes) -> bool:
    """Return whether each line of a block is a triple with a certain end; False when that is not certain.

    Args:
        block: whole lines.
        end: the text after the object and a space in a valid line, line feed included.
    """
    if len(block) > _MAX_BLOCK or not _lines(end).fullmatch(block):
        return False
    try:
        return block.isascii() or bool(block.decode())
    except UnicodeDecodeError:
        return False


@lru_cache(16)
def _lines(end: bytes) -> re.Pattern[bytes]:
    return re.compile(b"(?:%b%b)*+" % (TRIPLE.encode(), re.escape(end)))
