"""The doctests of the three packages pass."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = (ROOT / "cortex_skills", ROOT / "graph" / "cortex_graph", ROOT / "sandbox" / "cortex_sandbox")


def modules_with_examples() -> list[str]:
    return [
        ".".join(file.relative_to(package.parent).with_suffix("").parts)
        for package in PACKAGES
        for file in sorted(package.rglob("*.py"))
        if ">>> " in file.read_text(encoding="utf-8")
    ]


def test_modules_with_examples_are_found() -> None:
    assert "cortex_skills.enrichment.sanitize" in modules_with_examples()


@pytest.mark.parametrize("name", modules_with_examples())
def test_the_doctests_of_a_module_pass(name: str) -> None:
    results = doctest.testmod(importlib.import_module(name))
    assert (results.failed, results.attempted > 0) == (0, True)
