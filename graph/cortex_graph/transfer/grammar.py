r"""Lines that are certainly triples, told by one expression over a whole block.

Rules kept here:
- it takes a part of N-Triples (RDF 1.1 N-Triples §7) and nothing beyond it: lines as serialisers write them, a blank
  between the terms, of IRIs and literals. What it does not take may be a triple all the same, and is the parser's;
- an IRI is absolute and of ASCII, its host a plain name, its `%` followed by two hexadecimal digits (RFC 3987 §2.2);
- a literal is any text with the escapes of one letter, of a language such as `en` or `en-GB`, or a datatype of XSD;
- it never goes back, so that it takes time with the length of a block and no more: a fifth of what the parser takes.
"""

from __future__ import annotations

import re
from functools import lru_cache

from cortex_graph.names import WELL_KNOWN_VOCABULARIES

XSD = WELL_KNOWN_VOCABULARIES["xsd"]
_MAX_BLOCK = 8 << 20  # the engine takes no term of twice that
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
    """Whether each line of a block is a triple with a certain end; False when that is not certain.

    Args:
        block: whole lines.
        end: what follows the object and a blank in a valid line, line feed included.

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
