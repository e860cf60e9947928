"""The requests of a namespace in a real store: one winner of each step, bounds, and records changed in the store."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pyoxigraph import Literal, NamedNode, Quad, RdfFormat, parse

from cortex_graph import GraphStore, GraphUnavailable, NamespacedGraph, open_store
from cortex_graph.naming.names import Names
from cortex_graph.naming.ontology import ontology
from cortex_graph.store import Pattern
from cortex_skills.errors import CortexError
from cortex_skills.features.actions.action_request import ActionRequest
from cortex_skills.features.actions.approvals import queue as module
from cortex_skills.features.actions.approvals.queue import ApprovalQueue
from cortex_skills.features.actions.approvals.record import LEASE, ApprovalRecord, RunEnd

NAMES = Names("mayros")


class Clock:
    """A clock that moves when it is set."""

    def __init__(self) -> None:
        self.time = datetime(2026, 11, 24, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.time


@pytest.fixture
def store() -> GraphStore:
    return open_store("memory:")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def queue(store: GraphStore, clock: Clock) -> ApprovalQueue:
    return ApprovalQueue(store, NAMES, clock)


def request(agent: str = "a1", **changes: Any) -> ActionRequest:
    given: dict[str, Any] = {
        "action": "fs_write",
        "namespace": "mayros",
        "manifest_version": "v1",
        "inputs": {"path": "out/a"},
        "agent": agent,
        "skill": "tidy",
        "risk": "medium",
        "reason": "it writes a file",
    }
    return ActionRequest(**{**given, **changes})


def add(queue: ApprovalQueue, agent: str = "a1", **changes: Any) -> ApprovalRecord:
    return queue.add(request(agent, **changes))


def error_of(call: Any, *arguments: Any) -> CortexError:
    with pytest.raises(CortexError) as caught:
        call(*arguments)
    return caught.value


def test_a_request_is_approved_started_and_ended(queue: ApprovalQueue, clock: Clock) -> None:
    record = add(queue)
    assert queue.find(record.id) == record
    approved = queue.resolve(record.id, approved=True, by="ada", reason="fine")
    assert (approved.state(clock()), approved.resolution.by) == ("approved", "ada")
    queue.start(approved)
    clock.time += LEASE
    assert queue.find(record.id).state(clock()) == "interrupted"
    queue.report(record)
    assert queue.find(record.id).state(clock()) == "running"
    ended = queue.finish(record, RunEnd("failed", clock(), "skill_error", "no"))
    assert ended.state(clock()) == "failed"
    assert queue.finish(record, RunEnd("done", clock(), "", "again")) == ended


def test_resolving_twice_says_what_the_request_is(queue: ApprovalQueue) -> None:
    record = add(queue)
    queue.resolve(record.id, approved=False, by="ada", reason="not that file")
    error = error_of(queue.resolve, record.id, True, "bob")
    assert error.code == "approval_resolved"
    assert error.message == f"the request {record.id} was rejected by ada at 2026-11-24T12:00:00Z"
    assert error.details == {"id": record.id, "state": "rejected", "by": "ada"}


def test_one_of_many_threads_resolves_and_one_starts(queue: ApprovalQueue, store: GraphStore) -> None:
    record = add(queue)

    def approve(number: int) -> bool:
        try:
            mine = ApprovalQueue(store, NAMES, queue.now)
            approved = mine.resolve(record.id, approved=True, by="the same name")
            mine.start(approved)
        except CortexError as error:
            return error.code != "approval_resolved"
        return True

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(approve, range(8))) == 1


def test_an_approved_request_is_started_once(queue: ApprovalQueue) -> None:
    record = add(queue)
    assert error_of(queue.start, record).code == "approval_resolved"
    approved = queue.resolve(record.id, approved=True, by="ada")
    queue.start(approved)
    assert error_of(queue.start, approved).code == "approval_resolved"


def test_an_expired_request_is_never_approved(queue: ApprovalQueue, clock: Clock) -> None:
    record = add(queue)
    clock.time += timedelta(hours=24)
    error = error_of(queue.resolve, record.id, True, "ada")
    assert error.code == "approval_resolved"
    assert error.message == f"the request {record.id} expired at 2026-11-25T12:00:00Z"
    clock.time -= timedelta(hours=1)  # the clock of another machine
    assert queue.find(record.id).state(clock()) == "expired"


def test_the_same_request_waits_once(queue: ApprovalQueue, clock: Clock) -> None:
    record = add(queue)
    clock.time += timedelta(minutes=1)
    assert add(queue) == record
    assert add(queue, preview="-x").id != record.id
    assert add(queue, agent="a2").id != record.id
    queue.resolve(record.id, approved=False, by="ada")
    assert add(queue).id != record.id


def test_waiting_requests_are_bounded(queue: ApprovalQueue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_WAITING_OF_AGENT", 2)
    monkeypatch.setattr(module, "MAX_WAITING", 3)
    first = add(queue, inputs={"n": 1})
    add(queue, inputs={"n": 2})
    assert error_of(lambda: add(queue, inputs={"n": 3})).code == "approval_limit"
    add(queue, agent="a2")
    assert error_of(lambda: add(queue, agent="a3")).message == "3 requests wait for approval, and no more are taken"
    queue.resolve(first.id, approved=False, by="ada")
    assert add(queue, agent="a3").request.agent == "a3"


def test_a_sender_that_names_many_agents_leaves_room_for_others(
    queue: ApprovalQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_WAITING_OF_SENDER", 2)
    for agent in ("a1", "a2"):
        add(queue, agent=agent, asked_by="configured")
    refused = error_of(lambda: add(queue, agent="a3", asked_by="configured"))
    assert refused.code == "approval_limit"
    assert refused.message == "2 requests that configured sent wait for approval, and no more are taken"
    assert add(queue, agent="a3", asked_by="a3").request.asked_by == "a3"


SECOND = timedelta(seconds=1)


@pytest.mark.parametrize("waits", [timedelta(0), timedelta(hours=23), timedelta(days=20)])
def test_a_request_is_kept_for_thirty_days_after_it_was_resolved(
    queue: ApprovalQueue, clock: Clock, store: GraphStore, waits: timedelta
) -> None:
    old = queue.add(request(), timedelta(days=30))
    clock.time += waits
    queue.resolve(old.id, approved=False, by="ada")
    clock.time += timedelta(days=30) - SECOND
    add(queue)
    assert queue.find(old.id).state(clock()) == "rejected"
    clock.time += SECOND
    assert error_of(queue.find, old.id).code == "approval_not_found"
    assert old.id not in [record.id for record in queue.list().records]
    add(queue, inputs={})
    assert not list(store.quads(Pattern(NAMES.approvals_graph, NAMES.beside("approval", old.id))))


def test_a_request_that_expired_or_ran_is_kept_for_thirty_days_after_that(queue: ApprovalQueue, clock: Clock) -> None:
    expired, ran = add(queue), queue.add(request(agent="a2"), timedelta(days=30))
    clock.time += timedelta(hours=24)
    ran = queue.resolve(ran.id, approved=True, by="ada")
    queue.start(ran)
    clock.time += timedelta(hours=2)
    queue.finish(ran, RunEnd("done", clock(), "", "x"))
    clock.time += timedelta(days=30) - timedelta(hours=2) - SECOND
    assert (queue.find(expired.id).state(clock()), queue.find(ran.id).state(clock())) == ("expired", "done")
    clock.time += SECOND
    assert error_of(queue.find, expired.id).code == "approval_not_found"
    assert queue.find(ran.id).state(clock()) == "done"
    clock.time += timedelta(hours=2)
    assert error_of(queue.find, ran.id).code == "approval_not_found"


def test_a_request_that_waits_longer_than_others_are_kept_is_not_removed(queue: ApprovalQueue, clock: Clock) -> None:
    waiting = queue.add(request(), timedelta(days=30))
    clock.time += timedelta(days=30) - SECOND
    add(queue, inputs={})
    assert queue.find(waiting.id).state(clock()) == "pending"


def test_a_reader_with_another_clock_removes_nothing_that_it_would_not_keep_itself(
    queue: ApprovalQueue, clock: Clock, store: GraphStore
) -> None:
    old = add(queue)
    queue.resolve(old.id, approved=False, by="ada")
    late = ApprovalQueue(store, NAMES, lambda: clock.time + timedelta(days=30))
    assert error_of(late.find, old.id).code == "approval_not_found"
    early = ApprovalQueue(store, NAMES, lambda: clock.time - timedelta(days=3))
    assert early.find(old.id).state(early.now()) == queue.find(old.id).state(clock()) == "rejected"


def test_a_request_that_was_changed_in_the_store_is_removed_when_it_could_not_be_kept(
    queue: ApprovalQueue, clock: Clock, store: GraphStore
) -> None:
    old = add(queue)
    pattern = Pattern(NAMES.approvals_graph, NAMES.beside("approval", old.id), module.REQUEST)
    (quad,) = store.quads(pattern)
    store.apply([Quad(quad.subject, quad.predicate, Literal("{}"), quad.graph_name)], [quad])
    clock.time += timedelta(days=60) - SECOND
    add(queue)
    assert error_of(queue.find, old.id).code == "approval_changed"
    clock.time += SECOND
    add(queue, inputs={})
    assert error_of(queue.find, old.id).code == "approval_not_found"


def test_lists_are_of_a_state_or_an_agent_and_newest_first(queue: ApprovalQueue, clock: Clock) -> None:
    records = []
    for number in range(4):
        clock.time += timedelta(seconds=1)
        records.append(add(queue, agent=f"a{number % 2}", inputs={"n": number}))
    queue.resolve(records[3].id, approved=False, by="ada")
    listed = [record.request.inputs["n"] for record in queue.list().records]
    assert listed == [3, 2, 1, 0]
    assert [record.request.inputs["n"] for record in queue.list("pending").records] == [2, 1, 0]
    assert [record.request.inputs["n"] for record in queue.list(agent="a1").records] == [3, 1]
    assert [record.request.inputs["n"] for record in queue.list(limit=2).records] == [3, 2]


@pytest.mark.parametrize("approval_id", ["0" * 32, "", "0" * 31, "../" * 10, "A" * 32, "\ud800", None, 7, ["x"]])
def test_an_id_that_is_no_request_is_not_found(queue: ApprovalQueue, approval_id: Any) -> None:
    add(queue)
    assert error_of(queue.find, approval_id).code == "approval_not_found"


def test_a_record_that_was_changed_in_the_store_hides_no_other_and_is_never_approved(
    queue: ApprovalQueue, store: GraphStore
) -> None:
    other, record = add(queue), add(queue, inputs={"path": "out/b"})
    node = NAMES.beside("approval", record.id)
    (quad,) = store.quads(Pattern(NAMES.approvals_graph, node, module.REQUEST))
    text = quad.object.value.replace("out/b", "etc/b")
    store.apply([Quad(node, module.REQUEST, Literal(text), NAMES.approvals_graph)], [quad])
    assert error_of(queue.resolve, record.id, True, "ada").code == "approval_changed"
    listed = queue.list("pending")
    assert (listed.records, listed.changed) == ((other,), (record.id,))
    store.apply([quad])  # two requests under one id
    assert error_of(queue.resolve, record.id, True, "ada").code == "approval_changed"


def test_no_interface_of_the_namespace_reaches_the_requests(queue: ApprovalQueue, store: GraphStore) -> None:
    record = add(queue)
    graph = NamespacedGraph(store, "mayros")
    node = NAMES.beside("approval", record.id).value
    text = "SELECT * WHERE { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }"
    answer = b"".join(graph.query(text).chunks)
    assert record.id.encode() not in answer
    assert graph.list_triples({"subject": node})["triples"] == []
    with pytest.raises(Exception, match="cannot be read here"):
        graph.query(f"SELECT * FROM <{NAMES.approvals_graph.value}> {{ ?s ?p ?o }}")
    with pytest.raises(Exception, match="approvals"):
        graph.update(f"DELETE WHERE {{ GRAPH <{NAMES.approvals_graph.value}> {{ ?s ?p ?o }} }}")
    assert queue.find(record.id) == record


def test_each_term_of_a_request_is_defined() -> None:
    defined = {quad.subject for quad in parse(ontology(), RdfFormat.TURTLE)}
    assert {value for value in vars(module).values() if isinstance(value, NamedNode) and "approval" in value.value} <= (
        defined
    )
    assert module.REQUEST_CLASS in defined


def test_a_store_behind_another_cortex_keeps_no_requests_and_says_so() -> None:
    queue = ApprovalQueue(open_store("cortex://127.0.0.1:9"), NAMES)
    for call in (lambda: add(queue), lambda: queue.find("0" * 32), queue.list):
        with pytest.raises(GraphUnavailable, match="behind another Cortex keeps no requests"):
            call()
