"""The step that judges: nothing that tells a model what to do is left.

Rules kept here:
- every string and every key is judged (`detecting`); what is an instruction is removed whole, its kind is the reason;
- what says nothing by itself is judged together with its neighbours, too (`together`);
- a string that is exactly what the graph holds under a predicate for quotations stays, and so does nothing else;
- a path never holds the text that was removed (`pruning`);
- what is left is judged again until it says nothing, and after `ROUNDS` the whole is removed.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from cortex_skills.enrichment.columns import names_of_facts
from cortex_skills.enrichment.neighbours import Neighbours
from cortex_skills.enrichment.pieces import Piece, Shapes, said
from cortex_skills.enrichment.pruning import pruned
from cortex_skills.enrichment.steps import NOTHING, Cleaned, Removal
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
    verdicts, shapes = Verdicts(), Shapes()
    removals: list[Removal] = []
    clean: Neighbours | None = None
    for number in range(ROUNDS):
        pieces = tuple(said(value, quotations))
        if pieces in _CLEAN:
            return Cleaned(value, tuple(removals))
        # What was removed may have left less than a column of facts.
        facts = names_of_facts(pieces)
        neighbours = clean if clean is not None and clean.are(pieces, facts) else Neighbours(pieces, facts, shapes)
        may_say = neighbours is not clean and (number > 0 or verdicts.look_over(neighbours))
        if not may_say or not verdicts.any_in([*neighbours.alone, *neighbours.joined]):
            _remember(pieces)
            return Cleaned(value, tuple(removals))
        kinds = dict(verdicts.found(neighbours.alone))
        if kinds:
            of_strings = {text: kind for text, kind in kinds.items() if text not in quotations}
            kept = pruned(value, of_strings.get, kinds.get)
            value = kept.value
            removals += kept.removals
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
