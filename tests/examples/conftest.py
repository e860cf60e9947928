"""Fixtures of the examples; makes their modules importable."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cortex_skills import Plugin, Result
from cortex_skills.enrichment import read_block
from tests.configs import config
from tests.time_limits import LONG_MS, long_limits

__all__ = ["long_limits"]

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"

# The folders of the scripts, as when one of them is run.
sys.path[:0] = [str(EXAMPLES / name) for name in ("supply-chain", "verify-kyc", "artifact")]


@pytest.fixture
def examples() -> Path:
    return EXAMPLES


@pytest.fixture
def plugin() -> Iterator[Plugin]:
    with Plugin.open(config(skillSandbox={"executionTimeoutMs": LONG_MS}), agent="a1") as plugin:
        yield plugin


def enrichment(result: Result) -> Any:
    """The enrichment, parsed from the text for the model."""
    assert not result.is_error, result.text
    return read_block(result.text)
