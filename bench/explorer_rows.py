"""Rows of the explorer: the page of a resource and the overview, from the checked call to the bytes of the page.

Rules kept here:
- the server runs in this process, without HTTP: a view and its template, as a worker of the server makes them;
- the reference of the resource is the raw store, which reads the quads that the page shows: those of the resource in
  both directions, and the records of the triples in the tables;
- the pages have the same content at every size: customers with 25 triples, and shops to which ten orders point.
  Products of the generated data are used by ever more customers as it grows;
- a thousandth of the triples, and at least a hundred, are asserted with a record, ten at a time; the others are
  imported. So the overview lists assertions of stores with few and with many times;
- the sizes alternate; the numbers of the overview are counted before, as they are kept.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import ExitStack, closing
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from pyoxigraph import NamedNode, Store

from bench.measure import Row, in_turn_s
from bench.stores import Shape, cache, copy_of
from cortex_graph import NamespacedGraph, Provenance, open_store
from cortex_graph.store import Pattern
from cortex_skills import Plugin
from cortex_skills.doors.explorer.page import ExplorerPage, PageCall
from cortex_skills.doors.explorer.rendering import Surroundings, render
from cortex_skills.doors.http.auth import AccessControl, Principal
from cortex_skills.doors.http.bodies import Bodies
from cortex_skills.doors.http.service import Service
from cortex_skills.features.explorer.pages import overview, resource
from tests.configs import config

GRAPH = NamedNode("urn:cortex:mayros")
PROVENANCE = NamedNode("urn:cortex:mayros/provenance")
NAMES = [f"customer:{n}" for n in range(20)] + [f"shop:{n}" for n in range(20)]
ROUNDS, BATCH = 16, 2
COUNT_S = 600.0
AT_ONCE = 10
LISTED = 11  # triples in the tables of a page
START = datetime(2026, 1, 1, tzinfo=UTC)


def rows(shapes: Sequence[Shape]) -> list[Row]:
    """The pages on stores of these shapes with one namespace; the others are compared with the first."""
    shapes = [shape for shape in shapes if shape.namespaces == 1]
    cache().mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=cache())))
        folders = [_asserted(copy_of(shape, scratch / shape.name), shape.quads) for shape in shapes]
        copies = [_asserted(copy_of(shape, scratch / f"raw-{shape.name}"), shape.quads) for shape in shapes]
        services = [_service(stack, folder) for folder in folders]
        raw = [partial(_read, _records(folder), Store(folder)) for folder in copies]
        pages = [partial(_resources, service) for service in services]
        times = in_turn_s([*raw, *pages], BATCH, rounds=ROUNDS)
        overviews = in_turn_s([partial(_page, service, overview.PAGE) for service in services], BATCH, rounds=ROUNDS)
    reads, resources = times[: len(shapes)], times[len(shapes) :]
    out = []
    for shape, time_s, raw_s in zip(shapes, resources, reads, strict=True):
        name = f"page of a resource of {shape} on disk, {len(NAMES)} of them"
        out.append(Row(name, time_s, "raw quads_for_pattern, the quads it shows", raw_s, 10))
    for what, of_all, goal in (("page of a resource", resources, 1.5), ("overview", overviews, 1.5)):
        for shape, time_s in list(zip(shapes, of_all, strict=True))[1:]:
            out.append(Row(f"{what} at {shape}", time_s, f"itself at {shapes[0]}", of_all[0], goal))
    return out


def _asserted(folder: Path, quads: int) -> Path:
    """Assert some triples, each ten a second after the ten before."""
    with closing(open_store(str(folder))) as store:
        graph = NamespacedGraph(store, "mayros")
        for number in range(0, max(100, quads // 1000), AT_ONCE):
            by = Provenance("notes", "1.0.0", "a1", START + timedelta(seconds=number // AT_ONCE))
            some = range(number, number + AT_ONCE)
            graph.create_triples([{"subject": f"note:{n}", "predicate": "noted", "object": n} for n in some], by)
        for name in NAMES[20:]:
            orders = [{"subject": f"order:{n}:{name}", "predicate": "of", "object": {"node": name}} for n in range(10)]
            graph.create_triples(orders, by)
    return folder


def _service(stack: ExitStack, folder: Path) -> Service:
    plugin = stack.enter_context(closing(Plugin.open(config(store=str(folder)))))
    service = Service(plugin, AccessControl(plugin.config), Bodies())
    stack.callback(service.close)
    plugin.graph.counts.latest(wait_s=COUNT_S)
    return service


def _page(service: Service, page: ExplorerPage, **query: str) -> bytes:
    reader = Principal("bench", ("mayros",), frozenset({"read"}), "mayros")
    call = PageCall(service, reader, query, {"namespace": "mayros"})
    return render(page.template, Surroundings(page.name, ""), page.view(call))


def _resources(service: Service) -> list[bytes]:
    return [_page(service, resource.PAGE, name=name) for name in NAMES]


def _records(folder: Path) -> list[tuple[NamedNode, list[NamedNode]]]:
    """The nodes of the resources, and of the records of the triples that their pages list."""
    found = []
    with closing(open_store(str(folder))) as store:
        graph = NamespacedGraph(store, "mayros")
        for name in NAMES:
            node = graph.names.node(name)
            quads = [*store.quads(Pattern(GRAPH, node)), *store.quads(Pattern(GRAPH, object_=node))]
            found.append((node, [graph.names.record(graph.index.identify(quad)) for quad in quads[:LISTED]]))
    return found


def _read(resources: list[tuple[NamedNode, list[NamedNode]]], store: Store) -> int:
    """The quads of the resources, and those of the records of the triples that their pages list."""
    read = 0
    for node, records in resources:
        read += len(list(store.quads_for_pattern(node, None, None, GRAPH)))
        read += len(list(store.quads_for_pattern(None, None, node, GRAPH)))
        read += sum(len(list(store.quads_for_pattern(each, None, None, PROVENANCE))) for each in records)
    return read
