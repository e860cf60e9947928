"""What the reader is told of language: words, stems, phrases and rules.

Rules kept here:
- pure; the layout is that of `reader/words.h`, little-endian as WebAssembly is: a number of categories is three of 64
  bits, each entry begins at a multiple of 8 bytes;
- phrases with the same first two words stand together, each with the number of those that are left;
- a word that is known has the categories of its stems, too: those of other words are looked for by the reader.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping
from functools import reduce
from itertools import groupby
from operator import or_

from cortex_skills.enrichment.detecting import lexicon
from cortex_skills.enrichment.detecting.known_deeds import DEEDS
from cortex_skills.enrichment.detecting.known_rules import SAYINGS
from cortex_skills.enrichment.detecting.lexicon import BITS
from cortex_skills.enrichment.detecting.roles import CLAUSES, ENDS, QUOTES, ROLES
from cortex_skills.enrichment.detecting.rule import Rule

RULES = SAYINGS + DEEDS

_TO_READER = BITS["you"] | BITS["model"] | BITS["when_asked"]
_SPOKEN_TO = _TO_READER | BITS["helper"] | BITS["claim"]
_DEEDS = sum(BITS[name] for name in ("act", "send", "execute", "wipe", "launch", "enact", "wield"))
_KINDS = (
    lexicon.VERBS,
    lexicon.PLAIN,
    lexicon.ORDER,
    lexicon.LATE,
    lexicon.FIRST,
    lexicon.END,
    lexicon.CLAUSE,
    lexicon.MAYBE,
    lexicon.QUOTED,
    BITS["not"],
    BITS["ignore"],
    _DEEDS,
    _TO_READER,
    _SPOKEN_TO,
)
MASK_BYTES = 24
_ALIGNED = 8
_MOST_NEEDS = 4
_DOUBLED = re.compile(r"([a-z])\1+")


def told() -> bytes:
    """All that is known of words and rules."""
    known = lexicon.lexicon()
    signs = dict.fromkeys(ENDS, lexicon.END) | dict.fromkeys(CLAUSES, lexicon.CLAUSE)
    signs |= dict.fromkeys(QUOTES, lexicon.QUOTED)
    roles = _roles()
    words = dict.fromkeys(roles, 0) | known.words | signs
    entries = (
        [_entry(word, mask | _stems_of(word, known.stems), roles.get(word, 0)) for word, mask in words.items()],
        _entries(known.stems),
        list(_phrases(known.phrases)),
        _entries(known.unspaced),
        _entries(known.squeezed),
    )
    counts = struct.pack("<8I", *map(len, entries), len(RULES), 0, 0)
    kinds = map(_mask, _KINDS)
    return b"".join((counts, *kinds, *map(_rule, RULES), *(entry for some in entries for entry in some)))


def singles() -> str:
    """English words with doubled letters by what they are without them: a pair a line, a blank between them."""
    words = sorted(lexicon.english())
    pairs = {_DOUBLED.sub(r"\1", word): word for word in words if _DOUBLED.search(word)}
    return "\n".join(f"{single} {word}" for single, word in pairs.items())


def _roles() -> dict[str, int]:
    found: dict[str, int] = {}
    for place, words in enumerate(ROLES.values()):
        for word in words:
            found[word] = found.get(word, 0) | 1 << place
    return found


def _stems_of(word: str, stems: Mapping[str, int]) -> int:
    """The categories of all stems that a word begins with."""
    return reduce(or_, (stems.get(word[:size], 0) for size in range(1, len(word) + 1)), 0)


def _mask(mask: int) -> bytes:
    return mask.to_bytes(MASK_BYTES, "little")


def _entry(text: str, mask: int, roles: int = 0) -> bytes:
    letters = text.encode()
    return struct.pack("<2I", len(letters), roles) + _mask(mask) + letters + bytes(-len(letters) % _ALIGNED)


def _entries(known: Mapping[str, int]) -> list[bytes]:
    return [_entry(text, mask) for text, mask in known.items()]


def _phrases(known: Mapping[str, int]) -> Iterator[bytes]:
    def pair(phrase: str) -> list[str]:
        return phrase.split(" ", 2)[:2]

    for _, group in groupby(sorted(known, key=pair), pair):
        phrases = list(group)
        for place, phrase in enumerate(phrases):
            yield _entry(phrase, known[phrase], len(phrases) - place)


def _rule(rule: Rule) -> bytes:
    needs = (*rule.need, *(0,) * (_MOST_NEEDS - len(rule.need)))
    masks = b"".join(map(_mask, (rule.head, *needs, rule.unless)))
    return masks + struct.pack("<6I", len(rule.need), rule.signs, rule.back, rule.ahead, rule.ordering, rule.soft)
