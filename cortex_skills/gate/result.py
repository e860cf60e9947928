"""The result of a call.

Rules kept here:
- `text` is for a model, `details` for a program and JSON-ready; both are complete;
- a failure is a result with a stable code, so that no server has to translate exceptions. Its text is at most two
  lines, what happened and what to do next, with invisible characters escaped.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from cortex_skills.errors import CortexError
from cortex_skills.safe_io.display import one_line
from cortex_skills.secrets import HIDDEN


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one call.

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

    def without_secrets(self) -> Result:
        """The result without the secrets that this process has read."""
        if not HIDDEN:
            return self
        return replace(self, text=HIDDEN.text(self.text), details=HIDDEN.cleaned(self.details))

    def to_json(self) -> dict[str, Any]:
        """The result as it is sent to a client."""
        return {"text": self.text, "details": self.details, "isError": self.is_error, "code": self.code}


def failed(error: CortexError) -> Result:
    """The result of a call that failed with `error`."""
    lines = [one_line(line) for line in (error.message, error.hint) if line]
    return Result("\n".join(lines), error.to_json(), is_error=True, code=error.code)
