r"""What a skill says about a query, made into what a model may read.

Rules kept here:
- pure, never raises, and linear in what is given, whatever it is;
- the value passes the `STEPS` in order, each of which only removes; then it is fitted into one block;
- the block is `<skill-enrichment type="data">`, JSON, `</skill-enrichment>`, each on a line of its own, at most 4096
  characters, or the empty text;
- what was removed is counted and named by reason and path; its text is nowhere in the result;
- `safe` is False when something was given and nothing of it could be kept.

    >>> sanitize_enrichment('{"status": "<b>verified</b>"}').text.splitlines()[1]
    '{"status":"\\u003cb\\u003everified\\u003c/b\\u003e"}'
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cortex_skills.enrichment.fitting import fit
from cortex_skills.enrichment.reading import read
from cortex_skills.enrichment.steps import NOTHING, Cleaned, Removal, Step
from cortex_skills.enrichment.structure import DID_NOT_FIT, limit_structure

# Each step sees what the one before it left.
STEPS: tuple[Step, ...] = (limit_structure,)


@dataclass(frozen=True)
class Sanitized:
    """The result of cleaning.

    Attributes:
        safe: False when something was given and nothing of it could be kept.
        text: the whole block with its tags, or the empty text.
        stripped_count: how many values were removed or cut.
        reasons: why and where, at most a few hundred.

    """

    safe: bool
    text: str
    stripped_count: int
    reasons: tuple[Removal, ...]


def sanitize_enrichment(raw: object) -> Sanitized:
    """What may be shown to a model of `raw`, the `additionalContext` of a skill.

    Args:
        raw: a text holding JSON or plain text, or a JSON value; plain text becomes `{"data": text}`.

    Returns:
        The block and what was removed from it.

    """
    cleaned = read(raw)
    value, removals = cleaned.value, list(cleaned.removals)
    if value is not NOTHING and _says_nothing(value):
        return Sanitized(True, "", 0, ())
    if value is not NOTHING:
        cleaned = clean(value)
        value = cleaned.value
        removals.extend(cleaned.removals)
    text = ""
    if value is not NOTHING:
        truncated = any(removal.reason == DID_NOT_FIT for removal in removals)
        text, dropped = fit({"data": value} if isinstance(value, str) else value, truncated)
        if dropped:
            removals.append(Removal(DID_NOT_FIT, "", dropped))
    count = sum(removal.count for removal in removals)
    return Sanitized(text != "", text, count, tuple(removals))


def clean(value: Any) -> Cleaned:
    """What the steps leave of a JSON value, for whoever writes it down by itself."""
    removals: list[Removal] = []
    for step in STEPS:
        if value is NOTHING:
            break
        cleaned = step(value)
        value = cleaned.value
        removals.extend(cleaned.removals)
    return Cleaned(value, tuple(removals))


def _says_nothing(value: Any) -> bool:
    if type(value) is str:
        return not value.strip()
    return value is None or (type(value) in (dict, list) and not value)
