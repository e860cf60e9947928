"""A fixture for tests that read the log of the plugin."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def logged_at_info() -> Iterator[None]:
    """The plugin logs at INFO, so that `caplog` records it."""
    logger = logging.getLogger("cortex_skills")
    before = logger.level
    logger.setLevel(logging.INFO)
    yield
    logger.setLevel(before)
