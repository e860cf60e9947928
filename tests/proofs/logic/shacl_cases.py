"""The test suite of the W3C for SHACL, as the source distribution of pySHACL has it (`tests/graph/w3c/fetch.py`).

A case is evaluated as this product evaluates shapes: by a confined process, one statement at a time. Each node of the
data is the object of one statement, so that every target of the shapes is a node of a statement.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from pyoxigraph import BlankNode, Literal, NamedNode, Quad, RdfFormat, parse

from cortex_graph import NamespacedGraph, open_store
from cortex_skills import CortexError
from cortex_skills.features.proofs.logic.premises import RecordingReader
from cortex_skills.features.proofs.logic.shacl_engine import ENGINE
from cortex_skills.skill_folder.rule_set import read_rules
from tests.graph.w3c.manifests import MF, RDF
from tests.graph.w3c.manifests import SUITES as W3C

SUITES = W3C.with_name("shacl")
SH = "http://www.w3.org/ns/shacl#"
SHT = "http://www.w3.org/ns/shacl-test#"
FAILURE = "failure"
Term = NamedNode | BlankNode | Literal
Results = Counter[tuple[str, str, str, str]]  # focus node, path, component, severity


@dataclass
class Description:
    """The triples of a file, by their subjects."""

    file: Path
    triples: list[Quad] = field(default_factory=list)
    about: dict[Term, list[Quad]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.triples = list(parse(path=self.file, format=RdfFormat.TURTLE, base_iri=self.file.as_uri()))
        for quad in self.triples:
            self.about.setdefault(quad.subject, []).append(quad)

    def all(self, subject: Term, predicate: str) -> list[Term]:
        return [quad.object for quad in self.about.get(subject, ()) if quad.predicate.value == predicate]

    def one(self, subject: Term, predicate: str) -> Term | None:
        return next(iter(self.all(subject, predicate)), None)

    def manifest(self) -> set[Term]:
        """The nodes that describe the test: they are in the file, and not shapes."""
        found: set[Term] = set()
        waiting = [quad.subject for quad in self.triples if quad.predicate.value in (MF + "entries", MF + "action")]
        while waiting:
            node = waiting.pop()
            found.add(node)
            about = [quad for quad in self.about.get(node, ()) if quad.predicate.value in _OF_TESTS]
            waiting += [quad.object for quad in about if isinstance(quad.object, BlankNode)]
        return found


_OF_TESTS = {f"{MF}action", f"{MF}result", f"{MF}entries", f"{RDF}rest", f"{SH}result"}


@dataclass(frozen=True)
class Case:
    """One test."""

    name: str
    data: Description
    shapes: Description
    expected: Results | str


def cases(manifest: Path) -> Iterator[Case]:
    """The tests of a manifest and of those that it includes."""
    description = Description(manifest)
    for quad in description.triples:
        if quad.predicate.value == f"{MF}include":
            yield from cases(_path(quad.object))
        elif quad.object == NamedNode(f"{SHT}Validate"):
            yield _case(description, quad.subject)


def found_by(case: Case) -> Results:
    """The results of a case.

    Raises:
        CortexError: the shapes are refused, or cannot be evaluated.

    """
    with graph_of(case) as graph:
        rules = read_rules(text_of(case), "skill:w3c")
        found: Results = Counter()
        for node in nodes_of(case):
            about = Quad(NamedNode("urn:w3c:statement"), NamedNode("urn:w3c:about"), node, graph.names.graph)
            reader = RecordingReader(graph, about)
            (result,) = ENGINE.evaluate(f"{about.triple} .", [rules.text], reader, timeout_s=60)
            for each in result.results:
                focus = f"<{each['node']}>" if each["node"] else str(node)
                found[focus, each["path"], each["rule"], each["severity"]] += 1
        return found


@contextmanager
def graph_of(case: Case) -> Iterator[NamespacedGraph]:
    """A graph with the data of a case."""
    store = open_store("memory:")
    try:
        graph = NamespacedGraph(store, "w3c")
        quads = {Quad(*map(_named, quad.triple), graph.names.graph) for quad in case.data.triples}
        store.insert([tuple(quads)])
        yield graph
    finally:
        store.close()


def text_of(case: Case) -> str:
    """The shapes of a case."""
    left_out = case.shapes.manifest()
    return "".join(f"{quad.triple} .\n" for quad in case.shapes.triples if quad.subject not in left_out)


def passes(case: Case) -> bool:
    """Whether a case has exactly the expected results, or is refused if it must be."""
    try:
        return found_by(case) == case.expected
    except CortexError as error:
        return case.expected == FAILURE and error.code in ("proof_failed", "manifest_invalid")


def nodes_of(case: Case) -> list[Term]:
    """The nodes of the data, and those that the shapes name as targets."""
    left_out = case.data.manifest()
    triples = [quad for quad in case.data.triples if quad.subject not in left_out]
    targets = {quad.object for quad in case.shapes.triples if quad.predicate.value == f"{SH}targetNode"}
    nodes = {quad.subject for quad in triples} | {quad.object for quad in triples} | targets
    return sorted(map(_named, nodes), key=str)


def _case(manifest: Description, test: Term) -> Case:
    action, result = manifest.one(test, f"{MF}action"), manifest.one(test, f"{MF}result")
    assert action is not None
    assert result is not None
    data, shapes = (_path(manifest.one(action, SHT + part)) for part in ("dataGraph", "shapesGraph"))
    return Case(
        manifest.file.relative_to(SUITES).with_suffix("").as_posix(),
        *(manifest if file == manifest.file else Description(file) for file in (data, shapes)),
        FAILURE if result == NamedNode(f"{SHT}Failure") else _expected(manifest, result),
    )


def _expected(manifest: Description, report: Term) -> Results:
    found: Results = Counter()
    for result in manifest.all(report, f"{SH}result"):
        focus, path, component, severity = (
            manifest.one(result, SH + part)
            for part in ("focusNode", "resultPath", "sourceConstraintComponent", "resultSeverity")
        )
        path_text = path.value if isinstance(path, NamedNode) else ""
        short = [term.value.removeprefix(SH) for term in (component, severity) if isinstance(term, NamedNode)]
        found[str(_named(focus)), path_text, short[0], short[1].lower()] += 1
    return found


def _named(term: Term | None) -> Term:
    assert term is not None
    return NamedNode(f"urn:w3c:genid:{term.value}") if isinstance(term, BlankNode) else term


def _path(term: Term | None) -> Path:
    assert isinstance(term, NamedNode)
    return Path(term.value.removeprefix("file://"))
