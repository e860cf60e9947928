"""`python -m bench.scaling`: the tables of `docs/scaling.md`, one row an operation, one column a store.

Rules kept here:
- each store is measured in its own process, which reports its memory;
- a time is the minimum mean over several batches;
- the remote column is the same store served by `oxigraph serve` on this machine, queried over HTTP.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from bench.__main__ import written
from bench.measure import shown
from bench.remote import serving
from bench.stores import Shape, cache, copy_of
from cortex_graph import GraphBusy, NamespacedGraph, Pattern, Provenance, namespaces_of, open_store
from cortex_graph.store import GraphStore

BY: dict[str, dict[str, Any]] = {
    "20 triples by predicate": {"predicate": "hasStatus"},
    "20 triples by subject": {"subject": "customer:7"},
    "20 triples by subject and predicate": {"subject": "customer:7", "predicate": "bought"},
    "20 triples by object": {"object": {"node": "product:57"}},
    "20 triples, nothing bound": {},
}
WHO = Provenance("scaling", "1.0.0", "a1")
PAGES = ((100, 20), (1000, 20), (250, 1000))
INDEXING_S = 60.0
NONE = "–"
Figures = dict[str, str]


def main() -> int:
    """Measure, and print or write the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.scaling", description=__doc__)
    parser.add_argument("--full", action="store_true", help="also 10 million quads")
    parser.add_argument("--write", type=Path, help="a Markdown file whose table is replaced")
    parser.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        quads, namespaces, kind = options.measure
        json.dump(_measured(Shape(int(quads), int(namespaces)), kind == "remote"), sys.stdout)
        return 0
    sizes = [1_000_000] + ([10_000_000] if options.full else [])
    shapes = [Shape(10_000), *(Shape(size, spaces) for size in sizes for spaces in (1, 1000))]
    columns = {str(shape): _in_a_process(shape, "embedded") for shape in shapes}
    columns["1,000,000 quads over HTTP"] = _in_a_process(Shape(1_000_000), "remote")
    text = _table(columns)
    sys.stdout.write(text + "\n")
    if options.write:
        written(options.write, text, f"python -m bench.scaling{' --full' if options.full else ''}")
    return 0


def _table(columns: dict[str, Figures]) -> str:
    names = dict.fromkeys(name for figures in columns.values() for name in figures)
    return "\n".join(
        [
            f"| | {' | '.join(columns)} |",
            "|---" * (len(columns) + 1) + "|",
            *(f"| {name} | {' | '.join(of.get(name, NONE) for of in columns.values())} |" for name in names),
        ]
    )


def _in_a_process(shape: Shape, kind: str) -> Figures:
    command = [sys.executable, "-m", "bench.scaling", "--measure", str(shape.quads), str(shape.namespaces), kind]
    figures: Figures = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return figures


def _measured(shape: Shape, remote: bool) -> Figures:
    figures: Figures = {}
    cache().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache()) as scratch:
        folder = copy_of(shape, Path(scratch, "store"))
        with _opened(folder, shape, figures, remote) as store:
            graph = NamespacedGraph(store, shape.namespace(0))
            _reads(graph, figures)
            if not remote:
                figures["memory after these reads"] = _resident()
            _writes(graph, figures)
            figures["list of the namespaces"] = shown(_once(lambda: namespaces_of(store)), "s")
            figures["exact count of one namespace"] = shown(_once(graph.count), "s")
            if not remote:
                _index(graph, folder, figures)
    return figures


@contextlib.contextmanager
def _opened(folder: Path, shape: Shape, figures: Figures, remote: bool) -> Iterator[GraphStore]:
    if remote:
        with serving(folder) as address, contextlib.closing(open_store(address)) as store:
            yield store
        return
    size = sum(file.stat().st_size for file in folder.glob("*.sst"))
    figures["on the disk, a quad"] = f"{size / shape.quads:.0f} bytes"
    before = _bytes()
    figures["open the store"] = shown(_once(lambda: open_store(folder).close()), "s")
    with contextlib.closing(open_store(folder)) as store:
        figures["memory of an open store"] = f"{(_bytes() - before) / 1e6:.0f} MB"
        yield store


def _reads(graph: NamespacedGraph, figures: Figures) -> None:
    for name, pattern in BY.items():
        figures[name] = _quickest(partial(graph.pattern_query, pattern))
    status = Pattern(graph.names.graph, None, graph.names.node("hasStatus"))
    figures["`total`, which counts to 101"] = shown(min(_counted(graph, status) for _ in range(60)), "s")
    for page, limit in PAGES:
        cursor = _cursor(graph, (page - 1) * limit)
        read = partial(graph.list_triples, {"limit": limit, "cursor": cursor})
        figures[f"page {page:,} of {limit:,} each"] = NONE if cursor is None else _quickest(read, 5, 1)


def _counted(graph: NamespacedGraph, pattern: Pattern) -> float:
    """The time of counting to 101. A write comes first, since the count of an unchanged graph is cached."""
    graph.delete_triple(graph.create_triple({"subject": "counted", "predicate": "p", "object": "x"})["id"])
    return _once(lambda: graph.store.count(pattern, 101))


def _cursor(graph: NamespacedGraph, offset: int) -> str | None:
    """The cursor of the page after so many quads; None when there is none."""
    cursor, passed = None, 0
    while passed < offset:
        page = graph.store.match(Pattern(graph.names.graph), min(4_000, offset - passed), cursor)
        if page.cursor is None:
            return None
        cursor, passed = page.cursor, passed + len(page.quads)
    return cursor


def _writes(graph: NamespacedGraph, figures: Figures) -> None:
    number = count()

    def create(provenance: Provenance | None = None) -> str:
        triple = {"subject": f"new:{next(number)}", "predicate": "p", "object": "x"}
        return str(graph.create_triple(triple, provenance)["id"])

    def delete(ids: list[str], graph: NamespacedGraph) -> str:
        rest = iter(ids)
        return _quickest(lambda: graph.delete_triple(next(rest)), 40, 5)

    figures["`create_triple`"] = _quickest(create)
    figures["`create_triple` with provenance"] = _quickest(lambda: create(WHO))
    figures["`delete_triple`, read lately"] = delete([create() for _ in range(200)], graph)
    ids = [create(WHO) for _ in range(200)]
    figures["`delete_triple`, found by its record"] = delete(ids, NamespacedGraph(graph.store, graph.namespace))


def _index(graph: NamespacedGraph, folder: Path, figures: Figures) -> None:
    anew = NamespacedGraph(graph.store, graph.namespace)
    before = sum(file.stat().st_size for file in folder.glob("*.sst"))
    started = time.perf_counter()
    with contextlib.suppress(GraphBusy):  # which is what a large graph answers
        anew.get_triple("0" * 64)
    figures["an unknown id: the caller waits"] = shown(time.perf_counter() - started, "s")
    done = graph.count()
    try:
        anew.index.complete(INDEXING_S)
    except GraphBusy as error:
        done = error.details["indexed"]
    rate = done / (time.perf_counter() - started)
    figures["… while so many triples a second are indexed"] = f"{rate:,.0f}"
    if anew.index.is_complete():
        graph.store.flush()
        more = sum(file.stat().st_size for file in folder.glob("*.sst")) - before
        figures["… in so many bytes a triple"] = f"{more / done:.0f} bytes"
        figures["the same, once all are"] = _quickest(lambda: anew.get_triple("0" * 64))
        ids = iter([row["id"] for row in graph.list_triples({"limit": 200})["triples"]])
        figures["`delete_triple`, found by the index"] = _quickest(lambda: anew.delete_triple(next(ids)), 40, 5)
    figures["memory after all this"] = _resident()


def _quickest(work: Callable[[], Any], batches: int = 60, batch: int = 5) -> str:
    times = []
    for _ in range(batches):
        started = time.perf_counter()
        for _ in range(batch):
            work()
        times.append((time.perf_counter() - started) / batch)
    return shown(min(times), "s")


def _once(work: Callable[[], Any]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def _bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def _resident() -> str:
    return f"{_bytes() / 1e6:.0f} MB"


if __name__ == "__main__":
    raise SystemExit(main())
