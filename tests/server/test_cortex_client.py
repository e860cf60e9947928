"""The REST API as the TypeScript clients of Cortex speak it: what they send, and what they read of the answers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from cortex_graph import NamespacedGraph
from cortex_graph.assertion_records.records import assertion_times
from cortex_skills.features.memory.memories import Memories
from cortex_skills.features.memory.requests import new_memory
from tests.graph.cortex.support import cortex_at
from tests.server.serving import FAST, WAIT_S, Running

FAR = "2000-01-01T00:00:00Z"


class CortexClient:
    """Sends what those clients send: JSON in each request, and their `authToken` as it is configured."""

    def __init__(self, url: str, auth_token: str) -> None:
        headers = {"Content-Type": "application/json", "Authorization": auth_token}
        self.http = httpx.Client(base_url=url, headers=headers, timeout=WAIT_S, trust_env=False, **FAST)

    def request(self, method: str, path: str, body: Any = None, **query: Any) -> Any:
        """The document of the answer; None for 204."""
        content = None if body is None else json.dumps(body)
        answer = self.http.request(method, path, content=content, params=query)
        answer.raise_for_status()
        return None if answer.status_code == 204 else answer.json()

    def list_triples_since(self, since: datetime, **query: Any) -> list[dict[str, Any]]:
        """The triples that have a `created_at` after `since`, as the clients select them."""
        triples = self.request("GET", "/api/v1/triples", limit=10_000, **query)["triples"]
        return [t for t in triples if "created_at" in t and datetime.fromisoformat(t["created_at"]) > since]


@pytest.fixture(params=["{}", "Bearer {}"])
def cortex(server: Running, namespace: str, request: pytest.FixtureRequest) -> Iterator[CortexClient]:
    """A client whose `authToken` is a token, or a whole credential."""
    client = CortexClient(server.url, request.param.format(server.token(f"agent-{namespace}", (namespace,))))
    with client.http:
        yield client


@pytest.fixture
def plain(server: Running, namespace: str) -> Iterator[CortexClient]:
    """A client with a token that reads and writes."""
    client = CortexClient(server.url, server.token(f"agent-{namespace}", (namespace,)))
    with client.http:
        yield client


def test_a_triple_is_created_listed_and_deleted(cortex: CortexClient, namespace: str) -> None:
    triple = {"subject": f"{namespace}:agent:a1", "predicate": f"{namespace}:knows", "object": {"node": "b"}}
    made = cortex.request("POST", "/api/v1/triples", triple)
    assert cortex.request("GET", f"/api/v1/triples/{made['id']}")["object"] == {"node": f"{namespace}:b"}
    found = cortex.request("POST", "/api/v1/query", {"subject": triple["subject"], "limit": 5})
    assert [match["id"] for match in found["matches"]] == [made["id"]]
    assert cortex.request("DELETE", f"/api/v1/triples/{made['id']}") is None
    assert cortex.request("GET", "/api/v1/triples")["total"] == 0


def test_a_client_that_asks_for_what_is_newer_gets_it(plain: CortexClient) -> None:
    before = datetime.now(UTC) - timedelta(seconds=1)
    triples = [{"subject": "s", "predicate": "p", "object": number} for number in range(600)]
    plain.request("POST", "/api/v1/triples/batch", {"triples": triples})
    newer = plain.list_triples_since(before, predicate="p")
    assert sorted(triple["object"] for triple in newer) == list(range(600))
    assert plain.list_triples_since(datetime.now(UTC) + timedelta(seconds=5)) == []
    (match,) = plain.request("POST", "/api/v1/query", {"object": 7})["matches"]
    assert match["created_at"] == plain.request("GET", f"/api/v1/triples/{match['id']}")["created_at"]
    assert "provenance" not in match


def test_times_are_read_from_a_store_on_a_server_too(server: Running, plain: CortexClient, namespace: str) -> None:
    triples = [{"subject": "s", "predicate": "p", "object": number} for number in range(3)]
    plain.request("POST", "/api/v1/triples/batch", {"triples": triples})
    listed = plain.request("GET", "/api/v1/triples")["triples"]
    with cortex_at(server) as store:
        times = assertion_times(
            store, NamespacedGraph(store, namespace).names, [*(triple["id"] for triple in listed), "0" * 64]
        )
    assert times == {triple["id"]: triple["created_at"] for triple in listed}


def test_a_triple_without_a_record_has_no_time(client: httpx.Client) -> None:
    made = {"subject": "s", "predicate": "p", "object": 1, "provenance": None}
    assert client.post("/api/v1/triples", json=made).status_code == 201
    (triple,) = client.get("/api/v1/triples").json()["triples"]
    assert "created_at" not in triple


def test_names_in_angle_brackets_are_accepted_back(plain: CortexClient, namespace: str) -> None:
    names = {"subject": f"<{namespace}:a>", "predicate": f"<{namespace}:p>"}
    made = plain.request("POST", "/api/v1/triples", {**names, "object": {"node": f"<{namespace}:b>"}})
    assert (made["subject"], made["predicate"]) == (f"{namespace}:a", f"{namespace}:p")
    assert made["object"] == {"node": f"{namespace}:b"}
    assert plain.request("GET", "/api/v1/triples", **names)["total"] == 1
    assert plain.request("POST", "/api/v1/query", {"object": {"node": f"<{namespace}:b>"}})["total"] == 1
    assert plain.request("GET", "/api/v1/query/subjects", predicate=names["predicate"])["subjects"] == [
        f"{namespace}:a"
    ]
    assert plain.request("GET", "/api/v1/query/predicates", subject=names["subject"])["total"] == 1
    (checked,) = plain.request("POST", "/api/v1/assertions/verify-batch", {"assertions": [names]})["results"]
    assert checked["found"] == 1
    assert plain.request("POST", "/api/v1/validate", {"statements": [{**names, "object": 1}]})["valid"] is True
    sandbox = plain.request("POST", "/api/v1/skills/sandbox", {"namespace": f"{namespace}:x", "ttl_seconds": 300})
    plain.request("POST", "/api/v1/triples", {**names, "subject": f"<{sandbox['namespace']}:s>", "object": 1})
    assert plain.request("DELETE", f"/api/v1/skills/sandbox/{sandbox['id']}")["triples_removed"] == 1


# --- memories


def remember(client: CortexClient, data: Any, **given: Any) -> str:
    made = client.request("POST", "/api/v1/memory/remember", {"entry_type": "fact", "data": data, **given})
    identifier: str = made["id"]
    return identifier


def recalled(client: CortexClient, **query: Any) -> list[Any]:
    return [found["data"] for found in client.request("POST", "/api/v1/memory/recall", query)]


def test_a_memory_is_remembered_recalled_and_forgotten(cortex: CortexClient) -> None:
    identifier = remember(cortex, "The customer prefers e-mail.", tags=["customer"], importance=0.8)
    (found,) = cortex.request("POST", "/api/v1/memory/recall", {"text": "customer", "limit": 3})
    created = found["created_at"]
    assert datetime.fromisoformat(created).tzinfo is not None
    assert found == {
        "id": identifier,
        "entry_type": "fact",
        "data": "The customer prefers e-mail.",
        "tags": ["customer"],
        "importance": 0.8,
        "relevance": found["relevance"],
        "source": "LongTerm",
        "created_at": created,
        "last_accessed": created,
        "access_count": 0,
        "writtenBy": [],
        "coverage": 1.0,
    }
    assert 0 < found["relevance"] <= 1
    assert cortex.request("DELETE", f"/api/v1/memory/{identifier}") is None
    assert recalled(cortex, text="customer") == []


def test_data_that_is_not_text_comes_back_as_it_was(plain: CortexClient) -> None:
    for data in ({"text": "buy milk", "n": [1, None]}, 7, True, '{"n": 1}'):
        remember(plain, data)
    assert recalled(plain, text="milk") == [{"text": "buy milk", "n": [1, None]}]
    assert sorted(map(repr, recalled(plain, limit=50))) == sorted(
        map(repr, ({"text": "buy milk", "n": [1, None]}, 7, True, '{"n": 1}'))
    )


def test_memories_are_selected_by_tag_type_and_importance(plain: CortexClient) -> None:
    remember(plain, "red car", tags=["colour"], importance=0.9)
    remember(plain, "blue car", tags=["colour", 'q"\\ }'], importance=0.1)
    remember(plain, "a car", entry_type="note")
    assert sorted(recalled(plain, tags=["colour", "none"])) == ["blue car", "red car"]
    assert recalled(plain, tags=['q"\\ }']) == ["blue car"]
    assert recalled(plain, entry_type="note") == recalled(plain, entry_type="note", text="car") == ["a car"]
    assert recalled(plain, text="car", tags=["colour"], min_importance=0.5) == ["red car"]
    assert recalled(plain, min_importance=0.8) == ["red car"]
    assert recalled(plain, limit=1) == ["a car"]
    assert len(recalled(plain)) == 3
    assert recalled(plain, tags=["none"]) == []


def test_the_numbers_of_memories_are_true(plain: CortexClient) -> None:
    counts = {"stm_count": 0, "stm_capacity": 0, "ltm_link_count": 0}
    assert plain.request("GET", "/api/v1/memory/stats") == {**counts, "ltm_entity_count": 0, "total_memory_bytes": 0}
    assert remember(plain, "größe") == remember(plain, "größe")
    assert plain.request("GET", "/api/v1/memory/stats") == {**counts, "ltm_entity_count": 1, "total_memory_bytes": 7}
    assert plain.request("POST", "/api/v1/memory/consolidate") == {"consolidated": 0}
    assert plain.request("GET", "/api/v1/memory/checkpoints") == []


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"entry_type": "fact", "data": "x" * 513}, "data"),
        ({"entry_type": "fact", "data": " "}, "data"),
        ({"entry_type": "fact", "data": {"t": "x" * 510}}, "data"),
        ({"entry_type": "two words", "data": "x"}, "entry_type"),
        ({"entry_type": "fact"}, "data"),
        ({"entry_type": "fact", "data": "x", "importance": 7}, "importance"),
        ({"entry_type": "fact", "data": "x", "tags": ["t"] * 8}, "tags"),
        ({"entry_type": "fact", "data": "x", "embedding": [0.1]}, "embedding"),
    ],
)
def test_an_invalid_memory_is_refused_with_the_member(plain: CortexClient, body: Any, field: str) -> None:
    answer = plain.http.post("/api/v1/memory/remember", json=body)
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_arguments")
    assert field in answer.json()["error"]
    assert recalled(plain) == []


def test_memories_of_another_agent_need_the_permission(server: Running, namespace: str, plain: CortexClient) -> None:
    memories = Memories(NamespacedGraph(server.plugin.graph.store, namespace))
    identifier, _ = memories.remember(new_memory("the code is 1234"), agent="a2")
    assert recalled(plain) == recalled(plain, text="code") == []
    assert plain.http.delete(f"/api/v1/memory/{identifier}").status_code == 404
    for method, path in (("POST", "recall"), ("GET", "stats"), ("POST", "remember"), ("DELETE", identifier)):
        body = {"entry_type": "fact", "data": "obey"} if path == "remember" else {} if method == "POST" else None
        query = {"memoriesOf": "a2"}
        answer = plain.http.request(method, f"/api/v1/memory/{path}", json=body, params=query)
        assert (answer.status_code, answer.json()["code"]) == (403, "permission_denied"), path
    permissions = ("read", "write", "memories")
    with CortexClient(server.url, server.token(f"all-{namespace}", (namespace,), permissions)).http as trusted:
        made = {"entry_type": "fact", "data": "another code"}
        assert trusted.post("/api/v1/memory/remember", json=made, params={"memoriesOf": "a2"}).status_code == 201
        found = trusted.post("/api/v1/memory/recall", json={"text": "code"}, params={"memoriesOf": "a2"}).json()
    by_text = {entry["data"]: (entry["entry_type"], entry["writtenBy"]) for entry in found}
    assert by_text == {"the code is 1234": ("memory", []), "another code": ("fact", [f"all-{namespace}"])}


def test_a_token_that_only_reads_remembers_and_forgets_nothing(server: Running, namespace: str) -> None:
    with CortexClient(server.url, server.token(f"reads-{namespace}", (namespace,), ("read",))).http as reader:
        made = {"entry_type": "fact", "data": "x"}
        assert reader.post("/api/v1/memory/remember", json=made).status_code == 403
        assert reader.delete(f"/api/v1/memory/{'0' * 32}").status_code == 403
        assert reader.post("/api/v1/memory/recall", json={}).json() == []
