"""The registered skill that a page of the explorer is about, and how it is shown.

Rules kept here:
- the registry is that of the namespace in `namespace=`, or of the usual one of the caller;
- a success rate is never without its interval, and a state and a trust tier never without a word.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from cortex_skills.doors.explorer import addresses
from cortex_skills.doors.explorer.addresses import ROOT
from cortex_skills.doors.explorer.display import OF_HEADING, ShownText, shown_name, shown_text
from cortex_skills.doors.explorer.page import Near, PageCall, not_found
from cortex_skills.doors.explorer.pictures.plots import interval
from cortex_skills.doors.explorer.pictures.svg import Svg
from cortex_skills.errors import CortexError
from cortex_skills.features.registry.documents.document import SkillDocument
from cortex_skills.features.registry.parts import finder_in, registry_in
from cortex_skills.features.registry.records.lifecycle import Quality
from cortex_skills.features.registry.records.registry import SkillRegistry
from cortex_skills.features.registry.records.skill_record import SkillKey, SkillRecord, SkillVersion
from cortex_skills.features.registry.skill_finder import SkillFinder
from cortex_skills.features.registry.views import Level, differences, key_of

PATH = f"{ROOT}/registry"
LINES = 400  # of a text or a difference
CHARACTERS = 200  # of a line
_KINDS = {"released": "ok", "verified": "ok", "candidate": "none", "archived": "none", "degraded": "warn"}
_TRUST = {1: "not trusted yet", 2: "proved itself", 3: "trusted", 4: "fully trusted"}


@dataclass(frozen=True, slots=True)
class ShownStanding:
    """The state of a skill with the kind of its mark, and its trust as stars and words."""

    state: str
    kind: str
    stars: str
    trust: str
    origin: str


@dataclass(frozen=True, slots=True)
class SkillOfPage:
    """What a request is about."""

    registry: SkillRegistry
    finder: SkillFinder
    record: SkillRecord
    versions: tuple[SkillVersion, ...]
    shown: SkillVersion
    levels: Level

    @property
    def before(self) -> SkillVersion | None:
        """The version before the one that is shown."""
        return next((each for each in self.versions if each.id == self.shown.previous), None)


def found_skill(call: PageCall) -> SkillOfPage:
    """The skill of the path.

    Raises:
        HttpError: `not_found`, with similar names.
    """
    namespace = namespace_of(call)
    host = call.service.host(namespace)
    registry, finder = host.part(registry_in), host.part(finder_in)
    name, _, number = call.path["name"].partition("@")
    try:
        key = key_of(name, call.query.get("of") or namespace)
        record = registry.find(key)
    except CortexError as error:
        if error.code != "invalid_arguments":
            raise
        record = None
    if record is None:
        raise not_found("no such skill is registered here", _nearest(call, registry, finder, name))
    versions = tuple(registry.versions(record.key))
    wanted = (lambda each: str(each.number) == number) if number else (lambda each: each.id == record.version_id)
    shown = next(filter(wanted, versions), None)
    if shown is None:
        near = (Near("the current version", skill_address(call, registry, record.key)),)
        raise not_found("the skill has no such version", near)
    return SkillOfPage(registry, finder, record, versions, shown, registry.levels())


def _nearest(call: PageCall, registry: SkillRegistry, finder: SkillFinder, name: str) -> Sequence[Near]:
    words = name.replace("-", " ").strip()[:OF_HEADING]
    if not words:
        return ()
    try:
        found = finder.find(words, 3, among="all", timeout_s=1.0).skills
    except CortexError:  # the skills are being indexed
        return ()
    keys = [each.record.key for each in found]
    return tuple(Near(shown_name(str(key), 80).plain, skill_address(call, registry, key)) for key in keys)


def namespace_of(call: PageCall) -> str:
    """The namespace whose registry a page shows.

    Raises:
        HttpError: `permission_denied`: the caller may not use it; `invalid_arguments`: the request must name one.
    """
    return call.principal.namespace(call.query.get("namespace"))


def shown_key(registry: SkillRegistry, key: SkillKey) -> str:
    """The name of a skill; with its namespace if that is another one than the registry's."""
    return key.name if key.namespace == registry.terms.names.namespace else str(key)


def skill_address(call: PageCall, registry: SkillRegistry, key: SkillKey, **parameters: Any) -> str:
    """The page of a registered skill, in the registry that the call reads."""
    given = {"namespace": call.query.get("namespace"), **parameters}
    if key.namespace != registry.terms.names.namespace:
        given["of"] = key.namespace
    return addresses.registered_skill(key.name, **given)


def shown_standing(record: SkillRecord) -> ShownStanding:
    """The state and the trust of a skill, as marks and words."""
    standing = record.standing
    tier = min(4, max(1, standing.trust_tier))
    origin = {"builtin": "of the package", "human": "of a person", "learned": "learned"}[standing.origin]
    kind = _KINDS.get(standing.lifecycle, "bad")
    return ShownStanding(standing.lifecycle, kind, "★" * tier + "☆" * (4 - tier), _TRUST[tier], origin)


def success_picture(quality: Quality) -> Svg | None:
    """The success rate as a point with its interval; None before the first outcome."""
    if not quality.invocations:
        return None
    return interval(*quality.interval(), quality.success_rate, success_words(quality))


def success_words(quality: Quality) -> str:
    """The success rate and its interval in words."""
    if not quality.invocations:
        return "No outcome yet"
    low, high = quality.interval()
    return f"{quality.successes:,} of {quality.invocations:,} succeeded, 95 %: {low:.2f} to {high:.2f}"


def shown_changes(before: SkillDocument, document: SkillDocument) -> Iterator[tuple[str, ShownText]]:
    """The lines of the difference between two documents: the class, and the text."""
    return shown_lines(differences(before, document))


def shown_lines(lines: Sequence[str]) -> Iterator[tuple[str, ShownText]]:
    """The lines of a difference: the class, and the text."""
    for line in lines[:LINES]:
        kind = {"+": "add", "-": "gone"}.get(line[:1], "") if line[:3] not in ("+++", "---") else ""
        yield kind, shown_text(line, CHARACTERS)
    if len(lines) > LINES:
        yield "", shown_text(f"and {len(lines) - LINES:,} more lines")
