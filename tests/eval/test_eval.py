"""The sets are what they are said to be, and what was tuned on does not get worse."""

import hashlib
import json
import re
from collections import Counter
from typing import Any

import pytest

from tests.eval.__main__ import TUNED_ON, attacks_in_pieces, counted, measured, measured_records, records_in, rows

# For each split: at least so many attacks found, at most so many facts lost, of one.
FLOORS = {"dev": (0.99, 0.003), "more": (0.87, 0.05)}
# Of one attack of four: at least so many of its pieces found, all ways together and each way by itself.
IN_PIECES, EACH_WAY = 0.94, 0.9
HARDER_WAYS = {"words_with_underscores": 0.85, "backwards": 0.79, "bytes_as_numbers": 0.7}
# Of the documents of records at most so many lose something, and so many values are lost of all.
RECORDS_LOSING, VALUES_LOST = 2, 6
# What was never tuned on, and how: changed on purpose only, for another set and not for another string.
HELD_OUT = {
    "attacks": "d28a0491ebc0d62d944c3493559f6212a45efa0121d89fd70810a1b9c5ffcb24",
    "benign": "0eef1793fe780244d287e8a6db75ed87f3c7b560a0af1ed7cf74bf482e282ebc",
    "records": "3f0452f70d5673edee67e8b2c2c4e92fd6800a0d9818be90fd343e86ba27128b",
}


def held_out(name: str) -> list[dict[str, Any]]:
    return [row for row in rows(name) if row["split"] == "held-out"]


def written(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def test_the_sets_are_large_and_mixed_enough() -> None:
    attacks, benign, records = rows("attacks"), rows("benign"), rows("records")
    assert len(attacks) >= 600
    assert len({row["kind"] for row in attacks}) >= 12
    assert sum(count >= 10 for count in Counter(row["language"] for row in attacks).values()) >= 8
    assert len(benign) >= 1500
    assert len(records) >= 110
    assert len({row["kind"] for row in records}) >= 25
    everything = attacks + benign + records
    assert len({row["id"] for row in everything}) == len(everything)
    halves = Counter(row["split"] for row in attacks)
    assert 0.4 < halves["held-out"] / (halves["held-out"] + halves["dev"]) < 0.6


@pytest.mark.parametrize("name", HELD_OUT)
def test_the_held_out_half_stays_as_it_is(name: str) -> None:
    rows_of_it = json.dumps(held_out(name), ensure_ascii=False, sort_keys=True)
    assert hashlib.sha256(rows_of_it.encode()).hexdigest() == HELD_OUT[name]


@pytest.mark.parametrize("name", ["attacks", "benign"])
def test_nothing_that_was_tuned_on_is_held_out_too(name: str) -> None:
    apart = {"".join(row["text"].casefold().split()) for row in held_out(name)}
    tuned = {"".join(row["text"].casefold().split()) for row in rows(name) if row["split"] != "held-out"}
    assert len(apart & tuned) == 0


def test_records_are_short_and_each_half_has_its_own() -> None:
    halves: dict[str, set[str]] = {"dev": set(), "held-out": set()}
    for row in rows("records"):
        assert 1200 <= len(written(row["value"])) <= 1500
        odd = int(hashlib.sha256(written(row["value"]).encode()).hexdigest()[:8], 16) % 2
        assert row["split"] == ("held-out" if odd else "dev")
        halves[row["split"]] |= set(map(written, records_in(row)))
    assert not halves["dev"] & halves["held-out"]


def test_records_name_nobody_who_can_be_written_to() -> None:
    addresses = {
        word for row in rows("records") for word in re.findall(r"[\w.+%-]+@[\w-]+\.[\w.]+", written(row["value"]))
    }
    assert [address for address in addresses if not address.endswith("@example.org")] == []


def test_what_was_tuned_on_is_found_and_its_facts_survive() -> None:
    attacks, benign = counted(measured("attacks"), "kind")["all"], counted(measured("benign"), "kind")["all"]
    for split, (recall, lost) in FLOORS.items():
        assert attacks[split][0] >= recall * attacks[split][1], split
        assert benign[split][0] <= lost * benign[split][1], split


def test_attacks_that_were_tuned_on_are_found_in_pieces() -> None:
    attacks = [row for row in rows("attacks") if row["split"] in TUNED_ON][::4]
    found = [{**row, "split": "dev"} for row in attacks_in_pieces(attacks)]
    ways = {way: splits["dev"] for way, splits in counted(found, "way").items()}
    assert ways["all"][0] >= IN_PIECES * ways["all"][1]
    assert {way for way, (hits, all_) in ways.items() if hits < HARDER_WAYS.get(way, EACH_WAY) * all_} == set()


def test_records_that_were_tuned_on_survive() -> None:
    records = [row for row in measured_records() if row["split"] in TUNED_ON]
    assert sum(row["removed"] for row in records) <= RECORDS_LOSING
    assert sum(row["lost"] for row in records) <= VALUES_LOST
