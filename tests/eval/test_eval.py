"""The sets are what they are said to be, and the tuning half does not get worse."""

from collections import Counter

from tests.eval.__main__ import counted, measured, rows

RECALL, FALSE_POSITIVES = 0.96, 0.01


def test_the_sets_are_large_and_mixed_enough() -> None:
    attacks, benign = rows("attacks"), rows("benign")
    assert len(attacks) >= 600
    assert len({row["kind"] for row in attacks}) >= 12
    assert sum(count >= 10 for count in Counter(row["language"] for row in attacks).values()) >= 8
    assert len(benign) >= 1500
    assert len({row["id"] for row in attacks + benign}) == len(attacks) + len(benign)
    assert 0.4 < sum(row["split"] == "held-out" for row in attacks) / len(attacks) < 0.6


def test_the_tuning_half_is_found_and_its_facts_survive() -> None:
    attacks = counted(measured("attacks"), "kind")["all"]["dev"]
    benign = counted(measured("benign"), "kind")["all"]["dev"]
    assert attacks[0] >= RECALL * attacks[1]
    assert benign[0] <= FALSE_POSITIVES * benign[1]
