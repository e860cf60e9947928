"""Registered skills over HTTP, as the clients of two registries call them: a real server, and what a token may."""

from __future__ import annotations

import subprocess
from base64 import b64decode
from pathlib import Path
from typing import Any

import httpx
import jsonschema_rs
import pytest

from cortex_graph import NamespacedGraph
from cortex_skills.features.memory.memories import Memories
from cortex_skills.features.memory.requests import new_memory
from cortex_skills.features.registry.documents.skill_md import inline_document
from cortex_skills.features.registry.parts import open_registry
from cortex_skills.features.registry.records.registry import SkillRegistry
from tests.finder.embedding_server import embedding_server
from tests.server.serving import Running, served

pytestmark = pytest.mark.usefixtures("no_package_skills")

TEXT = "---\nname: {name}\ndescription: Fetches data from an API.\n{more}---\n1. **Read it** — use fs_read\n{body}"
VECTOR = "ac4d7953ddeca7021c5402cc5ef90cc7f95c79ab268ed5af1026954cf19c723f"


@pytest.fixture(scope="module")
def roots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("roots")


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory, roots: Path):
    """A server with folders for clients, and a folder of skills that the configuration names."""
    folder = tmp_path_factory.mktemp("registry-server")
    for name in ("in", "out", "human"):
        (roots / name).mkdir()
    registry = {
        "importRoot": str(roots / "in"),
        "exportRoot": str(roots / "out"),
        "folders": [str(roots / "human")],
    }
    with served(folder, registry=registry) as running:
        yield running


@pytest.fixture
def manager(own: Running, namespace: str) -> httpx.Client:
    return own.client(own.token(f"m-{namespace}", (namespace,), ("read", "write", "registry"), "person"))


@pytest.fixture
def writer(own: Running, namespace: str) -> httpx.Client:
    return own.client(own.token(f"w-{namespace}", (namespace,), ("read", "write"), "person"))


@pytest.fixture
def reader(own: Running, namespace: str) -> httpx.Client:
    return own.client(own.token(f"r-{namespace}", (namespace,), ("read",)))


def register(client: httpx.Client, name: str = "fetch-data", more: str = "", body: str = "") -> dict[str, Any]:
    inline = TEXT.format(name=name, more=more, body=body)
    return done(client.post("/api/v1/skill/register", json={"inline_skill": inline}))


def done(answer: httpx.Response) -> Any:
    assert answer.status_code == 200, answer.text
    return answer.json()


def refused(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


def test_a_skill_is_registered_listed_read_and_superseded(writer, namespace):
    first = register(writer)
    assert (first["registered"], first["created"], first["version"], first["superseded_id"]) == (True, True, 1, None)
    assert (first["namespace"], first["signed"], first["attest"]) == (namespace, True, "self_signed")
    assert register(writer)["created"] is False
    second = register(writer, body="More.\n")
    assert (second["version"], second["superseded_id"]) == (2, first["id"])
    page = done(writer.get("/api/v1/skill/list"))
    assert [(each["id"], each["name"], each["origin"]) for each in page["skills"]] == [
        (second["id"], "fetch-data", "human")
    ]
    assert done(writer.get(f"/api/v1/skill/{first['id']}"))["steps"] == [
        {"action": "Read it", "tool": "fs_read", "details": ""}
    ]
    assert done(writer.get(f"/api/v1/skill/{second['id']}"))["digest"] == second["digest"]


def test_a_version_that_was_superseded_is_not_overwritten(writer):
    text = TEXT.format(name="fetch-data", more="", body="")
    first = register(writer)["id"]
    body = {"name": "fetch-data", "expectedVersion": first}
    second = done(writer.post("/api/skills", json={**body, "content": "Second.\n"}))["id"]
    late = writer.post("/api/skills", json={**body, "content": "Late.\n"})
    assert refused(late) == (409, "skill_changed")
    assert late.json()["details"] == {"expected": first, "current": second}
    body = {"inline_skill": text, "expected_version": first}
    assert refused(writer.post("/api/v1/skill/register", json=body)) == (409, "skill_changed")
    assert refused(writer.post("/api/v1/skill/register", json={"expected_version": first}))[0] == 400
    assert done(writer.get("/api/skills/detail", params={"name": "fetch-data"}))["content"] == "Second.\n"


def test_a_trigger_pattern_and_a_licence_are_removed_by_null(writer):
    given = {"name": "fetch-data", "triggerPattern": "When asked.", "license": "MIT", "compatibility": "any"}
    done(writer.post("/api/skills", json={**given, "content": "It.\n"}))
    assert refused(writer.post("/api/skills", json={"name": "fetch-data", "triggerPattern": ""}))[0] == 400
    gone = {"name": "fetch-data", "triggerPattern": None, "license": None, "compatibility": None}
    version = done(writer.post("/api/skills", json=gone))["id"]
    kept = done(writer.get(f"/api/v1/skill/{version}"))
    assert (kept["trigger_pattern"], kept["license"], kept["compatibility"]) == (None, None, None)
    assert kept["body"] == "It.\n"


def test_the_compat_digest_is_that_of_other_registries(own: Running):
    client = own.client(own.token("testns", ("testns",), ("read", "write")))
    inline = "---\nname: demo\ndescription: A demo skill.\n---\nBody.\n"
    assert done(client.post("/api/v1/skill/register", json={"inline_skill": inline}))["compat_digest"] == VECTOR


def test_skills_are_found_by_a_query(writer):
    register(writer)
    register(writer, "count-sheep")
    found = done(writer.get("/api/skills/find", params={"query": "count data"}))
    assert [each["name"] for each in found["skills"]] == ["count-sheep", "fetch-data"]
    assert (found["skills"][0]["found"]["by"], found["problem"]) == ("words", None)
    assert refused(writer.get("/api/skills/find", params={"query": " "}))[1] == "invalid_arguments"


def test_candidates_are_found_on_request(own: Running, reader, namespace):
    registry = registry_in(own, namespace)
    learned = inline_document({"name": "grate-carrots", "description": "Grates carrots."}, namespace)
    registry.register(learned, actor="a1", origin="learned")
    assert done(reader.get("/api/skills/find", params={"query": "carrots"}))["skills"] == []
    found = done(reader.get("/api/skills/find", params={"query": "carrots", "candidates": "true"}))["skills"]
    assert [(each["name"], each["lifecycle"]) for each in found] == [("grate-carrots", "candidate")]
    assert refused(reader.get("/api/skills/find", params={"query": "carrots", "candidates": "1"}))[0] == 400


def test_an_embedder_that_fails_is_stated(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with embedding_server() as embedder:
        embedder.status = 500
        finder = {"embedder": "http", "endpoint": embedder.url, "model": "m"}
        with served(tmp_path, finder=finder) as running:
            client = running.client(running.token("a", ("mayros",), ("read", "write"), "person"))
            register(client)
            found = done(client.get("/api/skills/find", params={"query": "data"}))
            fact = {"entry_type": "fact", "data": "The data is fresh."}
            assert client.post("/api/v1/memory/remember", json=fact).status_code == 201
            recall = {"json": {"text": "data"}, "params": {"withProblem": "true"}}
            recalled = done(client.post("/api/v1/memory/recall", **recall))
            latest = done(client.post("/api/v1/memory/recall", json={}, params={"withProblem": "true"}))
            listed = done(client.post("/api/v1/memory/recall", json={"text": "data"}))
    assert [each["name"] for each in found["skills"]] == ["fetch-data"]
    problem = f"found by words alone: the embedder {embedder.url} answers 500"
    assert found["problem"].startswith(problem)
    assert recalled["problem"].startswith(problem)
    assert [each["data"] for each in recalled["memories"]] == ["The data is fresh."]
    without_query = {name: value for name, value in recalled["memories"][0].items() if name != "coverage"}
    assert latest == {"memories": [without_query | {"relevance": 1.0}], "problem": None}
    assert listed == recalled["memories"]


def test_the_pages_of_a_list_have_every_skill_once(writer):
    for number in range(5):
        register(writer, f"skill-{number}")
    names, cursor, pages = [], None, 0
    while pages == 0 or cursor is not None:
        page = done(writer.get("/api/v1/skill/list", params={"limit": 2} | ({"cursor": cursor} if cursor else {})))
        names += [each["name"] for each in page["skills"]]
        cursor, pages = page["nextCursor"], pages + 1
    assert sorted(names) == [f"skill-{number}" for number in range(5)]
    found = done(writer.get("/api/v1/skill/list", params={"filter": "API skill-3"}))
    assert [each["name"] for each in found["skills"]] == ["skill-3"]


def test_a_folder_below_the_import_root_is_registered_with_its_files_and_exported_again(writer, roots, namespace):
    folder = roots / "in" / namespace / "with-files"
    (folder / "scripts").mkdir(parents=True)
    (folder / "SKILL.md").write_text(TEXT.format(name="with-files", more="", body=""))
    (folder / "scripts/run.sh").write_text("#!/bin/sh\necho hi\n")
    (folder / "scripts/run.sh").chmod(0o755)
    (folder / "image.bin").write_bytes(b"\x00\xff")
    (folder / "link").symlink_to("/etc/passwd")
    new = done(writer.post("/api/v1/skill/register", json={"folder_path": f"{namespace}/with-files"}))
    assert new["warnings"] == ["'link' is left out: it is a symbolic link"]
    at = f"/api/v1/skill/{new['id']}"
    script = done(writer.get(f"{at}/resource", params={"path": "scripts/run.sh"}))
    assert (script["kind"], script["encoding"], script["content"]) == ("script", "utf-8", "#!/bin/sh\necho hi\n")
    image = done(writer.get(f"{at}/resource", params={"path": "image.bin"}))
    assert (image["encoding"], b64decode(image["content"])) == ("base64", b"\x00\xff")
    assert refused(writer.get(f"{at}/resource", params={"path": "../SKILL.md"})) == (404, "not_found")
    out = done(writer.post(f"{at}/export", json={"target_folder": namespace}))
    assert out["path"] == f"{namespace}/with-files"
    assert (roots / "out" / out["path"] / "image.bin").read_bytes() == b"\x00\xff"
    again = writer.post(f"{at}/export", json={"target_folder": namespace})
    assert refused(again) == (409, "skill_exists")
    assert str(roots) not in again.text
    started = subprocess.run([roots / "out" / out["path"] / "scripts/run.sh"], capture_output=True, check=True)
    assert (started.stdout, new["attest"]) == (b"hi\n", "unsigned")
    files = done(writer.get("/api/skills/detail", params={"name": "with-files"}))["resources"]
    assert {file["path"]: file["executable"] for file in files} == {"image.bin": False, "scripts/run.sh": True}


def test_an_export_that_was_changed_is_registered_only_on_request_and_without_a_signature(writer, roots, namespace):
    version = register(writer)
    assert version["attest"] == "self_signed"
    path = done(writer.post(f"/api/v1/skill/{version['id']}/export", json={"target_folder": namespace}))["path"]
    folder = roots / "in" / namespace / "sent"
    folder.parent.mkdir(parents=True, exist_ok=True)
    (roots / "out" / path).rename(folder)
    given = {"folder_path": f"{namespace}/sent"}
    assert done(writer.post("/api/v1/skill/register", json=given))["created"] is False
    manifest = folder / "SKILL.md"
    manifest.write_text(manifest.read_text().replace("Fetches", "Sends"))
    answer = writer.post("/api/v1/skill/register", json=given)
    assert (refused(answer), str(roots) in answer.text) == ((409, "export_changed"), False)
    accepted = done(writer.post("/api/v1/skill/register", json={**given, "accept_changed": True}))
    assert (accepted["attest"], accepted["signed"], accepted["version"]) == ("unsigned", False, 2)
    assert any("changed after its export" in warning for warning in accepted["warnings"])


@pytest.mark.parametrize("path", ["/etc", "../in", "..", "missing", "a/../../x"])
def test_a_client_reaches_no_other_folder(writer, roots, path):
    for answer in (
        writer.post("/api/v1/skill/register", json={"folder_path": path}),
        writer.post(f"/api/v1/skill/{register(writer)['id']}/export", json={"target_folder": f"{path}/.."}),
    ):
        assert refused(answer) == (400, "invalid_arguments")
        assert str(roots) not in answer.text


def test_without_configured_folders_nothing_is_imported_or_exported(server: Running, client, namespace):
    new = register(client)
    answers = (
        client.post("/api/v1/skill/register", json={"folder_path": "x"}),
        client.post(f"/api/v1/skill/{new['id']}/export", json={}),
        client.post("/api/skills/export", json={"name": "fetch-data"}),
    )
    assert [refused(answer) for answer in answers] == [(403, "permission_denied")] * 3


def test_a_procedural_skill_is_stored_changed_and_shown(writer):
    body = {
        "name": "deploy-it",
        "content": "# Deploy\nDo it.\n",
        "triggerPattern": "deploy",
        "steps": [{"step": 1, "action": "Build", "tool": "shell_safe", "params": {}}, {"step": 2, "action": "Ship"}],
        "metadata": {"tags": ["ops"], "difficulty": "beginner"},
    }
    first = done(writer.post("/api/skills", json=body))
    assert (first["ok"], first["created"]) == (True, True)
    changed = done(writer.post("/api/skills", json={"name": "deploy-it", "description": "Deploys."}))
    assert changed["created"] is True
    detail = done(writer.get("/api/skills/detail", params={"name": "deploy-it"}))
    assert (detail["description"], detail["content"]) == ("Deploys.", "# Deploy\nDo it.\n")
    assert [(step["action"], step["tool"]) for step in detail["stepList"]] == [("Build", "shell_safe"), ("Ship", None)]
    assert (detail["trigger_pattern"], detail["metadata"]["tags"]) == ("deploy", ["ops"])
    assert (detail["origin"], detail["lifecycle"], detail["trustTier"]) == ("human", "released", 3)
    assert [each["name"] for each in done(writer.get("/api/skills", params={"origin": "human"}))] == ["deploy-it"]
    assert done(writer.get("/api/skills", params={"origin": "llm"})) == []
    assert done(writer.get("/api/skills/health", params={"name": "deploy-it"}))["overall"] == pytest.approx(0.59)
    stats = done(writer.get("/api/skills/stats"))
    assert (stats["total"], stats["human"], stats["llm"], stats["activeSkills"]) == (1, 1, 0, 1)


def test_states_change_with_the_permission_registry(manager):
    for name in ("one", "two"):
        register(manager, name)
    skill = done(manager.post("/api/skills/deprecate", json={"name": "one", "reason": "too old"}))["skill"]
    assert (skill["lifecycle"], skill["reason"]) == ("deprecated", "too old")
    assert done(manager.get("/api/skills/stats"))["deprecatedSkills"] == 1
    assert done(manager.post("/api/skills/promote", json={"name": "one"}))["skill"]["lifecycle"] == "degraded"
    assert done(manager.post("/api/skills/trust", json={"name": "one", "tier": 2}))["skill"]["trustTier"] == 2
    assert done(manager.post("/api/skills/merge", json={"target": "one", "source": "two"}))["skill"]["name"] == "one"
    assert done(manager.get("/api/skills", params={"lifecycle": "archived"}))[0]["name"] == "two"
    assert refused(manager.post("/api/skills/merge", json={"target": "one", "source": "one"})) == (
        400,
        "invalid_arguments",
    )
    assert done(manager.post("/api/skills/maintain")) == {"changed": [], "deprecated": 0, "degraded": 0}


def test_a_delete_that_others_depend_on_is_refused_with_them(manager, namespace):
    register(manager, "base")
    register(manager, "user", more="depends_on: [base]\n")
    answer = manager.delete("/api/skills", params={"name": "base"})
    assert refused(answer) == (409, "skill_in_use")
    assert answer.json()["details"]["dependents"] == [f"{namespace}/user"]
    edges = done(manager.get("/api/skills/dependencies", params={"name": "base"}))
    assert ([each["name"] for each in edges["dependents"]], edges["dependencies"]) == (["user"], [])
    some = done(manager.request("DELETE", "/api/skills", json={"names": ["base", "user", "nobody"]}))
    assert (some["ok"], some["deleted"], len(some["errors"])) == (False, 2, 1)
    assert done(manager.get("/api/skills")) == []
    assert refused(manager.delete("/api/skills", params={"name": "base"})) == (404, "skill_not_found")
    assert refused(manager.delete("/api/skills")) == (400, "invalid_arguments")


def test_a_version_with_many_digits_is_one_that_there_is_not(manager):
    register(manager, "base")
    for number in (10**17, 10**99):
        answer = manager.get("/api/skills/diff", params={"name": "base", "old": 1, "new": number})
        assert answer.status_code == 404


def test_what_is_no_name_among_others_is_answered_by_itself_and_described_so(manager):
    register(manager, "base")
    names = ["base", "no name*"]
    asked = {
        "post": ("/api/skills/preview", {"change": "delete", "names": names}),
        "delete": ("/api/skills", {"names": names}),
    }
    previewed, deleted = (done(manager.request(each, path, json=body)) for each, (path, body) in asked.items())
    assert [each["code"] for each in previewed] == [None, "invalid_arguments"]
    assert (deleted["deleted"], len(deleted["errors"])) == (1, 1)
    document = done(manager.get("/openapi.json"))
    for method, (path, body) in asked.items():
        schema = document["paths"][path][method]["requestBody"]["content"]["application/json"]["schema"]
        assert jsonschema_rs.is_valid({**schema, "components": document["components"]}, body)


def test_configured_folders_are_loaded_and_what_is_wrong_is_named(writer, roots):
    folder = roots / "human"
    for name, text in (("tidy-up", TEXT.format(name="tidy-up", more="", body="")), ("bad", "---\nname: bad\n---\n")):
        (folder / name).mkdir()
        (folder / name / "SKILL.md").write_text(text)
    (folder / "tidy-up" / "link").symlink_to("SKILL.md")
    answer = done(writer.post("/api/skills/load-human"))
    assert answer["warnings"] == ["tidy-up: 'link' is left out: it is a symbolic link"]
    assert (answer["ok"], answer["loaded"]) == (False, 1)
    assert answer["errors"][0].startswith("bad: ")
    assert str(roots) not in answer["errors"][0]


WRITES = [
    ("POST", "/api/v1/skill/register", {"inline_skill": "x"}),
    ("POST", "/api/skills", {"name": "x"}),
    ("POST", "/api/skills/load-human", None),
    ("POST", "/api/skills/export", {"name": "fetch-data"}),
]
MANAGES = [
    ("DELETE", "/api/skills?name=fetch-data", None),
    ("POST", "/api/skills/merge", {"target": "fetch-data", "source": "other"}),
    ("POST", "/api/skills/deprecate", {"name": "fetch-data"}),
    ("POST", "/api/skills/promote", {"name": "fetch-data"}),
    ("POST", "/api/skills/trust", {"name": "fetch-data", "tier": 4}),
    ("POST", "/api/skills/maintain", None),
]


def test_reading_needs_read_registering_write_and_managing_registry(own, reader, writer, namespace):
    register(writer)
    before = events(own, namespace)
    for method, path, body in WRITES + MANAGES:
        assert refused(reader.request(method, path, json=body)) == (403, "permission_denied")
    for method, path, body in MANAGES:
        assert refused(writer.request(method, path, json=body)) == (403, "permission_denied")
    for path in ("/api/skills", "/api/skills/stats", "/api/skills/detail?name=fetch-data", "/api/v1/skill/list"):
        done(reader.get(path))
        assert own.client().get(path).status_code == 401
    assert events(own, namespace) == before


def events(own: Running, namespace: str) -> int:
    from cortex_graph import NamespacedGraph
    from cortex_skills.features.registry.parts import open_registry

    return open_registry(own.plugin.config, NamespacedGraph(own.plugin.graph.store, namespace)).log.count()


@pytest.mark.parametrize(
    "text", ["no front matter", "---\nname: A\n---\n", "---\nname: [\n---\n", "---\n---\n", "\x00"]
)
def test_a_skill_that_is_none_is_refused_and_nothing_is_written(own, writer, namespace, text):
    assert refused(writer.post("/api/v1/skill/register", json={"inline_skill": text})) == (400, "manifest_invalid")
    assert events(own, namespace) == 0


@pytest.mark.parametrize("body", [{}, {"inline_skill": "x", "folder_path": "y"}, {"inline_skill": 1}, {"other": "x"}])
def test_a_registration_names_one_source(writer, body):
    assert refused(writer.post("/api/v1/skill/register", json=body)) == (400, "invalid_arguments")


@pytest.mark.parametrize("name", ["../x", "A", "a//c", "a b", "", "a--b", "É", "x" * 65])
def test_a_name_that_is_none_is_refused(writer, name):
    assert refused(writer.get("/api/skills/detail", params={"name": name})) == (400, "invalid_arguments")


def test_an_unknown_version_is_not_found_and_another_namespace_not_allowed(writer):
    unknown = "00000000-0000-4000-8000-000000000000"
    assert refused(writer.get(f"/api/v1/skill/{unknown}")) == (404, "skill_not_found")
    assert refused(writer.get("/api/v1/skill/no-such-id")) == (400, "invalid_arguments")
    assert refused(writer.get("/api/skills", params={"namespace": "elsewhere"})) == (403, "permission_denied")


def test_a_state_that_does_not_allow_a_change_is_a_conflict(manager):
    for name in ("one", "two"):
        register(manager, name)
    conflict = (409, "state_conflict")
    done(manager.post("/api/skills/merge", json={"source": "one", "target": "two"}))
    assert refused(manager.post("/api/skills/merge", json={"source": "one", "target": "two"})) == conflict
    done(manager.post("/api/skills/deprecate", json={"name": "two"}))
    assert refused(manager.post("/api/skills/deprecate", json={"name": "two"})) == conflict
    register(manager, "three")
    while (answer := manager.post("/api/skills/promote", json={"name": "three"})).status_code == 200:
        continue
    assert refused(answer) == conflict
    done(manager.post("/api/skills", json={"name": "four", "dependsOn": ["three"]}))
    assert refused(manager.post("/api/skills", json={"name": "three", "dependsOn": ["four"]})) == conflict
    seen = manager.post("/api/v1/memory/remember", json={"entry_type": "fact", "data": "It rained."}).json()["id"]
    body = {"name": "take-an-umbrella", "description": "Takes one."}
    assert refused(manager.post(f"/api/v1/skill/{seen}/promote", json=body)) == conflict


def test_a_learned_skill_is_verified_with_a_measured_gain_or_by_a_person(own, manager, namespace):
    registry = registry_in(own, namespace)
    document = inline_document({"name": "learned-one", "description": "d", "body": "x"}, namespace)
    registry.register(document, actor="a", origin="learned")
    body = {"name": "learned-one"}
    assert refused(manager.post("/api/skills/promote", json=body)) == (409, "gain_not_measured")
    verified = done(manager.post("/api/skills/promote", json={**body, "unmeasured": True}))["skill"]
    assert verified["lifecycle"] == "verified"


# --- reflections


def test_a_reflection_is_promoted_composed_and_degraded_when_a_source_is_forgotten(own, writer, namespace):
    memories, agent = memories_in(own, namespace), f"w-{namespace}"
    seen = done_created(writer.post("/api/v1/memory/remember", json={"entry_type": "fact", "data": "It rained."}))
    reflection, _ = memories.reflect(new_memory("Rain is likely."), [seen], agent=agent)
    body = {"name": "take-an-umbrella", "description": "Takes one."}
    made = done(writer.post(f"/api/v1/skill/{reflection.id}/promote", json=body))
    assert (made["promoted"], made["sources_attached"], made["original_reflection_depth"]) == (True, 1, 1)
    assert refused(writer.post(f"/api/v1/skill/{reflection.id}/promote", json=body)) == (409, "skill_exists")
    assert refused(writer.post(f"/api/v1/skill/{'0' * 32}/promote", json=body)) == (404, "skill_not_found")
    assert refused(writer.post("/api/v1/skill/x/promote", json=body)) == (400, "invalid_arguments")
    source = {"path": "references/source_0.md"}
    assert done(writer.get(f"/api/v1/skill/{made['skill_id']}/resource", params=source))["content"] == "It rained.\n"
    declared = f"composes_with_reflections: [{{namespace: {namespace}, min_depth: 1}}]\n"
    composer = register(writer, "composer", declared)
    composed = done(writer.post(f"/api/v1/skill/{composer['id']}/compose", json={"budget_tokens": 2000}))
    assert [each["content"] for each in composed["reflections"]] == ["Rain is likely."]
    assert done(writer.post(f"/api/v1/skill/{composer['id']}/compose"))["budget_tokens"] == 4000
    tiny = done(writer.post(f"/api/v1/skill/{composer['id']}/compose", json={"budget_tokens": 1}))
    assert (tiny["reflections"], tiny["memories_dropped"]) == ([], 1)
    assert writer.delete(f"/api/v1/memory/{seen}").status_code == 204
    detail = done(writer.get("/api/skills/detail", params={"name": "take-an-umbrella"}))
    assert "degraded" in str(detail)
    assert f"the memory {seen}" in str(detail)


def test_reflections_of_another_agent_are_not_promoted_or_composed(own, writer, reader, namespace):
    memories = memories_in(own, namespace)
    seen, _ = memories.remember(new_memory("A secret."), agent="ada")
    reflection, _ = memories.reflect(new_memory("A deep secret."), [seen], agent="ada")
    body = {"name": "secrets", "description": "Tells."}
    path = f"/api/v1/skill/{reflection.id}/promote"
    assert refused(writer.post(path, json=body)) == (404, "skill_not_found")
    assert refused(writer.post(path, json=body, params={"memoriesOf": "ada"})) == (403, "permission_denied")
    assert refused(reader.post(path, json=body)) == (403, "permission_denied")
    composer = register(writer, "composer", f"composes_with_reflections: [{{namespace: {namespace}}}]\n")
    assert done(writer.post(f"/api/v1/skill/{composer['id']}/compose"))["reflections"] == []


def registry_in(own: Running, namespace: str) -> SkillRegistry:
    graph = own.plugin.graph
    return open_registry(own.plugin.config, NamespacedGraph(graph.store, namespace, base=graph.names.base))


def memories_in(own: Running, namespace: str) -> Memories:
    graph = own.plugin.graph
    return Memories(NamespacedGraph(graph.store, namespace, base=graph.names.base))


def done_created(answer: httpx.Response) -> str:
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])
