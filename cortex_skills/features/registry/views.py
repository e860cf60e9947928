"""Registered skills as JSON and as text, as every interface shows them.

Rules kept here:
- pure: a record and its versions in, JSON-ready data out;
- a rate has its interval beside it, and a signature how far it is trusted.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any, Literal, cast

from pydantic import Field
from typing_extensions import TypedDict

from cortex_graph.checks.datetimes import date_time
from cortex_graph.naming.names import is_namespace
from cortex_skills.errors import CortexError
from cortex_skills.features.memory.requests import MAX_DEPTH
from cortex_skills.features.registry.composition import Composition
from cortex_skills.features.registry.document import FileKind, SkillDocument, SkillResource, StepView, name_problems
from cortex_skills.features.registry.lifecycle import Lifecycle, Origin
from cortex_skills.features.registry.quality import Quality, health
from cortex_skills.features.registry.reading import AttestLevel, RegistryReader, attest_level
from cortex_skills.features.registry.skill_md import write_skill_md
from cortex_skills.features.registry.skill_record import LearnedIn, SkillKey, SkillRecord, SkillVersion
from cortex_skills.manifest.skill_names import normalized
from cortex_skills.operations.json_types import Count, MemoryId, SkillVersionId
from cortex_skills.safe_io.schemas import shown

SkillKind = Literal["instructions", "procedure", "semantic"]
Fraction = Annotated[float, Field(ge=0, le=1)]


class LearnedInView(TypedDict):
    """The session that a version was learned in."""

    session: Annotated[str, Field(description="An id; it opens no session.")]
    agent: Annotated[str, Field(description="Whose calls they were.")]
    time: str


class VersionView(TypedDict):
    """A version."""

    id: SkillVersionId
    version: Annotated[int, Field(ge=1)]
    created: str
    digest: Annotated[str, Field(description="Of everything in the document, in hexadecimal.")]
    compatDigest: Annotated[str, Field(description="That of other registries.")]
    attest: Annotated[AttestLevel, Field(description="How far its signature is trusted.")]
    publicKey: str | None
    signature: str | None
    previous: SkillVersionId | None
    learnedIn: LearnedInView | None


class CurrentOutcomesView(TypedDict):
    """The outcomes of the current version that decide about it: those of the host, and one of each other agent."""

    invocations: Count
    successes: Count
    agents: Annotated[Count, Field(description="How many of them are of agents that loaded it.")]


class ReportsView(TypedDict):
    """How many agents have reported on a skill, and for how many of them it worked; it decides nothing."""

    agents: Count
    working: Count


class QualityView(TypedDict):
    """The counters of a skill; its outcomes are measured ones."""

    invocations: Count
    successes: Count
    current: CurrentOutcomesView
    reports: ReportsView
    successRate: Fraction
    successInterval: Annotated[list[float], Field(description="95 %, Wilson.")]
    utility: Fraction
    freshness: Fraction
    loads: Count
    tokenCost: Annotated[float, Field(ge=0, description="What a load costs, in tokens.")]
    lastUsedAt: str | None


class HealthView(TypedDict):
    """The health of a skill."""

    overall: Fraction
    utility: Fraction
    redundancy: Fraction
    freshness: Fraction
    risk: Fraction


class RecordView(TypedDict):
    """A record with its current version."""

    namespace: str
    name: str
    description: str
    kind: SkillKind
    origin: Origin
    lifecycle: Lifecycle
    trustTier: Annotated[int, Field(ge=1, le=4)]
    reason: Annotated[str | None, Field(description="Why it is deprecated, degraded or archived.")]
    created: str
    current: VersionView
    quality: QualityView
    health: Annotated[HealthView | None, Field(description="Of one skill; null in lists.")]
    dependsOn: list[str]
    conflictsWith: list[str]
    derivedFrom: list[str]
    mergedInto: str | None


class FileView(TypedDict):
    """A file of a skill."""

    path: str
    kind: FileKind
    size: Count
    sha256: str
    executable: Annotated[bool, Field(description="Whether it can be started as a program.")]


class DocumentView(TypedDict):
    """A document, with the list of its files in place of their bytes."""

    namespace: str
    name: str
    description: str
    license: str | None
    compatibility: str | None
    allowedTools: list[str]
    metadata: dict[str, Any]
    triggerPattern: str | None
    steps: list[StepView]
    body: str
    resources: list[FileView]


class ComposedNamespace(TypedDict):
    """A namespace whose reflections the skill declares."""

    namespace: str
    min_depth: Count
    max_reflection_depth: Count
    problem: Annotated[str | None, Field(description="Why it was not read.")]


class ComposedEntry(TypedDict):
    """A reflection that fits."""

    id: MemoryId
    namespace: str
    content: str
    created_at: str
    access_count: Count
    reflection_depth: Annotated[int, Field(ge=1, le=3)]
    memory_kind: Literal["reflection"]
    score: Annotated[float, Field(ge=0, le=2)]


class CompositionView(TypedDict):
    """The reflections that a version composes with."""

    skill_id: SkillVersionId
    skill_namespace: str
    skill_name: str
    compositional_namespaces: list[ComposedNamespace]
    reflections: list[ComposedEntry]
    budget_tokens: Count
    tokens_used: Annotated[Count, Field(description="Estimated.")]
    memories_dropped: Annotated[Count, Field(description="How many did not fit.")]


ATTEST_WORDS: dict[AttestLevel, str] = {
    "unsigned": "not signed",
    "unknown_key": "signed, key not known here",
    "self_signed": "signed by this installation",
    "publisher_signed": "signed by a trusted publisher",
    "invalid": "the signature is not valid",
}

Level = Callable[[str], AttestLevel]
"""How far the signature of a key is trusted (`RegistryReader.levels`)."""


def key_of(text: str, namespace: str) -> SkillKey:
    """The key that a text names: `NAME`, or `NAMESPACE/NAME`.

    Raises:
        CortexError: `invalid_arguments`: it is not the name of a skill.
    """
    given, _, name = text.rpartition("/")
    if any(True for _ in name_problems(name)) or (given and not is_namespace(given)):
        raise CortexError(
            "invalid_arguments",
            f"{shown(text)} is not a name of a skill",
            hint="give NAME or NAMESPACE/NAME",
            details={"field": "name"},
        )
    return SkillKey(given or namespace, normalized(name))


def record_view(
    registry: RegistryReader,
    record: SkillRecord,
    now: datetime,
    *,
    similar: int | None = None,
    level: Level | None = None,
) -> RecordView:
    """A record with its current version.

    Args:
        registry: where it is registered.
        record: the record.
        now: the current time, with its zone.
        similar: how many other skills are similar to it; without it the health is not known.
        level: how far its signature is trusted; read from the trust store when it is not given.
    """
    version = registry.version(record.version_id)
    edges = record.edges
    return {
        "namespace": record.key.namespace,
        "name": record.key.name,
        "description": version.description,
        "kind": cast("SkillKind", version.kind),
        "origin": record.standing.origin,
        "lifecycle": record.standing.lifecycle,
        "trustTier": record.standing.trust_tier,
        "reason": record.standing.reason or None,
        "created": date_time(record.created),
        "current": version_view(version, level or registry.levels()),
        "quality": _quality(record.evidence, now),
        "health": None if similar is None else health_view(record.evidence, similar, now),
        "dependsOn": registry.names_of(edges.depends_on),
        "conflictsWith": registry.names_of(edges.conflicts_with),
        "derivedFrom": registry.names_of(edges.derived_from),
        "mergedInto": next(iter(registry.names_of(edges.merged_into)), None),
    }


def health_view(quality: Quality, similar: int, now: datetime) -> HealthView:
    """The parts of the health of a skill, with so many similar ones."""
    found = health(quality, similar, now)
    return {
        "overall": round(found.overall, 4),
        "utility": round(found.utility, 4),
        "redundancy": round(found.redundancy, 4),
        "freshness": round(found.freshness, 4),
        "risk": round(found.risk, 4),
    }


def version_view(version: SkillVersion, level: Level) -> VersionView:
    """A version without its document."""
    return {
        "id": version.id,
        "version": version.number,
        "created": date_time(version.created),
        "digest": version.digest,
        "compatDigest": version.compat_digest,
        "attest": attest_level(version, level),
        "publicKey": version.public_key or None,
        "signature": version.signature or None,
        "previous": version.previous,
        "learnedIn": None if version.learned_in is None else _learned_in(version.learned_in),
    }


def _learned_in(learned: LearnedIn) -> LearnedInView:
    return {"session": learned.session, "agent": learned.agent, "time": date_time(learned.time)}


def document_view(document: SkillDocument) -> DocumentView:
    """A document, with the list of its files in place of their bytes."""
    return {
        "namespace": document.namespace,
        "name": document.name,
        "description": document.summary,
        "license": document.license,
        "compatibility": document.compatibility,
        "allowedTools": list(document.allowed_tools),
        "metadata": dict(document.metadata),
        "triggerPattern": document.trigger_pattern,
        "steps": [step.to_json() for step in document.steps],
        "body": document.body,
        "resources": [
            {
                "path": each.path,
                "kind": each.kind,
                "size": len(each.data),
                "sha256": each.sha256,
                "executable": each.executable,
            }
            for each in document.resources
        ],
    }


def composition_view(version: SkillVersion, found: Composition, budget: int) -> CompositionView:
    """What a skill is composed with, without its body; the names are those of other registries."""
    return {
        "skill_id": version.id,
        "skill_namespace": version.key.namespace,
        "skill_name": version.key.name,
        "compositional_namespaces": [
            {
                "namespace": each.namespace,
                "min_depth": each.min_depth,
                "max_reflection_depth": MAX_DEPTH,
                "problem": each.problem or None,
            }
            for each in found.declared
        ],
        "reflections": [
            {
                "id": each.memory.id,
                "namespace": each.namespace,
                "content": each.text,
                "created_at": date_time(each.memory.time),
                "access_count": each.memory.uses,
                "reflection_depth": each.memory.depth,
                "memory_kind": "reflection",
                "score": each.score,
            }
            for each in found.reflections
        ],
        "budget_tokens": budget,
        "tokens_used": found.tokens,
        "memories_dropped": found.dropped,
    }


def differences(old: SkillDocument, new: SkillDocument) -> list[str]:
    """The lines of the unified difference between two documents; files by their digests."""
    lines: list[str] = []
    before, after = write_skill_md(old), write_skill_md(new)
    for name in sorted(before.keys() | after.keys()):
        texts = (before.get(name, "").splitlines(), after.get(name, "").splitlines())
        lines += difflib.unified_diff(*texts, f"a/{name}", f"b/{name}", lineterm="")
    had, has = ({each.path: _file_text(each) for each in document.resources} for document in (old, new))
    for path in sorted(had.keys() | has.keys()):
        if had.get(path) != has.get(path):
            state = "added" if path not in had else "removed" if path not in has else "changed"
            lines.append(f"{state} {path}: {had.get(path, '-')} → {has.get(path, '-')}")
    return lines


def _file_text(file: SkillResource) -> str:
    return f"{file.sha256[:12]}{', executable' if file.executable else ''}"


def _quality(quality: Quality, now: datetime) -> QualityView:
    low, high = quality.interval()
    return {
        "invocations": quality.invocations,
        "successes": quality.successes,
        "successRate": round(quality.success_rate, 4),
        "successInterval": [round(low, 4), round(high, 4)],
        "utility": quality.utility,
        "freshness": round(quality.freshness(now), 4),
        "loads": quality.loads,
        "tokenCost": round(quality.token_cost, 1),
        "lastUsedAt": None if quality.last_used_at is None else date_time(quality.last_used_at),
        "current": {"invocations": quality.current, "successes": quality.current_successes, "agents": quality.users},
        "reports": reports_view(quality),
    }


def reports_view(quality: Quality) -> ReportsView:
    """What agents report about a skill: how many do, and for how many of them it worked."""
    return {"agents": quality.reporting, "working": len(quality.reported_working)}
