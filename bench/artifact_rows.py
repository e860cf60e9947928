"""Rows of installed artifacts: nothing takes longer with a thousand of them than with a few, but listing them all.

Each of the two places has its store, files and trust store, and installations into them alternate.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from pathlib import Path

from bench.measure import Row, in_turn_s
from cortex_graph import open_store
from cortex_skills.features.artifacts.installed import InstalledArtifacts
from cortex_skills.signatures import Publisher
from cortex_skills.signatures.trust_file import trust_of
from tests.artifacts.samples import KEY
from tests.installed.samples import artifact, install, place

MANY, FEW = 1000, 50
_LISTS = 20


def rows() -> list[Row]:
    """All rows."""
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch)
        before = {name: os.environ.get(name) for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME")}
        os.environ.update({name: str(home / name) for name in before})
        try:
            return _rows(home)
        finally:
            for name, value in before.items():
                os.environ.pop(name) if value is None else os.environ.update({name: value})


def _rows(home: Path) -> list[Row]:
    few, many = (_place(home / name) for name in ("few", "many"))
    files = [artifact(name=f"skill{number}") for number in range(MANY)]
    for file in files[:-FEW]:
        install(many, file)
    times = [[_seconds(few, file), _seconds(many, last)] for file, last in zip(files[:FEW], files[-FEW:], strict=True)]
    first, last = map(statistics.median, zip(*times, strict=True))
    find_few, find_many = in_turn_s([lambda: few.find("acme.skill7"), lambda: many.find("acme.skill7")], 50)
    list_few, list_many = in_turn_s([few.list, many.list], 1, rounds=_LISTS)
    return [
        Row(f"install, with {MANY:,} installed", last, f"with less than {FEW}", first, 1.5),
        Row(f"the status of one of {MANY:,}, as at each call", find_many, f"of one of {FEW}", find_few, 1.3),
        Row(f"list {MANY:,}, for each", list_many / MANY, f"list {FEW}, for each", list_few / FEW, 1.3),
    ]


def _place(folder: Path) -> InstalledArtifacts:
    made = place(folder, open_store(f"{folder}-store"), verification={"trustStore": f"{folder}-trust/trust.json"})
    listed = Publisher("acme", KEY.did, "listed", "2026-01-01T00:00:00Z")
    trust_of(made.config).change(lambda known: known.with_publisher(listed))
    return made


def _seconds(installed: InstalledArtifacts, file: bytes) -> float:
    began = time.perf_counter()
    install(installed, file)
    return time.perf_counter() - began
