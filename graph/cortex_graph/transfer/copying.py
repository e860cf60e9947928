"""An online copy of namespaces from one store to another, of whatever kinds they are.

Rules kept here:
- each graph is first read whole, as it is at one moment, into a sorted file. So a source that dies in the middle leaves
  the target as it was, and nothing is asked of it twice;
- what is in the target stays. The copy is verified: everything of the source is there, by count and canonical hash
  where the target held nothing else, triple by triple where it did;
- run again, a copy adds nothing twice; a target that takes slices goes on where it stopped (`loading.py`);
- only the triples and the provenance of namespaces are copied, never another graph of a store. The index is made anew
  by the target when it is needed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from cortex_graph.errors import GraphUnavailable
from cortex_graph.index import TripleIndex
from cortex_graph.names import DEFAULT_BASE, Names
from cortex_graph.namespaced import namespaces_of
from cortex_graph.store import GraphStore
from cortex_graph.transfer.comparing import difference
from cortex_graph.transfer.hashing import spool
from cortex_graph.transfer.loading import load
from cortex_graph.transfer.progress import Progress, silent
from cortex_graph.transfer.reading import full
from cortex_graph.transfer.scratch import scratch_folder


@dataclass(frozen=True)
class Copied:
    """One graph that was copied.

    Attributes:
        graph: its IRI.
        triples: how many were copied.
        sha256: the canonical hash of the source's graph.
        extra: how many triples the target's graph holds beside; with none, both have the same hash.

    """

    graph: str
    triples: int
    sha256: str
    extra: int


def copy_store(
    source: GraphStore,
    target: GraphStore,
    namespaces: Iterable[str] | None = None,
    *,
    base: str = DEFAULT_BASE,
    progress: Progress = silent,
) -> list[Copied]:
    """Copy namespaces, with their provenance.

    Args:
        source: where from; others may use it meanwhile.
        target: where to.
        namespaces: which; None for all under the base.
        base: what the IRIs of all namespaces begin with.
        progress: told how far it is.

    Raises:
        InvalidArguments: a namespace is none.
        GraphUnavailable: a store cannot be read or written, or the copy is not what was read.

    """
    copied = []
    for namespace in namespaces_of(source, base) if namespaces is None else namespaces:
        names = Names(namespace, base)
        with target.maintenance:
            TripleIndex(target, names).forget_completeness()
            copied += [_copy(source, target, names, is_data, progress) for is_data in (False, True)]
    return [done for done in copied if done.triples]


def _copy(source: GraphStore, target: GraphStore, names: Names, is_data: bool, progress: Progress) -> Copied:
    graph = names.graph if is_data else names.provenance_graph
    with scratch_folder() as folder, TemporaryDirectory(dir=folder) as sorting:
        file = folder / "graph.nt"
        try:
            digest = spool(source, graph, file, progress=progress)
        except OSError as error:
            raise full(error) from error
        load(target, file, graph, names.index_graph, folder, progress)
        progress(f"verifying {graph.value}", 0, None)
        found = difference(target, graph, file, Path(sorting))
    if found.missing:
        raise GraphUnavailable(
            f"the copy of {graph.value} lacks {found.missing} of {digest.count} triples: {'; '.join(found.examples)}",
            hint="if nobody deletes them at the same time, the target does not keep what it is given",
        )
    return Copied(graph.value, digest.count, digest.sha256, found.extra)
