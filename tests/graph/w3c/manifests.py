"""The test suites of the W3C for RDF and SPARQL 1.1, as the source distribution of rdflib has them.

`python -m tests.graph.w3c.fetch` puts them beside this file; without them the tests here are skipped. Nothing of them
is part of this repository. They are under the W3C Test Suite Licence and the W3C 3-clause BSD Licence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pyoxigraph import NamedNode, Quad, RdfFormat, Store, parse

SUITES = Path(__file__).parent / ".suites" / "w3c"
BASE = "http://w3c.test/"

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
MF = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#"
QT = "http://www.w3.org/2001/sw/DataAccess/tests/test-query#"
UT = "http://www.w3.org/2009/sparql/tests/test-update#"

FORMATS = {
    ".ttl": RdfFormat.TURTLE,
    ".nt": RdfFormat.N_TRIPLES,
    ".nq": RdfFormat.N_QUADS,
    ".trig": RdfFormat.TRIG,
    ".rdf": RdfFormat.RDF_XML,
}
# A graph is a namespace here, and the name of a namespace contains no dot.
_FILE_IRI = re.compile(r"(<[^<>\s\"]*)\.(ttl|rdf|nt|trig)>")


@dataclass(frozen=True)
class Dataset:
    """The files of a dataset: of its default graph, and of its named graphs by their IRIs."""

    default: tuple[Path, ...] = ()
    named: tuple[tuple[str, Path], ...] = ()


@dataclass(frozen=True)
class Case:
    """One test: its name, its type, its files."""

    suite: str
    name: str
    kind: str
    action: Path
    data: Dataset = Dataset()
    result: Path | None = None
    after: Dataset = Dataset()


def iri_of(file: Path) -> str:
    """The IRI of a file of the suites."""
    return BASE + re.sub(r"\.(\w+)$", r"-\1", file.relative_to(SUITES).as_posix())


def text_of(file: Path) -> str:
    """A file, in which the IRIs of files are those of `iri_of`."""
    return _FILE_IRI.sub(r"\1-\2>", file.read_text(encoding="utf-8"))


def quads_of(file: Path) -> list[Quad]:
    """The quads of a file of RDF."""
    return list(parse(text_of(file), FORMATS[file.suffix], base_iri=iri_of(file)))


def cases(suite: str) -> list[Case]:
    """The tests that the manifest in a folder lists; others in it were withdrawn."""
    manifest = SUITES / suite / "manifest.ttl"
    store = Store()
    store.load(path=str(manifest), format=RdfFormat.TURTLE, base_iri=manifest.as_uri())
    (entries,) = store.quads_for_pattern(None, NamedNode(f"{MF}entries"), None)
    listed = [test for test in _listed(store, entries.object) if any(_objects(store, test, f"{MF}action"))]
    return [_case(store, suite, test) for test in listed]


def _listed(store: Store, node: object) -> Iterator[object]:
    while node != NamedNode(f"{RDF}nil"):
        yield from _objects(store, node, f"{RDF}first")
        (node,) = _objects(store, node, f"{RDF}rest")


def _case(store: Store, suite: str, test: object) -> Case:
    (action,) = _objects(store, test, f"{MF}action")
    (result, *_) = [*_objects(store, test, f"{MF}result"), None]
    kind = next(term.value.rpartition("#")[2] for term in _objects(store, test, f"{RDF}type"))
    name = str(test).rpartition("#")[2].rstrip(">")
    if re.fullmatch(r"test_\d+\w?", name) and isinstance(action, NamedNode):  # used by several suites
        name = _file(action).stem
    if isinstance(action, NamedNode):
        return Case(suite, name, kind, _file(action), result=None if result is None else _file(result))
    (query,) = [*_objects(store, action, f"{QT}query"), *_objects(store, action, f"{UT}request")]
    is_update = "Update" in kind
    return Case(
        suite,
        name,
        kind,
        _file(query),
        _dataset(store, action, UT if is_update else QT),
        None if is_update or result is None else _file(result),
        _dataset(store, result, UT) if is_update and result is not None else Dataset(),
    )


def _dataset(store: Store, node: object, vocabulary: str) -> Dataset:
    default = tuple(_file(term) for term in _objects(store, node, f"{vocabulary}data"))
    named = []
    for term in _objects(store, node, f"{vocabulary}graphData"):
        if isinstance(term, NamedNode):
            named.append((iri_of(_file(term)), _file(term)))
        else:
            (file,) = _objects(store, term, f"{vocabulary}graph")
            (label,) = _objects(store, term, LABEL)
            named.append((label.value, _file(file)))
    return Dataset(default, tuple(sorted(named)))


def _objects(store: Store, subject: object, predicate: str) -> Iterator[object]:
    for quad in store.quads_for_pattern(subject, NamedNode(predicate), None):
        yield quad.object


def _file(term: object) -> Path:
    assert isinstance(term, NamedNode)
    return Path(term.value.removeprefix("file://"))
