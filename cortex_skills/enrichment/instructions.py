"""The step that judges: nothing that tells a model what to do is left.

Rules kept here:
- every string and every key is judged (`detecting`); what is an instruction is removed whole, its kind is the reason;
- what says nothing by itself is judged together with its neighbours, too (`together`);
- a string that is exactly what the graph holds under a predicate for quotations stays, and so does nothing else;
- a path never holds the text that was removed: the place of a key stands for the key;
- what is left is judged again until it says nothing, and after `ROUNDS` the whole is removed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from cortex_skills.enrichment.neighbours import Neighbours, names_of_facts
from cortex_skills.enrichment.pieces import Piece, said
from cortex_skills.enrichment.steps import NOTHING, Cleaned, Path, Removal, pointer
from cortex_skills.enrichment.together import ROUNDS, Together
from cortex_skills.enrichment.verdicts import Verdicts

_REMEMBERED = 256


def drop_instructions(value: Any, quotations: Collection[str] = ()) -> Cleaned:
    """`value` without instructions.

    Args:
        value: JSON types only, bounded in depth and length.
        quotations: strings that stay as they are.

    """
    quotations = frozenset(quotations)
    verdicts = Verdicts()
    removals: list[Removal] = []
    clean: Neighbours | None = None
    for _ in range(ROUNDS):
        pieces = tuple(said(value, quotations))
        if pieces in _CLEAN:
            return Cleaned(value, tuple(removals))
        # What was removed may have left less than a column of facts.
        facts = names_of_facts(pieces)
        if clean is not None and clean.are(pieces, facts):
            _remember(pieces)
            return Cleaned(value, tuple(removals))
        neighbours = Neighbours(pieces, facts)
        texts = list(dict.fromkeys(text for _, text in pieces))
        if next(verdicts.found([*texts, *neighbours.joined], neighbours.runs), None) is None:
            _remember(pieces)
            return Cleaned(value, tuple(removals))
        kinds = dict(verdicts.found(texts))
        if kinds:
            value = _without(value, kinds, quotations, removals)
        together = Together(quotations, verdicts, neighbours)
        value = together.kept(value)
        removals += together.removals
        if value is NOTHING:
            return Cleaned(NOTHING, tuple(removals))
        clean = together.clean
    return Cleaned(NOTHING, (*removals, Removal("split", "")))


# Pieces that say nothing, of those that were judged last.
_CLEAN: dict[tuple[Piece, ...], None] = {}


def _remember(pieces: tuple[Piece, ...]) -> None:
    if len(_CLEAN) >= _REMEMBERED:
        _CLEAN.clear()
    _CLEAN[pieces] = None


def _without(value: Any, kinds: Mapping[str, str], quotations: Collection[str], removals: list[Removal]) -> Any:
    """What stays of `value` when each string and key goes that is an instruction by itself.

    Args:
        value: JSON types only.
        kinds: what instruction a string or key is.
        quotations: strings that stay.
        removals: what was removed is added here.

    """

    def remove(kind: str, path: Path) -> Any:
        removals.append(Removal(kind, pointer(path)))
        return NOTHING

    def keep(item: Any, path: Path) -> Any:
        if type(item) is str:
            return remove(kinds[item], path) if item in kinds and item not in quotations else item
        if type(item) is list:
            kept = [keep(member, (*path, place)) for place, member in enumerate(item)]
            left = [member for member in kept if member is not NOTHING]
            return NOTHING if item and not left else left
        if type(item) is not dict:
            return item
        members = {}
        for place, (key, member) in enumerate(item.items()):
            if key in kinds:
                remove(kinds[key], (*path, f"(key {place})"))
                continue
            kept_member = keep(member, (*path, key))
            if kept_member is not NOTHING:
                members[key] = kept_member
        return NOTHING if item and not members else members

    return keep(value, ())
