"""Which lines of some texts may hold code, seen by looking at all of them at once.

Rules kept here:
- no others hold what `decoded` finds in any of them that follow each other; pure and linear;
- a run over some lines may be read otherwise without some of them: of few, each row is tried; of more, all are told;
- after so many runs of a kind, all lines are told.
"""

from __future__ import annotations

import html
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate, chain, combinations, islice
from typing import Any

from cortex_skills.enrichment.detecting import bases, groups, rot47
from cortex_skills.enrichment.detecting.escapes import escape, may_be_escaped
from cortex_skills.enrichment.detecting.joined import Joined
from cortex_skills.enrichment.detecting.ways import LONG_WORD, Way, read, runs_of, ways_in, words_in

_MOST_OF_ALL, _MOST_SAID, _FEW_LINES = 512, 64, 4


def lines_in_code(lines: list[str]) -> set[int]:
    """The numbers of lines; no others hold what `decoded` finds in any of them that follow each other.

    Where blanks and fields of an address are written as `+` and `%20`, it is left to the reader.
    """
    run = Joined(lines)
    apart = [line.split() for line in groups.parted(run.text).split("\n")]
    pieces = [*chain.from_iterable(apart), ""]
    each = set(pieces)
    # A word in code is within a piece.
    words = list(dict.fromkeys(words_in(" ".join([piece for piece in each if len(piece) >= LONG_WORD]).encode())))
    found = set(run.found(escape())) if may_be_escaped(run.text) else set()
    if "&" in run.text:
        found.update(number for number, line in enumerate(lines) if "&" in line and html.unescape(line) != line)
    # Of base85, only the lines count in which a sign of it stands.
    signed = b"\n".join([line for line in run.encoded.split(b"\n") if bases.has_sign_of_85(line)])
    for way in ways_in(run.encoded, words):
        if way.is_word:
            found.update(_lines_with(way, dict.fromkeys(runs_of(way, signed, words)), lines))
            continue
        for count, (match, first, last) in enumerate(run.matches(way.pattern)):
            if count == _MOST_OF_ALL:
                found.update(range(first, len(lines)))
                break
            if first == last and read(way.decode, match.group()):
                found.add(first)
            elif first != last:
                found.update(_lines_of_run(way.pattern, way.decode, lines, first, last))
    found.update(_lines_in_groups(pieces, list(accumulate(map(len, apart)))))
    if rot47.may_be_rot47(run.text, each):
        found.update(number for number, line in enumerate(lines) if rot47.words_of_rot47(line))
    return found


def _lines_with(way: Way, runs: Iterable[bytes], lines: list[str]) -> Iterator[int]:
    """The numbers of the lines with any of some runs, each within a line, that say something."""
    # Each is looked for in each line.
    said = list(islice((run.decode() for run in runs if read(way.decode, run)), _MOST_SAID + 1))
    if len(said) > _MOST_SAID:
        yield from range(len(lines))
    elif said:
        yield from (number for number, line in enumerate(lines) if any(run in line for run in said))


def _lines_of_run(
    pattern: Any, decode: Callable[[str], Iterator[str]], lines: list[str], first: int, last: int
) -> set[int]:
    """The numbers of those of the lines of a run that may be code, with or without the others."""
    whole = range(first, last + 1)
    # A run of words is the same without some of its lines; another may be read otherwise.
    if decode not in (bases.base64, bases.hexadecimal) or len(whole) > _FEW_LINES:
        return set(whole)
    found = set[int]()
    for start, end in combinations(range(first, last + 2), 2):
        some = "\n".join(lines[start:end]).encode()
        if any(read(decode, match.group()) for match in pattern.finditer(some)):
            found.update(range(start, end))
    return found


def _lines_in_groups(pieces: list[str], ends: list[int]) -> Iterator[int]:
    """The numbers of the lines with runs that were broken into groups of one length, and may be code.

    Args:
        pieces: of all lines.
        ends: how many of them there are up to the end of each line.

    """
    for start, end in groups.groups(pieces):
        owners = [bisect_right(ends, place) for place in range(start, end)]
        # Any of the lines may stand without the others.
        cuts = [start + place for place in range(1, end - start) if owners[place] != owners[place - 1]]
        if len(cuts) >= _FEW_LINES:
            yield from range(owners[0], owners[-1] + 1)
            continue
        for first, last in combinations((start, *cuts, end), 2):
            run = "".join(pieces[first:last])
            rest = groups.rest_of(pieces[first], pieces[last]) if last == end else ""
            if last - first >= groups.FEWEST and (groups.based(run) or (rest and groups.based(run + rest))):
                yield from range(owners[first - start], owners[last - 1 - start] + 1)
