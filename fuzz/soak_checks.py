"""The checks of the soak between two rounds: a store is read, checked and restored, in new processes.

Rules kept here:
- what a store contains is read in the order of two indexes, after `graph check` has read every block;
- an error is the report of a damage, and so is a process that does not end.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from .soak_processes import ENVIRONMENT, ROOT

_READ_S = 300.0  # generous: only so that a run ends


@dataclass
class Reading:
    """What a new process reads: the number of triples of each key, or why it cannot read them."""

    found: dict[str, int] = field(default_factory=dict)
    differs: str = ""
    damage: str = ""


def read_store(store: Path) -> Reading:
    """Check the store, read everything and try to write, in new processes."""
    reading = Reading(damage=_command("check", "--store", str(store)))
    if reading.damage:
        return reading
    is_complete = False
    code, output, errors = _ended(["fuzz.soak_worker", "--read", str(store)])
    for line in output.splitlines():
        kind, *words = json.loads(line)
        if kind == "found":
            reading.found[words[0]] = words[1]
        elif kind == "differs":
            reading.differs = str(words)
        elif kind == "error":
            reading.damage = f"{words[0]}: {words[1]}"
        is_complete = kind == "read"
    if not is_complete and not reading.damage:
        reading.damage = f"its reader ended with {code}: {errors[-2000:]}"
    return reading


def restore_store(backup: Path, store: Path) -> str:
    """Restore a backup with the command; returns its error."""
    return _command("restore", str(backup), "--store", str(store), "--replace")


def _command(*words: str) -> str:
    """Run a command of `cortex-skills graph`; returns its error."""
    code, _, errors = _ended(["cortex_skills", "graph", *words])
    return errors or f"it ended with {code}" if code else ""


def _ended(words: list[str]) -> tuple[int, str, str]:
    """Run a module to its end: its exit code, output and errors."""
    command = [sys.executable, "-m", *words]
    try:
        done = subprocess.run(
            command, env=ENVIRONMENT, cwd=ROOT, capture_output=True, text=True, check=False, timeout=_READ_S
        )
    except subprocess.TimeoutExpired:
        return 1, "", f"it did not end within {_READ_S:.0f} s"
    return done.returncode, done.stdout, done.stderr
