"""The premises of a proof: the patterns that the rules read from the graph, and the triples that matched.

Rules kept here:
- a read is limited to the namespace's graph, which has no memories of agents;
- the statement itself is not a premise of its proof: it is excluded from the matches;
- the absence of further matches is a premise too, because an added triple can break a rule like a removed one;
- a small number of reads is listed, with the ids of their triples. Otherwise a proof has their number and one SHA-256,
  and depends on the whole graph (`cortex_graph.assertion_records.proofs`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any

from pyoxigraph import Literal, NamedNode, Quad, RdfFormat, parse

from cortex_graph import NamespacedGraph
from cortex_graph.assertion_records.proofs import MAX_PREMISES
from cortex_graph.index.triple_index import hash_line
from cortex_graph.store import Pattern
from cortex_skills.errors import CortexError

MAX_LISTED = 100
_MAX_TEXT = 32_000  # characters of patterns
MAX_QUADS = 200_000
_DEADLINE_EVERY = 1_000
_ANY = "<urn:cortex-graph:any>"


@dataclass(frozen=True, slots=True, order=True)
class GraphRead:
    """One read of the graph.

    Attributes:
        pattern: subject, predicate and object in N-Triples; empty for any.
        triples: the sorted ids of the matches, without the statement.
    """

    pattern: tuple[str, str, str]
    triples: tuple[str, ...]

    def asked(self, graph: NamedNode) -> Pattern:
        """The pattern, in a graph.

        Raises:
            ValueError: it is not a pattern.
        """
        return _pattern(graph, [text or None for text in self.pattern])

    def to_json(self) -> dict[str, Any]:
        """The read in a proof."""
        return {"pattern": list(self.pattern), "triples": list(self.triples)}


@dataclass(frozen=True, slots=True)
class Premises:
    """The premises of a proof.

    Attributes:
        reads: the reads of the graph, in order; empty when they are too many to list.
        count: the number of reads.
        digest: the SHA-256 of all reads.
    """

    reads: tuple[GraphRead, ...] = ()
    count: int = 0
    digest: str = ""

    @property
    def listed(self) -> tuple[str, ...]:
        """The ids of the triples, in order."""
        return tuple(sorted({triple for read in self.reads for triple in read.triples}))

    @property
    def is_whole(self) -> bool:
        """Whether every read is listed."""
        return self.count == len(self.reads)

    def to_json(self) -> dict[str, Any]:
        """The premises in a proof."""
        document: dict[str, Any] = {"count": self.count, "digest": self.digest}
        return document | ({"reads": [read.to_json() for read in self.reads]} if self.is_whole else {})


def premises_of(reads: Sequence[GraphRead]) -> Premises:
    """The premises of a list of reads."""
    ordered = tuple(sorted(set(reads)))
    digest = hashlib.sha256()
    for read in ordered:
        digest.update("\t".join((*read.pattern, *read.triples)).encode() + b"\n")
    ids = {triple for read in ordered for triple in read.triples}
    text = sum(len(part) for read in ordered for part in read.pattern) + 67 * sum(len(r.triples) for r in ordered)
    fits = len(ordered) <= MAX_LISTED and len(ids) <= MAX_PREMISES and text <= 4 * _MAX_TEXT
    return Premises(ordered if fits else (), len(ordered), digest.hexdigest())


@dataclass
class RecordingReader:
    """Reads patterns of a namespace's graph for rules, and records the reads.

    Attributes:
        graph: the namespace.
        about: the statement, which is excluded; None to exclude none.
        beside: statements that are asserted together with it; they are read as if they were in the graph.
        check: called regularly; raises to end the evaluation.
        reads: the recorded reads.
        left: how many more triples may be read.
    """

    graph: NamespacedGraph
    about: Quad | None
    check: Callable[[], None] = lambda: None
    reads: list[GraphRead] = field(default_factory=list)
    left: int = MAX_QUADS
    beside: Sequence[Quad] = ()

    def __call__(self, asked: Sequence[str | None]) -> list[str]:
        """The triples of a pattern as lines of N-Triples, without the statement.

        Args:
            asked: subject, predicate and object in N-Triples; None for any.

        Raises:
            ValueError: it is not a pattern.
            CortexError: `proof_failed`: the rules read too many triples.
        """
        pattern = _pattern(self.graph.names.graph, asked)
        lines, ids = [], []
        for quad in islice(chain(self.graph.store.quads(pattern), self._beside(pattern)), self.left + 1):
            self.left -= 1
            if not self.left % _DEADLINE_EVERY:
                self.check()
            if quad == self.about:
                continue
            lines.append(f"{quad.triple} .")
            ids.append(hash_line(str(quad)))
        if self.left < 0:
            hint = "start the rules at the nodes of the statement, and bind more variables in their queries"
            raise CortexError("proof_failed", f"the rules read more than {MAX_QUADS} statements", hint=hint)
        terms = (pattern.subject, pattern.predicate, pattern.object_)
        pattern_texts = tuple("" if term is None else str(term) for term in terms)
        self.reads.append(GraphRead(pattern_texts, tuple(sorted(ids))))  # type: ignore[arg-type]
        return lines

    def _beside(self, pattern: Pattern) -> Iterator[Quad]:
        wanted = (pattern.subject, pattern.predicate, pattern.object_)
        for quad in dict.fromkeys(self.beside):
            parts = (quad.subject, quad.predicate, quad.object)
            fits = all(term in (None, part) for term, part in zip(wanted, parts, strict=True))
            if fits and not self.graph.store.contains(quad):
                yield quad


def changes_since(reads: Sequence[GraphRead], reader: RecordingReader) -> list[str]:
    """The changes of some reads since they were recorded, as texts; empty without changes."""
    changes = []
    for read in reads:
        reader([text or None for text in read.pattern])
        now, then = set(reader.reads[-1].triples), set(read.triples)
        changes += [f"the premise {triple} was withdrawn" for triple in sorted(then - now)]
        changes += [f"{triple} was added where the rules had read" for triple in sorted(now - then)]
    return changes


def _pattern(graph: NamedNode, asked: Sequence[str | None]) -> Pattern:
    subject, predicate, object_ = (None if text is None else term_of(text) for text in asked)
    if isinstance(subject, Literal) or isinstance(predicate, Literal):
        raise ValueError("a literal cannot be a subject or a predicate")
    return Pattern(graph, subject, predicate, object_)


def term_of(text: str) -> NamedNode | Literal:
    """Read a term in N-Triples."""
    try:
        (quad,) = parse(f"{_ANY} {_ANY} {text} .", RdfFormat.N_TRIPLES)
    except SyntaxError:
        raise ValueError("the pattern has a text that is not a term of N-Triples") from None
    if not isinstance(quad.object, NamedNode | Literal):
        raise ValueError("the pattern has a term that is neither an IRI nor a literal")
    return quad.object
