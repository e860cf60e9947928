"""Texts that tests draw: words and phrases that mean something, signs of many scripts, and disguises for all of it."""

from __future__ import annotations

import base64
import codecs
import re
from collections.abc import Callable

from hypothesis import strategies as st

from cortex_skills.enrichment.detecting.lexicon import PLAIN, VERBS, lexicon
from cortex_skills.enrichment.detecting.roles import ROLES
from tests.eval.__main__ import rows

ALL = [row for name in ("attacks", "benign") for row in rows(name)]
DEV = [row["text"] for row in ALL if row["split"] == "dev"]
ATTACKS = [row["text"] for row in rows("attacks") if row["split"] == "dev" and row["kind"] != "split"]
WORDS = sorted(word for word in lexicon().words if word.isascii())
OTHERS = sorted(word for word in lexicon().words if not word.isascii())
PHRASES = sorted(lexicon().phrases)
UNSPACED = sorted(lexicon().unspaced)
ENGLISH_VERBS = sorted(word for word, mask in lexicon().words.items() if mask & PLAIN and mask & VERBS)
BESIDE_VERBS = sorted({word for words in ROLES.values() for word in words})
# Words of languages without blanks, signs of many scripts, and what shows a disguise or a code.
ODDS = [
    *"।؟…。！，「』·—\u00a0\u200b\u0301\u0345\u202e\ufe0fßİſﬁ²|\t\r",
    *re.findall(
        r"\S+",
        """无视 从来没有 秘密を 翻訳して 日本語 한국어 ไทย https://a.b/c?d= user: SYSTEM: R&D &#73; %49 \\x49 www. ssh
        U+0049 well-known read-only e-mail 1,2,3,4,5,6,7 sWdub2pl aWdub3JlIGFsbA== camelCaseWords theHTMLPage a.b.c_d/e
        misunderstandings 1gn0re th3 = 50% $5""",
    ),
]
DISGUISES: dict[str, Callable[[str], str]] = {
    "as it is": lambda text: text,
    "reversed": lambda text: text[::-1],
    "from the last word": lambda text: " ".join(reversed(text.split())),
    "with digits": lambda text: text.replace("e", "3").replace("o", "0"),
    "doubled": lambda text: "".join(char * 2 for char in text),
    "spaced": lambda text: " ".join(text),
    "with hyphens": lambda text: text.replace(" ", "-"),
    "run together": lambda text: text.replace(" ", ""),
    "humped": lambda text: text.title().replace(" ", ""),
    "in Cyrillic letters": lambda text: text.replace("a", "а").replace("e", "е").replace("o", "о"),
    "rot13": lambda text: codecs.encode(text, "rot13"),
    "in base 64": lambda text: base64.b64encode(text.encode()).decode(),
}

_PLAIN = (
    *re.findall(r"\S+", "bridge house is 12 é x naïvely ß 漢 ๆ foo_bar don't can't ㅎㅏㄴ 𝐢𝐠𝐧𝐨𝐫𝐞 İ Ⅷ १ ٣"),
    "\ud800",
    "\x00",
)
_BETWEEN = (
    *(". ", ", ", "; ", ": ", "! ", "? ", " - ", "' ", " '", "n't ", "\n", "\r", "\u2028", "\x85", "\t", "\u3000", ""),
    *"-'\"()[]{}|>*#_/.!¿…—·’。、「」！",
)


def rows_of(text: str, whole: str) -> tuple[int, int]:
    """Which lines of a whole a text is that stands in it: the first, and how many."""
    lines, rows = text.split("\n"), whole.split("\n")
    return next(at for at in range(len(rows)) if rows[at : at + len(lines)] == lines), len(lines)


def words_of_any_kind() -> st.SearchStrategy[str]:
    """Something that means something, or an attack or a fact in disguise, and what stands behind it."""
    plain = st.sampled_from(WORDS) | st.sampled_from(OTHERS) | st.sampled_from(PHRASES) | st.sampled_from(ODDS)
    hidden = st.builds(lambda text, name: DISGUISES[name](text), st.sampled_from(DEV), st.sampled_from([*DISGUISES]))
    between = st.sampled_from([" "] * 6 + [". ", ", ", "; ", "\n", "\n", "-", ""])
    return st.builds(str.__add__, plain | plain | plain | hidden, between)


def texts(among: st.SearchStrategy[str] | None = None) -> st.SearchStrategy[str]:
    """Orders and what is nearly one: English verbs among what stands beside them, phrases, words of any script.

    Args:
        among: what else may stand in them.

    """
    word = st.one_of(*map(st.sampled_from, (BESIDE_VERBS, BESIDE_VERBS, ENGLISH_VERBS, WORDS, OTHERS, PHRASES)))
    other = st.sampled_from(UNSPACED) | st.sampled_from(_PLAIN)
    between = st.just(" ") | st.just(" ") | st.sampled_from(_BETWEEN)
    one = st.builds(str.__add__, word | other if among is None else word | other | among, between)
    return st.lists(one, max_size=20).map("".join)


def disguised() -> st.SearchStrategy[str]:
    """The same, some of it in disguise."""
    disguise = st.sampled_from([*DISGUISES.values()])
    some = st.builds(lambda text, hide: hide(text), st.sampled_from([*WORDS, *PHRASES, *ATTACKS]), disguise)
    return texts(some)
