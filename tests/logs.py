"""What the plugin says, for tests that read it."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def told() -> Iterator[None]:
    """What the plugin says at INFO is said, for `caplog` to read."""
    logger = logging.getLogger("cortex_skills")
    before = logger.level
    logger.setLevel(logging.INFO)
    yield
    logger.setLevel(before)
