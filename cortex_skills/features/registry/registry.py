"""`SkillRegistry`: the registered skills of one namespace of the graph.

    registry = SkillRegistry(store, names, signer=lambda: key)
    version = registry.register(document, actor="ada", origin="human").version
    registry.document(version)                     # verified, from the bytes that are stored
    registry.promote(SkillKey("mayros", "fetch-data"), actor="ada")

Rules kept here:
- each change is one transaction with its event (`events.py`); a refused or interrupted change leaves the registry as it
  was;
- what is merged or purged is not what another skill needs, and a learned skill changes none of a person or of the
  package.
"""

from __future__ import annotations

import uuid
from dataclasses import replace
from datetime import UTC, datetime

from pyoxigraph import Quad

from cortex_skills.errors import CortexError
from cortex_skills.features.registry import lifecycle, terms
from cortex_skills.features.registry.content import blobs_of, compat_digest, digest, front_of
from cortex_skills.features.registry.document import SkillDocument, Step
from cortex_skills.features.registry.events import RegistryChange
from cortex_skills.features.registry.registration import Registered, Registrations
from cortex_skills.features.registry.skill_record import SkillKey, SkillVersion
from cortex_skills.features.registry.standing import named
from cortex_skills.safe_io.display import whole_characters
from cortex_skills.safe_io.schemas import shown


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
            if record.standing.origin == "builtin" and self.skills.is_of_package(key):
                hint = "deprecate or archive it: then no agent is shown it"
                raise CortexError("state_conflict", f"{key} is a skill of the package, which stays", hint=hint)
            self._check_unused(key)
            versions = self.versions(key)
            gone = self._quads(self.terms.record(key))
            for version in versions:
                gone += self._quads(self.terms.version(version.id))
            details = {"digest": self.version(record.version_id).digest, "versions": len(versions)}
            return RegistryChange(None, "skill.purged", named(key) | details, remove=gone)

        self.log.change(decide, actor)

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
            self._write_blobs(blobs_of(document))
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
    known = {step.action for step in target.steps}
    steps: list[Step] = [*target.steps, *(step for step in source.steps if step.action not in known)]
    body = "\n\n".join(part for part in (target.body.rstrip(), source.body.strip()) if part)
    return target.changed(
        steps=tuple(steps),
        body=f"{body}\n" if body else "",
        description=target.description or source.description,
        resources=tuple(sorted(files.values(), key=lambda each: each.path)),
        allowed_tools=tuple(dict.fromkeys((*target.allowed_tools, *source.allowed_tools))),
    )
