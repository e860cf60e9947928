"""How many examples a property is checked with.

Rules kept here:
- each property names a number of examples; the tests check a seventh of them, not below 4, and `make fuzz` three times
  as many. The environment variable CORTEX_TESTS_EXAMPLES is the factor.
"""

from __future__ import annotations

import os
from typing import Any

from hypothesis import settings

FACTOR = float(os.environ.get("CORTEX_TESTS_EXAMPLES", "0.15"))
_LEAST = 4
_SETTINGS = "_hypothesis_internal_use_settings"  # hypothesis has no public name for them


def examples(named: int) -> int:
    """The number of examples, of the number that a property names."""
    return max(min(_LEAST, named), round(named * FACTOR))


def set_examples(function: Any) -> None:
    """Change the number of examples of a property that was collected."""
    named = getattr(function, _SETTINGS, None)
    if named is not None:
        setattr(function, _SETTINGS, settings(named, max_examples=examples(named.max_examples)))
