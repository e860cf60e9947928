"""Counts what a namespace has, by queries.

Rules kept here:
- the queries run in processes of their own, and have a time limit. When it is exceeded only the first triples are
  counted: `is_exact` is false then, and the numbers are lower bounds;
- a count ends with the process that asked for it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from pyoxigraph import Literal, NamedNode, QueryResultsFormat, QuerySolutions, parse_query_results

from cortex_graph.exceptions import GraphBusy, QueryLimit, QueryTimeout
from cortex_graph.naming.names import Names
from cortex_graph.naming.vocabulary import ATTRIBUTED_TO, INVALIDATED_AT, PROOF_CLASS, STATEMENT, TYPE
from cortex_graph.store import Dataset, GraphStore, Pattern

MAX_NAMES = 1000  # predicates, and asserters, that are counted one by one
_QUERY_S = 60.0
_BOUNDS = (1_000_000, 20_000)  # triples that are counted when all of them take too long
_EXIT_S = 0.2


@dataclass(frozen=True, slots=True)
class PredicateCount:
    """A predicate, and how many triples have it."""

    predicate: NamedNode
    triples: int


@dataclass(frozen=True, slots=True)
class AsserterCount:
    """Who asserted something: an agent, or a version of a skill.

    Attributes:
        node: `NS:agent:ID` or `NS:skill:SLUG@VERSION`.
        assertions: how many of its assertions are in the graph.
        withdrawn: how many of its assertions were withdrawn.
    """

    node: NamedNode
    assertions: int
    withdrawn: int


@dataclass(frozen=True, slots=True)
class NamespaceCounts:
    """The counts of one namespace.

    Attributes:
        triples: the triples.
        resources: the different subjects.
        predicates: the most frequent predicates first, at most `MAX_NAMES`.
        predicate_total: the different predicates.
        asserters: those with the most assertions first, at most `MAX_NAMES`.
        asserter_total: the different asserters.
        assertions: the triples with a record.
        withdrawn: the withdrawn assertions.
        proofs: the proofs.
        is_exact: whether all of it was counted; otherwise the numbers are lower bounds.
        is_current: whether it is known that nothing was written since.
        counted_at: when it was counted; None while the first count is under way.
    """

    triples: int = 0
    resources: int = 0
    predicates: tuple[PredicateCount, ...] = ()
    predicate_total: int = 0
    asserters: tuple[AsserterCount, ...] = ()
    asserter_total: int = 0
    assertions: int = 0
    withdrawn: int = 0
    proofs: int = 0
    is_exact: bool = True
    is_current: bool = True
    counted_at: datetime | None = None

    @property
    def undated(self) -> int:
        """How many triples have no record, such as imported ones; a bound of nothing if it is not exact."""
        return max(0, self.triples - self.assertions)


def count_namespace(store: GraphStore, names: Names, cancel: UntilExit | None = None) -> NamespaceCounts:
    """Count what a namespace has; takes longer the more it is.

    Args:
        store: the store.
        names: of the namespace.
        cancel: cancels it.

    Raises:
        GraphError: a query failed.
    """
    now = datetime.now(UTC)
    data, records = names.graph, names.provenance_graph
    every = GraphCounter(store, data, cancel)
    predicates = every.groups("?p", "?s ?p ?o")
    resources = every.number("COUNT(DISTINCT ?s)", "?s ?p ?o")
    triples = sum(count for _, count in predicates)
    if len(predicates) > MAX_NAMES:
        triples = every.number("COUNT(*)", "?s ?p ?o")
    recorded = GraphCounter(store, records, cancel)
    asserted = recorded.groups("?who", f"?r {ATTRIBUTED_TO} ?who")
    withdrawn = dict(recorded.groups("?who", f"?r {INVALIDATED_AT} ?when ; {ATTRIBUTED_TO} ?who"))
    all_withdrawn = recorded.number("COUNT(*)", f"?r {INVALIDATED_AT} ?when")
    statements = recorded.number("COUNT(*)", f"?r {TYPE} {STATEMENT}")
    asserters = [
        AsserterCount(node, max(0, count - withdrawn.get(node, 0)), withdrawn.get(node, 0)) for node, count in asserted
    ]
    return NamespaceCounts(
        triples=triples,
        resources=resources,
        predicates=tuple(PredicateCount(node, count) for node, count in predicates[:MAX_NAMES]),
        predicate_total=len(predicates)
        if len(predicates) <= MAX_NAMES
        else every.number("COUNT(DISTINCT ?p)", "?s ?p ?o"),
        asserters=tuple(asserters[:MAX_NAMES]),
        asserter_total=len(asserters)
        if len(asserters) <= MAX_NAMES
        else recorded.number("COUNT(DISTINCT ?who)", f"?r {ATTRIBUTED_TO} ?who"),
        assertions=max(0, statements - all_withdrawn),
        withdrawn=all_withdrawn,
        proofs=store.count(Pattern(records, None, TYPE, PROOF_CLASS)),
        is_exact=every.is_exact and recorded.is_exact,
        counted_at=now,
    )


class GraphCounter:
    """Counts the triples of one graph, or the first ones if all take too long."""

    def __init__(self, store: GraphStore, graph: NamedNode, cancel: UntilExit | None) -> None:
        self._store = store
        self._graph = graph
        self._cancel = cancel
        self._bounds: list[int | None] = [None, *_BOUNDS]
        self.is_exact = True

    def groups(self, name: str, where: str) -> list[tuple[NamedNode, int]]:
        """Return the IRIs bound to a variable, and how often, the most frequent first; up to one past `MAX_NAMES`."""
        key = name.removeprefix("?")
        rows = self.rows(
            f"SELECT {name} (COUNT(*) AS ?n)", where, f"GROUP BY {name} ORDER BY DESC(?n) LIMIT {MAX_NAMES + 1}"
        )
        return [(node, _whole(row["n"])) for row in rows if isinstance(node := row[key], NamedNode)]

    def number(self, expression: str, where: str) -> int:
        """Return the value of an aggregate."""
        (row,) = self.rows(f"SELECT ({expression} AS ?n)", where, "")
        return _whole(row["n"])

    def rows(self, select: str, where: str, modifiers: str) -> list[dict[str, object]]:
        """Return the rows of a query, of the first triples only when all take too long."""
        while True:
            bound = self._bounds[0]
            group = where if bound is None else f"{{ SELECT * {{ {where} }} LIMIT {bound} }}"
            try:
                return self._asked(f"{select} {{ {group} }} {modifiers}")
            except (QueryTimeout, QueryLimit):
                if len(self._bounds) == 1:
                    raise
                self._bounds.pop(0)
                self.is_exact = False

    def _asked(self, text: str) -> list[dict[str, object]]:
        dataset = Dataset((self._graph,))
        answer = self._store.query(
            text, dataset, results=QueryResultsFormat.JSON, timeout_s=_QUERY_S, cancel=self._cancel
        )
        found = parse_query_results(b"".join(answer.chunks), QueryResultsFormat.JSON)
        assert isinstance(found, QuerySolutions)  # noqa: S101 - the text is a SELECT
        names = [variable.value for variable in found.variables]
        return [{name: row[name] for name in names} for row in found]


def _whole(term: object) -> int:
    return int(term.value) if isinstance(term, Literal) else 0


class UntilExit:
    """Cancels a call of a background thread when the process only waits for it."""

    def __init__(self) -> None:
        self._interrupt: Callable[[], None] | None = None
        self.done = threading.Event()

    def check(self) -> None:
        """Raise when the process ends."""
        if not threading.main_thread().is_alive():
            raise GraphBusy("the process ends", hint="count again with the next one")

    @contextmanager
    def interrupts(self, interrupt: Callable[[], None]) -> Iterator[None]:
        """Run a block in which the end of the process also calls `interrupt`."""
        self.check()
        self._interrupt = interrupt
        try:
            yield
        finally:
            self._interrupt = None

    def watch(self) -> None:
        """Wait for the end of the call, or of the process."""
        while not self.done.wait(_EXIT_S):
            if not threading.main_thread().is_alive() and (interrupt := self._interrupt) is not None:
                interrupt()


@contextmanager
def until_exit() -> Iterator[UntilExit]:
    """Run a block in which calls of this thread are cancelled when the process ends."""
    cancel = UntilExit()
    threading.Thread(target=cancel.watch, name="cortex-graph-counts-exit", daemon=True).start()
    try:
        yield cancel
    finally:
        cancel.done.set()
