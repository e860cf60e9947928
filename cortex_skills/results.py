"""What a call of a tool answers.

Rules kept here:
- `text` is for a model, `details` for a program; both are whole, and `details` is JSON-ready;
- a failure is a result too, with a stable code: a door never has to translate an exception. Its text is at most two
  lines, what happened and what to do next, with nothing hidden in them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from cortex_skills.errors import CortexError
from cortex_skills.escaping import one_line


@dataclass(frozen=True, slots=True)
class Result:
    """The answer to one call.

    Attributes:
        text: what a model reads.
        details: what a program reads.
        is_error: whether the call failed.
        code: the stable code of the failure; None when there is none.

    """

    text: str
    details: dict[str, Any] = field(default_factory=dict)
    is_error: bool = False
    code: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The answer as it goes over a wire."""
        return {"text": self.text, "details": self.details, "isError": self.is_error, "code": self.code}


def failed(error: CortexError) -> Result:
    """The answer that tells of an error: what happened, and what to do next."""
    lines = [one_line(line) for line in (error.message, error.hint) if line]
    return Result("\n".join(lines), error.to_json(), is_error=True, code=error.code)
