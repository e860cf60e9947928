"""An operation is at most two requests to a server; the table of `docs/scaling.md` has the number of each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.graph.remote.daily_operations import counted
from tests.services.oxigraph import oxigraph
from tests.services.virtuoso import Unavailable, virtuoso

PAGE = Path(__file__).parents[3] / "docs" / "scaling.md"
MOST = 2
# What more than two are for: `docs/scaling.md` states it beside the table.
MORE = {
    "`graph.assert`, without a record": 3,
    "`skill_read`": 3,
    "an action that waits for a person": 3,
    "`approvals.approve`, with the run of the action here": 5,
}
ANNOUNCED = {"`registry.register`", "… of the next version", "`registry.outcome`", "`approvals.reject`"}


def table(column: int) -> dict[str, int]:
    """A column of the table: the requests of each operation on a server."""
    text = PAGE.read_text().partition("<!-- requests:start -->")[2].partition("<!-- requests:end -->")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.strip().splitlines()[2:]]
    return {row[0]: int(row[column]) for row in rows}


def test_the_table_has_no_operation_of_more_than_two_requests_but_those_that_it_explains() -> None:
    more = {column: {name: n for name, n in table(column).items() if n > MOST} for column in (1, 2)}
    assert more[2] == MORE
    announced = dict.fromkeys(ANNOUNCED, MOST + 1)
    assert more[1] == MORE | announced | {
        "`skill_read`": 3 + 1,
        "`approvals.approve`, with the run of the action here": 5 + 3,
    }


def test_an_operation_on_oxigraph_sends_as_many_requests_as_the_table_states(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with oxigraph() as server:
        assert counted(server.url, "daily", tmp_path, monkeypatch) == table(1)


@pytest.mark.extended
def test_an_operation_on_virtuoso_sends_as_many_requests_as_the_table_states(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "virtuoso"
    folder.mkdir()
    try:
        with virtuoso(folder) as server:
            monkeypatch.setenv("TEST_VIRTUOSO_PASSWORD", "dba")
            auth = {"type": "digest", "user": "dba", "password": "${TEST_VIRTUOSO_PASSWORD}"}
            store: Any = {"query": f"{server.url}/sparql-auth", "auth": auth}
            assert counted(store, "daily", tmp_path, monkeypatch) == table(2)
    except Unavailable as reason:
        pytest.skip(str(reason))
