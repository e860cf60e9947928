"""False alarms in real code: the findings of the rules about style and words in published packages.

The sample is the TypeScript source of packages that other tests install from lock files; without them the test is
skipped.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from cortex_skills.scanner import scan_folder, scan_source

ROOT = Path(__file__).parents[2]
INSPECTOR = ROOT / "tests/mcp/inspector/node_modules"
PACKAGES = ("zod/src/v3", "zod/src/v4/locales", "ajv/lib", "eventsource-parser/src")
# The other rules concern features that packages need and skills do not.
OF_STYLE = {
    "hidden-characters",
    "model-instruction",
    "obfuscation",
    "prototype-pollution",
    "unbounded-loop",
    "unlimited-query",
    "proof-disabled",
    "crypto-mining",
}


@pytest.mark.skipif(not INSPECTOR.exists(), reason="the packages of the inspector are not installed")
def test_real_packages_have_almost_no_findings() -> None:
    files = [
        path
        for package in PACKAGES
        for path in sorted((INSPECTOR / package).rglob("*.ts"))
        if not path.name.endswith(".d.ts") and "tests" not in path.parts[-3:]
    ]
    found = Counter(
        rule
        for path in files
        for rule in {finding.rule for finding in scan_source(path.read_text(encoding="utf-8"), path.name)}
        if rule in OF_STYLE
    )
    assert len(files) > 100
    # One, in a comment: "Most clients tend to silently ignore any errors".
    assert found <= Counter({"model-instruction": 1})


@pytest.mark.parametrize("skill", ["examples/verify-kyc", "examples/supply-chain/license-audit"])
def test_nothing_is_found_in_the_examples(skill: str) -> None:
    assert scan_folder(ROOT / skill) == []
