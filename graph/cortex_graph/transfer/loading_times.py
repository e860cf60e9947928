"""Loads the times of records before their records are loaded (`record_times.py`).

Rules kept here:
- each different time is written once, whatever the order of the records;
- memory use is constant: the times are sorted with files.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from pyoxigraph import Literal, RdfFormat, parse

from cortex_graph.index.record_times import RecordTimes
from cortex_graph.naming.names import Names
from cortex_graph.naming.vocabulary import GENERATED_AT
from cortex_graph.store import GraphStore
from cortex_graph.transfer.loading import load
from cortex_graph.transfer.progress import Progress
from cortex_graph.transfer.sorting import sorted_lines

_PREDICATE = f" {GENERATED_AT} ".encode()


def load_times(store: GraphStore, names: Names, records: Path, folder: Path, progress: Progress) -> None:
    """Write the times of the records that are going to be loaded.

    Args:
        store: the store.
        names: the namespace of the records.
        records: a file of N-Triples with records, and what belongs to them.
        folder: for temporary files.
        progress: receives reports of the progress.
    """
    if not store.keeps_order:
        return
    times = folder / "times.nt"
    with TemporaryDirectory(dir=folder) as sorting, times.open("wb", buffering=1 << 20) as output:
        for quad in RecordTimes(store, names).paths(_times(names, records, Path(sorting))):
            output.write(f"{quad.triple} .\n".encode())
    load(store, times, names.index_graph, names.index_graph, folder, progress)


def _times(names: Names, records: Path, sorting: Path) -> Iterator[Literal]:
    starts = tuple(f"<{names.graph.value}/{kind}/".encode() for kind in ("triple", "withdrawn"))
    with records.open("rb") as lines:
        found = (line.split(_PREDICATE, 1)[1] for line in lines if line.startswith(starts) and _PREDICATE in line)
        for line in sorted_lines(found, sorting, unique=True):
            (quad,) = parse(b"<urn:x> <urn:x> " + line, RdfFormat.N_TRIPLES)
            if isinstance(quad.object, Literal):
                yield quad.object
