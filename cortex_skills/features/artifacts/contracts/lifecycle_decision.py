"""What a `run_lifecycle_hook` decides, by the code that it returns.

Rules kept here:
- 0 continues, 10 annotates, 20 requests an approval, 30 blocks, 40 previews a transformation;
- a negative code, or one from 50 on, is a failure of the hook, as is any other number below 50: a host that guesses
  what an unknown code means could permit what was to be blocked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

Decided = Literal["continue", "annotate", "request_approval", "block", "transform_preview", "fail"]

CODES: Mapping[int, Decided] = MappingProxyType(
    {0: "continue", 10: "annotate", 20: "request_approval", 30: "block", 40: "transform_preview"}
)


@dataclass(frozen=True, slots=True)
class LifecycleDecision:
    """The decision of one hook.

    Attributes:
        decided: what.
        reason: a text of the hook for a person or a model; not cleaned yet.
    """

    decided: Decided
    reason: str = ""


def decision_of(code: int, reason: str = "") -> LifecycleDecision:
    """The decision of a code.

    >>> decision_of(30, "no").decided, decision_of(-1).decided, decision_of(11).decided
    ('block', 'fail', 'fail')
    """
    return LifecycleDecision(CODES.get(code, "fail"), reason)


def decision_in(answer: Mapping[str, Any]) -> LifecycleDecision:
    """The decision in an answer that matches its schema."""
    return decision_of(answer["code"], answer.get("reason", ""))
