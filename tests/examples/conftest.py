"""The examples: where they are, and their modules."""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cortex_skills import Plugin, Result
from tests.configs import config
from tests.patience import PATIENT_MS, patient

__all__ = ["patient"]

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"

# As when one of the scripts is run.
sys.path[:0] = [str(EXAMPLES / "supply-chain"), str(EXAMPLES / "verify-kyc")]


@pytest.fixture
def examples() -> Path:
    return EXAMPLES


@pytest.fixture
def plugin() -> Iterator[Plugin]:
    with Plugin.open(config(skillSandbox={"executionTimeoutMs": PATIENT_MS}), agent="a1") as plugin:
        yield plugin


def enrichment(result: Result) -> Any:
    """What the skill said, out of the text that a model reads."""
    assert not result.is_error, result.text
    block = re.search(r'\n\n<skill-enrichment type="data">\n(.*)\n</skill-enrichment>\Z', result.text)
    return None if block is None else json.loads(block[1])
