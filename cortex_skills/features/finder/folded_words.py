"""The forms in which words of names and texts are compared: folded, and stemmed by their language.

Rules kept here:
- a folded word is in lower case and without diacritics, of Latin letters too (`words.py` has the other scripts);
- the stem of a word is that of its language, from Snowball. A word has two: that of its spelling, and that of its
  folded form, since a query may be typed without diacritics. Languages without a stemmer have none;
- a name in an IRI is split at its marks and where capitals begin a word, and is also one word as it is.

    >>> folded_words("Zoë Müller, Łódź")
    ['zoe', 'muller', 'lodz']
    >>> name_words("person:adaLovelace")
    ['person', 'adalovelace', 'ada', 'lovelace']
    >>> sorted(stems("de", "häuser"))
    ['haus']
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from cortex_skills.features.finder.words import words

if TYPE_CHECKING:
    from tantivy import TextAnalyzer

UNTAGGED = "en"  # the language of a text without a tag, for its stems

_STEMMERS = {
    "ar": "arabic",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "es": "spanish",
    "fi": "finnish",
    "fr": "french",
    "hu": "hungarian",
    "it": "italian",
    "nb": "norwegian",
    "nl": "dutch",
    "nn": "norwegian",
    "no": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
}
_CAPITALS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_KEPT_FORMS = 1 << 13


def folded_words(text: str) -> list[str]:
    """The folded words of a text, in order."""
    return [folded(word) for word in words(text)]


def name_words(name: str) -> list[str]:
    """The folded words of a name in an IRI, each once."""
    return list(dict.fromkeys([*folded_words(name), *folded_words(_CAPITALS.sub(" ", name))]))


def language_of(tag: str | None) -> str:
    """The language of a tag, such as `de` of `de-AT`; that of a text without a tag if there is none."""
    return tag.partition("-")[0].lower() if tag else UNTAGGED


@lru_cache(_KEPT_FORMS)
def folded(word: str) -> str:
    """A word of `words` without diacritics."""
    return word if word.isascii() else _one(_analyzer(None), word)


@lru_cache(_KEPT_FORMS)
def stems(language: str, word: str) -> frozenset[str]:
    """The folded stems of a word of `words`; none if the language has no stemmer."""
    return stems_of_all(language, [word])


def stems_of_all(language: str, given: Sequence[str]) -> frozenset[str]:
    """The folded stems of words of `words`; none if the language has no stemmer."""
    name = _STEMMERS.get(language)
    if name is None:
        return frozenset()
    stemmer = _analyzer(name)
    found = _each(stemmer, given)
    if all(word.isascii() for word in given):
        return frozenset((*map(folded, found), *found))
    return frozenset((*map(folded, found), *_each(stemmer, [folded(word) for word in given])))


def _each(analyzer: TextAnalyzer, given: Sequence[str]) -> list[str]:
    """What becomes of each word; the word itself where that is nothing."""
    found = analyzer.analyze(" ".join(given))  # one call takes less than one for each
    return found if len(found) == len(given) and all(found) else [_one(analyzer, word) for word in given]


def _one(analyzer: TextAnalyzer, word: str) -> str:
    found = analyzer.analyze(word)
    return found[0] if len(found) == 1 and found[0] else word


@cache
def _analyzer(language: str | None) -> TextAnalyzer:
    import tantivy

    step = tantivy.Filter.ascii_fold() if language is None else tantivy.Filter.stemmer(language)
    return tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).filter(step).build()
