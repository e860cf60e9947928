"""A change whose answer is lost is reported as what it is: made or not, and never as one that was not made."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import pytest
from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph import GraphUnavailable, Pattern
from cortex_graph.exceptions import UnknownOutcome
from cortex_graph.store_access.claims import apply_claimed
from cortex_graph.stores.remote.endpoints import read_endpoints
from cortex_graph.stores.remote.sparql_store import RemoteStore
from cortex_skills import Plugin
from tests.configs import config
from tests.graph.remote.dropping import Dropping, dropping
from tests.plugin.skills import write_skill
from tests.ports import quiet_port
from tests.services.oxigraph import oxigraph

S = NamedNode("urn:s")
ALL = 3  # the attempts of one request


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with oxigraph() as running:
        yield running.url


@pytest.fixture
def proxy(server: str) -> Iterator[Dropping]:
    with dropping(server) as found:
        yield found


def quad(number: int, graph: str) -> Quad:
    return Quad(S, S, Literal(str(number)), NamedNode(f"urn:{graph}"))


def pattern(graph: str) -> Pattern:
    return Pattern(NamedNode(f"urn:{graph}"))


def store_of(url: str) -> RemoteStore:
    return RemoteStore(read_endpoints(url))


def test_an_answer_that_is_lost_once_is_asked_for_again(proxy: Dropping) -> None:
    with closing(store_of(proxy.url)) as store:
        proxy.drop = 1
        assert store.insert([[quad(1, "once")]]) == [True]
        assert proxy.asked.count("/update") == 2
        assert store.count(pattern("once")) == 1


@pytest.mark.parametrize(
    ("change", "left"),
    [
        (lambda store, new, old: store.insert([[new]]), 2),
        (lambda store, new, old: store.apply([new]), 2),
        (lambda store, new, old: store.bulk_insert([new]), 2),
        (lambda store, new, old: store.remove(old), 0),
    ],
    ids=["insert", "apply", "bulk", "remove"],
)
def test_a_change_whose_answers_are_lost_has_an_unknown_outcome(
    proxy: Dropping, server: str, change: Callable[[RemoteStore, Quad, Quad], object], left: int
) -> None:
    graph = uuid4().hex
    with closing(store_of(proxy.url)) as store, closing(store_of(server)) as direct:
        direct.apply([quad(0, graph)])
        proxy.drop = ALL
        with pytest.raises(UnknownOutcome) as caught:
            change(store, quad(1, graph), quad(0, graph))
        assert caught.value.code == "outcome_unknown"
        assert "made or not" in caught.value.hint
        assert direct.count(pattern(graph)) == left


def test_a_change_that_was_never_sent_is_not_made(server: str) -> None:
    with closing(store_of(f"http://127.0.0.1:{quiet_port()}")) as store, pytest.raises(GraphUnavailable) as caught:
        store.bulk_insert([quad(1, "never")])
    assert caught.value.code == "graph_unavailable"


def test_a_server_that_dies_between_the_attempts_leaves_an_unknown_outcome() -> None:
    with oxigraph() as running, dropping(running.url) as proxy, closing(store_of(proxy.url)) as store:
        store.flush()
        proxy.drop, proxy.on_drop = 1, running.process.kill
        with pytest.raises(UnknownOutcome):
            store.apply([quad(1, "dies")])


def test_a_claim_whose_answers_are_lost_is_found_again(proxy: Dropping, server: str) -> None:
    with closing(store_of(proxy.url)) as store, closing(store_of(server)) as direct:
        proxy.drop = ALL
        assert apply_claimed(store, quad(1, "claim"), [quad(2, "other")])
        assert not apply_claimed(direct, quad(3, "claim"))
        assert direct.count(pattern("claim")) == direct.count(pattern("other")) == 1


def test_an_assertion_whose_answers_are_lost_tells_the_caller_to_look(proxy: Dropping, tmp_path: Path) -> None:
    arguments = {"subject": "nails", "predicate": "note", "object": 3}
    with Plugin.open(config(store=proxy.url, agentNamespace="lost"), agent="a1") as plugin:
        plugin.load(write_skill(tmp_path / "probe"))
        plugin.call("skill_graph_query", {"subject": "nails"})
        proxy.drop = ALL
        result = plugin.call("skill_assert", arguments)
        assert (result.code, "made or not" in result.text) == ("outcome_unknown", True)
        assert plugin.call("skill_graph_query", {"subject": "nails"}).details["total"] == 1
        assert plugin.call("skill_assert", arguments).details["created"] is False
