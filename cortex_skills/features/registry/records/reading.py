"""Reads the registry of one namespace: the skills that a store has, and those of the package.

Rules kept here:
- every registry has the skills of the package, from the first read on and on a store that is only read: a skill
  of the package whose record is not in the store is read from here, as it would be stored;
- the first change of one stores it, in the transaction of the change; nothing is written by reading;
- its version has one id in all processes, and the time of its file;
- a version is verified whenever its document is read: each blob has its SHA-256, the document its digest, and the
  signature is valid;
- who depends on a skill is found by its edges, which are nodes: a name that is similar is another skill.
"""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from hashlib import sha256
from itertools import islice
from typing import Literal, NoReturn, cast

from pyoxigraph import NamedNode, Quad

from cortex_graph.exceptions import invalid
from cortex_graph.naming.names import Names
from cortex_graph.naming.spelling import nearest
from cortex_graph.naming.vocabulary import SPECIALIZATION_OF, TYPE
from cortex_graph.store import GraphStore, Pattern
from cortex_graph.store_access.read_ahead import Ahead, WholeSubjects, reading_ahead
from cortex_skills.audit.chain import ChainFault, Signer
from cortex_skills.errors import CortexError
from cortex_skills.features.registry.documents.document import (
    SkillDocument,
    blob_paths,
    blobs_of,
    compat_digest,
    corrupt,
    digest,
    document_of,
    front_of,
)
from cortex_skills.features.registry.records import terms
from cortex_skills.features.registry.records.events import EventLog
from cortex_skills.features.registry.records.lifecycle import Quality, first_standing
from cortex_skills.features.registry.records.skill_record import (
    EDGES,
    Edges,
    RegistryTerms,
    SkillKey,
    SkillRecord,
    SkillVersion,
)
from cortex_skills.keys.ed25519 import is_signed

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

    @property
    def keys(self) -> Collection[SkillKey]:
        """The skills of the package."""
        return self._package.keys

    def version_of(self, key: SkillKey) -> NamedNode | None:
        """The node of the version of a skill of the package; None for another one."""
        if not self.is_of_package(key):
            return None
        start = self._registry.version("").value
        return next(
            node for node in map(_node, self._by_skill[self._registry.record(key)]) if node.value.startswith(start)
        )

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
            blobs = [self._registry.quad_of_blob(name, data) for name, data in blobs_of(document).items()]
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


_SIGNED_DOMAIN = b"cortex-skill-version/1\0"
AttestLevel = Literal["unsigned", "unknown_key", "self_signed", "publisher_signed", "invalid"]
_COMPARED = 1_000  # names that are compared with an unknown one


class RegistryReader:
    """Reads the registry of one namespace. Safe to use from several threads.

    Args:
        store: the store of the graph.
        names: the namespace.
        signer: opens the key that signs versions and events; None leaves them unsigned.
        publishers: the keys of the trusted publishers, as `did:key`.
        own_keys: the keys of this installation; by default that of the signer.
        package: the skills that are registered everywhere.
    """

    def __init__(
        self,
        store: GraphStore,
        names: Names,
        signer: Callable[[], Signer | None],
        publishers: Callable[[], Collection[str]] = tuple,
        own_keys: Callable[[], Collection[str]] | None = None,
        package: PackageSkills = PackageSkills(),
    ) -> None:
        self.store = store
        self.terms = RegistryTerms(names, store.as_stored)
        self.skills = PackageView(store, self.terms, package)
        self.log = EventLog(store, self.terms, signer, self.skills.completed)
        self._signer = signer
        self._publishers = publishers
        self._own_keys = own_keys or (lambda: () if (key := signer()) is None else (key.did,))
        self._graph = names.registry_graph

    @property
    def names(self) -> Names:
        """The namespace."""
        return self.terms.names

    def ahead_of(
        self, keys: Iterable[SkillKey] = (), *, versions: bool = False, all_versions: bool = False
    ) -> Iterator[Ahead]:
        """What is read of skills: the last event, the records, and the current or all versions."""
        yield from self.log.ahead()
        yield from self._ahead_of(keys, versions=versions, all_versions=all_versions)

    def _ahead_of(self, keys: Iterable[SkillKey], *, versions: bool, all_versions: bool = False) -> Iterator[Ahead]:
        for key in keys:
            node = self.terms.record(key)
            yield Pattern(self._graph, node)
            if all_versions:
                yield WholeSubjects(Pattern(self._graph, None, SPECIALIZATION_OF, node))
            elif versions:
                yield WholeSubjects(Pattern(self._graph, node, terms.CURRENT_VERSION), of_objects=True)
            if (versions or all_versions) and (of_package := self.skills.version_of(key)) is not None:
                yield Pattern(self._graph, of_package)

    def reading_current(self, records: Iterable[SkillRecord]) -> AbstractContextManager[None]:
        """Read the current versions of skills in one request of a server; they are for the reads in the block."""
        return reading_ahead(self.store, lambda: self._ahead_of((each.key for each in records), versions=True))

    def ahead_of_version(self, version_id: str) -> Iterator[Ahead]:
        """What is read of a version: it, its skill, and the version after it."""
        node = self.terms.version(version_id)
        yield Pattern(self._graph, node)
        yield Pattern(self._graph, None, terms.REVISION_OF, node)
        yield WholeSubjects(Pattern(self._graph, node, SPECIALIZATION_OF), of_objects=True)

    def record(self, key: SkillKey) -> SkillRecord:
        """The record of a skill.

        Raises:
            CortexError: `skill_not_found`; `graph_corrupt`.
        """
        found = self.find(key)
        return self._refuse(key) if found is None else found

    def _refuse(self, key: SkillKey) -> NoReturn:
        """Refuse a key that is not registered, with similar names."""
        quads, _ = self.skills.match(Pattern(self._graph, None, TYPE, terms.REGISTERED_SKILL), _COMPARED, None)
        names = (self.terms.name_of(cast(NamedNode, quad.subject)) for quad in quads)
        near = nearest(key.name, (name.rpartition("/")[2] for name in names), 3)
        unknown(f"{key} is not registered", f"did you mean {' or '.join(near)}?" if near else "")

    def find(self, key: SkillKey) -> SkillRecord | None:
        """The record of a skill; None when it is not registered."""
        return self._record_at(self.terms.record(key))

    def version(self, version_id: str) -> SkillVersion:
        """The version with an id.

        Raises:
            CortexError: `skill_not_found`; `graph_corrupt`.
        """
        node = self.terms.version(version_id)
        found = self.terms.version_of(node, self.skills.quads(Pattern(self._graph, node)))
        return unknown(f"no version of a skill has the id {version_id[:80]}") if found is None else found

    def following(self, version_id: str) -> str | None:
        """The id of the version that was made after one of the same skill; None for the newest."""
        links = self._pointing(self.terms.version(version_id), terms.REVISION_OF)
        return next((self.terms.id_of(cast(NamedNode, quad.subject)) for quad in links), None)

    def current(self, key: SkillKey) -> SkillVersion:
        """The current version of a skill.

        Raises:
            CortexError: `skill_not_found`; `graph_corrupt`.
        """
        return self.version(self.record(key).version_id)

    def versions(self, key: SkillKey) -> list[SkillVersion]:
        """All versions of a skill, the first one first."""
        node = self.terms.record(key)
        links = self.skills.quads(Pattern(self._graph, None, SPECIALIZATION_OF, node))
        found = [self.version(self.terms.id_of(cast(NamedNode, quad.subject))) for quad in links]
        return sorted(found, key=lambda version: version.number)

    def document(self, version: SkillVersion) -> SkillDocument:
        """The document of a version, verified.

        Raises:
            CortexError: `graph_corrupt`: it is not what was registered; `signature_invalid`.
        """
        found = {}
        blobs = {
            name: Pattern(self._graph, self.terms.blob(name), terms.BYTES)
            for name in blob_paths(version.front).values()
        }
        with reading_ahead(self.store, blobs.values):
            for name, pattern in blobs.items():
                quad = next(iter(self.skills.quads(pattern)), None)
                if quad is not None:
                    found[name] = self.terms.bytes_of(quad)
        document = document_of(version.front, found)
        if digest(document) != version.digest:
            corrupt(f"version {version.number} of {version.key} does not have its digest")
        check_signature(version)
        return document

    def body(self, version: SkillVersion) -> str:
        """The body of the document of a version, which has its SHA-256; the rest of the document is not verified.

        Raises:
            CortexError: `graph_corrupt`: it is not what was registered.
        """
        digest_of_body = blob_paths(version.front)[""]
        found = next(iter(self.skills.quads(Pattern(self._graph, self.terms.blob(digest_of_body), terms.BYTES))), None)
        data = b"" if found is None else self.terms.bytes_of(found)
        if sha256(data).hexdigest() != digest_of_body:
            corrupt(f"the body of version {version.number} of {version.key} is missing or was changed")
        return data.decode()

    def records(self, cursor: str | None = None, limit: int = 100) -> tuple[list[SkillRecord], str | None]:
        """A page of the records, in the order of the store, and the cursor of the next one."""
        quads, following = self.skills.match(Pattern(self._graph, None, TYPE, terms.REGISTERED_SKILL), limit, cursor)
        nodes = [cast(NamedNode, quad.subject) for quad in quads]
        with reading_ahead(self.store, lambda: [Pattern(self._graph, node) for node in nodes]):
            return [record for node in nodes if (record := self._record_at(node)) is not None], following

    def all_records(self) -> Iterator[SkillRecord]:
        """All records."""
        cursor = None
        while True:
            records, cursor = self.records(cursor, 1000)
            yield from records
            if cursor is None:
                return

    def keys(self) -> Iterator[SkillKey]:
        """The names of all records, also of those that are malformed."""
        for quad in self.skills.quads(Pattern(self._graph, None, TYPE, terms.REGISTERED_SKILL)):
            yield self.terms.key_of(cast(NamedNode, quad.subject))

    def dependencies(self, key: SkillKey) -> list[SkillKey]:
        """The skills that a skill depends on, directly."""
        edges = self.record(key).edges.depends_on
        return sorted(record.key for node in edges if (record := self._record_at(node)) is not None)

    def dependents(self, key: SkillKey) -> list[SkillKey]:
        """The skills that depend on a skill, directly."""
        links = self.skills.quads(Pattern(self._graph, None, terms.DEPENDS_ON, self.terms.record(key)))
        found = (self._record_at(cast(NamedNode, quad.subject)) for quad in links)
        return sorted(record.key for record in found if record is not None)

    def naming(self, key: SkillKey, edge: str, limit: int) -> list[SkillKey]:
        """The first skills that name a skill by a kind of edge, such as `derived_from`."""
        links = islice(self.skills.quads(Pattern(self._graph, None, EDGES[edge], self.terms.record(key))), limit)
        return sorted(self.terms.key_of(cast(NamedNode, quad.subject)) for quad in links)

    def named_in(self, record: SkillRecord, edge: str) -> list[SkillKey]:
        """The skills, registered or not, that a skill names by a kind of edge."""
        return sorted(map(self.terms.key_of, getattr(record.edges, edge)))

    def names_of(self, edges: Iterable[NamedNode]) -> list[str]:
        """The names of records, registered or not, from their nodes: `NAMESPACE/NAME`, sorted."""
        return sorted(map(self.terms.name_of, edges))

    def levels(self) -> Callable[[str], AttestLevel]:
        """How far keys are trusted now, by their `did:key`.

        `unsigned` (empty), `unknown_key`, `self_signed` (a key of this installation), `publisher_signed` (trusted).

        Raises:
            CortexError: `config_invalid`: the trust store cannot be used.
        """
        levels: dict[str, AttestLevel] = dict.fromkeys(self._own_keys(), "self_signed")
        levels |= dict.fromkeys(self._publishers(), "publisher_signed")
        return lambda key: levels.get(key, "unknown_key") if key else "unsigned"

    def verify_events(self, since: int = 1) -> ChainFault | None:
        """The first broken or forged event from a number on; None when the chain is whole.

        Raises:
            CortexError: `config_invalid`: the trust store cannot be used.
        """
        trusted = frozenset(self._publishers())
        # Each installation that uses the store signs its events with its own key.
        return self.log.verify(
            is_signed, since, lambda key: "publisher_signed" if key in trusted else "self_signed" if key else "unsigned"
        )

    def _record_at(self, node: NamedNode) -> SkillRecord | None:
        return self.terms.record_of(self._quads(node))

    def _quads(self, node: NamedNode) -> list[Quad]:
        return list(self.skills.quads(Pattern(self._graph, node)))

    def _pointing(self, node: NamedNode, predicate: NamedNode) -> list[Quad]:
        return list(self.skills.quads(Pattern(self._graph, None, predicate, node)))


def signed_message(digest_of_document: str) -> bytes:
    """The bytes that the signature of a version covers.

    Raises:
        ValueError: the digest is not hexadecimal.
    """
    return _SIGNED_DOMAIN + bytes.fromhex(digest_of_document)


def attest_level(version: SkillVersion, level: Callable[[str], AttestLevel]) -> AttestLevel:
    """How far the signature of a version is trusted: `invalid`, or what `level` returns for its key."""
    try:
        check_signature(version)
    except CortexError:
        return "invalid"
    return level(version.public_key)


def check_signature(version: SkillVersion) -> None:
    """Refuse a version whose signature is not valid.

    Raises:
        CortexError: `signature_invalid`.
    """
    if not version.signature and not version.public_key:
        return
    try:
        value = bytes.fromhex(version.signature)
        message = signed_message(version.digest)
    except ValueError:
        value, message = b"", b""
    if not is_signed(version.public_key, message, value):
        raise CortexError(
            "signature_invalid",
            f"the signature of version {version.number} of {version.key} is not valid",
            hint="get the skill again from its publisher",
        )


def unknown(message: str, hint: str = "") -> NoReturn:
    """Raise the error for a skill that is not registered: `skill_not_found`."""
    hint = hint or "`cortex-skills registry list` lists the registered skills"
    raise CortexError("skill_not_found", message, hint=hint)
