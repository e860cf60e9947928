"""The sets of `eval/` agree with its README, and the detector reaches its floors on the tuning sets."""

import hashlib
import json
import re
from collections import Counter
from typing import Any

import pytest

from eval.__main__ import FOLDER, SETS, TUNED_ON, attacks_in_pieces, counted, detect, measured, records_in, rows

# For each split: at least so many attacks found, at most so many facts lost, of one.
FLOORS = {"dev": (0.96, 0.003), "more": (0.86, 0.04)}
IN_PIECES, TRIGGER_WORDS, FIRST_SIGHT, RECORDS_LOSING = 0.88, 0.04, 0.88, 4
INDIRECT, ORDINARY = {"dev": 0.9, "more": 0.72}, 0.05
FAMILIES, EVERYDAY = 0.9, 0.08
# Cut up backwards or as numbers: given up (`docs/enrichment.md`).
HARDER_WAYS = {"array_with_decoys": 0.75, "digits_as_letters": 0.8, "words_with_underscores": 0.8}
GIVEN_UP = {"backwards", "bytes_as_numbers"}
# The digests of what no rule was tuned on: changed for another set only, never for another string.
HELD_OUT = {
    "attacks": "d28a0491ebc0d62d944c3493559f6212a45efa0121d89fd70810a1b9c5ffcb24",
    "benign": "0eef1793fe780244d287e8a6db75ed87f3c7b560a0af1ed7cf74bf482e282ebc",
    "everyday": "70b7e49ddc736c34b1b2f12675d5e35f5c6d7c2d020a2d24095ae4f724f22122",
    "families": "d9b99d5d6d7e193328dcbf1149e8c05472bdea7be6cc1eac387c360d56b7f8de",
    "indirect": "9523dc0a7e4aeaa87cda4e8fd4368280817ead41f099a27defd009ee515949ac",
    "ordinary": "a6b45aac1c1d9561845508ecc08949559a567f2e30b5e496b2fa870249725c4c",
    "records": "3f0452f70d5673edee67e8b2c2c4e92fd6800a0d9818be90fd343e86ba27128b",
}


def held_out(name: str) -> list[dict[str, Any]]:
    return [row for row in rows(name) if row["split"] == "held-out"]


def of_tuned(name: str) -> dict[str, tuple[int, int]]:
    return counted(measured(name, TUNED_ON), "kind")["all"]


def test_the_sets_are_large_and_mixed_enough() -> None:
    attacks, benign, records = rows("attacks"), rows("benign"), rows("records")
    assert len(attacks) >= 600
    assert len({row["kind"] for row in attacks}) >= 12
    assert sum(count >= 10 for count in Counter(row["language"] for row in attacks).values()) >= 8
    assert len(benign) >= 1500
    assert len({row["kind"] for row in records}) >= 25
    assert len(rows("trigger_words")) == 300
    assert len({row["kind"] for row in rows("indirect")}) >= 20
    assert len(rows("families")) >= 200
    assert len(rows("everyday")) >= 200
    everything = [row for name in SETS for row in rows(name) if "id" in row]
    assert len({row["id"] for row in everything}) == len(everything)


@pytest.mark.parametrize("name", HELD_OUT)
def test_the_held_out_half_stays_as_it_is(name: str) -> None:
    rows_of_it = json.dumps(held_out(name), ensure_ascii=False, sort_keys=True)
    assert hashlib.sha256(rows_of_it.encode()).hexdigest() == HELD_OUT[name]


@pytest.mark.parametrize("name", ["attacks", "benign", "trigger_words", "indirect", "ordinary", "families", "everyday"])
def test_no_text_is_both_tuned_on_and_held_out(name: str) -> None:
    apart = {"".join(row["text"].casefold().split()) for row in held_out(name)}
    tuned = {"".join(row["text"].casefold().split()) for row in rows(name) if row["split"] != "held-out"}
    assert len(apart & tuned) == 0


def test_each_half_of_the_records_has_records_of_its_own() -> None:
    halves: dict[str, set[str]] = {"dev": set(), "held-out": set()}
    for row in rows("records"):
        halves[row["split"]] |= {json.dumps(record, ensure_ascii=False) for record in records_in(row)}
    assert not halves["dev"] & halves["held-out"]


def test_records_hold_no_address_of_a_person() -> None:
    written = json.dumps([row["value"] for row in rows("records")])
    assert [at for at in re.findall(r"[\w.+%-]+@[\w-]+\.[\w.]+", written) if not at.endswith("@example.org")] == []


def test_attacks_that_were_tuned_on_are_found_and_facts_stay() -> None:
    attacks, benign = (
        counted(measured("attacks", TUNED_ON), "kind")["all"],
        counted(measured("benign", TUNED_ON), "kind")["all"],
    )
    for split, (recall, lost) in FLOORS.items():
        assert attacks[split][0] >= recall * attacks[split][1], split
        assert benign[split][0] <= lost * benign[split][1], split


def test_sentences_with_trigger_words_stay() -> None:
    lost, all_ = of_tuned("trigger_words")["dev"]
    assert lost <= TRIGGER_WORDS * all_


def test_indirect_attacks_that_were_tuned_on_are_found_and_ordinary_texts_stay() -> None:
    indirect, ordinary = (
        counted(measured("indirect", TUNED_ON), "kind")["all"],
        counted(measured("ordinary", TUNED_ON), "kind")["all"],
    )
    for split, recall in INDIRECT.items():
        assert indirect[split][0] >= recall * indirect[split][1], split
    assert ordinary["dev"][0] <= ORDINARY * ordinary["dev"][1]


def test_families_of_attacks_that_were_tuned_on_are_found_and_everyday_texts_stay() -> None:
    families, everyday = (
        counted(measured("families", TUNED_ON), "kind")["all"],
        counted(measured("everyday", TUNED_ON), "kind")["all"],
    )
    assert families["dev"][0] >= FAMILIES * families["dev"][1]
    assert everyday["dev"][0] <= EVERYDAY * everyday["dev"][1]


def test_the_set_of_a_fresh_author_is_found_as_at_first_sight() -> None:
    lines = (FOLDER / "first_sight.jsonl").read_text(encoding="utf-8").splitlines()
    found = [detect(json.loads(line)["text"]) is not None for line in lines]
    assert sum(found) >= FIRST_SIGHT * len(found)


@pytest.mark.extended
def test_attacks_that_were_tuned_on_are_found_in_pieces() -> None:
    attacks = [row for row in rows("attacks") if row["split"] in TUNED_ON][::4]
    found = [{**row, "split": "dev"} for row in attacks_in_pieces(attacks)]
    ways = {way: splits["dev"] for way, splits in counted(found, "way").items()}
    assert ways["all"][0] >= IN_PIECES * ways["all"][1]
    missed = {way for way, (hits, all_) in ways.items() if hits < HARDER_WAYS.get(way, 0.9) * all_}
    assert missed == GIVEN_UP


def test_records_that_were_tuned_on_stay() -> None:
    records = measured("records", TUNED_ON)
    assert sum(row["removed"] for row in records) <= RECORDS_LOSING
