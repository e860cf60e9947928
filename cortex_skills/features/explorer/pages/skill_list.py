"""`/explore/skills`: the skills that are loaded, and those that were refused.

Rules kept here:
- the skills are those of the namespace that the plugin acts in; a caller who may not use it sees none;
- no folder of this machine is shown.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from cortex_skills.config.settings import Config
from cortex_skills.doors.explorer import addresses
from cortex_skills.doors.explorer.addresses import ROOT
from cortex_skills.doors.explorer.display import ShownText, shown_name, shown_text
from cortex_skills.doors.explorer.page import ExplorerPage, Form, PageCall
from cortex_skills.doors.http.bodies import to_json
from cortex_skills.doors.rest.skills import list_skills
from cortex_skills.features.explorer.reading import TakeAway, TextLink
from cortex_skills.plugin import Plugin
from cortex_skills.policy.session_limits import SessionLimits
from cortex_skills.runtime.skill import Skill

_PATH = f"{ROOT}/skills"


@dataclass(frozen=True, slots=True)
class Meter:
    """A budget: what is used of it, and the width in per cent."""

    label: str
    used: int
    most: int

    @property
    def width(self) -> int:
        """The used part in per cent."""
        return min(100, round(100 * self.used / self.most)) if self.most else 100

    @property
    def is_high(self) -> bool:
        """Whether most of it is used."""
        return self.width > 80


@dataclass(frozen=True, slots=True)
class SkillCard:
    """A loaded skill.

    Attributes:
        name, version, description: of its manifest.
        href: its page.
        state: `ok`, `warn` or `bad`, with `state_words`.
        permissions: what it may do, one word each.
        meters: its budgets.
        signed: whether a trusted signature was verified when it was loaded, in words.
    """

    name: ShownText
    version: ShownText
    description: ShownText
    href: str
    state: str
    state_words: str
    permissions: tuple[str, ...]
    meters: tuple[Meter, ...]
    signed: str


@dataclass(frozen=True, slots=True)
class RefusedCard:
    """A skill, or a new version of one, that is not active."""

    name: ShownText
    href: str
    answering: ShownText | None
    code: str
    message: ShownText
    hint: ShownText
    at: str


@dataclass(frozen=True, slots=True)
class SkillsView:
    """The skills."""

    skills: tuple[SkillCard, ...]
    refused: tuple[RefusedCard, ...]
    away: TakeAway


def view(call: PageCall) -> SkillsView:
    """The loaded and the refused skills."""
    plugin = call.service.plugin
    away = TakeAway((TextLink("JSON", addresses.address(_PATH, format="json")),), "application/json", _PATH)
    if not call.principal.may_use(plugin.graph.namespace):
        return SkillsView((), (), away)
    cards = tuple(card_of(plugin, skill) for skill in plugin.skills.values())
    return SkillsView(cards, refused_cards(plugin), away)


def card_of(plugin: Plugin, skill: Skill) -> SkillCard:
    """The card of a loaded skill."""
    runtime, semantic = skill.runtime, skill.semantic
    state, words = "ok", "running" if runtime else "instructions only"
    if runtime is not None and runtime.fault:
        state, words = "bad", "stopped"
    elif runtime is not None and runtime.degraded:
        state, words = "warn", "degraded"
    signed = "signed by a trusted publisher" if skill.signed is not None else "not signed: none is required here"
    return SkillCard(
        shown_name(skill.name),
        shown_text(semantic.skill_version, 40),
        shown_text(skill.manifest.description),
        addresses.skill(skill.name),
        state,
        words,
        tuple(sorted(semantic.permissions.names())),
        meters_of(plugin, skill),
        signed,
    )


def meters_of(plugin: Plugin, skill: Skill) -> tuple[Meter, ...]:
    """The budgets of a skill in this session."""
    config: Config = plugin.config
    status = next((each for each in plugin.status()["skills"] if each["name"] == skill.name), None)
    if status is None:
        return ()
    session = SessionLimits(config.skill_sandbox, config.given_limits)
    budgets = session.of_skill(is_builtin=skill.is_builtin).budgets
    queries = skill.semantic.max_queries
    limits = {
        "queries": (status["queriesUsed"], budgets.max_graph_queries if queries is None else queries),
        "assertions": (status["assertionsUsed"], budgets.max_assertions),
        "writes of its code": (status["writesUsed"], budgets.max_writes),
    }
    return tuple(Meter(name, used, int(limit)) for name, (used, limit) in limits.items() if limit != math.inf)


def refused_cards(plugin: Plugin) -> tuple[RefusedCard, ...]:
    """The skills and versions that are not active."""
    return tuple(
        RefusedCard(
            shown_name(each.name),
            addresses.skill(each.name),
            None if each.answering is None else shown_text(each.answering, 40),
            each.error.code,
            shown_text(without_folder(each.error.message, each.folder), 1_000),
            shown_text(without_folder(each.error.hint, each.folder), 1_000),
            each.at[:19].replace("T", " "),
        )
        for each in plugin.rejected
    )


def without_folder(text: str, folder: Path) -> str:
    """A text with the folder of a skill by its name."""
    return text.replace(str(folder), folder.name)


def _document(call: PageCall) -> bytes:
    plugin = call.service.plugin
    if not call.principal.may_use(plugin.graph.namespace):
        return to_json({"skills": [], "rejected": []})
    return to_json(list_skills(call.api(namespace=plugin.graph.namespace)).document)


PAGE = ExplorerPage(
    _PATH,
    "skills",
    "skills.html",
    view,
    forms={"json": Form("application/json", _document)},
    label="Loaded",
    section="Skills",
    keys="g s",
    place=170,
)
