"""The addresses of ai-memory, `/api/v1/skill`: the cases of its tests of them, and each member that it answers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from cortex_skills.features.memory.memories import Memories
from cortex_skills.features.memory.requests import new_memory
from cortex_skills.features.registry.dialects import ai_memory
from tests.interchange.ai_memory import original
from tests.server.serving import Running, served

UNKNOWN = "00000000-0000-0000-0000-000000000000"
MORE = "license: MIT\ncompatibility: v1\nallowed_tools: [tool_a]\nauthor: alice\n"
TEXT = "---\nnamespace: {namespace}\nname: {name}\ndescription: A skill.\n{more}---\n\n{body}"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("http")
    for name in ("in", "out"):
        (root / name).mkdir()
    return root


@pytest.fixture(scope="module")
def running(root: Path) -> Iterator[Running]:
    keys = {"keys": str(root / "keys")}
    with served(root, registry={"importRoot": str(root / "in"), "exportRoot": str(root / "out")}, proofs=keys) as run:
        yield run


@pytest.fixture(scope="module")
def client(running: Running) -> httpx.Client:
    return running.client(running.token("writer", permissions=("read", "write"), holder="person"))


def text(name: str, body: str = "Body.\n", more: str = "", namespace: str = "ns-a") -> str:
    return TEXT.format(name=name, body=body, more=more, namespace=namespace)


def done(answer: httpx.Response) -> Any:
    assert answer.status_code == 200, answer.text
    return answer.json()


def register(client: httpx.Client, name: str, **given: Any) -> dict[str, Any]:
    return done(client.post("/api/v1/skill/register", json={"inline_skill": text(name, **given)}))


def at(answer: Any, path: str) -> Any:
    """The member at a path of names; of the first element of a list."""
    for name in path.split("."):
        answer = (answer[0] if isinstance(answer, list) else answer)[name]
    return answer


@pytest.fixture(scope="module")
def answers(running: Running, client: httpx.Client, root: Path) -> dict[str, Any]:
    """An answer of each call, for a skill that has every member."""
    declared = "composes_with_reflections: [{namespace: mayros, min_depth: 1}]\n"
    skill = original.read(text("whole", more=MORE + declared), {"scripts/run.sh": b"echo hi\n"})
    original.write_folder(skill, root / "in/whole")
    (root / "in/whole/SKILL.md").write_text(text("whole", more=MORE + declared))
    found = {"register": done(client.post("/api/v1/skill/register", json={"folder_path": "whole"}))}
    path = f"/api/v1/skill/{found['register']['id']}"
    found["list"] = done(client.get("/api/v1/skill/list", params={"namespace": "ns-a", "filter": "whole"}))
    found["get"] = done(client.get(path))
    found["resource"] = done(client.get(f"{path}/resource", params={"path": "scripts/run.sh"}))
    found["export"] = done(client.post(f"{path}/export", json={"target_folder": "whole"}))
    memories = Memories(running.plugin.graph)
    seen, _ = memories.remember(new_memory("It rained."), agent="writer")
    reflection, _ = memories.reflect(new_memory("Rain is likely."), [seen], agent="writer")
    body = {"name": "promoted", "description": "Takes an umbrella.", "parameters_schema": {"type": "object"}}
    found["promote"] = done(client.post(f"/api/v1/skill/{reflection.id}/promote", json=body))
    found["compose"] = done(client.post(f"{path}/compose", json={"budget_tokens": 99_999}))
    return found


@pytest.mark.parametrize("call", ai_memory.ANSWERS)
def test_each_member_of_the_original_is_in_the_answer(answers: dict[str, Any], call: str) -> None:
    for path in ai_memory.ANSWERS[call]:
        at(answers[call], path)
        assert f"{call}.{path}" not in ai_memory.NOT_KEPT
    for left_out in (each.removeprefix(f"{call}.") for each in ai_memory.NOT_KEPT if each.startswith(f"{call}.")):
        assert left_out.rpartition(".")[2] not in str(answers[call]) or call == "register"


def test_each_member_and_parameter_of_the_original_is_mapped_or_named() -> None:
    """Those of its handlers at ff8caac8."""
    skill = {"id", "namespace", "name", "description", "digest", "created_at"}
    optional = {"license", "compatibility", "allowed_tools", "signing_agent", "metadata"}
    composed = {"id", "namespace", "title", "content", "created_at", "access_count", "reflection_depth", "memory_kind"}
    everything = {
        "register": {"registered", "id", "namespace", "name", "digest", "signed", "superseded_id"},
        "list": {"count", *(f"skills.{name}" for name in skill | optional)},
        "get": skill | optional | {"body", "current", "superseded_by", "resources.path", "resources.kind"},
        "resource": {
            *("skill_id", "resource_path", "resource_kind", "content", "encoding", "digest", "digest_verified"),
        },
        "export": {"exported", "skill_id", "target_folder", "digest", "resources_exported", "files"},
        "promote": {
            *("promoted", "skill_id", "namespace", "name", "digest", "derived_from_reflection_id"),
            *("original_reflection_depth", "sources_attached", "signed", "superseded_id"),
        },
        "compose": {
            *("skill_id", "skill_namespace", "skill_name", "body", "budget_tokens", "tokens_used", "memories_dropped"),
            *(f"compositional_namespaces.{name}" for name in ("namespace", "min_depth", "max_reflection_depth")),
            *(f"reflections.{name}" for name in composed | {"score"}),
        },
    }
    for call, members in everything.items():
        left_out = {name.removeprefix(f"{call}.") for name in ai_memory.NOT_KEPT if name.startswith(f"{call}.")}
        assert members == set(ai_memory.ANSWERS[call]) | (left_out - {"agent_id"}), call
        assert not left_out & set(ai_memory.ANSWERS[call])


def test_the_values_are_those_of_the_original(answers: dict[str, Any]) -> None:
    made, row, shown = answers["register"], answers["list"]["skills"][0], answers["get"]
    assert row["id"] == shown["id"] == made["id"]
    assert row["digest"] == shown["digest"] == made["digest"] == answers["export"]["digest"]
    for answer in (row, shown):
        assert (answer["license"], answer["compatibility"], answer["allowed_tools"]) == ("MIT", "v1", ["tool_a"])
        declared = [{"namespace": "mayros", "min_depth": 1}]
        assert answer["metadata"] == {"author": "alice", "composes_with_reflections": declared}
        assert (answer["signing_agent"], answer["created_at"] > 1_700_000_000) == (None, True)
    assert (shown["current"], shown["superseded_by"], shown["body"]) == (True, None, "\nBody.\n")
    assert answers["resource"]["content"] == "echo hi\n"
    assert (answers["export"]["files"], answers["compose"]["budget_tokens"]) == (["scripts/run.sh"], 32_000)
    assert [each["content"] for each in answers["compose"]["reflections"]] == ["Rain is likely."]
    assert answers["promote"]["sources_attached"] == 1


# --- the routes


def test_a_text_that_a_person_sends_is_signed_by_this_installation(client: httpx.Client) -> None:
    made = register(client, "signed-skill")
    assert (made["signed"], made["attest"]) == (True, "self_signed")
    assert done(client.get(f"/api/v1/skill/{made['id']}"))["signing_agent"].startswith("did:key:z6Mk")


def test_a_superseded_version_stays_and_names_the_one_after(client: httpx.Client) -> None:
    first, second = (register(client, "chain-me", body=body) for body in ("one\n", "two\n"))
    old, new = (done(client.get(f"/api/v1/skill/{made['id']}")) for made in (first, second))
    assert second["superseded_id"] == first["id"]
    assert (old["current"], old["superseded_by"]) == (False, second["id"])
    assert (new["current"], new["superseded_by"]) == (True, None)


@pytest.mark.parametrize("namespace", ["foo/observations", "foo.v2"])
def test_a_list_has_the_skills_of_a_namespace_with_parts(client: httpx.Client, namespace: str) -> None:
    register(client, "of-parts", namespace=namespace)
    page = done(client.get("/api/v1/skill/list", params={"namespace": namespace}))
    assert [(each["namespace"], each["name"]) for each in page["skills"]] == [(namespace, "of-parts")]
    detail = done(client.get("/api/skills/detail", params={"name": f"{namespace}/of-parts"}))
    assert detail["namespace"] == namespace


@pytest.mark.parametrize("given", [{}, {"namespace": "%"}, {"registry": "mayros"}, {"limit": 100_000}])
def test_a_list_has_all_namespaces(client: httpx.Client, given: dict[str, Any]) -> None:
    register(client, "listed")
    found = done(client.get("/api/v1/skill/list", params=given))["skills"]
    assert "ns-a/listed" in {f"{each['namespace']}/{each['name']}" for each in found}


def test_another_registry_is_not_listed_without_its_token(client: httpx.Client) -> None:
    answer = client.get("/api/v1/skill/list", params={"registry": "other"})
    assert (answer.status_code, answer.json()["code"]) == (403, "permission_denied")


def test_a_list_reads_the_trust_store_once(running: Running, client: httpx.Client, monkeypatch: Any) -> None:
    for number in range(5):
        register(client, f"many-{number}", namespace="many")
    asked: list[None] = []
    registry = running.plugin.registry
    publishers = registry._publishers
    monkeypatch.setattr(registry, "_publishers", lambda: asked.append(None) or publishers())
    assert done(client.get("/api/v1/skill/list", params={"namespace": "many"}))["count"] == 5
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", UNKNOWN, None, 404),
        ("GET", f"{UNKNOWN}/resource?path=a", None, 404),
        ("POST", f"{UNKNOWN}/export", {"target_folder": "x"}, 404),
        ("POST", f"{UNKNOWN}/compose", {}, 404),
        ("POST", f"{'0' * 32}/promote", {"name": "x", "description": "d"}, 404),
        ("POST", "register", {}, 400),
        ("POST", "register", {"skill_folder": "x"}, 400),
        ("POST", "register", {"folder_path": "no-such-folder"}, 400),
        ("POST", "register", {"inline_skill": "no front matter"}, 400),
        ("POST", "register", {"inline_skill": text("BadName")}, 400),
        ("GET", f"{UNKNOWN}/resource", None, 400),
    ],
)
def test_an_error_has_the_status_of_the_original_and_its_text(
    client: httpx.Client, method: str, path: str, body: Any, status: int
) -> None:
    answer = client.request(method, f"/api/v1/skill/{path}", **({} if body is None else {"json": body}))
    assert (answer.status_code, isinstance(answer.json()["error"], str)) == (status, True)


def test_a_file_that_is_not_there_is_not_found(client: httpx.Client) -> None:
    made = register(client, "without-files")
    answer = client.get(f"/api/v1/skill/{made['id']}/resource", params={"path": "scripts/none.sh"})
    assert answer.status_code == 404


def test_an_observation_is_not_promoted(running: Running, client: httpx.Client) -> None:
    seen, _ = Memories(running.plugin.graph).remember(new_memory("A raw note."), agent="writer")
    answer = client.post(f"/api/v1/skill/{seen}/promote", json={"name": "x-y", "description": "d"})
    assert (answer.status_code, answer.json()["code"]) == (409, "state_conflict")


def test_composing_needs_no_body(client: httpx.Client) -> None:
    made = register(client, "plain", body="# Plain\n")
    found = done(client.post(f"/api/v1/skill/{made['id']}/compose"))
    assert (found["body"], found["budget_tokens"], found["reflections"]) == ("\n# Plain\n", 4_000, [])


@pytest.mark.parametrize("path", ["register", f"{UNKNOWN}/export", f"{'0' * 32}/promote"])
def test_a_caller_who_may_only_read_changes_nothing(running: Running, path: str) -> None:
    reader = running.client(running.token("reader", permissions=("read",)))
    body = {"name": "x", "description": "d"} if path.endswith("promote") else {}
    assert reader.post(f"/api/v1/skill/{path}", json=body).status_code == 403


@pytest.mark.parametrize("path", ["list", UNKNOWN, f"{UNKNOWN}/resource?path=a"])
def test_a_caller_without_a_token_reads_nothing(running: Running, path: str) -> None:
    assert running.client().get(f"/api/v1/skill/{path}").status_code == 401


@pytest.mark.parametrize("body", [{"target_folder": "../out"}, {"target_folder": "/tmp/x"}])
def test_refused_an_export_that_is_not_below_the_configured_folder(client: httpx.Client, body: dict[str, str]) -> None:
    made = register(client, "exported")
    assert client.post(f"/api/v1/skill/{made['id']}/export", json=body).status_code == 400


def test_a_skill_that_went_to_another_installation_has_its_digests_and_its_signature(
    client: httpx.Client, root: Path, tmp_path: Path
) -> None:
    made = register(client, "travels", more=MORE)
    out = done(client.post(f"/api/v1/skill/{made['id']}/export", json={"target_folder": "a", "form": "ai-memory"}))
    (tmp_path / "in").mkdir()
    (root / "out" / out["path"]).rename(tmp_path / "in/travels")
    with served(tmp_path, registry={"importRoot": str(tmp_path / "in")}) as elsewhere:
        other = elsewhere.client(elsewhere.token("writer", permissions=("read", "write"), holder="person"))
        again = done(other.post("/api/v1/skill/register", json={"folder_path": "travels"}))
    assert (again["digest"], again["compat_digest"]) == (made["digest"], made["compat_digest"])
    assert (again["signed"], again["attest"]) == (True, "unknown_key")
