"""The cases of each original that are kept here are those that `docs/conformance.md` counts.

Rules kept here:
- a folder has the cases of one original; a case that is refused on purpose is a test named `test_refused_*`.
"""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from tests.docs.conformance_page import cases_in, counts_of

HERE = Path(__file__).parent
SUITES = {
    "cortex_prism": "CortexPrism",
    "ai_memory": "ai-memory",
    "palyra": "Palyra",
    "metahuman": "MetaHuman OS",
    "mayros": "Mayros",
}
FOLDERS = sorted(path.name for path in HERE.iterdir() if any(path.glob("test_*.py")))


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_cases_of_an_original_are_those_that_are_counted(folder: str) -> None:
    files = sorted((HERE / folder).glob("test_*.py"))
    modules = [vars(importlib.import_module(f"tests.interchange.{folder}.{file.stem}")) for file in files]
    refused = sum(cases_in(module, "test_refused_") for module in modules)
    assert (sum(map(cases_in, modules)) - refused, refused) == counts_of(SUITES[folder])
