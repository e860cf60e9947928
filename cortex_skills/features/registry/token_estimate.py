"""How many tokens of a language model a text takes, estimated offline.

Rules kept here:
- a run of letters and digits counts one token for each eight ASCII characters that it begins, and one for each other
  character; each sign of punctuation counts one;
- it is an estimate for budgets and means: no tokenizer of a model is loaded.
"""

from __future__ import annotations

import re

_PART = re.compile(r"[A-Za-z0-9_]+|[^\sA-Za-z0-9_]")
_WORD = 8  # ASCII characters


def estimated_tokens(text: str) -> int:
    """The estimated number of tokens of a text.

    >>> estimated_tokens("Winning content. " * 20), estimated_tokens("漢字"), estimated_tokens("")
    (60, 2, 0)
    """
    return sum(-(-len(part) // _WORD) for part in _PART.findall(text))
