"""What every test stands on."""

from __future__ import annotations

import gc
import os
import tempfile

from hypothesis import HealthCheck, settings

from tests.leftovers import pytest_runtest_protocol

__all__ = ["pytest_runtest_protocol"]

# No test may fail because a machine is slow, or because of what was drawn: time is what `make bench` measures.
# Where CI is set, hypothesis draws the same each time, so that a change is judged by what it changed; elsewhere it
# draws anew, and finds more.
UNHEALTHY = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
settings.register_profile("tests", settings.default, deadline=None, suppress_health_check=UNHEALTHY)
settings.load_profile("tests")

# Keys, tokens and stores that nobody gave a place go where the tests' own data goes.
if "XDG_DATA_HOME" not in os.environ:
    _DATA = tempfile.TemporaryDirectory(prefix="cortex-tests-")
    os.environ["XDG_DATA_HOME"] = _DATA.name

# The skills of the tests are signed by nobody; those of tests/signatures say that they have to be.
os.environ.setdefault("CORTEX_VERIFICATION__REQUIRE_SIGNATURE", "false")


def pytest_collection_finish() -> None:
    """What was imported and collected stays to the end: no collection of garbage walks over it again."""
    gc.collect()
    gc.freeze()
