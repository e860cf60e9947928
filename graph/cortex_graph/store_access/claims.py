"""Changes that one of several writers makes: a compare-and-set for every kind of store.

Rules kept here:
- a claim is a quad. A change with a claim is made unless the subject of the claim has a value of its predicate; then
  the claim and the change are written in one transaction. Of writers that claim the same subject and predicate with
  different objects one succeeds, in any process;
- a repeated change with a claim that succeeded writes nothing and returns True, so that a writer that lost the answer
  of the store can ask again;
- a store without transactions of this kind is refused, and nothing is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Protocol, cast, runtime_checkable

from pyoxigraph import NamedNode, Quad

from cortex_graph.exceptions import GraphBusy, GraphUnavailable, UnknownOutcome
from cortex_graph.store import GraphStore, Pattern, Revisioned

_ATTEMPTS = 100


@runtime_checkable
class Claiming(GraphStore, Protocol):
    """A store that decides claims itself."""

    def apply_claimed(self, claim: Quad, insert: Sequence[Quad], remove: Sequence[Quad]) -> bool:
        """Do what `apply_claimed` of this module does."""


def apply_claimed(store: GraphStore, claim: Quad, insert: Sequence[Quad] = (), remove: Sequence[Quad] = ()) -> bool:
    """Write a claim and a change in one transaction, unless another claim was written before.

    Args:
        store: the store.
        claim: written too; no other value of its subject and predicate may exist.
        insert: the quads to write; at most a few hundred, since some servers limit an update.
        remove: the quads to remove, before the others are written.

    Returns:
        Whether this claim is in the store.

    Raises:
        GraphBusy: the graphs are written to repeatedly meanwhile, and nothing was written.
        GraphUnavailable: the store cannot write, or has no such transactions.
    """
    if isinstance(store, Claiming):
        return store.apply_claimed(claim, insert, remove)
    if not has_claims(store):
        raise GraphUnavailable(
            "this kind of store cannot decide between two writers",
            hint="use a store in a folder, in memory, or a SPARQL server",
        )
    assert isinstance(store, Revisioned)  # noqa: S101 - `has_claims`
    graph = cast(NamedNode, claim.graph_name)
    for _ in range(_ATTEMPTS):
        revision = store.revision([graph])
        found = list(store.match(claimed(claim), 1).quads)
        if found:
            return found[0] == claim
        with suppress(UnknownOutcome):  # the claim tells whether the change was made
            if store.apply_at(revision, [graph], [claim, *insert], list(remove)):
                return True
    raise GraphBusy("the graph is written to repeatedly, and nothing was changed", hint="try again later")


def has_claims(store: GraphStore) -> bool:
    """Return whether a store can decide between two writers."""
    return isinstance(store, Claiming | Revisioned)


def claimed(claim: Quad) -> Pattern:
    """Return the pattern of all claims that exclude one another with this one."""
    return Pattern(*cast("tuple[NamedNode, NamedNode, NamedNode]", (claim.graph_name, claim.subject, claim.predicate)))
