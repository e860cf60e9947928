"""`/explore/registry`: the registered skills: figures, groups, states, search and maintenance.

Rules kept here:
- the registry is that of the namespace in `namespace=`, or of the usual one of the caller;
- numbers and orders come from the index of the finder, so that a page costs the same in a large registry; each skill of
  the page is read from the graph;
- a success rate is never without its interval, and a state and a trust tier never without a word;
- the health check only proposes: maintenance is an action.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from cortex_skills.doors.explorer import addresses
from cortex_skills.doors.explorer.display import ShownText, shown_name, shown_text
from cortex_skills.doors.explorer.field_text import to_field
from cortex_skills.doors.explorer.page import Action, ExplorerPage, Form, PageCall
from cortex_skills.doors.explorer.page_queries import RegistryQuery
from cortex_skills.doors.http.bodies import to_json
from cortex_skills.errors import CortexError
from cortex_skills.features.explorer.reading import TakeAway, TextLink
from cortex_skills.features.registry.pages.chosen_skills import (
    LABELS,
    ChosenOutcome,
    ChosenPreview,
    change_chosen,
    preview_chosen,
    repeated,
)
from cortex_skills.features.registry.pages.new_skill import PATH as NEW
from cortex_skills.features.registry.pages.registered import (
    PATH,
    namespace_of,
    shown_key,
    skill_address,
)
from cortex_skills.features.registry.pages.registry_rows import RegistryRow, registry_row
from cortex_skills.features.registry.pages.skill_folders import PATH as FOLDERS
from cortex_skills.features.registry.parts import finder_in, registry_in
from cortex_skills.features.registry.records.lifecycle import STATES
from cortex_skills.features.registry.records.registry import SkillRegistry
from cortex_skills.features.registry.records.skill_record import SkillKey, SkillRecord, SkillVersion
from cortex_skills.features.registry.rest.procedural_skills import maintain_skills
from cortex_skills.features.registry.rest.registered_skills import skill_view
from cortex_skills.features.registry.skill_finder import MAX_LIMIT, FoundSkills
from cortex_skills.features.registry.skill_listing import SkillListing
from cortex_skills.features.registry.skill_previews import Change

_ROWS = 30
_GROUPS = {"all": "All", "people": "People's", "learned": "Learned", "released": "Released", "deprecated": "Deprecated"}
_ORDERS = {"name": "name", "success": "success", "utility": "utility", "used": "last use", "trust": "trust"}
_VIEWS = {None: "List", "cards": "Cards"}


@dataclass(frozen=True, slots=True)
class Proposal:
    """What maintenance would do with a skill."""

    name: ShownText
    href: str
    state: str
    following: str
    reason: str


@dataclass(frozen=True, slots=True)
class RegistryView:
    """The registry of a namespace.

    Attributes:
        namespace: whose registry it is.
        figures: label and value.
        groups, states, orders: links that filter and order.
        views: links to the list and to the cards.
        has_cards: whether the skills are shown as cards.
        kept: the parameters that the search keeps.
        query: what is searched for.
        rows: the skills of this page.
        words: how many there are.
        problem: why meaning was not used in the search; None if it was.
        first, next: other pages.
        check: the address of the health check.
        proposals: what maintenance would do; None when the health was not checked.
        away: the other forms.
        outcome: what was done with the chosen skills; None if nothing was asked for.
        preview: what would be done with them; None if that was not asked for.
        here: the address of this page.
        new, folders: the pages that register skills.
    """

    namespace: str
    figures: tuple[tuple[str, str], ...]
    groups: tuple[TextLink, ...]
    states: tuple[TextLink, ...]
    orders: tuple[TextLink, ...]
    views: tuple[TextLink, ...]
    has_cards: bool
    kept: tuple[tuple[str, str], ...]
    query: str
    rows: tuple[RegistryRow, ...]
    words: str
    problem: ShownText | None
    first: str | None
    next: str | None
    check: str
    proposals: tuple[Proposal, ...] | None
    away: TakeAway
    here: str
    new: str
    folders: str
    outcome: ChosenOutcome | None = None
    preview: ChosenPreview | None = None


@dataclass(frozen=True, slots=True)
class Selected:
    """The skills of a page: the records with their versions, how many there are, and how they were found."""

    skills: tuple[tuple[SkillRecord, SkillVersion], ...]
    total: int
    found: FoundSkills | None


def view(call: PageCall) -> RegistryView:
    """The registry.

    Raises:
        HttpError: as `namespace_of`.
        CortexError: `graph_busy`: the skills are being indexed.
    """
    namespace = namespace_of(call)
    registry, listing = call.service.host(namespace).part(registry_in), _listing(call, namespace)
    chosen = _selected(call, registry, listing)
    start, now = call.query.get("start", 0), datetime.now(UTC)
    rows = tuple(registry_row(call, registry, *each, now) for each in chosen.skills)
    if chosen.found is not None:
        by = {each.record.key: each.by for each in chosen.found.skills}
        pairs = zip(rows, chosen.skills, strict=True)
        rows = tuple(replace(row, by=by[record.key]) for row, (record, _) in pairs)
    problem = chosen.found.problem if chosen.found is not None else None
    more, shape = start + _ROWS < chosen.total, "cards" if call.query.get("view") == "cards" else None
    return RegistryView(
        namespace,
        _figures(listing),
        tuple(_link(call, label, "group", name, "all") for name, label in _GROUPS.items()),
        _states(call, listing),
        tuple(_link(call, label, "order", name, "name") for name, label in _ORDERS.items()),
        tuple(TextLink(words, _address(call, view=name), name == shape) for name, words in _VIEWS.items()),
        shape == "cards",
        tuple((name, str(call.query[name])) for name in ("namespace", "group", "state", "view") if name in call.query),
        to_field(call.query.get("q", "")),
        rows,
        _words(start, len(rows), chosen),
        None if problem is None else shown_text(str(problem), 1_000),
        _address(call, start=None) if start else None,
        _address(call, start=start + _ROWS) if more else None,
        _address(call, check="yes"),
        _proposals(call, registry) if call.query.get("check") else None,
        TakeAway((TextLink("JSON", _address(call, format="json")),), "application/json", _address(call)),
        _address(call),
        addresses.address(NEW, namespace=call.query.get("namespace")),
        addresses.address(FOLDERS, namespace=call.query.get("namespace")),
    )


def _listing(call: PageCall, namespace: str) -> SkillListing:
    return call.service.host(namespace).part(finder_in).listing()


def _selected(call: PageCall, registry: SkillRegistry, listing: SkillListing) -> Selected:
    query = call.query
    group, state, text = query.get("group", "all"), query.get("state"), query.get("q", "").strip()
    if text:
        finder = call.service.host(registry.terms.names.namespace).part(finder_in)
        found = finder.find(text, MAX_LIMIT, among="all", group=group, state=state)
        skills = [(each.record, each.version) for each in found.skills]
        start = query.get("start", 0)
        return Selected(tuple(skills[start : start + _ROWS]), len(skills), found)
    ordered = listing.ordered(group, state, query.get("order", "name"))
    start = query.get("start", 0)
    read = (_read(registry, each.key) for each in ordered[start : start + _ROWS])
    return Selected(tuple(each for each in read if each is not None), len(ordered), None)


def _read(registry: SkillRegistry, key: SkillKey) -> tuple[SkillRecord, SkillVersion] | None:
    try:
        record = registry.find(key)
        return None if record is None else (record, registry.version(record.version_id))
    except CortexError:  # a malformed one has no row; its page states what is wrong
        return None


def _figures(listing: SkillListing) -> tuple[tuple[str, str], ...]:
    figures = listing.figures
    return (
        ("utility, mean", f"{figures.utility:.2f}"),
        ("freshness, mean", f"{figures.freshness:.2f}"),
        ("active", f"{figures.active:,}"),
        ("deprecated or archived", f"{figures.total - figures.active:,}"),
    )


def _states(call: PageCall, listing: SkillListing) -> tuple[TextLink, ...]:
    counts, current = listing.states(call.query.get("group", "all")), call.query.get("state")
    links = [TextLink("in use", _address(call, state=None, start=None), current is None)]
    for state in STATES:
        label = f"{state} {counts[state]:,}"
        links.append(TextLink(label, _address(call, state=state, start=None), current == state))
    return tuple(links)


def _link(call: PageCall, label: str, parameter: str, value: str, usual: str) -> TextLink:
    given = None if value == usual else value
    changes = {parameter: given, "start": None} | ({"state": None} if parameter == "group" else {})
    return TextLink(label, _address(call, **changes), call.query.get(parameter, usual) == value)


def _address(call: PageCall, **changes: Any) -> str:
    return addresses.address(PATH, **{**call.query, **changes})


def _words(start: int, shown: int, chosen: Selected) -> str:
    if not chosen.total:
        return "No skill matches."
    what = "skill" if chosen.total == 1 else "skills"
    if shown == chosen.total:
        return f"{shown:,} {what}"
    return f"{start + 1:,} to {start + shown:,} of {chosen.total:,} {what}"


def _proposals(call: PageCall, registry: SkillRegistry) -> tuple[Proposal, ...]:
    finder = call.service.host(registry.terms.names.namespace).part(finder_in)

    def similar(record: SkillRecord) -> int:
        call.cancel.check()
        return len(finder.similar(record))

    return tuple(
        Proposal(
            shown_name(shown_key(registry, record.key)),
            skill_address(call, registry, record.key),
            record.standing.lifecycle,
            standing.lifecycle,
            standing.reason,
        )
        for record, standing in registry.to_maintain(similar)
    )


def _maintain(call: PageCall, _: Mapping[str, str]) -> str:
    """Do what the health check proposed, as the skills are now."""
    maintain_skills(call.api(namespace=namespace_of(call)))
    return _address(call, check="yes")


def _preview(call: PageCall, fields: Mapping[str, str]) -> RegistryView:
    preview = preview_chosen(call, fields)
    return replace(view(call), preview=preview)


def _change(change: Change, call: PageCall, fields: Mapping[str, str]) -> RegistryView:
    outcome = change_chosen(change, call, fields)
    return replace(view(call), outcome=outcome)


def _action(change: Change) -> Action:
    return Action(
        LABELS[change],
        "registry",
        partial(_change, change),
        form="choose",
        takes_away=change != "promote",
        repeats=partial(repeated, change),
    )


def _document(call: PageCall) -> bytes:
    namespace = namespace_of(call)
    registry, listing = call.service.host(namespace).part(registry_in), _listing(call, namespace)
    chosen, level = _selected(call, registry, listing), registry.levels()
    figures = listing.figures
    document = {
        "namespace": namespace,
        "total": figures.total,
        "active": figures.active,
        "utility": round(figures.utility, 4),
        "freshness": round(figures.freshness, 4),
        "states": listing.states(call.query.get("group", "all")),
        "matching": chosen.total,
        "problem": str(chosen.found.problem) if chosen.found is not None and chosen.found.problem else None,
    }
    with registry.reading_current([record for record, _ in chosen.skills]):
        document["skills"] = [skill_view(registry, record, level) for record, _ in chosen.skills]
    if call.query.get("check"):
        document["proposals"] = [
            {"name": each.name.plain, "from": each.state, "to": each.following, "reason": each.reason}
            for each in _proposals(call, registry)
        ]
    return to_json(document)


PAGE = ExplorerPage(
    PATH,
    "registry",
    "registry.html",
    view,
    query=RegistryQuery,
    forms={"json": Form("application/json", _document)},
    actions={
        "maintain": Action("Do the maintenance", "registry", _maintain),
        "preview": Action("Preview", "registry", _preview, form="choose", changes=False),
        **{change: _action(change) for change in LABELS},
    },
    pool="slow",
    label="Registry",
    section="Skills",
    keys="g r",
    place=190,
)
