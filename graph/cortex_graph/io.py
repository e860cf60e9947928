"""Import and export of a namespace, in the formats of RDF.

Rules kept here:
- everything goes into the namespace's one graph, whatever graphs the file names; statements that were there stay;
- a file that breaks anywhere imports nothing, and the error says line and column. So a file is read twice: once to
  check it and write it out as N-Triples in the folder for temporary files, once to load that;
- IRIs are kept as they stand, also those of other vocabularies and namespaces; they are read back as absolute ones;
- a blank node becomes a node of the namespace (it is skolemised, RDF 1.1 §3.5): `NS:genid:DIGEST-N`, where DIGEST is of
  the file and N counts the file's blank nodes. So the same file imported twice is imported once;
- triple terms (RDF 1.2) have no name and are refused;
- nothing is fetched: a JSON-LD context must be in the file;
- memory stays flat, but for a table of the file's blank nodes;
- an export to a path appears whole or not at all;
- every graph can be exported, except that RDF/XML is refused where XML cannot hold what the graph holds.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import MappingProxyType
from typing import IO

from pyoxigraph import BlankNode, Literal, NamedNode, Quad, RdfFormat, Triple, parse, serialize

from cortex_graph.errors import InvalidArguments, invalid
from cortex_graph.names import Names, absolute
from cortex_graph.namespaced import NamespacedGraph
from cortex_graph.precheck import check_file

FORMATS: Mapping[str, RdfFormat] = MappingProxyType(
    {
        "turtle": RdfFormat.TURTLE,
        "n-triples": RdfFormat.N_TRIPLES,
        "n-quads": RdfFormat.N_QUADS,
        "trig": RdfFormat.TRIG,
        "json-ld": RdfFormat.JSON_LD,
        "rdf-xml": RdfFormat.RDF_XML,
    }
)


def import_rdf(
    graph: NamespacedGraph,
    source: Path | str | IO[bytes],
    format: str | None = None,  # noqa: A002 - the field's word
    *,
    base_iri: str | None = None,
) -> int:
    """Add the statements of a file to a namespace.

    Args:
        graph: the namespace.
        source: a path, or a stream of bytes (give one of your own to show progress).
        format: one of `FORMATS`; None to tell it from the path's extension.
        base_iri: what relative IRIs in the file are relative to; without it they are an error.

    Returns:
        How many statements the file holds; some may have been there before.

    Raises:
        InvalidArguments: the file cannot be read, its format is not known, or it breaks (`details`: line, column).
        GraphUnavailable: the store cannot write.

    """
    form = _format(source, format)
    if base_iri is not None:
        absolute(base_iri, "base_iri")
    with tempfile.TemporaryDirectory(prefix="cortex-import-") as folder:
        checked = Path(folder, "checked.nt")
        try:
            file = _as_file(source, folder)
            check_file(file, form)
            statements = _Statements(graph.names, file, form, base_iri)
            serialize(statements, checked, RdfFormat.N_TRIPLES)
        except SyntaxError as error:
            line, column = error.lineno, error.offset
            raise InvalidArguments(
                f"{_shown(source)} is not valid {form.name}: {error.msg}",
                hint="nothing was imported; mend the file and import it again",
                details={"field": "source", "line": line, "column": column},
            ) from error
        except OSError as error:
            raise invalid("source", f"{_shown(source)} cannot be read and checked: {error}") from error
        with graph.store.maintenance:
            graph.index.forget_completeness()
            graph.store.bulk_load(checked, graph.names.graph)
        return statements.count


def export_rdf(
    graph: NamespacedGraph,
    target: Path | str | IO[bytes],
    format: str | None = None,  # noqa: A002 - the field's word
) -> None:
    """Write all triples of a namespace out; with the name of its graph where the format has graphs.

    Args:
        graph: the namespace.
        target: a path, or a stream that takes bytes.
        format: one of `FORMATS`; None to tell it from the path's extension.

    Raises:
        InvalidArguments: the format is not known or cannot hold the graph, or the file cannot be written.
        GraphUnavailable: the store cannot be read.

    """
    form = _format(target, format)
    names = graph.names
    prefixes = {names.namespace: f"{names.graph.value}:", **names.vocabularies}
    try:
        with nullcontext(target) if not isinstance(target, str | Path) else _whole_file(Path(target)) as output:
            if form == RdfFormat.RDF_XML:
                _export_xml(graph, output, prefixes)
            else:
                graph.store.dump(names.graph, output, form, prefixes)
    except OSError as error:
        hint = "name a file in a folder that is there and that you may write to"
        raise invalid("target", f"{_shown(target)} cannot be written: {error.strerror}", hint=hint) from error


@contextmanager
def _whole_file(path: Path) -> Iterator[IO[bytes]]:
    """A file that appears once all of it is written, and not at all otherwise; a device is written to as it is."""
    if path.exists() and not path.is_file():
        with path.open("wb") as device:
            yield device
        return
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("xb") as file:
            yield file
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _export_xml(graph: NamespacedGraph, output: IO[bytes], prefixes: Mapping[str, str]) -> None:
    # Oxigraph writes what XML cannot hold all the same, and other readers choke on it.
    with tempfile.TemporaryDirectory(prefix="cortex-export-") as folder:
        written = Path(folder, "graph.rdf")
        with written.open("wb") as file:
            graph.store.dump(graph.names.graph, file, RdfFormat.RDF_XML, prefixes)
        try:
            check_file(written, RdfFormat.RDF_XML)
        except InvalidArguments as error:
            raise invalid(
                "format",
                f"cannot be rdf-xml for the graph of {graph.namespace}: {error}",
                hint="XML holds no control characters, and no predicate that does not end in an XML name; use turtle",
            ) from error
        with written.open("rb") as file:
            shutil.copyfileobj(file, output)


class _Statements:
    """The triples of a file, without graphs and blank nodes; counts them as they pass."""

    def __init__(self, names: Names, path: Path, form: RdfFormat, base_iri: str | None) -> None:
        self.count = 0
        self._names = names
        self._path = path
        self._quads = parse(path=path, format=form, base_iri=base_iri)
        self._nodes: dict[BlankNode, NamedNode] = {}
        self._digest = ""

    def __iter__(self) -> Iterator[Triple]:
        for quad in self._quads:
            self.count += 1
            yield self._named(quad)

    def _named(self, quad: Quad) -> Triple:
        subject, object_ = quad.subject, quad.object
        if isinstance(subject, Triple) or isinstance(object_, Triple):
            raise invalid("source", f"holds a triple term, in {quad.triple}", hint="use reification (rdf:Statement)")
        if isinstance(subject, BlankNode) or isinstance(object_, BlankNode):
            return Triple(self._node(subject), quad.predicate, self._node(object_))  # type: ignore[arg-type]
        return quad.triple

    def _node(self, term: NamedNode | BlankNode | Literal) -> NamedNode | Literal:
        if not isinstance(term, BlankNode):
            return term
        if term not in self._nodes:
            if not self._digest:
                with self._path.open("rb") as file:
                    self._digest = hashlib.file_digest(file, "sha256").hexdigest()[:32]
            self._nodes[term] = self._names.node(f"{self._names.prefix}genid:{self._digest}-{len(self._nodes) + 1}")
        return self._nodes[term]


def _format(file: Path | str | IO[bytes], name: str | None) -> RdfFormat:
    if name is not None:
        form = FORMATS.get(name)
    elif isinstance(file, str | Path):
        form = RdfFormat.from_extension(Path(file).suffix[1:])
    else:
        form = None
    if form is None or form not in FORMATS.values():
        said = f"cannot be told from {_shown(file)}" if name is None else f"is {name!r}, which is not known"
        raise invalid("format", said, hint=f"one of {', '.join(FORMATS)}")
    return form


def _as_file(source: Path | str | IO[bytes], folder: str) -> Path:
    if isinstance(source, str | Path):
        return Path(source)
    path = Path(folder, "source")
    with path.open("wb") as file:
        shutil.copyfileobj(source, file)
    return path


def _shown(file: Path | str | IO[bytes]) -> str:
    return str(file) if isinstance(file, str | Path) else "the stream"
