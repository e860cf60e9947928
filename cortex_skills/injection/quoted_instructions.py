"""Whether a message that quotes untrusted text reads like an instruction to a model.

Rules kept here:
- a message is examined from its start, and from each position where a quotation may begin: the detector would read an
  instruction in the middle of a sentence as a part of the sentence.
"""

from __future__ import annotations

import re
from itertools import islice

# After a quotation mark, a colon or a bracket, and after the words that precede quoted names in messages: not within
# "is not of type", as errors of JSON Schema say it.
_BEGINS = re.compile(r"[\"'`:(\[]\s*(?=\w)|\b(?:by|for|is|issuer|key|named|of(?! types? )|said|says|signs)\s+(?=\w)")
_MOST = 16


def instructs(text: str) -> bool:
    """Whether a message, or a text that it quotes, reads like an instruction."""
    from cortex_skills.injection import detect

    begins = (match.end() for match in islice(_BEGINS.finditer(text), _MOST))
    return detect(text) is not None or any(detect(text[place:]) is not None for place in begins)
