"""Proofs, kept beside the records of what they prove.

Rules kept here:
- a proof is a node `{base}NS/proof/ID` in the namespace's provenance graph, a `cortex:Proof`; its ID is the SHA-256, in
  hexadecimal, of its content (UTF-8): the canonical JSON (RFC 8785) of the whole proof, with its signature. So nobody
  can change a proof and keep its name, and the same proof is kept once;
- it says what kind it is, when it was made, which triples it proves (`cortex:proves`, their records) and what it rests
  on (`cortex:premise`): the records of triples, or the namespace's graph itself when that is much of it;
- the rules that it applied are kept once for all proofs: `{base}NS/rules/ID`, named by their text in the same way;
- the record of a triple that is there links to its proofs (`cortex:proof`);
- a proof goes with the last triple that it proves; no proof goes because a premise did: it stays, and checking it again
  says what became of it;
- of a triple with very many proofs, the newest are read: whoever hands in more of them makes nobody read them all;
- nothing here says that a proof holds.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from heapq import nlargest
from itertools import islice

from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph.errors import InvalidArguments, invalid
from cortex_graph.names import Names
from cortex_graph.store import GraphStore, Pattern
from cortex_graph.vocabulary import (
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

# A premise is a quad, and Virtuoso takes 500 at once: more of them are told as the graph.
MAX_PREMISES = 400
MAX_CONTENT = 256 << 10  # characters
MAX_OF = 64  # proofs of one triple that are read at once; whoever wants another names it
_MAX_LINKS = 10_000
_KIND = re.compile(r"[a-z][a-z0-9-]{0,39}")
_ID = re.compile(r"[0-9a-f]{64}")


def content_id(content: str) -> str:
    """The id of what has this content."""
    return hashlib.sha256(content.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class StoredProof:
    """A proof as it is kept.

    Attributes:
        kind: what it is, such as `pol`: small letters, digits and hyphens.
        content: the canonical JSON of the proof.
        time: when it was made, an `xsd:dateTime`.
        proves: the ids of the triples that it is about; at least one.
        premises: the ids of the triples that it rests on, but for those that it proves.
        rests_on_graph: whether it rests on more of the graph than could be listed.
        rules: the ids of the rule sets that it applied and that are kept.

    Raises:
        InvalidArguments: a part is not what it must be.

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
            raise invalid("proof.premises", f"are more than {MAX_PREMISES}", hint="let it rest on the graph")

    @property
    def id(self) -> str:
        """The SHA-256 of its content."""
        return content_id(self.content)


class StoredProofs:
    """The proofs of one namespace."""

    def __init__(self, store: GraphStore, names: Names) -> None:
        self._store = store
        self._names = names

    def iri(self, proof_id: str) -> NamedNode:
        """The node of a proof."""
        return NamedNode(f"{self._names.graph.value}/proof/{_checked(proof_id)}")

    def get(self, proof_id: str) -> StoredProof | None:
        """The proof of an id; None when there is none, or what is there is not what its name says."""
        found = read_proof(self._store.quads(Pattern(self._names.provenance_graph, self.iri(proof_id))), self._names)
        return found if found is not None and found.id == proof_id else None

    def of(self, triple_id: str, kind: str | None = None) -> list[StoredProof]:
        """The proofs of a triple, also of one that is not there yet; the newest first, at most `MAX_OF` of them."""
        record = self._names.record(_checked(triple_id))
        asked = Pattern(self._names.provenance_graph, None, PROVES, record)
        ids = [proof_id for quad in islice(self._store.quads(asked), _MAX_LINKS) if (proof_id := self._id(quad))]
        if len(ids) > MAX_OF:
            ids = self._newest(ids, kind)
        found = [proof for proof_id in ids if (proof := self.get(proof_id)) is not None]
        found = [proof for proof in found if kind in (None, proof.kind)]
        return sorted(found, key=lambda proof: (proof.time, proof.id), reverse=True)

    def resting_on(self, triple_id: str) -> list[str]:
        """The ids of the proofs that name a triple as a premise; those that rest on the graph are not told."""
        record = self._names.record(_checked(triple_id))
        asked = Pattern(self._names.provenance_graph, None, PREMISE, record)
        return sorted(proof_id for quad in self._store.quads(asked) if (proof_id := self._id(quad)))

    def page(self, limit: int, cursor: str | None = None) -> tuple[list[StoredProof], str | None]:
        """Some of the proofs in the store's order, and the cursor that leads to those after them."""
        everything = Pattern(self._names.provenance_graph, None, TYPE, PROOF_CLASS)
        page = self._store.match(everything, limit, cursor)
        ids = [proof_id for quad in page.quads if (proof_id := self._id(quad))]
        return [proof for proof_id in ids if (proof := self.get(proof_id)) is not None], page.cursor

    def count(self) -> int:
        """How many proofs there are."""
        return self._store.count(Pattern(self._names.provenance_graph, None, TYPE, PROOF_CLASS))

    def add(self, proof: StoredProof, rules: Iterable[str] = ()) -> str:
        """Keep a proof, in one transaction with its links; its id. One that is there already stays as it is.

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
        """Forget a proof and the links to it; True if it was there. The rules that it applied stay."""
        gone = self.all_quads(proof_id)
        if gone:
            self._store.apply(remove=gone)
        return bool(gone)

    def rules(self, rules_id: str) -> str | None:
        """The text of the rule set of an id; None when there is none, or it is not what its name says."""
        node = self._rules_node(rules_id)
        for quad in self._store.quads(Pattern(self._names.provenance_graph, node, CONTENT)):
            if isinstance(quad.object, Literal) and content_id(quad.object.value) == rules_id:
                return quad.object.value
        return None

    def quads(self, proof: StoredProof, recorded: Iterable[str]) -> list[Quad]:
        """The quads of a proof, and the links to it.

        Args:
            proof: the proof.
            recorded: which of the triples that it proves have a record, that is to link to it.

        """
        names = self._names
        node = self.iri(proof.id)
        links = (Quad(names.record(triple_id), PROOF, node, names.provenance_graph) for triple_id in recorded)
        return [*proof_quads(proof, names), *links]

    def all_quads(self, proof_id: str) -> list[Quad]:
        """Whatever the store has of a proof, and the links to it."""
        graph, node = self._names.provenance_graph, self.iri(proof_id)
        return [*self._store.quads(Pattern(graph, node)), *self._store.quads(Pattern(graph, None, PROOF, node))]

    def rule_quads(self, texts: Iterable[str]) -> list[Quad]:
        """The quads of rule sets."""
        graph = self._names.provenance_graph
        quads = []
        for text in texts:
            node = self._rules_node(content_id(text))
            quads += [Quad(node, TYPE, RULE_SET, graph), Quad(node, CONTENT, Literal(text), graph)]
        return quads

    def going_with(self, records: Collection[NamedNode]) -> list[NamedNode]:
        """The proofs that go with some triples: those of theirs that no other triple links to.

        Args:
            records: the nodes of the triples' records.

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
        """The newest few of many proofs, told by their time: what they say is not read."""
        graph = self._names.provenance_graph
        times = []
        for proof_id in ids:
            node = self.iri(proof_id)
            if kind is not None and not self._store.contains(Quad(node, PROOF_KIND, Literal(kind), graph)):
                continue
            quads = self._store.quads(Pattern(graph, node, GENERATED_AT))
            said = [quad.object.value for quad in quads if isinstance(quad.object, Literal)]
            times.append((max(said, default=""), proof_id))
        return [proof_id for _, proof_id in nlargest(MAX_OF, times)]

    def _rules_node(self, rules_id: str) -> NamedNode:
        return NamedNode(f"{self._names.graph.value}/rules/{_checked(rules_id)}")

    def _id(self, quad: Quad) -> str | None:
        """The id of the proof that is the subject of a quad."""
        node = quad.subject
        beginning = f"{self._names.graph.value}/proof/"
        if not isinstance(node, NamedNode) or not node.value.startswith(beginning):
            return None
        proof_id = node.value.removeprefix(beginning)
        return proof_id if _ID.fullmatch(proof_id) else None


def proof_quads(proof: StoredProof, names: Names) -> list[Quad]:
    """What is said of the node of a proof."""
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
    """The proof that the quads of its node say; None when they are not those of one."""
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
        raise invalid("id", "is no SHA-256 in hexadecimal", hint="64 of 0-9 and a-f")
    return given
