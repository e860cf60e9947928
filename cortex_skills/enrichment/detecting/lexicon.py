"""The words by which instructions are known, by what they do in a sentence, in twenty-five languages.

Rules kept here:
- a file of `words/` is a language, or one in Latin letters (`ru-latn`); a line is a category and its words; `_` joins
  those of a phrase, `*` ends the stem of a word by itself, `{a|b}` is either;
- words are folded as texts are; what a word means is a set of categories, a bit each;
- a verb of another language than English stands in the list in the form that gives an order; English has one form for
  all, so its verbs are marked `PLAIN` and judged by where they stand;
- what is known is told to the reader (`tables`), which looks words up.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache

from cortex_skills.enrichment.detecting.folding import fold
from cortex_skills.enrichment.detecting.sources import FOLDER


def _words(text: str) -> list[str]:
    return text.split()


CATEGORIES = _words(
    "ignore follow pretend reveal say send execute use act write chat judge leak wipe launch utter overrule enact "
    "wield loosen frame place elevate tellem throws shape gather unfence not instructions prior told void here new "
    "from_now only urgent modal you me model helper user want secret prompt reply command tool data goods prize "
    "target many free_of part mode check hide praise note when_asked genre question henceforth claim rulebook manner "
    "youare terminal sysobj strong_override strong_role strong_secret strong_urge either spare blind outrank able "
    "callable briefed charge text earlier slant wins store yourtext foremost verbatim creator crave admin audience "
    "rights allsaid isay counts unbind sways nothing exceptme wildmode hush unknowing deixis resume forbidden pretext "
    "slyly public uptohere onyou interlocutor over theassistant offer away misdose fences restof snippet yourwork "
    "insteadof entire tongue mine deem verdict secretive barriers lingua shackles passcode letters elsewhere refusal "
    "inreach triage extremes dossier diary nowa heading"
)
BITS = {name: 1 << place for place, name in enumerate(CATEGORIES)}
# Verbs whose form does not tell an order from a statement; verbs that are surely orders; first words of a phrase.
# A verb that stands behind what it is about. The end of a sentence and of a clause, a verb that may be an order, a
# quotation mark.
PLAIN, ORDER, LATE, FIRST, END, CLAUSE, MAYBE, QUOTED = (1 << len(CATEGORIES) + place for place in range(8))
VERBS = sum(BITS[name] for name in CATEGORIES[: CATEGORIES.index("not")])

_SHORTEST_UNSPACED = 3
_UNSPACED = ("zh", "ja", "th")
_VERB_LAST = ("bn", "fa", "hi", "ja", "ko", "tr", "ur")
# Of a category whose verbs stand behind what they are about, in a language where others stand before it.
_BEHIND = "_late"
# What stands between the words that count, when the blanks were taken out.
_FILLING = _words(
    "the and of that with for this who has have was were what when are not but from into about please there "
    "their they them his her its than then these those been being would could which while where after before "
    "very more most some just out off over under such well back only also many much own same too can all any "
    "bank page site move moved"
)
# The consonants that may end a syllable of Korean by themselves, by their number there, as they begin one.
_CONSONANTS = dict(zip((1, 4, 7, 8, *range(16, 18), *range(19, 27)), "ᄀᄂᄃᄅᄆᄇᄉᄊᄋᄌᄎᄏᄐᄑ", strict=True))
_FIRST_SYLLABLE, _LAST_SYLLABLE, _ENDINGS = 0xAC00, 0xD7A3, 28


@dataclass
class Lexicon:
    """Words, stems and phrases with their categories.

    Attributes:
        words: folded word → categories.
        stems: what words begin with → categories.
        phrases: the words of a phrase, a blank between them → categories.
        unspaced: words of languages without blanks.
        squeezed: English words and phrases without blanks, for texts whose blanks were taken out.

    """

    words: dict[str, int] = field(default_factory=dict)
    stems: dict[str, int] = field(default_factory=dict)
    phrases: dict[str, int] = field(default_factory=dict)
    unspaced: dict[str, int] = field(default_factory=dict)
    squeezed: dict[str, int] = field(default_factory=dict)

    def add(self, entry: str, mask: int, language: str) -> None:
        """Take in a folded word, stem or phrase."""
        if language == "ko" and (apart := entry.translate(_endings_apart())) != entry:
            self.add(apart, mask, "")
        if language in _UNSPACED:
            _note(self.unspaced, entry.replace("_", ""), mask)
            return
        first, *rest = entry.split("_")
        if rest:
            _note(self.phrases, " ".join((first, *rest)), mask)
            _note(self.words, first, FIRST)
        elif first.endswith("*"):
            _note(self.stems, first[:-1], mask)
        else:
            # What is an English verb, too, is judged by its place.
            _note(self.words, first, mask & ~ORDER if self.words.get(first, 0) & PLAIN else mask)
        if language == "en":
            whole = "".join((first, *rest))
            if len(whole) >= _SHORTEST_UNSPACED:
                _note(self.squeezed, whole, (mask | ORDER) & ~PLAIN if mask & VERBS else mask)


@cache
def _endings_apart() -> dict[int, str]:
    """Of a word whose letters are written one by one, folding makes syllables, but for the consonants that end them."""
    return {
        code: chr(code - ending) + _CONSONANTS[ending]
        for code in range(_FIRST_SYLLABLE, _LAST_SYLLABLE + 1)
        if (ending := (code - _FIRST_SYLLABLE) % _ENDINGS) in _CONSONANTS
    }


def _note(known: dict[str, int], entry: str, mask: int) -> None:
    known[entry] = known.get(entry, 0) | mask


def _either(entry: str) -> list[str]:
    """An entry with each of its alternatives in braces; `{a|b}_{c|d}` is four."""
    before, brace, rest = entry.partition("{")
    if not brace:
        return [entry]
    choices, _, after = rest.partition("}")
    return [f"{before}{choice}{tail}" for choice in choices.split("|") for tail in _either(after)]


@cache
def lexicon() -> Lexicon:
    """All languages; read once, when a text is first looked at."""
    known = Lexicon(squeezed=dict.fromkeys(_FILLING, 0))
    pages = {page.stem: page for page in (FOLDER / "words").glob("*.txt")}
    for language in sorted(pages, key=lambda name: (name != "en", name)):
        for line in pages[language].read_text(encoding="utf-8").splitlines():
            category, _, entries = line.partition(":")
            late = category.endswith(_BEHIND) or language in _VERB_LAST
            mask = BITS[category.removesuffix(_BEHIND)]
            if mask & VERBS:
                mask |= PLAIN if language == "en" else ORDER | LATE if late else ORDER
            for entry in fold(entries).split():
                for one in _either(entry):
                    known.add(one, mask, language)
    return known


@cache
def english() -> frozenset[str]:
    """The words in Latin letters that count, and are no mere particle."""
    words = lexicon().words.items()
    return frozenset(word for word, mask in words if len(word) >= 3 and word.isascii() and mask)
