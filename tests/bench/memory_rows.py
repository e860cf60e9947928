"""The rows of the memory: an agent with 100,000 memories on the disk recalls some of them."""

from __future__ import annotations

import random
import statistics
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from pathlib import Path

from cortex_graph import NamespacedGraph, open_store
from cortex_skills.memory import Memories, NewMemory, wanted
from cortex_skills.memory.records import triples_of
from tests.bench.measure import Row

MEMORIES = 100_000
WORDS = 20_000
LENGTH = 20
ROUNDS = 50
ALLOWED_S = 0.02
_CHUNK = 2000


def rows() -> list[Row]:
    """All of them."""
    words = _vocabulary()
    with tempfile.TemporaryDirectory() as scratch:
        store = open_store(str(Path(scratch, "store")))
        try:
            graph = NamespacedGraph(store, "bench")
            _fill(graph, words)
            return _rows(graph, words)
        finally:
            store.close()


def _rows(graph: NamespacedGraph, words: list[str]) -> list[Row]:
    memories = Memories(graph)
    start = time.perf_counter()
    memories.recall(wanted(words[500]), agent="a1", patience_s=600)
    first = time.perf_counter() - start
    chance = random.Random(7)

    def middling() -> None:
        memories.recall(wanted(" ".join(chance.choices(words[50:2000], k=3))), agent="a1")

    def common() -> None:
        memories.recall(wanted(" ".join(words[:5])), agent="a1")

    def written() -> None:
        memories.remember(NewMemory(f"{chance.random()} {words[99]}", 0.5, ()), agent="a1")
        memories.recall(wanted(words[99]), agent="a1")

    def row(what: str, took: float, allowed: float = ALLOWED_S) -> Row:
        return Row(what, took, "what is allowed", allowed, 1)

    return [
        row("recall of 100,000 memories, three words", _median(middling)),
        row("recall of 100,000 memories, the five commonest words", _median(common)),
        row("remember, then recall among 100,000", _median(written), 2 * ALLOWED_S),
        row("the first recall of 100,000 memories after a start", first, 60.0),
    ]


def _median(action: Callable[[], None]) -> float:
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def _vocabulary() -> list[str]:
    chance = random.Random(1)
    return ["w" + "".join(chance.choices("bcdfgklmnprt", k=6)) for _ in range(WORDS)]


def _fill(graph: NamespacedGraph, words: list[str]) -> None:
    """Memories of words as common as in a language (Zipf), over a year."""
    chance = random.Random(2)
    weights = list(accumulate(1 / rank for rank in range(1, WORDS + 1)))
    now = datetime.now(UTC)
    for begin in range(0, MEMORIES, _CHUNK):
        triples = []
        for number in range(begin, begin + _CHUNK):
            text = f"{number} {' '.join(chance.choices(words, cum_weights=weights, k=LENGTH))}"
            moment = now - timedelta(minutes=5 * (MEMORIES - number))
            triples += triples_of(graph.names, NewMemory(text, round(chance.random(), 2), ()), "a1", "bench", moment)
        graph.create_triples(triples)
