"""RDF datasets in their canonical form, RDFC-1.0, in bounded time.

Rules kept here:
- the same dataset gives the same bytes, whatever its blank nodes are called and whatever order its quads have;
- a dataset whose blank nodes look so alike that telling them apart takes exponential time is refused before it is
  begun (RDFC-1.0, §7.1, "dataset poisoning"): it takes at most about a fifth of a second.

What takes time are blank nodes that have the same quads but for the names of other blank nodes, *and* that are joined
to one another: among n of them, n! orders may have to be tried, for each quad that joins them. The limits are far
above what people write: many alike things in a list are not joined to one another.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from pyoxigraph import BlankNode, CanonicalizationAlgorithm, Dataset, Quad

from cortex_skills.proofs.signing.errors import UnsupportedError

MAX_QUADS = 4000
MAX_JOINED = 5  # blank nodes that look alike and are joined to one another
MAX_JOINING = 100  # quads that join such nodes


def canonical(dataset: Dataset) -> bytes:
    """The canonical N-Quads of a dataset, UTF-8 (RDFC-1.0, §5).

    Raises:
        UnsupportedError: it would take too long.

    """
    check_effort(dataset)
    dataset = Dataset(dataset)  # the caller's stays as it is
    dataset.canonicalize(CanonicalizationAlgorithm.RDFC_1_0)
    return "".join(sorted(f"{quad} .\n" for quad in dataset)).encode()


def check_effort(dataset: Iterable[Quad]) -> None:
    """Refuse a dataset that takes too long to canonicalize.

    Raises:
        UnsupportedError: it does.

    """
    quads = list(dataset)
    if len(quads) > MAX_QUADS:
        raise UnsupportedError(f"it says more than {MAX_QUADS} things")
    of: dict[BlankNode, list[Quad]] = defaultdict(list)
    for quad in quads:
        for node in _blank_nodes(quad):
            of[node].append(quad)
    looks = {node: tuple(sorted(_seen_from(node, quad) for quad in about)) for node, about in of.items()}
    times = Counter(looks.values())
    alike = {node for node, look in looks.items() if times[look] > 1}
    group = {node: node for node in alike}
    joining = 0
    for quad in quads:
        joined = [node for node in _blank_nodes(quad) if node in alike]
        joining += len(joined) > 1
        for node in joined[1:]:
            group[_root(group, node)] = _root(group, joined[0])
    largest = max(Counter(_root(group, node) for node in alike).values(), default=0)
    if joining > MAX_JOINING or largest > MAX_JOINED:
        raise UnsupportedError("its blank nodes look so alike that telling them apart could take for ever")


def _blank_nodes(quad: Quad) -> list[BlankNode]:
    return list(dict.fromkeys(t for t in (quad.subject, quad.object, quad.graph_name) if isinstance(t, BlankNode)))


def _seen_from(node: BlankNode, quad: Quad) -> str:
    """A quad as it looks to one of its blank nodes (RDFC-1.0, §4.6)."""
    terms = (quad.subject, quad.predicate, quad.object, quad.graph_name)
    return " ".join(("_:a" if term == node else "_:z") if isinstance(term, BlankNode) else str(term) for term in terms)


def _root(group: dict[BlankNode, BlankNode], node: BlankNode) -> BlankNode:
    while group[node] != node:
        group[node] = group[group[node]]
        node = group[node]
    return node
