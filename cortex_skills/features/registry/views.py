"""Registered skills as JSON and as text, as every interface shows them, and as a model reads them.

Rules kept here:
- pure: a record and its versions in, JSON-ready data out;
- a rate has its interval beside it, and a signature how far it is trusted;
- a model reads the current version of a skill of the package, of one that a person registered, and of one that a
  trusted publisher signed as it was written: registering it, like loading it, was the decision of a person;
- the text of any other skill may have been written by whom nobody knows. Lines and fields with an instruction that a
  procedure does not need (`injection`) are removed and counted; naming a tool or an action is what a step is for, and
  stays. Of lines and of fields that are an instruction only together, the shortest run goes;
- invisible characters of such a text are escaped;
- the body stands between two lines with a mark that is drawn for each answer, so that no text closes it;
- the list `<available_skills>` has reliable skills, and candidates that the agent wrote and used with success, the best
  first; at most 4,096 characters, and its last line has how many more there are. ★ marks the trust tier 4, ☆ tier 3;
  the name of the agent that learned a skill, which may be any text, is left out.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from types import MappingProxyType
from typing import Annotated, Any, Literal, cast

from pydantic import Field
from typing_extensions import TypedDict

from cortex_graph.checks.datetimes import date_time
from cortex_graph.naming.names import is_namespace
from cortex_graph.naming.namespace_form import NAMESPACE
from cortex_skills.enrichment.block import BLOCK_LIMIT
from cortex_skills.enrichment.limits import cut
from cortex_skills.enrichment.policy import RULE, Policy
from cortex_skills.enrichment.text_lines import clean_lines, is_instruction, runs_together
from cortex_skills.errors import CortexError
from cortex_skills.features.registry.documents.ai_memory_form import named_here
from cortex_skills.features.registry.documents.document import (
    FileKind,
    SkillDocument,
    SkillResource,
    StepView,
    name_problems,
)
from cortex_skills.features.registry.documents.skill_md import write_skill_md
from cortex_skills.features.registry.records.lifecycle import Lifecycle, Origin, Quality, Standing, health
from cortex_skills.features.registry.records.reading import AttestLevel, RegistryReader, attest_level
from cortex_skills.features.registry.records.skill_record import LearnedIn, SkillKey, SkillRecord, SkillVersion
from cortex_skills.manifest.skill_names import normalized
from cortex_skills.operations.json_types import Count, SkillVersionId
from cortex_skills.safe_io.display import json_text, one_line, shown_name
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


class RecordFacts(TypedDict):
    """What all answers state of a record and its current version."""

    namespace: str
    name: str
    description: str
    kind: SkillKind
    lifecycle: Lifecycle
    trustTier: Annotated[int, Field(ge=1, le=4)]
    reason: Annotated[str | None, Field(description="Why it is deprecated, degraded or archived.")]
    created: str
    validated: Annotated[str | None, Field(description="When it was verified last.")]
    current: VersionView
    quality: QualityView
    health: Annotated[HealthView | None, Field(description="Of one skill; null in lists.")]
    dependsOn: list[str]
    conflictsWith: list[str]
    derivedFrom: list[str]
    mergedInto: str | None


class RecordView(RecordFacts):
    """A record with its current version."""

    origin: Origin


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


ATTEST_WORDS: dict[AttestLevel, str] = {
    "unsigned": "not signed",
    "unknown_key": "signed, key not known here",
    "self_signed": "signed by this installation",
    "publisher_signed": "signed by a trusted publisher",
    "invalid": "the signature is not valid",
}

Level = Callable[[str], AttestLevel]
"""How far the signature of a key is trusted (`RegistryReader.levels`)."""


NAME_PART = r"[^\W_A-Z]+([-_][^\W_A-Z]+)*"
SkillName = Annotated[
    str,
    Field(
        max_length=129,
        description="`NAME`, or `NAMESPACE/NAME` of a skill of another namespace in this registry.",
        json_schema_extra={"pattern": rf"^({NAMESPACE}/)?{NAME_PART}$"},  # `key_of` checks it
    ),
]
AnySkillName = Annotated[str, Field(max_length=129, description="A `SkillName`; another text is answered by itself.")]
"""One of several names that each have an answer of their own."""


@dataclass(frozen=True, slots=True)
class OneSkill:
    """A skill."""

    skill: SkillName


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
    version: SkillVersion | None = None,
) -> RecordView:
    """A record with its current version.

    Args:
        registry: where it is registered.
        record: the record.
        now: the current time, with its zone.
        similar: how many other skills are similar to it; without it the health is not known.
        level: how far its signature is trusted; read from the trust store when it is not given.
        version: the current one, where it is not registered yet.
    """
    version = version or registry.version(record.version_id)
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
        "validated": None if record.validated is None else date_time(record.validated),
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


MAX_BODY = 1 << 15  # characters of a body that a model reads at once
ORDINARY = frozenset({None, "tool_call", "action"})  # what a step of a procedure is
_is_instruction = partial(is_instruction, ordinary=ORDINARY)


@dataclass(frozen=True, slots=True)
class ModelText:
    """A document as a model reads it.

    Attributes:
        view: the document as JSON (`views.document_view`), cleaned.
        removed: how many lines and fields were removed.
        cut: how many characters of the body are left out because it is too long.
    """

    view: dict[str, Any]
    removed: int = 0
    cut: int = 0


def is_trusted(standing: Standing, attest: str) -> bool:
    """Whether a model reads a skill as it was written.

    Args:
        standing: of the record.
        attest: how far the signature of its version is trusted.
    """
    return standing.origin != "learned" or attest == "publisher_signed"


def document_for_model(document: SkillDocument, *, trusted: bool, policy: Policy) -> ModelText:
    """A document as a model reads it.

    Args:
        document: the document.
        trusted: see `is_trusted`.
        policy: of the host; it may remove all text that is not trusted.
    """
    view: dict[str, Any] = {**document_view(document)}
    cut = max(0, len(view["body"]) - MAX_BODY)
    view["body"] = view["body"][:MAX_BODY]
    if trusted:
        return ModelText(view, 0, cut)
    if policy.drop_all_text:
        body, removed = "", int(bool(view["body"]))
    else:
        cleaned = clean_lines(view["body"], ORDINARY)
        body, removed = cleaned.text, cleaned.removed
    files = [{**each, "path": named_here(each["path"])} for each in view["resources"]]  # `resources` is no verb there
    judged = {key: value for key, value in view.items() if key != "body"} | {"resources": files}
    fields, more = cleaned_fields(judged, policy)
    for kept, each in zip(fields["resources"], view["resources"], strict=True):
        kept["path"] = each["path"] if kept["path"] == named_here(each["path"]) else kept["path"]
    return ModelText({**fields, "body": policy.marked(body)}, removed + more, cut)


def withheld(
    registry: RegistryReader, version: SkillVersion, document: SkillDocument, policy: Policy = RULE
) -> list[str]:
    """What of a registered document no model reads, for its writer: its fields, and the lines of its body."""
    attest = attest_level(version, registry.levels())
    trusted = is_trusted(registry.record(version.key).standing, attest)
    found = document_for_model(document, trusted=trusted, policy=policy)
    if not found.removed:
        return []
    before: dict[str, Any] = {**document_view(document)}
    fields = [name for name in before if name != "body" and before[name] and found.view[name] != before[name]]
    kept = iter(found.view["body"].split("\n"))
    expected, gone = next(kept, None), []
    for number, line in enumerate(document.body.split("\n"), 1):
        if "\t".join(map(one_line, line.split("\t"))) == expected:
            expected = next(kept, None)
        else:
            gone.append(str(number))
    places = [*fields, *([f"line {', '.join(gone[:20])} of the body"] if gone else [])]
    return [f"agents do not read {' and '.join(places)}: a model could take that for an instruction; reword it"]


def cleaned_fields(value: dict[str, Any], policy: Policy) -> tuple[dict[str, Any], int]:
    """JSON whose texts with an instruction are empty, and whose keys with one are gone; and how many those were.

    Of texts that are an instruction only together, the shortest run is emptied.
    """
    texts: list[str] = []
    found, removed = _kept(value, policy, texts, frozenset())
    if together := runs_together(texts, "\n", _is_instruction):
        found, removed = _kept(value, policy, [], together)
    return found, removed


def _kept(value: dict[str, Any], policy: Policy, texts: list[str], gone: Collection[int]) -> tuple[dict[str, Any], int]:
    """The same without the texts at some places; `texts` gets those that are no instruction alone."""
    removed = 0

    def keep(item: Any) -> Any:
        nonlocal removed
        if isinstance(item, str):
            is_kept = not ((policy.drop_all_text and " " in item) or _is_instruction(item))
            if is_kept:
                texts.append(item)
            if not is_kept or len(texts) - 1 in gone:
                removed += 1
                return ""
            return policy.marked(one_line(item))
        if isinstance(item, list):
            return [keep(member) for member in item]
        if isinstance(item, dict):
            kept = {key: member for key, member in item.items() if not _is_instruction(key)}
            removed += len(item) - len(kept)
            return {one_line(key): keep(member) for key, member in kept.items()}
        return item

    return {key: keep(member) for key, member in value.items()}, removed


_CONSIDERED = 1_000
_DESCRIPTION = 300  # characters
_STARS = {4: "★ ", 3: "☆ "}
_OPENING, _CLOSING = "<available_skills>", "</available_skills>"
_NOTE = 60  # characters for the last line


def available_skills(registry: RegistryReader, agent: str, policy: Policy = RULE) -> str:
    """The list for an agent; empty when there is no skill for it."""
    records, cursor = registry.records(limit=_CONSIDERED)
    reliable = [record for record in records if record.is_shown_to(agent)]
    reliable.sort(key=lambda each: (-each.standing.trust_tier, -each.quality.utility, each.key))
    left = BLOCK_LIMIT - len(_OPENING) - len(_CLOSING) - _NOTE
    lines: list[str] = []
    level = registry.levels() if reliable else None
    for record in reliable:
        line = described(registry, record, shown_record(registry, record, policy, level))
        left -= len(line) + 1
        if left < 0:
            break
        lines.append(line)
    if not lines:
        return ""
    more = len(reliable) - len(lines)
    if more or cursor is not None:
        lines.append(f"({more}{'+' if cursor is not None else ''} more: skill_find finds them)")
    return "\n".join([_OPENING, *lines, _CLOSING])


def described(registry: RegistryReader, record: SkillRecord, view: Mapping[str, Any]) -> str:
    """A line about a skill from what `shown_record` returned: stars, name, description."""
    name = shown_name(registry.terms.label(record.key))
    description = json_text(cut(view["description"], _DESCRIPTION)) if view["description"] else "(withheld)"
    return f"{_STARS.get(record.standing.trust_tier, '')}{name}: {description}"


def shown_record(
    registry: RegistryReader,
    record: SkillRecord,
    policy: Policy,
    level: Level | None = None,
    more: Mapping[str, Any] = MappingProxyType({}),
    version: SkillVersion | None = None,
) -> dict[str, Any]:
    """A record as JSON (`record_view`) whose texts a model may read.

    Args:
        registry: where it is registered.
        record: the record.
        policy: of the host.
        level: see `record_view`; a list reads the trust store once.
        more: further members of it, by whoever wrote the skill.
        version: see `record_view`.
    """
    view: dict[str, Any] = {**record_view(registry, record, datetime.now(UTC), level=level, version=version)}
    if (learned := view["current"]["learnedIn"]) is not None:
        del learned["agent"]
    if is_trusted(record.standing, view["current"]["attest"]):
        return {**view, **more}
    texts, _ = cleaned_fields({**{key: view[key] for key in ("description", "reason")}, **more}, policy)
    return {**view, **texts}
