"""Skills are registered, changed, merged and removed, each with its event; nothing is lost or forged."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from pyoxigraph import Literal, Quad

from cortex_graph import open_store
from cortex_graph.naming.names import Names
from cortex_graph.store import Pattern
from cortex_skills import Config, Plugin
from cortex_skills.errors import CortexError
from cortex_skills.features.registry.documents.document import (
    SkillDocument,
    SkillResource,
    Step,
    blob_paths,
    compat_digest,
    digest,
)
from cortex_skills.features.registry.records import terms
from cortex_skills.features.registry.records.registry import SkillRegistry
from cortex_skills.features.registry.records.skill_record import SkillKey, VersionSignature
from cortex_skills.keys import Key
from tests.registry.drawn import documents

KEY = Key("local", b"\1" * 32)


def registry_in(store) -> SkillRegistry:
    return SkillRegistry(store, Names("mayros"), lambda: KEY)


@pytest.fixture
def registry() -> SkillRegistry:
    return registry_in(open_store("memory:"))


def skill(name: str = "fetch-data", **fields) -> SkillDocument:
    return SkillDocument.checked(**{"namespace": "mayros", "name": name, "description": "Fetches data."} | fields)


def key(name: str = "fetch-data") -> SkillKey:
    return SkillKey("mayros", name)


def add(registry: SkillRegistry, name: str = "fetch-data", origin: str = "human", **fields):
    return registry.register(skill(name, **fields), actor="ada", origin=origin)


def code_of(call) -> str:
    with pytest.raises(CortexError) as caught:
        call()
    return caught.value.code


@settings(max_examples=40, deadline=None)
@given(documents())
def test_what_was_registered_is_read_back_with_both_digests(document):
    document = document.changed(depends_on=())
    registry = registry_in(open_store("memory:"))
    version = registry.register(document, actor="ada", origin="human").version
    again = registry.document(registry.version(version.id))
    assert again == document
    assert (version.digest, version.compat_digest) == (digest(document), compat_digest(document))


def test_versions_are_numbered_and_the_earlier_ones_stay(registry):
    first = add(registry, body="one\n").version
    second = add(registry, body="two\n").version
    assert (first.number, second.number, second.previous) == (1, 2, first.id)
    assert registry.document(first).body == "one\n"
    assert registry.current(key()).id == second.id
    assert [event.kind for event in registry.log.events()] == ["skill.registered", "skill.superseded"]


def test_the_same_document_is_registered_once(registry):
    first, again = add(registry), add(registry)
    assert (first.created, again.created, again.version.id) == (True, False, first.version.id)
    assert registry.log.count() == 1


def test_a_version_that_is_not_the_current_one_any_more_is_not_followed(registry):
    first = add(registry, body="one\n").version
    second = registry.register(skill(body="two\n"), actor="ada", origin="human", expected_version=first.id).version
    for body in ("three\n", "two\n"):
        with pytest.raises(CortexError) as caught:
            registry.register(skill(body=body), actor="bob", origin="human", expected_version=first.id)
        assert caught.value.code == "skill_changed"
        assert caught.value.message.startswith(
            "mayros/fetch-data has version 2 now, and the change was made in another"
        )
        assert caught.value.details == {"expected": first.id, "current": second.id}
    absent = lambda: registry.register(skill("other"), actor="a", origin="human", expected_version=first.id)  # noqa: E731
    assert code_of(absent) == "skill_changed"
    assert registry.find(key("other")) is None
    assert registry.log.count() == 2


def test_a_version_that_another_writer_registers_in_between_is_not_overwritten():
    store = open_store("memory:")
    first = add(registry_in(store), body="one\n").version
    others = iter([lambda: add(registry_in(store), body="theirs\n")])

    def signer() -> Key:  # is asked after the first look at the registry, and before the change is written
        next(others, lambda: None)()
        return KEY

    mine = SkillRegistry(store, Names("mayros"), signer)
    save = lambda: mine.register(skill(body="mine\n"), actor="bob", origin="human", expected_version=first.id)  # noqa: E731
    assert code_of(save) == "skill_changed"
    versions = registry_in(store).versions(key())
    assert [registry_in(store).document(version).body for version in versions] == ["one\n", "theirs\n"]


def test_of_saves_at_the_same_time_exactly_one_passes(tmp_path):
    store = open_store(str(tmp_path / "store"))
    first = add(registry_in(store)).version
    together = threading.Barrier(4)

    def save(number: int) -> str:
        together.wait(10)
        try:
            document = skill(body=f"{number}\n")
            registry_in(store).register(document, actor=str(number), origin="human", expected_version=first.id)
        except CortexError as error:
            return error.code
        return "saved"

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(save, range(4))) == ["saved", "skill_changed", "skill_changed", "skill_changed"]
    assert len(registry_in(store).versions(key())) == 2
    store.close()


def test_a_rollback_is_a_new_version_of_the_old_document(registry):
    first = add(registry, body="one\n").version
    add(registry, body="two\n")
    third = registry.rollback(key(), 1, actor="ada").version
    assert (third.number, third.digest) == (3, first.digest)


def test_a_taken_name_is_refused_where_the_skill_must_be_new(registry):
    add(registry)
    refused = code_of(lambda: registry.register(skill(body="x"), actor="a", origin="human", create_only=True))
    assert refused == "skill_exists"


@pytest.mark.parametrize("owner", ["human", "builtin"])
def test_a_learned_skill_replaces_none_of_a_person_or_of_the_package(registry, owner):
    add(registry, origin=owner, body="theirs\n")
    assert code_of(lambda: add(registry, origin="learned", body="mine\n")) == "skill_exists"
    add(registry, "other", origin="learned")
    assert code_of(lambda: registry.merge(key(), key("other"), actor="a")) == "skill_exists"
    assert registry.document(registry.current(key())).body == "theirs\n"


def test_an_unknown_name_is_refused_with_similar_ones(registry):
    add(registry)
    with pytest.raises(CortexError) as caught:
        registry.record(key("fetch-dato"))
    assert caught.value.message == "mayros/fetch-dato is not registered"
    assert caught.value.hint == "did you mean fetch-data?"
    with pytest.raises(CortexError, match="not registered"):
        registry.record(key("zebra"))


def test_dependencies_must_exist_and_have_no_cycle(registry):
    assert code_of(lambda: add(registry, "b", depends_on=("a",))) == "skill_not_found"
    add(registry, "a")
    add(registry, "b", depends_on=("a",))
    add(registry, "c", depends_on=("b",))
    with pytest.raises(CortexError, match="a → c → b → a") as caught:
        add(registry, "a", depends_on=("c",))
    assert caught.value.code == "state_conflict"
    assert registry.dependents(key("a")) == [key("b")]
    assert registry.dependencies(key("c")) == [key("b")]
    assert registry.log.count() == 3


def test_dependents_are_found_by_whole_names(registry):
    add(registry, "a-b")
    add(registry, "axb")
    add(registry, "user", depends_on=("axb",))
    assert registry.dependents(key("a-b")) == []


def test_a_skill_that_others_depend_on_is_not_removed(registry):
    add(registry, "a")
    add(registry, "b", depends_on=("a",))
    for remove in (registry.purge, registry.retire):
        with pytest.raises(CortexError) as caught:
            remove(key("a"), actor="ada")
        assert caught.value.code == "skill_in_use"
        assert caught.value.details == {"dependents": ["mayros/b"]}


def test_a_purged_skill_is_gone_with_all_versions_and_its_events_stay(registry):
    version = add(registry).version
    add(registry, body="x")
    registry.purge(key(), actor="ada")
    assert registry.find(key()) is None
    assert code_of(lambda: registry.version(version.id)) == "skill_not_found"
    assert [event.kind for event in registry.log.events()][-1] == "skill.purged"
    assert registry.verify_events() is None


def test_states_follow_the_table(registry):
    add(registry, origin="learned")
    states = [registry.record(key()).standing.lifecycle]
    states += [registry.promote(key(), actor="ada", unmeasured=True).standing.lifecycle for _ in range(2)]
    assert code_of(lambda: registry.promote(key(), actor="ada")) == "state_conflict"
    states.append(registry.deprecate(key(), "it is wrong", actor="ada").standing.lifecycle)
    assert registry.record(key()).standing.reason == "it is wrong"
    restored = registry.promote(key(), actor="ada").standing
    assert (states, restored.lifecycle, restored.reason) == (
        ["candidate", "verified", "released", "deprecated"],
        "degraded",
        "",
    )
    registry.retire(key(), actor="ada")
    assert registry.unretire(key(), actor="ada").standing.lifecycle == "degraded"


def test_outcomes_change_the_counters_and_give_a_verified_skill_tier_two(registry):
    add(registry, origin="learned")
    registry.promote(key(), actor="ada", unmeasured=True)
    for _ in range(4):
        registry.outcome(key(), success=True, actor="agent")
    assert registry.record(key()).standing.trust_tier == 1
    record = registry.outcome(key(), success=True, actor="agent")
    assert (record.standing.trust_tier, record.quality.invocations, record.quality.successes) == (2, 5, 5)
    assert record.quality.utility == pytest.approx(0.5)
    assert registry.record(key()) == record
    loaded = registry.loaded(key(), 120, actor="agent").quality
    assert (loaded.loads, loaded.invocations, loaded.token_cost) == (1, 5, 120)


def test_maintenance_degrades_failing_learned_skills_once(registry):
    add(registry, "learned-one", origin="learned")
    add(registry, "human-one")
    for name in ("learned-one", "human-one"):
        for _ in range(5):
            registry.outcome(key(name), success=False, actor="agent")
    changed = registry.maintain(lambda _: 4, actor="ada")
    assert [(record.key.name, record.standing.lifecycle) for record in changed] == [("learned-one", "degraded")]
    assert registry.maintain(lambda _: 4, actor="ada") == []
    assert registry.record(key("human-one")).standing.lifecycle == "released"


def test_maintenance_searches_for_similar_skills_only_where_they_make_a_difference(registry):
    for name, outcomes in (("new", 0), ("good", 6), ("bad", 6)):
        add(registry, name, origin="learned")
        for _ in range(outcomes):
            registry.outcome(key(name), success=name == "good", actor="a1")
    asked = []

    def similar(record) -> int:
        asked.append(record.key.name)
        return 4

    changes = [(record.key.name, standing.lifecycle) for record, standing in registry.to_maintain(similar)]
    assert (changes, asked) == ([("bad", "degraded")], ["bad"])


def test_merging_joins_steps_bodies_counters_and_edges(registry):
    one, two, three = Step("look", "fs_read"), Step("think"), Step("act")
    add(registry, "target", origin="learned", steps=(one, two), body="A\n")
    add(registry, "source", origin="learned", steps=(two, three), body="B\n")
    add(registry, "user", depends_on=("source",))
    registry.outcome(key("target"), success=True, actor="a")
    registry.outcome(key("source"), success=False, actor="a")
    version = registry.merge(key("target"), key("source"), actor="ada").version
    document = registry.document(version)
    assert (version.number, document.steps, document.body) == (2, (one, two, three), "A\n\nB\n")
    record = registry.record(key("target"))
    assert (record.quality.invocations, record.quality.successes) == (2, 1)
    source = registry.record(key("source"))
    assert (source.standing.lifecycle, source.standing.reason) == ("archived", "merged into target")
    assert registry.dependents(key("target")) == [key("user")]
    assert code_of(lambda: registry.merge(key("target"), key("source"), actor="ada")) == "state_conflict"
    assert code_of(lambda: registry.merge(key("target"), key("target"), actor="ada")) == "invalid_arguments"
    assert code_of(lambda: registry.merge(key("target"), key("nothing"), actor="ada")) == "skill_not_found"


def test_merging_keeps_the_files_of_both_and_refuses_different_ones_with_one_path(registry):
    run, same = SkillResource("scripts/run.sh", b"#!/bin/sh\n", executable=True), SkillResource("b.txt", b"b")
    add(registry, "target", origin="learned", resources=(same, SkillResource("c.txt", b"c")))
    add(registry, "source", origin="learned", resources=(run, same))
    add(registry, "other", origin="learned", resources=(SkillResource("b.txt", b"other"),))
    count = registry.log.count()
    assert code_of(lambda: registry.merge(key("target"), key("other"), actor="ada")) == "state_conflict"
    assert registry.log.count() == count
    document = registry.document(registry.merge(key("target"), key("source"), actor="ada").version)
    assert [resource.path for resource in document.resources] == ["b.txt", "c.txt", "scripts/run.sh"]
    assert document.resources[2] == run


def test_a_changed_file_document_or_signature_is_found(registry):
    version = add(registry, resources=(SkillResource("scripts/a.sh", b"echo"),)).version
    node = registry.terms.version(version.id)
    blob = registry.terms.blob(blob_paths(version.front)["scripts/a.sh"])
    changes = {
        (blob, terms.BYTES): "graph_corrupt",
        (node, terms.FRONT_MATTER): "graph_corrupt",
        (node, terms.DIGEST): "graph_corrupt",
        (node, terms.SIGNATURE): "signature_invalid",
    }
    for (subject, predicate), code in changes.items():
        (old,) = registry.store.quads(Pattern(registry.terms.graph, subject, predicate))
        text = old.object.value
        new = Literal(("e" if text[0] != "e" else "f") + text[1:], datatype=old.object.datatype)
        changed = Quad(old.subject, old.predicate, new, old.graph_name)
        registry.store.apply([changed], [old])
        assert code_of(lambda: registry.document(registry.version(version.id))) == code, predicate
        registry.store.apply([old], [changed])
    assert registry.document(registry.version(version.id)).resources[0].data == b"echo"


def test_the_signature_of_a_publisher_is_kept_and_a_wrong_one_refused(registry):
    other = registry_in(open_store("memory:"))
    signed = SkillRegistry(other.store, Names("elsewhere"), lambda: Key("p", b"\2" * 32))
    version = signed.register(skill(), actor="p", origin="human").version
    given = VersionSignature(version.public_key, version.signature)
    here = registry.register(skill(), actor="ada", origin="human", signature=given).version
    assert (here.public_key, here.signature, here.digest) == (version.public_key, version.signature, version.digest)
    wrong = skill(body="another\n")
    assert code_of(lambda: registry.register(wrong, actor="e", origin="human", signature=given)) == "signature_invalid"


def test_a_changed_or_missing_event_is_found(registry):
    for number in range(5):
        add(registry, f"skill-{number}")
    assert registry.verify_events() is None
    graph, node = registry.terms.graph, registry.terms.event(3)
    quads = list(registry.store.quads(Pattern(graph, node)))
    registry.store.apply(remove=quads)
    fault = registry.verify_events()
    assert (fault.sequence, fault.problem) == (3, "is missing: the next event has the number 4")
    registry.store.apply(quads)
    (old,) = registry.store.quads(Pattern(graph, node, terms.ACTOR))
    registry.store.apply([Quad(node, terms.ACTOR, Literal("eve"), graph)], [old])
    assert registry.verify_events().sequence == 3


def test_writers_in_many_threads_fork_nothing(tmp_path):
    stores = [open_store(str(tmp_path / "store")) for _ in range(2)]
    registries = [registry_in(store) for store in stores]
    ready = threading.Barrier(8)

    def work(number: int) -> int:
        ready.wait()
        return (
            registries[number % 2].register(skill(body=f"{number}\n"), actor=str(number), origin="human").version.number
        )

    with ThreadPoolExecutor(8) as threads:
        numbers = sorted(threads.map(work, range(8)))
    assert numbers == list(range(1, 9))
    assert len(registries[0].versions(key())) == 8
    assert registries[1].log.count() == 8
    assert registries[1].verify_events() is None
    for store in stores:
        store.close()


def test_times_are_those_of_the_clock(registry):
    before = datetime.now(UTC)
    add(registry)
    assert before <= registry.record(key()).created <= datetime.now(UTC)


def test_a_plugin_opens_the_registry_of_its_namespace(tmp_path):
    with Plugin.open(Config(store="memory:", proofs={"keys": str(tmp_path / "keys")})) as plugin:
        version = plugin.registry.register(skill(), actor="ada", origin="human").version
        assert plugin.registry.document(version) == skill()
        assert version.public_key.startswith("did:key:z6Mk")
        assert plugin.registry.verify_events() is None
