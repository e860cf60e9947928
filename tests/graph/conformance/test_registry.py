"""Every store that has claims keeps the registry of skills; one without has an error that states it."""

from __future__ import annotations

import pytest

from cortex_graph import GraphUnavailable
from cortex_graph.naming.names import Names
from cortex_graph.store import Pattern
from cortex_skills.features.registry.documents.document import SkillDocument, SkillResource, Step
from cortex_skills.features.registry.records.registry import SkillRegistry
from cortex_skills.features.registry.records.skill_record import SkillKey
from cortex_skills.features.registry.records.standing import count_session, outcomes_without
from cortex_skills.features.registry.reflections import memory_forgotten
from cortex_skills.keys import Key
from tests.graph.conformance.kinds import Subject

pytestmark = pytest.mark.timeout(400)

ONE, TWO = SkillKey("mayros", "one"), SkillKey("mayros", "two")


def document(name: str, **fields) -> SkillDocument:
    return SkillDocument.checked(**{"namespace": "mayros", "name": name, "description": "d\u00e9j\u00e0 vu"} | fields)


@pytest.fixture
def registry(subject: Subject) -> SkillRegistry:
    registry = SkillRegistry(subject.store, Names("shelf"), lambda: Key("local", b"\1" * 32))
    if not subject.kind.any_graph:
        with pytest.raises(GraphUnavailable):
            registry.register(document("one"), actor="ada", origin="human")
        pytest.skip("a store of namespaces only has no registry, and says so")
    subject.store.apply(remove=list(subject.store.quads(Pattern(registry.terms.graph))))
    return registry


def test_a_skill_is_registered_changed_merged_and_verified(registry: SkillRegistry) -> None:
    resources = (SkillResource("scripts/a.sh", b"\0\xff" * 100), SkillResource("empty", b""))
    first = document("one", body='"quoted"\n\\n\ttab\r\n', resources=resources, metadata={"n": 1.5, "x": None})
    version = registry.register(first, actor="ada", origin="learned").version
    assert registry.document(registry.version(version.id)) == first
    registry.register(document("two", steps=(Step("look", "fs_read"),)), actor="ada", origin="learned")
    second = registry.register(first.changed(depends_on=("two",)), actor="ada", origin="learned").version
    assert (second.number, second.previous) == (2, version.id)
    assert registry.dependents(TWO) == [ONE]
    record = registry.outcome(ONE, success=True, actor="agent")
    assert registry.record(ONE) == record
    assert registry.promote(ONE, actor="ada", unmeasured=True).standing.lifecycle == "verified"
    registry.register(first, actor="ada", origin="learned")
    merged = registry.merge(ONE, TWO, actor="ada").version
    assert registry.document(merged).steps == (Step("look", "fs_read"),)
    assert registry.record(TWO).standing.lifecycle == "archived"
    assert [record.key for record in registry.all_records()] in ([ONE, TWO], [TWO, ONE])
    assert registry.verify_events() is None
    assert registry.log.count() == 7
    for _ in range(2):
        assert count_session(registry, ["fs_read", "fs_write"], [], actor="ada")
    assert count_session(registry, ["fs_read"], ["fs_write"], actor="ada")
    assert outcomes_without(registry, ["fs_read", "fs_write"]) == (2, 3)
    memory = registry.terms.names.node("shelf:memory:" + "0" * 32)
    registry.register(document("three"), actor="ada", origin="learned", memories=[memory])
    assert registry.record(SkillKey("mayros", "three")).edges.memories == (memory,)
    assert memory_forgotten(registry, "0" * 32, actor="ada") == [SkillKey("mayros", "three")]
    assert registry.record(SkillKey("mayros", "three")).standing.lifecycle == "degraded"
    assert memory_forgotten(registry, "0" * 32, actor="ada") == []
    registry.purge(TWO, actor="ada")
    assert registry.find(TWO) is None
