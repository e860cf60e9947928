"""The inbox: what waits for a person, or needs a look, of all features.

Rules kept here:
- each feature names what its reader may see (`Feature.attention`); what cannot be read at the moment is left out, and
  prevents no page;
- what is refused or damaged comes first, then what waits, then what may be done.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cortex_graph import GraphError
from cortex_skills.doors.http.http_errors import HttpError
from cortex_skills.errors import CortexError
from cortex_skills.feature import functions

if TYPE_CHECKING:
    from cortex_skills.doors.explorer.display import ShownText
    from cortex_skills.doors.explorer.page import PageCall

log = logging.getLogger(__name__)

_ORDER = {"bad": 0, "warn": 1, "half": 2, "none": 2, "info": 3}


@dataclass(frozen=True, slots=True)
class Attention:
    """Something that waits for a person or needs a look.

    Attributes:
        kind: its mark: `bad`, `warn`, `half` or `info`.
        words: the mark in words.
        about: what it is, a phrase that ends with the link.
        label: of the link.
        href: the page where it is looked at or decided.
        page: the page in the navigation that has its number.
        count: how many it stands for.
        more: what is also known, such as the time that is left.
    """

    kind: str
    words: str
    about: str
    label: str | ShownText
    href: str
    page: str = "overview"
    count: int = 1
    more: str = ""


def inbox_of(call: PageCall) -> tuple[Attention, ...]:
    """What waits for a caller, the most urgent first; empty outside the namespace that the skills act in."""
    plugin = call.service.plugin
    if not call.principal.may_use(plugin.graph.namespace):
        return ()
    found: list[Attention] = []
    for attention in functions("attention"):
        found.extend(_readable(attention, call))
    return tuple(sorted(found, key=lambda each: _ORDER.get(each.kind, 2)))


def numbers_of(inbox: tuple[Attention, ...]) -> Counter[str]:
    """How many wait, by the page in the navigation; the overview has all."""
    numbers = Counter[str]()
    for each in inbox:
        numbers["overview"] += each.count
        if each.page != "overview":
            numbers[each.page] += each.count
    return numbers


def _readable(attention: Any, call: PageCall) -> Iterator[Attention]:
    try:
        yield from attention(call)
    except (CortexError, GraphError, HttpError, OSError) as error:
        log.debug("the inbox is without %s: %s", attention.__module__, error)
