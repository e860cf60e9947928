"""`SkillRegistry`: the registered skills of one namespace of the graph.

    registry = SkillRegistry(store, names, signer=lambda: key)
    version = registry.register(document, actor="ada", origin="human").version
    registry.document(version)                     # verified, from the bytes that are stored
    registry.promote(SkillKey("mayros", "fetch-data"), actor="ada")

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
  is written;
- each change is one transaction with its event (`events.py`); a refused or interrupted change leaves the registry as it
  was;
- what is merged or purged is not what another skill needs, and a learned skill changes none of a person or of the
  package.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import cast

from pyoxigraph import NamedNode, Quad

from cortex_graph.naming.vocabulary import SPECIALIZATION_OF
from cortex_graph.store import Pattern
from cortex_skills.errors import CortexError
from cortex_skills.features.registry.documents.document import (
    SkillDocument,
    Step,
    blobs_of,
    compat_digest,
    digest,
    front_of,
)
from cortex_skills.features.registry.documents.skill_md import write_skill_md
from cortex_skills.features.registry.records import lifecycle, terms
from cortex_skills.features.registry.records.events import RegistryChange
from cortex_skills.features.registry.records.lifecycle import MAKERS, Origin, Quality
from cortex_skills.features.registry.records.reading import check_signature, signed_message, unknown
from cortex_skills.features.registry.records.skill_record import (
    UNSIGNED,
    Edges,
    LearnedIn,
    SkillKey,
    SkillRecord,
    SkillVersion,
    VersionSignature,
)
from cortex_skills.features.registry.records.standing import StandingChanges, named
from cortex_skills.safe_io.display import whole_characters
from cortex_skills.safe_io.schemas import shown

_MAX_DEPENDENCIES = 1_000
_BLOB_BATCH = 1 << 22  # bytes of blobs that are written at once
_BLOBS_WITHIN, _MOST_WITHIN = 1 << 16, 20  # bytes and number of blobs that are written with the version


@dataclass(frozen=True, slots=True)
class Registered:
    """The answer of a registration: the version, and whether it is new."""

    version: SkillVersion
    created: bool


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
        version = first_version(document, learned_in)

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
        within = self._within_change(blobs_of(document))
        sources = tuple(self.terms.record(source) for source in derived_from)
        remembered = tuple(memories)
        writers = {actor if author is None else author, *(() if learned_in is None else (learned_in.agent,))}
        authors = frozenset(map(whole_characters, writers))

        def decide() -> RegistryChange[Registered]:
            record, same = current()
            if same is not None:
                return RegistryChange(Registered(same, created=False))
            change = changed_by(record)
            return replace(change, insert=[*within, *change.insert])

        def changed_by(record: SkillRecord | None) -> RegistryChange[Registered]:
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
                key=key,
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

    def preview(
        self,
        document: SkillDocument,
        *,
        origin: Origin,
        signature: VersionSignature | None = None,
        known: Collection[SkillKey] = (),
    ) -> Registered:
        """What `register` would answer, unsigned and with an id that is not kept; nothing is changed.

        Args:
            document: the document.
            origin: who made it.
            signature: as for `register`.
            known: skills that are registered by then.

        Raises:
            CortexError: as `register`.
        """
        write_skill_md(document)
        version, key = first_version(document), SkillKey(document.namespace, document.name)
        record = self.find(key)
        if record is not None:
            self._check_replaces(record, origin, create_only=False)
            if (same := self._same(record, version, signature)) is not None:
                return Registered(same, created=False)
        if signature is not None:  # without one it is not signed here: the first use of a key creates it
            version = self._signed(version, signature)
        needs = [SkillKey(key.namespace, name) for name in document.depends_on]
        self._checked_dependencies(key, needs, frozenset(map(self.terms.record, known)))
        number = 1 if record is None else self._newest(key) + 1
        return Registered(replace(version, number=number), created=True)

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

    def _checked_dependencies(
        self, key: SkillKey, needs: list[SkillKey], known: Collection[NamedNode] = ()
    ) -> tuple[NamedNode, ...]:
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
            if record is None and node in known:
                continue
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

    def _within_change(self, blobs: dict[str, bytes]) -> list[Quad]:
        """Write the blobs of a document, unless they are few: these are returned, for the change itself."""
        if sum(map(len, blobs.values())) <= _BLOBS_WITHIN and len(blobs) <= _MOST_WITHIN:
            return [self.terms.quad_of_blob(name, data) for name, data in blobs.items()]
        self._write_blobs(blobs)
        return []

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


class SkillRegistry(Registrations):
    """The registry of one namespace. Safe to use from several threads and processes."""

    def purge(self, key: SkillKey, *, actor: str) -> None:
        """Delete a skill with all versions; its events stay.

        Raises:
            CortexError: `skill_in_use`: others depend on it; `state_conflict`: it is a skill of the package, which
                every registry has; `skill_not_found`.
        """

        def decide() -> RegistryChange[None]:
            record = self.record(key)
            self.check_deletable(record)
            versions = self.versions(key)
            gone = self._quads(self.terms.record(key))
            for version in versions:
                gone += self._quads(self.terms.version(version.id))
            details = {"digest": self.version(record.version_id).digest, "versions": len(versions)}
            return RegistryChange(None, "skill.purged", named(key) | details, remove=gone)

        self.log.change(decide, actor)

    def check_deletable(self, record: SkillRecord, gone: Collection[SkillKey] = ()) -> None:
        """Refuse what `purge` refuses, where some skills are gone by then; nothing is changed.

        Raises:
            CortexError: as `purge`.
        """
        if record.standing.origin == "builtin" and self.skills.is_of_package(record.key):
            hint = "deprecate or archive it: then no agent is shown it"
            raise CortexError("state_conflict", f"{record.key} is a skill of the package, which stays", hint=hint)
        self.check_unused(record.key, gone)

    def merge(self, target: SkillKey, source: SkillKey, *, actor: str, author: str | None = None) -> Registered:
        """Merge a skill into another one: its steps, body, files and counters; the source is archived.

        Args:
            target: the skill that stays.
            source: the skill that becomes part of it.
            actor: who merges them.
            author: as the interface knows them; the actor by default.

        Raises:
            CortexError: `invalid_arguments`: both are the same; `state_conflict`: the source was merged before,
                or both have different files with one path;
                `skill_not_found`; `skill_exists`: a learned skill would change one of a person or of the package.
        """
        if target == source:
            details = {"field": "source"}
            message = f"{target} cannot be merged into itself"
            raise CortexError("invalid_arguments", message, hint="name two skills", details=details)

        def decide() -> RegistryChange[Registered]:
            kept, gone = self.record(target), self.record(source)
            if gone.edges.merged_into:
                hint = "name another skill; `merged_into` of this one names where it is"
                raise CortexError("state_conflict", f"{source} was merged before", hint=hint)
            if gone.standing.origin == "learned" and kept.standing.origin != "learned":
                self._check_replaces(kept, "learned", create_only=False)
            before, added = self.version(kept.version_id), self.version(gone.version_id)
            document = merged(self.document(before), self.document(added))
            within = self._within_change(blobs_of(document))
            version = self._signed(
                replace(
                    before,
                    id=str(uuid.uuid4()),
                    number=self._newest(target) + 1,
                    created=datetime.now(UTC),
                    digest=digest(document),
                    compat_digest=compat_digest(document),
                    kind=document.kind,
                    description=document.summary,
                    front=front_of(document),
                    previous=before.id,
                    public_key="",
                    signature="",
                    learned_in=added.learned_in,
                ),
                None,
            )
            node, old = self.terms.record(target), self.terms.record(source)
            edges = replace(
                kept.edges,
                derived_from=tuple(dict.fromkeys((*kept.edges.derived_from, old))),
                memories=tuple(dict.fromkeys((*kept.edges.memories, *gone.edges.memories))),
            )
            is_same = version.digest == before.digest
            quality = kept.quality.merged(gone.quality)
            authors = kept.authors | gone.authors | {whole_characters(actor if author is None else author)}
            new = replace(
                kept,
                version_id=version.id,
                standing=kept.standing if is_same else lifecycle.revised(kept.standing),
                quality=quality if is_same else quality.of_new_version(authors),
                edges=edges,
                authors=authors,
            )
            archived = replace(
                gone,
                standing=lifecycle.archived(gone.standing, f"merged into {target.name}"),
                edges=replace(gone.edges, merged_into=(node,)),
            )
            moved = [quad for term in (terms.DEPENDS_ON, terms.CONFLICTS_WITH) for quad in self._pointing(old, term)]
            moved = [quad for quad in moved if quad.subject not in (node, old)]
            pointing = [Quad(quad.subject, quad.predicate, node, self._graph) for quad in moved]
            details = named(target) | {"source": str(source), "version": version.number, "digest": version.digest}
            return RegistryChange(
                Registered(version, created=True),
                "skill.merged",
                details,
                insert=[
                    *within,
                    *self.terms.quads_of_version(version),
                    *self._written(new, kept),
                    *self._written(archived, gone),
                    *pointing,
                ],
                remove=[*self._gone(new, kept), *self._gone(archived, gone), *moved],
            )

        return self.log.change(decide, actor)

    def exported(self, key: SkillKey, version: SkillVersion, *, actor: str) -> None:
        """Record that a version was exported."""
        details = named(key) | {"version": version.number, "digest": version.digest}
        self.log.change(lambda: RegistryChange(None, "skill.exported", details), actor)


def first_version(document: SkillDocument, learned_in: LearnedIn | None = None) -> SkillVersion:
    """The version of a document that is not registered: the first one, without a signature."""
    return SkillVersion(
        id=str(uuid.uuid4()),
        key=SkillKey(document.namespace, document.name),
        number=1,
        created=datetime.now(UTC),
        digest=digest(document),
        compat_digest=compat_digest(document),
        kind=document.kind,
        description=document.summary,
        front=front_of(document),
        learned_in=learned_in,
    )


def merged(target: SkillDocument, source: SkillDocument) -> SkillDocument:
    """The document of two skills that become one.

    Raises:
        CortexError: `state_conflict`: both have a file with the same path and other content.
    """
    files = {resource.path: resource for resource in target.resources}
    for resource in source.resources:
        if files.setdefault(resource.path, resource) != resource:
            message = f"{target.name} and {source.name} have different files {shown(resource.path)}"
            raise CortexError("state_conflict", message, hint="rename one of them in the text and the files of a skill")
    added: dict[str, Step] = {}
    for step in source.steps:
        added.setdefault(step.action, step)
    known = {step.action for step in target.steps}
    steps: list[Step] = [*target.steps, *(step for action, step in added.items() if action not in known)]
    body = "\n\n".join(part for part in (target.body.rstrip(), source.body.strip()) if part)
    return target.changed(
        steps=tuple(steps),
        body=f"{body}\n" if body else "",
        description=target.description or source.description,
        resources=tuple(sorted(files.values(), key=lambda each: each.path)),
        allowed_tools=tuple(dict.fromkeys((*target.allowed_tools, *source.allowed_tools))),
    )
