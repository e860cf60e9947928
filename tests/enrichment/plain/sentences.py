"""A folded text as sentences, read slowly and plainly: what the reader is held against.

Rules kept here:
- what words mean and do is the product's (`lexicon`, `roles`); how a text is read is written here a second time, by
  patterns and look-ups, and nothing of it for speed;
- words of languages without blanks, and of texts without them, are the longest at each place; among them, a sign that
  begins a word of theirs is nothing by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby

from cortex_skills.enrichment.detecting.lexicon import CLAUSE, END, FIRST, QUOTED, lexicon
from cortex_skills.enrichment.detecting.roles import CLAUSES, ENDS, QUOTES
from tests.enrichment.plain.places import placed

KNOWN = lexicon()
SIGNS = dict.fromkeys(ENDS, END) | dict.fromkeys(CLAUSES, CLAUSE) | dict.fromkeys(QUOTES, QUOTED)
MOST_WORDS = max(phrase.count(" ") for phrase in KNOWN.phrases) + 1
LONGEST = max(map(len, [*KNOWN.unspaced, *KNOWN.squeezed]))
# Signs that begin a word of a language without blanks.
BEGINNINGS = SIGNS.keys() & {word[0] for word in KNOWN.unspaced}
ENGLISH = 0.55  # of the letters of a text without blanks belong to words that are known

TOKEN = re.compile(
    r"[^\W_]+|[.!?](?=\W|$)|'(?!\w)|(?<!\w)'|-(?=[ \n]|\Z)|[\n;,:()\[\]\"{}|>*#–—…。！？、，：；「」『』؟،।]"
)
SCRIPT_RUNS = re.compile("([\u0e00-\u0eff\u1000-\u109f\u3040-\u30ff\u3400-\u9fff！-；。、「」]+)")
SCRIPT = re.compile("[\u0e00-\u0eff\u1000-\u109f\u3040-\u30ff\u3400-\u9fff]")
NOT_LETTERS = re.compile(r"[\W\d_]+")


@dataclass(frozen=True)
class Sentence:
    """The words of a sentence, and the categories that each may have, wherever it stood.

    Where the words have their places already, there are no tokens.
    """

    tokens: list[str]
    row: list[int]


def sentences(folded: str) -> list[Sentence]:
    """The sentences of a folded text; one that goes over line ends is read without them, too."""
    return list(_of_row(_row_of(folded)) if SCRIPT.search(folded) else _with_those_in_one_line(_spaced(folded)))


def run_together(span: str) -> list[Sentence]:
    """The sentences of a text of which only the letters are read; none when they are no English."""
    letters = NOT_LETTERS.sub("", span)
    row, covered = _longest_words(letters, KNOWN.squeezed)
    return list(_of_row(row)) if covered >= ENGLISH * len(letters) else []


def _spaced(text: str) -> Iterator[Sentence]:
    tokens = TOKEN.findall(text.replace("n't", " not"))
    for is_end, group in groupby(tokens, lambda token: _meaning(token) == END):
        if not is_end:
            yield _sentence(list(group))


def _with_those_in_one_line(among: Iterable[Sentence]) -> Iterator[Sentence]:
    for sentence in among:
        yield sentence
        if "\n" in sentence.tokens and (words := [word for word in sentence.tokens if word != "\n"]):
            yield _sentence(words)


def _sentence(words: list[str]) -> Sentence:
    return Sentence(words, [_with_phrases(words, place) for place in range(len(words))])


def _meaning(word: str) -> int:
    mask = SIGNS.get(word, KNOWN.words.get(word, 0))
    for size in range(1, len(word) + 1):
        mask |= KNOWN.stems.get(word[:size], 0)
    return mask


def _with_phrases(words: list[str], place: int) -> int:
    """The categories of a word, and those of the phrases that it begins."""
    mask = _meaning(words[place])
    if mask & FIRST:
        for end in range(place + 2, min(place + MOST_WORDS, len(words)) + 1):
            mask |= KNOWN.phrases.get(" ".join(words[place:end]), 0)
    return mask & ~FIRST


def _row_of(text: str) -> list[int]:
    """The categories of the words of a text with languages without blanks, in their places."""
    row: list[int] = []
    for part in filter(None, SCRIPT_RUNS.split(text)):
        if SCRIPT.search(part):
            row += _longest_words(part, KNOWN.unspaced)[0]
            continue
        if part.strip()[:1] in ENDS:
            row.append(END)
        for number, sentence in enumerate(_spaced(part)):
            row += [END] * (number > 0) + placed(sentence.tokens, sentence.row)
        if part.strip()[-1:] in ENDS:
            row.append(END)
    return row


def _longest_words(text: str, known: Mapping[str, int]) -> tuple[list[int], int]:
    """The longest known word at each place, one after the other; and how many letters they have."""
    row: list[int] = []
    place, covered = 0, 0
    while place < len(text):
        starts = (text[place:end] for end in range(min(place + LONGEST, len(text)), place, -1))
        word = next((start for start in starts if start in known), "")
        mask = known[word] if word else SIGNS.get(text[place], 0) * (text[place] not in BEGINNINGS)
        if mask:
            row.append(mask)
        covered += len(word)
        place += len(word) or 1
    return row, covered


def _of_row(row: list[int]) -> Iterator[Sentence]:
    return (Sentence([], list(part)) for is_end, part in groupby(row, END.__eq__) if not is_end)
