"""Triples as they go to a model outside the block: from a query, or before an agent starts.

Rules kept here:
- a name or a text that is an instruction is withheld, and the answer reports that it was;
- what the graph holds under a predicate for quotations is shown: it is about an attack, and the predicate states that;
- a policy that drops text, or allows some keys only, applies to objects and predicates here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from cortex_skills.enrichment.fragments import kind_of
from cortex_skills.enrichment.policy import RULE, Policy

# The last part of a predicate's name: `quotation`, `oa:exact`, `https://…#quotedText`.
QUOTATION_PREDICATES = frozenset({"quotation", "quotedText", "quote", "exact"})
_LOCAL = re.compile(r"[^:/#]*\Z")


def is_quotation(predicate: str) -> bool:
    """Whether a predicate marks its object as a quotation."""
    return _local(predicate) in QUOTATION_PREDICATES


def why_withheld(triples: Sequence[Mapping[str, Any]], policy: Policy = RULE) -> list[tuple[str, str] | None]:
    """Which part of each triple is withheld from a model, and why; None when it is shown whole.

    Args:
        triples: with `subject`, `predicate` (texts) and `object` (a JSON value).
        policy: what is taken out beyond the rule.

    Returns:
        `subject`, `predicate` or `object`, and the reason, for each triple.
    """
    return [_why_withheld(triple, policy) for triple in triples]


def _why_withheld(triple: Mapping[str, Any], policy: Policy) -> tuple[str, str] | None:
    predicate, object_ = triple["predicate"], triple["object"]
    for part in ("subject", "predicate"):
        kind = kind_of(triple[part])
        if kind is not None:
            return part, kind
    if policy.allowed_keys is not None and not {predicate, _local(predicate)} & set(policy.allowed_keys):
        return "predicate", "key_not_allowed"
    if type(object_) is str and policy.drop_all_text:
        return "object", "text"
    text = object_.get("node", object_.get("value")) if type(object_) is dict else object_
    is_name = type(object_) is dict and "node" in object_
    if type(text) is not str or (is_quotation(predicate) and not is_name):
        return None
    kind = kind_of(text)
    return None if kind is None else ("object", kind)


def _local(predicate: str) -> str:
    found = _LOCAL.search(predicate)
    return found.group() if found else predicate
