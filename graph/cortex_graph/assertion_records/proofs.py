"""Proofs, stored with the records of the triples that they prove.

Rules kept here:
- a proof is a node `{base}NS/proof/ID` in the provenance graph of the namespace, a `cortex:Proof`; its ID is the
  SHA-256, in hexadecimal, of its content (UTF-8): the canonical JSON (RFC 8785) of the whole proof, with its signature.
  So a changed proof has another ID, and the same proof is stored once;
- it has its kind, its time, the triples that it proves (`cortex:proves`, their records) and its premises
  (`cortex:premise`): the records of triples, or the graph of the namespace when these are too many;
- the rules that it applied are stored once for all proofs: `{base}NS/rules/ID`, with an ID made in the same way;
- the record of an existing triple links to its proofs (`cortex:proof`);
- a proof is removed with the last triple that it proves, and never with a premise: checking it again detects that;
- of a triple with very many proofs only the newest are read, so that a client that adds many cannot slow down readers;
- nothing here verifies a proof.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from heapq import nlargest
from itertools import islice

from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph.exceptions import InvalidArguments, invalid
from cortex_graph.naming.names import Names
from cortex_graph.naming.vocabulary import (
    CONTENT,
    DATE_TIME,
    GENERATED_AT,
    PREMISE,
    PROOF,
    PROOF_CLASS,
    PROOF_KIND,
    PROVES,
    RULE_SET,
    RULES,
    TYPE,
)
from cortex_graph.store import GraphStore, Pattern
from cortex_graph.store_access.gathered import gathered

# A premise is a quad, and Virtuoso accepts 500 at once: more premises are replaced by the graph.
MAX_PREMISES = 400
MAX_CONTENT = 256 << 10  # characters
MAX_OF = 64  # proofs of one triple that are read at once; others are read by their ids
_MAX_LINKS = 10_000
_KIND = re.compile(r"[a-z][a-z0-9-]{0,39}")
_ID = re.compile(r"[0-9a-f]{64}")


def content_id(content: str) -> str:
    """Return the id of a content."""
    return hashlib.sha256(content.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class StoredProof:
    """A proof as it is stored.

    Attributes:
        kind: its kind, such as `pol`: small letters, digits and hyphens.
        content: the canonical JSON of the proof.
        time: when it was made, an `xsd:dateTime`.
        proves: the ids of the triples that it proves; at least one.
        premises: the ids of the triples on which it depends, without those that it proves.
        rests_on_graph: whether it depends on more triples than can be listed.
        rules: the ids of the stored rule sets that it applied.

    Raises:
        InvalidArguments: a part is invalid.
    """

    kind: str
    content: str
    time: str
    proves: tuple[str, ...]
    premises: tuple[str, ...] = ()
    rests_on_graph: bool = False
    rules: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not _KIND.fullmatch(self.kind):
            raise invalid("proof.kind", f"is {self.kind!r}", hint="small letters, digits and hyphens")
        if not 0 < len(self.content) <= MAX_CONTENT:
            raise invalid("proof.content", f"must have 1 to {MAX_CONTENT} characters")
        if not self.proves or not all(map(_ID.fullmatch, (*self.proves, *self.premises, *self.rules))):
            raise invalid("proof", "must name a triple, and triples and rules by their SHA-256")
        if len(self.proves) + len(self.premises) > MAX_PREMISES + 1:
            raise invalid("proof.premises", f"are more than {MAX_PREMISES}", hint="set `rests_on_graph`")

    @property
    def id(self) -> str:
        """The SHA-256 of its content."""
        return content_id(self.content)


class StoredProofs:
    """The proofs of one namespace."""

    def __init__(self, store: GraphStore, names: Names) -> None:
        self._store = store
        self._names = names
        self._all = Pattern(names.provenance_graph, None, TYPE, PROOF_CLASS)

    def iri(self, proof_id: str) -> NamedNode:
        """Return the node of a proof."""
        return NamedNode(f"{self._names.graph.value}/proof/{_checked(proof_id)}")

    def get(self, proof_id: str) -> StoredProof | None:
        """Return the proof with an id; None when there is none, or its content has another id."""
        return self.many([proof_id])[0]

    def many(self, proof_ids: Sequence[str]) -> list[StoredProof | None]:
        """Return the proofs with some ids, as `get` does."""
        asked = [Pattern(self._names.provenance_graph, self.iri(proof_id)) for proof_id in proof_ids]
        found = [read_proof(quads, self._names) for quads in gathered(self._store, asked)]
        return [
            proof if proof is not None and proof.id == proof_id else None
            for proof, proof_id in zip(found, proof_ids, strict=True)
        ]

    def of(self, triple_id: str, kind: str | None = None) -> list[StoredProof]:
        """Return the proofs of a triple, which need not exist; the newest first, at most `MAX_OF` of them."""
        record = self._names.record(_checked(triple_id))
        asked = Pattern(self._names.provenance_graph, None, PROVES, record)
        ids = [proof_id for quad in islice(self._store.quads(asked), _MAX_LINKS) if (proof_id := self._id(quad))]
        if len(ids) > MAX_OF:
            ids = self._newest(ids, kind)
        found = [proof for proof in self.many(ids) if proof is not None]
        found = [proof for proof in found if kind in (None, proof.kind)]
        return sorted(found, key=lambda proof: (proof.time, proof.id), reverse=True)

    def is_empty(self) -> bool:
        """Return whether there are no proofs."""
        return not self._store.count(self._all, 1)

    def has_any(self, triple_id: str) -> bool:
        """Return whether there is a proof of a triple, which need not exist."""
        record = self._names.record(_checked(triple_id))
        return self._store.count(Pattern(self._names.provenance_graph, None, PROVES, record), 1) > 0

    def is_linked(self, proof_id: str) -> bool:
        """Return whether a record, also a withdrawn one, links to a proof."""
        return self._store.count(Pattern(self._names.provenance_graph, None, PROOF, self.iri(proof_id)), 1) > 0

    def resting_on(self, triple_id: str) -> list[str]:
        """Return the ids of the proofs that have a triple as a premise; not of those that depend on the whole graph."""
        record = self._names.record(_checked(triple_id))
        asked = Pattern(self._names.provenance_graph, None, PREMISE, record)
        return sorted(proof_id for quad in self._store.quads(asked) if (proof_id := self._id(quad)))

    def page(self, limit: int, cursor: str | None = None) -> tuple[list[StoredProof], str | None]:
        """Return a page of proofs in the order of the store, and the cursor of the next page."""
        page = self._store.match(self._all, limit, cursor)
        ids = [proof_id for quad in page.quads if (proof_id := self._id(quad))]
        return [proof for proof in self.many(ids) if proof is not None], page.cursor

    def count(self) -> int:
        """Count the proofs."""
        return self._store.count(self._all)

    def add(self, proof: StoredProof, rules: Iterable[str] = ()) -> str:
        """Store a proof and its links in one transaction, and return its id. An existing proof is not changed.

        Args:
            proof: the proof.
            rules: the texts of the rule sets that it names.
        """
        graph = self._names.provenance_graph
        recorded = [
            triple_id
            for triple_id in proof.proves
            if self._store.count(Pattern(graph, self._names.record(triple_id), TYPE), 1)
        ]
        self._store.apply([*self.quads(proof, recorded), *self.rule_quads(rules)])
        return proof.id

    def remove(self, proof_id: str) -> bool:
        """Remove a proof and the links to it; returns whether it existed. The rules that it applied are not removed."""
        gone = self.all_quads(proof_id)
        if gone:
            self._store.apply(remove=gone)
        return bool(gone)

    def rules(self, rules_id: str) -> str | None:
        """Return the text of the rule set with an id; None when there is none, or its text has another id."""
        for quad in self._store.quads(self.rules_ahead(rules_id)):
            if isinstance(quad.object, Literal) and content_id(quad.object.value) == rules_id:
                return quad.object.value
        return None

    def rules_ahead(self, rules_id: str) -> Pattern:
        """Return what `rules` reads."""
        return Pattern(self._names.provenance_graph, self._rules_node(rules_id), CONTENT)

    def quads(self, proof: StoredProof, recorded: Iterable[str]) -> list[Quad]:
        """Return the quads of a proof, and the links to it.

        Args:
            proof: the proof.
            recorded: the triples that it proves and that have a record.
        """
        names = self._names
        node = self.iri(proof.id)
        links = (Quad(names.record(triple_id), PROOF, node, names.provenance_graph) for triple_id in recorded)
        return [*proof_quads(proof, names), *links]

    def all_quads(self, proof_id: str) -> list[Quad]:
        """Return all stored quads of a proof, and the links to it."""
        graph, node = self._names.provenance_graph, self.iri(proof_id)
        return [*self._store.quads(Pattern(graph, node)), *self._store.quads(Pattern(graph, None, PROOF, node))]

    def rule_quads(self, texts: Iterable[str]) -> list[Quad]:
        """Return the quads of rule sets."""
        graph = self._names.provenance_graph
        quads = []
        for text in texts:
            node = self._rules_node(content_id(text))
            quads += [Quad(node, TYPE, RULE_SET, graph), Quad(node, CONTENT, Literal(text), graph)]
        return quads

    def going_with(self, records: Collection[NamedNode]) -> list[NamedNode]:
        """Return the proofs that are removed with some triples: those to which no other triple links.

        Args:
            records: the nodes of the records of the triples.
        """
        graph, quads = self._names.provenance_graph, self._store.quads
        proofs = dict.fromkeys(
            quad.subject for record in records for quad in quads(Pattern(graph, None, PROVES, record))
        )
        return [
            node
            for node in proofs
            if isinstance(node, NamedNode)
            and all(quad.subject in records for quad in quads(Pattern(graph, None, PROOF, node)))
        ]

    def _newest(self, ids: Iterable[str], kind: str | None) -> list[str]:
        """Return the newest of many proofs by their stored times, without reading the proofs."""
        graph = self._names.provenance_graph
        times = []
        for proof_id in ids:
            node = self.iri(proof_id)
            if kind is not None and not self._store.contains(Quad(node, PROOF_KIND, Literal(kind), graph)):
                continue
            quads = self._store.quads(Pattern(graph, node, GENERATED_AT))
            found = [quad.object.value for quad in quads if isinstance(quad.object, Literal)]
            times.append((max(found, default=""), proof_id))
        return [proof_id for _, proof_id in nlargest(MAX_OF, times)]

    def _rules_node(self, rules_id: str) -> NamedNode:
        return NamedNode(f"{self._names.graph.value}/rules/{_checked(rules_id)}")

    def _id(self, quad: Quad) -> str | None:
        node = quad.subject
        beginning = f"{self._names.graph.value}/proof/"
        if not isinstance(node, NamedNode) or not node.value.startswith(beginning):
            return None
        proof_id = node.value.removeprefix(beginning)
        return proof_id if _ID.fullmatch(proof_id) else None


def proof_quads(proof: StoredProof, names: Names) -> list[Quad]:
    """Return the quads of the node of a proof."""
    graph, own = names.provenance_graph, names.graph.value
    node = NamedNode(f"{own}/proof/{proof.id}")
    premises = [names.record(triple_id) for triple_id in proof.premises]
    if proof.rests_on_graph:
        premises.append(names.graph)
    return [
        Quad(node, TYPE, PROOF_CLASS, graph),
        Quad(node, PROOF_KIND, Literal(proof.kind), graph),
        Quad(node, CONTENT, Literal(proof.content), graph),
        Quad(node, GENERATED_AT, Literal(proof.time, datatype=DATE_TIME), graph),
        *(Quad(node, PROVES, names.record(triple_id), graph) for triple_id in proof.proves),
        *(Quad(node, PREMISE, premise, graph) for premise in premises),
        *(Quad(node, RULES, NamedNode(f"{own}/rules/{rules_id}"), graph) for rules_id in proof.rules),
    ]


def read_proof(quads: Iterable[Quad], names: Names) -> StoredProof | None:
    """Return the proof that the quads of its node describe; None when they are not a proof."""
    kind = content = time = ""
    proves, premises, rules = [], [], []
    on_graph = False
    records, sets = names.record("").value, f"{names.graph.value}/rules/"
    for quad in quads:
        value = quad.object.value if isinstance(quad.object, NamedNode | Literal) else ""
        if quad.predicate == PROOF_KIND:
            kind = value
        elif quad.predicate == CONTENT:
            content = value
        elif quad.predicate == GENERATED_AT:
            time = value
        elif quad.predicate == PROVES:
            proves.append(value.removeprefix(records))
        elif quad.predicate == PREMISE and quad.object == names.graph:
            on_graph = True
        elif quad.predicate == PREMISE:
            premises.append(value.removeprefix(records))
        elif quad.predicate == RULES:
            rules.append(value.removeprefix(sets))
    of, on, by = (tuple(sorted(ids)) for ids in (proves, premises, rules))
    try:
        return StoredProof(kind, content, time, of, on, on_graph, by)
    except InvalidArguments:
        return None


def _checked(given: str) -> str:
    if not isinstance(given, str) or not _ID.fullmatch(given):
        raise invalid("id", "is not a SHA-256 in hexadecimal", hint="64 of 0-9 and a-f")
    return given
