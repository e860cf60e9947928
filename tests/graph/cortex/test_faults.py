"""Cortex servers that lie, refuse, die and come back, and those that are none."""

from __future__ import annotations

import json
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph import (
    Dataset,
    GraphBusy,
    GraphError,
    GraphUnavailable,
    InvalidArguments,
    NamespacedGraph,
    Pattern,
    Provenance,
    QueryTimeout,
)
from cortex_graph.index.triple_index import hash_line
from cortex_graph.stores.cortex import ServerAddress
from cortex_graph.stores.cortex.cortex_store import CortexStore
from cortex_graph.stores.cortex.json_terms import to_triple
from cortex_skills.tokens import TokenFile, new_token
from tests.graph.cortex.support import ALL, cortex_at, store_with
from tests.graph.remote.hostile import Answer, Hostile, hostile, response
from tests.ports import quiet_port
from tests.server.serving import WAIT_S, Process, Running, served

G = NamedNode("urn:cortex:mayros")
S, P = NamedNode("urn:s"), NamedNode("urn:p")
QUAD = Quad(S, P, Literal(1), G)
SPELLING = {"namespaces": ["mayros"], "baseIri": "urn:cortex:", "vocabularies": {}}
TRIPLE = {"subject": "a", "predicate": "p", "object": 1}


def row_of(quad: Quad) -> dict[str, Any]:
    return {"id": hash_line(str(quad)), **to_triple(quad)}


def page_of(*rows: Any, **more: Any) -> dict[str, Any]:
    return {"matches": list(rows), "total": len(rows), "totalIsExact": True, "nextCursor": None, "limit": 1, **more}


def saying(document: Any, status: int = 200, **given: Any) -> bytes:
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    return response(status, body, given.pop("kind", "application/json"), **given)


def lies(*answers: bytes, spelling: Any = SPELLING) -> Answer:
    """Answers `/namespaces` as it should, and all else with these in turn, the last one for ever."""
    rest = list(answers)

    def answer(connection: socket.socket, request: bytes) -> None:
        if request.startswith(b"GET /api/v1/namespaces"):
            connection.sendall(saying(spelling))
        else:
            connection.sendall(rest.pop(0) if len(rest) > 1 else rest[0])

    return answer


def store_at(url: str) -> CortexStore:
    store = CortexStore(ServerAddress(url), timeout_s=WAIT_S)
    store._api.client.breaker.rest_s = 0.05
    return store


def problem_of(answer: Answer, ask: Callable[[CortexStore], Any]) -> tuple[GraphError, Hostile]:
    with hostile(answer) as server, closing(store_at(server.url)) as store:
        with pytest.raises(GraphError) as caught:
            ask(store)
        assert len(str(caught.value)) < 1_000
        assert server.url in caught.value.message
        return caught.value, server


@pytest.mark.parametrize(
    "document",
    [
        page_of(row_of(Quad(S, P, Literal(1), NamedNode("urn:cortex:other")))),
        page_of(row_of(Quad(S, S, Literal(1), G))),
        page_of(row_of(QUAD), row_of(QUAD)),
        page_of({**row_of(QUAD), "id": "0" * 64}),
        page_of({**row_of(QUAD), "object": 2}),
        page_of({**row_of(QUAD), "object": None}),
        page_of({**row_of(QUAD), "subject": "<no iri>"}),
        page_of({key: value for key, value in row_of(QUAD).items() if key != "predicate"}),
        page_of(None),
        page_of(*[row_of(Quad(S, P, Literal(number), G)) for number in range(1_001)]),
        page_of(*[row_of(Quad(S, P, Literal(f"{n}{'x' * 600_000}"), G)) for n in range(2)]),
        page_of(row_of(QUAD), nextCursor=5),
        page_of(row_of(QUAD), nextCursor=""),
        page_of(row_of(QUAD), nextCursor="x" * 701),
        page_of(row_of(QUAD), nextCursor="é"),
        page_of(row_of(QUAD), nextCursor="again"),
        page_of(nextCursor="again"),
        {"matches": {}},
        {},
        [],
        None,
        b"",
        b"[" * 100_000,
        b'{"matches": [NaN]}',
        b"\xff",
    ],
)
def test_a_page_that_was_not_asked_for_is_an_error(document: Any) -> None:
    problem, _ = problem_of(lies(saying(document)), lambda store: list(store.quads(Pattern(G, None, P))))
    assert isinstance(problem, GraphUnavailable)
    assert problem.hint


@pytest.mark.parametrize(
    "spelling",
    [
        {},
        [],
        {"baseIri": "urn:cortex:"},
        {"baseIri": "no iri", "vocabularies": {}},
        {"baseIri": 5, "vocabularies": {}},
        {"baseIri": "urn:cortex:", "vocabularies": {"a b": "urn:x"}},
        {"baseIri": "urn:cortex:", "vocabularies": {"a": 5}},
        {"baseIri": "urn:cortex:", "vocabularies": []},
        {**SPELLING, "namespaces": "mayros"},
        {**SPELLING, "namespaces": ["a/b"]},
        {**SPELLING, "namespaces": [5]},
    ],
)
def test_a_server_without_a_base_and_vocabularies_is_an_error(spelling: Any) -> None:
    problem, _ = problem_of(lies(saying({}), spelling=spelling), lambda store: store.graph_names())
    assert isinstance(problem, GraphUnavailable)


@pytest.mark.parametrize(
    "document",
    [
        {"inserted": []},
        {"inserted": [row_of(QUAD)]},
        {"inserted": [{**row_of(QUAD), "created": 1}]},
        {"inserted": [{**row_of(Quad(S, P, Literal(2), G)), "created": True}]},
        {"inserted": None},
        {},
    ],
)
def test_an_answer_to_a_write_that_is_about_something_else_is_an_error(document: Any) -> None:
    problem, _ = problem_of(lies(saying(document, 201)), lambda store: store.insert([[QUAD]]))
    assert isinstance(problem, GraphUnavailable)


@pytest.mark.parametrize(
    ("ask", "document"),
    [
        (lambda store: store.count(Pattern(G)), page_of(total=-1)),
        (lambda store: store.count(Pattern(G)), page_of(total=True)),
        (lambda store: store.count(Pattern(G)), page_of(total="5")),
        (lambda store: store.count(Pattern(G)), page_of(total=5, totalIsExact=False)),
        (lambda store: store.find(G, "0" * 64), row_of(QUAD)),
        (lambda store: store.find(G, hash_line(str(QUAD))), {**row_of(QUAD), "object": 2}),
        (lambda store: store.as_stored(Literal("x", datatype=S)), {"objects": []}),
        (lambda store: store.as_stored(Literal("x", datatype=S)), {"objects": [{"node": "a"}]}),
        (lambda store: store.as_stored(Literal("x", datatype=S)), {"objects": [None]}),
        (lambda store: store.apply(remove=[QUAD]), {"ok": "yes"}),
        (lambda store: store.flush(), []),
    ],
)
def test_other_answers_that_make_no_sense_are_errors(ask: Callable[[CortexStore], Any], document: Any) -> None:
    problem, _ = problem_of(lies(saying(document)), ask)
    assert isinstance(problem, GraphUnavailable)


@pytest.mark.parametrize(
    ("answer", "kind", "requests"),
    [
        (saying({"error": "no", "code": "unauthorized"}, 401), GraphUnavailable, 1),
        (saying({"error": "no", "code": "permission_denied"}, 403), GraphUnavailable, 1),
        (saying({"error": "\x1b[31mno\x00" * 999, "code": "not_found"}, 404), GraphUnavailable, 1),
        (
            saying({"error": "no", "code": "invalid_arguments", "details": {"field": "object"}}, 400),
            InvalidArguments,
            1,
        ),
        (saying(b"<html>", 400, kind="text/html"), GraphUnavailable, 1),
        (saying({"error": "big", "code": "request_too_large"}, 413), InvalidArguments, 1),
        (saying({"error": "wait", "code": "graph_busy"}, 503), GraphBusy, 1),
        (saying({"error": "slow", "code": "query_timeout"}, 504), QueryTimeout, 1),
        (saying({"error": "full", "code": "server_busy"}, 503), GraphUnavailable, 3),
        (saying({"error": "down", "code": "graph_unavailable"}, 503), GraphUnavailable, 3),
        (saying(b"gone", 502, kind="text/plain"), GraphUnavailable, 3),
        (saying({"error": "bug", "code": "internal_error"}, 500), GraphUnavailable, 1),
        (saying(page_of(), kind="text/html"), GraphUnavailable, 1),
        (response(307, extra="Location: http://127.0.0.1:9/\r\n"), GraphUnavailable, 1),
        (b"", GraphUnavailable, 3),
        (b"SSH-2.0-OpenSSH_9.2\r\n", GraphUnavailable, 3),
    ],
)
def test_an_error_of_the_server_is_the_right_one_here(answer: bytes, kind: type[GraphError], requests: int) -> None:
    problem, server = problem_of(lies(answer), lambda store: store.contains(QUAD))
    assert type(problem) is kind
    assert "\x1b" not in problem.message
    assert len(server.requests) == 1 + requests  # and one for the names


def test_a_404_is_a_missing_triple_only_from_a_cortex_server() -> None:
    told = saying({"error": "none", "code": "not_found"}, 404)
    with hostile(lies(told)) as server, closing(store_at(server.url)) as store:
        assert store.find(G, "0" * 64) is None
    problem, _ = problem_of(lies(saying(b"Not Found", 404, kind="text/plain")), lambda store: store.find(G, "0" * 64))
    assert isinstance(problem, GraphUnavailable)


def test_another_kind_of_server_is_reported_at_the_first_call() -> None:
    """As other Cortex servers are: they have triples, and no `/namespaces`."""

    def answer(connection: socket.socket, request: bytes) -> None:
        connection.sendall(saying({"error": "no route", "code": "NOT_FOUND"}, 404))

    problem, server = problem_of(answer, lambda store: store.insert([[QUAD]]))
    assert "lacks a path of the Cortex API" in problem.message
    assert len(server.requests) == 1


def test_the_breaker_opens_for_a_failing_server_and_closes_when_it_recovers() -> None:
    failing = [saying(b"", 503)] * 6
    with hostile(lies(*failing, saying(page_of(row_of(QUAD))))) as server, closing(store_at(server.url)) as store:
        store._api.client.breaker.rest_s = 30.0
        for _ in range(2):
            with pytest.raises(GraphUnavailable):
                store.contains(QUAD)
        asked = len(server.requests)
        with pytest.raises(GraphUnavailable, match="not contacted"):
            store.contains(QUAD)
        assert len(server.requests) == asked
        store._api.client.breaker._probe_at = 0.0
        while not _asked(store):
            store._api.client.breaker._probe_at = 0.0
        assert store.contains(QUAD)


def _asked(store: CortexStore) -> bool:
    try:
        return store.contains(QUAD)
    except GraphUnavailable:
        return False


def test_what_the_server_answers_itself_opens_no_breaker() -> None:
    busy = saying({"error": "wait", "code": "graph_busy"}, 503)
    with hostile(lies(busy)) as server, closing(store_at(server.url)) as store:
        for _ in range(12):
            with pytest.raises(GraphBusy):
                store.contains(QUAD)
        assert store._api.client.breaker.failures == 0


def test_a_query_whose_answer_is_cut_off_is_an_error() -> None:
    whole = response(body=b'{"head":{},"results":{', kind="application/sparql-results+json", length=10_000)
    with hostile(lies(whole)) as server, closing(store_at(server.url)) as store:
        answer = store.query("SELECT * { ?s ?p ?o }", Dataset((G,)), timeout_s=WAIT_S)
        with pytest.raises(GraphUnavailable, match="broke off"):
            b"".join(answer.chunks)
        assert b"namespace=mayros" in server.requests[-1]


def test_a_query_that_is_closed_unread_keeps_no_connection() -> None:
    whole = response(body=b"{}", kind="application/sparql-results+json")
    with hostile(lies(whole)) as server, closing(store_at(server.url)) as store:
        for _ in range(40):
            store.query("SELECT * { ?s ?p ?o }", Dataset((G,))).chunks.close()


def test_too_much_for_one_request_is_refused_and_nothing_is_sent() -> None:
    with hostile(lies(saying({}))) as server, closing(store_at(server.url)) as store:
        with pytest.raises(InvalidArguments, match="bytes"):
            store.apply([Quad(S, P, Literal("x" * (9 << 20)), G)])
        with pytest.raises(InvalidArguments, match="10000"):
            store.insert([[Quad(S, P, Literal(number), G)] for number in range(10_001)])
        assert len(server.requests) == 1


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with served(tmp_path_factory.mktemp("cortex")) as running:
        yield running


def test_a_token_that_may_only_read_reads(server: Running) -> None:
    with cortex_at(server, ("mayros",), ("read",)) as store:
        graph = NamespacedGraph(store, "mayros")
        made = server.plugin.graph.create_triple({**TRIPLE, "object": {"value": "1.50", "datatype": DECIMAL}})
        assert graph.get_triple(made["id"])
        assert graph.pattern_query({"object": {"value": "1.5", "datatype": DECIMAL}})["total"] == 1
        for write in (
            lambda: graph.create_triple(TRIPLE),
            lambda: graph.create_triple(TRIPLE, Provenance(agent="a")),
            lambda: graph.delete_triple(made["id"]),
            lambda: graph.update("DELETE WHERE { ?s ?p ?o }"),
            store.flush,
        ):
            with pytest.raises(GraphUnavailable, match="answers 403") as caught:
                write()
            assert "permissions" in caught.value.hint
            assert server.url in caught.value.message
        assert server.plugin.graph.delete_triple(made["id"])


DECIMAL = "http://www.w3.org/2001/XMLSchema#decimal"


def test_a_token_without_the_provenance_permission_writes_no_provenance(server: Running) -> None:
    with cortex_at(server, ("mayros",), ("read", "write")) as store:
        graph = NamespacedGraph(store, "mayros")
        for write in (
            lambda: graph.create_triple(TRIPLE),
            lambda: graph.create_triple(TRIPLE, Provenance("somebody", "1", "else")),
            lambda: store.bulk_insert([QUAD]),
            lambda: store.apply(remove=[QUAD]),
        ):
            with pytest.raises(GraphUnavailable, match="provenance"):
                write()
        assert server.plugin.graph.count() == 0


def test_a_token_opens_its_own_namespaces_alone(server: Running) -> None:
    canary = NamespacedGraph(server.plugin.graph.store, "theirs")
    made = canary.create_triple(TRIPLE, Provenance(agent="spy"))
    with cortex_at(server, ("ours",)) as store:
        graph = NamespacedGraph(store, "theirs")
        names = graph.names
        for ask in (
            graph.list_triples,
            lambda: graph.get_triple(made["id"]),
            lambda: graph.provenance_of(made["id"]),
            lambda: graph.delete_triple(made["id"]),
            lambda: graph.create_triple(TRIPLE),
            lambda: b"".join(graph.query("SELECT * { ?s ?p ?o }").chunks),
            lambda: list(store.quads(Pattern(names.provenance_graph))),
            lambda: store.query("ASK { ?s ?p ?o }", Dataset((NamedNode("urn:cortex:ours"), names.graph))),
        ):
            with pytest.raises(GraphUnavailable, match="403"):
                ask()
        assert store.graph_names() == []
    assert canary.count() == 1


def test_a_token_that_expires_or_is_revoked_is_of_no_use_from_then_on(server: Running) -> None:
    now = datetime.now(UTC)
    expired, text = new_token("expired", ("*",), ALL, timedelta(seconds=1), now - timedelta(days=1))
    server.tokens.add(expired)
    revoked, other = new_token("revoked", ("*",), ALL, None, now)
    server.tokens.add(revoked)
    with closing(store_with(server.url, text)) as store, closing(store_with(server.url, other)) as second:
        with pytest.raises(GraphUnavailable, match="answers 401") as caught:
            store.contains(QUAD)
        assert "expired" in caught.value.hint
        assert not second.contains(QUAD)
        server.tokens.remove("revoked")
        with pytest.raises(GraphUnavailable, match="answers 401"):
            second.contains(QUAD)
        assert all(secret not in str(caught.value) for secret in (text, other))


@pytest.mark.extended
@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_server_that_is_killed_while_it_writes_and_started_again_has_all_that_it_answered(tmp_path: Path) -> None:
    token, text = new_token("writer", ("*",), ALL, None, datetime.now(UTC))
    TokenFile(tmp_path / "tokens.json").add(token)
    answered: list[str] = []
    over = threading.Event()
    enough = threading.Semaphore(0)
    with ExitStack() as stack:
        process = Process(tmp_path, port=quiet_port())
        stack.callback(lambda: process.end())
        writing = stack.enter_context(closing(store_with(process.url, text)))
        writing._api.client.breaker.rest_s = 0.05

        def write() -> None:
            graph = NamespacedGraph(writing, "mayros")
            number = 0
            while not over.is_set():
                number += 1
                with suppress(GraphUnavailable):
                    made = graph.create_triple({**TRIPLE, "object": number}, Provenance("k", "1", "a"))
                    answered.append(made["id"])
                enough.release()

        writer = threading.Thread(target=write)
        writer.start()
        try:
            for _ in range(3):
                before = len(answered)
                while len(answered) < before + 20:
                    assert enough.acquire(timeout=WAIT_S)
                process.signal(signal.SIGKILL)
                process.wait()
                process = Process(tmp_path, port=process.port)
        finally:
            over.set()
            writer.join(WAIT_S)
        assert not writer.is_alive()
        assert len(answered) >= 60
        assert len(set(answered)) == len(answered)
        store = stack.enter_context(closing(store_with(process.url, text)))  # the writer's may still be at rest
        graph = NamespacedGraph(store, "mayros")
        for triple_id in answered:
            assert store.find(graph.names.graph, triple_id) is not None
        record = graph.provenance_of(answered[-1])
        assert record is not None
        assert record["agent"] == "a"
        records = store.count(Pattern(graph.names.provenance_graph, None, NamedNode(f"{PROV}generatedAtTime")))
        assert records == graph.count()  # none without, and no record of nothing


PROV = "http://www.w3.org/ns/prov#"
