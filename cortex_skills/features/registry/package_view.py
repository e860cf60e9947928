"""The skills of the package as quads, beside those that a store has.

Rules kept here:
- every registry has the skills of the package, from the first read on and on a store that is only read: a skill
  of the package whose record is not in the store is read from here, as it would be stored;
- the first change of one stores it, in the transaction of the change; nothing is written by reading;
- its version has one id in all processes, and the time of its file.
"""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property

from pyoxigraph import NamedNode, Quad

from cortex_graph.exceptions import invalid
from cortex_graph.naming.vocabulary import TYPE
from cortex_graph.store import GraphStore, Pattern
from cortex_skills.features.registry import terms
from cortex_skills.features.registry.content import blobs_of, compat_digest, digest, front_of
from cortex_skills.features.registry.document import SkillDocument
from cortex_skills.features.registry.lifecycle import first_standing
from cortex_skills.features.registry.quality import Quality
from cortex_skills.features.registry.record_quads import RegistryTerms
from cortex_skills.features.registry.skill_record import Edges, SkillKey, SkillRecord, SkillVersion

ACTOR = "cortex-skills"
_CURSOR = "package"


@dataclass(frozen=True, slots=True)
class PackageSkills:
    """The skills of the package, as those of a namespace.

    Attributes:
        keys: their names.
        read: returns their documents, and the time of the file of each, in seconds.
    """

    keys: Collection[SkillKey] = ()
    read: Callable[[], Iterable[tuple[SkillDocument, float]]] = tuple


class PackageView:
    """Reads a store with the skills of the package. They are read when something that may concern them is.

    Args:
        store: of the graph.
        registry: the nodes of the registry.
        package: the skills of the package.
    """

    def __init__(self, store: GraphStore, registry: RegistryTerms, package: PackageSkills) -> None:
        self._store = store
        self._registry = registry
        self._package = package
        self._records = frozenset(map(registry.record, package.keys))
        self._prefix = registry.names.beside("skill").value + "/"

    def quads(self, pattern: Pattern) -> Iterator[Quad]:
        """The quads of a pattern, in the store and of the skills of the package that are not stored."""
        if pattern.subject is None:
            before = list(self._missing(pattern))  # first: what is stored meanwhile is read below
            found = list(self._store.quads(pattern))
            yield from found
            yield from _others(before, found)
            return
        found = list(self._store.quads(pattern)) or list(self._missing(pattern, look_up=True))
        if not found and self._may_concern(pattern) and pattern.subject in self._by_subject:
            found = list(self._store.quads(pattern))  # it was stored between the two
        yield from found

    def match(self, pattern: Pattern, limit: int, cursor: str | None) -> tuple[list[Quad], str | None]:
        """A page of the quads of a pattern, and the cursor of the next one; those of the package come last."""
        found: list[Quad] = []
        start, before = 0, list(self._missing(pattern)) if cursor is None else None
        if cursor is None or not cursor.startswith(_CURSOR):
            page = self._store.match(pattern, limit, cursor)
            if page.cursor is not None:
                return page.quads, page.cursor
            found = page.quads
        else:
            number = cursor.removeprefix(_CURSOR)
            if not number.isdecimal():
                raise invalid("cursor", "is not one of this list")
            start = int(number[:9])
        more = list(_others(self._missing(pattern, look_up=True) if before is None else before, found))
        end = start + limit - len(found)
        return [*found, *more[start:end]], f"{_CURSOR}{end}" if end < len(more) else None

    def is_of_package(self, key: SkillKey) -> bool:
        """Whether the package has a skill of this name."""
        return self._registry.record(key) in self._records

    def completed(self, insert: Sequence[Quad], remove: Sequence[Quad]) -> list[Quad]:
        """What a change writes: with the rest of each skill of the package that it changes for the first time."""
        changed = self._records.intersection(_node(quad) for quad in (*insert, *remove))
        gone = set(remove)
        first = [quad for node in changed if not self._is_stored(node) for quad in self._by_skill[node]]
        return [*(quad for quad in first if quad not in gone), *insert]

    def _missing(self, pattern: Pattern, *, look_up: bool = False) -> Iterator[Quad]:
        """The quads of a pattern of the skills of the package whose records are not stored.

        Args:
            pattern: which quads.
            look_up: whether the store is asked about the records themselves too; else a list of all of them, in which
                those that are stored are, is read after this.
        """
        stored: dict[NamedNode, bool] = {}
        for quad in self._matching(pattern):
            node = self._owners[_node(quad)]
            if node not in stored:
                stored[node] = (look_up or quad.subject != node) and self._is_stored(node)
            if not stored[node]:
                yield quad

    def _matching(self, pattern: Pattern) -> Iterator[Quad]:
        if not self._may_concern(pattern):
            return
        if pattern.subject is not None:
            candidates = self._by_subject.get(pattern.subject, [])
        else:
            candidates = [quad for quads in self._by_skill.values() for quad in quads]
        for quad in candidates:
            if pattern.predicate in (None, quad.predicate) and pattern.object_ in (None, quad.object):
                yield quad

    def _may_concern(self, pattern: Pattern) -> bool:
        """Whether skills of the package may have such quads; they name no other skill."""
        nodes = (node for node in (pattern.subject, pattern.object_) if isinstance(node, NamedNode))
        return not any(node.value.startswith(self._prefix) and node not in self._records for node in nodes)

    def is_stored(self, key: SkillKey) -> bool:
        """Whether the store has the record of a skill."""
        return self._is_stored(self._registry.record(key))

    def _is_stored(self, record: NamedNode) -> bool:
        return self._store.count(Pattern(self._registry.graph, record, TYPE, terms.REGISTERED_SKILL), 1) > 0

    @cached_property
    def _by_skill(self) -> dict[NamedNode, list[Quad]]:
        """The quads of each skill, by the node of its record."""
        found = {}
        for document, time in self._package.read():
            record, version = self._made(document, datetime.fromtimestamp(time, UTC))
            blobs = [self._registry.quad_of_blob(sha256, data) for sha256, data in blobs_of(document).items()]
            quads = [*self._registry.quads_of_record(record), *self._registry.quads_of_version(version), *blobs]
            found[self._registry.record(record.key)] = quads
        return found

    @cached_property
    def _by_subject(self) -> dict[NamedNode, list[Quad]]:
        found: dict[NamedNode, list[Quad]] = defaultdict(list)
        for quads in self._by_skill.values():
            for quad in quads:
                found[_node(quad)].append(quad)
        return dict(found)

    @cached_property
    def _owners(self) -> dict[NamedNode, NamedNode]:
        """The record to which each subject belongs."""
        return {_node(quad): record for record, quads in self._by_skill.items() for quad in quads}

    def _made(self, document: SkillDocument, created: datetime) -> tuple[SkillRecord, SkillVersion]:
        """The record and the version of a document of the package."""
        key, found = SkillKey(document.namespace, document.name), digest(document)
        node = self._registry.record(key)
        version = SkillVersion(
            id=str(uuid.uuid5(uuid.NAMESPACE_URL, f"{node.value}#{found}")),
            key=key,
            number=1,
            created=created,
            digest=found,
            compat_digest=compat_digest(document),
            kind=document.kind,
            description=document.summary,
            front=front_of(document),
        )
        edges = Edges(
            depends_on=tuple(self._registry.record(SkillKey(key.namespace, name)) for name in document.depends_on)
        )
        standing, authors = first_standing("builtin"), frozenset({ACTOR})
        return SkillRecord(key, version.id, standing, Quality(), created, edges, authors), version


def _others(quads: Iterable[Quad], found: Iterable[Quad]) -> Iterator[Quad]:
    """Those of the quads whose subject was not found."""
    known = {quad.subject for quad in found}
    return (quad for quad in quads if quad.subject not in known)


def _node(quad: Quad) -> NamedNode:
    if not isinstance(quad.subject, NamedNode):
        raise TypeError("a subject of the registry is a node")
    return quad.subject
