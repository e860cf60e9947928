"""Changes of registered skills, for every interface.

Rules kept here:
- what an agent registers is `learned`; what the owner or a person registers is a person's;
- an agent replaces no document of a person or of the package, takes no name that looks like another one, sets no trust
  tier, and verifies nothing that was not measured;
- an agent changes the standing of what was learned; for what a person or the package made, and for a promotion, it
  needs `registry:manage` (`lifecycle.py`);
- the owner exports to any folder, and every other caller below `registry.exportRoot`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from cortex_skills.errors import CortexError
from cortex_skills.features.memory.memories import memories_of
from cortex_skills.features.memory.memory_reading import CorrectMemory
from cortex_skills.features.memory.remembering import OneMemory
from cortex_skills.features.registry.documents.document import SkillDocument
from cortex_skills.features.registry.folders import FORMS, Form, export_to, write_skill_folder
from cortex_skills.features.registry.learning import Learned, register_learned
from cortex_skills.features.registry.parts import ahead_of_skill, finder_in, found_record, named_key, registry_in
from cortex_skills.features.registry.records.lifecycle import MAKERS, Origin, check_learned_name, check_may_restand
from cortex_skills.features.registry.records.registry import Registered, SkillRegistry
from cortex_skills.features.registry.records.skill_record import (
    LearnedIn,
    SkillKey,
    SkillRecord,
    SkillVersion,
    VersionSignature,
)
from cortex_skills.features.registry.reflections import made_of, memory_forgotten, register_reflection
from cortex_skills.features.registry.reflections import maintain as maintain_registry
from cortex_skills.features.registry.views import OneSkill, SkillName, key_of
from cortex_skills.operations.operation import AS_IS, Follower, ObjectState, OperationCall, operation
from cortex_skills.safe_io.schemas import shown

if TYPE_CHECKING:
    from cortex_graph.store_access.read_ahead import Ahead

LONGEST_REASON = 1_000


def origin_for(call: OperationCall, document: SkillDocument) -> Origin:
    """The origin of a document that the caller registers.

    Raises:
        CortexError: `skill_exists`: an agent may not use one of its names.
    """
    if not call.caller.is_agent:
        return "human"
    for name in (document.name, *document.conflicts_with):
        check_learned_name(name)
    return "learned"


def standing_of(call: OperationCall) -> ObjectState | None:
    """The name, the version and the standing of the skill that an operation changes."""
    registry = call.part(registry_in)
    record = registry.find(named_key(call, call.about))
    if record is None:
        return None
    return _state(record, registry.version(record.version_id).number)


def _state(record: SkillRecord, number: int) -> ObjectState:
    standing = record.standing
    return str(record.key), f"version {number}, {standing.origin}, {standing.lifecycle}, tier {standing.trust_tier}"


@dataclass(frozen=True, slots=True)
class RegisterSkill:
    """A document; see `Registrations.register`."""

    document: Annotated[SkillDocument, AS_IS]
    signature: Annotated[VersionSignature | None, AS_IS] = None
    create_only: bool = False
    expected_version: str | None = None

    @property
    def skill(self) -> str:
        """Its name."""
        return f"{self.document.namespace}/{self.document.name}"


@operation(
    "registry.register", effect="changes", permission="write", object_="skill", state=standing_of, ahead=ahead_of_skill
)
def register(call: OperationCall, given: RegisterSkill) -> Registered:
    """Register a document: as the first version of a skill, or as its next one."""
    registry = call.part(registry_in)
    done = registry.register(
        given.document,
        actor=call.caller.actor,
        origin=origin_for(call, given.document),
        create_only=given.create_only,
        expected_version=given.expected_version,
        signature=given.signature,
        author=call.caller.name,
    )
    if done.created:
        call.after = _state(registry.record(done.version.key), done.version.number)
    return done


@dataclass(frozen=True, slots=True)
class LearnSkill:
    """A document that was made of the calls of a session."""

    document: Annotated[SkillDocument, AS_IS]
    learned_in: Annotated[LearnedIn, AS_IS]

    @property
    def skill(self) -> str:
        """The name that it has, if that is not taken."""
        return f"{self.document.namespace}/{self.document.name}"


@operation(
    "registry.learn", effect="changes", permission="write", object_="skill", state=standing_of, ahead=ahead_of_skill
)
def learn(call: OperationCall, given: LearnSkill) -> Learned:
    """Register what was learned in a session, or merge it into the same learned skill."""
    check_learned_name(given.document.name)
    done = register_learned(
        call.part(registry_in),
        call.part(finder_in),
        given.document,
        actor=call.caller.actor,
        learned_in=given.learned_in,
        author=call.caller.name,
    )
    call.about = str(done.version.key)
    return done


@dataclass(frozen=True, slots=True)
class RegisterReflection:
    """A reflection of an agent; see `register_reflection`."""

    skill: str
    reflection: str
    agent: str
    description: str
    parameters_schema: dict[str, Any] | None = None


@operation(
    "registry.register_reflection",
    effect="changes",
    permission="write",
    object_="skill",
    state=standing_of,
    ahead=ahead_of_skill,
)
def register_from_reflection(call: OperationCall, given: RegisterReflection) -> tuple[Registered, Any]:
    """Make a learned skill of a reflection."""
    check_learned_name(given.skill)
    return register_reflection(
        call.part(registry_in),
        call.part(memories_of).graph_of(given.agent),
        given.reflection,
        name=given.skill,
        description=given.description,
        parameters_schema=given.parameters_schema,
        actor=call.caller.actor,
        author=call.caller.name,
    )


@operation(
    "registry.delete", effect="changes", permission="registry", object_="skill", state=standing_of, ahead=ahead_of_skill
)
def delete(call: OperationCall, given: OneSkill) -> SkillKey:
    """Delete a skill with all versions, which no other one depends on."""
    record = changeable(call, "delete", given.skill)
    call.part(registry_in).purge(record.key, actor=call.caller.actor)
    return record.key


@dataclass(frozen=True, slots=True)
class MergeSkills:
    """Two skills: `source` becomes a part of `skill`, and is archived."""

    skill: SkillName
    source: Annotated[SkillName, Field(description="Archived; its steps, body and counters go to the target.")]


@operation(
    "registry.merge", effect="changes", permission="registry", object_="skill", state=standing_of, ahead=ahead_of_skill
)
def merge(call: OperationCall, given: MergeSkills) -> Registered:
    """Merge a skill into another one."""
    target, source = (changeable(call, "merge", name) for name in (given.skill, given.source))
    return call.part(registry_in).merge(target.key, source.key, actor=call.caller.actor, author=call.caller.name)


@dataclass(frozen=True, slots=True)
class PromoteSkill:
    """A skill, and whether a person has checked it."""

    skill: SkillName
    unmeasured: Annotated[
        bool, Field(description="Verify a learned skill that a person has checked, without a measured gain.")
    ] = False


@operation(
    "registry.promote",
    effect="changes",
    permission="registry",
    object_="skill",
    state=standing_of,
    ahead=ahead_of_skill,
)
def promote(call: OperationCall, given: PromoteSkill) -> SkillRecord:
    """Raise the state of a skill by one.

    A learned skill is verified when its measured uses do not do worse than the agents did without it.
    """
    record = changeable(call, "promote", given.skill)
    if given.unmeasured:
        _check_person(call, "a promotion without a measured gain")
    return call.part(registry_in).promote(record.key, actor=call.caller.actor, unmeasured=given.unmeasured)


@dataclass(frozen=True, slots=True)
class SkillOutOfUse:
    """A skill, and why it is taken out of use; the registry refuses an empty reason."""

    skill: SkillName
    reason: Annotated[str, Field(max_length=LONGEST_REASON)] = ""


@operation(
    "registry.deprecate",
    effect="changes",
    permission="registry",
    object_="skill",
    state=standing_of,
    ahead=ahead_of_skill,
)
def deprecate(call: OperationCall, given: SkillOutOfUse) -> SkillRecord:
    """Take a skill out of use."""
    record = changeable(call, "deprecate", given.skill)
    return call.part(registry_in).deprecate(record.key, given.reason, actor=call.caller.actor)


@operation(
    "registry.retire", effect="changes", permission="registry", object_="skill", state=standing_of, ahead=ahead_of_skill
)
def retire(call: OperationCall, given: SkillOutOfUse) -> SkillRecord:
    """Archive a skill that no other one depends on."""
    record = changeable(call, "deprecate", given.skill)
    return call.part(registry_in).retire(record.key, given.reason, actor=call.caller.actor)


@operation(
    "registry.unretire",
    effect="changes",
    permission="registry",
    object_="skill",
    state=standing_of,
    ahead=ahead_of_skill,
)
def unretire(call: OperationCall, given: OneSkill) -> SkillRecord:
    """Bring an archived skill back, as degraded."""
    record = changeable(call, "promote", given.skill)
    return call.part(registry_in).unretire(record.key, actor=call.caller.actor)


@dataclass(frozen=True, slots=True)
class TrustSkill:
    """A skill, and its trust tier."""

    skill: SkillName
    tier: Annotated[int, Field(ge=1, le=4)]


@operation(
    "registry.trust", effect="changes", permission="registry", object_="skill", state=standing_of, ahead=ahead_of_skill
)
def trust(call: OperationCall, given: TrustSkill) -> SkillRecord:
    """Give a skill a trust tier."""
    record = found_record(call, given.skill)
    _check_person(call, "the trust tier of a skill")
    return call.part(registry_in).trust(record.key, given.tier, actor=call.caller.actor)


@dataclass(frozen=True, slots=True)
class RollBackSkill:
    """A skill, and the number of an earlier version."""

    skill: str
    number: int


@operation(
    "registry.rollback",
    effect="changes",
    permission="registry",
    object_="skill",
    state=standing_of,
    ahead=ahead_of_skill,
)
def roll_back(call: OperationCall, given: RollBackSkill) -> Registered:
    """Make a new version of a skill from an earlier one."""
    record = found_record(call, given.skill)
    if record.standing.origin != "learned":
        _check_person(call, f"a document that was made by {MAKERS[record.standing.origin]}")
    return call.part(registry_in).rollback(record.key, given.number, actor=call.caller.actor)


@dataclass(frozen=True, slots=True)
class ExportSkill:
    """A skill, a folder, the id of an earlier version, and who reads the folder."""

    skill: str
    folder: str
    version: str | None = None
    form: Form = FORMS[0]


@dataclass(frozen=True, slots=True)
class SkillExport:
    """What was exported, the new folder (below `registry.exportRoot`, or, for the owner, its path), and its files."""

    version: SkillVersion
    folder: str
    files: tuple[str, ...] = ()


@operation(
    "registry.export", effect="changes", permission="write", object_="skill", state=standing_of, ahead=ahead_of_skill
)
def export(call: OperationCall, given: ExportSkill) -> SkillExport:
    """Write a version of a skill to a new folder, with its digests and its signature."""
    registry = call.part(registry_in)
    record = found_record(call, given.skill)
    version = registry.version(given.version or record.version_id)
    if version.key != record.key:
        raise CortexError(
            "invalid_arguments", f"the version {version.id} is not one of {record.key}", hint="leave it out"
        )
    document = registry.document(version)
    if call.caller.kind == "owner":
        folder = str(write_skill_folder(document, version, Path(given.folder), given.form))
    else:
        folder = export_to(call.host.config, document, version, given.folder, given.form)
    registry.exported(record.key, version, actor=call.caller.actor)
    return SkillExport(version, folder, tuple(each.path for each in document.resources))


@dataclass(frozen=True, slots=True)
class ReportSkill:
    """A skill, whether it worked, and why."""

    skill: str
    success: bool
    note: str = ""
    session: str = ""


@operation(
    "registry.report", effect="changes", permission="write", object_="skill", state=standing_of, ahead=ahead_of_skill
)
def report(call: OperationCall, given: ReportSkill) -> tuple[SkillRecord, str]:
    """Keep what an agent states about a skill; it is no measured outcome.

    The record as it is then, and why the report does not count; empty if it does.
    """
    record, caller = found_record(call, given.skill), call.caller
    return call.part(registry_in).report(
        record.key,
        success=given.success,
        actor=caller.actor,
        reporter=caller.name,
        session=given.session,
        note=given.note,
    )


@dataclass(frozen=True, slots=True)
class MeasuredUse:
    """A skill, whether a use of it succeeded, and why."""

    skill: str
    success: bool
    note: str = ""


@operation(
    "registry.outcome",
    effect="changes",
    permission="registry",
    object_="skill",
    state=standing_of,
    ahead=ahead_of_skill,
)
def record_outcome(call: OperationCall, given: MeasuredUse) -> SkillRecord:
    """Record a measured use of a skill, with success or without."""
    record = found_record(call, given.skill)
    _check_person(call, "a measured outcome")
    return call.part(registry_in).outcome(record.key, success=given.success, actor=call.caller.actor, note=given.note)


@dataclass(frozen=True, slots=True)
class MaintainRegistry:
    """The registry of a namespace."""

    namespace: str


def events_of(call: OperationCall) -> ObjectState | None:
    """The registry of the namespace, and its last event."""
    registry = call.part(registry_in)
    return registry.terms.names.namespace, f"after event {registry.log.count()}"


@operation("registry.maintain", effect="changes", permission="registry", object_="namespace", state=events_of)
def maintain(call: OperationCall, given: MaintainRegistry) -> list[SkillRecord]:
    """Deprecate learned skills that nothing uses, and degrade those that fail or whose memories have changed."""
    registry = call.part(registry_in)
    if given.namespace != registry.terms.names.namespace:
        hint = "leave the namespace to the interface"
        raise CortexError("invalid_arguments", f"{shown(given.namespace)} is another registry", hint=hint)
    return maintain_registry(registry, call.part(finder_in), actor=call.caller.actor)


def deletion_order(registry: SkillRegistry, names: Iterable[str]) -> list[str]:
    """Names of skills to be deleted together: unknown ones, then those that depend on others, then these."""
    keys: dict[str, SkillKey | None] = dict.fromkeys(names)
    for name in keys:
        with suppress(CortexError):
            keys[name] = registry.record(key_of(name, registry.terms.names.namespace)).key
    ordered = [name for name, key in keys.items() if key is None]
    pending = {name: key for name, key in keys.items() if key is not None}
    while pending:
        left = set(pending.values())
        free = [name for name, key in pending.items() if left.isdisjoint(registry.dependents(key))] or list(pending)
        ordered += free
        for name in free:
            del pending[name]
    return ordered


def changeable(call: OperationCall, action: str, name: str) -> SkillRecord:
    """The record of a skill that the caller may change in this way.

    Raises:
        CortexError: `permission_denied`; `invalid_arguments`, `skill_not_found`.
    """
    record, caller = found_record(call, name), call.caller
    if caller.is_agent:
        check_may_restand(
            action, str(record.key), record.standing.origin, caller.permissions, caller.skill or caller.name
        )
    return record


def _check_person(call: OperationCall, what: str) -> None:
    if call.caller.is_agent:
        raise CortexError(
            "permission_denied",
            f"{what} is decided by a person, and {call.caller.name} is an agent",
            hint="a person does it: at the command line, or with a token that was made `--holder person`",
            details={"missing": ["person"]},
        )


def _degrade_what_was_made(call: OperationCall, forgotten: OneMemory) -> None:
    """Do what `memory_forgotten` does, after the operation `memory.forget`."""
    memory_forgotten(call.part(registry_in), forgotten.id, actor=call.caller.name)


def _ahead_of_what_was_made(call: OperationCall, forgotten: OneMemory) -> Iterator[Ahead]:
    yield made_of(call.part(registry_in), forgotten.id)


degrade_what_was_made = Follower(_degrade_what_was_made, _ahead_of_what_was_made)


def degrade_what_was_corrected(call: OperationCall, corrected: CorrectMemory) -> None:
    """Do the same after the operation `memory.correct`, unless the text is as it was."""
    if call.about.rpartition("/")[2] != corrected.id:
        memory_forgotten(call.part(registry_in), corrected.id, actor=call.caller.name, what="corrected")
