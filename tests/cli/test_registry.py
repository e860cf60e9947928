"""The registry on the command line: a skill goes from a folder to another store and keeps its digests."""

from __future__ import annotations

from pathlib import Path

import pytest

TEXT = "---\nname: {name}\ndescription: Fetches data from an API.\n{more}---\n1. **Read it** — use fs_read\n"


@pytest.fixture
def skills(tmp_path: Path):
    def write(name: str, more: str = "", body: str = "") -> Path:
        folder = tmp_path / "skills" / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "SKILL.md").write_text(TEXT.format(name=name, more=more) + body)
        return folder

    return write


@pytest.fixture
def registry(run, tmp_path: Path):
    def command(*args: str | Path, store: str = "store"):
        return run("registry", *map(str, args), "--store", str(tmp_path / store), "--json")

    return command


def test_a_skill_is_added_changed_shown_and_rolled_back(registry, skills):
    first = registry("add", skills("fetch-data")).json[0]
    assert (first["skill"], first["version"], first["created"]) == ("mayros/fetch-data", 1, True)
    assert registry("add", skills("fetch-data")).json[0]["created"] is False
    second = registry("add", skills("fetch-data", body="More.\n")).json[0]
    assert second["version"] == 2
    shown = registry("show", "fetch-data").json
    assert (shown["lifecycle"], shown["origin"], shown["trustTier"]) == ("released", "human", 3)
    assert shown["current"]["digest"] == second["digest"]
    assert shown["document"]["steps"] == [{"action": "Read it", "tool": "fs_read", "details": ""}]
    assert "+More." in registry("diff", "fetch-data", "1", "2").json["lines"]
    assert registry("rollback", "fetch-data", "1").json["digest"] == first["digest"]
    assert [version["version"] for version in registry("history", "fetch-data").json] == [1, 2, 3]
    assert [entry["name"] for entry in registry("find", "API", "fetch").json] == ["fetch-data"]
    assert registry("find", "nothing").json == []


def test_an_export_is_added_to_another_store_with_its_digest_and_signature(registry, skills, tmp_path):
    registry("add", skills("fetch-data"))
    exported = registry("export", "fetch-data", tmp_path / "out").json
    added = registry("add", exported["folder"], store="other").json[0]
    here, there = (registry("show", "fetch-data", store=store).json["current"] for store in ("store", "other"))
    assert added["digest"] == exported["digest"] == here["digest"] == there["digest"]
    assert (here["publicKey"], here["signature"]) == (there["publicKey"], there["signature"])
    assert registry("events", "verify", store="other").json == {"whole": True, "events": 1}


def test_one_bad_folder_stops_no_other_and_is_reported(registry, skills):
    skills("good")
    (skills("bad") / "SKILL.md").write_text("---\nname: bad\n---\n")
    answer = registry("add", skills("good").parent)
    assert [entry["skill"] for entry in answer.json] == ["mayros/good"]
    assert (answer.exit_code, answer.error["code"]) == (1, "manifest_invalid")


def test_states_change_and_are_refused_with_the_reason(registry, skills):
    registry("add", skills("base"))
    registry("add", skills("user", more="depends_on: [base]\n"))
    assert registry("deprecate", "user", "too old").json["reason"] == "too old"
    assert registry("promote", "user").json["lifecycle"] == "degraded"
    assert registry("trust", "user", "2").json["trustTier"] == 2
    refused = registry("purge", "base")
    assert (refused.exit_code, refused.error["code"]) == (1, "skill_in_use")
    assert registry("merge", "base", "user").json["merged"] == "mayros/user"
    assert registry("unretire", "user").json["lifecycle"] == "degraded"
    assert registry("retire", "user").json["lifecycle"] == "archived"
    assert registry("purge", "user").json == {"purged": "mayros/user"}
    assert registry("maintain").json == []
    assert [event["kind"] for event in registry("events", "list", "--since", "3").json][:3] == [
        "skill.deprecated",
        "skill.promoted",
        "skill.trusted",
    ]


@pytest.mark.parametrize("name", ["../x", "A", "a/b/c", "a b", ""])
def test_a_name_that_is_none_is_refused(registry, skills, name):
    registry("add", skills("base"))
    assert registry("show", name).error["code"] == "invalid_arguments"
