"""Registered skills as frozen data, and their nodes and quads.

Rules kept here:
- a record has what changes: the current version, the standing, the counters, and the edges of the current version to
  other records; a version never changes;
- a record is `{base}NS/skill/SKILL-NAMESPACE/NAME`;
- a version is `{base}NS/skill-version/UUID`. Its front matter, steps and list of files are one canonical JSON text, so
  that nothing is lost; name, description, kind and digests are also properties, so that a query finds them;
- bodies and files are blobs, `{base}NS/blob/SHA-256`, shared by all versions that hold the same bytes;
- what a store returns is checked: a record or a version that is incomplete or malformed is `graph_corrupt`;
- of a record that was written before outcomes and reports were kept apart, the outcomes that were measured count, and
  the others, which could have been one agent's, do not.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, cast
from urllib.parse import unquote

from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph.checks.datetimes import date_time
from cortex_graph.naming.names import Names
from cortex_graph.naming.vocabulary import DATE_TIME, ENTITY, GENERATED_AT, LABEL, RDFS, SPECIALIZATION_OF, TYPE
from cortex_skills.features.registry.documents.document import (
    corrupt,
)
from cortex_skills.features.registry.records import terms
from cortex_skills.features.registry.records.lifecycle import (
    ORIGINS,
    STATES,
    Quality,
    Standing,
    is_reliable,
    utility_of,
)
from cortex_skills.manifest.skill_names import hyphenated


@dataclass(frozen=True, slots=True, order=True)
class SkillKey:
    """What a record is known by: the namespace of the skill, and its name.

    Keys whose names differ only in underscores for hyphens are equal: they are spellings of one name.

    Attributes:
        namespace: of the skill.
        name: as it was written.
        hyphenated: the spelling that is compared, and that the node has.
    """

    namespace: str
    name: str = field(compare=False)
    hyphenated: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "hyphenated", hyphenated(self.name))

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
        validated: when it was verified last; None before.
    """

    key: SkillKey
    version_id: str
    standing: Standing
    quality: Quality
    created: datetime
    edges: Edges = Edges()
    authors: frozenset[str] = frozenset()
    validated: datetime | None = None

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


COMMENT = NamedNode(f"{RDFS}comment")
EDGES = {
    "depends_on": terms.DEPENDS_ON,
    "conflicts_with": terms.CONFLICTS_WITH,
    "derived_from": terms.DERIVED_FROM,
    "supersedes": terms.SUPERSEDES,
    "merged_into": terms.MERGED_INTO,
    "memories": terms.DERIVED_FROM_MEMORY,
}

Spelling = Callable[[Literal], Literal]
"""A literal as the store returns it (`GraphStore.as_stored`)."""


class RegistryTerms:
    """The nodes and quads of the registry of one namespace.

    Args:
        names: the namespace whose registry it is.
        spelling: literals as the store returns them.
    """

    def __init__(self, names: Names, spelling: Spelling) -> None:
        self.names = names
        self.graph = names.registry_graph
        self._spelling = spelling

    # --- nodes

    def record(self, key: SkillKey) -> NamedNode:
        """The node of a record."""
        return self.names.beside("skill", key.namespace, key.hyphenated)

    def version(self, version_id: str) -> NamedNode:
        """The node of a version."""
        return self.names.beside("skill-version", version_id)

    def blob(self, digest: str) -> NamedNode:
        """The node of a blob."""
        return self.names.beside("blob", digest)

    def event(self, sequence: int) -> NamedNode:
        """The node of an event."""
        return self.names.beside("event", str(sequence))

    def name_of(self, record: NamedNode) -> str:
        """The name of the node of a record: `NAMESPACE/NAME`."""
        return unquote(record.value.removeprefix(f"{self.names.beside('skill').value}/"))

    def label(self, key: SkillKey) -> str:
        """A name as an answer shows it: without the namespace if that is the registry's own."""
        return key.name if key.namespace == self.names.namespace else str(key)

    def key_of(self, record: NamedNode) -> SkillKey:
        """The key of the node of a record."""
        namespace, _, name = self.name_of(record).rpartition("/")
        return SkillKey(namespace, name)

    def id_of(self, version: NamedNode) -> str:
        """The id of the node of a version."""
        return version.value.removeprefix(self.version("").value)

    # --- quads

    def quads_of_record(self, record: SkillRecord) -> list[Quad]:
        """The quads of a record."""
        node, standing, quality = self.record(record.key), record.standing, record.quality
        pairs: list[tuple[NamedNode, NamedNode | Literal]] = [
            (TYPE, terms.REGISTERED_SKILL),
            (LABEL, Literal(record.key.name)),
            (terms.SKILL_NAMESPACE, Literal(record.key.namespace)),
            (terms.CURRENT_VERSION, self.version(record.version_id)),
            (terms.ORIGIN, Literal(standing.origin)),
            (terms.LIFECYCLE, Literal(standing.lifecycle)),
            (terms.TRUST_TIER, _integer(standing.trust_tier)),
            (terms.INVOCATIONS, _integer(quality.invocations)),
            (terms.SUCCESSES, _integer(quality.successes)),
            (terms.UTILITY, self._spelling(Literal(repr(float(quality.utility)), datatype=terms.DOUBLE))),
            (terms.LOADS, _integer(quality.loads)),
            (terms.LOADED_TOKENS, _integer(quality.loaded_tokens)),
            (terms.CURRENT_INVOCATIONS, _integer(quality.hosted)),
            (terms.CURRENT_SUCCESSES, _integer(quality.hosted_successes)),
            (GENERATED_AT, _moment(record.created)),
        ]
        for term, agents in (
            (terms.WORKED_FOR, quality.worked_for),
            (terms.FAILED_FOR, quality.failed_for),
            (terms.REPORTED_WORKING, quality.reported_working),
            (terms.REPORTED_FAILING, quality.reported_failing),
            (terms.AUTHOR, record.authors),
        ):
            pairs += [(term, Literal(agent)) for agent in sorted(agents)]
        if standing.reason:
            pairs.append((terms.REASON, Literal(standing.reason)))
        if quality.last_used_at is not None:
            pairs.append((terms.LAST_USED, _moment(quality.last_used_at)))
        if record.validated is not None:
            pairs.append((terms.VALIDATED, _moment(record.validated)))
        for name, term in EDGES.items():
            pairs += [(term, other) for other in getattr(record.edges, name)]
        return [Quad(node, predicate, value, self.graph) for predicate, value in pairs]

    def record_of(self, quads: Iterable[Quad]) -> SkillRecord | None:
        """The record of the quads of one subject; None when there are none.

        Raises:
            CortexError: `graph_corrupt`: it is incomplete or malformed.
        """
        found = _Found(quads)
        if not found:
            return None
        standing = Standing(
            found.one_of(terms.ORIGIN, ORIGINS),
            found.one_of(terms.LIFECYCLE, STATES),
            found.integer(terms.TRUST_TIER),
            found.text(terms.REASON, ""),
        )
        edges = Edges(**{name: tuple(sorted(found.nodes(term), key=str)) for name, term in EDGES.items()})
        version = self.id_of(found.node(terms.CURRENT_VERSION))
        key = SkillKey(found.text(terms.SKILL_NAMESPACE), found.text(LABEL))
        created, authors = _time(found.text(GENERATED_AT)), found.texts(terms.AUTHOR)
        validated = _time(text) if (text := found.text(terms.VALIDATED, "")) else None
        return SkillRecord(key, version, standing, _quality_of(found), created, edges, authors, validated)

    def quads_of_version(self, version: SkillVersion) -> list[Quad]:
        """The quads of a version, without its blobs."""
        node = self.version(version.id)
        pairs: list[tuple[NamedNode, NamedNode | Literal]] = [
            (TYPE, terms.SKILL_VERSION),
            (TYPE, ENTITY),
            (SPECIALIZATION_OF, self.record(version.key)),
            (LABEL, Literal(version.key.name)),
            (terms.SKILL_NAMESPACE, Literal(version.key.namespace)),
            (terms.VERSION_NUMBER, _integer(version.number)),
            (GENERATED_AT, _moment(version.created)),
            (terms.DIGEST, Literal(version.digest)),
            (terms.COMPAT_DIGEST, Literal(version.compat_digest)),
            (terms.SKILL_KIND, Literal(version.kind)),
            (COMMENT, Literal(version.description)),
            (terms.FRONT_MATTER, Literal(version.front)),
        ]
        if version.previous is not None:
            pairs.append((terms.REVISION_OF, self.version(version.previous)))
        if version.signature:
            pairs += [(terms.PUBLIC_KEY, Literal(version.public_key)), (terms.SIGNATURE, Literal(version.signature))]
        if (learned := version.learned_in) is not None:
            pairs += [(terms.LEARNED_SESSION, Literal(learned.session)), (terms.LEARNED_BY, Literal(learned.agent))]
            pairs.append((terms.LEARNED_AT, _moment(learned.time)))
        return [Quad(node, predicate, value, self.graph) for predicate, value in pairs]

    def version_of(self, node: NamedNode, quads: Iterable[Quad]) -> SkillVersion | None:
        """The version of the quads of one subject; None when there are none.

        Raises:
            CortexError: `graph_corrupt`: it is incomplete or malformed.
        """
        found = _Found(quads)
        if not found:
            return None
        previous = found.nodes(terms.REVISION_OF)
        learned_in = None
        if session := found.text(terms.LEARNED_SESSION, ""):
            learned_in = LearnedIn(session, found.text(terms.LEARNED_BY), _time(found.text(terms.LEARNED_AT)))
        return SkillVersion(
            id=self.id_of(node),
            key=SkillKey(found.text(terms.SKILL_NAMESPACE), found.text(LABEL)),
            number=found.integer(terms.VERSION_NUMBER),
            created=_time(found.text(GENERATED_AT)),
            digest=found.text(terms.DIGEST),
            compat_digest=found.text(terms.COMPAT_DIGEST),
            kind=found.text(terms.SKILL_KIND),
            description=found.text(COMMENT).strip(),
            front=found.text(terms.FRONT_MATTER),
            previous=self.id_of(previous[0]) if previous else None,
            public_key=found.text(terms.PUBLIC_KEY, ""),
            signature=found.text(terms.SIGNATURE, ""),
            learned_in=learned_in,
        )

    def quad_of_blob(self, digest: str, data: bytes) -> Quad:
        """The quad of a blob."""
        value = Literal(b64encode(data).decode(), datatype=terms.BASE64)
        return Quad(self.blob(digest), terms.BYTES, value, self.graph)

    @staticmethod
    def bytes_of(quad: Quad) -> bytes:
        """The content of a blob.

        Raises:
            CortexError: `graph_corrupt`: it is malformed.
        """
        try:
            return b64decode(cast(Literal, quad.object).value, validate=True)
        except (ValueError, AttributeError):
            corrupt("the content of a skill is malformed")


def _quality_of(found: _Found) -> Quality:
    used = found.text(terms.LAST_USED, "")
    quality = Quality(
        found.integer(terms.INVOCATIONS),
        found.integer(terms.SUCCESSES),
        found.number(terms.UTILITY),
        found.integer(terms.LOADS),
        found.integer(terms.LOADED_TOKENS),
        _time(used) if used else None,
        found.integer(terms.CURRENT_INVOCATIONS, 0),
        found.integer(terms.CURRENT_SUCCESSES, 0),
        found.texts(terms.WORKED_FOR),
        found.texts(terms.FAILED_FOR),
        found.texts(terms.REPORTED_WORKING),
        found.texts(terms.REPORTED_FAILING),
    )
    return quality if found.has(terms.CURRENT_INVOCATIONS) else _with_measured_only(quality, found)


def _with_measured_only(quality: Quality, found: _Found) -> Quality:
    """The counters of a record whose outcomes include reports without an agent."""
    measured, successes = found.integer(terms.MEASURED, 0), found.integer(terms.MEASURED_SUCCESSES, 0)
    utility = quality.utility if measured == quality.invocations else utility_of(successes, measured - successes)
    return replace(
        quality,
        invocations=measured,
        successes=successes,
        utility=utility,
        hosted=measured,
        hosted_successes=successes,
    )


class _Found:
    """The values of one subject, by predicate."""

    def __init__(self, quads: Iterable[Quad]) -> None:
        self._values: dict[NamedNode, list[Any]] = {}
        for quad in quads:
            self._values.setdefault(quad.predicate, []).append(quad.object)

    def __bool__(self) -> bool:
        return bool(self._values)

    def _one(self, predicate: NamedNode) -> Any:
        values = self._values.get(predicate, [])
        if len(values) != 1:
            name = predicate.value.rpartition("#")[2]
            corrupt(f"a skill of the registry has {len(values)} values of {name}, and must have one")
        return values[0]

    def text(self, predicate: NamedNode, default: str | None = None) -> str:
        if default is not None and predicate not in self._values:
            return default
        value = self._one(predicate)
        return value.value if isinstance(value, Literal) else corrupt("a skill of the registry has a node for a text")

    def integer(self, predicate: NamedNode, default: int | None = None) -> int:
        text = self.text(predicate, None if default is None else str(default))
        return int(text) if text.isdecimal() else corrupt(f"{text[:40]!r} is no count of a skill")

    def number(self, predicate: NamedNode) -> float:
        text = self.text(predicate)
        try:
            return float(text)
        except ValueError:
            corrupt(f"{text[:40]!r} is no number of a skill")

    def one_of(self, predicate: NamedNode, known: tuple[Any, ...]) -> Any:
        text = self.text(predicate)
        return text if text in known else corrupt(f"{text[:40]!r} is no state of a skill")

    def node(self, predicate: NamedNode) -> NamedNode:
        value = self._one(predicate)
        return value if isinstance(value, NamedNode) else corrupt("a skill of the registry has a text for a node")

    def has(self, predicate: NamedNode) -> bool:
        return predicate in self._values

    def texts(self, predicate: NamedNode) -> frozenset[str]:
        return frozenset(each.value for each in self._values.get(predicate, []) if isinstance(each, Literal))

    def nodes(self, predicate: NamedNode) -> list[NamedNode]:
        return [value for value in self._values.get(predicate, []) if isinstance(value, NamedNode)]


def _integer(number: int) -> Literal:
    return Literal(str(number), datatype=terms.INTEGER)


def _moment(moment: datetime) -> Literal:
    return Literal(date_time(moment), datatype=DATE_TIME)


def _time(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        corrupt(f"{text[:40]!r} is no time of a skill")


@dataclass(frozen=True, slots=True)
class VersionSignature:
    """The signature of a digest: the `did:key` and 64 bytes, in hexadecimal."""

    public_key: str
    value: str


UNSIGNED = VersionSignature("", "")

"""That of a document that was not written here, and came without one."""
