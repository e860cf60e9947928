"""English verbs in a sentence: whether one gives an order or is a statement or a noun, by the words before it.

Rules kept here:
- a verb gives an order (`ORDER`) or may give one (`MAYBE`) at the start of a sentence or clause, behind "please" or
  "must", joined to an order; elsewhere it loses its verb categories.
"""

from __future__ import annotations

import re

from cortex_skills.injection.lexicon import BITS, CLAUSE, MAYBE, ORDER, PLAIN, QUOTED, VERBS

CLAUSE_SIGNS = frozenset("\n,:()[]'{}>*#–—、，：」』،-")

_DEEDS = sum(BITS[name] for name in ("act", "send", "execute", "wipe", "launch", "play_role", "use_your_tools"))
_AUXILIARY_REACH = 4  # words

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


def in_position(words: list[str], found: list[int]) -> list[int]:
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


def with_late_orders(words: list[str], found: list[int]) -> list[int]:
    """The same, with orders that begin in the middle of a sentence."""
    row = in_position(words, found)
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
    while place and words[place - 1] not in CLAUSE_SIGNS:
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
