"""The stores of the scale rows: generated, built once, cached outside the repository.

Rules kept here:
- the content depends only on the size and the number of namespaces: customers with 25 quads each, evenly spread over
  the namespaces;
- a store is built in a temporary folder and renamed when complete, so that a killed run leaves no partial store;
- the name of the folder contains the version of the data; `python -m bench --clean` removes all stores;
- 10 million quads take about five minutes to build on two cores, and 3 GB.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pyoxigraph import RdfFormat, Store

QUADS_EACH = 25  # of one customer
_VERSION = 2
_STATES = ("approved", "pending", "rejected")


@dataclass(frozen=True)
class Shape:
    """The number of quads of a store, and of the namespaces that they are spread over."""

    quads: int
    namespaces: int = 1

    @property
    def name(self) -> str:
        """The name of its folder."""
        return f"v{_VERSION}-{self.quads}-{self.namespaces}"

    def __str__(self) -> str:
        return f"{self.quads:,} quads" + (f" in {self.namespaces:,} namespaces" if self.namespaces > 1 else "")

    def namespace(self, number: int) -> str:
        """The name of one of its namespaces; the first is `mayros` in every store."""
        return f"n{number:04}" if number else "mayros"


def cache() -> Path:
    """The cache folder: `CORTEX_BENCH_CACHE`, or in the cache folder of the user."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("CORTEX_BENCH_CACHE") or Path(home) / "cortex-skills-bench")


def clean() -> None:
    """Remove every cached store."""
    shutil.rmtree(cache(), ignore_errors=True)


def store_of(shape: Shape) -> Path:
    """The folder of a store of this shape, built if missing; read-only."""
    place = cache() / shape.name
    if not place.exists():
        being_built = place.with_suffix(".partial")
        shutil.rmtree(being_built, ignore_errors=True)
        being_built.parent.mkdir(parents=True, exist_ok=True)
        store = Store(being_built)
        store.bulk_load(Lines(blocks(shape)), RdfFormat.N_QUADS)  # type: ignore[arg-type]
        store.flush()
        store.optimize()  # otherwise compaction would run in every copy during the measurement
        del store
        being_built.rename(place)
    return place


def copy_of(shape: Shape, folder: Path) -> Path:
    """A copy of a store in a new folder; cheap beside the cache, where its files are hard links."""
    Store(store_of(shape)).backup(folder)
    return folder


class Lines:
    """N-Quads, as a file that is read once."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks = blocks
        self._rest = b""

    def read(self, size: int = -1) -> bytes:
        """Up to `size` bytes more."""
        if not self._rest:
            self._rest = next(self._blocks, b"")
        taken, self._rest = (self._rest, b"") if size < 0 else (self._rest[:size], self._rest[size:])
        return taken


def blocks(shape: Shape) -> Iterator[bytes]:
    """The N-Quads of a shape, a few customers at a time."""
    customers = shape.quads // QUADS_EACH // shape.namespaces
    for number in range(shape.namespaces):
        name = shape.namespace(number)
        for first in range(0, customers, 40):
            yield "".join(_customer(name, i) for i in range(first, min(first + 40, customers))).encode()


def _customer(namespace: str, i: int) -> str:
    base, graph = f"urn:cortex:{namespace}:", f"<urn:cortex:{namespace}>"
    subject = f"<{base}customer:{i}>"
    type_ = "http://www.w3.org/2001/XMLSchema#"
    return (
        f'{subject} <{base}hasStatus> "{_STATES[i % 3]}" {graph} .\n'
        f'{subject} <{base}hasName> "The customer of number {i}" {graph} .\n'
        f'{subject} <{base}hasBalance> "{i * 37 % 100_000}"^^<{type_}integer> {graph} .\n'
        f'{subject} <{base}isActive> "true"^^<{type_}boolean> {graph} .\n'
    ) + "".join(f"{subject} <{base}bought> <{base}product:{(i * 7 + n * n) % 50_000}> {graph} .\n" for n in range(21))
