"""What clients of `/api/skills` send and read (`routes/skills.ts`, `memory/skills.ts` and the page), in our words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.registry.test_dialects import MEMBERS

STEP = {"step": 1, "action": "Test action", "description": "Test action", "tool": "bash", "params": {"command": "ls"}}


def store(client: httpx.Client, name: str, **given: Any) -> str:
    answer = client.post("/api/skills", json={"name": name, "description": f"Does {name}."} | given)
    assert answer.status_code == 200, answer.text
    assert answer.json()["ok"] is True
    return str(answer.json()["id"])


def detail(client: httpx.Client, name: str) -> dict[str, Any]:
    answer = client.get("/api/skills/detail", params={"name": name})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def post(client: httpx.Client, path: str, **body: Any) -> dict[str, Any]:
    answer = client.post(f"/api/skills/{path}", json=body)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def names(client: httpx.Client, **query: str) -> set[str]:
    return {each["name"] for each in client.get("/api/skills", params={"limit": "1000"} | query).json()}


def test_a_skill_in_snake_case_is_stored_and_retrieved(client: httpx.Client) -> None:
    assert store(client, "test_create_1", triggerPattern="evaluate, test", content="# Test\n", steps=[STEP])
    found = detail(client, "test_create_1")
    kept = ("name", "origin", "lifecycle", "trust_tier", "trigger_pattern", "content")
    assert [found[member] for member in kept] == [
        "test_create_1", "human", "released", 3, "evaluate, test", "# Test\n"
    ]  # fmt: skip


@pytest.mark.parametrize("asked", ["my_snake_skill", "my-snake-skill", "my_snake-skill"])
def test_a_name_is_found_by_either_spelling_and_answered_as_it_was_given(client: httpx.Client, asked: str) -> None:
    store(client, "my_snake_skill")
    assert detail(client, asked)["name"] == "my_snake_skill"


def test_the_other_spelling_is_the_next_version_of_the_same_skill(client: httpx.Client) -> None:
    store(client, "my_snake_skill")
    store(client, "my-snake-skill", description="Other.")
    assert (detail(client, "my-snake-skill")["version"], len(names(client))) == (2, 13)


@pytest.mark.parametrize("at", ["detail", "list", "merge", "deprecate"])
def test_each_answer_about_a_skill_has_every_member_of_the_interface(client: httpx.Client, at: str) -> None:
    store(client, "one")
    store(client, "two")
    if at == "detail":
        found = detail(client, "one")
    elif at == "list":
        found = next(each for each in client.get("/api/skills").json() if each["name"] == "one")
    elif at == "merge":
        found = post(client, "merge", target="one", source="two")["skill"]
    else:
        found = post(client, "deprecate", name="one")["skill"]
    assert found.keys() >= MEMBERS


def test_steps_are_a_json_text_with_their_tools_and_params(client: httpx.Client) -> None:
    store(client, "with_steps", steps=[STEP, {"step": 2, "action": "Report"}])
    report = {"step": 2, "action": "Report", "description": "Report"}
    assert json.loads(detail(client, "with_steps")["steps"]) == [STEP, report]


def test_metadata_of_the_designer_comes_back(client: httpx.Client) -> None:
    metadata = {"tags": ["a", "b"], "difficulty": "beginner", "examples": ["x"], "prerequisites": ["y"]}
    store(client, "with_metadata", metadata=metadata)
    assert detail(client, "with_metadata")["metadata"] == metadata


def test_an_update_changes_what_is_given_and_counts_the_version(client: httpx.Client) -> None:
    store(client, "changed", triggerPattern="when", content="One.\n")
    store(client, "changed", content="Two.\n")
    found = detail(client, "changed")
    assert (found["version"], found["trigger_pattern"], found["content"]) == (2, "when", "Two.\n")


def test_the_same_content_is_no_new_version(client: httpx.Client) -> None:
    first = store(client, "same", content="One.\n")
    assert (store(client, "same", content="One.\n"), detail(client, "same")["version"]) == (first, 1)


@pytest.mark.parametrize(("origin", "has"), [("human", True), ("llm", False)])
def test_lists_filter_by_origin(client: httpx.Client, origin: str, has: bool) -> None:
    store(client, "of_a_person")
    found = client.get("/api/skills", params={"origin": origin}).json()
    assert ("of_a_person" in {each["name"] for each in found}) is has
    assert {each["origin"] for each in found} <= {origin}


@pytest.mark.parametrize("lifecycle", ["released", "deprecated"])
def test_lists_filter_by_lifecycle(client: httpx.Client, lifecycle: str) -> None:
    store(client, "kept_one")
    store(client, "old_one")
    post(client, "deprecate", name="old_one")
    expected = {"released": "kept_one", "deprecated": "old_one"}[lifecycle]
    assert names(client, lifecycle=lifecycle) & {"kept_one", "old_one"} == {expected}


@pytest.mark.parametrize("name", ["plan-complex-tasks", "use-episodic-memory", "implement-database-changes"])
def test_the_skills_of_the_package_are_there_from_the_first_read(client: httpx.Client, name: str) -> None:
    found = next(each for each in client.get("/api/skills").json() if each["name"] == name)
    assert (found["origin"], found["lifecycle"], found["trust_tier"]) == ("human", "released", 4)
    assert len(json.loads(found["steps"])) >= 3


def test_there_are_the_same_twelve_of_them(client: httpx.Client) -> None:
    assert len(client.get("/api/skills").json()) == 12


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "detail"),
        ("GET", "dependencies"),
        ("POST", ""),
        ("POST", "deprecate"),
        ("POST", "promote"),
        ("POST", "merge"),
        ("POST", "export"),
        ("DELETE", ""),
    ],
)
def test_a_request_without_a_name_is_a_bad_one(client: httpx.Client, method: str, path: str) -> None:
    body = {"json": {}} if method == "POST" else {}
    assert client.request(method, f"/api/skills/{path}".rstrip("/"), **body).status_code == 400


@pytest.mark.parametrize("path", ["detail", "health", "promote", "deprecate", "merge"])
def test_an_unknown_name_is_not_found(client: httpx.Client, path: str) -> None:
    if path in ("detail", "health"):
        answer = client.get(f"/api/skills/{path}", params={"name": "not_there"})
    else:
        body = {"target": "not_there", "source": "nor_this"} if path == "merge" else {"name": "not_there"}
        answer = client.post(f"/api/skills/{path}", json=body)
    assert answer.status_code == 404


def test_skills_are_deleted_by_query_and_by_body(client: httpx.Client) -> None:
    for name in ("one_a", "one_b", "one_c"):
        store(client, name)
    assert client.delete("/api/skills", params={"name": "one_a"}).json()["deleted"] == 1
    body = {"names": ["one_b", "one_c", "not_there"]}
    several = client.request("DELETE", "/api/skills", json=body).json()
    assert (several["ok"], several["deleted"]) == (False, 2)
    assert [(each["name"], "not registered" in each["error"]) for each in several["errors"]] == [("not_there", True)]


def test_a_skill_that_others_need_is_not_deleted(client: httpx.Client) -> None:
    store(client, "a_b")
    store(client, "needs_it", dependsOn=["a_b"])
    assert client.delete("/api/skills", params={"name": "a_b"}).status_code == 409
    body = {"names": ["a_b", "needs_it"]}
    assert client.request("DELETE", "/api/skills", json=body).json()["deleted"] == 2


def test_a_similar_name_is_no_dependency(client: httpx.Client) -> None:
    store(client, "a_b")
    store(client, "axb")
    store(client, "needs_it", dependsOn=["axb"])
    assert client.delete("/api/skills", params={"name": "a_b"}).json()["deleted"] == 1


def test_dependencies_are_skills_and_names_as_they_were_given(client: httpx.Client) -> None:
    store(client, "the_parent")
    store(client, "the_child", dependsOn=["the_parent"], conflictsWith=["the_rival"])
    found = client.get("/api/skills/dependencies", params={"name": "the_child"}).json()
    assert found["name"] == "the_child"
    assert [(each["name"], each["lifecycle"]) for each in found["dependencies"]] == [("the_parent", "released")]
    assert found["dependents"] == []
    child = detail(client, "the_child")
    assert (json.loads(child["depends_on"]), json.loads(child["conflicts_with"])) == (["the_parent"], ["the_rival"])


def test_a_merge_joins_steps_and_contents_and_archives_the_source(client: httpx.Client) -> None:
    step_b = {"action": "Step B"}
    store(client, "merge_target", content="T.\n", steps=[{"action": "Step A"}])
    store(client, "merge_source", content="S.\n", steps=[step_b, {"action": "Step C"}, step_b, {"action": "Step A"}])
    merged = post(client, "merge", target="merge_target", source="merge_source")["skill"]
    assert [(step["step"], step["action"]) for step in json.loads(merged["steps"])] == [
        (1, "Step A"), (2, "Step B"), (3, "Step C")
    ]  # fmt: skip
    assert (merged["version"], merged["content"], merged["description"]) == (2, "T.\n\nS.\n", "Does merge_target.")
    source = detail(client, "merge_source")
    assert (source["lifecycle"], source["deprecated_reason"]) == ("archived", "merged into merge_target")


@pytest.mark.parametrize("given", [{}, {"reason": "too old"}])
def test_a_deprecation_keeps_its_reason_and_a_promotion_clears_it(client: httpx.Client, given: dict[str, str]) -> None:
    store(client, "falls")
    old = post(client, "deprecate", name="falls", **given)["skill"]
    assert (old["lifecycle"], old["deprecated_reason"]) == (
        "deprecated",
        given.get("reason", "deprecated over the API"),
    )
    states = [post(client, "promote", name="falls")["skill"] for _ in range(3)]
    assert [each["lifecycle"] for each in states] == ["degraded", "verified", "released"]
    assert [each["deprecated_reason"] for each in states] == [None] * 3
    assert states[0]["last_validated_at"] is None
    assert states[2]["last_validated_at"] == states[1]["last_validated_at"] > states[1]["created_at"]


def test_health_has_the_five_numbers(client: httpx.Client) -> None:
    store(client, "healthy_one")
    found = client.get("/api/skills/health", params={"name": "healthy_one"}).json()
    assert {name: found[name] for name in ("utility", "redundancy", "freshness", "failureRisk")} == {
        "utility": 0, "redundancy": 0, "freshness": 1, "failureRisk": 0.3
    }  # fmt: skip
    assert found["overall"] == pytest.approx(0.59)


def test_stats_have_the_eight_numbers(client: httpx.Client) -> None:
    store(client, "counted_one")
    store(client, "counted_two")
    post(client, "deprecate", name="counted_two")
    found = client.get("/api/skills/stats").json()
    assert {name: found[name] for name in found if name != "builtin"} == {
        "total": 14,
        "human": 14,
        "llm": 0,
        "avgSuccessRate": 0,
        "activeSkills": 13,
        "deprecatedSkills": 1,
        "avgUtilityScore": 0,
        "avgFreshness": 1,
    }


def test_maintenance_answers_how_many_it_changed(client: httpx.Client) -> None:
    found = post(client, "maintain")
    assert (found["deprecated"], found["degraded"]) == (0, 0)


def test_an_export_has_the_path_of_a_folder_that_other_readers_accept(client: httpx.Client, folders: Path) -> None:
    skills_ref = pytest.importorskip("skills_ref")
    store(client, "exported_one", content="# Do it\n", triggerPattern="when")
    answer = post(client, "export", name="exported_one")
    assert answer["ok"] is True
    assert skills_ref.validate(folders / "out" / answer["path"]) == []


def test_skills_in_folders_are_loaded_on_request(client: httpx.Client, folders: Path) -> None:
    folder = folders / "skills" / "my_folder_skill"
    folder.mkdir()
    text = "---\nname: my_folder_skill\ndescription: Builds.\ntrigger_pattern: build, deploy\n---\n\n# Mine\n\n"
    steps = "1. **Build it** — uses `run_build`\n2. **Test it** — using `run_tests`\n3. **Ship it** - via `ship`\n"
    (folder / "SKILL.md").write_text(text + steps)
    (folders / "skills" / "no_text").mkdir()
    (folders / "skills" / "no_text" / "SKILL.md").write_text("---\nname: no_text\n---\nBody.\n")
    answer = post(client, "load-human")
    assert (answer["ok"], answer["loaded"]) == (False, 1)
    assert "add the line `description:" in answer["errors"][0]
    found = detail(client, "my_folder_skill")
    assert (found["origin"], found["trust_tier"], found["trigger_pattern"]) == ("human", 3, "build, deploy")
    assert [step["tool"] for step in json.loads(found["steps"])] == ["run_build", "run_tests", "ship"]


def test_refused_health_without_a_name_runs_no_maintenance(client: httpx.Client) -> None:
    assert client.get("/api/skills/health").status_code == 400


def test_refused_a_released_skill_is_not_promoted(client: httpx.Client) -> None:
    store(client, "at_the_top")
    assert client.post("/api/skills/promote", json={"name": "at_the_top"}).status_code == 409


@pytest.mark.parametrize("name", ["My Skill!", "../up", "a__b", "über_Skill"])
def test_refused_a_name_that_no_folder_of_the_format_can_have(client: httpx.Client, name: str) -> None:
    assert client.post("/api/skills", json={"name": name, "description": "d"}).status_code == 400


def test_refused_the_bus_of_bindings_is_not_there(client: httpx.Client) -> None:
    assert client.get("/api/skills/bindings").status_code == 404
