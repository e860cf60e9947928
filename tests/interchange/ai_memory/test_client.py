"""The client library of ai-memory (PyPI `ai-memory-mcp`) against `serve`.

It has no methods for skills: the calls go through what all its methods go through, which adds the key and the agent,
leaves members without a value out, and reads answers and errors. `docs/conformance.md` lists what it cannot do here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ai_memory
import pydantic
import pytest

from tests.interchange.ai_memory import original
from tests.server.serving import FAST, Running, served

TEXT = "---\nnamespace: foo/observations\nname: fetch-data\ndescription: Fetches data.\n---\n\nBody.\n"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    root = tmp_path_factory.mktemp("ai-memory")
    for name in ("in", "out"):
        (root / name).mkdir()
    with served(root, registry={"importRoot": str(root / "in"), "exportRoot": str(root / "out")}) as running:
        running.root = root  # type: ignore[attr-defined]
        yield running


@pytest.fixture
def client(running: Running) -> Iterator[ai_memory.AiMemoryClient]:
    key = running.token("writer", permissions=("read", "write"), holder="person")
    with ai_memory.AiMemoryClient(running.url, api_key=key, agent_id="ai:tests", **FAST) as client:
        yield client


def call(client: ai_memory.AiMemoryClient, method: str, path: str, **more: Any) -> Any:
    return client._request(method, f"/api/v1/skill/{path}", **more)


def test_the_seven_calls_for_skills(running: Running, client: ai_memory.AiMemoryClient) -> None:
    folder = running.root / "in" / "fetch-data"  # type: ignore[attr-defined]
    skill = original.read(TEXT, {"scripts/run.sh": b"echo hi\n", "logo.png": b"\x89PNG\xff"})
    original.write_folder(skill, folder)
    made = call(client, "POST", "register", json_body={"folder_path": "fetch-data", "inline_skill": None})
    assert (made["registered"], made["signed"], made["superseded_id"]) == (True, False, None)
    assert made["compat_digest"] == skill.digest
    listed = call(client, "GET", "list", params={"namespace": "foo/observations", "filter": None})
    assert listed["count"] == len(listed["skills"]) == 1
    assert listed["skills"][0]["id"] == made["id"]
    assert listed["skills"][0]["digest"] == made["digest"]
    shown = call(client, "GET", made["id"])
    assert (shown["name"], shown["namespace"], shown["current"]) == ("fetch-data", "foo/observations", True)
    assert original.read(TEXT).body == shown["body"].lstrip("\n")
    file = call(client, "GET", f"{made['id']}/resource", params={"path": "scripts/run.sh"})
    assert (file["content"], file["encoding"], file["digest_verified"]) == ("echo hi\n", "utf-8", True)
    assert call(client, "GET", f"{made['id']}/resource", params={"path": "logo.png"})["encoding"] == "base64"
    done = call(client, "POST", f"{made['id']}/export", json_body={"target_folder": "given", "form": "ai-memory"})
    assert (done["exported"], done["resources_exported"]) == (True, 2)
    out = running.root / "out" / done["path"]  # type: ignore[attr-defined]
    assert original.read_folder(out).digest == skill.digest
    composed = call(client, "POST", f"{made['id']}/compose", json_body={"budget_tokens": 100_000})
    assert (composed["budget_tokens"], composed["reflections"]) == (32_000, [])
    with pytest.raises(ai_memory.NotFoundError, match="has no memory"):
        call(client, "POST", f"{'0' * 32}/promote", json_body={"name": "x", "description": "d"})


def test_errors_are_those_of_the_library(running: Running, client: ai_memory.AiMemoryClient) -> None:
    with pytest.raises(ai_memory.NotFoundError) as missing:
        call(client, "GET", "00000000-0000-0000-0000-000000000000")
    assert missing.value.status_code == 404
    assert missing.value.payload["code"] == "skill_not_found"
    with pytest.raises(ai_memory.ValidationError, match="lower-case"):
        call(client, "POST", "register", json_body={"inline_skill": TEXT.replace("fetch-data", "Fetch")})
    with ai_memory.AiMemoryClient(running.url, api_key="wrong", **FAST) as stranger, pytest.raises(ai_memory.AuthError):
        call(stranger, "GET", "list")
    reader = running.token("reader", permissions=("read",))
    with (
        ai_memory.AiMemoryClient(running.url, api_key=reader, **FAST) as limited,
        pytest.raises(ai_memory.ForbiddenError),
    ):
        call(limited, "POST", "register", json_body={"inline_skill": TEXT})


def test_its_own_calls_that_work_here_are_those_about_the_server(
    running: Running, client: ai_memory.AiMemoryClient
) -> None:
    running.plugin.graph.create_triple({"subject": "a", "predicate": "p", "object": 1})
    assert client.health()["status"] == "healthy"
    assert client.namespaces() == ["mayros"]


def test_its_model_of_the_numbers_is_another(client: ai_memory.AiMemoryClient) -> None:
    with pytest.raises(pydantic.ValidationError, match="total"):
        client.stats()


@pytest.mark.parametrize(
    "asked",
    [
        lambda client: client.store(title="t", content="c"),
        lambda client: client.recall("c"),
        lambda client: client.search("c"),
        lambda client: client.list(),
        lambda client: client.get("1"),
        lambda client: client.forget(namespace="n"),
        lambda client: client.link("1", "2"),
        lambda client: client.agents(),
        lambda client: client.subscriptions(),
        lambda client: client.metrics(),
    ],
    ids=["store", "recall", "search", "list", "get", "forget", "link", "agents", "subscriptions", "metrics"],
)
def test_refused_its_calls_for_memories_and_agents(client: ai_memory.AiMemoryClient, asked: Any) -> None:
    with pytest.raises(ai_memory.AiMemoryError) as caught:
        asked(client)
    assert caught.value.status_code == 404


def test_the_library_has_no_calls_for_skills() -> None:
    assert not [name for name in dir(ai_memory.AiMemoryClient) if "skill" in name.casefold()]
