"""The outcomes of tests, as frozen data and as JUnit XML.

Rules kept here:
- a run succeeds when no test failed and every file could be read;
- the XML is always well-formed: a character that XML 1.0 does not allow is written as U+FFFD.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Literal
from xml.sax.saxutils import escape, quoteattr

from cortex_skills.errors import CortexError

# The complement of Char in XML 1.0 (§2.2).
_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

Status = Literal["passed", "failed", "skipped"]


@dataclass(frozen=True, slots=True)
class TestOutcome:
    """The outcome of one test.

    Attributes:
        file: relative to the folder of the skill.
        name: of the test; empty when the whole file failed.
        status: `passed`, `failed` or `skipped`.
        seconds: duration.
        error: why it failed.
        logs: lines logged by the test and the skill.
    """

    __test__ = False  # not a test class of pytest

    file: str
    name: str
    status: Status
    seconds: float = 0.0
    error: CortexError | None = None
    logs: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The outcome as JSON."""
        error = None if self.error is None else self.error.to_json()
        return {
            "file": self.file,
            "name": self.name,
            "status": self.status,
            "milliseconds": round(self.seconds * 1000, 3),
            "error": error,
            "logs": list(self.logs),
        }


@dataclass(frozen=True, slots=True)
class TestReport:
    """The outcomes of the tests of one skill."""

    __test__ = False  # not a test class of pytest

    skill: str
    outcomes: tuple[TestOutcome, ...] = field(default=())

    @property
    def is_good(self) -> bool:
        """Whether no test failed."""
        return not self.count("failed")

    def count(self, status: Status) -> int:
        """The number of tests with this status."""
        return sum(outcome.status == status for outcome in self.outcomes)

    @property
    def seconds(self) -> float:
        """The duration of all tests."""
        return sum(outcome.seconds for outcome in self.outcomes)

    def to_json(self) -> dict[str, Any]:
        """The report as JSON."""
        counts = {status: self.count(status) for status in ("passed", "failed", "skipped")}
        return {
            "skill": self.skill,
            "ok": self.is_good,
            **counts,
            "milliseconds": round(self.seconds * 1000, 3),
            "tests": [outcome.to_json() for outcome in self.outcomes],
        }


def junit(reports: list[TestReport]) -> str:
    """The reports as JUnit XML, with a `testsuite` for each skill."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', "<testsuites>"]
    for report in reports:
        counts = f'tests="{len(report.outcomes)}" failures="{report.count("failed")}" errors="0" '
        counts += f'skipped="{report.count("skipped")}" time="{report.seconds:.3f}"'
        lines.append(f"  <testsuite name={_attribute(report.skill)} {counts}>")
        for outcome in report.outcomes:
            lines += _case(report.skill, outcome)
        lines.append("  </testsuite>")
    return "\n".join([*lines, "</testsuites>", ""])


def _case(skill: str, outcome: TestOutcome) -> list[str]:
    what = f"name={_attribute(outcome.name or outcome.file)} classname={_attribute(f'{skill}.{outcome.file}')}"
    line = f'    <testcase {what} file={_attribute(outcome.file)} time="{outcome.seconds:.3f}"'
    inner = []
    if outcome.status == "skipped":
        inner.append("      <skipped/>")
    if outcome.error is not None:
        error = outcome.error
        text = "\n".join(part for part in (error.message, str(error.details.get("excerpt", "")), error.hint) if part)
        kind = f"message={_attribute(error.message)} type={_attribute(error.code)}"
        inner.append(f"      <failure {kind}>{escape(_clean(text))}</failure>")
    if outcome.logs:
        inner.append(f"      <system-out>{escape(_clean(chr(10).join(outcome.logs)))}</system-out>")
    return [f"{line}>", *inner, "    </testcase>"] if inner else [f"{line}/>"]


def _attribute(text: str) -> str:
    return quoteattr(_clean(text), {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})


def _clean(text: str) -> str:
    return _NO_XML.sub("\ufffd", text)
