"""Pages of many assertions have each of them once, the newest first, in each way in which a store finds them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import pytest

from cortex_graph import NamespacedGraph, Provenance, open_store
from cortex_graph.assertions import AssertionFilter, list_assertions
from cortex_graph.assertions import search as assertions

START = datetime(2026, 1, 1, tzinfo=UTC)
Row = tuple[int, str, int]  # its hour, its id, its number


@pytest.fixture(scope="module", params=["memory", "folder"])
def written(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[NamespacedGraph, list[Row]]]:
    where = "memory:" if request.param == "memory" else str(tmp_path_factory.mktemp("pages") / "store")
    store = open_store(where)
    graph = NamespacedGraph(store, "m")
    rows = []
    for number in range(40):
        hour = number * 7 % 9
        by = Provenance("xy"[number % 2], "1", f"a{number % 3}", START + timedelta(hours=hour))
        made = graph.create_triple({"subject": f"s{number % 4}", "predicate": "p", "object": number}, by)
        rows.append((hour, made["id"], number))
    graph.withdraw(rows.pop()[1], Provenance(agent="eve"))
    yield graph, rows
    store.close()


FILTERS: list[tuple[AssertionFilter | None, Callable[[Row], bool]]] = [
    (None, lambda row: True),
    (AssertionFilter(subject="s1"), lambda row: row[2] % 4 == 1),
    (AssertionFilter(skill="x"), lambda row: row[2] % 2 == 0),
    (
        AssertionFilter(agent="a1", since=START + timedelta(hours=2), until=START + timedelta(hours=6)),
        lambda row: row[2] % 3 == 1 and 2 <= row[0] <= 6,
    ),
]


@pytest.mark.parametrize(
    ("few", "joined", "scanned"),
    [(1000, 1000, 2000), (1, 1000, 2000), (1, 1, 2000), (1, 1, 3)],
    ids=["few", "joined", "many", "bounded"],
)
@pytest.mark.parametrize(("which", "passes"), FILTERS, ids=["all", "subject", "skill", "agent-and-time"])
def test_each_assertion_is_on_one_page(
    written: tuple[NamespacedGraph, list[Row]],
    monkeypatch: pytest.MonkeyPatch,
    few: int,
    joined: int,
    scanned: int,
    which: AssertionFilter | None,
    passes: Callable[[Row], bool],
) -> None:
    graph, rows = written
    monkeypatch.setattr(assertions, "_FEW", few)
    monkeypatch.setattr(assertions, "_JOINED", joined)
    monkeypatch.setattr(assertions, "_SCANNED", scanned)
    for limit in (3, 100):
        found = []
        cursor = None
        for _ in itertools.count():
            page = list_assertions(graph, which, limit=limit, cursor=cursor)
            assert len(page.assertions) <= limit
            found += page.assertions
            cursor = page.cursor
            if cursor is None:
                break
        assert sorted(each.triple_id for each in found) == sorted(row[1] for row in rows if passes(row))
        times = [each.time for each in found]
        assert times == sorted(times, reverse=True)  # type: ignore[type-var]
