"""`/api/v1/skill/{id}/promote` and `/compose`: skills that are made of reflections, and composed with them.

Rules kept here:
- reflections are those of the holder of the token; those of another agent need the permission `memories`;
- what is made of a reflection is `learned`, whoever asks for it: an agent wrote it;
- those in another namespace are read where the configuration allows it (`registry.reflectionNamespaces`) and the token
  opens that namespace.
"""

from __future__ import annotations

from datetime import UTC, datetime

from cortex_skills.doors.rest.model_types import MemoryId
from cortex_skills.doors.rest.operations import ApiAnswer, ApiCall, Operations
from cortex_skills.doors.rest.schemas import check
from cortex_skills.features.memory.rest.memory_models import MemoriesQuery
from cortex_skills.features.memory.rest.memory_operations import asked_memories
from cortex_skills.features.registry import skill_changes as changes
from cortex_skills.features.registry.composition import BUDGET, composed, declared_namespaces
from cortex_skills.features.registry.reflections import promotion_view
from cortex_skills.features.registry.rest import registry_models as models
from cortex_skills.features.registry.rest.registered_skills import version_of
from cortex_skills.features.registry.views import composition_view

OPERATIONS = Operations()


@OPERATIONS.add(
    "POST",
    "/api/v1/skill/{id}/promote",
    {200: models.PromotedReflection},
    permission="write",
    query=MemoriesQuery,
    body=models.ReflectionToPromote,
    errors=("manifest_invalid", "skill_exists", "state_conflict", "skill_not_found", "graph_busy"),
    pool="slow",
)
def promote_reflection(call: ApiCall) -> ApiAnswer:
    """Make a skill of a reflection, which the path names by the id of the memory."""
    _, agent = asked_memories(call)
    done, reflection = call.operate(
        changes.register_from_reflection,
        skill=call.body["name"],
        reflection=check(MemoryId, call.path["id"]),
        agent=agent,
        description=call.body["description"],
        parameters_schema=call.body.get("parameters_schema"),
    )
    return ApiAnswer(200, promotion_view(done, reflection))


@OPERATIONS.add(
    "POST",
    "/api/v1/skill/{id}/compose",
    {200: models.ComposedSkill},
    query=MemoriesQuery,
    body=models.CompositionBudget,
    needs_body=False,
    errors=("skill_not_found", "graph_corrupt", "signature_invalid"),
    pool="slow",
)
def compose_skill(call: ApiCall) -> ApiAnswer:
    """Return a version of a skill with the reflections that it composes with, within a budget."""
    registry, version = version_of(call)
    memories, agent = asked_memories(call)
    own = registry.terms.names.namespace
    allowed = {own, *filter(call.caller.may_use, call.service.plugin.config.registry.reflection_namespaces)}
    budget = (call.body or {}).get("budget_tokens", BUDGET)
    document = registry.document(version)
    found = composed(
        declared_namespaces(document.reflections, allowed.__contains__),
        lambda namespace: memories.reflections(agent=agent, namespace=namespace),
        lambda memory: memory.text,
        budget,
        datetime.now(UTC),
    )
    memories.used((each.memory for each in found.reflections if each.namespace == own), agent=agent)
    return ApiAnswer(200, {**composition_view(version, found, budget), "body": document.body})
