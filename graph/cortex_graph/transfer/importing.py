"""Import of a file into a namespace, in the formats of RDF.

Rules kept here:
- all triples are written to the graph of the namespace, not to graphs that the file names; existing statements stay.
  Memories of its agents are written to the graphs of their owners (`memory_graphs.py`), from any graph of the file;
- an invalid file imports nothing, and the error has line and column. So a file is read twice: once by a separate
  process, which checks it and writes it as N-Triples, and once by the store (`loading.py`);
- IRIs are kept unchanged, also those of other vocabularies and namespaces, and are read back as absolute IRIs;
- a blank node becomes a node of the namespace (it is skolemised, RDF 1.1 §3.5): `NS:genid:DIGEST-N`, where DIGEST is of
  the file and N counts its blank nodes. So importing the same file twice imports it once;
- triple terms (RDF 1.2) have no name and are refused;
- the provenance in the file (graphs `{base}…/provenance`) is ignored unless it is requested; then only that of the
  namespace itself is imported, after checks (`record_check.py`), and records of the store take precedence;
- the prefixes that the file declares are kept for writing its names (`prefixes.py`);
- nothing is fetched: a JSON-LD context must be in the file;
- memory use is constant, except for a table of the blank nodes of the file.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import IO

from pyoxigraph import NamedNode, Quad, RdfFormat, parse

from cortex_graph.exceptions import invalid
from cortex_graph.index.triple_index import TripleIndex
from cortex_graph.memory_graphs import memory_graphs, move_memories, unowned_graph
from cortex_graph.namespace.namespaced import NamespacedGraph
from cortex_graph.naming.names import absolute
from cortex_graph.store import Pattern
from cortex_graph.transfer.formats import FORMATS, format_of, shown
from cortex_graph.transfer.loading import load
from cortex_graph.transfer.loading_times import load_times
from cortex_graph.transfer.memory_lines import split_memories
from cortex_graph.transfer.progress import Progress, silent
from cortex_graph.transfer.read_process import full, read_file
from cortex_graph.transfer.record_check import grouped, parsed
from cortex_graph.workers.scratch import scratch_folder

log = logging.getLogger(__name__)

_SHOWN = 5  # names of members in a message


@dataclass(frozen=True)
class ImportResult:
    """The counts of an import.

    Attributes:
        statements: the triples in the file; some may have existed before.
        records: the provenance records that were added, or existed unchanged.
        left_out: the records that were not imported: their triple does not exist, or the store has another record.
        ignored: the statements of the file in provenance or index graphs that were not requested.
        members: the members of JSON-LD without a meaning in their context, with the number of their values; the first
            100 names.
        other_prefixes: the prefixes of the file that have another meaning here, and that meaning.
    """

    statements: int
    records: int = 0
    left_out: int = 0
    ignored: int = 0
    members: Mapping[str, int] = field(default_factory=dict)
    other_prefixes: Mapping[str, str] = field(default_factory=dict)

    def shown_members(self) -> str:
        """Return the first of the members without a meaning, with their counts; empty without any."""
        if not self.members:
            return ""
        some = [f"{ascii(name)[1:-1][:80]} ({count})" for name, count in islice(self.members.items(), _SHOWN)]
        rest = ", …" if len(self.members) > _SHOWN else ""
        return f"members without a meaning in their context: {', '.join(some)}{rest}"


def import_rdf(
    graph: NamespacedGraph,
    source: Path | str | IO[bytes],
    format: str | None = None,  # noqa: A002 - the field's word
    *,
    base_iri: str | None = None,
) -> int:
    """Add the triples of a file to a namespace, and return their number. See `import_file`.

    Members of JSON-LD that have no meaning in their context are named in the log.
    """
    done = import_file(graph, source, format, base_iri=base_iri)
    if done.members:
        log.warning("left out of %s: %s", shown(source), done.shown_members())
    return done.statements


def import_file(
    graph: NamespacedGraph,
    source: Path | str | IO[bytes],
    format: str | None = None,  # noqa: A002 - the field's word
    *,
    base_iri: str | None = None,
    with_provenance: bool = False,
    progress: Progress = silent,
) -> ImportResult:
    """Add the statements of a file to a namespace.

    Args:
        graph: the namespace.
        source: a path, or a binary stream; may be compressed by gzip.
        format: one of `FORMATS`; None for the format of the path's extension.
        base_iri: the base of relative IRIs in the file; without it they are an error.
        with_provenance: whether to import the provenance of the namespace, which `export_rdf` wrote.
        progress: receives reports of the progress.

    Raises:
        InvalidArguments: the file cannot be read, its format is unknown, or it is invalid (`details`: line, column).
        GraphUnavailable: the store cannot write, or there is no space for temporary files.
    """
    form = format_of(source, format, compressed=True)
    if base_iri is not None:
        absolute(base_iri, "base_iri")
    if with_provenance and not FORMATS[form].supports_datasets:
        raise invalid("format", f"{form} has no graphs, and so no provenance", hint="use trig, n-quads or json-ld")
    with scratch_folder() as folder:
        read = read_file(
            _as_file(source, folder),
            form,
            graph.names,
            folder,
            shown=shown(source),
            guessed=format is None,
            base_iri=base_iri,
            with_provenance=with_provenance,
            progress=progress,
        )
        with graph.store.maintenance:
            # It also has proofs of triples without a record.
            has_provenance = with_provenance and (folder / "records.nt").stat().st_size > 0
            absent = _absent(graph, folder) if has_provenance else set()
            graph.index.forget_completeness()
            names = graph.names
            if split_memories(folder / "data.nt", folder / "memories.nt", names.graph):
                unowned = unowned_graph(names.graph)
                load(graph.store, folder / "memories.nt", unowned, names.index_graph, folder, progress)
                move_memories(graph.store, names.graph, unowned)
                for memories in memory_graphs(graph.store, names):
                    TripleIndex(graph.store, names.of_memories(names.remembering(memories) or "")).forget_completeness()
            load(graph.store, folder / "data.nt", names.graph, names.index_graph, folder, progress)
            left_out = _load_records(graph, folder, absent, progress) if has_provenance else 0
            other = graph.prefixes.keep(read.prefixes)
    return ImportResult(read.statements, read.records - left_out, left_out, read.ignored, read.members, other)


def _absent(graph: NamespacedGraph, folder: Path) -> set[str]:
    """Return the records whose triple is neither in the file nor in the store."""
    absent = set()
    with (folder / "recorded.nt").open("rb") as lines:
        for line in lines:
            triple, _, record = line.rpartition(b"\t")
            (quad,) = parse(triple, RdfFormat.N_TRIPLES)
            if not graph.store.contains(Quad(quad.subject, quad.predicate, quad.object, graph.names.graph)):
                absent.add(record.decode().strip())
    return absent


def _load_records(graph: NamespacedGraph, folder: Path, absent: set[str], progress: Progress) -> int:
    """Add the records that are not left out, and return the number of those that are."""
    store, names = graph.store, graph.names
    is_new = not store.count(Pattern(names.provenance_graph), 1)
    left_out = 0

    def selected() -> Iterator[bytes]:
        nonlocal left_out
        with (folder / "records.nt").open("rb") as lines:
            for subject, together in grouped(lines):
                node = NamedNode(subject[1:-1])
                is_record = node.value.startswith((names.record("").value, f"{names.graph.value}/withdrawn/"))
                if subject in absent or (not is_new and is_record and not _agrees(graph, node, together)):
                    left_out += 1
                else:
                    yield from together

    selection = folder / "selected.nt"
    with selection.open("wb") as output:
        output.writelines(selected())
    load_times(store, names, selection, folder, progress)
    load(store, selection, names.provenance_graph, names.index_graph, folder, progress)
    return left_out


def _agrees(graph: NamespacedGraph, record: NamedNode, lines: list[bytes]) -> bool:
    """Return whether the store knows nothing about a record beyond these lines."""
    known = {quad.triple for quad in graph.store.quads(Pattern(graph.names.provenance_graph, record))}
    return known <= set(parsed(lines))


def _as_file(source: Path | str | IO[bytes], folder: Path) -> Path:
    if isinstance(source, str | Path):
        return Path(source)
    path = folder / "source"
    try:
        with path.open("wb") as file:
            shutil.copyfileobj(source, file)
    except OSError as error:
        raise full(error) from error
    return path
