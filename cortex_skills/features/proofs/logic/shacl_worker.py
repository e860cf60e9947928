"""The worker process that evaluates shapes (`shacl_engine` starts it).

Rules kept here:
- the process is confined before it receives a request (`cortex_sandbox.isolation.confinement`): it cannot open a file
  or a socket, start a process or read the environment; it has only the pipes to its parent. Its memory is bounded, and
  it ends with its parent;
- it has no graph: it requests each pattern that the rules read from the parent, so the cost of an evaluation is that of
  its reads, and the parent knows the reads. The statement is added to the matches of the parent;
- shapes are evaluated on the nodes of the request, if these are targets of the shapes: by default those of the
  statement, its subject and its object. A request of nodes needs no statement;
- pySHACL's advanced features, JavaScript, inference and imports are disabled; rdflib cannot load graphs;
- an evaluation that a lack of this process prevented has no result (`shacl_libraries`).

The content of a frame is JSON, in both directions.
"""

from __future__ import annotations

import json
import logging
import sys
import warnings
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn

MAX_RESULTS = 100
_CACHED = 16  # parsed rule sets
_DEPTH = 12  # of nested shapes
_STEPS = 32  # from a shape without a name to the one that it is a part of
_LONGEST = 1_000  # characters of a value in a result

warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)

import rdflib  # noqa: E402
import rdflib.plugins.sparql  # noqa: E402
import rdflib.plugins.sparql.evaluate  # noqa: E402
from pyoxigraph import BlankNode, Literal, NamedNode, RdfFormat, parse, serialize  # noqa: E402
from pyoxigraph import Triple as OxTriple  # noqa: E402
from pyshacl import validate  # noqa: E402
from pyshacl.graph_abstraction import DataGraph  # noqa: E402
from pyshacl.monkey import rdflib_bool_patch, rdflib_bool_unpatch  # noqa: E402
from rdflib import BNode, Graph, URIRef  # noqa: E402
from rdflib import Literal as RdfLiteral  # noqa: E402
from rdflib.namespace import RDF, RDFS, SH  # noqa: E402
from rdflib.store import Store  # noqa: E402

from cortex_graph.workers.worker_channel import WorkerChannel  # noqa: E402
from cortex_sandbox.isolation.confined_imports import ModuleNotLoaded  # noqa: E402
from cortex_sandbox.isolation.confinement import confine  # noqa: E402
from cortex_skills.features.proofs.logic import shacl_libraries as libraries  # noqa: E402

_TARGETS = (SH.targetNode, SH.targetClass, SH.targetSubjectsOf, SH.targetObjectsOf)


class ParentStore(Store):
    """An rdflib store with at most one triple of its own; it requests all others from the parent."""

    context_aware = graph_aware = True  # required by pySHACL's datasets; there is only one graph
    formula_aware = transaction_aware = False

    def __init__(self, channel: WorkerChannel, statement: tuple[Any, Any, Any] | None) -> None:
        super().__init__()
        self._channel = channel
        self._statement = statement
        self._known: dict[tuple[Any, Any, Any], list[tuple[Any, Any, Any]]] = {}

    def triples(self, triple_pattern: Any, context: Any = None) -> Iterator[tuple[Any, Any]]:  # noqa: ARG002
        """All triples of a pattern."""
        for triple in self._matching(tuple(triple_pattern)):
            yield triple, iter(())

    def __len__(self, context: Any = None) -> int:
        """Not 0; the number is not used."""
        return 1

    def add_graph(self, graph: Any) -> None:
        """There is one graph."""

    def contexts(self, *_: Any) -> Any:
        """There is one graph."""
        return iter(())

    def add(self, *_: Any, **__: Any) -> NoReturn:
        """Raise: the graph is read-only."""
        raise TypeError("the graph is read-only")

    def remove(self, *_: Any, **__: Any) -> NoReturn:
        """Raise: the graph is read-only."""
        raise TypeError("the graph is read-only")

    def _matching(self, pattern: tuple[Any, ...]) -> list[tuple[Any, Any, Any]]:
        subject, predicate, object_ = pattern
        if isinstance(subject, RdfLiteral) or isinstance(predicate, RdfLiteral | BNode):
            return []
        if isinstance(subject, BNode) or isinstance(object_, BNode):  # a namespace has no blank nodes
            return []
        key = (subject, predicate, object_)
        if key not in self._known:
            send(self._channel, {"read": [None if term is None else str(to_ox(term)) for term in key]})
            lines = receive(self._channel)["triples"]
            found = [from_ox_triple(quad.triple) for quad in parse(lines, RdfFormat.N_TRIPLES)]
            own = self._statement
            if own is not None and all(asked in (None, has) for asked, has in zip(key, own, strict=True)):
                found = [triple for triple in found if triple != own] + [own]
            self._known[key] = found
        return self._known[key]


def to_ox(term: Any) -> NamedNode | Literal:
    """Convert a term of rdflib to pyoxigraph."""
    if isinstance(term, URIRef):
        return NamedNode(str(term))
    if term.language:
        return Literal(str(term), language=str(term.language))
    return Literal(str(term), datatype=NamedNode(str(term.datatype))) if term.datatype else Literal(str(term))


def from_ox(term: Any) -> Any:
    """Convert a term of pyoxigraph to rdflib, without normalizing its text."""
    if isinstance(term, NamedNode):
        return URIRef(term.value)
    if isinstance(term, BlankNode):
        return BNode(term.value)
    if term.language:
        return RdfLiteral(term.value, lang=term.language)
    datatype = None if term.datatype.value.endswith("XMLSchema#string") else URIRef(term.datatype.value)
    return RdfLiteral(term.value, datatype=datatype, normalize=False)


def from_ox_triple(triple: OxTriple) -> tuple[Any, Any, Any]:
    """Convert a triple of pyoxigraph to rdflib."""
    return from_ox(triple.subject), from_ox(triple.predicate), from_ox(triple.object)


class ShapesCache:
    """The last parsed rule sets."""

    def __init__(self) -> None:
        self._parsed: dict[str, Graph] = {}

    def read(self, text: str) -> Graph:
        """The graph of a Turtle text."""
        if text not in self._parsed:
            while len(self._parsed) >= _CACHED:
                del self._parsed[next(iter(self._parsed))]
            graph = Graph(bind_namespaces="none")
            rdflib_bool_patch()  # type: ignore[no-untyped-call]  # only `true` switches on (SHACL §4.4.5)
            for quad in parse(text.encode(), RdfFormat.TURTLE):
                graph.add(from_ox_triple(quad.triple))
            rdflib_bool_unpatch()  # type: ignore[no-untyped-call]
            self._parsed[text] = graph
        return self._parsed[text]


def aimed(shapes: Graph, data: Graph, nodes: Iterable[Any]) -> tuple[Graph, int]:
    """A copy of the shapes whose only targets are these nodes, and the number of shapes with a target."""
    copy = Graph(bind_namespaces="none")
    classes = {RDFS.Class, *shapes.subjects(RDFS.subClassOf, RDFS.Class)}
    for triple in shapes:
        implicit = triple[1] == RDF.type and triple[2] in classes
        if triple[1] not in _TARGETS and not implicit:
            copy.add(triple)
    aimed_at: set[Any] = set()
    for node in nodes:
        for shape in targeting(shapes, data, node, classes):
            copy.add((shape, SH.targetNode, node))
            if not any(str(flag) == "true" for flag in shapes.objects(shape, SH.deactivated)):
                aimed_at.add(shape)
    return copy, len(aimed_at)


def targeting(shapes: Graph, data: Graph, node: Any, classes: set[Any]) -> set[Any]:
    """The shapes that target a node (SHACL §2.1.3)."""
    found = set(shapes.subjects(SH.targetNode, node))
    for shape, predicate in shapes.subject_objects(SH.targetObjectsOf):
        if (None, predicate, node) in data:
            found.add(shape)
    if isinstance(node, RdfLiteral):
        return found
    for shape, predicate in shapes.subject_objects(SH.targetSubjectsOf):
        if (node, predicate, None) in data:
            found.add(shape)
    by_class: dict[Any, set[Any]] = {}
    for shape, wanted in shapes.subject_objects(SH.targetClass):
        by_class.setdefault(wanted, set()).add(shape)
    for shape, kind in shapes.subject_objects(RDF.type):
        if kind in classes:
            by_class.setdefault(shape, set()).add(shape)
    if by_class:
        for kind in superclasses(data, data.objects(node, RDF.type)):
            found |= by_class.get(kind, set())
    return found


def superclasses(data: Graph, kinds: Iterable[Any]) -> set[Any]:
    """The classes and their superclasses."""
    found: set[Any] = set()
    waiting = list(kinds)
    while waiting:
        kind = waiting.pop()
        if kind not in found and not isinstance(kind, RdfLiteral):
            found.add(kind)
            waiting += data.objects(kind, RDFS.subClassOf)
    return found


def evaluate(text: str, cache: ShapesCache, data: Graph, nodes: list[Any]) -> dict[str, Any]:
    """Evaluate the shapes of a rule set on nodes."""
    shapes, applied = aimed(cache.read(text), data, nodes)
    if not applied:
        return {"applied": 0, "conforms": True, "results": [], "more": False}
    conforms, report, problem = validate(
        DataGraph.from_rdflib(data),
        shacl_graph=shapes,
        inplace=True,
        inference="none",
        advanced=False,
        js=False,
        do_owl_imports=False,
        allow_infos=True,
        allow_warnings=True,
        max_validation_depth=_DEPTH,
    )
    if not isinstance(report, Graph):
        raise ValueError(problem)
    results = [result_of(report, node, shapes) for node in report.objects(None, SH.result)]
    # Results have no order: the most severe come first, because only the first are returned.
    results.sort(key=lambda result: (_ORDER.get(result["severity"], 0), json.dumps(result, sort_keys=True)))
    more = len(results) > MAX_RESULTS
    return {"applied": applied, "conforms": bool(conforms), "results": results[:MAX_RESULTS], "more": more}


_ORDER = {"violation": 0, "warning": 1, "info": 2}


def result_of(report: Graph, node: Any, shapes: Graph) -> dict[str, str]:
    """One result of a validation report; its value is a term of N-Triples, empty for none that has such a text."""

    def one(predicate: URIRef) -> Any:
        return min(report.objects(node, predicate), default=None, key=str)

    severity, path, focus = one(SH.resultSeverity), one(SH.resultPath), one(SH.focusNode)
    value, source = one(SH.value), one(SH.sourceShape)
    text = "" if value is None or isinstance(value, BNode) else str(to_ox(value))
    known = {SH.Violation: "violation", SH.Warning: "warning", SH.Info: "info"}
    component = str(one(SH.sourceConstraintComponent) or "")
    return {
        "severity": known.get(severity, "violation"),
        "rule": component.removeprefix(str(SH)) or "constraint",
        "message": str(one(SH.resultMessage) or ""),
        "node": str(focus) if isinstance(focus, URIRef) else "",
        "path": str(path) if isinstance(path, URIRef) else "",
        "value": text if len(text) <= _LONGEST else "",
        "shape": named_shape(shapes, source),
        "called": str(min(shapes.objects(source, SH.name), default="", key=str)),
    }


def named_shape(shapes: Graph, shape: Any) -> str:
    """The IRI of a shape; of one without a name, that of the shape that it is a part of."""
    for _ in range(_STEPS):
        if shape is None or isinstance(shape, URIRef):
            break
        shape = min(shapes.subjects(None, shape), default=None, key=str)
    return str(shape) if isinstance(shape, URIRef) else ""


def answer(request: dict[str, Any], cache: ShapesCache, channel: WorkerChannel) -> dict[str, Any]:
    """Evaluate the rule sets of a request on its nodes."""
    given = [quad.triple for quad in parse(request["statement"], RdfFormat.N_TRIPLES)]
    wanted = [quad.object for quad in parse(request["nodes"], RdfFormat.N_TRIPLES)]
    wanted = wanted or [part for triple in given for part in (triple.subject, triple.object)]
    try:
        statement = from_ox_triple(given[0]) if given else None
        data = Graph(store=ParentStore(channel, statement), bind_namespaces="none")
        nodes = list(dict.fromkeys(map(from_ox, wanted)))
        sets = [evaluate(text, cache, data, nodes) for text in request["shapes"]]
        libraries.check_all_was_evaluated()
    except RecursionError:
        return {"failed": "the shapes nest too deeply"}
    except MemoryError:
        return {"failed": "the shapes need more memory than they may have"}
    except (libraries.NotChecked, ModuleNotLoaded) as error:
        return {"failed": f"the statement was not checked: {error}"}
    except Exception as error:
        return {"failed": f"{type(error).__name__}: {error}"[:2000]}
    return {"sets": sets}


def main() -> None:
    """Answer requests until the parent ends; see `cortex_graph.workers.processes`."""
    channel = WorkerChannel()
    rdflib.plugins.sparql.SPARQL_LOAD_GRAPHS = False
    sys.setrecursionlimit(2_000)
    evaluate(libraries.SHAPES, ShapesCache(), libraries.prepare(), [libraries.NODE])
    serialize([], format=RdfFormat.N_TRIPLES)
    if sys.platform == "linux":
        confine(channel.parent_pid)
    cache = ShapesCache()
    send(channel, {"ready": True})
    while True:
        send(channel, answer(receive(channel), cache, channel))


def send(channel: WorkerChannel, document: dict[str, Any]) -> None:
    """Send a JSON object to the parent."""
    channel.send(b"J", json.dumps(document).encode())


def receive(channel: WorkerChannel) -> dict[str, Any]:
    """Receive a JSON object from the parent."""
    document: dict[str, Any] = json.loads(channel.receive()[1])
    return document
