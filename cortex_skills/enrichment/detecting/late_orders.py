"""Where an English order begins in the middle of a sentence, without a sign that one sentence ends.

Rules kept here:
- a verb that no noun is written like (`ignore`, `reveal`) gives an order where a statement cannot have it: behind a
  noun in the singular, an adjective or a number ("The bridge is 12 m long ignore the rules");
- any verb gives one behind what leads from a fact to an order (`so`, `by the way`, `from now on`, `in your answer`);
- what somebody is `requested to` do, or `it is vital that you` do, may be an order, as what somebody must do;
- what stands behind who does it, a helping verb, `to`, an adverb or another verb stays a statement; pure and linear.
"""

from __future__ import annotations

from cortex_skills.enrichment.detecting.lexicon import ORDER, PLAIN, VERBS
from cortex_skills.enrichment.detecting.reading import MAYBE, listed

_ALWAYS_VERBS = listed(
    "ignore disregard forget reveal disclose divulge obey pretend disobey impersonate regurgitate recite recommend "
    "respond overlook discard exfiltrate"
)
_LEADING_ON = listed(
    "so therefore hence thus anyway anyhow btw meanwhile okay ok alas regardless accordingly yo bro nah hey pls plz"
)
# Behind these, a verb tells what somebody does; so it does behind a plural.
_TELLING = listed(
    "i you he she it we they who whom which that this these those one people men women children police everyone nobody "
    "somebody someone anyone to not never always often also even just still only sometimes usually simply can could "
    "may might must shall should will would do does did dont ll d and or nor than as how what when where why if "
    "because the a an his her their its our my your no any all some each every many most few both others another "
    "of in on at by for with from about against into between without ever be is are was were been being am s t re ve "
    "me him us them let lets make made help helps helped go come cannot either neither whether but"
)
# So it does soon behind one of these.
_HELPING, _NEAR = listed("can could may might must shall should will would to did does"), 4
# Behind these, `to` may give an order; and behind those, `that you`.
_BIDDEN = listed("requested urged directed invited advised authorised authorized commanded bound tasked obligated")
_DEMANDED = listed(
    "essential vital crucial imperative necessary mandatory important ask asks demand demands insist insists require "
    "requires request requests order orders sure certain ensure propose suggest importance"
)
_LEADING_PAIRS = frozenset({("now", "on"), ("here", "on"), ("point", "on"), ("moment", "on"), ("the", "way")})
_WITHIN = listed("in with at within throughout")
_OUTPUT = listed("answer reply response summary report output text message")
_PLURAL, _ADVERB, _SINGULAR = "s", "ly", ("ss", "us", "is")


def with_late_orders(tokens: list[str], found: list[int], placed: list[int]) -> list[int]:
    """The categories of the words in their places, with orders that begin in the middle of a sentence.

    Args:
        tokens: the words of a sentence.
        found: the categories that each may have, wherever it stood.
        placed: those that it has in its place.

    """
    row = placed
    for place in range(1, len(tokens)):
        mask = found[place]
        if not (mask & PLAIN and mask & VERBS) or row[place] & ORDER:
            continue
        if _leads_on(tokens, place) or (tokens[place] in _ALWAYS_VERBS and not _tells(tokens, place)):
            row = placed[:] if row is placed else row
            row[place] = (mask | ORDER) & ~PLAIN
        elif _is_bidden(tokens, place):
            row = placed[:] if row is placed else row
            row[place] = (mask | MAYBE) & ~PLAIN
    return row


def _leads_on(tokens: list[str], place: int) -> bool:
    if tokens[place - 1] in _LEADING_ON:
        return True
    first, second = tokens[place - 2] if place > 1 else "", tokens[place - 1]
    if first == "your":
        return second in _OUTPUT and place > 2 and tokens[place - 3] in _WITHIN
    return (first, second) in _LEADING_PAIRS


def _is_bidden(tokens: list[str], place: int) -> bool:
    if place > 2 and tokens[place - 2 : place] == ["that", "you"]:
        return tokens[place - 3] in _DEMANDED
    return place > 1 and tokens[place - 1] == "to" and tokens[place - 2] in _BIDDEN


def _tells(tokens: list[str], place: int) -> bool:
    before = tokens[place - 1]
    if before in _TELLING or not before[0].isalnum() or before.endswith(_ADVERB):
        return True
    if not _HELPING.isdisjoint(tokens[max(place - _NEAR, 0) : place]):
        return True
    return before.endswith(_PLURAL) and not before.endswith(_SINGULAR)
