"""The names of CortexPrism, a procedural memory: `/api/skills`. A pure mapping.

Rules kept here:
- each member that the original has is mapped, or named with the reason why it is not kept;
- an origin of the original is accepted beside the registry's own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from cortex_skills.features.registry.documents.document import MAX_COMPATIBILITY, MAX_DESCRIPTION, MAX_LIST, Step
from cortex_skills.features.registry.skill_reads import MeanFigures, SkillDependencies
from cortex_skills.features.registry.views import NAME_PART, Fraction
from cortex_skills.operations.json_types import WHOLE, ApiModel, Count, SkillVersionId

_Text = Annotated[str, Field(min_length=1, max_length=4_096, pattern=r"\S")]
BareName = Annotated[
    str,
    Field(max_length=64, pattern=rf"^{NAME_PART}$", description="Lower-case letters, digits, single hyphens."),
]
ExpectedVersion = Annotated[
    SkillVersionId, Field(description="Register nothing (409) unless this version is the current one of the skill.")
]


class ProcedureStep(ApiModel):
    """A step of a procedure."""

    action: _Text
    tool: NotRequired[Annotated[_Text | None, Field(description="The tool that does it.")]]
    description: NotRequired[Annotated[str, Field(max_length=4_096, description="More about it.")]]
    step: NotRequired[Annotated[int, Field(description="Not read: the order of the list counts."), WHOLE]]
    params: NotRequired[Annotated[dict[str, Any], Field(description="Not kept.", max_length=100)]]


class ProceduralSkill(ApiModel):
    """A skill to register; members that are not given stay as they are."""

    name: BareName
    description: NotRequired[
        Annotated[str, Field(max_length=MAX_DESCRIPTION, description="By default the first line of the content.")]
    ]
    triggerPattern: NotRequired[
        Annotated[_Text | None, Field(description="What a request that it serves looks like; null removes it.")]
    ]
    content: NotRequired[Annotated[str, Field(max_length=1 << 20, description="Markdown.")]]
    steps: NotRequired[Annotated[list[ProcedureStep], Field(max_length=MAX_LIST)]]
    metadata: NotRequired[Annotated[dict[str, Any], Field(max_length=1000)]]
    license: NotRequired[Annotated[_Text | None, Field(description="null removes it.")]]
    compatibility: NotRequired[
        Annotated[Annotated[_Text, Field(max_length=MAX_COMPATIBILITY)] | None, Field(description="null removes it.")]
    ]
    allowedTools: NotRequired[Annotated[list[_Text], Field(max_length=MAX_LIST)]]
    dependsOn: NotRequired[Annotated[list[BareName], Field(max_length=MAX_LIST)]]
    conflictsWith: NotRequired[Annotated[list[BareName], Field(max_length=MAX_LIST)]]
    expectedVersion: NotRequired[ExpectedVersion]


class StoredSkill(TypedDict):
    """The id of the version."""

    ok: Literal[True]
    id: SkillVersionId
    created: Annotated[bool, Field(description="Whether it is a new version.")]


class SkillStats(TypedDict):
    """The numbers of skills, and means over all of them."""

    total: Count
    human: Count
    llm: Annotated[Count, Field(description="Learned ones.")]
    builtin: Count
    activeSkills: Annotated[Count, Field(description="Neither deprecated nor archived.")]
    deprecatedSkills: Count
    avgSuccessRate: Fraction
    avgUtilityScore: Fraction
    avgFreshness: Fraction


class SkillEdges(TypedDict):
    """The skills that it needs, and those that need it."""

    name: str
    dependents: list[str]
    dependencies: list[str]


ORIGINS = {"llm": "learned"}
"""The original's origins that the registry has another word for."""

DOCUMENT = {
    "description": "description",
    "triggerPattern": "trigger_pattern",
    "content": "body",
    "metadata": "metadata",
    "license": "license",
    "compatibility": "compatibility",
    "allowedTools": "allowed_tools",
    "dependsOn": "depends_on",
    "conflictsWith": "conflicts_with",
    "steps": "steps",
}
"""The members of a skill that is stored, and the attributes of a document."""

ARGUMENTS = {"name": "skill", "expectedVersion": "expected_version"}
"""The other members, and the arguments of `registry.register`."""

STEP = {"action": "action", "tool": "tool", "description": "details"}
STEP_NOT_KEPT = {"step": "the order of the list counts", "params": "a step has no parameters"}

SKILL = {
    "id": "id",
    "name": "name",
    "description": "description",
    "trigger_pattern": "trigger_pattern",
    "content": "content",
    "steps": "steps",
    "metadata": "metadata",
    "origin": "origin",
    "lifecycle": "lifecycle",
    "trust_tier": "trustTier",
    "success_rate": "quality.successRate",
    "invocation_count": "quality.invocations",
    "utility_score": "quality.utility",
    "freshness": "quality.freshness",
    "token_cost": "quality.tokenCost",
    "version": "current.version",
    "created_at": "created",
    "last_used_at": "quality.lastUsedAt",
    "source_session": "current.learnedIn",
    "parent_skill_id": "derivedFrom",
    "depends_on": "dependsOn",
    "conflicts_with": "conflictsWith",
    "deprecated_reason": "reason",
}
"""The members of a skill of the original, and where an answer has them."""

SKILL_NOT_KEPT = {
    "last_validated_at": "a document is verified at each read, and no time of it is kept",
    "embedding_model": "vectors are no part of a skill: the configuration names the model for all",
}


def document_fields(body: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes of a document that a body gives."""
    fields = {DOCUMENT[name]: value for name, value in body.items() if name in DOCUMENT}
    if "steps" in fields:
        steps = ({STEP[name]: value for name, value in each.items() if name in STEP} for each in fields["steps"])
        fields["steps"] = tuple(Step(**step) for step in steps)
    return {name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()}


def first_description(fields: Mapping[str, Any], name: str) -> str:
    """The description of a new skill: the one that is given, or the first line of its content, or its name."""
    text = fields.get("description") or fields.get("body", "")
    first = next((line.strip("# ").strip() for line in text.splitlines() if line.strip("# ").strip()), "")
    return fields.get("description") or first[:1024] or name


def figures(found: MeanFigures) -> SkillStats:
    """The numbers of the skills."""
    return {
        "total": found.total,
        "human": found.by_origin["human"],
        "llm": found.by_origin["learned"],
        "builtin": found.by_origin["builtin"],
        "activeSkills": found.total - found.out_of_use,
        "deprecatedSkills": found.out_of_use,
        "avgSuccessRate": found.success_rate,
        "avgUtilityScore": found.utility,
        "avgFreshness": found.freshness,
    }


def dependencies(found: SkillDependencies) -> SkillEdges:
    """The skills that a skill needs, and those that need it."""
    return {
        "name": str(found.skill),
        "dependents": list(map(str, found.needed_by)),
        "dependencies": list(map(str, found.needs)),
    }
