"""What the scanner says: a finding, and how its evidence is cut.

Rules kept here:
- a line and a column count from 1; the column counts code points of the original text; a line ends where ECMAScript
  ends it (LF, CR, CRLF, U+2028, U+2029);
- evidence is at most 120 characters, on one line, with what is not printable escaped;
- findings are data: nothing here decides whether a skill is loaded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from cortex_skills.escaping import one_line

if TYPE_CHECKING:
    from cortex_skills.scanner.rule import Rule

Severity = Literal["critical", "warning"]

SEVERITIES = frozenset({"critical", "warning"})
EVIDENCE_LIMIT = 120


@dataclass(frozen=True)
class Finding:
    """One place in a skill that breaks a rule.

    Attributes:
        rule: the stable name of the rule, such as `dynamic-code`.
        severity: `critical` stops the load, `warning` does not.
        file: the file, relative to the skill's folder, with `/` between its parts.
        line: from 1; 1 for a finding about a whole file.
        column: from 1, in code points.
        evidence: the source text, at most 120 characters, escaped.
        message: what was found.
        hint: what to do about it.

    """

    rule: str
    severity: Severity
    file: str
    line: int
    column: int
    evidence: str
    message: str
    hint: str

    def to_json(self) -> dict[str, Any]:
        """The finding as a JSON object."""
        return dict(vars(self))


def evidence_of(text: str) -> str:
    """`text` on one line with nothing hidden, and cut to `EVIDENCE_LIMIT` characters, the cut shown by an ellipsis."""
    shown = one_line(text[: EVIDENCE_LIMIT + 1])
    return shown if len(shown) <= EVIDENCE_LIMIT else shown[: EVIDENCE_LIMIT - 1] + "…"


def about_file(rule: Rule, file: str, message: str, hint: str = "") -> Finding:
    """A finding about a whole file or folder rather than a place in it."""
    return Finding(rule.id, rule.severity, one_line(file), 1, 1, "", message, hint or rule.remedy)
