"""Words by which instructions are recognised, in twenty-five languages, each with the categories it belongs to.

Rules kept here:
- a file of `lexicon/` is a language, or one in Latin letters (`ru-latn`); a line is a category and its words; `_` joins
  the words of a phrase, `*` ends a stem, `{a|b}` means either;
- words are folded as texts are; a word's categories are a set of bits;
- verbs of languages other than English are listed in the imperative; English verbs have one form for statement and
  order, so they are marked `PLAIN` and judged by their position (`grammar`);
- languages written without blanks are looked up by the longest entry at each position.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from cortex_skills.injection.normalize import fold
from cortex_skills.injection.signatures import SIGNS


def _words(text: str) -> list[str]:
    return text.split()


CATEGORIES = _words(
    "ignore follow pretend reveal say send execute use act write chat judge leak wipe launch overrule play_role "
    "use_your_tools loosen begin_or_end place promote shape retrieve throw remove_limits entice memorize "
    "proclaim penalise sway not instructions prior "
    "told void here new from_now only urgent modal you me model helper user want secret prompt reply command tool "
    "data assets valuables target many unrestricted part mode check hide praise note when_asked question "
    "from_here_on claimed_authority rules manner you_are terminal system_object strong_override strong_role "
    "strong_secret strong_urge yes_or_no temporary unchecked outrank allowed_to callable instructed_you mandate "
    "text earlier criticism beats store your_output first_place verbatim creator i_want admin audience rights "
    "all_that_was_said my_words prevails release_you influences_you nothing except_me keep_secret this_conversation "
    "resume forbidden pretext public text_above person_spoken_to finished offer change_dose safety_rules snippet "
    "your_solution in_style my consider_this verdict secretive in_language its_limits passcode letters elsewhere "
    "refusal within_reach severity extremes calendar you_are_now_a to_user later before_others this_tool "
    "contain the_output bait regardless the_user top_marks polite they as_judge"
)
BITS = {name: 1 << place for place, name in enumerate(CATEGORIES)}
# A verb that may be a statement or an order; a verb that gives an order; an order verb that follows its object; the end
# of a sentence; the end of a clause; a verb that may give an order; a quotation mark.
PLAIN, ORDER, LATE, END, CLAUSE, MAYBE, QUOTED = (1 << len(CATEGORIES) + place for place in range(7))
# A lesser sign (`signatures`) near a word, one bit each.
SIGN_BITS = {mark: 1 << len(CATEGORIES) + 7 + place for place, mark in enumerate(SIGNS.values())}
VERBS = sum(BITS[name] for name in CATEGORIES[: CATEGORIES.index("not")])

_FOLDER = Path(__file__).parent / "lexicon"
_SHORTEST_SQUEEZED = 3
_UNSPACED = ("zh", "ja", "th")
_VERB_LAST = ("bn", "fa", "hi", "ja", "ko", "tr", "ur")
_LATE_SUFFIX = "_late"
_CHOICE = re.compile(r"\{([^{}]*)\}")
_LONGEST_WORD = 64
# Common words that occur between the ones that count, for texts whose blanks were removed.
_FILLING = _words(
    "the and of that with for this who has have was were what when are not but from into about please there "
    "their they them his her its than then these those been being would could which while where after before "
    "very more most some just out off over under such well back only also many much own same too can all any "
    "bank page site move moved"
)


@dataclass
class Lexicon:
    """Words, stems and phrases with their categories.

    Attributes:
        words: folded word → categories.
        stems: the letters that words begin with → categories.
        phrases: the first two words of phrases → how many more they have → these words → categories.
        unspaced: words of languages without blanks.
        squeezed: English words and phrases without blanks, for texts whose blanks were removed.
    """

    words: dict[str, int] = field(default_factory=dict)
    stems: dict[str, int] = field(default_factory=dict)
    phrases: dict[tuple[str, str], dict[int, dict[tuple[str, ...], int]]] = field(default_factory=dict)
    unspaced: dict[str, int] = field(default_factory=dict)
    squeezed: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_FILLING, 0))

    def meaning(self, word: str) -> int:
        """Return the categories of a folded word, those of its stems included."""
        word = word[:_LONGEST_WORD]
        mask = self.words.get(word, 0)
        for size in range(1, len(word) + 1):
            mask |= self.stems.get(word[:size], 0)
        return mask

    def add(self, entry: str, mask: int, language: str) -> None:
        """Add a folded word, stem or phrase."""
        if language in _UNSPACED:
            _join(self.unspaced, entry.replace("_", ""), mask)
            return
        first, *rest = entry.split("_")
        if rest:
            longer = self.phrases.setdefault((first, rest[0]), {}).setdefault(len(rest) - 1, {})
            _join(longer, tuple(rest[1:]), mask)
        elif first.endswith("*"):
            _join(self.stems, first[:-1], mask)
        else:
            # A word that is an English verb too is judged by its position.
            _join(self.words, first, mask & ~ORDER if self.words.get(first, 0) & PLAIN else mask)
        whole = "".join((first, *rest))
        if language == "en" and len(whole) >= _SHORTEST_SQUEEZED:
            _join(self.squeezed, whole, (mask | ORDER) & ~PLAIN if mask & VERBS else mask)


@cache
def lexicon() -> Lexicon:
    """All languages; read from the files on first use."""
    known = Lexicon()
    pages = {page.stem: page for page in _FOLDER.glob("*.txt")}
    for language in sorted(pages, key=lambda name: (name != "en", name)):
        for line in pages[language].read_text(encoding="utf-8").splitlines():
            category, _, entries = line.partition(":")
            late = category.endswith(_LATE_SUFFIX) or language in _VERB_LAST
            mask = BITS[category.removesuffix(_LATE_SUFFIX)]
            if mask & VERBS:
                mask |= PLAIN if language == "en" else ORDER | LATE if late else ORDER
            for entry in fold(entries).split():
                for one in _expanded(entry):
                    known.add(one, mask, language)
    return known


@cache
def english_words(shortest: int) -> frozenset[str]:
    """The listed words of English that have at least so many letters."""
    known = lexicon()
    words = {word for word, mask in known.words.items() if mask} | {first for first, _ in known.phrases}
    return frozenset(word for word in words & known.squeezed.keys() if len(word) >= shortest)


def _join(known: dict[Any, int], entry: Any, mask: int) -> None:
    known[entry] = known.get(entry, 0) | mask


def _expanded(entry: str) -> Iterator[str]:
    """Expand the braces of an entry: `{a|b}_{c|d}` is four entries."""
    choice = _CHOICE.search(entry)
    if choice is None:
        yield entry
        return
    for one in choice[1].split("|"):
        yield from _expanded(entry[: choice.start()] + one + entry[choice.end() :])
