"""Rows of what a page about a resource or a namespace reads: neighbourhoods and kept counts.

Rules kept here:
- the sizes alternate, so that other load affects all of them alike;
- the stores are hard-linked copies, which are deleted afterwards;
- counts were made before: what is measured is reading them.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path

from pyoxigraph import NamedNode, Store

from bench.measure import Row, in_turn_s
from bench.stores import Shape, cache, copy_of
from cortex_graph import NamespacedGraph, open_store
from cortex_graph.namespace.neighbourhood import neighbourhood

ROUNDS, BATCH = 24, 20
RESOURCE = "customer:7"
_COUNTING_S = 300.0


def rows(shapes: Sequence[Shape]) -> list[Row]:
    """A resource and the counts of a namespace, on stores of one namespace; the others are compared with the first."""
    shapes = [shape for shape in shapes if shape.namespaces == 1]
    cache().mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=cache())))
        raw = [_raw(copy_of(shape, scratch / f"raw-{shape.name}")) for shape in shapes]
        graphs = []
        for shape in shapes:
            store = stack.enter_context(closing(open_store(str(copy_of(shape, scratch / shape.name)))))
            graphs.append(NamespacedGraph(store, "mayros"))
        for graph in graphs:
            graph.counts.latest(_COUNTING_S)
        resources = [partial(neighbourhood, graph, RESOURCE) for graph in graphs]
        counts = [partial(graph.counts.latest, 0.0) for graph in graphs]
        times = in_turn_s([*raw, *resources], BATCH, rounds=ROUNDS)
        counted = in_turn_s(counts, 10 * BATCH, rounds=ROUNDS)
    size = len(shapes)
    out = []
    for shape, raw_s, time_s in zip(shapes, times, times[size:], strict=False):
        out.append(
            Row(f"neighbourhood of a resource, 25 triples of {shape} on disk", time_s, "its raw quads", raw_s, 10)
        )
    for what, of_all in (("neighbourhood of a resource", times[size:]), ("kept counts", counted)):
        for shape, time_s in list(zip(shapes, of_all, strict=True))[1:]:
            out.append(Row(f"{what} at {shape}", time_s, f"itself at {shapes[0]}", of_all[0], 1.5))
    return out


def _raw(folder: Path) -> Callable[[], object]:
    store, graph = Store(folder), NamedNode("urn:cortex:mayros")
    node = NamedNode(f"{graph.value}:{RESOURCE}")

    def read() -> object:
        outgoing = list(store.quads_for_pattern(node, None, None, graph))
        return outgoing, list(store.quads_for_pattern(None, None, node, graph))

    return read
