"""Runs the cases of the suites for RDF formats through the reader of imports, in this process."""

from __future__ import annotations

from pathlib import Path

from pyoxigraph import Quad, RdfFormat, parse

from cortex_graph.transfer.formats import format_of
from cortex_graph.transfer.read_worker import FileReader
from tests.graph.w3c.manifests import FORMATS, SUITES, Case
from tests.graph.w3c.sparql_cases import blank, canonical

_BASES = {
    "turtle": "http://www.w3.org/2013/TurtleTests/",
    "trig": "http://www.w3.org/2013/TriGTests/",
    "rdf-xml": "http://www.w3.org/2013/RDFXMLTests/",
}


def run(case: Case, folder: Path) -> None:
    """Read a file.

    Raises:
        GraphError, SyntaxError: it is refused.
        AssertionError: its triples are not the expected ones.

    """
    found = [Quad(*map(blank, quad.triple)) for quad in _read(case.action, case.suite, folder)]
    if case.result is not None:
        # The graphs of a file are merged into the namespace.
        base = _base(case.result, case.suite)
        expected = parse(path=case.result, format=FORMATS[case.result.suffix], base_iri=base, lenient=True)
        assert canonical(found) == canonical(Quad(*quad.triple) for quad in expected)


def _base(file: Path, suite: str) -> str | None:
    start = _BASES.get(suite)
    return None if start is None else start + file.relative_to(SUITES / suite).as_posix()


def _read(file: Path, suite: str, folder: Path) -> list[Quad]:
    job = {
        "file": str(file),
        "format": format_of(file, None),
        "base_iri": _base(file, suite),
        "folder": str(folder),
        "namespace": "w3c",
        "base": "urn:x:",
        "with_provenance": False,
        "guessed": False,
        "most": 1 << 20,
    }
    FileReader(job).run()
    return list(parse(path=folder / "data.nt", format=RdfFormat.N_TRIPLES, lenient=True))  # as it is loaded
