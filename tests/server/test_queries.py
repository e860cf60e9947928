"""`/api/v1/query`, stats, namespaces, health, the index: what may be asked about a graph."""

from __future__ import annotations

import threading

import httpx
import pytest

from cortex_graph import open_store
from cortex_skills import Config, Plugin, __version__
from cortex_skills.doors.http import store_health
from cortex_skills.features.graph.rest import queries, stats
from tests.server.serving import WAIT_S, until_healthy


@pytest.fixture
def filled(client: httpx.Client) -> httpx.Client:
    triples = [
        {"subject": "alice", "predicate": "knows", "object": {"node": "bob"}},
        {"subject": "alice", "predicate": "knows", "object": {"node": "carol"}},
        {"subject": "alice", "predicate": "name", "object": "Alice"},
        {"subject": "bob", "predicate": "name", "object": "Bob"},
    ]
    assert client.post("/api/v1/triples/batch", json={"triples": triples}).status_code == 201
    return client


def test_a_pattern_finds_its_matches_and_is_part_of_the_answer(filled, namespace):
    body = filled.post("/api/v1/query", json={"predicate": "knows", "limit": 1}).json()
    assert len(body["matches"]) == 1
    assert (body["total"], body["totalIsExact"]) == (2, True)
    assert body["pattern"] == {"subject": None, "predicate": "knows", "object": None}
    rest = filled.post("/api/v1/query", json={"predicate": "knows", "cursor": body["nextCursor"]}).json()
    objects = [match["object"]["node"] for match in (*body["matches"], *rest["matches"])]
    assert sorted(objects) == [f"{namespace}:bob", f"{namespace}:carol"]
    nothing = filled.post("/api/v1/query", json={"object": {"node": "nobody"}}).json()
    assert (nothing["matches"], nothing["total"], nothing["nextCursor"]) == ([], 0, None)
    everything = filled.post("/api/v1/query", json={"subject": None, "object": None, "limit": None}).json()
    assert everything["total"] == 4


@pytest.mark.parametrize("body", [[], {"limit": 0}, {"limit": "1"}, {"subject": 1}, {"where": 1}, {"object": []}])
def test_an_invalid_pattern_is_refused(filled, body):
    response = filled.post("/api/v1/query", json=body)
    assert (response.status_code, response.json()["code"]) == (400, "invalid_arguments")


def test_subjects_and_predicates_are_listed_once_each_and_sorted(filled, namespace):
    subjects = filled.get("/api/v1/query/subjects").json()
    assert subjects == {"subjects": [f"{namespace}:alice", f"{namespace}:bob"], "total": 2}
    assert filled.get("/api/v1/query/subjects", params={"predicate": "knows"}).json() == {
        "subjects": [f"{namespace}:alice"],
        "total": 1,
    }
    predicates = filled.get("/api/v1/query/predicates").json()
    assert predicates == {"predicates": [f"{namespace}:knows", f"{namespace}:name"], "total": 2}
    own = filled.get("/api/v1/query/predicates", params={"subject": f"{namespace}:bob"}).json()
    assert own == {"predicates": [f"{namespace}:name"], "total": 1}
    one = filled.get("/api/v1/query/subjects", params={"limit": 1}).json()
    assert one == {"subjects": [f"{namespace}:alice"], "total": 2}


def test_all_predicates_are_those_of_the_last_count_and_of_what_was_written_since(filled, namespace, monkeypatch):
    while not (counted := filled.get("/api/v1/counts").json())["current"]:
        pass
    assert counted["exact"] is True

    def scanned(*_: object) -> None:
        raise AssertionError("all triples were read")

    monkeypatch.setattr(queries, "select", scanned)
    known = filled.get("/api/v1/query/predicates", params={"limit": 1}).json()
    assert known == {"predicates": [f"{namespace}:knows"], "total": 2}
    made = filled.post("/api/v1/triples", json={"subject": "bob", "predicate": "age", "object": 3}).json()
    for names in (["age", "knows", "name"], ["knows", "name"]):
        listed = filled.get("/api/v1/query/predicates").json()
        assert listed == {"predicates": [f"{namespace}:{name}" for name in names], "total": len(names)}
        filled.delete(f"/api/v1/triples/{made['id']}")


def test_names_that_look_like_sparql_are_names(filled):
    for hostile in ("x> ?o } #", "a b", 'a" . ?s ?p ?o . "', "urn:x:y", "}", "é\0"):
        assert filled.get("/api/v1/query/predicates", params={"subject": hostile}).json()["total"] == 0
        assert filled.get("/api/v1/query/subjects", params={"predicate": hostile}).json()["total"] == 0


def test_stats_count_one_namespace(filled, namespace):
    body = filled.get("/api/v1/stats").json()
    counts = {"triple_count": 4, "subject_count": 2, "predicate_count": 2, "object_count": 4}
    assert body["graph"] == {**counts, "exact": True}
    assert body["namespace"] == namespace
    assert body["server"]["version"] == __version__
    assert body["server"]["uptime_seconds"] >= 0
    assert body["server"]["connected_clients"] >= 1


def test_stats_of_a_large_namespace_are_lower_bounds_unless_exact_totals_are_requested(filled, monkeypatch):
    monkeypatch.setattr(stats, "COUNTED", 3)
    assert filled.get("/api/v1/stats").json()["graph"]["exact"] is False
    monkeypatch.setattr(stats, "COUNTED", 2)
    least = filled.get("/api/v1/stats").json()["graph"]
    assert (least["triple_count"], least["exact"]) == (3, False)
    assert least["subject_count"] <= 2
    assert least["object_count"] == 3
    every = filled.get("/api/v1/stats", params={"exactTotal": "true"}).json()["graph"]
    assert (every["triple_count"], every["subject_count"], every["exact"]) == (4, 2, True)


def test_namespaces_that_the_token_does_not_open_are_not_listed(filled, server, namespace):
    assert filled.get("/api/v1/namespaces").json() == {
        "namespaces": [namespace],
        "baseIri": "urn:cortex:",
        "vocabularies": {},
    }
    other = server.client(server.token(f"other-than-{namespace}", ("elsewhere",)))
    assert other.get("/api/v1/namespaces").json()["namespaces"] == []


def test_the_index_health_and_the_description_need_no_token(server):
    client = server.client()
    assert client.get("/").json()["links"]["openapi"] == "/openapi.json"
    assert client.get("/openapi.json").json()["openapi"] == "3.1.0"
    until_healthy(client)


def test_flush_answers_when_it_is_done(client):
    assert client.post("/api/v1/flush").json() == {"ok": True}


class Stuck:
    """A real store whose answers wait until they are let go, or fail."""

    def __init__(self) -> None:
        self._store = open_store("memory:")
        self.go = threading.Event()
        self.go.set()
        self.entered = threading.Semaphore(0)
        self.broken = False

    def __getattr__(self, name):
        attribute = getattr(self._store, name)
        if name in ("maintenance", "close"):
            return attribute

        def waiting(*args, **settings):
            if self.broken:
                raise RuntimeError(f"/secret/place failed in {name}")
            self.entered.release()
            assert self.go.wait(WAIT_S)
            return attribute(*args, **settings)

        return waiting


@pytest.fixture
def stuck(serve, tmp_path):
    plugin = Plugin.open(Config(cortex={"tokenFile": str(tmp_path / "tokens.json")}))
    store = Stuck()
    plugin.graph.store = plugin.graph.index._store = store
    running = serve(plugin=plugin)
    yield store, running
    store.go.set()


def test_slow_calls_do_not_block_others(stuck):
    store, running = stuck
    client = running.client(running.token("t"))
    store.go.clear()
    slow = [threading.Thread(target=client.get, args=("/api/v1/stats",)) for _ in range(4)]
    for thread in slow:
        thread.start()
    for _ in slow:
        assert store.entered.acquire(timeout=WAIT_S)
    assert client.get("/openapi.json").status_code == 200
    assert client.get("/api/v1/triples", headers={"Authorization": "Bearer no"}).status_code == 401
    refused = client.post("/api/v1/skills/validate", json={"manifest": ""})
    assert refused.json()["valid"] is False
    store.go.set()
    for thread in slow:
        thread.join(WAIT_S)
        assert not thread.is_alive()


def test_health_is_degraded_while_the_store_hangs_and_while_it_fails(stuck, monkeypatch):
    monkeypatch.setattr(store_health, "_TIMEOUT_S", 0.1)
    store, running = stuck
    client = running.client()
    store.go.clear()
    for _ in range(3):
        body = client.get("/api/v1/health").json()
        assert (body["status"], body["components"]["graph"]["status"]) == ("degraded", "degraded")
    store.go.set()
    store.broken = True
    for _ in range(5):  # the question of before may still be answered well
        body = client.get("/api/v1/health").json()
    assert body["status"] == "degraded"
    assert "secret" not in str(body)
    store.broken = False
    monkeypatch.undo()
    until_healthy(client)


def test_the_error_of_a_failing_store_does_not_show_its_message(stuck, caplog):
    store, running = stuck
    store.broken = True
    response = running.client(running.token("t")).get("/api/v1/triples")
    assert (response.status_code, response.json()["code"]) == (500, "internal_error")
    assert "secret" not in response.text
    assert "Traceback" not in response.text
    assert response.json()["requestId"] == response.headers["x-request-id"]
    assert response.json()["requestId"] in caplog.text
