"""`docs/conformance.md` is consistent; the tests of each suite compare its figures with their own."""

from __future__ import annotations

import re

import pytest

from tests.docs.conformance_page import PAGE, cases_in, refusals, suites
from tests.docs.rooms import ROOT

SUITES = suites()


def test_each_line_of_the_table_is_understood() -> None:
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    assert lines[0] == "| suite | cases | passed | refused on purpose | where run |"
    assert len(SUITES) == len(lines) - 1


@pytest.mark.parametrize("suite", SUITES)
def test_a_case_passes_or_is_refused_with_a_reason(suite: str) -> None:
    row = SUITES[suite]
    assert row.cases == row.passed + row.refused
    assert sum(number for number, _ in refusals().get(suite, [])) == row.refused
    assert all(len(reason.split()) > 10 for _, reason in refusals().get(suite, []))


@pytest.mark.parametrize("suite", SUITES)
def test_the_files_that_run_a_suite_compare_their_figures_with_its_row(suite: str) -> None:
    assert SUITES[suite].where
    texts = [(ROOT / path).read_text(encoding="utf-8") for path in SUITES[suite].where]
    assert any(f'counts_of("{suite}")' in text or re.search(r"counts_of\(\w", text) for text in texts)


def test_only_suites_of_the_table_refuse_cases() -> None:
    assert refusals().keys() <= SUITES.keys()


def test_each_set_of_parameters_of_a_test_is_counted() -> None:
    @pytest.mark.parametrize("kind", ["a", "b", "c"])
    @pytest.mark.parametrize(("number", "name"), [(1, "one"), (2, "two")])
    def sixfold(kind: str, number: int, name: str) -> None: ...

    assert cases_in({"test_a": sixfold, "test_b": len, "other": len, "test_c": 7}) == 7
    assert cases_in({"test_a": sixfold, "test_b": len}, "test_b") == 1
