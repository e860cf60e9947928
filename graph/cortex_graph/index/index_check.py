"""Reads every block of a store's files, and compares the indexes of the engine with one another.

Rules kept here:
- each triple is read with its terms from one index, and is looked up in the five others: RocksDB verifies the checksum
  of every block that is read;
- only queries that end at the first error are used: the engine's aggregates collect the error of a damaged block
  without end, until the memory is exhausted;
- the store is opened read-only, so it must be one to which no process writes, such as a snapshot.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import cast

from pyoxigraph import DefaultGraph, NamedNode, QuerySolutions, Store

from cortex_graph.checks.engine_errors import corrupt, explained

_EVERY = 20_000  # rows between two reports

# Each query yields a row for each triple of a graph, or more: a triple with the same subject and object is found, too.
_LOOKUPS = (
    "GRAPH {graph} {{ ?s ?p ?o LATERAL {{ ?s ?other ?o }} }}",  # GOSP
    "GRAPH {graph} {{ ?s ?p ?o }} LATERAL {{ GRAPH ?any {{ ?s ?other ?o }} }}",  # OSPG
    "GRAPH {graph} {{ ?s ?p ?o }} LATERAL {{ GRAPH ?any {{ ?s ?p ?o }} }}",  # SPOG
)


def check_indexes(files: Path, named: Path, reached: Callable[[str, int], None] = lambda _, __: None) -> dict[str, int]:
    """Read a whole store, and compare its indexes.

    Args:
        files: the folder with the files, to which no process writes.
        named: the folder of the store, for messages.
        reached: called now and then, with a graph and the number of rows read.

    Returns:
        The number of triples of each graph, by its IRI.

    Raises:
        GraphCorrupt: a file is damaged, or two indexes differ.
    """
    check = _Check(named, reached)
    try:
        return check.run(Store.read_only(os.fspath(files)))
    except (OSError, RuntimeError) as error:
        raise explained(error, f"the store in {named} cannot be read", named) from error


class _Check:
    def __init__(self, named: Path, reached: Callable[[str, int], None]) -> None:
        self._named = named
        self._reached = reached
        self._rows_read = 0

    def run(self, store: Store) -> dict[str, int]:
        self._read_default_graph(store)
        graphs = sorted(graph.value for graph in store.named_graphs() if isinstance(graph, NamedNode))
        counts = {}
        predicates: set[str] = set()
        for graph in graphs:
            node = str(NamedNode(graph))
            counts[graph] = count = self._rows(store, graph, f"?s ?p ?o {{ GRAPH {node} {{ ?s ?p ?o }} }}")
            for lookup in _LOOKUPS:
                found = self._rows(store, graph, f"?unbound {{ {lookup.format(graph=node)} }}")
                if found < count:
                    raise self._differ(graph, count, found)
            used = {str(row["p"]) for row in _select(store, f"DISTINCT ?p {{ GRAPH {node} {{ ?s ?p ?o }} }}")}
            found = sum(self._rows(store, graph, f"?unbound {{ GRAPH {node} {{ ?s {each} ?o }} }}") for each in used)
            if found != count:  # GPOS
                raise self._differ(graph, count, found)
            predicates |= used
        found = sum(self._rows(store, "", f"?unbound {{ GRAPH ?any {{ ?s {each} ?o }} }}") for each in predicates)
        if found < sum(counts.values()):  # POSG
            raise self._differ("all graphs", sum(counts.values()), found)
        return {graph: count for graph, count in counts.items() if count}

    def _rows(self, store: Store, graph: str, query: str) -> int:
        count = 0
        for _ in _select(store, query):
            count += 1
            if not count % _EVERY:
                self._reached(graph, self._rows_read + count)
        self._rows_read += count
        return count

    @staticmethod
    def _read_default_graph(store: Store) -> None:
        """Read the numbers of changes from the three indexes of the default graph."""
        predicates = set()
        for quad in store.quads_for_pattern(None, None, None, DefaultGraph()):
            predicates.add(quad.predicate)
            next(store.quads_for_pattern(None, None, quad.object, DefaultGraph()), None)
        for predicate in predicates:
            for _ in store.quads_for_pattern(None, predicate, None, DefaultGraph()):
                pass

    def _differ(self, graph: str, count: int, found: int) -> Exception:
        return corrupt(self._named, f"an index of {graph} has {found:,} of its {count:,} triples")


def _select(store: Store, query: str) -> QuerySolutions:
    return cast(QuerySolutions, store.query(f"SELECT {query}"))
