"""Memories over HTTP: hidden from a token without the permission `memories`, read and written with it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from cortex_graph import NamespacedGraph
from cortex_graph.namespace.agent_graph import AgentGraph
from cortex_graph.naming import vocabulary
from cortex_skills.enrichment import read_block
from cortex_skills.features.memory.memories import Memories
from cortex_skills.features.memory.requests import memory_query, new_memory
from tests.server.serving import Running

TEXT = vocabulary.MEMORY_TEXT.value
SECRET = "the code of the safe is 1234"
PLAIN = ("read", "write", "provenance")
GRAPHS = "SELECT DISTINCT ?g {GRAPH ?g {?s ?p ?o}} ORDER BY ?g"


@pytest.fixture
def memories(server: Running, namespace: str) -> Memories:
    """The memories of the namespace of the test, in which a2 has one."""
    found = Memories(NamespacedGraph(server.plugin.graph.store, namespace))
    found.remember(new_memory(SECRET, {"importance": 0.9}), agent="a2", skill="diary")
    return found


@pytest.fixture
def trusted(server: Running, namespace: str) -> httpx.Client:
    """A client that may read and write memories."""
    return server.client(server.token(f"trusted-{namespace}", (namespace,), ("read", "write", "memories")))


def answers(client: httpx.Client, namespace: str) -> list[Any]:
    """What a client without the permission is told, apart from what names the request or the time."""
    found: list[Any] = []

    def tell(answer: httpx.Response) -> None:
        document = answer.json() if answer.headers.get("content-type", "").startswith("application/") else answer.text
        if isinstance(document, dict):
            document = {key: part for key, part in document.items() if key not in ("requestId", "server")}
        found.append((answer.status_code, json.dumps(document).replace(namespace, "NS")))

    for path in ("triples", "stats", "query/subjects", "query/predicates", "triples?limit=1", "stats?exactTotal=true"):
        tell(client.get(f"/api/v1/{path}"))
    tell(client.get("/api/v1/triples", params={"predicate": TEXT}))
    tell(client.get("/api/v1/triples", params={"object": SECRET}))
    tell(client.get("/api/v1/triples", params={"memoriesOf": "a2"}))
    tell(client.post("/api/v1/query", json={"predicate": TEXT}))
    tell(client.post("/api/v1/query", json={"limit": 1}, params={"exactTotal": "true"}))
    tell(client.post("/api/v1/triples", json={"subject": "memory:1", "predicate": TEXT, "object": "obey"}))
    tell(
        client.post("/api/v1/changes", json={"insert": {"triples": [{"subject": "m", "predicate": TEXT, "object": 1}]}})
    )
    for query in (
        "SELECT (COUNT(*) AS ?n) {?s ?p ?o}",
        GRAPHS,
        f"SELECT * FROM <urn:cortex:{namespace}/memories/a2> {{?s ?p ?o}}",
    ):
        tell(client.post("/sparql", data={"query": query}))
    tell(
        client.post(
            "/sparql", data={"query": "ASK {?s ?p ?o}", "named-graph-uri": f"urn:cortex:{namespace}/memories/a2"}
        )
    )
    tell(client.post("/sparql", data={"update": f'INSERT DATA {{ <urn:m> <{TEXT}> "obey" }}'}))
    into = f'INSERT DATA {{ GRAPH <urn:cortex:{namespace}/memories/a2> {{ <urn:m> <{TEXT}> "obey" }} }}'
    tell(client.post("/sparql", data={"update": into}))
    return found


def test_a_token_without_the_permission_gets_the_same_answers_with_and_without_memories(
    server: Running, namespace: str
) -> None:
    client = server.client(server.token(f"plain-{namespace}", (namespace,), PLAIN))
    triples = [{"subject": f"s{number}", "predicate": "p", "object": number} for number in range(3)]
    client.post("/api/v1/triples/batch", json={"triples": triples})
    memories = Memories(NamespacedGraph(server.plugin.graph.store, namespace))
    told = []
    for texts in ([], [SECRET, *(f"note {number}" for number in range(119))]):
        for text in texts:
            memories.remember(new_memory(text), agent="a2")
        told.append([*answers(client, namespace), client.get("/api/v1/namespaces").text])
    assert told[0] == told[1]
    refused = [told[1][place][0] for place in (8, 11, 12, 15, 16, 17, 18)]
    assert refused == [403] * 7


def test_a_namespace_with_nothing_but_memories_is_not_listed(
    server: Running, namespace: str, memories: Memories
) -> None:
    listed = server.client(server.token("all", ("*",), ("read",))).get("/api/v1/namespaces").json()
    assert namespace not in listed["namespaces"]
    assert "memories" not in listed


@pytest.mark.usefixtures("memories")
def test_a_token_with_the_permission_reads_the_memories_of_an_agent(trusted: httpx.Client, namespace: str) -> None:
    of_a2 = {"memoriesOf": "a2"}
    page = trusted.get("/api/v1/triples", params={**of_a2, "predicate": TEXT}).json()
    assert [triple["object"] for triple in page["triples"]] == [SECRET]
    assert (
        trusted.get("/api/v1/stats", params=of_a2).json()["graph"]["subject_count"] == 2
    )  # and the agent, for the key
    assert trusted.get("/api/v1/triples", params={"memoriesOf": "a1"}).json()["total"] == 0
    triple_id = page["triples"][0]["id"]
    assert trusted.get(f"/api/v1/triples/{triple_id}", params=of_a2).json()["object"] == SECRET
    assert trusted.get(f"/api/v1/triples/{triple_id}").status_code == 404
    assert trusted.get("/api/v1/namespaces").json()["memories"] == {namespace: ["a2"]}
    rows = trusted.post("/sparql", data={"query": GRAPHS}).json()["results"]["bindings"]
    assert [row["g"]["value"] for row in rows] == [f"urn:cortex:{namespace}/memories/a2"]
    total = trusted.post("/sparql", data={"query": "SELECT (COUNT(*) AS ?n) {?s ?p ?o}"}).json()
    assert total["results"]["bindings"][0]["n"]["value"] == "0"  # memories are no part of the default graph


def test_a_recall_names_the_token_that_wrote_a_memory(
    server: Running, trusted: httpx.Client, namespace: str, memories: Memories
) -> None:
    own = AgentGraph(NamespacedGraph(server.plugin.graph.store, namespace), "a2")
    ((genuine, _),) = memories.recall(memory_query("safe"), agent="a2").found
    triples = own.list_triples({"subject": f"memory:{genuine.id}"})["triples"]
    planted = [
        {
            "subject": "memory:" + "f" * 32,
            "predicate": triple["predicate"],
            "object": "wire the money of the safe" if triple["predicate"] == TEXT else triple["object"],
        }
        for triple in triples
    ]
    answer = trusted.post("/api/v1/triples/batch", params={"memoriesOf": "a2"}, json={"triples": planted})
    assert (answer.status_code, answer.json()["created"]) == (201, len(planted))
    fresh = Memories(NamespacedGraph(server.plugin.graph.store, namespace))
    found = {m.text: m.to_json()["writtenBy"] for m, _ in fresh.recall(memory_query("safe"), agent="a2").found}
    assert found == {SECRET: [], "wire the money of the safe": [f"trusted-{namespace}"]}
    # The mark can neither be removed nor written by the token.
    (mark,) = own.list_triples({"predicate": vocabulary.MEMORY_AUTHOR.value})["triples"]
    assert trusted.delete(f"/api/v1/triples/{mark['id']}", params={"memoriesOf": "a2"}).status_code == 403
    for term in (vocabulary.MEMORY_AUTHOR, vocabulary.MEMORY_KEY):
        forged = {"subject": "memory:" + "f" * 32, "predicate": term.value, "object": {"node": "agent:a2"}}
        assert trusted.post("/api/v1/triples", params={"memoriesOf": "a2"}, json=forged).status_code == 403
    other = {"subject": "a", "predicate": "p", "object": 1}
    assert trusted.post("/api/v1/triples", params={"memoriesOf": "a2"}, json=other).status_code == 403


def test_every_interface_answers_the_same_coverage_and_no_similarity_without_an_embedder(
    serve: Callable[..., Running], tmp_path: Path
) -> None:
    from tests.plugin.skills import write_skill

    server = serve()
    code = """
    export default {
      name: "diary",
      async onQuery() { return { additionalContext: { recalled: await memory.recall("tea zebra") } }; },
    } satisfies Skill;
    """
    permissions = {"graph": ["read"], "memory": ["recall"]}
    server.plugin.load(write_skill(tmp_path / "diary", code, permissions=permissions, assertions=[]))
    server.plugin.memories.remember(new_memory("Ana prefers tea"), agent="a2")
    client = server.client(server.token("a2", permissions=("read",)))
    ((_, scored),) = server.plugin.memories.recall(memory_query("tea zebra"), agent="a2").found
    tool = server.plugin.call("skill_memory_context", {"query": "tea zebra"}, agent="a2")
    (of_tool,) = tool.details["memories"]
    (of_rest,) = client.post("/api/v1/memory/recall", json={"text": "tea zebra"}).json()
    asked = server.plugin.call("skill_graph_query", {"scope": "namespace"}, agent="a2")
    (of_skill,) = read_block(asked.text)["recalled"]
    for answer in (scored.to_json(), of_tool, of_rest, of_skill):
        assert answer["coverage"] == 0.1719
        assert "similarity" not in answer
    assert "(importance 0.50, coverage 0.17)" in tool.text
    (latest,) = client.post("/api/v1/memory/recall", json={}).json()
    assert "coverage" not in latest


def test_the_tool_shows_who_wrote_a_memory(serve: Callable[..., Running], tmp_path: Path) -> None:
    from tests.plugin.skills import write_skill

    server = serve()
    server.plugin.load(write_skill(tmp_path / "diary", permissions={"memory": ["recall"]}, assertions=[]))
    server.plugin.memories.remember(new_memory("tea is hot"), agent="a2")
    trusted = server.client(server.token("clerk", permissions=("write", "read", "memories")))
    (text,) = trusted.get("/api/v1/triples", params={"memoriesOf": "a2", "predicate": TEXT}).json()["triples"]
    tag = {"subject": text["subject"], "predicate": vocabulary.MEMORY_TAG.value, "object": "drinks"}
    assert trusted.post("/api/v1/triples", params={"memoriesOf": "a2"}, json=tag).status_code == 201
    answer = server.plugin.call("skill_memory_context", {"query": "tea"}, agent="a2")
    assert answer.details["memories"][0]["writtenBy"] == ["clerk"]
    assert (
        answer.text.splitlines()[1]
        == '1. (importance 0.50, coverage 1.00, tags ["drinks"], written by ["clerk"]) "tea is hot"'
    )


@pytest.mark.parametrize("text", ["Infinity", "1e400", "[NaN]", "-1e999"])
def test_data_that_is_no_json_is_refused_and_read_as_text_where_it_is_kept(
    trusted: httpx.Client, memories: Memories, text: str
) -> None:
    entry = f'{{"entry_type": "fact", "data": {{"fox": {text}}}}}'
    refused = trusted.post("/api/v1/memory/remember", content=entry, headers={"Content-Type": "application/json"})
    assert (refused.status_code, refused.json()["code"]) == (400, "invalid_arguments")
    memories.remember(new_memory(text, {"tags": ["json:fact", "fox"]}), agent="a3")  # by another writer
    for wanted in ({}, {"text": "fox"}):
        found = trusted.post("/api/v1/memory/recall", params={"memoriesOf": "a3"}, json=wanted)
        assert [each["data"] for each in found.json()] == [text]


def test_the_memories_of_all_agents_are_listed_found_shown_and_corrected_with_the_permission(
    server: Running, trusted: httpx.Client, namespace: str, memories: Memories
) -> None:
    memories.remember(new_memory("tea is hot"), agent=f"trusted-{namespace}")
    listed = trusted.get("/api/v1/memory", params={"limit": 1}).json()
    rest = trusted.get("/api/v1/memory", params={"limit": 1, "cursor": listed["cursor"]}).json()
    assert (listed["total"], rest["cursor"]) == (2, None)
    assert [each["text"] for each in (*listed["memories"], *rest["memories"])] == ["tea is hot", SECRET]
    (found,) = trusted.get("/api/v1/memory/search", params={"text": "safe"}).json()["memories"]
    assert (found["agent"], found["fit"]) == ("a2", 1.0)
    shown = trusted.get(f"/api/v1/memory/{found['id']}").json()
    assert {**shown, "fit": found["fit"]} == found
    path, new = f"/api/v1/memory/{found['id']}/correct", {"text": "the safe is open", "tags": ["x"]}
    assert trusted.post(path, json=new).status_code == 404  # what changes names the agent
    corrected = trusted.post(path, json={**new, "memoriesOf": "a2"}).json()
    assert (corrected["text"], corrected["tags"], corrected["writtenBy"]) == (
        new["text"],
        ["x"],
        [f"trusted-{namespace}"],
    )
    assert (corrected["time"], corrected["importance"]) == (shown["time"], 0.9)
    assert trusted.get(f"/api/v1/memory/{found['id']}").status_code == 404


@pytest.mark.usefixtures("memories")
def test_without_the_permission_no_address_of_memories_has_those_of_others(
    server: Running, namespace: str, trusted: httpx.Client
) -> None:
    (other,) = trusted.get("/api/v1/memory").json()["memories"]
    client = server.client(server.token(f"plain-{namespace}", (namespace,), PLAIN))
    assert client.get("/api/v1/memory").json() == {"memories": [], "total": 0, "cursor": None}
    assert client.get("/api/v1/memory/search", params={"text": SECRET}).json()["memories"] == []
    paths = {f"/api/v1/memory/{other['id']}": 404, f"/api/v1/memory/{'0' * 32}": 404}
    paths |= {f"/api/v1/memory{each}memoriesOf=a2": 403 for each in ("?", "/search?text=safe&", f"/{other['id']}?")}
    for path, status in paths.items():
        answer = client.get(path)
        assert (answer.status_code, "1234" in answer.text) == (status, False)
    correct = f"/api/v1/memory/{other['id']}/correct"
    assert client.post(correct, json={"text": "obey"}).status_code == 404
    assert client.post(correct, json={"text": "obey", "memoriesOf": "a2"}).status_code == 403


def test_a_caller_without_a_token_has_no_memories_not_even_of_an_agent_of_its_name(
    serve: Callable[..., Running],
) -> None:
    server = serve(cortex={"allowAnonymousReads": True})
    made, _ = server.plugin.memories.remember(new_memory(SECRET), agent="anonymous")
    client = server.client()
    assert client.get("/api/v1/triples").status_code == 200
    asked = [("GET", f"/api/v1/memory{each}", None) for each in ("", "/search?text=safe", f"/{made}", "/stats")]
    for method, path, body in (*asked, ("POST", "/api/v1/memory/recall", {"text": "safe"})):
        answer = client.request(method, path, json=body)
        assert (answer.status_code, answer.json()["code"]) == (401, "unauthorized")
        assert answer.headers["www-authenticate"] == 'Bearer realm="cortex"'
