"""The procedural skills of the package."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from click.testing import CliRunner
from skills_ref.validator import validate

from cortex_graph import GraphError, open_store
from cortex_graph.exceptions import GraphUnavailable
from cortex_graph.naming.names import Names
from cortex_graph.store import GraphStore, Pattern
from cortex_skills import Plugin
from cortex_skills.doors.cli.app import program
from cortex_skills.enrichment.text_lines import clean_lines
from cortex_skills.errors import CortexError
from cortex_skills.features.registry.documents.skill_md import inline_document
from cortex_skills.features.registry.folders import read_skill_folder, skill_folders_in
from cortex_skills.features.registry.records.registry import SkillRegistry
from cortex_skills.features.registry.records.skill_record import SkillKey
from cortex_skills.features.registry.sources import FOLDER, package_skills, update_package_skills
from cortex_skills.features.registry.views import ORDINARY
from cortex_skills.skill_folder.builtin import NOTEBOOK, builtin_skill
from cortex_skills.tools import own_tools
from tests.configs import config
from tests.explorer.http.browsing import CLICKED, signed_in
from tests.server.serving import served

NAMES = {
    *("plan-complex-tasks", "handle-failure-recovery", "reflect-on-outcomes", "use-episodic-memory"),
    *("extract-semantic-knowledge", "learn-procedural-skills", "diagnose-agent-failures", "profile-performance"),
    *("analyze-errors", "design-tool-interface", "test-code-reliability", "implement-database-changes"),
}


def opened(store: GraphStore) -> SkillRegistry:
    return SkillRegistry(store, Names("mayros"), lambda: None, package=package_skills("mayros"))


@pytest.fixture
def registry() -> SkillRegistry:
    return opened(open_store("memory:"))


def key(name: str) -> SkillKey:
    return SkillKey("mayros", name)


@pytest.mark.parametrize("folder", skill_folders_in(FOLDER), ids=lambda folder: folder.name)
def test_a_skill_of_the_package_is_valid_names_known_tools_and_holds_no_injection(folder: Path) -> None:
    assert validate(folder) == []
    read = read_skill_folder(folder, "mayros")
    assert read.warnings == ()
    tools = {step.tool for step in read.document.steps if step.tool}
    assert tools
    assert tools <= own_tools().keys()
    assert clean_lines(read.document.body, ORDINARY).removed == 0


def test_every_registry_has_them_and_reading_writes_nothing(registry: SkillRegistry) -> None:
    records = list(registry.all_records())
    assert {record.key.name for record in records} == NAMES
    assert {(r.standing.origin, r.standing.lifecycle, r.standing.trust_tier) for r in records} == {
        ("builtin", "released", 4)
    }
    version = registry.current(key("analyze-errors"))
    assert [each.id for each in registry.versions(key("analyze-errors"))] == [version.id]
    assert registry.version(version.id) == version
    assert registry.document(version).name == "analyze-errors"
    assert set(registry.keys()) == {record.key for record in records}
    assert registry.store.count(Pattern(registry.terms.graph)) == 0


def test_other_processes_know_their_versions_by_the_same_ids() -> None:
    ids = [{record.version_id for record in opened(open_store("memory:")).all_records()} for _ in range(2)]
    assert ids[0] == ids[1]
    assert len(ids[0]) == len(NAMES)


def test_the_first_change_of_one_stores_it_alone_with_one_event(registry: SkillRegistry) -> None:
    before = registry.document(registry.current(key("analyze-errors")))
    version_id = registry.record(key("analyze-errors")).version_id
    registry.deprecate(key("analyze-errors"), "Not ours.", actor="ada")
    plain = SkillRegistry(registry.store, Names("mayros"), lambda: None)
    record = plain.record(key("analyze-errors"))
    assert (record.standing.lifecycle, record.standing.reason, record.version_id) == (
        "deprecated",
        "Not ours.",
        version_id,
    )
    assert plain.document(plain.current(key("analyze-errors"))) == before
    assert [event.kind for event in registry.log.events()] == ["skill.deprecated"]
    assert {each.key.name for each in plain.all_records()} == {"analyze-errors"}
    assert sorted(each.key.name for each in registry.all_records()) == sorted(NAMES)


@pytest.mark.parametrize(
    "change",
    [
        lambda r, k: r.outcome(k, success=True, actor="a1"),
        lambda r, k: r.loaded(k, 10, actor="a1"),
        lambda r, k: r.retire(k, actor="ada"),
        lambda r, k: r.trust(k, 2, actor="ada"),
        lambda r, k: r.rollback(k, 1, actor="ada"),
        lambda r, k: r.exported(k, r.current(k), actor="ada"),
        lambda r, k: r.report(k, success=True, actor="a1"),
        lambda r, k: r.merge(k, SkillKey("mayros", "profile-performance"), actor="ada"),
        lambda r, k: r.register(
            r.document(r.current(k)).changed(description="Next."), actor="cortex-skills", origin="builtin"
        ),
    ],
)
def test_what_is_changed_is_the_same_read_with_the_package_and_without_it(
    registry: SkillRegistry, change: Callable[[SkillRegistry, SkillKey], object]
) -> None:
    change(registry, key("analyze-errors"))
    plain = SkillRegistry(registry.store, Names("mayros"), lambda: None)
    stored = {record.key: record for record in plain.all_records()}
    assert {record.key: record for record in registry.all_records()}.items() >= stored.items()
    assert len(list(registry.all_records())) == len(NAMES)
    for each in stored:
        assert plain.versions(each) == registry.versions(each)
        assert [plain.document(version) for version in plain.versions(each)]
    assert registry.verify_events() is None


def test_pages_list_each_of_them_once_wherever_they_end(registry: SkillRegistry) -> None:
    for number in range(5):
        document = inline_document({"name": f"skill-n{number}", "description": "d"}, "mayros")
        registry.register(document, actor="ada", origin="human")
    registry.deprecate(key("analyze-errors"), "r", actor="ada")
    for limit in range(1, 20):
        found, cursor, pages = [], None, 0
        while pages == 0 or cursor is not None:
            records, cursor = registry.records(cursor, limit)
            assert len(records) <= limit
            found += [record.key.name for record in records]
            pages += 1
        assert sorted(found) == sorted({*NAMES, *(f"skill-n{number}" for number in range(5))}), limit
    with pytest.raises(GraphError, match="cursor"):
        registry.records("packagex", 5)


def test_one_of_them_is_read_and_changed_by_several_threads_while_it_is_stored() -> None:
    store = open_store("memory:")
    registries = [opened(store) for _ in range(6)]
    problems: list[BaseException] = []

    def used(registry: SkillRegistry) -> None:
        try:
            for _ in range(3):
                registry.loaded(key("analyze-errors"), 10, actor="a1")
                assert key("analyze-errors") in {each.key for each in registry.all_records()}
                assert len(registry.versions(key("analyze-errors"))) == 1
        except BaseException as error:
            problems.append(error)

    threads = [Thread(target=used, args=(registry,)) for registry in registries]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert registries[0].record(key("analyze-errors")).quality.loads == registries[0].log.count() == 18


def test_a_skill_can_depend_on_one_of_them(registry: SkillRegistry) -> None:
    mine = inline_document({"name": "mine", "description": "d", "depends_on": ["analyze-errors"]}, "mayros")
    registry.register(mine, actor="ada", origin="human")
    assert registry.dependents(key("analyze-errors")) == [key("mine")]
    with pytest.raises(CortexError, match="depend"):
        registry.retire(key("analyze-errors"), actor="ada")


def test_one_of_them_is_archived_and_not_deleted(registry: SkillRegistry) -> None:
    with pytest.raises(CortexError, match="is a skill of the package, which stays") as refused:
        registry.purge(key("analyze-errors"), actor="ada")
    assert refused.value.code == "state_conflict"
    registry.retire(key("analyze-errors"), actor="ada")
    assert registry.record(key("analyze-errors")).standing.lifecycle == "archived"


def test_a_skill_of_a_person_takes_the_name_of_one_of_them_and_is_deleted_again(registry: SkillRegistry) -> None:
    mine = inline_document({"name": "analyze-errors", "description": "Mine."}, "mayros")
    registry.register(mine, actor="ada", origin="human")
    assert registry.record(key("analyze-errors")).standing.origin == "human"
    update_package_skills(registry)
    assert registry.current(key("analyze-errors")).description == "Mine."
    assert len(list(registry.all_records())) == len(NAMES)
    registry.purge(key("analyze-errors"), actor="ada")
    assert registry.record(key("analyze-errors")).standing.origin == "builtin"


def test_a_newer_package_makes_a_new_version_and_an_older_one_does_not_take_it_back(registry: SkillRegistry) -> None:
    known = registry.document(registry.current(key("analyze-errors")))
    older = SkillRegistry(registry.store, Names("mayros"), lambda: None)
    older.register(known.changed(description="Older."), actor="cortex-skills", origin="builtin")
    update_package_skills(registry)
    assert registry.document(registry.current(key("analyze-errors"))) == known
    registry.register(known.changed(description="Newer."), actor="cortex-skills", origin="builtin")
    update_package_skills(registry)
    assert registry.current(key("analyze-errors")).description == "Newer."
    assert registry.record(key("analyze-errors")).standing.trust_tier == 4


@pytest.mark.parametrize("registers", [True, False])
def test_every_door_has_them_before_any_agent_used_the_registry(tmp_path: Path, registers: bool) -> None:
    settings = config(cortex={"tokenFile": str(tmp_path / "tokens.json")}, tools={"profiles": ["core", "registry"]})
    plugin = Plugin.open(settings, registers=registers)
    assert {record.key.name for record in plugin.registry.all_records()} == NAMES
    with served(tmp_path, plugin=plugin) as running:
        for namespace in ("mayros", "shop"):
            client = running.client(running.token("reader", ("mayros", "shop"), ("read",)))
            listed = client.get("/api/skills", params={"namespace": namespace}).json()
            assert {each["name"] for each in listed} == NAMES
            found = client.get("/api/skills/find", params={"namespace": namespace, "query": "a tool call failed"})
            assert found.json()["skills"][0]["namespace"] == namespace
        browser = signed_in(running, running.token("reader", ("mayros", "shop"), ("read",)))
        assert "plan-complex-tasks" in browser.get("/explore/registry", headers=CLICKED).text
        assert plugin.registry.log.count() == 0


def test_the_command_lists_and_shows_them_without_writing_a_store(tmp_path: Path) -> None:
    place = ("--store", str(tmp_path / "none"), "--namespace", "shop", "--json")
    (tmp_path / "none").mkdir()
    listed = json.loads(CliRunner().invoke(program, ["registry", "list", *place]).stdout)
    assert {each["name"] for each in listed} == NAMES
    shown = json.loads(CliRunner().invoke(program, ["registry", "show", "analyze-errors", *place]).stdout)
    assert (shown["origin"], shown["namespace"], shown["health"]["overall"] > 0) == ("builtin", "shop", True)
    assert list((tmp_path / "none").iterdir()) == []


def test_an_agent_finds_and_loads_them_with_the_notebook(tmp_path: Path) -> None:
    settings = config(tools={"profiles": ["core", "registry"]}, proofs={"keys": str(tmp_path / "keys")})
    with Plugin.open(settings) as plugin:
        plugin.load(builtin_skill(NOTEBOOK))
        found = plugin.call("skill_find", {"query": "a tool call failed, recover"}).details["skills"]
        assert found[0]["name"] == "handle-failure-recovery"
        loaded = plugin.call("load_skill", {"name": "handle-failure-recovery"})
        assert loaded.details["strippedCount"] == 0
        assert "Read the error whole" in loaded.text
        assert plugin.call("skill_write", {"operation": "delete", "name": "analyze-errors"}).code == "permission_denied"
        listed = plugin.context()
        assert all(f"★ {name}: " in listed for name in {*NAMES, NOTEBOOK})


def test_a_store_that_cannot_be_written_to_has_them_too(tmp_path: Path) -> None:
    open_store(str(tmp_path / "store")).close()
    with Plugin.open(config(store=str(tmp_path / "store")), as_of="2026-01-31", registers=True) as plugin:
        plugin.load(builtin_skill(NOTEBOOK))
        assert len(plugin.call("skill_read", {"limit": 100}).details["skills"]) == len(NAMES)
        assert "Read the error whole" in plugin.call("skill_read", {"name": "handle-failure-recovery"}).text
    registry = opened(ReadOnly(open_store("memory:")))
    assert {record.key.name for record in registry.all_records()} == NAMES
    with pytest.raises(GraphError):
        registry.deprecate(key("analyze-errors"), "r", actor="ada")
    assert registry.record(key("analyze-errors")).standing.lifecycle == "released"


class ReadOnly:
    """A store that nobody may write to."""

    def __init__(self, store: GraphStore) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        if name in ("insert", "remove", "apply", "apply_at", "apply_claimed", "bulk_insert", "bulk_load"):
            return self._refuse
        return getattr(self._store, name)

    @staticmethod
    def _refuse(*_: object, **__: object) -> Any:
        raise GraphUnavailable("the store is read-only")
