"""Processes that share a store and are killed, stopped and starved: `python -m fuzz.soak --seconds 600 [--seed 1]`.

Rules kept here:
- the invariant: at the end of every round each acknowledged change is in the store, or an error reported that the store
  is damaged; then the last good backup is restored, and has all that was acknowledged before it. No change is there in
  part;
- no call hangs, no process ends unexpectedly, and every failure is an error of the library;
- faults come from a shuffled list, so that a short run has each kind once; bytes are flipped between two rounds, when
  all processes have ended;
- the faults and the operations are reproducible by the seed; their moments depend on the machine.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from .soak_checks import Reading, read_store, restore_store
from .soak_faults import Disk, disk_in, flip_bytes
from .soak_ledger import Ledger
from .soak_processes import WorkerGroup

_ROUND_S = (15.0, 45.0)
_STOPPED_S = (0.2, 20.0)  # an owner counts as stopped after ten
_FULL_S = (0.5, 3.0)
_OPENED_S = 200.0  # generous: for the first process of a round to open the store
_SHOWN = 10  # faults of one kind


@dataclass
class Outcome:
    """What a run counted, and what broke the invariant."""

    counts: Counter[str] = field(default_factory=Counter)
    longest_call_s: float = 0.0
    found: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        """The figures as text."""
        counts = [f"{name}: {count}" for name, count in sorted(self.counts.items())]
        return [*counts, f"longest call: {self.longest_call_s:.1f} s", f"broke the invariant: {len(self.found)}"]


@dataclass(frozen=True)
class Plan:
    """What a run does.

    Attributes:
        seconds: its length, without the last checks.
        seed: of the faults and the operations.
        processes: how many work at once.
        between_s: the time between two faults, in seconds: minimum, maximum.
        flips: the probability that bytes are flipped after a round.

    """

    seconds: float
    seed: int
    processes: int = 8
    between_s: tuple[float, float] = (0.5, 4.0)
    flips: float = 0.5


class Soak:
    """One run.

    Args:
        plan: what it does.
        scratch: a folder for everything but the store.
        disk: where the store is.
        log: receives every line of every process; None for no log.

    """

    def __init__(self, plan: Plan, scratch: Path, disk: Disk, log: IO[str] | None = None) -> None:
        self._plan = plan
        self.outcome = Outcome()
        self._rounds, self._faults = random.Random(f"{plan.seed} rounds"), random.Random(f"{plan.seed} faults")
        self._scratch, self._disk = scratch, disk
        self._store = disk.folder / "store"
        self._group = WorkerGroup(
            self._store, scratch, plan.processes, plan.seed, self.outcome.counts, self._report, log
        )
        self._deck: list[str] = []
        self._full_until = 0.0
        self._backups: list[tuple[Path, Ledger]] = []  # copies on another disk, the newest last
        self._is_flipped = False

    def run(self) -> Outcome:
        """Run as planned."""
        end = time.monotonic() + self._plan.seconds
        try:
            while True:
                self._round(end)
                self._check()
                if time.monotonic() >= end:
                    break
                if self._disk.is_half_full():
                    self._begin_anew()
        finally:
            self._group.kill()
        self.outcome.longest_call_s = self._group.longest_call_s
        return self.outcome

    def _round(self, end: float) -> None:
        self._group.missing.clear()
        self.outcome.counts["rounds"] += 1
        length = self._rounds.uniform(*_ROUND_S)
        self._group.start()
        if not self._group.wait_until_opened(_OPENED_S):
            self._report("no process could open the store")
        started = time.monotonic()
        end = min(started + length, max(end, started + 1))
        next_fault = started
        while (now := time.monotonic()) < end and not self._group.damage:
            self._group.keep_running(now)
            self._keep_backups()
            if self._full_until and now > self._full_until:
                self._free()
            if now > next_fault:
                next_fault = self._fault(now) + self._faults.uniform(*self._plan.between_s)
            time.sleep(0.02)
        self._free()
        if self._rounds.random() < 0.5:
            self._group.kill()
        else:
            self._group.end()
        self._keep_backups()
        shutil.rmtree(self._disk.folder / "backups", ignore_errors=True)
        if self._rounds.random() < self._plan.flips and self._backups:
            self.outcome.counts["flips"] += 1
            self._is_flipped = True
            self._say(f"flipped {flip_bytes(self._store, self._rounds)}")

    def _fault(self, now: float) -> float:
        """Cause the next fault; returns when another one may follow."""
        if not self._deck:
            self._deck = ["kill", "kill the owner", "stop", "stop the owner", *["fill the disk"] * self._disk.can_fill]
            self._faults.shuffle(self._deck)
        fault, is_done, until = self._deck.pop(), True, now
        if fault == "fill the disk":
            self._group.note("the disk is full")
            self._disk.fill(self._faults, self._group.pids())
            self._full_until = now + self._faults.uniform(*_FULL_S)
        elif fault.startswith("kill"):
            is_done = self._group.kill_one(self._faults, owner="owner" in fault)
        else:
            stopped_until = now + self._faults.uniform(*_STOPPED_S)
            is_done = self._group.stop_one(self._faults, stopped_until, owner="owner" in fault)
            if "owner" in fault and is_done:
                until = stopped_until  # so that it is waited for, until calls give up
        self.outcome.counts[f"faults: {fault}"] += is_done
        return until

    def _free(self) -> None:
        """Free the disk, and restart the owner, as its error asks to."""
        if self._full_until:
            self._full_until = 0.0
            self._group.note("the disk is free")
            self._disk.free(self._group.pids())
            self._group.end_owner()

    def _check(self) -> None:
        reading = read_store(self._store)
        damage = self._group.damage or reading.damage
        if damage:
            if not self._is_flipped:
                self._report(f"damage, and nothing was flipped: {damage}")
            self.outcome.counts["flips that were reported"] += self._is_flipped
            self._say(f"reported: {damage}")
            self._restore()
            return
        for problem in self._group.missing:
            self._report(problem)
        is_whole = self._compare(reading, self._group.ledger, "the store")
        self.outcome.counts["flips without an effect"] += self._is_flipped and is_whole
        self._is_flipped = False

    def _restore(self) -> None:
        self._group.damage, self._is_flipped = "", False
        while self._backups:
            backup, ledger = self._backups.pop()
            error = restore_store(backup, self._store)
            if error:
                self._report(f"the backup {backup.name} cannot be restored: {error}")
                continue
            reading = read_store(self._store)
            if reading.damage:
                self._report(f"the restored backup {backup.name} cannot be read: {reading.damage}")
                continue
            self._compare(reading, ledger, f"the restored backup {backup.name}")
            self._group.ledger = ledger.copy()
            self._backups.append((backup, ledger))
            self.outcome.counts["restored backups"] += 1
            return
        self._begin_anew()

    def _compare(self, reading: Reading, ledger: Ledger, what: str) -> bool:
        self.outcome.counts["triples that had to be there"] += ledger.acknowledged()
        if reading.differs:
            self._report(f"{what}: two indexes differ: {reading.differs}")
        wrong = ledger.differences(reading.found)
        for difference in wrong[:_SHOWN]:
            self._report(f"{what}: {difference}")
        if len(wrong) > _SHOWN:
            self._report(f"{what}: {len(wrong) - _SHOWN} differences more")
        return not wrong and not reading.differs

    def _keep_backups(self) -> None:
        for name, ledger in self._group.new_backups():
            copy = self._scratch / "kept" / name
            shutil.copytree(self._disk.folder / "backups" / name, copy)
            shutil.rmtree(self._disk.folder / "backups" / name)
            self._backups.append((copy, ledger))
        while len(self._backups) > 2:
            shutil.rmtree(self._backups.pop(0)[0])

    def _begin_anew(self) -> None:
        self.outcome.counts["new stores"] += 1
        shutil.rmtree(self._store)
        self._group.ledger = Ledger()
        for backup, _ in self._backups:
            shutil.rmtree(backup)
        self._backups.clear()
        self._is_flipped = False

    def _report(self, problem: str) -> None:
        self.outcome.found.append(problem)
        self._say(f"--- {problem}")

    def _say(self, text: str) -> None:
        self._group.note(text)
        print(f"round {self.outcome.counts['rounds']}: {text}", flush=True)  # noqa: T201


def soak(plan: Plan, log: IO[str] | None = None) -> Outcome:
    """Run as planned; see `Soak`."""
    with tempfile.TemporaryDirectory(prefix="cortex-soak-") as scratch, disk_in(Path(scratch)) as disk:
        return Soak(plan, Path(scratch), disk, log).run()


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="Share a store between processes that are killed and stopped.")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--log", type=argparse.FileType("w"), help="every line of every process")
    options = parser.parse_args()
    seed = random.SystemRandom().randrange(1 << 32) if options.seed is None else options.seed
    print(f"seed {seed}", flush=True)  # noqa: T201
    outcome = soak(Plan(options.seconds, seed, options.processes), options.log)
    print("\n".join(outcome.lines()))  # noqa: T201
    sys.exit(bool(outcome.found))


if __name__ == "__main__":
    main()
