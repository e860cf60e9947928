"""What a client of an owner answers is what the store itself answers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

import psutil
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyoxigraph import BaseDirection, BlankNode, Literal, NamedNode, Quad, QueryResultsFormat, RdfFormat, Triple

from cortex_graph import (
    Dataset,
    GraphBusy,
    GraphStore,
    GraphUnavailable,
    InvalidArguments,
    NamespacedGraph,
    NamespaceViolation,
    Pattern,
    QueryTimeout,
    StoreLocked,
    open_store,
)
from cortex_graph.exceptions import GraphError, UnknownOutcome
from cortex_graph.store import Revisioned
from cortex_graph.store_access.claims import apply_claimed
from cortex_graph.stores.embedded import OxigraphStore
from cortex_graph.stores.shared import protocol_limits, wire
from cortex_graph.stores.shared.channel import Channel
from cortex_graph.stores.shared.remote_owner import RemoteOwner
from cortex_skills.cancellation import CancelToken
from cortex_skills.errors import CortexError
from tests.graph.shared.processes import owner_of, stopped

P, OTHER = NamedNode("urn:p"), NamedNode("urn:test:other")
WAIT_S = 100  # generous: only so that a test ends


def quad(number: int, graph: NamedNode, subject: NamedNode = P) -> Quad:
    return Quad(subject, P, Literal(number), graph)


text = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
literals = st.one_of(
    st.builds(Literal, text),
    st.builds(Literal, st.integers() | st.floats() | st.booleans()),
    st.builds(lambda value, tag: Literal(value, language=tag), text, st.sampled_from(["en", "de-AT", "zh-Hans-CN"])),
    st.builds(lambda value: Literal(value, language="ar", direction=BaseDirection.RTL), text),
    st.builds(lambda value: Literal(value, datatype=NamedNode("urn:datatype")), text),
)
iri_parts = st.sampled_from(["a", ":", "/", "?", "%20", "%C3%A9", "-", ".", "_", "~", "@", "!", "'", "é", "中", "𝒳"])
iris = st.builds(lambda parts: NamedNode(f"urn:a{''.join(parts)}"), st.lists(iri_parts, max_size=9))
subjects = st.one_of(iris, st.builds(BlankNode, st.from_regex(r"[a-z][a-z0-9]{0,5}", fullmatch=True)))
triples = st.builds(Triple, subjects, iris, literals | iris)
quads = st.builds(Quad, subjects, iris, st.one_of(literals, iris, subjects, triples), iris)


@given(st.lists(quads, max_size=8))
def test_quads_come_through_as_they_are(some: list[Quad]) -> None:
    assert wire.quads_from_bytes(wire.quads_to_bytes(some)) == some


@given(iris, st.none() | iris, st.none() | iris, st.none() | iris | literals)
def test_patterns_come_through_as_they_are(
    graph: NamedNode, subject: NamedNode | None, predicate: NamedNode | None, object_: NamedNode | Literal | None
) -> None:
    pattern = Pattern(graph, subject, predicate, object_)
    assert wire.pattern_from_wire(*wire.pattern_to_wire(pattern)) == pattern


@pytest.mark.parametrize(
    "kind",
    [GraphUnavailable, GraphBusy, InvalidArguments, NamespaceViolation, QueryTimeout, StoreLocked],
)
def test_errors_come_through_as_they_are(kind: type[GraphError]) -> None:
    error = wire.error_from_wire(wire.error_to_wire(kind("what", hint="next", details={"field": "x"})))
    assert type(error) is kind
    assert (error.message, error.hint, error.details) == ("what", "next", {"field": "x"})


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=30)
@given(st.lists(st.builds(Quad, iris, iris, literals | iris, st.just(OTHER)), max_size=5))
def test_a_client_stores_and_finds_every_term(client: GraphStore, some: list[Quad]) -> None:
    here = OxigraphStore()
    assert client.apply(remove=list(client.quads(Pattern(OTHER)))) is None  # type: ignore[func-returns-value]
    for store in (client, here):
        store.insert([[one] for one in some])
    assert set(client.quads(Pattern(OTHER))) == set(here.quads(Pattern(OTHER)))
    for one in some:
        assert isinstance(one.subject, NamedNode)
        assert client.contains(one)
        assert client.count(Pattern(OTHER, one.subject, one.predicate, one.object)) == 1  # type: ignore[arg-type]
        pages = [store.match(Pattern(OTHER, one.subject), 1000).quads for store in (client, here)]
        assert set(pages[0]) == set(pages[1])
        if isinstance(one.object, Literal):
            assert client.as_stored(one.object) == here.as_stored(one.object)


def test_the_store_is_another_process(client: GraphStore) -> None:
    assert isinstance(client._finder._owner, RemoteOwner)  # type: ignore[attr-defined]


def test_the_changes_of_a_client(client: GraphStore, name: NamedNode) -> None:
    assert client.insert([]) == []
    assert client.insert([[quad(1, name), quad(10, name)], [quad(2, name)], [quad(1, name)]]) == [True, True, False]
    client.apply(insert=iter([quad(3, name)]), remove=(one for one in [quad(10, name), quad(9, name)]))
    assert {one.object for one in client.quads(Pattern(name))} == {Literal(1), Literal(2), Literal(3)}
    about = NamedNode(name.value + ":about")
    client.insert([[quad(1, about)]])
    assert client.remove(quad(7, name), iter([(about, P)])) is False
    assert client.count(Pattern(about)) == 1
    assert client.remove(quad(1, name), iter([(about, P)])) is True
    assert (client.count(Pattern(about)), client.count(Pattern(name))) == (0, 2)
    assert client.count(Pattern(name), 1) == 1
    assert name in client.graph_names()
    assert about not in client.graph_names()
    client.flush()


def test_the_pages_of_a_client(client: GraphStore, name: NamedNode) -> None:
    client.insert([[quad(number, name)] for number in range(25)])
    found, cursor = [], None
    while True:
        page = client.match(Pattern(name), 10, cursor)
        found += page.quads
        cursor = page.cursor
        if cursor is None:
            break
    assert len(found) == 25
    assert len(set(found)) == 25


@pytest.mark.parametrize("cursor", ["made up", "\ud800"])
def test_a_cursor_that_is_none_is_refused(client: GraphStore, name: NamedNode, cursor: str) -> None:
    with pytest.raises(InvalidArguments) as caught:
        client.match(Pattern(name), 10, cursor)
    assert caught.value.details == {"field": "cursor"}
    assert caught.value.hint


@pytest.mark.parametrize("number", [2**63, 2**64, -(2**70)])
def test_a_number_that_cannot_be_passed_on_is_an_error(client: GraphStore, name: NamedNode, number: int) -> None:
    with pytest.raises((InvalidArguments, GraphUnavailable)):
        client.match(Pattern(name), number)
    assert client.count(Pattern(name)) == 0


@pytest.mark.skipif(os.name != "posix", reason="paths are text on this system")
def test_the_path_of_a_file_need_not_be_text(client: GraphStore, name: NamedNode, tmp_path: Path) -> None:
    file = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xfe.nt"))
    file.write_text("<urn:a> <urn:p> <urn:b> .\n")
    client.bulk_load(file, name)
    assert client.count(Pattern(name)) == 1
    with pytest.raises(GraphUnavailable):
        client.bulk_load(file.with_suffix(".no"), name)


def test_a_stream_of_many_chunks_is_read_whole_or_left(client: GraphStore, name: NamedNode) -> None:
    def made() -> Iterator[Quad]:
        return (Quad(P, P, Literal(f"{number} " + "x" * 500), name) for number in range(5000))

    client.bulk_insert(made())
    assert 10 * protocol_limits.CHUNK_BYTES < 5000 * 500
    assert set(client.quads(Pattern(name))) == set(made())
    left = client.quads(Pattern(name))
    assert len(list(islice(left, 3))) == 3
    unread = client.quads(Pattern(name))
    assert client.count(Pattern(name)) == 5000
    del left, unread


def test_a_quad_longer_than_a_chunk_comes_through(client: GraphStore, name: NamedNode) -> None:
    long = Quad(P, P, Literal("é" * (3 << 20)), name)
    assert client.insert([[long]]) == [True]
    assert client.match(Pattern(name), 10).quads == [long]
    assert list(client.quads(Pattern(name))) == [long]


def test_what_is_too_long_for_a_message_is_refused(
    client: GraphStore, name: NamedNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol_limits, "FRAME_BYTES", 10_000)
    with pytest.raises(InvalidArguments, match="too long"):
        client.insert([[Quad(P, P, Literal("x" * 20_000), name)]])
    assert client.count(Pattern(name)) == 0


def test_an_upload_whose_source_breaks_writes_nothing(client: GraphStore, name: NamedNode) -> None:
    def broken() -> Iterator[Quad]:
        yield from (quad(number, name) for number in range(3000))
        raise LookupError("no more")

    with pytest.raises(LookupError, match="no more"):
        client.bulk_insert(broken())
    client.bulk_insert([quad(-1, name)])
    assert client.count(Pattern(name)) == 1


def test_an_upload_may_read_what_it_writes_from_the_same_store(client: GraphStore, name: NamedNode) -> None:
    client.insert([[quad(number, name)] for number in range(50)])
    copy = NamedNode(name.value + ":copy")
    client.bulk_insert(Quad(one.subject, one.predicate, one.object, copy) for one in client.quads(Pattern(name)))
    assert client.count(Pattern(copy)) == 50


def test_a_file_is_loaded_by_the_owner(client: GraphStore, name: NamedNode, tmp_path: Path) -> None:
    file = tmp_path / "some.nt"
    file.write_text("<urn:a> <urn:p> <urn:b> .\n" * 2 + "<urn:a> <urn:p> 'x' .\n".replace("'", '"'))
    before = Path.cwd()
    os.chdir(tmp_path)
    try:
        client.bulk_load(Path("some.nt"), name)
    finally:
        os.chdir(before)
    assert client.count(Pattern(name)) == 2
    with pytest.raises(GraphUnavailable):
        client.bulk_load(tmp_path / "missing.nt", name)


def test_a_query_is_answered_by_the_owner(client: GraphStore, name: NamedNode) -> None:
    client.insert([[quad(number, name)] for number in range(3)])
    answer = client.query(
        "SELECT ?o { ?s ?p ?o } ORDER BY ?o", Dataset((name,)), results=QueryResultsFormat.CSV, timeout_s=60
    )
    assert answer.form == QueryResultsFormat.CSV
    assert b"".join(answer.chunks).split() == [b"o", b"0", b"1", b"2"]
    graph = client.query("CONSTRUCT WHERE { ?s ?p ?o }", Dataset((name,)), timeout_s=60)
    assert graph.form == RdfFormat.N_TRIPLES
    assert b"".join(graph.chunks).count(b"\n") == 3
    named = client.query(f"ASK {{ GRAPH {name} {{ ?s ?p ?o }} }}", Dataset((), (name,)), timeout_s=60)
    assert b"true" in b"".join(named.chunks)
    client.query("ASK {}", Dataset(()), timeout_s=60).chunks.close()
    with pytest.raises(InvalidArguments):
        b"".join(client.query("SELECT", Dataset((name,)), timeout_s=60).chunks)


def test_a_snapshot_is_made_by_the_owner(client: GraphStore, name: NamedNode, tmp_path: Path) -> None:
    client.insert([[quad(1, name)]])
    assert client.snapshot(tmp_path / "copy") is True
    copy = open_store(tmp_path / "copy")
    assert copy.contains(quad(1, name))
    copy.close()


def test_a_stream_whose_owner_dies_is_an_error_with_a_hint(tmp_path: Path) -> None:
    with owner_of(tmp_path) as owner:
        store = open_store(tmp_path)
        store.bulk_insert(Quad(P, P, Literal(f"{number} " + "x" * 500), OTHER) for number in range(5000))
        stream = store.quads(Pattern(OTHER))
        next(stream)
        owner.kill()
        owner.wait()
        with pytest.raises(GraphUnavailable, match="ended in the middle") as caught:
            list(stream)
        assert caught.value.hint
        assert caught.value.details["pid"] == owner.pid
    assert store.count(Pattern(OTHER)) == 5000
    store.close()


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="this system cannot stop a process")
def test_a_guarded_change_whose_owner_dies_is_not_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next owner would report that the graphs have changed, and a counter would count twice."""
    with owner_of(tmp_path) as owner:
        store = open_store(tmp_path)
        assert isinstance(store, Revisioned)
        revision = store.revision([OTHER])
        assert store.apply_at(revision, [OTHER], [quad(1, OTHER)], []) is True
        assert store.apply_at(revision, [OTHER], [quad(2, OTHER)], []) is False
        revision = store.revision([OTHER])
        with stopped(owner), ThreadPoolExecutor(1) as pool:
            sent = threading.Event()
            send = Channel.send

            def recorded(self: Channel, *message: Any) -> None:
                send(self, *message)
                sent.set()

            monkeypatch.setattr(Channel, "send", recorded)
            change = pool.submit(store.apply_at, revision, [OTHER], [quad(3, OTHER)], [])
            try:
                assert sent.wait(WAIT_S)
            finally:
                monkeypatch.undo()
                owner.kill()
            with pytest.raises(GraphUnavailable, match="in the middle of a change") as caught:
                change.result(WAIT_S)
        assert "see whether it was made" in caught.value.hint
    assert store.count(Pattern(OTHER)) == 1
    assert store.apply_at(revision, [OTHER], [quad(3, OTHER)], []) is False
    store.close()


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="this system cannot stop a process")
def test_guarded_changes_that_a_closing_owner_did_not_begin_are_decided_by_the_next_one(tmp_path: Path) -> None:
    graphs = [NamedNode(f"{OTHER.value}/{number}") for number in range(16)]
    with owner_of(tmp_path) as owner:
        store = open_store(tmp_path)
        assert isinstance(store, Revisioned)
        revisions = [store.revision([graph]) for graph in graphs]
        with ThreadPoolExecutor(len(graphs)) as pool:
            with stopped(owner):
                changes = [
                    pool.submit(store.apply_at, revision, [graph], [quad(1, graph)], [])
                    for revision, graph in zip(revisions, graphs, strict=True)
                ]
                assert owner.stdin is not None
                owner.stdin.close()
                owner.stdin = None  # closed: the process closes the store
            made = [change.result(WAIT_S) for change in changes]
    assert [store.count(Pattern(graph)) for graph in graphs] == [int(was_made) for was_made in made]
    store.close()


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="this system cannot stop a process")
def test_a_change_with_a_claim_is_made_once_when_its_owner_dies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with owner_of(tmp_path) as owner:
        store = open_store(tmp_path)
        apply_at = RemoteOwner.apply_at

        def after_its_death(*arguments: Any) -> bool:
            monkeypatch.undo()
            assert apply_at(*arguments) is True
            owner.kill()
            owner.wait()
            raise UnknownOutcome("ended")

        monkeypatch.setattr(RemoteOwner, "apply_at", after_its_death)
        assert apply_claimed(store, quad(1, OTHER), [quad(2, OTHER, OTHER)]) is True
    assert store.count(Pattern(OTHER)) == 2
    store.close()


def test_an_upload_whose_owner_dies_is_an_error_and_writes_nothing(tmp_path: Path) -> None:
    with owner_of(tmp_path) as owner:
        store = open_store(tmp_path)

        def made() -> Iterator[Quad]:
            for number in range(100_000):
                if number == 50_000:
                    owner.kill()
                    owner.wait()
                yield quad(number, OTHER)

        with pytest.raises(GraphUnavailable, match="ended in the middle"):
            store.bulk_insert(made())
    assert store.count(Pattern(OTHER)) == 0
    store.close()


def test_a_client_that_is_closed_answers_nothing(tmp_path: Path) -> None:
    with owner_of(tmp_path):
        store = open_store(tmp_path)
        graph = NamespacedGraph(store, "mayros")
        store.close()
        store.close()
        for operation in (graph.count, store.graph_names, store.flush, lambda: next(store.quads(Pattern(OTHER)))):
            with pytest.raises(GraphUnavailable, match="closed"):
                operation()


def test_a_query_whose_client_stops_it_or_dies_ends_at_the_owner(tmp_path: Path) -> None:
    endless = "SELECT (COUNT(*) AS ?n) { ?a ?b ?x . ?c ?d ?y . ?e ?f ?z . ?g ?h ?w . FILTER(?x + ?y + ?z + ?w = -1) }"
    asking = """
import sys
from pyoxigraph import NamedNode
from cortex_graph import Dataset, open_store
open_store(sys.argv[1]).query(sys.argv[2], Dataset((NamedNode("urn:test:other"),)), timeout_s=600)
"""
    with owner_of(tmp_path / "store") as owner:
        store = open_store(tmp_path / "store")
        store.bulk_insert(quad(number, OTHER) for number in range(300))
        cancel = CancelToken()

        def is_at_work(child: psutil.Process) -> bool:
            with suppress(psutil.NoSuchProcess):
                return child.status() == psutil.STATUS_RUNNING and any(
                    "query_worker" in word for word in child.cmdline()
                )
            return False

        def evaluating() -> bool:
            return any(map(is_at_work, psutil.Process(owner.pid).children()))

        def ask() -> None:
            with pytest.raises(CortexError, match="cancelled"):
                store.query(endless, Dataset((OTHER,)), timeout_s=600, cancel=cancel)

        thread = threading.Thread(target=ask)
        thread.start()
        try:
            until(evaluating)
        finally:
            cancel.cancel()
            thread.join()
        until(lambda: not evaluating())
        with subprocess.Popen([sys.executable, "-c", asking, str(tmp_path / "store"), endless]) as client:
            try:
                until(evaluating)
            finally:
                client.kill()
        until(lambda: not evaluating())
        assert store.count(Pattern(OTHER)) == 300
        store.close()


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)
