"""A query is ended from another thread, at once, by every store; what it held is free for the next."""

from __future__ import annotations

import threading
import time

import pytest
from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph import Dataset, GraphStore
from cortex_skills.cancellation import CancelToken
from cortex_skills.errors import CortexError

pytestmark = pytest.mark.timeout(400)  # some of these servers take long for much on a busy machine

LONG_S = 120.0  # far longer than the end of a query takes
SAID = "SELECT ?s {{ ?s <{0}p> ?o }} LIMIT 1"
LONG = "SELECT (COUNT(*) AS ?n) {{ ?a <{0}p> ?x . ?b <{0}p> ?y . ?c <{0}p> ?z . FILTER(?x + ?y + ?z = -1) }}"
# For servers that continue a cancelled query; for the others an endless query is used.
ENDLESS = (
    "SELECT (COUNT(*) AS ?n) {{ ?a <{0}p> ?x . ?b <{0}p> ?y . ?c <{0}p> ?z . ?d <{0}p> ?w . "
    "FILTER(?x + ?y + ?z + ?w = -1) }}"
)


@pytest.fixture
def filled(store: GraphStore, name: NamedNode) -> NamedNode:
    store.bulk_insert(
        Quad(NamedNode(f"{name.value}:s{n}"), NamedNode(f"{name.value}:p"), Literal(n), name) for n in range(200)
    )
    return name


def ask(store: GraphStore, name: NamedNode, text: str, cancel: CancelToken | None = None) -> bytes:
    return b"".join(
        store.query(text.format(f"{name.value}:"), Dataset((name,)), timeout_s=LONG_S, cancel=cancel).chunks
    )


def test_a_query_that_is_stopped_ends_at_once(
    store: GraphStore, filled: NamedNode, request: pytest.FixtureRequest
) -> None:
    goes_on = any(f"[{name}]" in request.node.name for name in ("oxigraph", "unknown_server"))

    def is_stopped(after_s: float) -> bool:
        cancel = CancelToken()
        timer = threading.Timer(after_s, cancel.cancel)
        begun = time.monotonic()
        timer.start()
        try:
            ask(store, filled, LONG if goes_on else ENDLESS, cancel)
        except CortexError as error:
            assert error.code == "cancelled"  # noqa: PT017
        else:
            return False
        finally:
            timer.join()
        assert time.monotonic() - begun < LONG_S / 2
        return True

    for after_s in (0.0, 0.05, 0.5):
        # Again where the answer came first, because this process stood still meanwhile.
        assert any(is_stopped(after_s) for _ in range(3 if goes_on else 1))
    assert f"{filled.value}:s".encode() in ask(store, filled, SAID)


def test_a_query_that_was_stopped_before_is_not_asked(store: GraphStore, filled: NamedNode) -> None:
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(CortexError) as caught:
        ask(store, filled, SAID, cancel)
    assert caught.value.code == "cancelled"


def test_a_query_without_a_cancellation_answers_and_a_later_one_has_no_effect(
    store: GraphStore, filled: NamedNode
) -> None:
    cancel = CancelToken()
    answer = ask(store, filled, SAID, cancel)
    cancel.cancel()
    assert answer == ask(store, filled, SAID)
