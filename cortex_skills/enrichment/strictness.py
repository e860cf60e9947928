"""The steps that a host's policy adds: fewer keys, no text, marked text.

Rules kept here:
- each only removes, but for the mark, which takes the place of blanks and adds none;
- what holds nothing after its members were removed is removed with them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from cortex_skills.enrichment.policy import Policy
from cortex_skills.enrichment.steps import NOTHING, Cleaned, Path, Removal, pointer

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,39}")
_BLANKS = re.compile(r"\s+")


def restrict(value: Any, policy: Policy) -> Cleaned:
    """`value` without what a policy does not allow."""
    removals: list[Removal] = []
    if policy.allowed_keys is None and not policy.drop_all_text:
        return Cleaned(value, ())
    keys = policy.allowed_keys

    def keep(item: Any, path: Path) -> Any:
        if type(item) is str:
            if not policy.drop_all_text:
                return item
            removals.append(Removal("text", pointer(path)))
            return NOTHING
        if type(item) is list:
            kept = [keep(member, (*path, place)) for place, member in enumerate(item)]
            left = [member for member in kept if member is not NOTHING]
            return NOTHING if item and not left else left
        if type(item) is not dict:
            return item
        members = {}
        for place, (key, member) in enumerate(item.items()):
            if (keys is not None and key not in keys) or (policy.drop_all_text and not _NAME.fullmatch(key)):
                removals.append(Removal("key_not_allowed", pointer((*path, f"(key {place})"))))
                continue
            kept_member = keep(member, (*path, key))
            if kept_member is not NOTHING:
                members[key] = kept_member
        return NOTHING if item and not members else members

    return Cleaned(keep(value, ()), tuple(removals))


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
