"""What is read of registered skills, for every interface.

Rules kept here:
- a list has no deprecated or archived skill unless it is asked for that state, and a search none that agents are not
  shown, unless it is asked for them;
- a document is verified whenever it is read: digest, signature, and each file;
- the answers are facts: what a model must not read of them is left out by the tool that shows them to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Annotated, Any

from pydantic import Field
from typing_extensions import TypedDict

from cortex_skills.audit.chain import ChainEventView, ChainFault
from cortex_skills.errors import CortexError
from cortex_skills.features.finder.words import without_accents
from cortex_skills.features.registry.documents.document import MAX_PATH, SkillDocument, SkillResource
from cortex_skills.features.registry.parts import ahead_of_skill, finder_in, found_record, registry_in
from cortex_skills.features.registry.records.lifecycle import ORIGINS, OUT_OF_USE, Lifecycle, Origin, is_listed
from cortex_skills.features.registry.records.registry import SkillRegistry
from cortex_skills.features.registry.records.skill_record import SkillKey, SkillRecord, SkillVersion
from cortex_skills.features.registry.skill_finder import INDEX_TIMEOUT_S, MAX_LIMIT, MAX_QUERY, Among, FoundSkills
from cortex_skills.features.registry.views import (
    HealthView,
    OneSkill,
    SkillName,
    VersionView,
    differences,
    health_view,
    version_view,
)
from cortex_skills.operations.json_types import SkillVersionId
from cortex_skills.operations.operation import OperationCall, operation

MAX_PAGE = 1_000
_MAX_SCANNED = 5_000  # records that a page looks at
_MAX_EVENTS = 1_000


@dataclass(frozen=True, slots=True)
class ListSkills:
    """Which skills of a registry, and where the page begins."""

    lifecycle: Lifecycle | None = None
    origin: Origin | None = None
    filter: Annotated[str, Field(max_length=256, description="Words; each is in the name or in the description.")] = ""
    skill_namespace: Annotated[str, Field(max_length=256, description="The namespace of the skill itself.")] | None = (
        None
    )
    limit: Annotated[int, Field(ge=1, le=MAX_PAGE, description="100 by default.")] = 100
    cursor: Annotated[str, Field(max_length=4096, description="The `nextCursor` of the page before.")] | None = None


@dataclass(frozen=True, slots=True)
class SkillPage:
    """Registered skills, and the cursor of the next page; a page may have fewer skills than its limit."""

    records: tuple[SkillRecord, ...]
    cursor: str | None


@operation("registry.list", effect="reads", permission="read")
def list_skills(call: OperationCall, given: ListSkills) -> SkillPage:
    """List registered skills, a page at a time: those in use, or those in a state.

    A page may have fewer of them than its limit. Deprecated and archived skills are listed when their state is asked
    for.
    """
    registry = call.part(registry_in)
    words = without_accents(given.filter).split()
    found: list[SkillRecord] = []
    cursor, scanned = given.cursor, 0
    while scanned < _MAX_SCANNED:
        records, cursor = registry.records(cursor, given.limit - len(found))
        scanned += len(records)
        wanted = [each for each in records if given.skill_namespace in (None, each.key.namespace)]
        wanted = [each for each in wanted if _is_wanted(each, given)]
        with registry.reading_current(wanted if words else ()):
            for record in wanted:
                description = registry.version(record.version_id).description if words else ""
                text = without_accents(f"{record.key.name} {description}")
                if all(word in text for word in words):
                    found.append(record)
        if cursor is None or len(found) == given.limit:
            break
    return SkillPage(tuple(found), cursor)


def listed(
    run: Callable[..., SkillPage], limit: int | None = None, origins: Sequence[Origin | None] = (None,), **given: Any
) -> Iterator[SkillRecord]:
    """The registered skills of all pages, or so many of them.

    Args:
        run: runs `list_skills` for a caller.
        limit: how many at most; None for all.
        origins: who made them, one after the other; None for anyone.
        given: its other arguments.
    """
    left = MAX_PAGE if limit is None else limit
    for origin in origins:
        cursor = None
        while left:
            page = run(list_skills, limit=min(left, MAX_PAGE), cursor=cursor, origin=origin, **given)
            yield from page.records
            cursor = page.cursor
            if limit is not None:
                left -= len(page.records)
            if cursor is None:
                break


def _is_wanted(record: SkillRecord, given: ListSkills) -> bool:
    return given.origin in (None, record.standing.origin) and is_listed(record.standing, given.lifecycle)


@dataclass(frozen=True, slots=True)
class FindSkills:
    """What a skill should do, in any words."""

    query: Annotated[str, Field(min_length=1, max_length=MAX_QUERY)]
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT)] = 10
    among: Among = "reliable"
    timeout_s: float = INDEX_TIMEOUT_S


@operation("registry.find", effect="reads", permission="read")
def find_skills(call: OperationCall, given: FindSkills) -> FoundSkills:
    """Find skills by words, and by meaning if `finder.embedder` is set; the best first."""
    return call.part(finder_in).find(given.query, given.limit, among=given.among, timeout_s=given.timeout_s)


@dataclass(frozen=True, slots=True)
class ShowSkill:
    """A skill, and the number of an earlier version."""

    skill: str
    number: Annotated[int, Field(ge=1)] | None = None


@dataclass(frozen=True, slots=True)
class ShownSkill:
    """A skill with a version of it and its document, and the id of the version after it."""

    record: SkillRecord
    version: SkillVersion
    document: SkillDocument
    following: str | None = None


@operation("registry.show", effect="reads", permission="read", ahead=ahead_of_skill)
def show_skill(call: OperationCall, given: ShowSkill) -> ShownSkill:
    """Show a skill with the document of its current version, or of an earlier one, verified."""
    registry = call.part(registry_in)
    record = found_record(call, given.skill)
    version = (
        registry.version(record.version_id) if given.number is None else _numbered(registry, record.key, given.number)
    )
    return ShownSkill(record, version, registry.document(version))


@dataclass(frozen=True, slots=True)
class OneVersion:
    """The id of a version of a skill."""

    version: SkillVersionId


@operation(
    "registry.read",
    effect="reads",
    permission="read",
    ahead=lambda call, given: call.part(registry_in).ahead_of_version(given.version),
)
def read_version(call: OperationCall, given: OneVersion) -> ShownSkill:
    """Read a version of a skill with its document, verified; earlier versions too."""
    registry = call.part(registry_in)
    version = registry.version(given.version)
    return ShownSkill(registry.record(version.key), version, registry.document(version), registry.following(version.id))


@dataclass(frozen=True, slots=True)
class FileOfVersion:
    """A file of a version of a skill."""

    version: SkillVersionId
    path: Annotated[str, Field(min_length=1, max_length=MAX_PATH, description="Relative to the folder of the skill.")]


@operation(
    "registry.read_file",
    effect="reads",
    permission="read",
    ahead=lambda call, given: call.part(registry_in).ahead_of_version(given.version),
)
def read_file(call: OperationCall, given: FileOfVersion) -> SkillResource | None:
    """Read a file of a version of a skill, verified."""
    registry = call.part(registry_in)
    return registry.document(registry.version(given.version)).resource(given.path)


@operation("registry.history", effect="reads", permission="read", ahead=ahead_of_skill)
def history(call: OperationCall, given: OneSkill) -> list[VersionView]:
    """List the versions of a skill, the first one first."""
    registry, key = call.part(registry_in), found_record(call, given.skill).key
    level = registry.levels()
    return [version_view(version, level) for version in registry.versions(key)]


@dataclass(frozen=True, slots=True)
class CompareVersions:
    """A skill, and the numbers of two of its versions."""

    skill: SkillName
    old: Annotated[int, Field(ge=1)]
    new: Annotated[int, Field(ge=1)]


class VersionDifference(TypedDict):
    """The lines of the unified difference of two versions; files by their digests."""

    lines: list[str]


@operation("registry.diff", effect="reads", permission="read")
def compare(call: OperationCall, given: CompareVersions) -> VersionDifference:
    """Compare two versions of a skill."""
    registry = call.part(registry_in)
    key = found_record(call, given.skill).key
    old, new = (registry.document(_numbered(registry, key, number)) for number in (given.old, given.new))
    return {"lines": differences(old, new)}


@dataclass(frozen=True, slots=True)
class EventsSince:
    """The number of an event."""

    since: Annotated[int, Field(ge=1, description="From the event with this number on.")] = 1


@dataclass(frozen=True, slots=True)
class ListEvents(EventsSince):
    """The number of an event, and how many are listed; all if that is not stated."""

    limit: Annotated[int, Field(ge=1, le=_MAX_EVENTS, description="How many at most.")] | None = None


@operation("registry.events", effect="reads", permission="read")
def list_events(call: OperationCall, given: ListEvents) -> list[ChainEventView]:
    """List the events of the registry, the oldest first."""
    return [event.to_json() for event in islice(call.part(registry_in).log.events(given.since), given.limit)]


@dataclass(frozen=True, slots=True)
class EventChain:
    """The number of events, and the first one that is broken or forged; None when the chain is whole."""

    events: int
    fault: ChainFault | None


@operation("registry.verify_events", effect="reads", permission="read")
def verify_events(call: OperationCall, given: EventsSince) -> EventChain:
    """Verify the chain of the events of the registry."""
    registry = call.part(registry_in)
    return EventChain(registry.log.count(), registry.verify_events(given.since))


@operation("registry.health", effect="reads", permission="read")
def get_health(call: OperationCall, given: OneSkill) -> HealthView:
    """Return the health of a skill."""
    record = found_record(call, given.skill)
    return health_view(record.evidence, len(call.part(finder_in).similar(record)), datetime.now(UTC))


@dataclass(frozen=True, slots=True)
class SkillDependencies:
    """The skills that a skill needs, and those that need it."""

    skill: SkillKey
    needs: list[SkillKey]
    needed_by: list[SkillKey]


@operation("registry.dependencies", effect="reads", permission="read")
def get_dependencies(call: OperationCall, given: OneSkill) -> SkillDependencies:
    """Return the skills that a skill needs, and those that need it."""
    registry, key = call.part(registry_in), found_record(call, given.skill).key
    return SkillDependencies(key, registry.dependencies(key), registry.dependents(key))


@dataclass(frozen=True, slots=True)
class WholeRegistry:
    """The registry of the namespace."""


@dataclass(frozen=True, slots=True)
class MeanFigures:
    """The numbers of the skills of a registry, and means: of outcomes over the skills that have one, else over all.

    Attributes:
        total: how many skills.
        by_origin: how many of each origin.
        out_of_use: how many are deprecated or archived.
        degraded: how many are degraded.
        success_rate: the mean, 0 to 1.
        utility: the mean, 0 to 1.
        freshness: the mean, 0 to 1.
    """

    total: int
    by_origin: dict[Origin, int]
    out_of_use: int
    degraded: int
    success_rate: float
    utility: float
    freshness: float


@operation("registry.figures", effect="reads", permission="read")
def get_figures(call: OperationCall, given: WholeRegistry) -> MeanFigures:  # noqa: ARG001 - it has no arguments
    """Count the skills, those that are deprecated or archived too."""
    records, now = list(call.part(registry_in).all_records()), datetime.now(UTC)
    used = [each.quality for each in records if each.quality.invocations]
    return MeanFigures(
        len(records),
        {origin: sum(each.standing.origin == origin for each in records) for origin in ORIGINS},
        sum(each.standing.lifecycle in OUT_OF_USE for each in records),
        sum(each.standing.lifecycle == "degraded" for each in records),
        _mean(each.success_rate for each in used),
        _mean(each.utility for each in used),
        _mean(each.quality.freshness(now) for each in records),
    )


def _mean(values: Iterator[float]) -> float:
    found = list(values)
    return round(sum(found) / len(found), 4) if found else 0.0


def _numbered(registry: SkillRegistry, key: SkillKey, number: int) -> SkillVersion:
    for version in registry.versions(key):
        if version.number == number:
            return version
    raise CortexError("skill_not_found", f"{key} has no version {number}", hint="`registry history` lists them")
