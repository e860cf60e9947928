"""Import of a file into a namespace, in the formats of RDF.

Rules kept here:
- everything goes into the namespace's one graph, whatever graphs the file names; statements that were there stay;
- a file that breaks anywhere imports nothing, and the error says line and column. So a file is read twice: once by a
  process of its own, which checks it and writes it out as N-Triples, and once by the store (`loading.py`);
- IRIs are kept as they stand, also those of other vocabularies and namespaces; they are read back as absolute ones;
- a blank node becomes a node of the namespace (it is skolemised, RDF 1.1 §3.5): `NS:genid:DIGEST-N`, where DIGEST is of
  the file and N counts the file's blank nodes. So the same file imported twice is imported once;
- triple terms (RDF 1.2) have no name and are refused;
- what the file says about who asserted what (graphs `{base}…/provenance`) is left out, unless it is asked for; then it
  is the namespace's own only, checked (`records.py`), and what the store knows already wins;
- nothing is fetched: a JSON-LD context must be in the file;
- memory stays flat, but for a table of the file's blank nodes.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from pyoxigraph import NamedNode, Quad, RdfFormat, parse

from cortex_graph.errors import invalid
from cortex_graph.names import absolute
from cortex_graph.namespaced import NamespacedGraph
from cortex_graph.store import Pattern
from cortex_graph.transfer.formats import FORMATS, format_of, shown
from cortex_graph.transfer.loading import load
from cortex_graph.transfer.progress import Progress, silent
from cortex_graph.transfer.reading import full, read_file
from cortex_graph.transfer.records import grouped, parsed
from cortex_graph.transfer.scratch import scratch_folder


@dataclass(frozen=True)
class Imported:
    """What an import has brought.

    Attributes:
        statements: how many triples the file holds; some may have been there before.
        records: how many records of who asserted what were added, or were there as they are.
        left_out: how many records were not taken: their triple is not there, or the store has another record of it.
        ignored: how many statements of the file are in provenance or index graphs that were not asked for.

    """

    statements: int
    records: int = 0
    left_out: int = 0
    ignored: int = 0


def import_rdf(
    graph: NamespacedGraph,
    source: Path | str | IO[bytes],
    format: str | None = None,  # noqa: A002 - the field's word
    *,
    base_iri: str | None = None,
) -> int:
    """Add the triples of a file to a namespace; how many it holds. See `import_file`."""
    return import_file(graph, source, format, base_iri=base_iri).statements


def import_file(
    graph: NamespacedGraph,
    source: Path | str | IO[bytes],
    format: str | None = None,  # noqa: A002 - the field's word
    *,
    base_iri: str | None = None,
    with_provenance: bool = False,
    progress: Progress = silent,
) -> Imported:
    """Add the statements of a file to a namespace.

    Args:
        graph: the namespace.
        source: a path, or a stream of bytes.
        format: one of `FORMATS`; None to tell it from the path's extension.
        base_iri: what relative IRIs in the file are relative to; without it they are an error.
        with_provenance: bring the namespace's own provenance, which `export_rdf` wrote, back with it.
        progress: told how far it is.

    Raises:
        InvalidArguments: the file cannot be read, its format is not known, or it breaks (`details`: line, column).
        GraphUnavailable: the store cannot write, or there is no room for temporary files.

    """
    form = format_of(source, format)
    if base_iri is not None:
        absolute(base_iri, "base_iri")
    if with_provenance and not FORMATS[form].supports_datasets:
        raise invalid("format", f"{form} holds no graphs, and so no provenance", hint="use trig, n-quads or json-ld")
    with scratch_folder() as folder:
        read = read_file(
            _as_file(source, folder),
            form,
            graph.names,
            folder,
            shown=shown(source),
            base_iri=base_iri,
            with_provenance=with_provenance,
            progress=progress,
        )
        with graph.store.maintenance:
            # Proofs stand there without a record as well: of statements that nobody is recorded to have asserted.
            has_beside = with_provenance and (folder / "records.nt").stat().st_size > 0
            absent = _absent(graph, folder) if has_beside else set()
            graph.index.forget_completeness()
            load(graph.store, folder / "data.nt", graph.names.graph, graph.names.index_graph, folder, progress)
            left_out = _load_records(graph, folder, absent, progress) if has_beside else 0
    return Imported(read.statements, read.records - left_out, left_out, read.ignored)


def _absent(graph: NamespacedGraph, folder: Path) -> set[str]:
    """The records whose triple is neither in the file nor in the store."""
    absent = set()
    with (folder / "recorded.nt").open("rb") as lines:
        for line in lines:
            triple, _, record = line.rpartition(b"\t")
            (quad,) = parse(triple, RdfFormat.N_TRIPLES)
            if not graph.store.contains(Quad(quad.subject, quad.predicate, quad.object, graph.names.graph)):
                absent.add(record.decode().strip())
    return absent


def _load_records(graph: NamespacedGraph, folder: Path, absent: set[str], progress: Progress) -> int:
    """Add the records that are not left out; how many are."""
    store, names = graph.store, graph.names
    is_new = not store.count(Pattern(names.provenance_graph), 1)
    left_out = 0

    def taken() -> Iterator[bytes]:
        nonlocal left_out
        with (folder / "records.nt").open("rb") as lines:
            for subject, together in grouped(lines):
                node = NamedNode(subject[1:-1])
                is_record = node.value.startswith(names.record("").value)
                if subject in absent or (not is_new and is_record and not _agrees(graph, node, together)):
                    left_out += 1
                else:
                    yield from together

    kept = folder / "kept.nt"
    with kept.open("wb") as output:
        output.writelines(taken())
    load(store, kept, names.provenance_graph, names.index_graph, folder, progress)
    return left_out


def _agrees(graph: NamespacedGraph, record: NamedNode, lines: list[bytes]) -> bool:
    """Whether the store knows nothing about a record that these lines do not say, too."""
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
