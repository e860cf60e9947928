"""The indexes of a store: of resources, of memories, of skills. Each is written to and searched in the same way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from cortex_graph import NamespacedGraph
from cortex_graph.naming.names import Names
from cortex_graph.store import GraphStore
from cortex_skills.features.finder.entities import EntityIndex
from cortex_skills.features.finder.entity_documents import EntityDocuments
from cortex_skills.features.finder.entity_follower import EntityFollower
from cortex_skills.features.finder.index_follower import IndexFollower
from cortex_skills.features.finder.kept_documents import KeptDocuments
from cortex_skills.features.finder.owned_documents import OwnedDocuments
from cortex_skills.features.memory.memories import Memories
from cortex_skills.features.memory.memory_follower import MemoryFollower
from cortex_skills.features.memory.requests import memory_query, new_memory
from cortex_skills.features.registry.documents.document import SkillDocument
from cortex_skills.features.registry.records.registry import SkillRegistry
from cortex_skills.features.registry.skill_finder import SkillFinder
from cortex_skills.features.registry.skill_index import SkillFollower


@dataclass(frozen=True)
class OneIndex:
    """An index: how something with a name and the word `carrots` is added, and the names of what has that word."""

    add: Callable[[GraphStore, str], object]
    found: Callable[[GraphStore], list[str]]
    follower: type[IndexFollower]
    documents: type[KeptDocuments]


def _resource(store: GraphStore, name: str) -> None:
    NamespacedGraph(store, "m").create_triple({"subject": name, "predicate": "note", "object": "grates carrots"})


def _resources(store: GraphStore) -> list[str]:
    found = EntityIndex(NamespacedGraph(store, "m"), timeout_s=60).find("carrots", limit=100)
    assert found.complete, found.reason
    return sorted(hit.subject.value.rpartition(":")[2] for hit in found.hits)


def _memory(store: GraphStore, name: str) -> None:
    Memories(NamespacedGraph(store, "m")).remember(new_memory(f"carrots {name}"), agent="a1")


def _memories(store: GraphStore) -> list[str]:
    recalled = Memories(NamespacedGraph(store, "m")).recall(
        memory_query("carrots", {"limit": 50}), agent="a1", timeout_s=60
    )
    return sorted(memory.text.rpartition(" ")[2] for memory, _ in recalled.found)


def _registry(store: GraphStore) -> SkillRegistry:
    return SkillRegistry(store, Names("m"), lambda: None)


def _skill(store: GraphStore, name: str) -> None:
    document = SkillDocument.checked(namespace="m", name=name, description="Grates carrots.")
    _registry(store).register(document, actor="ada", origin="human")


def _skills(store: GraphStore) -> list[str]:
    return sorted(
        each.record.key.name for each in SkillFinder(_registry(store)).find("carrots", 100, timeout_s=60).skills
    )


INDEXES = {
    "resources": OneIndex(_resource, _resources, EntityFollower, EntityDocuments),
    "memories": OneIndex(_memory, _memories, MemoryFollower, OwnedDocuments),
    "skills": OneIndex(_skill, _skills, SkillFollower, OwnedDocuments),
}
