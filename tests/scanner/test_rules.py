"""Each rule reports its evasions and does not report similar innocent code."""

from __future__ import annotations

import pytest

from cortex_skills.scanner import scan_source, scan_sources
from cortex_skills.scanner.rule import Rule
from cortex_skills.scanner.rules import RULES
from tests.every_case import check_every
from tests.scanner.tables import EVASIONS, INNOCENTS

BY_ID = {rule.id: rule for rule in RULES}


@pytest.mark.parametrize("rule", EVASIONS)
def test_an_evasion_is_found(rule: str) -> None:
    def check(source: str) -> None:
        found = {finding.rule: finding.severity for finding in scan_source(source)}
        assert found.get(rule) == BY_ID[rule].severity

    check_every({source: source for source in EVASIONS[rule]}, check)


@pytest.mark.parametrize("rule", INNOCENTS)
def test_an_innocent_is_not_reported(rule: str) -> None:
    def check(source: str) -> None:
        assert scan_source(source) == []

    check_every({source: source for source in INNOCENTS[rule]}, check)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_the_examples_of_a_rule_are_reported_and_not_reported(rule: Rule) -> None:
    name = {"ts": "skill.ts", "md": "SKILL.md"}[rule.written_in]
    assert rule.id in {finding.rule for finding in scan_sources({name: rule.trips})}
    assert scan_sources({name: rule.passes}) == []


def test_every_rule_has_five_evasions_and_five_innocents() -> None:
    assert set(EVASIONS) == set(INNOCENTS) == set(BY_ID)
    assert min(len(set(sources)) for sources in (*EVASIONS.values(), *INNOCENTS.values())) >= 5
