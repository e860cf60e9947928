"""Skills that are made of reflections, and what becomes of them when a memory that they were made of changes.

Rules kept here:
- a reflection becomes the body of a learned skill, with the JSON Schema of its parameters below it, and each memory
  that it draws from the file `references/source_N.md`, from 0; all of them have to be there;
- the record names the reflection and its sources (`cortex:derivedFromMemory`), by their ids, which reveal no text;
- a memory that was forgotten, or has another text than the file, degrades the skills that were made of it, with the
  reason. Nothing raises a skill, and one that is out of use stays so;
- the maintenance of a registry only lowers a state: unused skills are deprecated; those that fail, or whose memories
  have changed, are degraded; a second run changes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, cast

from pyoxigraph import Literal, NamedNode

from cortex_graph.memory_graphs import memory_graphs
from cortex_graph.namespace.agent_graph import AgentGraph
from cortex_graph.naming.vocabulary import MEMORY_TEXT
from cortex_graph.store import Pattern
from cortex_skills.errors import CortexError
from cortex_skills.features.memory.memory_triples import MemoryReader, memory_node
from cortex_skills.features.memory.model import Memory
from cortex_skills.features.registry.documents.document import SkillDocument, SkillResource
from cortex_skills.features.registry.records import terms
from cortex_skills.features.registry.records.registry import Registered, SkillRegistry
from cortex_skills.features.registry.records.skill_record import SkillKey, SkillRecord
from cortex_skills.features.registry.skill_finder import SkillFinder
from cortex_skills.safe_io.schemas import first_error, shown

REFLECTION_ID, DEPTH, SOURCE_IDS = "derived_from_reflection_id", "original_reflection_depth", "reflection_source_ids"
PARAMETERS = "parameters_schema"
_OUT_OF_USE = ("degraded", "deprecated", "archived")


def register_reflection(
    registry: SkillRegistry,
    graph: AgentGraph,
    reflection_id: str,
    *,
    name: str,
    description: str,
    parameters_schema: dict[str, Any] | None = None,
    actor: str,
    author: str | None = None,
) -> tuple[Registered, Memory]:
    """Register a reflection of an agent as a learned skill.

    Args:
        registry: where the skill is registered.
        graph: the memories of the agent.
        reflection_id: the id of the reflection.
        name: of the skill.
        description: what it does and when to use it.
        parameters_schema: what it needs to know, as a JSON Schema.
        actor: the agent or the person.
        author: who registers it, as the interface knows them; the actor by default.

    Returns:
        The version, and the reflection.

    Raises:
        CortexError: `skill_not_found`: the agent has no such memory; `state_conflict`: it is an observation, or a
            source was forgotten; `skill_exists`; `manifest_invalid`.
    """
    reader = MemoryReader(graph)
    reflection = reader.one(reflection_id)
    if reflection is None:
        message = f"this agent has no memory {shown(reflection_id)}"
        raise CortexError("skill_not_found", message, hint="skill_memory_context answers the ids of memories")
    if not reflection.depth:
        message = f"the memory {reflection_id} is an observation, and only a reflection becomes a skill"
        raise CortexError("state_conflict", message, hint="skill_memory_reflect remembers what follows from it")
    sources = [reader.one(identifier) for identifier in reflection.reflects_on]
    if missing := [i for i, source in zip(reflection.reflects_on, sources, strict=True) if source is None]:
        message = f"{', '.join(missing)} was forgotten, on which the reflection {reflection_id} draws"
        raise CortexError("state_conflict", message, hint="reflect again on what is remembered")
    if parameters_schema is not None and (problem := _schema_problem(parameters_schema)):
        raise CortexError(
            "invalid_arguments",
            f"`{PARAMETERS}` is not a JSON Schema: {problem}",
            hint="give one of draft 2020-12, or leave it out",
            details={"field": PARAMETERS},
        )
    body = f"{reflection.text}\n"
    metadata: dict[str, Any] = {
        REFLECTION_ID: reflection.id,
        DEPTH: reflection.depth,
        SOURCE_IDS: list(reflection.reflects_on),
    }
    if parameters_schema is not None:
        metadata[PARAMETERS] = parameters_schema
        text = json.dumps(parameters_schema, ensure_ascii=False, indent=2, sort_keys=True)
        body += f"\n## Parameters\n\n```json\n{text}\n```\n"
    document = SkillDocument.checked(
        namespace=registry.terms.names.namespace,
        name=name,
        description=description,
        body=body,
        metadata=metadata,
        resources=tuple(
            SkillResource(source_path(place), f"{cast(Memory, source).text}\n".encode())
            for place, source in enumerate(sources)
        ),
    )
    nodes = [memory_node(graph.names, identifier) for identifier in (reflection.id, *reflection.reflects_on)]
    done = registry.register(document, actor=actor, origin="learned", create_only=True, memories=nodes, author=author)
    return done, reflection


def _schema_problem(given: dict[str, Any]) -> str:
    """Why a value is not a JSON Schema; empty if it is one. Nothing that it refers to is looked up."""
    from jsonschema_rs import Draft202012Validator

    error = first_error(Draft202012Validator({"$ref": "https://json-schema.org/draft/2020-12/schema"}), given)
    return "" if error is None else error.message[:200]


def source_path(place: int) -> str:
    """The file of a source, by its place from 0."""
    return f"references/source_{place}.md"


def made_of(registry: SkillRegistry, identifier: str) -> Pattern:
    """The pattern of the skills that were made of a memory."""
    node = memory_node(registry.terms.names, identifier)
    return Pattern(registry.terms.graph, None, terms.DERIVED_FROM_MEMORY, node)


def memory_forgotten(
    registry: SkillRegistry, identifier: str, *, actor: str, what: str = "forgotten"
) -> list[SkillKey]:
    """Degrade the skills that were made of a memory that was forgotten or corrected; returns the changed ones."""
    links = registry.store.quads(made_of(registry, identifier))
    found = sorted(registry.terms.key_of(cast(NamedNode, quad.subject)) for quad in links)
    reason = f"the memory {identifier}, which it was made of, was {what}"
    return [key for key in found if _degraded(registry, registry.record(key), reason, actor) is not None]


def check_memories(registry: SkillRegistry, record: SkillRecord, *, actor: str) -> SkillRecord:
    """The record of a skill, degraded if a memory that it was made of was forgotten or corrected."""
    if not record.edges.memories or record.standing.lifecycle in _OUT_OF_USE:
        return record
    reason = _changed_memory(registry, record)
    return record if not reason else _degraded(registry, record, reason, actor) or record


def check_all_memories(registry: SkillRegistry, *, actor: str) -> list[SkillRecord]:
    """Do what `check_memories` does for all skills; returns those that were changed."""
    records: Iterable[SkillRecord] = list(registry.all_records())
    checked = ((record, check_memories(registry, record, actor=actor)) for record in records)
    return [new for record, new in checked if new is not record]


def _degraded(registry: SkillRegistry, record: SkillRecord, reason: str, actor: str) -> SkillRecord | None:
    if record.standing.lifecycle in _OUT_OF_USE:
        return None
    return registry.degrade(record.key, reason, actor=actor)


def _changed_memory(registry: SkillRegistry, record: SkillRecord) -> str:
    """Why a skill has to be degraded; empty when every memory is as it was."""
    texts = _texts_by_source(registry, record)
    graphs = memory_graphs(registry.store, registry.terms.names)
    for node in record.edges.memories:
        identifier = node.value.rpartition(":")[2]
        quads = [quad for graph in graphs for quad in registry.store.quads(Pattern(graph, node, MEMORY_TEXT))]
        found = {quad.object.value for quad in quads if isinstance(quad.object, Literal)}
        if not found:
            return f"the memory {identifier}, which it was made of, was forgotten"
        if identifier in texts and texts[identifier] not in found:
            return f"the memory {identifier}, which it was made of, was corrected"
    return ""


def _texts_by_source(registry: SkillRegistry, record: SkillRecord) -> dict[str, str]:
    """The texts of the sources when the skill was made, by the ids of the memories."""
    document = registry.document(registry.version(record.version_id))
    files = {each.path: each.data.decode(errors="replace").removesuffix("\n") for each in document.resources}
    identifiers = document.metadata.get(SOURCE_IDS)
    if not isinstance(identifiers, list):
        return {}
    pairs = ((identifier, files.get(source_path(place))) for place, identifier in enumerate(identifiers))
    return {identifier: text for identifier, text in pairs if isinstance(identifier, str) and text is not None}


def maintain(registry: SkillRegistry, finder: SkillFinder, *, actor: str) -> list[SkillRecord]:
    """Maintain a registry; returns the skills that were changed, as they are then."""
    changed = {record.key: record for record in check_all_memories(registry, actor=actor)}
    for record in registry.maintain(lambda each: len(finder.similar(each)), actor=actor):
        changed[record.key] = record
    return list(changed.values())
