"""The registry on the command line: a skill goes from a folder to another store and keeps its digests."""

from __future__ import annotations

import json
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
    (found,) = registry("find", "API", "fetch").json
    assert (found["name"], found["by"], found["score"] > 0) == ("fetch-data", "words", True)
    assert registry("find", "nothing").json == []


def test_an_export_is_added_to_another_store_with_its_digest_and_signature(registry, skills, tmp_path):
    registry("add", skills("fetch-data"))
    exported = registry("export", "fetch-data", tmp_path / "out").json
    added = registry("add", exported["folder"], store="other").json[0]
    here, there = (registry("show", "fetch-data", store=store).json["current"] for store in ("store", "other"))
    assert added["digest"] == exported["digest"] == here["digest"] == there["digest"]
    assert (here["publicKey"], here["signature"]) == (there["publicKey"], there["signature"])
    assert registry("events", "verify", store="other").json == {"whole": True, "events": 1}


def test_each_change_is_in_the_audit_with_its_object_and_the_owner(registry, run, skills, tmp_path, monkeypatch):
    monkeypatch.setenv("CORTEX_AUDIT__JOURNAL", "on")
    registry("add", skills("fetch-data"))
    for words in (("trust", "fetch-data", "4"), ("deprecate", "fetch-data", "old"), ("purge", "fetch-data")):
        registry(*words)
    about = ("--about", "mayros/fetch-data")
    found = run("audit", "search", "--folder", tmp_path / "store.audit", *about, "--json").json
    assert [(each["event"], each["data"]["before"], each["data"]["after"]) for each in reversed(found)] == [
        ("registry.register", None, "version 1, human, released, tier 3"),
        ("registry.trust", "version 1, human, released, tier 3", "version 1, human, released, tier 4"),
        ("registry.deprecate", "version 1, human, released, tier 4", "version 1, human, deprecated, tier 4"),
        ("registry.delete", "version 1, human, deprecated, tier 4", None),
    ]
    assert {(each["data"]["kind"], each["data"]["door"]) for each in found} == {("owner", "command")}
    assert found[1]["data"]["reason"] == "old"


@pytest.fixture
def machine(registry, run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Runs commands on one of two machines: separate keys, trust and stores."""

    def at(name: str, *args: str | Path, group: str = "registry"):
        monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / name / "data"))
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / name / "config"))
        return registry(*args, store=f"{name}-store") if group == "registry" else run(group, *map(str, args), "--json")

    return at


@pytest.mark.parametrize("form", ["agentskills", "ai-memory"])
def test_two_machines_exchange_a_skill_with_everything_verified(machine, skills, tmp_path, form):
    folder = skills("fetch-data", more="license: MIT\nmetadata: {level: 1.0, yes: null}\n")
    (folder / "scripts").mkdir()
    (folder / "scripts/run.py").write_bytes(b"print()\r\n\x00")
    (folder / "scripts/run.py").chmod(0o755)
    machine("one", "add", folder, "--sign")
    exported = machine("one", "export", "fetch-data", tmp_path / "sent", "--form", form).json["folder"]
    here = machine("one", "show", "fetch-data").json
    assert machine("two", "add", exported).json[0]["digest"] == here["current"]["digest"]
    there = machine("two", "show", "fetch-data").json
    same = ("digest", "compatDigest", "publicKey", "signature")
    assert [there["current"][name] for name in same] == [here["current"][name] for name in same]
    assert there["document"] == here["document"]
    assert (here["current"]["attest"], there["current"]["attest"]) == ("self_signed", "unknown_key")
    machine("two", "add", "acme", here["current"]["publicKey"], group="trust")
    assert machine("two", "show", "fetch-data").json["current"]["attest"] == "publisher_signed"
    assert machine("two", "history", "fetch-data").json[0]["attest"] == "publisher_signed"
    assert machine("two", "list", "--origin", "human").json[0]["current"]["attest"] == "publisher_signed"
    for name, events in (("one", 2), ("two", 1)):
        assert machine(name, "events", "verify").json == {"whole": True, "events": events}
    own = machine("two", "events", "list").json[0]["key"]
    assert own != here["current"]["publicKey"]  # each machine signs its events with its key


def test_a_changed_export_is_neither_signed_nor_built_and_validate_warns_of_it(machine, run, skills, tmp_path):
    machine("one", "add", skills("fetch-data"))
    folder = Path(machine("one", "export", "fetch-data", tmp_path / "sent").json["folder"])
    commands = (
        ("sign", folder),
        ("package", "build", folder, "--publisher", "acme", "--version", "1.0.0", "-o", tmp_path / "a.palyra-skill"),
    )
    report = run("validate", str(folder), "--json").json["skills"][0]
    assert (report["valid"], report["warnings"]) == (True, [])
    manifest = folder / "SKILL.md"
    manifest.write_text(manifest.read_text().replace("Fetches data", "Sends data"))
    [warning] = run("validate", str(folder), "--json").json["skills"][0]["warnings"]
    assert "was changed after its export" in warning["message"]
    for command in commands:
        refused = run(*map(str, command), "--json")
        assert (refused.exit_code, refused.error["code"]) == (1, "export_changed")
    assert not (tmp_path / "a.palyra-skill").exists()
    (folder / ".cortex-registry.json").unlink()
    assert [run(*map(str, command), "--json").exit_code for command in commands] == [0, 0]


def test_what_was_changed_on_the_way_is_not_signed_by_its_publisher(machine, skills, tmp_path):
    machine("one", "add", skills("fetch-data"), "--sign")
    folder = Path(machine("one", "export", "fetch-data", tmp_path / "sent").json["folder"])
    sender = machine("one", "show", "fetch-data").json["current"]["publicKey"]
    machine("two", "add", "acme", sender, group="trust")
    manifest = folder / "SKILL.md"
    manifest.write_text(manifest.read_text().replace("Fetches data", "Sends data"))
    tampered = machine("two", "add", folder)
    assert (tampered.exit_code, tampered.error["code"]) == (1, "export_changed")
    assert machine("two", "list", "--origin", "human").json == []
    accepted = machine("two", "add", folder, "--accept-changed")
    assert "registered as another document" in accepted.stderr
    changed = machine("two", "show", "fetch-data").json["current"]
    assert (changed["attest"], changed["publicKey"]) == ("unsigned", None)
    sidecar = folder / ".cortex-registry.json"
    forged = json.loads(sidecar.read_text()) | {name: changed[name] for name in ("digest", "compatDigest")}
    sidecar.write_text(json.dumps(forged))
    refused = machine("two", "add", folder)
    assert (refused.exit_code, refused.error["code"]) == (1, "signature_invalid")
    assert machine("two", "history", "fetch-data").json[-1]["attest"] == "unsigned"
    sidecar.unlink()
    assert machine("two", "add", folder).json[0]["attest"] == "unsigned"
    signed = machine("two", "add", folder, "--sign").json[0]
    assert (signed["created"], signed["version"], signed["attest"]) == (True, 2, "self_signed")
    assert machine("two", "events", "verify").json["whole"] is True


def test_one_bad_folder_stops_no_other_and_is_reported(registry, skills):
    skills("good")
    (skills("bad") / "SKILL.md").write_text("---\nname: bad\n---\n")
    answer = registry("add", skills("good").parent)
    assert [entry["skill"] for entry in answer.json] == ["mayros/good"]
    assert (answer.exit_code, answer.error["code"]) == (1, "manifest_invalid")


def test_each_error_of_a_folder_of_skills_names_its_folder(registry, skills):
    made = {
        "colon": b"---\nname: colon\ndescription: A text with: a colon\n---\n",
        "latin": b"---\nname: latin\ndescription: caf\xe9\n---\n",
        "empty": b"",
        "long": b"---\nname: " + b"n" * 65 + b"\ndescription: d\n---\n",
        "lonely": b"---\nname: lonely\ndescription: d\ndepends_on: [nobody]\n---\n",
    }
    for name, data in made.items():
        (skills(name) / "SKILL.md").write_bytes(data)
    root = skills("good").parent
    answer = registry("add", root)
    errors = [json.loads(line) for line in answer.stderr.splitlines() if '"code"' in line]
    assert {error["details"]["folder"] for error in errors} == {str(root / name) for name in made}
    assert all(error["message"].startswith(f"{error['details']['folder']}: ") for error in errors)
    assert "['" not in answer.stderr
    latin = next(error for error in errors if error["details"]["folder"].endswith("latin"))
    assert latin["message"].splitlines()[1] == "  SKILL.md:document: is not UTF-8: byte 33 (save it as UTF-8)"


def test_what_looks_like_a_skill_and_is_not_read_is_named(registry, skills, tmp_path):
    outer = skills("good")
    root = outer.parent
    for place, name in (
        ("good/inner", "SKILL.md"),
        ("group/deep/er", "SKILL.md"),
        ("lower", "skill.md"),
        (".hidden/x", "SKILL.md"),
        ("node_modules/x", "SKILL.md"),
        ("nothing", "README.md"),
    ):
        (root / place).mkdir(parents=True)
        (root / place / name).write_text(TEXT.format(name="x", more=""))
    (root / "link").symlink_to(outer)
    notes = [json.loads(line)["note"] for line in registry("add", root).stderr.splitlines() if '"note"' in line]
    named = {note.partition(":")[0].removeprefix(f"{root}/") for note in notes if "is skipped" in note}
    assert named == {"good/inner/SKILL.md", "group/deep/er/SKILL.md", "lower/skill.md"}
    refused = registry("add", root / "group")
    assert (refused.error["code"], str(root / "group/deep/er") in refused.error["hint"]) == ("invalid_arguments", True)
    refused = registry("add", root / "lower")
    assert "is not called SKILL.md (rename it)" in refused.error["hint"]


def test_a_reason_is_given_as_a_word_or_as_an_option_and_once(registry, skills):
    registry("add", skills("one"))
    registry("add", skills("two"))
    assert registry("deprecate", "one", "too old").json["reason"] == "too old"
    assert registry("deprecate", "two", "--reason", "too new").json["reason"] == "too new"
    for words in ((), ("a", "--reason", "b"), ("",), ("--reason", "")):
        assert registry("deprecate", "one", *words).error["code"] == "invalid_arguments"


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


@pytest.mark.parametrize("name", ["../x", "A", "a//c", "a b", ""])
def test_a_name_that_is_none_is_refused(registry, skills, name):
    registry("add", skills("base"))
    assert registry("show", name).error["code"] == "invalid_arguments"


def test_a_run_that_waits_is_listed_learned_by_name_and_verified_by_a_person(registry, run, tmp_path, monkeypatch):
    from cortex_skills import Config, Plugin

    monkeypatch.setenv("CORTEX_LEARNING__ENABLED", "true")
    monkeypatch.setenv("CORTEX_LEARNING__RUNS", str(tmp_path / "runs"))
    overrides = {"store": str(tmp_path / "store")}
    assert registry("learn").json == []
    for path in ("a.csv", "b.csv"):
        with Plugin.open(Config.load(overrides=overrides), registers=False) as plugin:
            plugin.record("fs_read", arguments={"path": path, "password": "hunter2"})
            plugin.record("fs_write", arguments={"path": "out.md"})
    latest, first = registry("learn").json
    assert [latest["calls"][0]["arguments"], first["calls"][0]["arguments"]["path"]] == [
        {"path": "b.csv", "password": "[redacted]"},
        "a.csv",
    ]
    assert registry("learn", "--name", "test-it").error["code"] == "invalid_arguments"
    learned = registry("learn", "--name", "refresh-the-report", "--run", first["id"]).json
    assert (learned["skill"], learned["version"], learned["merged"]) == ("mayros/refresh-the-report", 1, None)
    again = registry("learn", "--name", "refresh-the-report").json
    assert (again["version"], again["merged"]) == (2, "mayros/refresh-the-report-2")
    assert registry("learn").json == []
    assert registry("learn", "--name", "refresh-the-report").error["code"] == "invalid_arguments"
    shown = registry("show", "refresh-the-report", "--version", "1")
    learned_in = {"session": first["session"], "agent": first["agent"], "time": first["time"]}
    assert shown.json["shown"]["learnedIn"] == learned_in
    gain = {"successes": 0, "outcomes": 0, "successes_without": 2, "outcomes_without": 2}
    assert registry("show", "refresh-the-report").json["gain"] == gain
    refused = registry("promote", "refresh-the-report")
    assert (refused.exit_code, refused.error["code"]) == (1, "gain_not_measured")
    assert registry("promote", "refresh-the-report", "--unmeasured").json["lifecycle"] == "verified"
    assert registry("events", "verify").json["whole"] is True
