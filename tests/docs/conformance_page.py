"""Reads `docs/conformance.md`, for the tests that run what it counts.

Rules kept here:
- a test that runs a foreign suite compares its own figures with the row of the suite;
- a row lists how many cases there are, how many pass and how many are refused on purpose; no other outcome is allowed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import pytest

from tests.docs.rooms import ROOT

PAGE = ROOT / "docs" / "conformance.md"
_ROW = re.compile(
    r"\| (?P<suite>[^|]+) \| (?P<cases>\d+) \| (?P<passed>\d+) \| (?P<refused>\d+) \| (?P<where>[^|]+) \|"
)


@dataclass(frozen=True)
class SuiteRow:
    """A row of the table.

    Attributes:
        cases: how many there are.
        passed: how many pass.
        refused: how many are refused on purpose.
        where: the files that run them.

    """

    cases: int
    passed: int
    refused: int
    where: tuple[str, ...]

    @property
    def counts(self) -> tuple[int, int]:
        """How many pass and how many are refused."""
        return self.passed, self.refused


def suites() -> dict[str, SuiteRow]:
    """The rows of the table, by suite."""
    rows = filter(None, map(_ROW.fullmatch, PAGE.read_text(encoding="utf-8").splitlines()))
    return {
        row["suite"]: SuiteRow(
            int(row["cases"]), int(row["passed"]), int(row["refused"]), tuple(re.findall(r"`([^`]+)`", row["where"]))
        )
        for row in rows
    }


def counts_of(suite: str) -> tuple[int, int]:
    """How many cases of a suite pass and how many are refused, as in the page."""
    return suites()[suite].counts


def refusals() -> dict[str, list[tuple[int, str]]]:
    """By suite, how many cases are refused for which reason."""
    found: dict[str, list[tuple[int, str]]] = {}
    for part in PAGE.read_text(encoding="utf-8").split("\n### ")[1:]:
        suite, _, text = part.partition("\n")
        items = re.findall(r"^- (\d+): (.+(?:\n  .+)*)", text.split("\n## ")[0], re.MULTILINE)
        found[suite] = [(int(number), reason) for number, reason in items]
    return found


def cases_in(module: Mapping[str, object], beginning: str = "test_") -> int:
    """How many tests a module has whose names begin so; each set of their parameters is one."""
    tests = [found for name, found in module.items() if name.startswith(beginning) and callable(found)]
    return sum(_times(getattr(test, "pytestmark", [])) for test in tests)


def _times(marks: Iterable[pytest.Mark]) -> int:
    return math.prod(len(mark.args[1]) for mark in marks if mark.name == "parametrize")
