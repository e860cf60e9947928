"""How much stricter a host wants the cleaning to be.

Rules kept here:
- the policy that says nothing is what the cleaner always does; every field takes away, none gives back;
- two policies together are as strict as each of them (`and_also`);
- a field of the wrong type is an error, so that a slip is never a looser policy.

    >>> Policy(allowed_keys={"status"}).and_also(Policy(drop_all_text=True))
    Policy(drop_all_text=True, allowed_keys=frozenset({'status'}), mark='')
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from cortex_skills.errors import CortexError

_LONGEST_MARK = 8


@dataclass(frozen=True)
class Policy:
    """What is taken out beyond the rule.

    Attributes:
        drop_all_text: no string stays, and no key that is more than one word: numbers, truth values and their names.
        allowed_keys: members of objects with other keys are removed, at any depth; None allows all.
        mark: stands for every blank of every string, so that a model can be told that text with this mark in it is
            data (a data mark, as `▁`); empty leaves strings as they are.

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


RULE = Policy()


def _invalid(field: str, problem: str) -> CortexError:
    return CortexError("config_invalid", f"the cleaning policy's {field} {problem}", details={"field": field})
