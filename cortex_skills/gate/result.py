"""The result of a call.

Rules kept here:
- `text` is for a model, `details` for a program and JSON-ready; both are complete;
- a failure is a result with a stable code, so that no server has to translate exceptions. Its text is at most two
  lines, what happened and what to do next, with invisible characters escaped.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any, Generic, cast

from typing_extensions import TypeVar

from cortex_skills.errors import CortexError
from cortex_skills.safe_io.display import one_line
from cortex_skills.secrets import HIDDEN

D = TypeVar("D", default=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Result(Generic[D]):
    """The result of one call.

    Attributes:
        text: what a model reads.
        details: what a program reads. Of a failure, whatever the type says: `code`, `message`, `hint` and `details`.
        is_error: whether the call failed.
        code: the stable code of the failure; None when there is none.
    """

    text: str
    details: D = field(default_factory=dict)  # type: ignore[assignment]
    is_error: bool = False
    code: str | None = None

    def without_secrets(self) -> Result[D]:
        """The result without the secrets that this process has read."""
        if not HIDDEN:
            return self
        return replace(self, text=HIDDEN.text(self.text), details=HIDDEN.cleaned(self.details))

    def to_dataframe(self) -> Any:
        """The matches of a query as a data frame of pandas: a row a triple, a column a member.

        Raises:
            CortexError: `config_invalid`: pandas is not installed; `invalid_arguments`: the result has no matches.
        """
        matches = self._matches()
        try:
            import pandas as pd  # type: ignore[import-untyped,unused-ignore]
        except ImportError:
            raise CortexError("config_invalid", "pandas is not installed", hint="pip install pandas") from None
        return pd.DataFrame(matches)

    def _repr_html_(self) -> str:
        """The matches of a query as a table for a notebook; the text of any other result."""
        if self.is_error or "matches" not in self._given:
            return f"<pre>{escape(self.text)}</pre>"
        matches = self._matches()
        names = list(dict.fromkeys(name for each in matches for name in each))
        lines = [[f"<th>{escape(name)}</th>" for name in names]]
        lines += [[f"<td>{escape(_shown(each.get(name, '')))}</td>" for name in names] for each in matches]
        table = "".join(f"<tr>{''.join(cells)}</tr>" for cells in lines)
        return f"<table>{table}</table>"

    def _matches(self) -> list[dict[str, Any]]:
        if "matches" not in self._given:
            hint = "ask with skill_graph_query"
            raise CortexError("invalid_arguments", "this is no result of a query of the graph", hint=hint)
        found: list[dict[str, Any]] = self._given["matches"]
        return found

    @property
    def _given(self) -> dict[str, Any]:
        return cast("dict[str, Any]", self.details)

    def to_json(self) -> dict[str, Any]:
        """The result as it is sent to a client."""
        return {"text": self.text, "details": self.details, "isError": self.is_error, "code": self.code}


def _shown(value: Any) -> str:
    """A member of a match as text, with invisible characters escaped."""
    return one_line(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def failed(error: CortexError) -> Result:
    """The result of a call that failed with `error`."""
    lines = [one_line(line) for line in (error.message, error.hint) if line]
    return Result("\n".join(lines), error.to_json(), is_error=True, code=error.code)
