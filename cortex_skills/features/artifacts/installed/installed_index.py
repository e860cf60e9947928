"""The index of what is installed in one namespace, in the store: shared by all processes that use it.

Rules kept here:
- the index is in a named graph that no dataset of a query contains and no name of the namespace reaches, so that
  skills, tokens and SPARQL clients can neither read nor write it;
- all versions of an artifact are one text, which a change replaces in one transaction with a claim of the number of the
  change (`claims.py` of the graph): of two writers that change an artifact at once one decides again with what the
  other did. The claims stay, as the list of the changes;
- an artifact whose text was changed in the store otherwise does not hide the others, and has no status, so it does not
  run;
- `revision` differs after each change, in any process;
- each version that is quarantined is a warning in the log, with the reason.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph import GraphBusy, GraphUnavailable
from cortex_graph.checks.datetimes import date_time
from cortex_graph.naming.names import Names
from cortex_graph.naming.vocabulary import CORTEX
from cortex_graph.store import GraphStore, Pattern
from cortex_graph.store_access.claims import apply_claimed, has_claims
from cortex_graph.store_access.half_made import read_whole
from cortex_skills.errors import CortexError
from cortex_skills.features.artifacts.installed.installed_artifact import ArtifactVersions, read_versions, text_of
from cortex_skills.safe_io.schemas import shown
from cortex_skills.safe_io.strict_json import read_json

VERSIONS = NamedNode(f"{CORTEX}artifactVersions")
CHANGE = NamedNode(f"{CORTEX}artifactChange")
AUDIT_BEGUN = NamedNode(f"{CORTEX}artifactAuditBegun")
AUDIT_ENDED = NamedNode(f"{CORTEX}artifactAuditEnded")
CHANGED = NamedNode(f"{CORTEX}artifactsChanged")

MAX_TEXT = 1 << 20
LEASE = timedelta(minutes=30)
_ATTEMPTS = 100

log = logging.getLogger(__name__)

Clock = Callable[[], datetime]


class _ChangingError(Exception):
    """Something that contradicts itself, maybe since it is being written."""


@dataclass(frozen=True, slots=True)
class ListedArtifacts:
    """The versions of each artifact by id, and the ids of those that were changed in the store otherwise."""

    artifacts: tuple[ArtifactVersions, ...]
    damaged: tuple[str, ...] = ()


class InstalledIndex:
    """What is installed in one namespace. Safe to use from several threads and processes.

    Args:
        store: the store; one without claims has no index, and refuses every change.
        names: of the namespace.
        now: the clock, in UTC.
        host: the id of this host, where several use the store: each audits its own files.

    Attributes:
        writes: how often this object has written.
    """

    def __init__(self, store: GraphStore, names: Names, now: Clock = lambda: datetime.now(UTC), host: str = "") -> None:
        self._store = store
        self._names = names
        self._graph = names.artifacts_graph
        self._host = [host] if host else []
        self._audit = names.beside("artifact-audit", "of", host) if host else self._graph
        self._has_claims = has_claims(store)
        self.now = now
        self.writes = 0
        self._damaged: tuple[str, ...] = ()

    def revision(self) -> str:
        """A text that differs after each change.

        Raises:
            GraphError: the store cannot be read.
        """
        return " ".join(sorted(_text(quad) for quad in self._changed()))

    def versions(self, skill_id: str) -> ArtifactVersions:
        """The versions of an artifact; without any, if there is none.

        Raises:
            CortexError: `artifact_invalid`: its text was changed in the store.
            GraphError: the store cannot be read.
        """

        def read() -> ArtifactVersions:
            quads = self._quads(Pattern(self._graph, self._node(skill_id), VERSIONS))
            return self._read(skill_id, quads) if quads else ArtifactVersions(skill_id)

        return read_whole(self._store, read, CortexError)

    def everything(self) -> ListedArtifacts:
        """Everything that is installed, sorted by id.

        Raises:
            GraphError: the store cannot be read.
        """
        found: list[ListedArtifacts] = []

        def read() -> ListedArtifacts:
            found.append(self._listed())
            if found[-1].damaged not in ((), self._damaged):
                raise _ChangingError
            return found[-1]

        with suppress(_ChangingError):
            return read_whole(self._store, read, _ChangingError)
        self._damaged = found[-1].damaged  # these are not waited for again
        return found[-1]

    def _listed(self) -> ListedArtifacts:
        texts: dict[str, list[Quad]] = {}
        for quad in self._quads(Pattern(self._graph, None, VERSIONS)):
            if isinstance(quad.subject, NamedNode):
                texts.setdefault(quad.subject.value.rpartition("/")[2], []).append(quad)
        found, damaged = [], []
        for skill_id, quads in sorted(texts.items()):
            try:
                found.append(self._read(skill_id, quads))
            except CortexError:
                damaged.append(skill_id)
        return ListedArtifacts(tuple(found), tuple(damaged))

    def change(
        self, skill_id: str, change: Callable[[ArtifactVersions], ArtifactVersions], about: dict[str, object]
    ) -> ArtifactVersions:
        """Change the versions of an artifact.

        Args:
            skill_id: of the artifact.
            change: the new versions of the present ones; called again if another writer was faster. It may raise.
            about: what is changed and by whom, as JSON, for the list of the changes.

        Returns:
            The new versions.

        Raises:
            CortexError: `artifact_invalid`; `invalid_arguments`: there are too many versions; those of `change`.
            GraphError: the store cannot be written.
        """
        for _ in range(_ATTEMPTS):
            before = self.versions(skill_id)
            wanted = change(before)
            if wanted == before:
                return before
            after = replace(wanted, changes=before.changes + 1)
            if self._write(before, after, about):
                _warn_of_quarantined(before, after)
                return after
        raise GraphBusy("the artifact is changed repeatedly, and nothing was changed", hint="try again later")

    def history(self, skill_id: str, most: int) -> list[dict[str, Any]]:
        """The changes of an artifact, the latest first: what, when (`at`) and by whom, as JSON objects.

        Raises:
            CortexError: `artifact_invalid`.
            GraphError: the store cannot be read.
        """
        last, found = self.versions(skill_id).changes, []
        for number in range(last, max(0, last - most), -1):
            node = self._names.beside("artifact", skill_id, str(number))
            for quad in self._quads(Pattern(self._graph, node, CHANGE)):
                with suppress(ValueError):
                    about = read_json(_text(quad))
                    found.append(about if isinstance(about, dict) else {})
        return found

    def take_audit(self, every: timedelta) -> str | None:
        """Take over an audit of everything that is installed, if it is due and no other process of this host does.

        It is due where the last one was begun `every` ago, or was begun `LEASE` ago and has not ended.

        Returns:
            What `end_audit` takes; None if it is not due.

        Raises:
            GraphError: the store cannot be used.
        """
        begun = max((_text(quad) for quad in self._audits(AUDIT_BEGUN)), default="")
        ended = {_text(quad) for quad in self._audits(AUDIT_ENDED)}
        now = self.now()
        if begun and now < datetime.fromisoformat(begun) + (every if begun in ended else min(every, LEASE)):
            return None
        new = date_time(now)
        claim = Quad(
            self._names.beside("artifact-audit", begun or "first", *self._host),
            CHANGE,
            Literal(uuid4().hex),
            self._graph,
        )
        insert = [Quad(self._audit, AUDIT_BEGUN, Literal(new), self._graph)]
        is_taken = apply_claimed(self._store, claim, insert, self._audits(AUDIT_BEGUN))
        return new if is_taken else None

    def end_audit(self, taken: str) -> None:
        """Note that an audit has ended."""
        new = Quad(self._audit, AUDIT_ENDED, Literal(taken), self._graph)
        self._store.apply([new], [old for old in self._audits(AUDIT_ENDED) if old != new])

    def _audits(self, step: NamedNode) -> list[Quad]:
        return self._quads(Pattern(self._graph, self._audit, step))

    def _write(self, before: ArtifactVersions, after: ArtifactVersions, about: dict[str, object]) -> bool:
        text, unique = text_of(after), uuid4().hex
        if len(text) > MAX_TEXT:
            raise CortexError(
                "invalid_arguments",
                f"{after.skill_id} has too many versions and grants to be stored",
                hint="remove versions that are not used: cortex-skills installed remove",
            )
        node = self._node(after.skill_id)
        claim = json.dumps({**about, "at": date_time(self.now()), "id": unique}, ensure_ascii=False, sort_keys=True)
        number = self._names.beside("artifact", after.skill_id, str(after.changes))
        new = [
            Quad(node, VERSIONS, Literal(text), self._graph),
            Quad(self._graph, CHANGED, Literal(unique), self._graph),
        ]
        old = self._changed()
        if before.changes:
            old = [*old, Quad(node, VERSIONS, Literal(text_of(before)), self._graph)]
        try:
            return apply_claimed(self._store, Quad(number, CHANGE, Literal(claim), self._graph), new, old)
        finally:
            self.writes += 1

    def _changed(self) -> list[Quad]:
        return self._quads(Pattern(self._graph, self._graph, CHANGED))

    def _quads(self, pattern: Pattern) -> list[Quad]:
        if not self._has_claims:
            raise GraphUnavailable(
                "a store behind another Cortex keeps no installed artifacts",
                hint="use a store in a folder, in memory, or on a SPARQL server",
            )
        return list(self._store.quads(pattern))

    def _node(self, skill_id: str) -> NamedNode:
        return self._names.beside("artifact", skill_id)

    @staticmethod
    def _read(skill_id: str, quads: list[Quad]) -> ArtifactVersions:
        try:
            (quad,) = quads
            return read_versions(_text(quad), skill_id)
        except ValueError as error:
            raise CortexError(
                "artifact_invalid",
                f"what is stored about {shown(skill_id)} was changed in the store: {error}",
                hint="find out who writes to the store; then install the artifact in another namespace, or restore it",
            ) from None


def _warn_of_quarantined(before: ArtifactVersions, after: ArtifactVersions) -> None:
    known = {each.key for each in (*before.versions, *before.removed) if each.status == "quarantined"}
    for each in after.versions:
        if each.status == "quarantined" and each.key not in known:
            log.warning("%s is quarantined, and stops on every host of the store: %s", each.key, each.reason)


def _text(quad: Quad) -> str:
    return quad.object.value if isinstance(quad.object, Literal) else ""
