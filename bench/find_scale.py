"""`python -m bench.find_scale`: finding and the overview in graphs of 10,000, a million and 10 million triples.

Rules kept here:
- a resource has a class, a label, a note and a number, and links to others, `--each` statements together. The stores
  are built once in the cache (`stores.py`), and copied for a measurement;
- each part is measured in a process of its own, which reports its memory: RSS beyond that of the open store, and how
  much of it is its own (anonymous), since pages of files can be dropped;
- times are processor time, of all threads, where nothing else is stated;
- what is found is compared with a reading of all texts that shares no code with the index: rare words, frequent
  ones, beginnings, and what this and another process wrote last.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import cycle
from pathlib import Path
from typing import Any

from pyoxigraph import NamedNode, RdfFormat, Store

from bench.find_rows import LIMIT, queries, texts
from bench.stores import Lines, cache
from cortex_graph import NamespacedGraph, open_store
from cortex_graph.naming.vocabulary import LABEL, TYPE
from cortex_graph.store import Pattern
from cortex_skills.features.finder.entities import EntityIndex
from cortex_skills.features.graph.looking.schema_now import schema_of

SIZES, EACH = (10_000, 1_000_000, 10_000_000), 20
GRAPH = "urn:cortex:bench"
NOTE, SIZE = NamedNode(f"{GRAPH}:note"), NamedNode(f"{GRAPH}:size")
SAMPLED, PAGE, ROUNDS = 12, 500, 200
_VERSION, _TIMEOUT_S = 1, 7200.0
_NONE = "–"
Figures = dict[str, str]


def main() -> int:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.find_scale", description=__doc__)
    parser.add_argument("sizes", nargs="*", type=int, default=SIZES, help="triples")
    parser.add_argument("--each", type=int, default=EACH, help="statements of a resource, from 5 on")
    parser.add_argument("--part", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part:
        name, folder = options.part
        json.dump(_PARTS[name](Path(folder), options.sizes[0] // options.each), sys.stdout)
        return 0
    columns = {f"{size:,} triples": _measured(size, options.each) for size in options.sizes}
    names = dict.fromkeys(name for figures in columns.values() for name in figures)
    sys.stdout.write(f"| | {' | '.join(columns)} |\n{'|---' * (len(columns) + 1)}|\n")
    for name in names:
        sys.stdout.write(f"| {name} | {' | '.join(of.get(name, _NONE) for of in columns.values())} |\n")
    return 0


def _measured(size: int, each: int) -> Figures:
    store = _store_of(size, each)
    figures: Figures = {"resources": f"{size // each:,}"}
    with tempfile.TemporaryDirectory(dir=cache()) as scratch:
        folder = Path(scratch, "store")
        Store(store).backup(folder)
        figures["the store on the disk"] = _megabytes(_size(folder))
        for name in _PARTS:
            command = [sys.executable, "-m", "bench.find_scale", str(size), "--each", str(each)]
            made = subprocess.run([*command, "--part", name, str(folder)], check=True, stdout=subprocess.PIPE).stdout
            figures |= json.loads(made)
            sys.stderr.write(f"{size:,}, {name}: {made.decode()}\n")
    return figures


def _store_of(size: int, each: int) -> Path:
    place = cache() / f"find-v{_VERSION}-{size}-{each}"
    if not place.exists():
        partial = place.with_suffix(".partial")
        shutil.rmtree(partial, ignore_errors=True)
        partial.parent.mkdir(parents=True, exist_ok=True)
        store = Store(partial)
        store.bulk_load(Lines(_blocks(size // each, each)), RdfFormat.N_QUADS)  # type: ignore[arg-type]
        store.flush()
        store.optimize()
        del store
        partial.rename(place)
    return place


def _blocks(resources: int, each: int) -> Iterator[bytes]:
    """The N-Quads of a store, a few resources at a time."""
    for first in range(0, resources, 100):
        numbers = range(first, min(first + 100, resources))
        yield "".join(_resource(number, resources, each) for number in numbers).encode()


def _resource(number: int, resources: int, each: int) -> str:
    label, note = texts(number)
    end, subject = f"<{GRAPH}> .\n", f"<{GRAPH}:item:U{number}>"
    others = [(number * 7 + link * link) % resources for link in range(each - 4)]
    return "".join(
        (
            f"{subject} {TYPE} <{GRAPH}:Class{number % 20}> {end}",
            f'{subject} {LABEL} "{label}" {end}',
            f'{subject} {NOTE} "{note}"@en {end}',
            f'{subject} {SIZE} "{number}"^^<http://www.w3.org/2001/XMLSchema#integer> {end}',
            *(f"{subject} <{GRAPH}:link{n}> <{GRAPH}:item:U{other}> {end}" for n, other in enumerate(others)),
        )
    )


def _index(folder: Path, resources: int) -> Figures:
    """The first index."""
    with closing(open_store(folder)) as store, _Memory() as memory:
        began, cpu = time.monotonic(), time.process_time()
        found = EntityIndex(NamespacedGraph(store, "bench"), _TIMEOUT_S).find("warm up")
        assert found.complete, found.reason
        took, cpu = time.monotonic() - began, time.process_time() - cpu
    size_of = _size(folder / ".find")
    return {
        "first index (CPU)": f"{cpu:.1f} s",
        "first index (waited)": f"{took:.1f} s",
        "… memory, its own": _megabytes(memory.own),
        "… memory, with pages of files": _megabytes(memory.all_of),
        "the index on the disk": _megabytes(size_of),
        "… a resource": f"{size_of / resources:.0f} bytes",
    }


def _finds(folder: Path, resources: int) -> Figures:
    """Opening it, and finding."""
    with closing(open_store(folder)) as store, _Memory() as memory:
        graph = NamespacedGraph(store, "bench")
        index, asked = EntityIndex(graph, _TIMEOUT_S), cycle(queries(resources))
        began, cpu = time.monotonic(), time.process_time()
        index.find("warm up")
        waited, opened = time.monotonic() - began, time.process_time() - cpu
        times = sorted(_cpu(lambda: index.find(next(asked), limit=LIMIT)) for _ in range(ROUNDS))
        common = sorted(_cpu(lambda: index.find("wb", limit=LIMIT)) for _ in range(9))
    return {
        "after a start, the first find (waited)": _ms(waited),
        "… (CPU)": _ms(opened),
        "find, p50 (CPU)": _ms(statistics.median(times)),
        "find, p95 (CPU)": _ms(times[int(len(times) * 0.95)]),
        "find two letters (CPU)": _ms(common[len(common) // 2]),
        "memory of an open index, its own": _megabytes(memory.own),
        "memory of an open index, with pages of files": _megabytes(memory.all_of),
    }


def _complete(folder: Path, resources: int) -> Figures:
    """What is found is what a reading of all texts finds."""
    with closing(open_store(folder)) as store:
        graph = NamespacedGraph(store, "bench")
        index = EntityIndex(graph, _TIMEOUT_S)
        graph.create_triple({"subject": "last", "predicate": "note", "object": "written here lately"})
        code = (
            "import sys; from cortex_graph import NamespacedGraph, open_store;"
            "NamespacedGraph(open_store(sys.argv[1]), 'bench').create_triple("
            "{'subject': 'other', 'predicate': 'note', 'object': 'written there lately'})"
        )
        subprocess.run([sys.executable, "-c", code, str(folder)], check=True)
        having: dict[str, set[str]] = {}
        wanted = _sampled(resources)
        for predicate in (LABEL, NOTE, SIZE):
            for quad in store.quads(Pattern(graph.names.graph, None, predicate)):
                for word in wanted.intersection(quad.object.value.lower().split()):
                    having.setdefault(word, set()).add(quad.subject.value)
        right = 0
        for word, expected in having.items():
            page = index.find(word, prefix=False, limit=PAGE)
            assert page.complete, page.reason
            found = {hit.subject.value for hit in page.hits}
            numbers = page.is_exact, page.total, len(found)
            right += numbers == (True, len(expected), min(PAGE, len(expected))) and found <= expected
        lately = {hit.subject.value.rpartition(":")[2] for hit in index.find("written lately").hits}
    rarest, most = min(map(len, having.values())), max(map(len, having.values()))
    return {
        "words found as in a reading of all texts": f"{right} of {len(wanted)}",
        "… which so many resources have": f"{rarest:,} to {most:,}",
        "what was written last is found": "yes" if lately == {"last", "other"} else f"no: {lately}",
    }


def _sampled(resources: int) -> set[str]:
    """Frequent and rare words of some texts, those of the last resource among them."""
    chance = random.Random(3)
    last = resources - 1
    found: set[str] = set()
    for number in (last, *(chance.randrange(last) for _ in range(SAMPLED))):
        label, note = texts(number)
        found |= {*label.lower().split(), *note.split()[:4]}
    return found


def _overviews(folder: Path, resources: int) -> Figures:
    """The overview, after writes."""
    with closing(open_store(folder)) as store:
        graph = NamespacedGraph(store, "bench")
        schema_of(graph, _TIMEOUT_S)
        before = schema_of(graph, _TIMEOUT_S)
        triples = before.triples
        one = []
        for number in range(9):
            graph.create_triple({"subject": f"o{number}", "predicate": "note", "object": "one more"})
            one.append(_cpu(lambda: schema_of(graph, _TIMEOUT_S)))
        many = []
        for round_ in range(5):
            rows = [{"subject": f"m{round_}_{n}", "predicate": "note", "object": "more"} for n in range(1_000)]
            graph.create_triples(rows)
            many.append(_cpu(lambda: schema_of(graph, _TIMEOUT_S)))
        after = schema_of(graph, _TIMEOUT_S)
        assert after.triples == triples + 5_009, (after.triples, triples)
    return {
        "overview after a write of one statement (CPU)": _ms(statistics.median(one)),
        "overview after 1,000 subjects (CPU)": _ms(statistics.median(many)),
    }


_PARTS: dict[str, Callable[[Path, int], Figures]] = {
    "index": _index,
    "finds": _finds,
    "overviews": _overviews,
    "complete": _complete,
}


class _Memory:
    """The largest memory of this process in a block, in bytes beyond that at its beginning."""

    def __enter__(self) -> _Memory:
        self._first, self._most = _resident(), (0, 0)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        self.all_of, self.own = (most - first for most, first in zip(self._most, self._first, strict=True))

    def _look(self) -> None:
        while True:
            self._most = tuple(map(max, self._most, _resident()))
            if self._ended.wait(0.05):
                return


def _resident() -> tuple[int, int]:
    lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return tuple(int(lines[name].split()[0]) * 1024 for name in ("VmRSS", "RssAnon"))  # type: ignore[return-value]


def _cpu(work: Callable[[], Any]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.0f} MB"


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:,.3g} ms" if seconds < 1 else f"{seconds:,.1f} s"


if __name__ == "__main__":
    os.environ.setdefault("TMPDIR", str(cache()))
    raise SystemExit(main())
