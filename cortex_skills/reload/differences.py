"""What two manifests of a skill differ in.

Rules kept here:
- every field that can differ is looked at, and told by the name that it has in SKILL.md;
- what lets a skill do more than before is marked: a permission, a tool, a predicate, a proof that is not needed any
  more, a wider scope, a higher limit; and whatever has to do with what other skills it stands on.

Nothing here does any input or output.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from cortex_skills.escaping import one_line
from cortex_skills.manifest import Manifest, Semantic

_PLAIN = ("description", "license", "compatibility")
_SCOPES = ("agent", "namespace", "global")
_MAX_SHOWN = 80


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference.

    Attributes:
        field: as SKILL.md calls it.
        message: what became of it, on one line.
        security: whether the skill may do more by it, or stands on other skills.

    """

    field: str
    message: str
    security: bool = False

    def __str__(self) -> str:
        return f"{self.field}: {self.message}"

    def to_json(self) -> dict[str, Any]:
        """As it goes over a wire."""
        return {"field": self.field, "message": self.message, "security": self.security}


def differences(old: Manifest | None, new: Manifest) -> tuple[Difference, ...]:
    """What `new` differs in from `old`, or, when there is no old one, what it may do."""
    before = old.semantic if old is not None and old.semantic is not None else Semantic(1, allowed_tools=())
    after = new.semantic or Semantic(1)
    found = [] if old is None else [*_texts(old, new)]
    found += _permissions(before, after)
    found += _tools(before, after) if old is not None else ()
    found += _assertions(before, after)
    found += _queries(before, after)
    found += _limit(before, after) if old is not None else ()
    found += _dependencies(before, after)
    return tuple(found)


def tools_lost(old: Semantic, new: Semantic) -> list[str]:
    """The entries of `allowedTools` that `new` lacks; `*` stands for every tool, and only for itself."""
    return [] if "*" in new.allowed_tools else sorted(set(old.allowed_tools) - set(new.allowed_tools))


def _texts(old: Manifest, new: Manifest) -> Iterator[Difference]:
    for name in _PLAIN:
        if getattr(old, name) != getattr(new, name):
            yield Difference(name, _became(getattr(old, name), getattr(new, name)))
    if dict(old.metadata) != dict(new.metadata):
        yield Difference("metadata", "is another")
    if old.allowed_tools_text != new.allowed_tools_text:
        yield Difference("allowed-tools", _became(old.allowed_tools_text, new.allowed_tools_text))
    if old.body != new.body:
        yield Difference("body", "is another text")
    if old.semantic is None or new.semantic is None:
        return
    if old.semantic.version != new.semantic.version:
        yield Difference("semantic.version", _became(old.semantic.version, new.semantic.version))
    if old.semantic.skill_version != new.semantic.skill_version:
        yield Difference("semantic.skillVersion", _became(old.semantic.skill_version, new.semantic.skill_version))


def _permissions(old: Semantic, new: Semantic) -> Iterator[Difference]:
    yield from _sets("semantic.permissions", old.permissions.names(), new.permissions.names())


def _tools(old: Semantic, new: Semantic) -> Iterator[Difference]:
    kept = old.allowed_tools if "*" in new.allowed_tools else ()  # which has them all
    yield from _sets("semantic.allowedTools", old.allowed_tools, (*kept, *new.allowed_tools))


def _assertions(old: Semantic, new: Semantic) -> Iterator[Difference]:
    field = "semantic.assertions"
    needs = [{a.predicate: a.require_proof for a in semantic.assertions} for semantic in (old, new)]
    yield from _sets(field, *needs)
    for predicate in sorted(needs[0].keys() & needs[1].keys()):
        was, now = needs[0][predicate], needs[1][predicate]
        if was != now:
            yield Difference(field, f"{_shown(predicate)} {'needs a' if now else 'needs no'} proof now", security=was)


def _queries(old: Semantic, new: Semantic) -> Iterator[Difference]:
    field = "semantic.queries"
    scopes = [{query.predicate: query.scope for query in semantic.queries} for semantic in (old, new)]
    yield from _sets(field, *scopes)
    for predicate in sorted(scopes[0].keys() & scopes[1].keys()):
        was, now = scopes[0][predicate], scopes[1][predicate]
        if was != now:
            wider = _SCOPES.index(now) > _SCOPES.index(was)
            yield Difference(field, f"{_shown(predicate)} has scope {now}, was {was}", security=wider)


def _limit(old: Semantic, new: Semantic) -> Iterator[Difference]:
    if old.max_queries != new.max_queries:
        higher = new.max_queries is None or (old.max_queries is not None and new.max_queries > old.max_queries)
        unset = "the host's limit"
        message = _became(old.max_queries or unset, new.max_queries or unset)
        yield Difference("semantic.maxQueries", message, security=higher)


def _dependencies(old: Semantic, new: Semantic) -> Iterator[Difference]:
    ranges = [{d.slug: d.version for d in semantic.dependencies} for semantic in (old, new)]
    field = "semantic.dependencies"
    for slug in sorted(ranges[0].keys() | ranges[1].keys()):
        was, now = ranges[0].get(slug), ranges[1].get(slug)
        if was != now:
            yield Difference(field, f"{_shown(slug)} {_became(was, now)}", security=True)


def _sets(field: str, old: Iterable[str], new: Iterable[str]) -> Iterator[Difference]:
    added, gone = sorted(set(new) - set(old)), sorted(set(old) - set(new))
    if added:
        yield Difference(field, f"added {', '.join(map(_shown, added))}", security=True)
    if gone:
        yield Difference(field, f"removed {', '.join(map(_shown, gone))}")


def _became(old: object, new: object) -> str:
    if old is None:
        return f"is now {_shown(new)}"
    return f"was {_shown(old)}, is not stated now" if new is None else f"was {_shown(old)}, is now {_shown(new)}"


def _shown(value: object) -> str:
    text = one_line(str(value))
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}…"
