"""The stream of events: who gets it, what is in it, and when it ends."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from cortex_skills.doors.explorer.live_streams import OF_READER
from tests.explorer.http.browsing import CLICKED, signed_in, submitted
from tests.server.serving import Running

LIVE = "/explore/live"
SENT = {"Accept": "text/event-stream", "Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors"}


@contextmanager
def stream(client: httpx.Client, query: str = "") -> Iterator[Iterator[dict[str, Any]]]:
    with client.stream("GET", LIVE + query, headers=SENT, timeout=30) as answer:
        assert answer.status_code == 200, answer.read()
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert answer.headers["cache-control"] == "no-store"
        lines = (line for line in answer.iter_lines() if line.startswith("data: "))
        yield (json.loads(line.removeprefix("data: ")) for line in lines)


@pytest.fixture
def reader(running: Running) -> httpx.Client:
    return signed_in(running, running.token("watches", permissions=("read",)))


def test_an_event_states_that_the_graph_changed_and_nothing_of_what(running: Running, reader: httpx.Client) -> None:
    with stream(reader) as events:
        first = next(events)
        assert set(first) == {"graph", "waiting"}  # the audit needs its permission
        running.plugin.graph.create_triple({"subject": "new-thing", "predicate": "p", "object": "secret words"})
        second = next(events)
    assert second["graph"] > first["graph"]
    assert "secret" not in json.dumps(second)


def test_a_record_of_the_audit_is_an_event_for_those_who_may_read_it(running: Running) -> None:
    auditor = signed_in(running, running.token("audits", permissions=("read", "audit")))
    with stream(auditor) as events:
        first = next(events)
        running.plugin.call("skill_graph_query", {"predicate": "p", "scope": "namespace"}, agent="newcomer")
        assert next(events)["audit"] != first["audit"]


def test_another_namespace_has_no_stream(reader: httpx.Client) -> None:
    assert reader.get(f"{LIVE}?namespace=of-others", headers=SENT).status_code == 404
    assert reader.post(LIVE, headers=SENT).status_code in (403, 405)


def test_a_stream_ends_with_its_session_and_does_not_prolong_it(running: Running, reader: httpx.Client) -> None:
    page = reader.get("/explore/logout", headers=CLICKED).text
    form = page.partition('name="form" value="')[2].partition('"')[0]
    with stream(reader) as events:
        next(events)
        assert submitted(reader, "/explore/logout", {"form": form}).status_code == 303
        assert list(events) == []
    assert reader.get(LIVE, headers=SENT).status_code == 401


def test_a_stream_ends_when_its_token_is_revoked(running: Running, reader: httpx.Client) -> None:
    token = running.token("goes", permissions=("read",))
    with stream(signed_in(running, token)) as events:
        next(events)
        running.tokens.remove("goes")
        assert list(events) == []


def test_a_reader_has_a_bounded_number_of_streams(running: Running) -> None:
    many = signed_in(running, running.token("many", permissions=("read",)))
    with httpx.Client(base_url=many.base_url, cookies=many.cookies) as client:
        opened = [client.send(client.build_request("GET", LIVE, headers=SENT), stream=True) for _ in range(OF_READER)]
        assert {answer.status_code for answer in opened} == {200}
        lines = [answer.iter_lines() for answer in opened]  # an iterator that ends closes its stream
        assert all(next(each).startswith("data: ") for each in lines)
        assert client.get(LIVE, headers=SENT).status_code == 429
        opened[0].close()
        until = time.monotonic() + 30
        while (again := client.send(client.build_request("GET", LIVE, headers=SENT), stream=True)).status_code != 200:
            again.close()
            assert time.monotonic() < until
            time.sleep(0.2)
        again.close()
        for answer in opened:
            answer.close()
