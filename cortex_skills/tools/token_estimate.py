"""How many tokens of a model a text takes, estimated without its tokenizer.

Rules kept here:
- the estimate is of the usual tokenizers with 100,000 tokens or more, and rather too high: a word of up to six letters
  is one token, three digits are one, and most signs are one. A caller may count longer words as one.

>>> tokens_of("pv:country 227 of 250"), tokens_of("")
(7, 0)
"""

from __future__ import annotations

import re

_PARTS = re.compile(r"([A-Za-z]+)|([0-9]+)|([^\x00-\x7f])|([^\w\s]{1,2})|(_)|(\n)")
_LETTERS, _DIGITS = 6, 3  # of a token


def tokens_of(text: str, letters: int = _LETTERS) -> int:
    """The tokens of a text, about.

    Args:
        text: the text.
        letters: of a word that are one token.
    """
    count = 0
    for found in _PARTS.finditer(text):
        length = found.end() - found.start()
        if found[1]:
            count += -(-length // letters)
        elif found[2]:
            count += -(-length // _DIGITS)
        else:
            count += 1
    return count
