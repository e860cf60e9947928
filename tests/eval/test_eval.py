"""The sets are what they are said to be, and what was tuned on does not get worse."""

import hashlib
import json
from collections import Counter

import pytest

from tests.eval.__main__ import counted, measured, rows

# For each split: at least so many attacks found, at most so many facts lost, of one.
FLOORS = {"dev": (0.99, 0.003), "more": (0.87, 0.05)}
# What was never tuned on, and how: changed on purpose only, for another set and not for another string.
HELD_OUT = {
    "attacks": "d28a0491ebc0d62d944c3493559f6212a45efa0121d89fd70810a1b9c5ffcb24",
    "benign": "0eef1793fe780244d287e8a6db75ed87f3c7b560a0af1ed7cf74bf482e282ebc",
}


def held_out(name: str) -> list[dict[str, str]]:
    return [row for row in rows(name) if row["split"] == "held-out"]


def test_the_sets_are_large_and_mixed_enough() -> None:
    attacks, benign = rows("attacks"), rows("benign")
    assert len(attacks) >= 600
    assert len({row["kind"] for row in attacks}) >= 12
    assert sum(count >= 10 for count in Counter(row["language"] for row in attacks).values()) >= 8
    assert len(benign) >= 1500
    assert len({row["id"] for row in attacks + benign}) == len(attacks) + len(benign)
    halves = Counter(row["split"] for row in attacks)
    assert 0.4 < halves["held-out"] / (halves["held-out"] + halves["dev"]) < 0.6


@pytest.mark.parametrize("name", HELD_OUT)
def test_the_held_out_half_stays_as_it_is(name: str) -> None:
    written = json.dumps(held_out(name), ensure_ascii=False, sort_keys=True)
    assert hashlib.sha256(written.encode()).hexdigest() == HELD_OUT[name]


@pytest.mark.parametrize("name", ["attacks", "benign"])
def test_nothing_that_was_tuned_on_is_held_out_too(name: str) -> None:
    apart = {"".join(row["text"].casefold().split()) for row in held_out(name)}
    tuned = {"".join(row["text"].casefold().split()) for row in rows(name) if row["split"] != "held-out"}
    assert len(apart & tuned) == 0


def test_what_was_tuned_on_is_found_and_its_facts_survive() -> None:
    attacks, benign = counted(measured("attacks"), "kind")["all"], counted(measured("benign"), "kind")["all"]
    for split, (recall, lost) in FLOORS.items():
        assert attacks[split][0] >= recall * attacks[split][1], split
        assert benign[split][0] <= lost * benign[split][1], split
