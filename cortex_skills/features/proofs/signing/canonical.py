"""Canonical form of RDF datasets (RDFC-1.0) with bounded work.

Rules kept here:
- equal datasets give equal bytes, whatever the labels of their blank nodes and the order of their quads;
- work is counted while it is done, and a dataset that needs more than `MAX_WORK`, or visits nested deeper than
  `MAX_DEPTH`, is refused (RDFC-1.0, §7.1, "dataset poisoning"). Its shape is not judged beforehand.

The steps and their numbers are those of RDFC-1.0, §4. The canonicalizers of pyoxigraph and PyLD have no limit, and
cannot be stopped (decision 36): for n blank nodes that differ only in each other's labels, they may try n! orders.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator
from itertools import permutations

from pyoxigraph import BlankNode, Dataset, DefaultGraph, Quad

from cortex_skills.features.proofs.signing.documents import UnsupportedError

MAX_QUADS = 4000
MAX_WORK = 300_000  # identifiers that are hashed, compared or copied: at most about 0.3 s
MAX_DEPTH = 200  # nested visits of nodes, each of which takes two frames of the stack

Labels = dict[BlankNode, str]  # in the order in which they were issued (RDFC-1.0, §4.5)


def canonical(dataset: Dataset) -> bytes:
    """The canonical N-Quads of a dataset, UTF-8 (RDFC-1.0, §5).

    Raises:
        UnsupportedError: it has too many quads, or needs too much work.
    """
    quads = list(dataset)
    if len(quads) > MAX_QUADS:
        raise UnsupportedError(f"it has more than {MAX_QUADS} quads")
    labels = _Labelling(quads).labels()
    return "".join(sorted(_line(quad, labels) for quad in quads)).encode()


class _Labelling:
    """Issues the canonical identifiers of one dataset (RDFC-1.0, §4.4.3)."""

    def __init__(self, quads: list[Quad]) -> None:
        self._quads: dict[BlankNode, list[Quad]] = defaultdict(list)
        for quad in quads:
            for node in dict.fromkeys(node for _, node in _blank_nodes(quad)):
                self._quads[node].append(quad)
        self._first = {node: self._hash_first_degree(node) for node in self._quads}
        self._issued: Labels = {}
        self._left = MAX_WORK

    def labels(self) -> Labels:
        alike: dict[str, list[BlankNode]] = defaultdict(list)
        for node, found in self._first.items():
            alike[found].append(node)
        groups = sorted(alike.items())
        for _, nodes in groups:
            if len(nodes) == 1:
                _issue(self._issued, nodes[0], "c14n")
        for _, nodes in groups:
            if len(nodes) > 1:
                new = [node for node in nodes if node not in self._issued]
                paths = [self._hash_n_degree(node, {node: "_:b0"}, 0) for node in new]
                for _, issuer in sorted(paths, key=lambda path: path[0]):
                    for node in issuer:
                        _issue(self._issued, node, "c14n")
        return self._issued

    def _hash_first_degree(self, node: BlankNode) -> str:
        """§4.6."""
        lines = (
            _line(quad, {other: "_:a" if other == node else "_:z" for _, other in _blank_nodes(quad)})
            for quad in self._quads[node]
        )
        return _sha256("".join(sorted(lines)))

    def _hash_related(self, related: BlankNode, quad: Quad, issuer: Labels, position: str) -> str:
        """§4.7."""
        self._work(1)
        label = self._issued.get(related) or issuer.get(related) or self._first[related]
        return _sha256(position + (str(quad.predicate) if position != "g" else "") + label)

    def _hash_n_degree(self, node: BlankNode, issuer: Labels, depth: int) -> tuple[str, Labels]:
        """§4.8: the hash, and the identifiers that were issued."""
        if depth > MAX_DEPTH:
            raise _too_much_work()
        to_related: dict[str, list[BlankNode]] = defaultdict(list)
        for quad in self._quads[node]:
            for position, related in _blank_nodes(quad):
                if related != node:
                    to_related[self._hash_related(related, quad, issuer, position)].append(related)
        to_hash = ""
        for related_hash, nodes in sorted(to_related.items()):
            chosen = ""
            chosen_issuer = issuer
            for order in permutations(nodes):
                path, path_issuer = self._path(order, issuer, chosen, depth)
                if not chosen or path < chosen:
                    chosen, chosen_issuer = path, path_issuer
            to_hash += related_hash + chosen
            issuer = chosen_issuer
        return _sha256(to_hash), issuer

    def _path(self, order: tuple[BlankNode, ...], issuer: Labels, chosen: str, depth: int) -> tuple[str, Labels]:
        """§4.8.3, step 5.4: the path of an order of nodes, or its beginning if it is not less than the chosen path."""
        self._work(len(issuer) + len(order))
        issuer = dict(issuer)
        path = ""
        to_visit = []
        for node in order:
            if node not in self._issued and node not in issuer:
                to_visit.append(node)
            path += self._issued.get(node) or _issue(issuer, node, "b")
            if _is_greater(path, chosen):
                return path, issuer
        for node in to_visit:
            found, visited = self._hash_n_degree(node, issuer, depth + 1)
            path += f"{issuer[node]}<{found}>"
            issuer = visited
            if _is_greater(path, chosen):
                return path, issuer
        return path, issuer

    def _work(self, amount: int) -> None:
        self._left -= amount
        if self._left < 0:
            raise _too_much_work()


def _too_much_work() -> UnsupportedError:
    return UnsupportedError("its blank nodes are so similar that canonicalization takes too much work")


def _issue(issuer: Labels, node: BlankNode, prefix: str) -> str:
    """The identifier of a node, a new one if it has none (§4.5)."""
    return issuer.setdefault(node, f"_:{prefix}{len(issuer)}")


def _is_greater(path: str, chosen: str) -> bool:
    """§4.8.3, steps 5.4.4.3 and 5.4.5.5."""
    return bool(chosen) and len(path) >= len(chosen) and path > chosen


def _blank_nodes(quad: Quad) -> Iterator[tuple[str, BlankNode]]:
    """The blank nodes of a quad and their positions."""
    for position, term in (("s", quad.subject), ("o", quad.object), ("g", quad.graph_name)):
        if isinstance(term, BlankNode):
            yield position, term


def _line(quad: Quad, labels: Labels) -> str:
    """A quad as a line of canonical N-Quads, with other labels."""
    graph = () if isinstance(quad.graph_name, DefaultGraph) else (quad.graph_name,)
    terms = (quad.subject, quad.predicate, quad.object, *graph)
    return " ".join(labels[term] if isinstance(term, BlankNode) else str(term) for term in terms) + " .\n"


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
