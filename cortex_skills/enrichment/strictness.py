"""The steps that a host's policy adds: fewer keys, no text, marked text.

Rules kept here:
- each only removes, but for the mark, which takes the place of blanks and adds none.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from cortex_skills.enrichment.policy import Policy
from cortex_skills.enrichment.pruning import pruned
from cortex_skills.enrichment.steps import Cleaned

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,39}")
_BLANKS = re.compile(r"\s+")


def restrict(value: Any, policy: Policy) -> Cleaned:
    """`value` without what a policy does not allow."""
    keys, drops_text = policy.allowed_keys, policy.drop_all_text
    if keys is None and not drops_text:
        return Cleaned(value, ())

    def why_key(key: str) -> str | None:
        is_allowed = (keys is None or key in keys) and not (drops_text and not _NAME.fullmatch(key))
        return None if is_allowed else "key_not_allowed"

    return pruned(value, lambda _: "text" if drops_text else None, why_key)


def marker(policy: Policy) -> Callable[[str], str]:
    """What writes a string with the policy's mark in place of blanks."""
    return (lambda text: _BLANKS.sub(policy.mark, text)) if policy.mark else (lambda text: text)


def marked(value: Any, policy: Policy) -> Any:
    """`value` with every string marked; keys stay."""
    if not policy.mark:
        return value
    mark = marker(policy)

    def over(item: Any) -> Any:
        if type(item) is str:
            return mark(item)
        if type(item) is list:
            return [over(member) for member in item]
        return {key: over(member) for key, member in item.items()} if type(item) is dict else item

    return over(value)
