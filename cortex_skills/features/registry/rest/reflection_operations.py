"""`/api/v1/skill/{id}/promote` and `/compose`: skills that are made of reflections, and composed with them.

Rules kept here:
- reflections are those of the holder of the token; those of another agent need the permission `memories`;
- what is made of a reflection is `learned`, whoever asks for it: an agent wrote it;
- those in another namespace are read where the configuration allows it (`registry.reflectionNamespaces`) and the token
  opens that namespace.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Any, NotRequired

from pydantic import Field

from cortex_skills.doors.rest.model_types import WHOLE, ApiModel, MemoryId
from cortex_skills.doors.rest.operations import ApiCall, Operations
from cortex_skills.doors.rest.schemas import check
from cortex_skills.features.memory.rest.memory_models import MemoriesQuery
from cortex_skills.features.memory.rest.memory_operations import asked_memories
from cortex_skills.features.registry import skill_changes as changes
from cortex_skills.features.registry.composition import (
    BUDGET,
    MAX_BUDGET,
    CompositionView,
    composed,
    composition_view,
    declared_namespaces,
)
from cortex_skills.features.registry.dialects import ai_memory
from cortex_skills.features.registry.dialects.prism import BareName
from cortex_skills.features.registry.documents.document import MAX_DESCRIPTION
from cortex_skills.features.registry.registry_settings import RegistrySettings
from cortex_skills.features.registry.rest.registered_skills import version_of


class ReflectionToPromote(ApiModel):
    """The skill that a reflection becomes."""

    name: BareName
    description: Annotated[str, Field(min_length=1, max_length=MAX_DESCRIPTION, pattern=r"\S")]
    parameters_schema: NotRequired[
        Annotated[dict[str, Any], Field(max_length=1000, description="What it needs to know, as a JSON Schema.")]
    ]


class CompositionBudget(ApiModel, total=False):
    """How much is composed."""

    budget_tokens: Annotated[
        int, Field(ge=0, description=f"For the reflections: 4,000 by default, and at most {MAX_BUDGET:,}."), WHOLE
    ]


class ComposedSkill(CompositionView):
    """A version with the reflections that it composes with."""

    body: str


OPERATIONS = Operations()


@OPERATIONS.add(
    "POST",
    "/api/v1/skill/{id}/promote",
    permission="write",
    query=MemoriesQuery,
    body=ReflectionToPromote,
    errors=("manifest_invalid", "skill_exists", "state_conflict", "skill_not_found", "graph_busy"),
    pool="slow",
)
def promote_reflection(call: ApiCall) -> ai_memory.PromotedReflection:
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
    return ai_memory.promoted(done, reflection)


@OPERATIONS.add(
    "POST",
    "/api/v1/skill/{id}/compose",
    query=MemoriesQuery,
    body=CompositionBudget,
    needs_body=False,
    errors=("skill_not_found", "graph_corrupt", "signature_invalid"),
    pool="slow",
)
def compose_skill(call: ApiCall) -> ComposedSkill:
    """Return a version of a skill with the reflections that it composes with, within a budget."""
    registry, version = version_of(call)
    memories, agent = asked_memories(call)
    own = registry.terms.names.namespace
    allowed = {
        own,
        *filter(call.caller.may_use, call.service.plugin.config.section(RegistrySettings).reflection_namespaces),
    }
    budget = min((call.body or {}).get("budget_tokens", BUDGET), MAX_BUDGET)
    document = registry.document(version)
    found = composed(
        declared_namespaces(document.reflections, allowed.__contains__),
        partial(memories.reflections, agent),
        lambda memory: memory.text,
        budget,
        datetime.now(UTC),
    )
    memories.used((each.memory for each in found.reflections if each.namespace == own), agent=agent)
    return {**composition_view(version, found, budget), "body": document.body}
