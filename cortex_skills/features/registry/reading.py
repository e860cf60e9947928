"""Reads the registry of one namespace.

Rules kept here:
- a version is verified whenever its document is read: each blob has its SHA-256, the document its digest, and the
  signature is valid;
- who depends on a skill is found by its edges, which are nodes: a name that is similar is another skill.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import islice
from typing import Literal, NoReturn, cast

from pyoxigraph import NamedNode, Quad

from cortex_graph.naming.names import Names
from cortex_graph.naming.spelling import nearest
from cortex_graph.naming.vocabulary import SPECIALIZATION_OF, TYPE
from cortex_graph.store import GraphStore, Pattern
from cortex_skills.audit.chain import ChainFault, Signer
from cortex_skills.errors import CortexError
from cortex_skills.features.registry import terms
from cortex_skills.features.registry.content import blob_paths, corrupt, digest, document_of
from cortex_skills.features.registry.document import SkillDocument
from cortex_skills.features.registry.events import EventLog
from cortex_skills.features.registry.package_view import PackageSkills, PackageView
from cortex_skills.features.registry.record_quads import EDGES, RegistryTerms
from cortex_skills.features.registry.skill_record import SkillKey, SkillRecord, SkillVersion
from cortex_skills.keys import public_of, verify

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
        package: PackageSkills = PackageSkills(),  # noqa: B008 - it is frozen
    ) -> None:
        self.store = store
        self.terms = RegistryTerms(names, store.as_stored)
        self.skills = PackageView(store, self.terms, package)
        self.log = EventLog(store, self.terms, signer, self.skills.completed)
        self._signer = signer
        self._publishers = publishers
        self._own_keys = own_keys or (lambda: () if (key := signer()) is None else (key.did,))
        self._graph = names.registry_graph

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
        for sha256 in set(blob_paths(version.front).values()):
            quad = next(iter(self.skills.quads(Pattern(self._graph, self.terms.blob(sha256), terms.BYTES))), None)
            if quad is not None:
                found[sha256] = self.terms.bytes_of(quad)
        document = document_of(version.front, found)
        if digest(document) != version.digest:
            corrupt(f"version {version.number} of {version.key} does not have its digest")
        check_signature(version)
        return document

    def records(self, cursor: str | None = None, limit: int = 100) -> tuple[list[SkillRecord], str | None]:
        """A page of the records, in the order of the store, and the cursor of the next one."""
        quads, following = self.skills.match(Pattern(self._graph, None, TYPE, terms.REGISTERED_SKILL), limit, cursor)
        found = (self._record_at(cast(NamedNode, quad.subject)) for quad in quads)
        return [record for record in found if record is not None], following

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
            _verifies, since, lambda key: "publisher_signed" if key in trusted else "self_signed" if key else "unsigned"
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
    if not _verifies(version.public_key, message, value):
        raise CortexError(
            "signature_invalid",
            f"the signature of version {version.number} of {version.key} is not valid",
            hint="get the skill again from its publisher",
        )


def _verifies(did: str, message: bytes, signature: bytes) -> bool:
    try:
        return verify(public_of(did), message, signature)
    except (ValueError, CortexError):
        return False


def unknown(message: str, hint: str = "") -> NoReturn:
    """Raise the error for a skill that is not registered: `skill_not_found`."""
    hint = hint or "`cortex-skills registry list` lists the registered skills"
    raise CortexError("skill_not_found", message, hint=hint)
