"""Checks every case of a table in one test, which costs less than a test for each, and reports each that fails."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

import pytest

T = TypeVar("T")


def check_every(cases: Mapping[str, T], check: Callable[[T], object]) -> None:
    """Check every case.

    Raises:
        BaseExceptionGroup: the failures, each with a note that names its case.
        ValueError: there are no cases.

    """
    if not cases:
        raise ValueError("no cases")
    failed = []
    for name, case in cases.items():
        try:
            check(case)
        except (Exception, pytest.fail.Exception) as error:
            error.add_note(f"the case {name!r}")
            failed.append(error)
    if failed:
        raise BaseExceptionGroup(f"{len(failed)} of {len(cases)} cases", failed)
