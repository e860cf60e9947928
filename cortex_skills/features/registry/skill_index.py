"""The index of the registered skills of a namespace, which follows its registry.

Rules kept here:
- a store that states what changed has one index on disk for all processes (`index_follower.py`); of a server it is in
  memory, and follows the events of the registry;
- the skills of the package that are not stored are in no file: they are read with what changed (`SkillIndex.view`);
- a malformed skill is left out, and hides no other.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from functools import partial
from itertools import groupby
from typing import Any

from pyoxigraph import NamedNode, Quad

from cortex_graph.store import Changes, Following, InFolder, Pattern
from cortex_graph.store_access.read_ahead import reading_ahead
from cortex_skills.errors import CortexError
from cortex_skills.features.finder.entity_follower import quads_of
from cortex_skills.features.finder.index_follower import IndexFollower, IndexView, follower_of
from cortex_skills.features.finder.owned_documents import OwnedDocuments, OwnedText
from cortex_skills.features.finder.polled_index import PolledIndex
from cortex_skills.features.registry.records.reading import RegistryReader
from cortex_skills.features.registry.records.skill_record import SkillKey, SkillRecord, SkillVersion
from cortex_skills.features.registry.skill_texts import OWNER, indexed, text_of

log = logging.getLogger(__name__)


def read_skill(registry: RegistryReader, key: SkillKey) -> tuple[SkillRecord, SkillVersion] | None:
    """A skill as the registry has it now; None for one that is gone or malformed."""
    try:
        record = registry.find(key)
        return None if record is None else (record, registry.version(record.version_id))
    except CortexError as error:
        log.warning("%s is not found: %s", key, error.message)
        return None


class SkillIndex:
    """The index of the skills of one registry. Safe to use from several threads.

    Args:
        registry: the registry.
    """

    def __init__(self, registry: RegistryReader) -> None:
        self._registry = registry
        is_followed = isinstance(registry.store, Following)
        followed = partial(follower_of(SkillFollower, registry).complete, registry)
        self._view: Callable[[float], IndexView] = followed if is_followed else PolledSkills(registry).view
        self._last: tuple[IndexView, IndexView] | None = None

    def view(self, timeout_s: float) -> IndexView:
        """The index as the registry is now, with the skills of the package.

        Raises:
            CortexError: `graph_busy`: it is being made.
        """
        view = self._view(timeout_s)
        last = self._last
        if last is None or last[0].changed is not view.changed or last[0].generation != view.generation:
            package = _documents(self._registry, self._registry.skills.keys)
            last = self._last = view, replace(view, changed={**view.changed, **package})
        return last[1]


class SkillFollower(IndexFollower[RegistryReader]):
    """The stored skills of a namespace."""

    documents = OwnedDocuments
    contents = "skills"
    kind = "/skills"

    def changed_in(self, graph: RegistryReader, changes: Changes) -> dict[str, OwnedText | None] | None:
        """The skills whose records were written to: each change of a skill writes to its record."""
        subjects = changes.of(graph.names.registry_graph)
        if subjects is None:
            return None
        start = _prefix(graph)
        return _documents(graph, (graph.terms.key_of(NamedNode(each)) for each in subjects if each.startswith(start)))

    def every(self, graph: RegistryReader) -> Generator[OwnedText, None, None]:
        """All skills of the store."""
        if not isinstance(graph.store, InFolder):
            yield from filter(None, _documents(graph, graph.keys()).values())
            return
        records: dict[str, SkillRecord] = {}  # those whose versions were not read yet, by the id of the version
        words: dict[str, str] = {}  # the reverse
        with closing(quads_of(graph.store, Pattern(graph.names.registry_graph))) as quads:  # in the order of subjects
            for subject, group in groupby(quads, lambda quad: quad.subject):
                read = _read(graph, subject, group)
                if isinstance(read, SkillRecord):
                    records[read.version_id] = read
                elif isinstance(read, SkillVersion):
                    words[read.id] = text_of(read)
                both = None if read is None else read.version_id if isinstance(read, SkillRecord) else read.id
                if both in records and both in words:
                    record = records.pop(both)
                    yield indexed(_identifier(graph, record.key), record, words.pop(both))


def _read(registry: RegistryReader, node: Any, quads: Iterable[Quad]) -> SkillRecord | SkillVersion | None:
    """The record or version of a node; None for any other node, and one that is malformed."""
    try:
        if node.value.startswith(_prefix(registry)):
            return registry.terms.record_of(quads)
        if node.value.startswith(registry.terms.version("").value):
            return registry.terms.version_of(node, quads)
    except CortexError as error:
        log.warning("%s is not found: %s", node, error.message)
    return None


class PolledSkills(PolledIndex):
    """The skills of a registry on a server."""

    def __init__(self, registry: RegistryReader) -> None:
        super().__init__("skills")
        self._registry = registry
        self._known: set[SkillKey] = set()
        self._seen = -1  # the number of the last event that the index follows
        self._seen_hash = ""

    def changes(self) -> dict[str, OwnedText | None]:
        """The skills that the events since the last call name."""
        with reading_ahead(self._registry.store, lambda: self._registry.log.ahead(self._seen)):
            return self._changes()

    def _changes(self) -> dict[str, OwnedText | None]:
        events = self._registry.log
        count = events.count()
        if count == self._seen:
            return {}
        changed: Iterable[SkillKey]
        if self._seen < 0 or count < self._seen or not self._follows():  # the store was replaced
            changed = self._known.union(self._registry.keys())
        else:
            changed = dict.fromkeys(key for event in events.events(self._seen + 1) for key in _keys_of(event.payload))
        last = next(events.events(count), None) if count else None
        self._known.update(changed)
        self._seen, self._seen_hash = count, last.hash if last is not None else ""
        return _documents(self._registry, changed)

    def _follows(self) -> bool:
        if self._seen == 0:
            return True
        event = next(self._registry.log.events(self._seen), None)
        return event is not None and event.hash == self._seen_hash


def _documents(registry: RegistryReader, keys: Iterable[SkillKey]) -> dict[str, OwnedText | None]:
    """The documents of some skills as they are now, by key; None for one that is gone or malformed."""
    found: dict[str, OwnedText | None] = {}
    keys = list(keys)
    with reading_ahead(registry.store, lambda: registry.ahead_of(keys, versions=True)):
        for key in keys:
            identifier, read = _identifier(registry, key), read_skill(registry, key)
            found[f"{OWNER}:{identifier}"] = None if read is None else indexed(identifier, read[0], text_of(read[1]))
    return found


def _identifier(registry: RegistryReader, key: SkillKey) -> str:
    return registry.terms.record(key).value.removeprefix(_prefix(registry))


def _prefix(registry: RegistryReader) -> str:
    return f"{registry.names.beside('skill').value}/"


def _keys_of(payload: str) -> Iterator[SkillKey]:
    """The skills that an event names."""
    try:
        details: Mapping[str, Any] = json.loads(payload)
        yield SkillKey(str(details["namespace"]), str(details["name"]))
        if isinstance(source := details.get("source"), str):
            yield SkillKey(*source.rsplit("/", 1))
    except (ValueError, KeyError, TypeError):
        return
