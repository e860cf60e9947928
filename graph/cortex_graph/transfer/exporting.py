"""Export of a namespace, in the formats of RDF.

Rules kept here:
- a file appears complete or not at all, and is on the disk then;
- every graph can be exported, except that RDF/XML is refused for graphs that XML cannot represent;
- the memories of all agents are exported, in their own graphs in formats with graphs, without the keys of their IDs;
- the provenance is exported on request, in its own graph, in formats with graphs;
- memory use is constant.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext
from itertools import chain
from pathlib import Path
from typing import IO

from pyoxigraph import Quad, RdfFormat, Triple, serialize

from cortex_graph.exceptions import InvalidArguments, invalid
from cortex_graph.memory_graphs import memory_graphs
from cortex_graph.namespace.namespaced import NamespacedGraph
from cortex_graph.naming.vocabulary import MEMORY_KEY
from cortex_graph.store import Pattern
from cortex_graph.stores.location import store_above
from cortex_graph.transfer.formats import FORMATS, format_of, shown
from cortex_graph.transfer.precheck import check_file
from cortex_graph.transfer.progress import Progress, silent
from cortex_graph.workers.scratch import scratch_folder, whole_file

_OFTEN = 10_000


def export_rdf(
    graph: NamespacedGraph,
    target: Path | str | IO[bytes],
    format: str | None = None,  # noqa: A002 - the field's word
    *,
    with_provenance: bool = False,
    progress: Progress = silent,
) -> int:
    """Write all triples and memories of a namespace; with the names of their graphs in formats with graphs.

    Args:
        graph: the namespace.
        target: a path, or a binary stream.
        format: one of `FORMATS`; None for the format of the path's extension.
        with_provenance: whether to write the provenance graph, too.
        progress: receives reports of the progress.

    Returns:
        The number of triples, without those of the provenance.

    Raises:
        InvalidArguments: the format is unknown or cannot represent the graph, or the file cannot be written.
        GraphUnavailable: the store cannot be read.
    """
    form = FORMATS[format_of(target, format)]
    if with_provenance and not form.supports_datasets:
        raise invalid("format", f"{form.name} has no graphs, and so no provenance", hint="use trig, n-quads, json-ld")
    if isinstance(target, str | Path) and (above := store_above(Path(target))):
        raise invalid("target", f"{target} is in {above}, which is the folder of a store", hint="name another file")
    names = graph.names
    prefixes = {**graph.prefixes.kept(), **names.prefixes}
    quads = _Counted(graph, with_provenance, progress)
    try:
        with nullcontext(target) if not isinstance(target, str | Path) else whole_file(Path(target)) as output:
            if form == RdfFormat.RDF_XML:
                _export_xml(graph, quads, output, prefixes)
            else:
                _write(quads, output, form, prefixes)
    except OSError as error:
        hint = "name a file in an existing folder to which you may write"
        raise invalid("target", f"{shown(target)} cannot be written: {error.strerror or error}", hint=hint) from error
    return quads.count


class _Counted:
    """Yields the quads of an export, and counts those that are not provenance."""

    def __init__(self, graph: NamespacedGraph, with_provenance: bool, progress: Progress) -> None:
        self.count = 0
        self._graph = graph
        self._with_provenance = with_provenance
        self._progress = progress

    def __iter__(self) -> Iterator[Quad]:
        names, store = self._graph.names, self._graph.store
        graphs = [names.graph, *memory_graphs(store, names)]
        streams = [store.quads(Pattern(graph)) for graph in graphs]
        if self._with_provenance:
            streams.append(store.quads(Pattern(names.provenance_graph)))
        # All are begun before either is read further, so that they are of nearly the same moment.
        firsts = [[quad] if (quad := next(stream, None)) is not None else [] for stream in streams]
        for quad in chain.from_iterable(map(chain, firsts[: len(graphs)], streams[: len(graphs)])):
            if quad.predicate == MEMORY_KEY:
                continue
            self.count += 1
            if not self.count % _OFTEN:
                self._progress("exporting", self.count, None)
            yield quad
        if self._with_provenance:
            yield from chain(firsts[-1], streams[-1])


def _export_xml(graph: NamespacedGraph, quads: _Counted, output: IO[bytes], prefixes: Mapping[str, str]) -> None:
    # Oxigraph writes invalid XML for some graphs, which other parsers refuse.
    with scratch_folder() as folder:
        written = folder / "graph.rdf"
        allowed = {prefix: start for prefix, start in prefixes.items() if not prefix.lower().startswith("xml")}
        with written.open("wb") as file:
            _write(quads, file, RdfFormat.RDF_XML, allowed)
        try:
            check_file(written, RdfFormat.RDF_XML)
        except InvalidArguments as error:
            raise invalid(
                "format",
                f"cannot be rdf-xml for the graph of {graph.namespace}: {error}",
                hint="XML has no control characters, and a predicate must end in an XML name; use turtle",
            ) from error
        with written.open("rb") as file:
            shutil.copyfileobj(file, output)


def _write(quads: Iterable[Quad], output: IO[bytes], form: RdfFormat, prefixes: Mapping[str, str]) -> None:
    """Write quads as a stream; without their graphs in formats without graphs."""
    statements: Iterable[Quad] | Iterable[Triple] = quads if form.supports_datasets else (q.triple for q in quads)
    serialize(statements, output, form, prefixes=dict(prefixes))
