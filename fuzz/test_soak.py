"""A bounded run of the soak, and what it notices."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from .soak import Plan, soak
from .soak_faults import flip_bytes
from .soak_ledger import BATCH, SINGLE, Ledger


@pytest.mark.extended
@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc").exists(), reason="it needs signals and limits of Linux")
def test_processes_that_are_killed_stopped_and_starved_lose_no_acknowledged_change() -> None:
    outcome = soak(Plan(seconds=3, seed=1, processes=2, between_s=(0.1, 0.8), flips=0))
    assert outcome.found == []
    assert outcome.counts["rounds"] >= 1
    assert sum(count for name, count in outcome.counts.items() if name.startswith("faults: ")) >= 1


def test_the_ledger_notices_what_is_lost_or_half_done_and_leaves_open_what_was_not_acknowledged() -> None:
    ledger = Ledger()
    for key, size in (("kept", SINGLE), ("lost", SINGLE), ("removed", SINGLE), ("halved", BATCH), ("repeated", BATCH)):
        ledger.begin(key)
        ledger.there(key, size)
    ledger.begin("removed")
    ledger.there("removed", 0)
    for key in ("open", "open and there", "unfinished", "repeated"):
        ledger.begin(key)
    assert ledger.acknowledged() == 2 * SINGLE + BATCH
    found = {"kept": 1, "removed": 1, "halved": 19, "open and there": 20, "unfinished": 7, "repeated": 20}
    assert ledger.differences(found) == [
        "lost: 0 of 1 triples",
        "removed: 1 removed triples are back",
        "halved: 19 of 20 triples",
        "unfinished: 7 triples, a part of an unfinished change",
    ]
    assert ledger.differences(found) == []
    assert ledger.differences(found | {"open": 1}) == ["open: 1 removed triples are back"]


def test_a_backup_has_what_was_acknowledged_before_it_and_not_changed_meanwhile() -> None:
    ledger = Ledger({"kept": 1, "removed": 1})
    ledger.begin_backup("b")
    ledger.begin("removed")
    ledger.there("removed", 0)
    ledger.begin("later")
    ledger.there("later", 1)
    backup = ledger.take_backup("b")
    assert backup is not None
    assert backup.copy().differences({"removed": 1, "later": 1}) == ["kept: 0 of 1 triples"]
    assert backup.differences({"kept": 1}) == []
    assert ledger.take_backup("b") is None


def test_flipped_bytes_differ_and_are_repeated_by_the_seed(tmp_path: Path) -> None:
    def flipped(seed: int) -> tuple[str, bytes]:
        (tmp_path / "000001.log").write_bytes(bytes(100))
        (tmp_path / "LOCK").write_bytes(b"untouched")
        return flip_bytes(tmp_path, random.Random(seed)), (tmp_path / "000001.log").read_bytes()

    said, content = flipped(1)
    count, start = (int(word) for word in (said.split()[0], said.split()[3]))
    assert said == f"{count} bytes at {start} of 100 in 000001.log"
    assert [at for at, byte in enumerate(content) if byte] == list(range(start, start + count))
    assert flipped(1) == (said, content) != flipped(2)
    assert (tmp_path / "LOCK").read_bytes() == b"untouched"
