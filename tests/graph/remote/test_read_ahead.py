"""What an operation reads of a server is one request, and is what the server has, with what it writes itself."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing

import pytest
from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph import GraphBusy, Pattern, open_store
from cortex_graph.store_access.claims import apply_claimed
from cortex_graph.store_access.read_ahead import UpTo, WholeSubjects, reading_ahead, reading_now
from cortex_graph.stores.http.client import HttpClient
from cortex_graph.stores.remote import announced_claims, gathering
from cortex_graph.stores.remote.announced_claims import ANNOUNCED, apply_announced
from cortex_graph.stores.remote.sparql_store import RemoteStore
from tests.graph.remote.dropping import dropping
from tests.services.oxigraph import oxigraph

G, P, OTHER = NamedNode("urn:g"), NamedNode("urn:p"), NamedNode("urn:other")


def node(name: str) -> NamedNode:
    return NamedNode(f"urn:s:{name}")


def quad(name: str, value: str, predicate: NamedNode = P) -> Quad:
    return Quad(node(name), predicate, Literal(value), G)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with oxigraph() as running:
        yield running.url


@pytest.fixture
def store(server: str) -> Iterator[RemoteStore]:
    with closing(open_store(server)) as opened:
        assert isinstance(opened, RemoteStore)
        opened.apply(remove=[*opened.quads(Pattern(G)), *opened.quads(Pattern(ANNOUNCED))])
        yield opened


@pytest.fixture
def sent(store: RemoteStore, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    found: list[str] = []
    send = HttpClient.send

    def counted(client: HttpClient, method: str, url: str, **given: object) -> object:
        found.append(url)
        return send(client, method, url, **given)  # type: ignore[arg-type]

    monkeypatch.setattr(HttpClient, "send", counted)
    return found


def test_what_was_read_ahead_is_answered_with_what_the_thread_writes(store: RemoteStore, sent: list[str]) -> None:
    store.apply([quad("a", "1"), quad("a", "x", OTHER), quad("b", "2")])
    sent.clear()
    wanted = [Pattern(G, node("b")), WholeSubjects(Pattern(G, None, P, Literal("1"))), Pattern(G, node("none"))]
    with reading_ahead(store, lambda: wanted):
        assert len(sent) == 1
        assert set(store.quads(Pattern(G, node("a")))) == {quad("a", "1"), quad("a", "x", OTHER)}
        assert [*store.quads(Pattern(G, node("b"), P))] == [quad("b", "2")]
        assert (store.contains(quad("b", "2")), store.contains(quad("b", "3"))) == (True, False)
        assert (store.count(Pattern(G, node("none"))), len(sent)) == (0, 1)
        store.apply([quad("b", "3")], [quad("b", "2")])
        assert [*store.quads(Pattern(G, node("b")))] == [quad("b", "3")]
        assert len(sent) == 2
    assert [*store.quads(Pattern(G, node("b")))] == [quad("b", "3")]
    assert len(sent) == 3


def test_patterns_that_differ_in_a_node_are_one_request_whatever_their_number(
    store: RemoteStore, sent: list[str]
) -> None:
    store.apply([quad(str(number), "1") for number in range(1_100)])
    sent.clear()
    found = store.gather([Pattern(G, node(str(number)), P) for number in range(500)])
    assert (found, len(sent)) == ([[quad(str(number), "1")] for number in range(500)], 1)
    found = store.gather([Pattern(G, node(str(number))) for number in (*range(1_100), 7, 1_100)])
    assert (len(sent), found[7], found[-2], found[-1]) == (1 + 3, [quad("7", "1")], [quad("7", "1")], [])


def test_texts_that_are_too_long_are_not_read_ahead(
    store: RemoteStore, sent: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gathering, "_MOST_TEXT", 1_000)
    store.apply([quad("a", "x" * 600), quad("b", "y" * 600)])
    sent.clear()
    with reading_ahead(store, lambda: [UpTo(Pattern(G, node("a")), 5), UpTo(Pattern(G, node("b")), 5)]):
        assert [*store.quads(Pattern(G, node("a")))] == [quad("a", "x" * 600)]
        assert [*store.quads(Pattern(G, node("b")))] == [quad("b", "y" * 600)]
        assert len(sent) == 3
    assert store.gather([Pattern(G, node("a")), Pattern(G, node("b"))]) == [
        [quad("a", "x" * 600)],
        [quad("b", "y" * 600)],
    ]


def test_another_thread_and_reading_again_get_what_the_server_has_now(store: RemoteStore, server: str) -> None:
    store.apply([quad("a", "1")])
    seen: list[list[Quad]] = []
    with reading_ahead(store, lambda: [Pattern(G, node("a"))]), closing(open_store(server)) as direct:
        direct.apply([quad("a", "2")], [quad("a", "1")])
        thread = threading.Thread(target=lambda: seen.append([*store.quads(Pattern(G, node("a")))]))
        thread.start()
        thread.join()
        assert seen == [[quad("a", "2")]]
        assert [*store.quads(Pattern(G, node("a")))] == [quad("a", "1")]
        with reading_now(store, forgets=False):
            assert [*store.quads(Pattern(G, node("a")))] == [quad("a", "2")]
        assert [*store.quads(Pattern(G, node("a")))] == [quad("a", "1")]
        with reading_now(store):
            pass
        assert [*store.quads(Pattern(G, node("a")))] == [quad("a", "2")]


def test_a_claim_that_was_not_made_ends_what_was_read(store: RemoteStore, server: str) -> None:
    with reading_ahead(store, lambda: [Pattern(G, node("a"))]), closing(open_store(server)) as direct:
        assert apply_claimed(direct, quad("a", "theirs"))
        assert not apply_claimed(store, quad("a", "ours"))
        assert [*store.quads(Pattern(G, node("a")))] == [quad("a", "theirs")]
    assert not [*store.quads(Pattern(ANNOUNCED))]


def test_a_claim_waits_for_one_that_is_announced_and_not_for_a_process_that_has_ended(
    store: RemoteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    dead = Quad(node("a"), P, Literal("dead"), ANNOUNCED)
    store.apply([dead])
    monkeypatch.setattr(announced_claims, "WAIT_S", 0.1)
    with pytest.raises(GraphBusy):
        apply_claimed(store, quad("a", "1"), [quad("b", "1")])
    assert ([*store.quads(Pattern(G))], [*store.quads(Pattern(ANNOUNCED))]) == ([], [dead])
    monkeypatch.setattr(announced_claims, "WAIT_S", 60)
    monkeypatch.setattr(announced_claims, "LEASE_S", 0.05)
    assert apply_claimed(store, quad("a", "1"), [quad("b", "1")])
    assert set(store.quads(Pattern(G))) == {quad("a", "1"), quad("b", "1")}
    assert not [*store.quads(Pattern(ANNOUNCED))]


def test_a_change_whose_answer_is_lost_after_its_announcement_is_found(server: str, store: RemoteStore) -> None:
    with dropping(server) as proxy, closing(open_store(proxy.url)) as dropped:
        assert isinstance(dropped, RemoteStore)
        update, gather = dropped._update, dropped._gather_now

        def losing(text: str) -> object:
            proxy.drop = 3 if "DROP GRAPH" in text else 0
            return update(text)

        assert apply_announced(losing, gather, quad("a", "1"), [quad("a", "1"), quad("b", "1")], ())
    assert set(store.quads(Pattern(G))) == {quad("a", "1"), quad("b", "1")}
    assert not [*store.quads(Pattern(ANNOUNCED))]
