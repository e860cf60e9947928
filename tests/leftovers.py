"""What a failed test leaves behind fails no other test.

Rules kept here:
- a failed test lets go of nothing by itself: its exception holds its frames, and these hold files, sockets and
  processes that nobody closes any more. Whichever test runs when they are collected would be warned of them, and a
  warning is an error here. So they are collected at once, and what is said of them then is not heard;
- nothing is done after a test that passed: what it leaves is its own fault, and is told.
"""

from __future__ import annotations

import gc
import sys
import warnings
from collections.abc import Generator

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Clean up when the test, or what it was set up with, has failed."""
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
