"""How much stricter than the rule a host wants the cleaning to be.

Rules kept here:
- the policy without arguments is what the cleaner always does; every field removes, none adds;
- two policies together are as strict as each of them (`and_also`);
- a field of the wrong type is an error, so that a mistake never makes a policy looser.

    >>> Policy(allowed_keys={"status"}).and_also(Policy(drop_all_text=True))
    Policy(drop_all_text=True, allowed_keys=frozenset({'status'}), mark='')
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from cortex_skills.enrichment.fragments import fragments_of
from cortex_skills.enrichment.removal import Cleaned, is_word, without
from cortex_skills.errors import CortexError

_LONGEST_MARK = 8
_BLANKS = re.compile(r"\s+")


@dataclass(frozen=True)
class Policy:
    """What is removed beyond the rule.

    Attributes:
        drop_all_text: no string is kept, typed or not, and no key that is more than one word.
        allowed_keys: members of objects with other keys are removed, at any depth; None allows all.
        mark: replaces the blanks of every string, such as `▁`; empty leaves strings as they are.
    """

    drop_all_text: bool = False
    allowed_keys: Collection[str] | None = None
    mark: str = ""

    def __post_init__(self) -> None:
        if type(self.drop_all_text) is not bool:
            raise _invalid("drop_all_text", "must be True or False")
        keys = self.allowed_keys
        if keys is not None:
            if isinstance(keys, str | bytes) or not all(type(key) is str for key in keys):
                raise _invalid("allowed_keys", "must be a collection of strings, or None")
            object.__setattr__(self, "allowed_keys", frozenset(keys))
        if type(self.mark) is not str or len(self.mark) > _LONGEST_MARK or any(char.isspace() for char in self.mark):
            raise _invalid("mark", f"must be at most {_LONGEST_MARK} characters, none of them blank")

    def and_also(self, other: Policy) -> Policy:
        """A policy as strict as both.

        Raises:
            CortexError: `config_invalid`: their marks differ.
        """
        if self.mark and other.mark and self.mark != other.mark:
            raise _invalid("mark", "must be the same in policies that are put together")
        keys = self.allowed_keys
        if keys is None or other.allowed_keys is None:
            keys = other.allowed_keys if keys is None else keys
        else:
            keys = frozenset(keys) & frozenset(other.allowed_keys)
        return Policy(self.drop_all_text or other.drop_all_text, keys, self.mark or other.mark)

    def marked(self, value: Any) -> Any:
        """A JSON value with the policy's mark in place of the blanks of every string; keys stay."""
        if not self.mark:
            return value
        if type(value) is str:
            return _BLANKS.sub(lambda _: self.mark, value)
        if type(value) is list:
            return [self.marked(item) for item in value]
        return {key: self.marked(item) for key, item in value.items()} if type(value) is dict else value


RULE = Policy()


def restrict(value: Any, policy: Policy) -> Cleaned:
    """`value` without what a policy does not allow."""
    keys, drops_text = policy.allowed_keys, policy.drop_all_text
    if keys is None and not drops_text:
        return Cleaned(value, ())
    reasons, hidden = {}, set()
    for path, _, text, is_key in fragments_of(value):
        if is_key and ((keys is not None and text not in keys) or (drops_text and not is_word(text))):
            reasons[path] = "key_not_allowed"
            hidden.add(path)
        elif not is_key and drops_text:
            reasons.setdefault(path, "text")
    return without(value, reasons, hidden)


def _invalid(field: str, problem: str) -> CortexError:
    return CortexError("config_invalid", f"the cleaning policy's {field} {problem}", details={"field": field})
