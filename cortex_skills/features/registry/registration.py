"""Registers documents as versions of skills.

Rules kept here:
- versions are never changed; a rollback is a new version with the document of an old one;
- blobs are written before the transaction that names them: one that no version names is unused, and harmless;
- the key of this installation signs what is written here, and nothing that came from elsewhere;
- a dependency must be registered, and dependencies have no cycle;
- a learned document never replaces one of a person or of the package; what else may be changed by whom is decided
  by the caller;
- a skill keeps who wrote its versions, whose reports about it do not count. A version with another document begins
  without outcomes of the current version;
- a document that was made from a version (`expected_version`) is registered if that is still the current one when it
  is written.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import cast

from pyoxigraph import NamedNode, Quad

from cortex_graph.naming.vocabulary import SPECIALIZATION_OF
from cortex_graph.store import Pattern
from cortex_skills.errors import CortexError
from cortex_skills.features.registry import lifecycle
from cortex_skills.features.registry.content import blobs_of, compat_digest, digest, front_of
from cortex_skills.features.registry.document import SkillDocument
from cortex_skills.features.registry.events import RegistryChange
from cortex_skills.features.registry.lifecycle import MAKERS, Origin
from cortex_skills.features.registry.quality import Quality
from cortex_skills.features.registry.reading import check_signature, signed_message, unknown
from cortex_skills.features.registry.skill_md import write_skill_md
from cortex_skills.features.registry.skill_record import Edges, LearnedIn, SkillKey, SkillRecord, SkillVersion
from cortex_skills.features.registry.standing import StandingChanges
from cortex_skills.safe_io.display import whole_characters

_MAX_DEPENDENCIES = 1_000
_BLOB_BATCH = 1 << 22  # bytes of blobs that are written at once


@dataclass(frozen=True, slots=True)
class Registered:
    """The answer of a registration: the version, and whether it is new."""

    version: SkillVersion
    created: bool


@dataclass(frozen=True, slots=True)
class VersionSignature:
    """The signature of a digest: the `did:key` and 64 bytes, in hexadecimal."""

    public_key: str
    value: str


UNSIGNED = VersionSignature("", "")
"""That of a document that was not written here, and came without one."""


class Registrations(StandingChanges):
    """Registers documents, and goes back to earlier ones."""

    def register(
        self,
        document: SkillDocument,
        *,
        actor: str,
        origin: Origin,
        create_only: bool = False,
        expected_version: str | None = None,
        signature: VersionSignature | None = None,
        derived_from: Iterable[SkillKey] = (),
        memories: Iterable[NamedNode] = (),
        learned_in: LearnedIn | None = None,
        author: str | None = None,
    ) -> Registered:
        """Register a document: as the first version of a skill, or as its next one.

        The same document as the current version is not registered again.

        Args:
            document: the document.
            actor: who registers it.
            origin: who made it.
            create_only: refuse a name that is taken.
            expected_version: the id of the version that must be the current one; None for any, or none.
            signature: of its digest, by its publisher, or `UNSIGNED`; None for a document that was written here, which
                the key of this installation signs.
            derived_from: the skills that it was made of.
            memories: the memories that it was made of.
            learned_in: the session that it was learned in.
            author: who wrote it, as the interface knows them; the actor by default.

        Raises:
            CortexError: `skill_exists`: the name is taken; `skill_changed`: another version is the current one;
                `skill_not_found`: a dependency is missing;
                `state_conflict`: a cycle of dependencies; `signature_invalid`; `manifest_invalid`: the document
                could not be exported.
        """
        write_skill_md(document)
        key = SkillKey(document.namespace, document.name)
        version = SkillVersion(
            id=str(uuid.uuid4()),
            key=key,
            number=1,
            created=datetime.now(UTC),
            digest=digest(document),
            compat_digest=compat_digest(document),
            kind=document.kind,
            description=document.summary,
            front=front_of(document),
            learned_in=learned_in,
        )

        def current() -> tuple[SkillRecord | None, SkillVersion | None]:
            """The record, and its version if that is the same as the new one; refused if it must stay."""
            record = self.find(key)
            self._check_expected(key, record, expected_version)
            if record is None:
                return None, None
            self._check_replaces(record, origin, create_only=create_only)
            return record, self._same(record, version, signature)

        if (same := current()[1]) is not None:
            return Registered(same, created=False)
        version = self._signed(version, signature)
        self._write_blobs(blobs_of(document))
        sources = tuple(self.terms.record(source) for source in derived_from)
        remembered = tuple(memories)
        writers = {actor if author is None else author, *(() if learned_in is None else (learned_in.agent,))}
        authors = frozenset(map(whole_characters, writers))

        def decide() -> RegistryChange[Registered]:
            record, same = current()
            if same is not None:
                return RegistryChange(Registered(same, created=False))
            needs = [SkillKey(key.namespace, name) for name in document.depends_on]
            edges = Edges(
                depends_on=self._checked_dependencies(key, needs),
                conflicts_with=tuple(self.terms.record(SkillKey(key.namespace, n)) for n in document.conflicts_with),
                derived_from=sources,
                memories=remembered,
            )
            if record is None:
                standing, quality = lifecycle.first_standing(origin), Quality()
                new = SkillRecord(key, version.id, standing, quality, version.created, edges, authors)
                return self._change("skill.registered", new, version, None)
            before = self.version(record.version_id)
            standing = lifecycle.following_standing(record.standing, origin)
            edges = replace(
                edges,
                derived_from=sources or record.edges.derived_from,
                memories=remembered or record.edges.memories,
            )
            following = replace(version, number=self._newest(key) + 1, previous=before.id)
            all_authors = record.authors | authors
            changed = replace(
                record,
                version_id=version.id,
                standing=standing,
                quality=record.quality
                if before.digest == version.digest
                else record.quality.of_new_version(all_authors),
                edges=edges,
                authors=all_authors,
            )
            return self._change("skill.superseded", changed, following, record)

        return self.log.change(decide, actor)

    def rollback(self, key: SkillKey, number: int, *, actor: str) -> Registered:
        """Register an earlier version of a skill as its next one.

        Raises:
            CortexError: `skill_not_found`; `signature_invalid`; `graph_corrupt`.
        """
        for version in self.versions(key):
            if version.number == number:
                signature = VersionSignature(version.public_key, version.signature)
                origin = self.record(key).standing.origin
                return self.register(self.document(version), actor=actor, origin=origin, signature=signature)
        return unknown(f"{key} has no version {number}")

    def _signed(self, version: SkillVersion, signature: VersionSignature | None) -> SkillVersion:
        if signature is not None:
            signed = replace(version, public_key=signature.public_key, signature=signature.value)
            check_signature(signed)
            return signed
        own = self.own_signature(version.digest)
        return replace(version, public_key=own.public_key, signature=own.value)

    def own_signature(self, digest_of_document: str) -> VersionSignature:
        """The signature of a digest with the key of this installation; `UNSIGNED` where there is none."""
        signer = self._signer()
        if signer is None:
            return UNSIGNED
        return VersionSignature(signer.did, signer.sign(signed_message(digest_of_document)).hex())

    def _same(
        self, record: SkillRecord, version: SkillVersion, signature: VersionSignature | None
    ) -> SkillVersion | None:
        """The current version if it has the same document, without the signature of another publisher."""
        before = self.version(record.version_id)
        is_resigned = signature not in (None, UNSIGNED) and signature.public_key != before.public_key
        return before if before.digest == version.digest and not is_resigned else None

    def _check_replaces(self, record: SkillRecord, origin: Origin, *, create_only: bool) -> None:
        owner = record.standing.origin
        if origin == "learned" and owner != "learned":
            message = f"{record.key} was made by {MAKERS[owner]}, and is not replaced"
            raise CortexError("skill_exists", message, hint="choose another name")
        if create_only:
            raise CortexError("skill_exists", f"{record.key} is registered already", hint="update it, or choose a name")

    def _check_expected(self, key: SkillKey, record: SkillRecord | None, expected: str | None) -> None:
        if expected is None or (record is not None and record.version_id == expected):
            return
        current = None if record is None else self.version(record.version_id)
        now = "has no version now" if current is None else f"has version {current.number} now"
        raise CortexError(
            "skill_changed",
            f"{key} {now}, and the change was made in another version: nothing was registered",
            hint="read the current version, and make the change in it",
            details={"expected": expected, "current": None if current is None else current.id},
        )

    def _checked_dependencies(self, key: SkillKey, needs: list[SkillKey]) -> tuple[NamedNode, ...]:
        """The nodes of the dependencies of a skill; a missing one and a cycle are refused with their path."""
        start = self.terms.record(key)
        names = {self.terms.record(need): need.name for need in needs}
        pending: list[tuple[NamedNode, tuple[str, ...]]] = [(node, (key.name,)) for node in names]
        seen: set[NamedNode] = set()
        while pending:
            node, path = pending.pop()
            if node == start:
                way = " → ".join((*path, key.name))
                raise CortexError("state_conflict", f"the dependencies have a cycle: {way}", hint="remove one")
            if node in seen:
                continue
            seen.add(node)
            if len(seen) > _MAX_DEPENDENCIES:
                raise CortexError("invalid_arguments", f"{key} depends on more than {_MAX_DEPENDENCIES:,} skills")
            record = self._record_at(node)
            if record is None:
                way = " → ".join((*path, names.get(node, str(node))))
                raise CortexError("skill_not_found", f"a dependency is not registered: {way}", hint="register it first")
            pending += [(other, (*path, record.key.name)) for other in record.edges.depends_on]
        return tuple(self.terms.record(needed) for needed in needs)

    def _newest(self, key: SkillKey) -> int:
        links = self.skills.quads(Pattern(self._graph, None, SPECIALIZATION_OF, self.terms.record(key)))
        return max((self.version(self.terms.id_of(cast(NamedNode, quad.subject))).number for quad in links), default=0)

    def _change(
        self, kind: str, record: SkillRecord, version: SkillVersion, before: SkillRecord | None
    ) -> RegistryChange[Registered]:
        details = {
            "namespace": version.key.namespace,
            "name": version.key.name,
            "version": version.number,
            "id": version.id,
            "digest": version.digest,
            "origin": record.standing.origin,
            "attest": self.levels()(version.public_key),
        }
        if version.learned_in is not None:
            details["session"] = version.learned_in.session
        return RegistryChange(
            Registered(version, created=True),
            kind,
            details,
            insert=[*self.terms.quads_of_version(version), *self._written(record, before)],
            remove=self._gone(record, before),
        )

    def _write_blobs(self, blobs: dict[str, bytes]) -> None:
        batch: list[list[Quad]] = []
        size = 0
        for sha256, data in blobs.items():
            batch.append([self.terms.quad_of_blob(sha256, data)])
            size += len(data)
            if size >= _BLOB_BATCH:
                self.store.insert(batch)
                batch, size = [], 0
        if batch:
            self.store.insert(batch)
