"""Findings: the result of a scan.

Rules kept here:
- lines and columns count from 1; the column counts code points of the original text; a line ends as in ECMAScript
  (LF, CR, CRLF, U+2028, U+2029);
- evidence has at most 120 characters on one line, and characters that are not printable are escaped;
- a file has at most `FINDINGS_LIMIT` findings and one more that gives their number; so has a folder;
- findings are data: nothing here decides whether a skill is loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from cortex_skills.safe_io.display import one_line
from cortex_skills.scanner.rule import Rule, Severity
from cortex_skills.scanner.whole_files import TOO_MANY_FINDINGS

EVIDENCE_LIMIT = 120
FINDINGS_LIMIT = 200

_Place = TypeVar("_Place")


@dataclass(frozen=True)
class Finding:
    """One place in a skill that breaks a rule.

    Attributes:
        rule: the stable name of the rule, such as `dynamic-code`.
        severity: `critical` stops the load, `warning` does not.
        file: the path relative to the skill's folder, with `/` as separator.
        line: from 1; 1 for a finding about a whole file.
        column: from 1, in code points.
        evidence: the source text, at most 120 characters, escaped.
        message: what was found.
        hint: how to correct it.
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
    """The beginning of `text` on one line, escaped, with at most `EVIDENCE_LIMIT` characters."""
    shown = one_line(text[: EVIDENCE_LIMIT + 1])
    return shown if len(shown) <= EVIDENCE_LIMIT else shown[: EVIDENCE_LIMIT - 1] + "…"


def file_finding(rule: Rule, file: str, message: str, hint: str = "") -> Finding:
    """A finding about a whole file or folder."""
    return Finding(rule.id, rule.severity, one_line(file), 1, 1, "", message, hint or rule.remedy)


def first_findings(places: Sequence[_Place], finding: Callable[[_Place], Finding], file: str) -> list[Finding]:
    """The findings of the first `FINDINGS_LIMIT` places of a file, and one more when there are more places."""
    message = f"{len(places):,} findings; the first {FINDINGS_LIMIT} are shown"
    return _limited([finding(place) for place in places[: FINDINGS_LIMIT + 1]], file, message)


def folder_findings(findings: list[Finding]) -> list[Finding]:
    """The first `FINDINGS_LIMIT` findings of a folder, and one more when there are more."""
    return _limited(findings, ".", f"more than {FINDINGS_LIMIT} findings; the first {FINDINGS_LIMIT} are shown")


def _limited(findings: list[Finding], file: str, message: str) -> list[Finding]:
    if len(findings) <= FINDINGS_LIMIT:
        return findings
    return [*findings[:FINDINGS_LIMIT], file_finding(TOO_MANY_FINDINGS, file, message)]
