"""Collects the resources of a failed test, so that they fail no other test.

Rules kept here:
- the exception of a failed test refers to its frames, and these to open files, sockets and processes. When they are
  collected during another test, their warnings would be errors of that test. So they are collected at once, without
  warnings;
- after a test that passed nothing is collected: warnings about its resources are its errors.
"""

from __future__ import annotations

import gc
import sys
import warnings
from collections.abc import Generator

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Collect garbage when the test or one of its fixtures failed."""
    failed_before = item.session.testsfailed
    done = yield
    if item.session.testsfailed > failed_before:
        _collect_quietly()
    return done


def _collect_quietly() -> None:
    for name in ("last_exc", "last_type", "last_value", "last_traceback"):  # pytest keeps them for debuggers
        if hasattr(sys, name):
            delattr(sys, name)
    heard, sys.unraisablehook = sys.unraisablehook, lambda _: None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            gc.collect()
    finally:
        sys.unraisablehook = heard
