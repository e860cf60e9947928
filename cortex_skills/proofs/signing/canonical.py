"""Canonical form of RDF datasets (RDFC-1.0) in bounded time.

Rules kept here:
- equal datasets give equal bytes, whatever the labels of their blank nodes and the order of their quads;
- a dataset that would take exponential time is refused beforehand (RDFC-1.0, §7.1, "dataset poisoning"): the others
  take at most about 0.2 s.

The expensive datasets have blank nodes whose quads differ only in the labels of other blank nodes, *and* that are
connected to each other: for n of them, n! orders may have to be tried, for each connecting quad. The limits are far
above ordinary documents: similar items of a list are not connected to each other.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from pyoxigraph import BlankNode, CanonicalizationAlgorithm, Dataset, Quad

from cortex_skills.proofs.signing.documents import UnsupportedError

MAX_QUADS = 4000
MAX_JOINED = 5  # similar blank nodes that are connected to each other
MAX_JOINING = 100  # quads that connect such nodes


def canonical(dataset: Dataset) -> bytes:
    """The canonical N-Quads of a dataset, UTF-8 (RDFC-1.0, §5)."""
    check_effort(dataset)
    dataset = Dataset(dataset)  # the caller's dataset is not changed
    dataset.canonicalize(CanonicalizationAlgorithm.RDFC_1_0)
    return "".join(sorted(f"{quad} .\n" for quad in dataset)).encode()


def check_effort(dataset: Iterable[Quad]) -> None:
    """Refuse a dataset that takes too long to canonicalize."""
    quads = list(dataset)
    if len(quads) > MAX_QUADS:
        raise UnsupportedError(f"it has more than {MAX_QUADS} quads")
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
        raise UnsupportedError("its blank nodes are so similar that canonicalization could take exponential time")


def _blank_nodes(quad: Quad) -> list[BlankNode]:
    return list(dict.fromkeys(t for t in (quad.subject, quad.object, quad.graph_name) if isinstance(t, BlankNode)))


def _seen_from(node: BlankNode, quad: Quad) -> str:
    """A quad as the hash of one of its blank nodes uses it (RDFC-1.0, §4.6)."""
    terms = (quad.subject, quad.predicate, quad.object, quad.graph_name)
    return " ".join(("_:a" if term == node else "_:z") if isinstance(term, BlankNode) else str(term) for term in terms)


def _root(group: dict[BlankNode, BlankNode], node: BlankNode) -> BlankNode:
    while group[node] != node:
        group[node] = group[group[node]]
        node = group[node]
    return node
