"""A table of cases is checked whole, and each failure names its case."""

from __future__ import annotations

import pytest

from tests.every_case import check_every


def test_every_case_is_checked_and_each_failure_is_named() -> None:
    checked = []

    def check(value: int) -> None:
        checked.append(value)
        assert value != 2
        if value == 3:
            pytest.fail("three")

    with pytest.raises(BaseExceptionGroup, match="2 of 4 cases") as caught:
        check_every({"one": 1, "two": 2, "three": 3, "four": 4}, check)
    assert checked == [1, 2, 3, 4]
    assert [each.__notes__[-1] for each in caught.value.exceptions] == ["the case 'two'", "the case 'three'"]
    check_every({"one": 1}, check)


def test_a_table_without_cases_is_an_error() -> None:
    with pytest.raises(ValueError, match="no cases"):
        check_every({}, print)
