"""Whether a sentence of ours, with a text of somebody else in it, tells a model what to do.

Rules kept here:
- a sentence is judged as a whole, and from each place on where it may begin to say somebody else's: an instruction that
  begins in the middle of a sentence is read as a part of it, and passed over.
"""

from __future__ import annotations

import re
from itertools import islice

# Behind a quotation mark, a colon or a bracket, and behind the words that our sentences name something with.
_BEGINS = re.compile(r"[\"'`:(\[]\s*(?=\w)|\b(?:by|for|is|issuer|key|named|of|said|says|signs)\s+(?=\w)")
_MOST = 16


def instructs(text: str) -> bool:
    """Whether a sentence, or what it says of somebody else's, reads like an instruction."""
    from cortex_skills.enrichment.detecting import detect

    begins = (match.end() for match in islice(_BEGINS.finditer(text), _MOST))
    return detect(text) is not None or any(detect(text[place:]) is not None for place in begins)
