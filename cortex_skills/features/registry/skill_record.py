"""Registered skills as frozen data; `record_quads.py` has their quads.

Rules kept here:
- a record has what changes: the current version, the standing, the counters, and the edges of the current version to
  other records; a version never changes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from pyoxigraph import NamedNode

from cortex_skills.features.registry.lifecycle import Standing, is_reliable
from cortex_skills.features.registry.quality import Quality


@dataclass(frozen=True, slots=True, order=True)
class SkillKey:
    """What a record is known by: the namespace of the skill, and its name."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True)
class Edges:
    """Other records that a record names, by kind of edge, and the memories that it was made of, as their nodes."""

    depends_on: tuple[NamedNode, ...] = ()
    conflicts_with: tuple[NamedNode, ...] = ()
    derived_from: tuple[NamedNode, ...] = ()
    supersedes: tuple[NamedNode, ...] = ()
    merged_into: tuple[NamedNode, ...] = ()
    memories: tuple[NamedNode, ...] = ()


@dataclass(frozen=True, slots=True)
class SkillRecord:
    """The mutable part of a registered skill.

    Attributes:
        key: its namespace and name.
        version_id: the UUID of the current version.
        standing: origin, state, trust tier, reason.
        quality: its counters.
        created: when it was registered first.
        edges: to other records.
        authors: who wrote one of its versions; empty where that is not known.
    """

    key: SkillKey
    version_id: str
    standing: Standing
    quality: Quality
    created: datetime
    edges: Edges = Edges()
    authors: frozenset[str] = frozenset()

    @property
    def evidence(self) -> Quality:
        """The counters that decide about the skill: who wrote a learned skill does not count among its users."""
        return self.quality.without_uses_of(self.authors) if self.standing.origin == "learned" else self.quality

    def is_shown_to(self, agent: str) -> bool:
        """Whether an agent that starts is shown the skill: it is reliable, or the agent wrote it and it worked."""
        if is_reliable(self.standing, self.evidence):
            return True
        return self.standing.lifecycle == "candidate" and agent in self.authors & self.quality.worked_for


@dataclass(frozen=True, slots=True)
class LearnedIn:
    """The session that a version was learned in.

    Attributes:
        session: its id, which opens nothing (`session_calls.session_id`).
        agent: whose calls they were.
        time: when it was learned, or when the session ended if that was before.
    """

    session: str
    agent: str
    time: datetime


@dataclass(frozen=True, slots=True)
class SkillVersion:
    """One version: everything but the bytes of its body and files.

    Attributes:
        id: a UUID.
        key: the record that it belongs to.
        number: from 1.
        created: when it was registered.
        digest: of everything in the document.
        compat_digest: that of other registries.
        kind: `instructions`, `procedure` or `semantic`.
        description: what the skill does.
        front: the front matter, steps and list of files, as canonical JSON.
        previous: the id of the version before; None for the first one.
        public_key: the `did:key` that signed the digest; empty without a signature.
        signature: in hexadecimal.
        learned_in: the session that it was learned in; None for one that was written.
    """

    id: str
    key: SkillKey
    number: int
    created: datetime
    digest: str
    compat_digest: str
    kind: str
    description: str
    front: str = field(repr=False)
    previous: str | None = None
    public_key: str = ""
    signature: str = ""
    learned_in: LearnedIn | None = None
