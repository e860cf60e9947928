"""Triples as they go to a model by themselves: from a query, or before an agent starts.

Rules kept here:
- a name or a text that is an instruction is not shown, whoever wrote it into the graph; that it is there is said;
- what the graph holds under a predicate for quotations is shown: it is about an attack, and the predicate says so;
- a policy that drops text, or allows some keys alone, holds for objects and predicates here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from cortex_skills.enrichment.policy import RULE, Policy
from cortex_skills.enrichment.verdicts import Verdicts

# The last part of a predicate's name: `quotation`, `oa:exact`, `https://…#quotedText`.
QUOTATION_PREDICATES = frozenset({"quotation", "quotedText", "quote", "exact"})
_LOCAL = re.compile(r"[^:/#]*\Z")


def is_quotation(predicate: str) -> bool:
    """Whether a predicate marks its object as the words of somebody."""
    return _local(predicate) in QUOTATION_PREDICATES


def quotations(triples: Iterable[Mapping[str, Any]]) -> frozenset[str]:
    """The texts that triples of the graph hold as quotations, word for word."""
    return frozenset(
        triple["object"] for triple in triples if type(triple["object"]) is str and is_quotation(triple["predicate"])
    )


def why_withheld(triples: Sequence[Mapping[str, Any]], policy: Policy = RULE) -> list[tuple[str, str] | None]:
    """Which part of each triple a model is not shown, and why; None when it may be shown whole.

    Args:
        triples: with `subject`, `predicate` (texts) and `object` (a JSON value); many at once take a fraction of the
            time that they take one by one.
        policy: what is taken out beyond the rule.

    Returns:
        `subject`, `predicate` or `object`, and the reason, for each triple.

    """
    verdicts = Verdicts()
    verdicts.look_at(text for triple in triples for text in (triple["subject"], triple["predicate"], *_said(triple)))
    return [_why_withheld(triple, policy, verdicts) for triple in triples]


def _why_withheld(triple: Mapping[str, Any], policy: Policy, verdicts: Verdicts) -> tuple[str, str] | None:
    predicate = triple["predicate"]
    for part in ("subject", "predicate"):
        kind = verdicts.kind(triple[part])
        if kind is not None:
            return part, kind
    if policy.allowed_keys is not None and not {predicate, _local(predicate)} & set(policy.allowed_keys):
        return "predicate", "key_not_allowed"
    if type(triple["object"]) is str and policy.drop_all_text:
        return "object", "text"
    return next((("object", kind) for _, kind in verdicts.found(_said(triple))), None)


def _said(triple: Mapping[str, Any]) -> list[str]:
    """What the object of a triple says by itself: a text that is no quotation, or the name of a node."""
    object_ = triple["object"]
    text = object_.get("node") if type(object_) is dict else object_
    if type(text) is not str or (type(object_) is str and is_quotation(triple["predicate"])):
        return []
    return [text]


def _local(predicate: str) -> str:
    found = _LOCAL.search(predicate)
    return found.group() if found else predicate
