"""`/explore/registry/{name}`: one registered skill; `NAME@N` for its version N.

Rules kept here:
- the document is verified before it is shown: digest, signature, and each file; one that is not whole is an error;
- what an agent will read is made by the function that the tools use, with the cleaning of this host;
- its actions are in `skill_actions.py`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from cortex_skills.doors.explorer import addresses
from cortex_skills.doors.explorer.display import IN_TABLE, OF_HEADING, OF_NAME, ShownText, shown_name, shown_text
from cortex_skills.doors.explorer.page import ExplorerPage, Form, PageCall
from cortex_skills.doors.explorer.page_queries import RegisteredSkillQuery
from cortex_skills.doors.explorer.pictures.plots import Bar, stacked_bars
from cortex_skills.doors.explorer.pictures.svg import Svg
from cortex_skills.doors.http.bodies import to_json
from cortex_skills.errors import CortexError
from cortex_skills.features.explorer.reading import TakeAway, TextLink
from cortex_skills.features.registry.documents.document import SkillDocument
from cortex_skills.features.registry.pages.edit_skill import address_of_edit
from cortex_skills.features.registry.pages.registered import (
    CHARACTERS,
    LINES,
    PATH,
    ShownStanding,
    SkillOfPage,
    found_skill,
    shown_changes,
    shown_key,
    shown_standing,
    skill_address,
    success_picture,
    success_words,
)
from cortex_skills.features.registry.pages.skill_actions import ACTIONS
from cortex_skills.features.registry.pages.skill_beside import Beside, skill_beside
from cortex_skills.features.registry.pages.skill_fields import EditField, fields_of, shown_fields
from cortex_skills.features.registry.pages.skill_relations import Relations, relations_of
from cortex_skills.features.registry.records.events import SkillUse, skill_use
from cortex_skills.features.registry.records.lifecycle import Quality, following_state
from cortex_skills.features.registry.records.reading import attest_level
from cortex_skills.features.registry.records.skill_record import LearnedIn, SkillKey, SkillVersion
from cortex_skills.features.registry.records.standing import gain_of
from cortex_skills.features.registry.rest.registered_skills import skill_view
from cortex_skills.features.registry.skill_changes import LONGEST_REASON
from cortex_skills.features.registry.tools.registered_skills import text_of_skill
from cortex_skills.features.registry.views import ATTEST_WORDS, differences, document_view, health_view, version_view

_VERSIONS = 100
_SIMILAR = 20
_METADATA = 40
_LEARNED = 5
_INLINE = 4_096  # characters of a field
_ATTEST_KINDS = {"publisher_signed": "ok", "invalid": "bad"}


@dataclass(frozen=True, slots=True)
class VersionRow:
    """A version: its number, address, time, digest, and how far its signature is trusted."""

    number: int
    href: str
    created: str
    digest: str
    attest: tuple[str, str]
    is_shown: bool


@dataclass(frozen=True, slots=True)
class RegisteredSkillPage:
    """A registered skill.

    Attributes:
        namespace, name, description: of the skill.
        standing: its state and trust.
        reason: why it is deprecated or degraded.
        success, success_words: its outcomes.
        health: its parts, each with 0 to 1; None while the skills are being indexed.
        counters: loads, what one costs, the time of the last use.
        use, use_words: the outcomes and loads of the last 30 days.
        facts: where it comes from: label and text.
        relations: to other skills, as a picture and as a table.
        similar: other skills that are the same by meaning or words, with the similarity
            and the address that shows it beside this one.
        beside: the one that is shown beside it; None without one.
        shown: the version that is shown.
        versions: all versions, the latest first; `more_versions` are left out.
        compared: the number of the version before; None for the first one.
        changes: the lines of the difference: the class, and the text.
        reads: what an agent will read; empty lines included.
        reads_words: how much of it there is.
        following: the state after a promotion; empty if there is none.
        gain: what a learned skill gains, in words; empty for others.
        is_gain_shown: whether it can be verified without a person who has checked it.
        may_deprecate: whether it is in use.
        needed_by: who depends on it, as text; it is not deleted then.
        list_href: the list of the registry.
        edit, edit_path: the form for the next version, and its path; empty if it is not edited here.
        inline: its fields that are on this page, too; none for an earlier version.
        away: the other forms.
    """

    namespace: str
    name: ShownText
    description: ShownText
    standing: ShownStanding
    reason: ShownText
    success: Svg | None
    success_words: str
    health: tuple[tuple[str, str], ...] | None
    counters: tuple[tuple[str, str], ...]
    use: Svg | None
    use_words: str
    facts: tuple[tuple[str, ShownText], ...]
    relations: Relations
    similar: tuple[tuple[ShownText, str, str, str], ...]
    beside: Beside | None
    shown: VersionRow
    versions: tuple[VersionRow, ...]
    more_versions: int
    compared: int | None
    changes: tuple[tuple[str, ShownText], ...]
    reads: tuple[ShownText, ...]
    reads_words: str
    following: str
    gain: str
    is_gain_shown: bool
    may_deprecate: bool
    needed_by: str
    list_href: str
    edit: str
    edit_path: str
    inline: tuple[EditField, ...]
    away: TakeAway


def view(call: PageCall) -> RegisteredSkillPage:
    """A registered skill.

    Raises:
        HttpError: `not_found`.
        CortexError: `graph_corrupt`, `signature_invalid`: the document is not what was registered.
    """
    found, now = found_skill(call), datetime.now(UTC)
    registry, record, quality = found.registry, found.record, found.record.evidence
    document = registry.document(found.shown)
    before = None if found.before is None else registry.document(found.before)
    use, similar = skill_use(registry.log, record.key, now), _similar(found)
    text, _ = text_of_skill(registry, record, found.shown, call.service.plugin.cleaning)
    lines = text.splitlines()
    gain = gain_of(registry, record) if record.standing.origin == "learned" else None
    rows = tuple(_version_row(call, found, each) for each in reversed(found.versions))
    needed = ", ".join(map(str, registry.dependents(record.key)))
    edit = address_of_edit(call, found)
    return RegisteredSkillPage(
        registry.terms.names.namespace,
        shown_name(shown_key(registry, record.key), OF_HEADING),
        shown_text(found.shown.description, 1_024),
        shown_standing(record),
        shown_text(record.standing.reason, LONGEST_REASON),
        success_picture(quality),
        success_words(quality),
        None if similar is None else _health(found, len(similar), now),
        _counters(quality),
        _use_picture(use, now),
        use.words,
        tuple(_facts(found, document, use)),
        relations_of(registry, record, lambda key: skill_address(call, registry, key)),
        tuple(
            (
                shown_name(shown_key(registry, key)),
                skill_address(call, registry, key),
                f"{value:.2f}",
                addresses.registered_skill(call.path["name"], **{**call.query, "beside": shown_key(registry, key)}),
            )
            for key, value in (similar or [])[:_SIMILAR]
        ),
        skill_beside(call, found, document),
        next(row for row in rows if row.is_shown),
        rows[:_VERSIONS],
        max(0, len(rows) - _VERSIONS),
        None if found.before is None else found.before.number,
        () if before is None else tuple(shown_changes(before, document)),
        tuple(shown_text(line, CHARACTERS) for line in lines[:LINES]),
        f"{min(len(lines), LINES):,} of {len(lines):,} lines",
        following_state(record.standing) or "",
        "" if gain is None else str(gain),
        gain is None or gain.is_shown,
        record.standing.lifecycle not in ("deprecated", "archived"),
        shown_text(needed, IN_TABLE).plain,
        addresses.address(PATH, namespace=call.query.get("namespace")),
        edit,
        edit.partition("?")[0],
        tuple(_inline(document)) if edit and found.shown.id == record.version_id else (),
        TakeAway((TextLink("JSON", _here(call, format="json")),), "application/json", _here(call)),
    )


def _inline(document: SkillDocument) -> Iterator[EditField]:
    """The fields of the description and the steps, which the page shows where they are not long."""
    for field in shown_fields(fields_of(document)):
        if field.name in ("description", "steps") and len(field.text) <= _INLINE:
            yield field


def _here(call: PageCall, **parameters: Any) -> str:
    return addresses.registered_skill(call.path["name"], **call.query, **parameters)


def _similar(found: SkillOfPage) -> list[tuple[SkillKey, float]] | None:
    try:
        return found.finder.similar(found.record)
    except CortexError as error:
        if error.code != "graph_busy":
            raise
        return None


def _health(found: SkillOfPage, similar: int, now: datetime) -> tuple[tuple[str, str], ...]:
    parts = health_view(found.record.evidence, similar, now)
    return tuple((name, f"{value:.2f}") for name, value in parts.items())


def _counters(quality: Quality) -> tuple[tuple[str, str], ...]:
    used = "never" if quality.last_used_at is None else f"{quality.last_used_at:%Y-%m-%d %H:%M} UTC"
    cost = f"{quality.token_cost:,.0f} tokens" if quality.loads else "not known"
    reports = (
        f"{len(quality.reported_working):,} of {quality.reporting:,} agents: it works" if quality.reporting else "none"
    )
    users = f"{len(quality.worked_for):,} of {quality.users:,} agents" if quality.users else "none"
    return (
        ("works for", users),
        ("reports", reports),
        ("loads", f"{quality.loads:,}"),
        ("a load costs", cost),
        ("last use", used),
    )


def _use_picture(use: SkillUse, now: datetime) -> Svg | None:
    if not any(day.total for day in use.days):
        return None
    bars = [Bar(day.total, day.failures) for day in use.days]
    middle = now - timedelta(days=len(bars) // 2)
    labels = (f"{now - timedelta(days=len(bars) - 1):%m-%d}", f"{middle:%m-%d}", f"{now:%m-%d}")
    return stacked_bars(bars, labels, use.words)


def _facts(found: SkillOfPage, document: SkillDocument, use: SkillUse) -> Iterator[tuple[str, ShownText]]:
    """Where the skill comes from."""
    yield "kind", shown_text(found.shown.kind)
    yield "made", shown_text(f"{shown_standing(found.record).origin}, first {found.record.created:%Y-%m-%d %H:%M} UTC")
    for version in [each for each in reversed(found.versions) if each.learned_in is not None][:_LEARNED]:
        learned = cast(LearnedIn, version.learned_in)
        session = f"in the session {learned.session} of {learned.agent}, {learned.time:%Y-%m-%d %H:%M} UTC"
        yield "learned", shown_text(f"version {version.number} {session}")
    for label, text in (("license", document.license), ("compatibility", document.compatibility)):
        if text:
            yield label, shown_text(text)
    if document.allowed_tools:
        yield "tools", shown_text(", ".join(document.allowed_tools))
    for name, value in list(document.metadata.items())[:_METADATA]:
        yield shown_text(name, OF_NAME).plain, shown_text(value if isinstance(value, str) else json.dumps(value))
    for event in use.latest:
        reason = f": {event.reason}" if event.reason else ""
        yield f"{event.time[:10]} {event.kind.removeprefix('skill.')}", shown_text(f"by {event.actor}{reason}")


def _version_row(call: PageCall, found: SkillOfPage, version: SkillVersion) -> VersionRow:
    level = attest_level(version, found.levels)
    return VersionRow(
        version.number,
        skill_address(call, found.registry, version.key, number=version.number),
        f"{version.created:%Y-%m-%d %H:%M}",
        version.digest,
        (_ATTEST_KINDS.get(level, "none"), ATTEST_WORDS[level]),
        version.id == found.shown.id,
    )


# --- other forms


def _document(call: PageCall) -> bytes:
    found, now = found_skill(call), datetime.now(UTC)
    registry, record = found.registry, found.record
    document = registry.document(found.shown)
    before = None if found.before is None else registry.document(found.before)
    similar = _similar(found)
    return to_json(
        {
            **skill_view(registry, record, found.levels),
            "health": None if similar is None else health_view(record.evidence, len(similar), now),
            "similar": [{"name": str(key), "similarity": round(value, 4)} for key, value in similar or []],
            "shown": version_view(found.shown, found.levels),
            "document": document_view(document),
            "versions": [version_view(each, found.levels) for each in found.versions],
            "difference": [] if before is None else differences(before, document),
            "gain": str(gain_of(registry, record)) if record.standing.origin == "learned" else None,
            "neededBy": [str(key) for key in registry.dependents(record.key)],
            "use": skill_use(registry.log, record.key, now).to_json(),
        }
    )


PAGE = ExplorerPage(
    f"{PATH}/{{name}}",
    "registered",
    "registered_skill.html",
    view,
    query=RegisteredSkillQuery,
    forms={"json": Form("application/json", _document)},
    actions=ACTIONS,
    pool="slow",
    place=200,
)
