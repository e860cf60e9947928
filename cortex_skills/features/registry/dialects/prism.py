"""The names of CortexPrism, a procedural memory: `/api/skills`, `load_skill`, `skill_read` and `skill_write`.

Rules kept here:
- each member of its `Skill` is in an answer, beside those of the registry, or named with the reason why it is null;
- it has two origins: what a person or the package made is `human`, what was learned is `llm`. Both are accepted beside
  the registry's own, and answered;
- steps, dependencies and conflicts are JSON texts in an answer, as its store has them;
- what its tools accept and the registry decides itself is accepted, and not followed (`NOT_FOLLOWED`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NotRequired, cast

from pydantic import Field
from typing_extensions import TypedDict

from cortex_skills.features.registry.documents.document import MAX_COMPATIBILITY, MAX_DESCRIPTION, MAX_LIST, Step
from cortex_skills.features.registry.records.lifecycle import ORIGINS as OWN_ORIGINS
from cortex_skills.features.registry.records.lifecycle import Origin
from cortex_skills.features.registry.skill_reads import MeanFigures
from cortex_skills.features.registry.views import NAME_PART, Fraction, RecordFacts
from cortex_skills.operations.json_types import WHOLE, ApiModel, Count, SkillVersionId

_Text = Annotated[str, Field(min_length=1, max_length=4_096, pattern=r"\S")]
BareName = Annotated[
    str,
    Field(
        max_length=64,
        pattern=rf"^{NAME_PART}$",
        description="Lower-case letters, digits, single hyphens or underscores.",
    ),
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
    params: NotRequired[Annotated[dict[str, Any], Field(description="The arguments of the tool.", max_length=100)]]


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


class ProcedureView(RecordFacts):
    """A registered skill, with the members that the clients of a procedural memory read."""

    id: Annotated[SkillVersionId, Field(description="The id of the current version.")]
    trigger_pattern: str | None
    metadata: dict[str, Any]
    madeBy: Origin
    origin: Annotated[Literal["human", "llm"], Field(description="`human` also for one of the package.")]
    steps: Annotated[str, Field(description="A JSON text: `[{step, action, description, tool?, params?}]`.")]
    content: Annotated[str | None, Field(description="The body; null in a list that has 16 Mi characters before it.")]
    success_rate: Fraction
    invocation_count: Count
    utility_score: Fraction
    freshness: Fraction
    token_cost: Count
    version: Annotated[int, Field(ge=1)]
    created_at: str
    last_used_at: str | None
    last_validated_at: str | None
    source_session: Annotated[str | None, Field(description="An id; it opens no session.")]
    parent_skill_id: str | None
    trust_tier: Annotated[int, Field(ge=1, le=4)]
    deprecated_reason: str | None
    depends_on: Annotated[str | None, Field(description="A JSON text: names.")]
    conflicts_with: Annotated[str | None, Field(description="A JSON text: names.")]
    embedding: Annotated[None, Field(description="Not kept with a skill.")]
    embedding_model: str | None


class StoredSkill(TypedDict):
    """The id of the version."""

    ok: Literal[True]
    id: SkillVersionId
    created: Annotated[bool, Field(description="Whether it is a new version.")]
    warnings: Annotated[list[str], Field(description="What agents will not read of a skill that an agent wrote.")]


class SkillStats(TypedDict):
    """The numbers of skills; the means of outcomes are those of the skills that have one."""

    total: Count
    human: Annotated[Count, Field(description="With those of the package.")]
    llm: Annotated[Count, Field(description="Learned ones.")]
    builtin: Count
    activeSkills: Annotated[Count, Field(description="Candidates, verified and released ones.")]
    deprecatedSkills: Count
    avgSuccessRate: Fraction
    avgUtilityScore: Fraction
    avgFreshness: Fraction


class SkillEdges(TypedDict):
    """The skills that it needs, and those that need it."""

    name: str
    dependents: list[ProcedureView]
    dependencies: list[ProcedureView]


ORIGINS: dict[str, tuple[Origin, ...]] = {
    **{origin: (origin,) for origin in OWN_ORIGINS},
    "human": ("human", "builtin"),
    "llm": ("learned",),
}
"""The origins that a filter names, and those of the registry."""

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

TOOL_ARGUMENTS = {"content": "body", "source_name": "source"}
"""The arguments of `skill_write` that have another name here."""

NOT_FOLLOWED = {
    "lifecycle": "a skill changes its state by promote, deprecate and measured uses",
    "trust_tier": "a person sets the trust tier",
}
"""The arguments of `skill_write` that are accepted, and why nothing follows from them."""

PARENT = "parent_skill_id"
"""The member of the metadata that keeps the parent of a skill."""

STEP = {"action": "action", "tool": "tool", "description": "details", "params": "params"}
STEP_NOT_KEPT = {"step": "the order of the list counts"}

SKILL = {
    "id": "id",
    "name": "name",
    "description": "description",
    "trigger_pattern": "trigger_pattern",
    "metadata": "metadata",
    "lifecycle": "lifecycle",
    "trust_tier": "trustTier",
    "success_rate": "quality.successRate",
    "invocation_count": "quality.invocations",
    "utility_score": "quality.utility",
    "freshness": "quality.freshness",
    "version": "current.version",
    "created_at": "created",
    "last_used_at": "quality.lastUsedAt",
    "last_validated_at": "validated",
    "deprecated_reason": "reason",
}
"""The members of a skill that have a value of the registry's own answer, by the path of that."""

SKILL_FROM = {
    "origin": "origin",
    "steps": "the steps of the document",
    "content": "the body of the document",
    "token_cost": "quality.tokenCost",
    "source_session": "current.learnedIn",
    "parent_skill_id": "the metadata, or derivedFrom",
    "depends_on": "the document",
    "conflicts_with": "the document",
    "embedding_model": "the setting `finder`",
}
"""The other members, and what they are made of."""

SKILL_NOT_KEPT = {"embedding": "vectors are in the index of a process, and no part of a skill"}
"""The members that are null in each answer, and why."""


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


def origin_of(origin: str) -> str:
    """The origin as the original names it."""
    return "llm" if origin == "learned" else "human"


def skill(own: Mapping[str, Any], front: Mapping[str, Any], body: str | None, embedding_model: str) -> ProcedureView:
    """A skill with the members of the registry and those of the original.

    Args:
        own: the registry's own answer about it (`views.record_view`), with `id`, `trigger_pattern` and `metadata`.
        front: the members of its stored document (`documents.document.front_matter`).
        body: of the document; None where a list has no room for it.
        embedding_model: the name of the model; empty without one.
    """
    learned_in = own["current"]["learnedIn"]
    parent = own["metadata"].get(PARENT) or next((name.rpartition("/")[2] for name in own["derivedFrom"]), None)
    members = {**own, **{name: _at(own, path) for name, path in SKILL.items()}}
    members |= {
        "madeBy": own["origin"],
        "origin": origin_of(own["origin"]),
        "steps": steps_text(front["steps"]),
        "content": body,
        "token_cost": round(own["quality"]["tokenCost"]),
        "source_session": None if learned_in is None else learned_in["session"],
        "parent_skill_id": parent if isinstance(parent, str) else None,
        "depends_on": json.dumps(front["depends_on"]) if front["depends_on"] else None,
        "conflicts_with": json.dumps(front["conflicts_with"]) if front["conflicts_with"] else None,
        "embedding": None,
        "embedding_model": embedding_model or None,
    }
    return cast(ProcedureView, members)


def steps_text(steps: Sequence[Mapping[str, Any]]) -> str:
    """Steps (`Step.to_json`) as the JSON text of the original; one without details repeats its action."""
    shown = [
        {"step": number, "action": each["action"], "description": each["details"] or each["action"]}
        | {name: each[name] for name in ("tool", "params") if each.get(name) is not None}
        for number, each in enumerate(steps, 1)
    ]
    return json.dumps(shown, ensure_ascii=False)


def _at(own: Mapping[str, Any], path: str) -> Any:
    value: Any = own
    for name in path.split("."):
        value = value[name]
    return value


def tool_arguments(given: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The arguments of `skill_write` by the registry's names, and sentences about those that are not followed."""
    arguments = {TOOL_ARGUMENTS.get(name, name): value for name, value in given.items() if name not in NOT_FOLLOWED}
    if "steps" in arguments:
        arguments["steps"] = [_own_step(step) for step in arguments["steps"]]
    if PARENT in arguments:
        arguments["metadata"] = {**arguments.get("metadata", {}), PARENT: arguments.pop(PARENT)}
    return arguments, [f"{name} is not followed: {why}" for name, why in NOT_FOLLOWED.items() if name in given]


def _own_step(step: Mapping[str, Any]) -> dict[str, Any]:
    own = {STEP.get(name, name): value for name, value in step.items() if name not in STEP_NOT_KEPT}
    return own if own.get("details") != own.get("action") else own | {"details": ""}


def figures(found: MeanFigures) -> SkillStats:
    """The numbers of the skills; those of the package are among those of people, and counted again beside them."""
    return {
        "total": found.total,
        "human": found.by_origin["human"] + found.by_origin["builtin"],
        "llm": found.by_origin["learned"],
        "builtin": found.by_origin["builtin"],
        "activeSkills": found.total - found.out_of_use - found.degraded,
        "deprecatedSkills": found.out_of_use,
        "avgSuccessRate": found.success_rate,
        "avgUtilityScore": found.utility,
        "avgFreshness": found.freshness,
    }
