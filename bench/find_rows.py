"""The rows of finding resources by words: among a million triples on disk, beside 10,000 and beside tantivy alone.

A query that finds a resource takes the words of its label: two of them, the beginning of one, one with a typo, its id,
words of its note. The first row is what a caller waits, the others are processor time.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import accumulate, cycle
from pathlib import Path

from pyoxigraph import Literal, NamedNode, Quad

from bench.measure import Row, in_turn_s
from cortex_graph import NamespacedGraph, open_store
from cortex_graph.naming.vocabulary import LABEL, TYPE
from cortex_skills.features.finder.entities import EntityIndex
from cortex_skills.features.finder.entity_follower import EntityFollower
from cortex_skills.features.finder.entity_match import query_words
from cortex_skills.features.finder.index_follower import follower_of

FEW, MANY = 10_000, 1_000_000  # triples
STATEMENTS = 5  # of a resource
WORDS, NAMES = 20_000, 5_000
LIMIT, ROUNDS = 10, 100
GOAL_S = 0.03
_TIMEOUT_S = 3600.0


def rows() -> list[Row]:
    """All rows."""
    with tempfile.TemporaryDirectory() as scratch, ExitStack() as stack:
        graphs = [stack.enter_context(_opened(Path(scratch, str(count)), count)) for count in (FEW, MANY)]
        few, many = (_finds(graph, count) for graph, count in zip(graphs, (FEW, MANY), strict=True))
        (waited,) = in_turn_s([many], 1, rounds=ROUNDS)
        of_few, of_many, raw = in_turn_s([few, many, _raw(graphs[1], MANY)], 1, rounds=ROUNDS, clock=time.process_time)
        written = _write_and_find(graphs[1], many)
        after_write, without = in_turn_s([written, many], 1, rounds=ROUNDS, clock=time.process_time)
    what = f"find among {MANY:,} triples, {LIMIT} hits"
    return [
        Row(what, waited, "30 ms", GOAL_S, 1.0),
        Row(f"{what} (CPU)", of_many, f"the same among {FEW:,}", of_few, 1.5),
        Row(f"{what} (CPU)", of_many, "the query in tantivy alone", raw, 2.0),
        Row("the same after a write (CPU)", after_write, "without one", without, 2.0),
    ]


class _opened:  # noqa: N801 - a context
    def __init__(self, folder: Path, count: int) -> None:
        self._store = open_store(folder)
        self.graph = NamespacedGraph(self._store, "bench")
        self._store.bulk_insert(quads(self.graph, count))
        EntityIndex(self.graph, _TIMEOUT_S).find("warm up")

    def __enter__(self) -> NamespacedGraph:
        return self.graph

    def __exit__(self, *_: object) -> None:
        self._store.close()


def quads(graph: NamespacedGraph, count: int) -> Iterator[Quad]:
    """Resources with a class, a label, an integer, a note and a link each."""
    base, own = graph.names.graph.value, graph.names.graph
    note, of, size = (NamedNode(f"{base}:{name}") for name in ("note", "partOf", "size"))
    for number in range(count // STATEMENTS):
        subject = NamedNode(f"{base}:item:U{number}")
        label, text = texts(number)
        yield Quad(subject, TYPE, NamedNode(f"{base}:Class{number % 20}"), own)
        yield Quad(subject, LABEL, Literal(label), own)
        yield Quad(subject, note, Literal(text, language="en"), own)
        yield Quad(subject, size, Literal(number), own)
        yield Quad(subject, of, NamedNode(f"{base}:item:U{number // 10}"), own)


_chance = random.Random(1)
_words = ["w" + "".join(_chance.choices("bcdfgklmnprt", k=6)) for _ in range(WORDS)]
_names = [word.title() for word in _words[:NAMES]]
_weights = list(accumulate(1 / rank for rank in range(1, WORDS + 1)))


def texts(number: int) -> tuple[str, str]:
    """The label and the note of a resource."""
    chance = random.Random(number)
    return " ".join(chance.sample(_names, 2)), " ".join(chance.choices(_words, cum_weights=_weights, k=10))


def queries(resources: int) -> list[str]:
    """Queries for resources of a graph with so many of them."""
    chance = random.Random(2)
    found = []
    for _ in range(20):
        number = chance.randrange(resources)
        label, note = texts(number)
        first, last = label.split()
        found += [f"{last} {first}".lower(), first[:5], f"{first[:3]}x{first[3:]} {last}", f"U{number}"]
        found.append(" ".join(chance.sample(note.split(), 3)))
    return found


def _finds(graph: NamespacedGraph, count: int) -> Callable[[], object]:
    asked, index = cycle(queries(count // STATEMENTS)), EntityIndex(graph)

    def finds() -> None:
        found = index.find(next(asked), limit=LIMIT)
        assert found.hits
        assert found.complete

    return finds


def _raw(graph: NamespacedGraph, count: int) -> Callable[[], object]:
    documents = follower_of(EntityFollower, graph).current(graph, _TIMEOUT_S).documents
    assert documents is not None
    asked = cycle(queries(count // STATEMENTS))

    def search() -> None:
        words = query_words(next(asked))
        if not documents.search(words, LIMIT)[0]:
            documents.search(words, LIMIT, typos=True)

    return search


def _write_and_find(graph: NamespacedGraph, find: Callable[[], object]) -> Callable[[], object]:
    numbers = iter(range(10**9))

    def both() -> None:
        graph.create_triple({"subject": f"new{next(numbers)}", "predicate": "note", "object": "one more"})
        find()

    return both
