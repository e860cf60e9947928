"""The time of an answer does not reveal the content of another namespace.

Deselected by default: `make bench` runs it (`python -m pytest -m timing`). The clock on the wall is read, since the
processor time of a thread is counted in ticks of ten milliseconds on some machines. Of many runs in turn the quickest
counts, and the bounds are generous: what another namespace holds must not take twice as long, nor half as long, to be
asked for as what is nowhere.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cortex_graph import GraphStore, NamespacedGraph, Provenance, open_store

MANY = 10_000
RUNS = 200
TIMES = 3
WITHIN = 2.0
BESIDE = 3.0  # a larger store has more levels to search, for every namespace

Probe = Callable[[NamespacedGraph, str], object]
PROBES: dict[str, Probe] = {
    "by subject": lambda graph, word: graph.list_triples({"subject": word}),
    "by object": lambda graph, word: graph.pattern_query({"predicate": "p", "object": word}),
    "by a node": lambda graph, word: graph.pattern_query({"object": {"node": f"urn:cortex:other:{word}"}}),
    "by its id": lambda graph, word: graph.get_triple(_id(word)),
    "who said so": lambda graph, word: graph.provenance_of(_id(word)),
    "deleted": lambda graph, word: graph.delete_triple(_id(word)),
    "created": lambda graph, word: graph.delete_triple(graph.create_triple(_row(word), Provenance(agent="a"))["id"]),
}


@pytest.fixture(scope="module", params=["memory", "disk"])
def stores(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[GraphStore, GraphStore]]:
    """A store with a large namespace `other` and a small one, `mayros`, and one with the small one alone."""
    folder: Path = tmp_path_factory.mktemp("timing")
    names = ["memory:"] * 2 if request.param == "memory" else [folder / "both", folder / "alone"]
    both, alone = (open_store(name) for name in names)
    other = NamespacedGraph(both, "other")
    for start in range(0, MANY, 1000):
        other.create_triples([_row(f"there-{number}") for number in range(start, start + 1000)], Provenance(agent="a"))
    for store in (both, alone):
        own = [_row(f"own-{number}") for number in range(100)]
        NamespacedGraph(store, "mayros").create_triples(own, Provenance(agent="a"))
    yield both, alone
    both.close()
    alone.close()


@pytest.mark.timing
@pytest.mark.parametrize("probe", PROBES)
def test_what_another_namespace_holds_is_asked_for_in_the_time_of_what_is_nowhere(
    stores: tuple[GraphStore, GraphStore], probe: str
) -> None:
    graph = NamespacedGraph(stores[0], "mayros")
    ratios = (_ratio(probe, (graph, "there"), (graph, "where")) for _ in range(TIMES))
    assert any(1 / WITHIN < ratio < WITHIN for ratio in ratios)


@pytest.mark.timing
@pytest.mark.parametrize("probe", PROBES)
def test_beside_a_large_namespace_an_answer_takes_the_time_that_it_takes_alone(
    stores: tuple[GraphStore, GraphStore], probe: str
) -> None:
    both, alone = (NamespacedGraph(store, "mayros") for store in stores)
    ratios = (_ratio(probe, (both, "where"), (alone, "where")) for _ in range(TIMES))
    assert any(1 / BESIDE < ratio < BESIDE for ratio in ratios)


def _row(word: str) -> dict[str, object]:
    return {"subject": word, "predicate": "p", "object": word}


def _id(word: str) -> str:
    """That of a triple of `other`, whether it is there or not."""
    iri = f'<urn:cortex:other:{word}> <urn:cortex:other:p> "{word}" <urn:cortex:other> .\n'
    return hashlib.sha256(iri.encode()).hexdigest()


def _ratio(probe: str, *asked: tuple[NamespacedGraph, str]) -> float:
    """Between the quickest runs of two, measured in turn in nanoseconds."""
    took: list[list[int]] = [[] for _ in asked]
    for number in range(RUNS):
        for runs, (graph, word) in zip(took, asked, strict=True):
            begun = time.perf_counter_ns()
            PROBES[probe](graph, f"{word}-{number}")
            runs.append(time.perf_counter_ns() - begun)
    first, second = (min(runs) for runs in took)
    return first / second
