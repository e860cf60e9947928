"""The relations of a registered skill: a fan, and a table with the same content.

Rules kept here:
- on the left are the skills that name this one, on the right those that it names; each is a link to its page;
- the numbers are bounded (`pictures/fan.py`, `RegistryReader.naming`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from cortex_graph.naming.counted import Count
from cortex_skills.doors.explorer.display import ShownName, ShownText, shown_name, shown_text
from cortex_skills.doors.explorer.pictures.fan import VALUES, FanGroup, FanSide, fan
from cortex_skills.doors.explorer.pictures.svg import Svg
from cortex_skills.features.registry.records.registry import SkillRegistry
from cortex_skills.features.registry.records.skill_record import SkillKey, SkillRecord

_MOST = 100  # of each kind
_OUTGOING = {
    "depends_on": "depends on",
    "conflicts_with": "conflicts with",
    "derived_from": "derived from",
    "supersedes": "supersedes",
    "merged_into": "merged into",
}
_INCOMING = {
    "depends_on": "is needed by",
    "conflicts_with": "conflicts with",
    "derived_from": "is source of",
    "supersedes": "is superseded by",
    "merged_into": "received",
}

Address = Callable[[SkillKey], str]


@dataclass(frozen=True, slots=True)
class Relation:
    """Another skill, and how it is related to this one."""

    words: str
    name: ShownText
    href: str


@dataclass(frozen=True, slots=True)
class Relations:
    """The relations of a skill; the picture is None without any."""

    picture: Svg | None
    rows: tuple[Relation, ...]


def relations_of(registry: SkillRegistry, record: SkillRecord, address: Address) -> Relations:
    """The relations of a skill.

    Args:
        registry: where it is registered.
        record: the skill.
        address: the page of a skill.
    """
    own = registry.terms.names.namespace
    incoming = {name: registry.naming(record.key, name, _MOST) for name in _INCOMING}
    outgoing = {name: registry.named_in(record, name)[:_MOST] for name in _OUTGOING}
    rows = [
        Relation(words[name], _name(key, own), address(key))
        for words, keys in ((_INCOMING, incoming), (_OUTGOING, outgoing))
        for name, found in keys.items()
        for key in found
    ]
    if not rows:
        return Relations(None, ())
    sides = [_side(words, keys, own, address) for words, keys in ((_INCOMING, incoming), (_OUTGOING, outgoing))]
    return Relations(fan(_shown(record.key, own, None), *sides), tuple(rows))


def _side(words: Mapping[str, str], keys: Mapping[str, Sequence[SkillKey]], own: str, address: Address) -> FanSide:
    groups = []
    for name, found in keys.items():
        if found:
            predicate = ShownName(shown_text(""), shown_text(words[name]), name, None)
            terms = tuple(_shown(key, own, address(key)) for key in found[:VALUES])
            groups.append(FanGroup(predicate, terms, Count(len(found), len(found) < _MOST), "#relations"))
    return FanSide(tuple(groups))


def _shown(key: SkillKey, own: str, href: str | None) -> ShownName:
    prefix = "" if key.namespace == own else f"{key.namespace}/"
    return ShownName(shown_name(prefix), shown_name(key.name), str(key), href)


def _name(key: SkillKey, own: str) -> ShownText:
    return shown_name(key.name if key.namespace == own else str(key))
