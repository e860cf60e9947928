"""What rules looked at: the patterns that they asked the graph for, and the triples that these had.

Rules kept here:
- a read is of the namespace's graph, whatever was asked; what agents remember is not shown to rules;
- the statement itself is no premise of its proof: it is left out of what a pattern has;
- that a pattern has no more than this is a premise, too: a value that comes can break a rule as one that goes does;
- a few reads are told one by one, with the ids of their triples; many are told as their number and one SHA-256, and the
  proof then rests on the graph (`cortex_graph.proofs`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from pyoxigraph import Literal, NamedNode, Quad, RdfFormat, parse

from cortex_graph import NamespacedGraph
from cortex_graph.index import hash_line
from cortex_graph.proofs import MAX_PREMISES
from cortex_graph.store import Pattern
from cortex_graph.vocabulary import MEMORY_TERMS
from cortex_skills.errors import CortexError

MAX_LISTED = 100
_MAX_TEXT = 32_000  # characters of patterns
MAX_QUADS = 200_000
_DEADLINE_EVERY = 1_000
_ANY = "<urn:cortex-graph:any>"

Terms = tuple[str | None, str | None, str | None]


@dataclass(frozen=True, slots=True, order=True)
class Read:
    """One look at the graph.

    Attributes:
        pattern: subject, predicate and object as N-Triples writes them; empty for any.
        triples: the ids of what it had, sorted, without the statement.

    """

    pattern: tuple[str, str, str]
    triples: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """The read as a proof has it."""
        return {"pattern": list(self.pattern), "triples": list(self.triples)}


@dataclass(frozen=True, slots=True)
class Premises:
    """What a proof rests on.

    Attributes:
        reads: each look at the graph, in order; empty when they are too many to be listed.
        count: how many there are.
        digest: the SHA-256 of all of them.

    """

    reads: tuple[Read, ...] = ()
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
        """The premises as a proof has them."""
        document: dict[str, Any] = {"count": self.count, "digest": self.digest}
        return document | ({"reads": [read.to_json() for read in self.reads]} if self.is_whole else {})


def premises_of(reads: Sequence[Read]) -> Premises:
    """The premises that some reads are."""
    ordered = tuple(sorted(set(reads)))
    told = hashlib.sha256()
    for read in ordered:
        told.update("\t".join((*read.pattern, *read.triples)).encode() + b"\n")
    ids = {triple for read in ordered for triple in read.triples}
    text = sum(len(part) for read in ordered for part in read.pattern) + 67 * sum(len(r.triples) for r in ordered)
    fits = len(ordered) <= MAX_LISTED and len(ids) <= MAX_PREMISES and text <= 4 * _MAX_TEXT
    return Premises(ordered if fits else (), len(ordered), told.hexdigest())


@dataclass
class Looker:
    """Answers what rules ask of a namespace's graph, and keeps what they saw.

    Attributes:
        graph: the namespace.
        about: the statement, which is left out.
        check: called now and then; raises when it is to end.
        reads: what was looked at.
        left: how many statements may still be looked at.

    """

    graph: NamespacedGraph
    about: Quad
    check: Callable[[], None] = lambda: None
    reads: list[Read] = field(default_factory=list)
    left: int = MAX_QUADS

    def __call__(self, asked: Sequence[str | None]) -> list[str]:
        """The triples of a pattern as lines of N-Triples, without the statement.

        Args:
            asked: subject, predicate and object as N-Triples has them; None for any.

        Raises:
            ValueError: it is no pattern.
            CortexError: `proof_failed`: it has too many triples.

        """
        subject, predicate, object_ = (None if text is None else _term(text) for text in asked)
        if isinstance(subject, Literal) or isinstance(predicate, Literal):
            raise ValueError("a literal is no subject and no predicate")
        pattern = Pattern(self.graph.names.graph, subject, predicate, object_)
        lines, ids = [], []
        for quad in islice(self.graph.store.quads(pattern), self.left + 1):
            self.left -= 1
            if not self.left % _DEADLINE_EVERY:
                self.check()
            if quad == self.about or quad.predicate in MEMORY_TERMS:
                continue
            lines.append(f"{quad.triple} .")
            ids.append(hash_line(str(quad)))
        if self.left < 0:
            hint = "let them begin at the statement's own nodes, and bind more in their queries"
            raise CortexError("proof_failed", f"the rules look at more than {MAX_QUADS} statements", hint=hint)
        shown = tuple("" if term is None else str(term) for term in (subject, predicate, object_))
        self.reads.append(Read(shown, tuple(sorted(ids))))  # type: ignore[arg-type]
        return lines


def looked_again(reads: Sequence[Read], looker: Looker) -> list[str]:
    """What became of some reads, in words; empty when each has what it had."""
    said = []
    for read in reads:
        looker([text or None for text in read.pattern])
        now, then = set(looker.reads[-1].triples), set(read.triples)
        said += [f"the premise {triple} was withdrawn" for triple in sorted(then - now)]
        said += [f"{triple} came, where the rules had looked" for triple in sorted(now - then)]
    return said


def _term(text: str) -> NamedNode | Literal:
    """The term that N-Triples writes so."""
    try:
        (quad,) = parse(f"{_ANY} {_ANY} {text} .", RdfFormat.N_TRIPLES)
    except SyntaxError:
        raise ValueError("what is asked of the graph is no term of N-Triples") from None
    if not isinstance(quad.object, NamedNode | Literal):
        raise ValueError("what is asked of the graph is no node and no literal")
    return quad.object
