"""A JSON value without some of its strings and members.

Rules kept here:
- a member goes with its key, and what holds nothing after its members were removed goes with them;
- a path never holds a key that was removed: its place stands for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cortex_skills.enrichment.steps import NOTHING, Cleaned, Path, Removal, pointer

# Why a text goes; None when it stays.
Reason = Callable[[str], str | None]


def pruned(value: Any, why_text: Reason, why_key: Reason) -> Cleaned:
    """What stays of `value`.

    Args:
        value: JSON types only.
        why_text: why a string goes.
        why_key: why the member with a key goes.

    """
    removals: list[Removal] = []

    def remove(reason: str, path: Path) -> Any:
        removals.append(Removal(reason, pointer(path)))
        return NOTHING

    def keep(item: Any, path: Path) -> Any:
        if type(item) is str:
            reason = why_text(item)
            return item if reason is None else remove(reason, path)
        if type(item) is list:
            kept = [keep(member, (*path, place)) for place, member in enumerate(item)]
            left = [member for member in kept if member is not NOTHING]
            return NOTHING if item and not left else left
        if type(item) is not dict:
            return item
        members = {}
        for place, (key, member) in enumerate(item.items()):
            reason = why_key(key)
            if reason is not None:
                remove(reason, (*path, key_shown(place)))
                continue
            kept_member = keep(member, (*path, key))
            if kept_member is not NOTHING:
                members[key] = kept_member
        return NOTHING if item and not members else members

    return Cleaned(keep(value, ()), tuple(removals))


def key_shown(place: int) -> str:
    """What stands in a path for the key of a member that was removed."""
    return f"(key {place})"
