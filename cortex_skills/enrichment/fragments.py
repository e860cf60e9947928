"""The strings and keys of a value, and the instructions in them.

Rules kept here:
- every fragment of text is judged alone; one that is an instruction is removed whole, and its kind is the reason;
- what is left is judged together: all fragments in their order, those under one name (a column of a table), and those
  without blanks with nothing between them. Of what is an instruction together, the shortest run of fragments goes;
- what is left is judged again; after `ROUNDS` everything that is text goes.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from cortex_skills.enrichment.removal import NOTHING, Cleaned, Path, Removal, shortest_run, without

ROUNDS = 4
_LOCATING_ROUNDS = 3
ROOT = "data"  # the name of strings that have no key above them

_SENTENCE_ENDS = tuple(".!?;…。！？；؟।")
_BEFORE_SENTENCE = " \"'“„«(*-"
_BLANKS_OF_SENTENCE = 5
_ADDRESS = re.compile(r"\S+://\S+")
_KEYS_OF_TABLE = 3  # a key that occurs so often names the column of a table
_FEWEST_LETTERS = 3
_JOINTS = str.maketrans("", "", "-_'")
_CODE = re.compile("[0-9]|[a-z][A-Z]|^.{1,2}$")
# A sign or a short word in small letters, or a writing without capitals, where anything may continue.
_CONTINUES = re.compile("(?:[,:(-]|\\b[a-z]{1,4})\\Z|[\u0590-\u10ff\u1100-\u1cff\u2e80-\ua63f\uac00-\ud7ff]")


class Fragment(NamedTuple):
    """A string or a key of a value.

    Attributes:
        path: of the string, or of the member with the key.
        name: the last key above the string; empty for a key.
        text: the string or the key.
        is_key: whether it is a key.
    """

    path: Path
    name: str
    text: str
    is_key: bool = False


def fragments_of(value: Any) -> list[Fragment]:
    """Every key and string of a JSON value, in its order."""
    found: list[Fragment] = []

    def visit(item: Any, path: Path, name: str) -> None:
        if type(item) is str:
            found.append(Fragment(path, name, item))
        elif type(item) is dict:
            for key, member in item.items():
                there = (*path, key)
                found.append(Fragment(there, "", key, True))
                visit(member, there, key)
        elif type(item) is list:
            for position, member in enumerate(item):
                visit(member, (*path, position), name)

    visit(value, (), ROOT)
    return found


def kind_of(text: str) -> str | None:
    """The kind of instruction in a text; None when it contains none."""
    from cortex_skills.injection import detect

    return detect(text)


def judge(value: Any, is_text: Callable[[Fragment], bool]) -> Cleaned:
    """`value` without instructions.

    Args:
        value: JSON types only, bounded in depth and length.
        is_text: whether a fragment is judged.
    """
    removals: list[Removal] = []
    for number in range(ROUNDS + 1):
        texts = [fragment for fragment in fragments_of(value) if is_text(fragment)]
        guilty = _guilty_alone(texts) or _guilty_together(texts, locates=number < _LOCATING_ROUNDS)
        if not guilty:
            return Cleaned(value, tuple(removals))
        if number == ROUNDS:
            guilty = {fragment.path: ("split", True) for fragment in texts}
        reasons = {path: reason for path, (reason, _) in guilty.items()}
        cleaned = without(value, reasons, {path for path, (_, hides_key) in guilty.items() if hides_key})
        value = cleaned.value
        removals += cleaned.removals
        if value is NOTHING:
            break
    return Cleaned(value, tuple(removals))


# By path: why something goes, and whether its key is part of the reason.
_Guilty = dict[Path, tuple[str, bool]]


def _guilty_alone(texts: Sequence[Fragment]) -> _Guilty:
    guilty: _Guilty = {}
    for fragment in texts:
        kind = kind_of(fragment.text)
        if kind is not None:
            guilty.setdefault(fragment.path, (kind, fragment.is_key))
    return guilty


def _guilty_together(texts: Sequence[Fragment], locates: bool) -> _Guilty:
    """What is an instruction only together with other fragments.

    Args:
        texts: the fragments, each of which is none alone.
        locates: whether the shortest run of fragments is looked for; else all that are read together go.
    """
    guilty: _Guilty = {}
    for between, group in _groups(texts):
        kind = _kind(group, between)
        if kind is not None and not any(fragment.path in guilty for fragment in group):
            run = _shortest_run(group, between) if locates else group
            guilty |= {fragment.path: (f"split_{kind}", True) for fragment in run}
    return guilty


def _groups(texts: Sequence[Fragment]) -> Iterator[tuple[str, list[Fragment]]]:
    """The fragments that are read together, two or more, and what is put between them."""
    values = [fragment for fragment in texts if not fragment.is_key]
    keys = Counter(fragment.text for fragment in texts if fragment.is_key)
    columns: dict[str, list[Fragment]] = {}
    for fragment in values:
        columns.setdefault(fragment.name, []).append(fragment)
    rows = [values]
    if keys:
        rows.append([each for each in texts if not each.is_key or keys[each.text] < _KEYS_OF_TABLE])
    if len(columns) > 1:
        rows += columns.values()
    for row in rows:
        words = [fragment for fragment in row if fragment.is_key or _has_word(fragment.text)]
        yield from (("\n", group) for group in _sentences(words) if len(group) > 1)
        unspaced = [fragment for fragment in row if " " not in fragment.text.strip(" ")]
        if len(unspaced) > 1 and 2 * sum(_CODE.search(each.text) is not None for each in unspaced) >= len(unspaced):
            yield "", unspaced


def _has_word(text: str) -> bool:
    """Whether a text contains a word or an address; no sentence runs through a number or a version.

    >>> [text for text in ("of steel", "pr3vi0us", "2.3.1-4", "https://a.org/b", "漢") if _has_word(text)]
    ['of steel', 'pr3vi0us', 'https://a.org/b', '漢']
    """
    if not text.isascii() or "://" in text:
        return True
    for token in text.split():
        core = token.strip(string.punctuation)
        letters = sum(map(str.isalpha, core))
        is_whole = core.translate(_JOINTS).isalnum()
        if core.isalpha() or (is_whole and letters >= _FEWEST_LETTERS and 2 * letters >= len(core)):
            return True
    return False


def _sentences(row: Sequence[Fragment]) -> Iterator[list[Fragment]]:
    """The fragments of a row, apart where a sentence ends."""
    group: list[Fragment] = []
    for fragment in row:
        if group and _ends(group[-1], fragment):
            yield group
            group = []
        group.append(fragment)
    if group:
        yield group


def _ends(last: Fragment, following: Fragment) -> bool:
    """Whether no sentence continues from one fragment to the following one."""
    text = last.text.rstrip()
    if last.is_key:
        return False
    if text[-1:] in _SENTENCE_ENDS or _ADDRESS.fullmatch(text):
        return True
    begins = following.is_key or following.text.lstrip(_BEFORE_SENTENCE)[:1].isupper()
    return begins and not _is_short(text) and _CONTINUES.search(text) is None


def _shortest_run(group: list[Fragment], between: str) -> list[Fragment]:
    """The fragments of a group that are an instruction together, without those before and behind that are not needed.

    Of an array of short pieces all go.
    """
    places = shortest_run(len(group), lambda first, end: _kind(group[first:end], between) is not None)
    run = group[places.start : places.stop]
    arrays = {each.path[:-1] for each in run if each.path and type(each.path[-1]) is int and _is_short(each.text)}
    return [each for each in group if each in run or each.path[:-1] in arrays]


def _is_short(text: str) -> bool:
    return text.count(" ") < _BLANKS_OF_SENTENCE


def _kind(group: Sequence[Fragment], between: str) -> str | None:
    return kind_of(between.join(fragment.text for fragment in group))
