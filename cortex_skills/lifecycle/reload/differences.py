"""The differences between two manifests of a skill.

Rules kept here:
- every field that can differ is compared, and named as in SKILL.md;
- a difference that permits a skill more than before is marked: a permission, a tool, a predicate, a proof that is no
  longer needed, a wider scope, a higher limit, and any change of its dependencies.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cortex_skills.manifest import Manifest, Semantic
from cortex_skills.safe_io.display import one_line

_SCOPES = ("agent", "namespace", "global")
_MAX_SHOWN = 80


@dataclass(frozen=True, slots=True)
class ManifestDifference:
    """One difference.

    Attributes:
        field: as SKILL.md calls it.
        message: how it changed, on one line.
        security: whether it permits the skill more, or changes its dependencies.
    """

    field: str
    message: str
    security: bool = False

    def __str__(self) -> str:
        return f"{self.field}: {self.message}"


def differences(old: Manifest | None, new: Manifest) -> tuple[ManifestDifference, ...]:
    """The differences of `new` from `old`; without an old one, what it may do."""
    before = old.semantic if old is not None and old.semantic is not None else Semantic(1, allowed_tools=())
    after = new.semantic or Semantic(1)
    found = [] if old is None else [*_texts(old, new)]
    found += _sets("semantic.permissions", before.permissions.names(), after.permissions.names())
    if old is not None:
        kept = before.allowed_tools if "*" in after.allowed_tools else ()  # `*` includes them
        found += _sets("semantic.allowedTools", before.allowed_tools, (*kept, *after.allowed_tools))
    found += _assertions(before, after)
    found += _queries(before, after)
    found += _limit(before, after) if old is not None else ()
    ranges = [{d.slug: d.version for d in semantic.dependencies} for semantic in (before, after)]
    for slug, was, now in _changed(*ranges):
        found.append(ManifestDifference("semantic.dependencies", f"{_shown(slug)} {_became(was, now)}", security=True))
    fields = [{f.name: ", ".join(f.values) or "text" for f in semantic.fields} for semantic in (before, after)]
    for name, was, now in _changed(*fields):
        message = f"{_shown(name)} {_became(was, now)}"
        found.append(ManifestDifference("semantic.enrichment.fields", message, security=now is not None))
    return tuple(found)


def tools_lost(old: Semantic, new: Semantic) -> list[str]:
    """The entries of `allowedTools` that `new` lacks; a new `*` allows every tool, an old `*` is one entry."""
    return [] if "*" in new.allowed_tools else sorted(set(old.allowed_tools) - set(new.allowed_tools))


def _texts(old: Manifest, new: Manifest) -> Iterator[ManifestDifference]:
    values = {name: (getattr(old, name), getattr(new, name)) for name in ("description", "license", "compatibility")}
    values["metadata"] = dict(old.metadata), dict(new.metadata)
    values["allowed-tools"] = old.allowed_tools_text, new.allowed_tools_text
    values["body"] = old.body, new.body
    if old.semantic is not None and new.semantic is not None:
        values["semantic.version"] = old.semantic.version, new.semantic.version
        values["semantic.skillVersion"] = old.semantic.skill_version, new.semantic.skill_version
    for name, (was, now) in values.items():
        if was != now:
            yield ManifestDifference(name, "changed" if name in ("metadata", "body") else _became(was, now))


def _assertions(old: Semantic, new: Semantic) -> Iterator[ManifestDifference]:
    field = "semantic.assertions"
    before, after = ({a.predicate: a.require_proof for a in semantic.assertions} for semantic in (old, new))
    yield from _sets(field, before, after)
    for predicate, was, now in _changed(before, after, in_both=True):
        message = f"{_shown(predicate)} {'needs a' if now else 'needs no'} proof now"
        yield ManifestDifference(field, message, security=was)


def _queries(old: Semantic, new: Semantic) -> Iterator[ManifestDifference]:
    field = "semantic.queries"
    before, after = ({query.predicate: query.scope for query in semantic.queries} for semantic in (old, new))
    yield from _sets(field, before, after)
    for predicate, was, now in _changed(before, after, in_both=True):
        wider = _SCOPES.index(now) > _SCOPES.index(was)
        yield ManifestDifference(field, f"{_shown(predicate)} has scope {now}, was {was}", security=wider)


def _limit(old: Semantic, new: Semantic) -> Iterator[ManifestDifference]:
    if old.max_queries != new.max_queries:
        higher = new.max_queries is None or (old.max_queries is not None and new.max_queries > old.max_queries)
        unset = "the host's limit"
        message = _became(old.max_queries or unset, new.max_queries or unset)
        yield ManifestDifference("semantic.maxQueries", message, security=higher)


def _changed(
    old: Mapping[str, Any], new: Mapping[str, Any], *, in_both: bool = False
) -> Iterator[tuple[str, Any, Any]]:
    """The keys whose values differ, with both values; a missing value is None."""
    for key in sorted(old.keys() & new.keys() if in_both else old.keys() | new.keys()):
        if old.get(key) != new.get(key):
            yield key, old.get(key), new.get(key)


def _sets(field: str, old: Iterable[str], new: Iterable[str]) -> Iterator[ManifestDifference]:
    added, removed = sorted(set(new) - set(old)), sorted(set(old) - set(new))
    if added:
        yield ManifestDifference(field, f"added {', '.join(map(_shown, added))}", security=True)
    if removed:
        yield ManifestDifference(field, f"removed {', '.join(map(_shown, removed))}")


def _became(old: object, new: object) -> str:
    if old is None:
        return f"is now {_shown(new)}"
    return f"was {_shown(old)}, is not stated now" if new is None else f"was {_shown(old)}, is now {_shown(new)}"


def _shown(value: object) -> str:
    text = one_line(str(value))
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}…"
