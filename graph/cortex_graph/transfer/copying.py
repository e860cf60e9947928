"""An online copy of namespaces between two stores of any kind.

Rules kept here:
- each graph is read completely first, as it is at one moment, into a sorted file. So a source that fails in the middle
  leaves the target unchanged, and is read once;
- existing triples of the target stay. The copy is verified: by count and canonical hash where the target had nothing
  else, triple by triple otherwise;
- repeating a copy adds nothing twice; a target that is loaded in slices continues where it stopped (`loading.py`);
- the triples, the provenance, the memories and the prefixes of namespaces are copied; other graphs are copied by
  `whole_graphs`. The target
  makes its own index of ids when it needs one, and gets the times of the records before the records
  (`loading_times.py`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from pyoxigraph import NamedNode

from cortex_graph.exceptions import GraphUnavailable
from cortex_graph.index.prefixes import Prefixes
from cortex_graph.index.triple_index import TripleIndex
from cortex_graph.memory_graphs import agents_remembering, memory_graphs
from cortex_graph.namespace.namespaced import namespaces_of
from cortex_graph.naming.names import DEFAULT_BASE, Names
from cortex_graph.store import GraphStore, Pattern
from cortex_graph.transfer.canonical_hash import spool
from cortex_graph.transfer.comparing import difference
from cortex_graph.transfer.loading import load
from cortex_graph.transfer.loading_times import load_times
from cortex_graph.transfer.progress import Progress, silent
from cortex_graph.transfer.read_process import full
from cortex_graph.workers.scratch import scratch_folder


@dataclass(frozen=True)
class CopyResult:
    """A copied graph.

    Attributes:
        graph: its IRI.
        triples: the number of copied triples.
        sha256: the canonical hash of the graph in the source.
        extra: the number of other triples of the graph in the target; with none, both have the same hash.
    """

    graph: str
    triples: int
    sha256: str
    extra: int


@dataclass(frozen=True)
class CopyPreview:
    """A graph that would be copied: its IRI, its triples in the source, and those that are in the target."""

    graph: str
    triples: int
    there: int


def copy_store(
    source: GraphStore,
    target: GraphStore,
    namespaces: Iterable[str] | None = None,
    *,
    base: str = DEFAULT_BASE,
    progress: Progress = silent,
) -> list[CopyResult]:
    """Copy namespaces, with their provenance and the memories of their agents.

    Args:
        source: others may use it meanwhile.
        target: the store to write to.
        namespaces: None for all with the base.
        base: the start of the IRIs of all namespaces.
        progress: receives reports of the progress.

    Raises:
        InvalidArguments: a namespace is malformed.
        GraphUnavailable: a store cannot be read or written, or the copy differs from its source.
    """
    copied = []
    for namespace in all_namespaces(source, base) if namespaces is None else namespaces:
        names = Names(namespace, base)
        of_agents = [names.of_memories(names.remembering(graph) or "") for graph in memory_graphs(source, names)]
        with target.maintenance:
            for each in (names, *of_agents):
                TripleIndex(target, each).forget_completeness()
            copied.append(_copy(source, target, names, names.provenance_graph, progress))
            copied += [_copy(source, target, each, each.graph, progress) for each in (*of_agents, names)]
            Prefixes(target, names).keep(Prefixes(source, names).kept())
    return [done for done in copied if done.triples]


def preview_copy(
    source: GraphStore, target: GraphStore, namespaces: Iterable[str] | None = None, *, base: str = DEFAULT_BASE
) -> list[CopyPreview]:
    """Count what `copy_store` would read, and what the target has in the same graphs; nothing is changed."""
    found = []
    for namespace in all_namespaces(source, base) if namespaces is None else namespaces:
        names = Names(namespace, base)
        found += [
            CopyPreview(graph.value, triples, target.count(Pattern(graph)))
            for graph in (names.provenance_graph, *memory_graphs(source, names), names.graph)
            if (triples := source.count(Pattern(graph)))
        ]
    return found


def all_namespaces(source: GraphStore, base: str) -> list[str]:
    """Return the namespaces that have triples or memories."""
    return sorted({*namespaces_of(source, base, with_records=True), *agents_remembering(source, base)})


def _copy(source: GraphStore, target: GraphStore, names: Names, graph: NamedNode, progress: Progress) -> CopyResult:
    with scratch_folder() as folder, TemporaryDirectory(dir=folder) as sorting:
        file = folder / "graph.nt"
        try:
            digest = spool(source, graph, file, progress=progress)
        except OSError as error:
            raise full(error) from error
        if graph == names.provenance_graph:
            load_times(target, names, file, folder, progress)
        load(target, file, graph, names.index_graph, folder, progress)
        progress(f"verifying {graph.value}", 0, None)
        found = difference(target, graph, file, Path(sorting))
    if found.missing:
        raise GraphUnavailable(
            f"the copy of {graph.value} lacks {found.missing} of {digest.count} triples: {'; '.join(found.examples)}",
            hint="another process deletes them, or the target does not store them",
        )
    return CopyResult(graph.value, digest.count, digest.sha256, found.extra)
