"""Rows of the import, compared with the bulk load of the engine, each into a new on-disk store."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from pyoxigraph import RdfFormat, Store

from bench.measure import Row
from cortex_graph import NamespacedGraph, import_rdf, open_store


def rows(sizes: list[int]) -> list[Row]:
    """One for each size of a file, in quads."""
    with tempfile.TemporaryDirectory() as scratch:
        return [_import(Path(scratch), size) for size in sizes]


def _import(folder: Path, size: int) -> Row:
    file = folder / "data.nq"
    with file.open("w") as out:
        out.writelines(
            f'<urn:cortex:mayros:s{i}> <urn:cortex:mayros:p{i % 20}> "value {i}" <urn:cortex:mayros> .\n'
            for i in range(size)
        )
    place = folder / "store"

    def raw() -> None:
        Store(place).bulk_load(path=file, format=RdfFormat.N_QUADS)

    def ours() -> None:
        store = open_store(place)
        import_rdf(NamespacedGraph(store, "mayros"), file)
        store.close()

    # Alternating, and the best of each, so that other load affects both alike.
    runs = 3 if size <= 1_000_000 else 1
    times = [(_seconds(raw, place), _seconds(ours, place)) for _ in range(runs)]
    theirs, mine = (size / min(column) for column in zip(*times, strict=True))
    name = f"import of N-Quads, {size:,}"
    return Row(name, mine, "raw bulk_load", theirs, 0.8, unit="quads/s", at_least=True)


def _seconds(work: Callable[[], None], place: Path) -> float:
    shutil.rmtree(place, ignore_errors=True)
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
