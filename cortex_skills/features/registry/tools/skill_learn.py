"""`skill_learn`: make a skill of what the calling agent did in this session.

Rules kept here:
- the host turns learning on (`learning.enabled`); without it no call is kept, and nothing can be learned;
- the model of the connected client words the run if it can, else the configured endpoint; with `name`, no model is
  asked, and the steps are the calls as they ran;
- what is learned is a candidate with tier 1; a run is learned once; after a model that fails it can be learned
  again.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, NotRequired

from pydantic import ConfigDict, Field
from typing_extensions import TypedDict

from cortex_skills.errors import CortexError
from cortex_skills.features.registry import skill_changes as changes
from cortex_skills.features.registry.documents.document import MAX_DESCRIPTION, MAX_NAME
from cortex_skills.features.registry.learning import ChatEndpoint, document_of_run
from cortex_skills.features.registry.parts import calls_in, registry_in
from cortex_skills.features.registry.records.skill_record import LearnedIn
from cortex_skills.features.registry.registry_settings import LearningSettings
from cortex_skills.features.registry.session_calls import SessionCall, successful_calls
from cortex_skills.features.registry.tools.registered_skills import operate
from cortex_skills.safe_io.display import whole_characters
from cortex_skills.tools.base import Call, Outcome, Tool
from cortex_skills.tools.wording import SAMPLER

_BY_NAME = "the calls as they ran"


def _run(call: Call) -> Outcome:
    host = call.host
    if not host.config.section(LearningSettings).enabled:
        hint = "the host turns it on: `learning.enabled: true`"
        raise CortexError("permission_denied", "learning is off, so no call of this session was kept", hint=hint)
    run = host.part(calls_in).of(call.session, call.agent)
    if not host.part(calls_in).claim(run):
        hint = "skill_write changes what was learned"
        raise CortexError("invalid_arguments", "a skill is learned once in a session, and it was", hint=hint)
    try:
        learned_in = LearnedIn(run.session_id, whole_characters(run.agent), datetime.now(UTC))
        return _learned(call, successful_calls(run.calls, host.config.section(LearningSettings).min_calls), learned_in)
    except BaseException:
        host.part(calls_in).give_back(run)
        raise


def _learned(call: Call, calls: list[SessionCall], learned_in: LearnedIn) -> Outcome:
    registry = call.host.part(registry_in)
    given = call.arguments
    name, description = given.get("name"), given.get("description")
    of_client, settings = SAMPLER.get(), call.host.config.section(LearningSettings)
    sampler = of_client(settings.timeout_ms / 1000) if of_client else None
    by = _BY_NAME if name is not None else "the model of the client" if sampler else "the model of the endpoint"
    document = document_of_run(
        calls,
        registry.terms.names.namespace,
        name,
        None if description is None else whole_characters(description),
        sampler or (None if name is not None else ChatEndpoint.of(settings)),
    )
    if document is None:
        call.host.part(calls_in).give_back(call.host.part(calls_in).of(call.session, call.agent))
        text = (
            "The model found nothing that is worth repeating. The session can still be learned: skill_learn with name."
        )
        return Outcome(text, _details(by, learned=False))
    learned = operate(call, changes.learn, document=document, learned_in=learned_in)
    version = learned.version
    text = f"{version.key} is learned, a candidate with {len(document.steps)} steps."
    if learned.merged is not None:
        text = f"{learned.merged} is the same as {version.key}, and was merged into it: version {version.number}."
    about = {
        "skill": str(version.key),
        "skill_id": version.id,
        "version": version.number,
        "merged": None if learned.merged is None else str(learned.merged),
        "steps": [step.to_json() for step in document.steps],
    }
    return Outcome(text, _details(by, learned=True) | about)


def _details(by: str, *, learned: bool) -> dict[str, Any]:
    return {"learned": learned, "wordedBy": by}


@dataclass(frozen=True, slots=True)
class _Learn:
    name: (
        Annotated[
            str,
            Field(
                min_length=1,
                max_length=MAX_NAME,
                description="What it does, in words with hyphens. The steps are the calls as they ran then.",
            ),
        ]
        | None
    ) = None
    description: (
        Annotated[
            str,
            Field(min_length=1, max_length=MAX_DESCRIPTION, description="With name: what it does and when to use it."),
        ]
        | None
    ) = None

    __pydantic_config__ = ConfigDict(json_schema_extra={"dependentRequired": {"description": ["name"]}})


class SkillLearnDetails(TypedDict):
    """What was learned."""

    learned: Annotated[bool, Field(description="False when a model found nothing that is worth repeating.")]
    wordedBy: str
    skill: NotRequired[str]
    skill_id: NotRequired[Annotated[str, Field(description="The id of the version.")]]
    version: NotRequired[int]
    merged: NotRequired[Annotated[str | None, Field(description="The candidate that was merged into the skill.")]]
    steps: NotRequired[list[dict[str, Any]]]


SKILL_LEARN = Tool(
    name="skill_learn",
    description=(
        "Learn a skill from what you did in this session, once the task has succeeded: its successful calls become the "
        "steps of a candidate. Without a name a model words it."
    ),
    input_schema=_Learn,
    output_schema=SkillLearnDetails,
    permissions=("registry:learn",),
    budget=None,
    profile="registry",
    read_only=False,
    idempotent=False,
    run=_run,
)
