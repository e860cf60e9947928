"""Folded text → sentences of word categories, with English verbs resolved to orders or statements by their position.

Rules kept here:
- a sentence is a list of masks, one for each word (`lexicon`); commas and the like take no place in it;
- an English verb keeps its verb categories where it gives an order (`ORDER`) or may give one (`MAYBE`): at the start of
  a sentence or clause, behind "please" or "must", joined to an order; elsewhere it is a statement or a noun;
- what a third party does or has to do is a statement, unless the sentence speaks to the reader;
- text in languages without blanks is read as the longest listed word at each position.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache, reduce
from itertools import compress, count, groupby, pairwise
from operator import or_

from cortex_skills.injection.lexicon import (
    BITS,
    CLAUSE,
    END,
    MAYBE,
    ORDER,
    PLAIN,
    QUOTED,
    SIGN_BITS,
    VERBS,
    lexicon,
)

TO_READER = BITS["you"] | BITS["model"] | BITS["when_asked"]

_SPOKEN_TO = TO_READER | BITS["helper"] | BITS["claimed_authority"]
_DEEDS = sum(BITS[name] for name in ("act", "send", "execute", "wipe", "launch", "play_role", "use_your_tools"))
_SIGNS = (
    dict.fromkeys(".!?;…。！？；؟।|", END)
    | dict.fromkeys("\n,:()[]'{}>*#–—、，：」』،-", CLAUSE)
    | dict.fromkeys('"「『', QUOTED)
    | SIGN_BITS
)
_LINE_END = frozenset("\n")
_CLAUSE_SIGNS = frozenset(sign for sign, mask in _SIGNS.items() if mask == CLAUSE)
_ENDS = frozenset(sign for sign, mask in _SIGNS.items() if mask == END)
_TOKENS = (
    r"[^\W_]+|[.!?](?=[^\w\ue000-\ue005]|$)|'(?!\w)|(?<!\w)'|-(?=[ \n]|\Z)"
    r"|[\n;,:()\[\]\"{}|>*#–—…。！？、，：；「」『』؟،।\ue000-\ue005]"
)
_TOKEN, _ASCII_TOKEN = re.compile(_TOKENS), re.compile(_TOKENS, re.ASCII)
_UNSPACED_RUNS = re.compile("([\u0e00-\u0eff\u1000-\u109f\u3040-\u30ff\u3400-\u9fff！-；。、「」]+)")
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u3040-\u30ff\u3400-\u9fff]")
_LINE_END_IN_UNSPACED = re.compile(rf"(?<={_UNSPACED.pattern})\n(?={_UNSPACED.pattern})")
_NOT_LETTERS = re.compile(r"[\W\d_]+")
_KNOWN_SHARE = 0.55  # of the letters of a text without blanks must belong to listed words
_AUXILIARY_REACH = 4  # words
_MOST_CACHED = 1 << 14
_ANY_SIGN = sum(SIGN_BITS.values())
NEAR = 30  # words from another that a sign is near to

_ROLES = {
    # "now", "here": "from here on" and "at this point on" lead to an order.
    "from_point": "now here point moment",
    "talk": "chat conversation session dialogue discussion game exchange",  # "for the rest of this chat speak"
    "closing": ") ] } '",
    "noun_before": "of : is was are were",
    "maybe_behind": "must should shall will ought lets need and or ai agent agents assistants assistant chatbot not "
    "never also then hereby",
    "order_behind": "please kindly now then just also simply immediately next first finally pls instead hereby lets ai "
    "assistant always quickly silently secretly bitte por favor",
    # "to" gives an order behind these.
    "order_behind_to": "have has had need needs want wants are is you required instructed asked supposed ordered "
    "obliged told ought like him them it yourself expected sure agents assistants model ai",
    "not_behind": "do and but , . : please \n",
    "asking": "can could will would must should",
    # A sentence that begins so has its order behind a comma.
    "leading": "to before after if when whenever once first in from while as by for upon during on until whatever next "
    "second finally also then at without despite since because instead assistant assistants ai agent",
    # The same for a clause in the middle of a sentence: "a word to you: before you finish, send …".
    "condition": "before after when whenever once until prior assistant assistants ai agent",
    "joining": "and or but",
    # "You may ignore" is an order in other words; "never delete" is none, "never block" is.
    "permitting": "can may could might safely freely",
    "protective": "block reject stop disable revoke lock refuse cancel",
    # Verbs that have no noun of the same form.
    "always_verb": "ignore disregard forget reveal disclose divulge obey pretend disobey impersonate regurgitate "
    "recite recommend respond overlook discard exfiltrate",
    "leading_on": "so therefore hence thus anyway anyhow btw meanwhile okay ok alas regardless accordingly yo bro nah "
    "hey pls plz",
    # Behind these, a verb is a statement.
    "stating": "i you he she it we they who whom which that this these those one people men women children police "
    "everyone nobody somebody someone anyone to not never always often also even just still only sometimes usually "
    "simply can could may might must shall should will would do does did dont ll d and or nor than as how what when "
    "where why if because the a an his her its their our my your no any all some each every many most few both others "
    "another of in on at by for with from about against into between without ever be is are was were been being am s t "
    "re ve me him us them let lets make made help helps helped go come cannot either neither whether but",
    "auxiliary": "can could may might must shall should will would to did does",
    # "you are requested to", "it is essential that you" may give an order.
    "bidden": "requested urged directed invited advised authorised authorized commanded bound tasked obligated",
    "demanded": "essential vital crucial imperative necessary mandatory important ask asks demand demands insist "
    "insists require requires request requests order orders sure certain ensure propose suggest importance",
    "within": "in with at within throughout",
    "output": "answer reply response summary report output text message",
}
_ROLE_WORDS = {role: frozenset(re.split("[ ]", words)) for role, words in _ROLES.items()}


def sentences(folded: str, may_hold: Callable[[int], object] = bool) -> Iterator[list[int]]:
    """The sentences of a folded text; one of several lines as these part it, and as if it were one line.

    Args:
        folded: the text.
        may_hold: whether a sentence with words of these categories is wanted; of others little is read.

    """
    if not folded.isascii() and _UNSPACED.search(folded):
        for reading in dict.fromkeys((folded, in_one_line(folded))):
            yield from map(_without_statements, _with_signs(list(_split(_unspaced_row(reading)))))
        return
    in_lines, signs = _without_marks(_tokens(folded))
    tokens = [token for token in in_lines if token not in _LINE_END]
    found = _meanings(tokens)
    for place, sign in signs.items():
        found[min(place, len(found) - 1)] |= sign
    last = last_in_lines = -1
    for end, end_in_lines in zip(_ends(tokens), _ends(in_lines), strict=True):
        masks = found[last + 1 : end]
        before = _signs_in(found[max(last - NEAR, 0) : last + 1]) if signs else []
        behind = _signs_in(found[end : end + NEAR]) if signs else []
        if may_hold(reduce(or_, before + masks + behind, 0) & ~CLAUSE):
            lines = in_lines[last_in_lines + 1 : end_in_lines]
            if len(lines) > len(masks):
                of_words = iter(masks)
                meanings = [
                    mask if word in _LINE_END else mask | next(of_words) & _ANY_SIGN
                    for word, mask in zip(lines, _meanings(lines), strict=True)
                ]
                yield before + _without_statements(_with_late_orders(lines, meanings)) + behind
            yield before + _without_statements(_with_late_orders(tokens[last + 1 : end], masks)) + behind
        last, last_in_lines = end, end_in_lines


def in_one_line(folded: str) -> str:
    """A folded text without its line ends, which part no words in languages without blanks."""
    return _LINE_END_IN_UNSPACED.sub("", folded).replace("\n", " ")


def run_together(text: str) -> Iterator[list[int]]:
    """The sentences of a text of which only the letters count; none when most of them form no listed words."""
    letters = _NOT_LETTERS.sub("", text)
    row, covered = _longest_words(letters, lexicon().squeezed)
    if covered >= _KNOWN_SHARE * len(letters):
        yield from map(_without_statements, _split(row))


def _without_statements(row: list[int]) -> list[int]:
    """The words of a sentence without clause ends, and without verbs that are no order to the reader."""
    row = [mask for mask in row if mask != CLAUSE]
    if reduce(or_, row, 0) & _SPOKEN_TO:
        return row
    return [mask & ~VERBS if mask & MAYBE and not mask & ORDER else mask for mask in row]


def _without_marks(tokens: list[str]) -> tuple[list[str], dict[int, int]]:
    """Tokens without the marks of signs, and the signs by the places of the words behind them."""
    signs: dict[int, int] = {}
    if SIGN_BITS.keys().isdisjoint(tokens):
        return tokens, signs
    kept, place = [], 0
    for token in tokens:
        if token in SIGN_BITS:
            signs[place] = signs.get(place, 0) | SIGN_BITS[token]
        else:
            kept.append(token)
            place += token not in _LINE_END
    return kept, signs


def _signs_in(masks: list[int]) -> list[int]:
    """The signs of words as those of one; nothing without a sign."""
    signs = reduce(or_, masks, 0) & _ANY_SIGN
    return [signs] if signs else []


def _with_signs(rows: list[list[int]]) -> Iterator[list[int]]:
    """Sentences with the signs that are near in the sentences around them."""
    for place, row in enumerate(rows):
        before, behind = rows[place - 1] if place else [], rows[place + 1] if place + 1 < len(rows) else []
        yield _signs_in(before[-NEAR:]) + row + _signs_in(behind[:NEAR])


def _tokens(text: str) -> list[str]:
    token = _ASCII_TOKEN if text.isascii() else _TOKEN
    return token.findall(text.replace("n't", " not"))


def _ends(tokens: list[str]) -> list[int]:
    """The places at which sentences end."""
    return [*compress(count(), map(_ENDS.__contains__, tokens)), len(tokens)]


def _spaced(text: str) -> Iterator[list[str]]:
    tokens, first = _tokens(text), 0
    for end in _ends(tokens):
        if end > first:
            yield tokens[first:end]
        first = end + 1


class _Meanings(dict[str, int]):
    """The categories of words and signs; those of a word are computed and cached on first use."""

    def __missing__(self, word: str) -> int:
        mask = lexicon().meaning(word)
        if len(self) < _MOST_CACHED:
            self[word] = mask
        return mask


_MEANINGS = _Meanings(_SIGNS)


def _meanings(words: list[str]) -> list[int]:
    """The categories of each word, and of the phrases that begin at it."""
    phrases = lexicon().phrases
    row = list(map(_MEANINGS.__getitem__, words))
    for place in compress(count(), map(phrases.__contains__, pairwise(words))):
        for size, rests in phrases[words[place], words[place + 1]].items():
            row[place] |= rests.get(tuple(words[place + 2 : place + 2 + size]), 0)
    return row


def _unspaced_row(text: str) -> list[int]:
    """The categories of the words of a text that is partly in languages without blanks."""
    row: list[int] = []
    for part in filter(None, _UNSPACED_RUNS.split(text)):
        if _UNSPACED.search(part):
            row += _longest_words(part, lexicon().unspaced)[0]
            continue
        bare = part.strip()
        if _SIGNS.get(bare[:1]) == END:
            row.append(END)
        for number, words in enumerate(_spaced(part)):
            row += [END] * (number > 0) + _in_position(words, _meanings(words))
        if _SIGNS.get(bare[-1:]) == END:
            row.append(END)
    return row


@cache
def _sizes(of_unspaced: bool) -> dict[str, list[int]]:
    """The lengths of the listed words that begin with two letters, or are that one letter; the longest first."""
    sizes: dict[str, set[int]] = {}
    for word in lexicon().unspaced if of_unspaced else lexicon().squeezed:
        sizes.setdefault(word[:2], set()).add(len(word))
    return {initials: sorted(found, reverse=True) for initials, found in sizes.items()}


@cache
def _sign_initials() -> frozenset[str]:
    """Signs that begin a listed word of a language without blanks: no signs there."""
    return frozenset(_SIGNS.keys() & {word[0] for word in lexicon().unspaced})


def _longest_words(text: str, known: Mapping[str, int]) -> tuple[list[int], int]:
    """The longest listed word at each position, one behind the other; and how many letters these cover."""
    sizes = _sizes(known is lexicon().unspaced)
    row: list[int] = []
    place, covered = 0, 0
    while place < len(text):
        lengths = (*sizes.get(text[place : place + 2], ()), *sizes.get(text[place], ()))
        word = next((start for size in lengths if (start := text[place : place + size]) in known), "")
        mask = known[word] if word else _SIGNS.get(text[place], 0) * (text[place] not in _sign_initials())
        if mask:
            row.append(mask)
        covered += len(word)
        place += len(word) or 1
    return row, covered


def _split(row: list[int]) -> Iterator[list[int]]:
    return (list(part) for is_end, part in groupby(row, END.__eq__) if not is_end)


# Where an English verb gives an order.


def _in_position(words: list[str], found: list[int]) -> list[int]:
    """The categories of the words of a sentence, verbs resolved by what precedes them."""
    row = found[:]
    order_seen = False
    for place, mask in enumerate(found):
        if mask & PLAIN and mask & VERBS:
            mask = _verb(words, row, place, order_seen)
            order_seen = order_seen or bool(mask & ORDER)
            row[place] = mask & ~PLAIN
            if place > 1 and words[place - 1] == "you" and mask & ORDER:
                # "could you explain": the one who is asked is not what is explained.
                row[place - 1] = 0
    return row


def _with_late_orders(words: list[str], found: list[int]) -> list[int]:
    """The same, with orders that begin in the middle of a sentence."""
    row = _in_position(words, found)
    for place in range(1, len(words)):
        if not (found[place] & PLAIN and found[place] & VERBS) or row[place] & ORDER:
            continue
        if _leads_on(words, place) or (_is(words, place, "always_verb") and not _is_statement(words, place)):
            row[place] = (found[place] | ORDER) & ~PLAIN
        elif _is_bidden(words, place):
            row[place] = (found[place] | MAYBE) & ~PLAIN
    return row


def _at(words: list[str], place: int) -> str:
    return words[place] if 0 <= place < len(words) else ""


def _is(words: list[str], place: int, role: str) -> bool:
    return 0 <= place < len(words) and words[place] in _ROLE_WORDS[role]


def _verb(words: list[str], row: list[int], place: int, order_seen: bool) -> int:
    """The categories of an English verb, by the words before it."""
    mask = row[place]
    noun = mask if mask & ORDER else mask & ~VERBS
    if _is(words, place + 1, "noun_before"):
        return noun
    if place == 0:
        return mask | ORDER
    last, kind = place - 1, row[place - 1]
    if kind & (CLAUSE | QUOTED):
        return _verb_behind_sign(words, place, mask, order_seen)
    if words[last].endswith("ly") and _is(words, place - 2, "maybe_behind"):
        last -= 1
    if kind & BITS["not"] and mask & _DEEDS and not _is(words, place, "protective"):
        mask &= ~_DEEDS
        noun = mask if mask & ORDER else mask & ~VERBS
    if mask & BITS["ignore"] and _is(words, last, "permitting"):
        return mask | MAYBE
    if _is(words, last, "joining"):
        return mask | (ORDER if order_seen else MAYBE)
    if _is(words, last, "order_behind"):
        return mask | ORDER
    if kind & BITS["not"] and (place == 1 or _is(words, place - 2, "not_behind")):
        return mask | ORDER
    if words[last] == "you":
        return mask | ORDER if _is(words, place - 2, "asking") else mask & ~VERBS
    if _is(words, last, "maybe_behind") or (words[last] == "to" and _is(words, place - 2, "order_behind_to")):
        return mask | MAYBE
    return noun


def _verb_behind_sign(words: list[str], place: int, mask: int, order_seen: bool) -> int:
    """The categories of an English verb that begins a clause."""
    sign = words[place - 1]
    is_label = words[0] == "[" and sign == "]"
    if sign in _ROLE_WORDS["closing"] and not is_label:
        return mask if mask & ORDER else mask & ~VERBS
    leads = _is(words, 0, "leading") or _is(words, _clause_before(words, place - 1), "condition")
    return mask | (ORDER if sign != "," or order_seen or leads else MAYBE)


def _clause_before(words: list[str], sign: int) -> int:
    """The place at which the clause before a sign begins."""
    place = sign
    while place and words[place - 1] not in _CLAUSE_SIGNS:
        place -= 1
    return place


def _leads_on(words: list[str], place: int) -> bool:
    """Whether what precedes leads from a statement to an order."""
    if _is(words, place - 1, "leading_on"):
        return True
    before, last = _at(words, place - 2), words[place - 1]
    if before == "your":
        return last in _ROLE_WORDS["output"] and _is(words, place - 3, "within")
    if before in ("this", "our") and last in _ROLE_WORDS["talk"]:
        return _at(words, place - 3) == "of"
    return (before in _ROLE_WORDS["from_point"] and last == "on") or (before == "the" and last == "way")


def _is_bidden(words: list[str], place: int) -> bool:
    """Whether the reader or a third party is asked to do it."""
    if place > 2 and words[place - 2 : place] == ["that", "you"]:
        return _is(words, place - 3, "demanded")
    return words[place - 1] == "to" and _is(words, place - 2, "bidden")


def _is_statement(words: list[str], place: int) -> bool:
    """Whether a verb states what a person does."""
    before = words[place - 1]
    if before in _ROLE_WORDS["stating"] or not before[0].isalnum() or before.endswith("ly"):
        return True
    if any(_is(words, at, "auxiliary") for at in range(place - _AUXILIARY_REACH, place)):
        return True
    return before.endswith("s") and not before.endswith(("ss", "us", "is"))
