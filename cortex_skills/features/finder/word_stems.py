"""The indexed forms of the words of texts and of queries: without English stop words and accents, stemmed.

Rules kept here:
- words of other languages are indexed without their accents, so that `zoe` finds `Zoë`. Stop words are removed first:
  `thé` is none;
- a query is searched without its question words (`question_words`), unless it has no others: `who` finds `The Who`.

    >>> stems_of("The harbours of Zoë"), asked_stems("When did she see the harbours?")
    (['harbour', 'zoe'], ['see', 'harbour'])
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from cortex_skills.features.finder.question_words import asked_words
from cortex_skills.features.finder.words import words

if TYPE_CHECKING:
    from tantivy import TextAnalyzer

MAX_QUERY_WORDS = 32


def stems_of(text: str) -> list[str]:
    """The indexed forms of the words of a text, in order."""
    found: list[str] = _analyzer().analyze(" ".join(words(text)))
    return found


def asked_stems(query: str) -> list[str]:
    """The indexed forms that a query is searched by, each once: without those that only ask, if it has others."""
    asked = _analyzer().analyze(" ".join(asked_words(query)))
    return list(dict.fromkeys(asked or stems_of(query)))[:MAX_QUERY_WORDS]


@cache
def _analyzer() -> TextAnalyzer:
    import tantivy

    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace())
    for step in (tantivy.Filter.stopword("english"), tantivy.Filter.ascii_fold(), tantivy.Filter.stemmer("english")):
        builder = builder.filter(step)
    return builder.build()
