"""Processes that write one audit journal and are killed: `python -m fuzz.audit_soak --calls 100000 --kills 10`.

Rules kept here:
- the invariant: the journal is one unbroken chain, and has every record that a process acknowledged, in its order;
- a killed process is replaced by one that continues its numbers, until all calls are recorded;
- the calls go through a plugin: the gate, the redaction and the journal as an agent's calls meet them.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from cortex_skills.audit.journal_files import day_files, lines_in
from cortex_skills.audit.lines import read_line
from cortex_skills.audit.verification import JournalReport, verify_journal
from cortex_skills.keys.did import public_of
from cortex_skills.keys.ed25519 import verify

_WRITER = """
import sys
from cortex_skills import Config, Plugin
name, first, count, folder, keys = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], sys.argv[5]
with Plugin.open(Config(audit={"folder": folder}, proofs={"keys": keys})) as plugin:
    for number in range(first, count):
        plugin.call("nothing", {"n": number, "api_key": "hunter2"}, agent=name)
        if number % 20 == 19 or number == count - 1:
            print(number, flush=True)
"""


@dataclass
class Writer:
    """A process, and the last call that it acknowledged."""

    name: str
    process: subprocess.Popen[str]
    output: IO[str]
    acknowledged: int


@dataclass(frozen=True)
class Outcome:
    """What a run found."""

    report: JournalReport
    kills: int
    lost: dict[str, int]
    disordered: int
    seconds: float


def soak(calls: int, processes: int, kills: int, seed: int, folder: Path) -> Outcome:
    """Write a journal with so many calls, and verify it."""
    chance, each = random.Random(seed), calls // processes
    start = time.monotonic()

    def begin(name: str, first: int, output: IO[str]) -> Writer:
        command = [
            sys.executable,
            "-c",
            _WRITER,
            name,
            str(first),
            str(each),
            str(folder / "audit"),
            str(folder / "keys"),
        ]
        return Writer(name, subprocess.Popen(command, stdout=output, text=True), output, first - 1)

    writers = [begin(f"writer-{n}", 0, (folder / f"writer-{n}").open("a+")) for n in range(processes)]
    killed = 0
    acknowledged = {writer.name: -1 for writer in writers}
    lost: dict[str, int] = {}  # what was acknowledged and is not there
    while any(writer.process.poll() is None for writer in writers):
        time.sleep(0.05)
        for writer in writers:
            acknowledged[writer.name] = _last(folder / writer.name)
        recorded = sum(acknowledged.values()) + processes
        running = [writer for writer in writers if writer.process.poll() is None]
        if killed < kills and running and recorded >= calls * (killed + 1) / (kills + 1):
            writer = chance.choice(running)
            writer.process.kill()
            writer.process.wait()
            killed += 1
            done = _highest(folder / "audit", writer.name)
            if done < _last(folder / writer.name):
                lost[writer.name] = lost.get(writer.name, 0) + _last(folder / writer.name) - done
            writers[writers.index(writer)] = begin(writer.name, done + 1, writer.output)
    for writer in writers:
        writer.output.close()
    report = verify_journal(folder / "audit", lambda did, text, made: verify(public_of(did), text, made))
    last, disordered = _read(folder / "audit")
    lost |= {name: each - 1 - last.get(name, -1) for name in acknowledged if last.get(name, -1) != each - 1}
    return Outcome(report, killed, lost, disordered, time.monotonic() - start)


def _last(path: Path) -> int:
    lines = path.read_text().split()
    return int(lines[-1]) if lines else -1


def _highest(folder: Path, name: str) -> int:
    return _read(folder)[0].get(name, -1)


def _read(folder: Path) -> tuple[dict[str, int], int]:
    """The last number of each writer, and how many numbers are out of order."""
    last: dict[str, int] = {}
    disordered = 0
    for path in day_files(folder):
        for line in lines_in(path):
            found = read_line(line)
            details = {} if found is None else (found.document() or {})["details"]
            if details.get("action") == "nothing":
                name, number = details["agent"], details["inputs"]["n"]
                disordered += number != last.get(name, -1) + 1
                last[name] = number
    return last, disordered


def main() -> None:
    """Run the soak, and print what it found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--calls", type=int, default=100_000)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        found = soak(given.calls, given.processes, given.kills, given.seed, Path(scratch))
    report = found.report
    print(f"{report.records:,} records, {found.kills} kills, {found.seconds:.0f} s")  # noqa: T201
    print(f"fault: {report.fault}; signed: {report.signed:,} of {report.last:,}")  # noqa: T201
    print(f"lost: {found.lost or 'none'}; out of order: {found.disordered}")  # noqa: T201
    sys.exit(report.fault is not None or bool(found.lost) or bool(found.disordered))


if __name__ == "__main__":
    main()
