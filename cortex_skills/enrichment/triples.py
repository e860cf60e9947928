"""Triples as they go to a model by themselves: from a query, or before an agent starts.

Rules kept here:
- a name or a text that is an instruction is not shown, whoever wrote it into the graph; that it is there is said;
- what the graph holds under a predicate for quotations is shown: it is about an attack, and the predicate says so;
- a policy that drops text, or allows some keys alone, holds for objects and predicates here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from cortex_skills.enrichment.policy import RULE, Policy

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


def why_withheld(triple: Mapping[str, Any], policy: Policy = RULE) -> tuple[str, str] | None:
    """Which part of a triple a model is not shown, and why; None when it may be shown whole.

    Args:
        triple: with `subject`, `predicate` (texts) and `object` (a JSON value).
        policy: what is taken out beyond the rule.

    Returns:
        `subject`, `predicate` or `object`, and the reason.

    """
    from cortex_skills.enrichment.detecting import detect

    predicate, object_ = triple["predicate"], triple["object"]
    for part in ("subject", "predicate"):
        kind = detect(triple[part])
        if kind is not None:
            return part, kind
    if policy.allowed_keys is not None and not {predicate, _local(predicate)} & set(policy.allowed_keys):
        return "predicate", "key_not_allowed"
    if type(object_) is str and policy.drop_all_text:
        return "object", "text"
    text = object_.get("node") if type(object_) is dict else object_
    if type(text) is str and not (type(object_) is str and is_quotation(predicate)):
        kind = detect(text)
        if kind is not None:
            return "object", kind
    return None


def _local(predicate: str) -> str:
    found = _LOCAL.search(predicate)
    return found.group() if found else predicate
