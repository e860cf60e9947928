"""The process that evaluates shapes, so that an evaluation can be killed. Run as a program.

Rules kept here:
- it is confined before it is sent anything (`cortex_sandbox.isolation.confinement`): it opens no file and no socket,
  starts no process and sees no environment; beside the pipe to its parent it has nothing. Its memory is bounded, and it
  ends with its parent;
- it holds no graph: what rules look at, it asks the parent for, pattern by pattern, so that an evaluation costs what
  the rules reach and the parent knows what that was. The statement is there beside what the parent has;
- shapes are evaluated at the statement's own nodes, its subject and its object, as far as these are their targets;
- pySHACL's advanced features, JavaScript, inference and imports are off, and so is whatever of rdflib loads a graph.

Frames both ways: a length (4 bytes, big endian), then JSON.
"""

from __future__ import annotations

import json
import logging
import os
import struct
import sys
import warnings
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn

LENGTH = struct.Struct(">I")
MAX_RESULTS = 100
_MAX_FRAME = 64 << 20
_READ = 1 << 16
_CACHED = 16  # rule sets that are kept parsed
_DEPTH = 12  # of shapes in shapes

warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)

import rdflib  # noqa: E402
import rdflib.plugins.sparql  # noqa: E402
import rdflib.plugins.sparql.evaluate  # noqa: E402
from pyoxigraph import BlankNode, Literal, NamedNode, RdfFormat, parse, serialize  # noqa: E402
from pyoxigraph import Triple as OxTriple  # noqa: E402
from pyshacl import validate  # noqa: E402
from pyshacl.graph_abstraction import DataGraph  # noqa: E402
from rdflib import BNode, Graph, URIRef  # noqa: E402
from rdflib import Literal as RdfLiteral  # noqa: E402
from rdflib.namespace import RDF, RDFS, SH  # noqa: E402
from rdflib.store import Store  # noqa: E402

_TARGETS = (SH.targetNode, SH.targetClass, SH.targetSubjectsOf, SH.targetObjectsOf)


class Pipe:
    """The two ends of the pipe to the parent."""

    def __init__(self) -> None:
        self._pending = bytearray()

    def send(self, document: dict[str, Any]) -> None:
        """Send one frame."""
        content = json.dumps(document).encode()
        left = memoryview(LENGTH.pack(len(content)) + content)
        while left:
            left = left[os.write(1, left) :]

    def receive(self) -> dict[str, Any]:
        """The next frame; the process ends when there is none."""
        (length,) = LENGTH.unpack(self._take(LENGTH.size))
        if length > _MAX_FRAME:
            os._exit(3)
        document: dict[str, Any] = json.loads(self._take(length))
        return document

    def _take(self, length: int) -> bytes:
        while len(self._pending) < length:
            data = os.read(0, _READ)
            if not data:
                os._exit(0)
            self._pending += data
        taken = bytes(self._pending[:length])
        del self._pending[:length]
        return taken


class Asking(Store):
    """A store of rdflib that has one triple, and asks the parent for whatever else is there."""

    context_aware = graph_aware = True  # pySHACL's datasets insist; there is one graph all the same
    formula_aware = transaction_aware = False

    def __init__(self, pipe: Pipe, statement: tuple[Any, Any, Any]) -> None:
        super().__init__()
        self._pipe = pipe
        self._statement = statement
        self._known: dict[tuple[Any, Any, Any], list[tuple[Any, Any, Any]]] = {}

    def triples(self, triple_pattern: Any, context: Any = None) -> Iterator[tuple[Any, Any]]:  # noqa: ARG002
        """All triples of a pattern."""
        for triple in self._matching(tuple(triple_pattern)):
            yield triple, iter(())

    def __len__(self, context: Any = None) -> int:
        """More than none; nobody counts."""
        return 1

    def add_graph(self, graph: Any) -> None:
        """There is one graph."""

    def contexts(self, *_: Any) -> Any:
        """There is one graph."""
        return iter(())

    def add(self, *_: Any, **__: Any) -> NoReturn:
        """Nothing is written."""
        raise TypeError("the graph is read only")

    def remove(self, *_: Any, **__: Any) -> NoReturn:
        """Nothing is removed."""
        raise TypeError("the graph is read only")

    def bind(self, prefix: str, namespace: Any, override: bool = True) -> None:
        """Prefixes mean nothing here."""

    def namespace(self, prefix: str) -> None:
        """No prefix is bound."""

    def prefix(self, namespace: Any) -> None:
        """No prefix is bound."""

    def namespaces(self) -> Iterator[Any]:
        """No prefix is bound."""
        return iter(())

    def _matching(self, pattern: tuple[Any, ...]) -> list[tuple[Any, Any, Any]]:
        subject, predicate, object_ = pattern
        if isinstance(subject, RdfLiteral) or isinstance(predicate, RdfLiteral | BNode):
            return []
        if isinstance(subject, BNode) or isinstance(object_, BNode):  # a namespace has none
            return []
        key = (subject, predicate, object_)
        if key not in self._known:
            self._pipe.send({"read": [None if term is None else to_ox_text(term) for term in key]})
            found = [
                from_ox_triple(quad.triple) for quad in parse(self._pipe.receive()["triples"], RdfFormat.N_TRIPLES)
            ]
            if all(asked is None or asked == has for asked, has in zip(key, self._statement, strict=True)):
                found = [triple for triple in found if triple != self._statement] + [self._statement]
            self._known[key] = found
        return self._known[key]


def to_ox_text(term: Any) -> str:
    """A term of rdflib as N-Triples has it."""
    return str(to_ox(term))


def to_ox(term: Any) -> NamedNode | Literal:
    """A term of rdflib as one of pyoxigraph."""
    if isinstance(term, URIRef):
        return NamedNode(str(term))
    if term.language:
        return Literal(str(term), language=str(term.language))
    return Literal(str(term), datatype=NamedNode(str(term.datatype))) if term.datatype else Literal(str(term))


def from_ox(term: Any) -> Any:
    """A term of pyoxigraph as one of rdflib; its text stays as it is."""
    if isinstance(term, NamedNode):
        return URIRef(term.value)
    if isinstance(term, BlankNode):
        return BNode(term.value)
    if term.language:
        return RdfLiteral(term.value, lang=term.language)
    datatype = None if term.datatype.value.endswith("XMLSchema#string") else URIRef(term.datatype.value)
    return RdfLiteral(term.value, datatype=datatype, normalize=False)


def from_ox_triple(triple: OxTriple) -> tuple[Any, Any, Any]:
    """A triple of pyoxigraph as one of rdflib."""
    return from_ox(triple.subject), from_ox(triple.predicate), from_ox(triple.object)


class Shapes:
    """The shapes of rule sets, parsed; a few are kept."""

    def __init__(self) -> None:
        self._kept: dict[str, Graph] = {}

    def read(self, text: str) -> Graph:
        """The shapes of a Turtle text."""
        if text not in self._kept:
            while len(self._kept) >= _CACHED:
                del self._kept[next(iter(self._kept))]
            graph = Graph(bind_namespaces="none")
            for quad in parse(text.encode(), RdfFormat.TURTLE):
                graph.add(from_ox_triple(quad.triple))
            self._kept[text] = graph
        return self._kept[text]


def aimed(shapes: Graph, data: Graph, nodes: Iterable[Any]) -> tuple[Graph, int]:
    """The same shapes with the targets among these nodes alone, and how many of them have one."""
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
    """The shapes that have a node among their targets (SHACL §2.1.3)."""
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
        for kind in above(data, data.objects(node, RDF.type)):
            found |= by_class.get(kind, set())
    return found


def above(data: Graph, kinds: Iterable[Any]) -> set[Any]:
    """The classes, and those that they are subclasses of."""
    found: set[Any] = set()
    waiting = list(kinds)
    while waiting:
        kind = waiting.pop()
        if kind not in found and not isinstance(kind, RdfLiteral):
            found.add(kind)
            waiting += data.objects(kind, RDFS.subClassOf)
    return found


def evaluate(text: str, kept: Shapes, data: Graph, nodes: list[Any]) -> dict[str, Any]:
    """What the shapes of a rule set say of some nodes."""
    shapes, applied = aimed(kept.read(text), data, nodes)
    if not applied:
        return {"applied": 0, "conforms": True, "results": []}
    conforms, report, told = validate(
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
        raise ValueError(told)
    results = [result_of(report, node) for node in report.objects(None, SH.result)]
    # A result has no order; the worst first, so that those that are left out are the mildest.
    results.sort(key=lambda result: (_ORDER.get(result["severity"], 0), json.dumps(result, sort_keys=True)))
    return {"applied": applied, "conforms": bool(conforms), "results": results[:MAX_RESULTS]}


_ORDER = {"violation": 0, "warning": 1, "info": 2}


def result_of(report: Graph, node: Any) -> dict[str, str]:
    """One result of a report, as plain texts."""

    def one(predicate: URIRef) -> Any:
        return min(report.objects(node, predicate), default=None, key=str)

    severity, path, focus = one(SH.resultSeverity), one(SH.resultPath), one(SH.focusNode)
    known = {SH.Violation: "violation", SH.Warning: "warning", SH.Info: "info"}
    component = str(one(SH.sourceConstraintComponent) or "")
    return {
        "severity": known.get(severity, "violation"),
        "rule": component.removeprefix(str(SH)) or "constraint",
        "message": str(one(SH.resultMessage) or ""),
        "node": str(focus) if isinstance(focus, URIRef) else "",
        "path": str(path) if isinstance(path, URIRef) else "",
    }


def answer(request: dict[str, Any], kept: Shapes, pipe: Pipe) -> dict[str, Any]:
    """What the rule sets of a request say of its statement."""
    (quad,) = parse(request["statement"], RdfFormat.N_TRIPLES)
    statement = from_ox_triple(quad.triple)
    data = Graph(store=Asking(pipe, statement), bind_namespaces="none")
    nodes = list(dict.fromkeys((statement[0], statement[2])))
    sets = []
    for text in request["shapes"]:
        try:
            sets.append(evaluate(text, kept, data, nodes))
        except RecursionError:
            return {"failed": "the shapes nest too deeply"}
        except MemoryError:
            return {"failed": "the shapes need more memory than they may have"}
        except Exception as error:
            return {"failed": f"{type(error).__name__}: {error}"[:2000]}
    return {"sets": sets}


def try_out() -> None:
    """Do once what rules can ask for, so that every module is loaded that a confined process could not load."""
    shapes = f"""
        @prefix sh: <{SH}> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
        <urn:x:s> a sh:NodeShape ; sh:targetNode <urn:x:a> ; sh:closed true ; sh:ignoredProperties ( <urn:x:q> ) ;
          sh:not [ sh:class <urn:x:c> ] ; sh:or ( [ sh:nodeKind sh:IRI ] [ sh:in ( 1 2 ) ] ) ;
          sh:xone ( [ sh:nodeKind sh:IRI ] [ sh:nodeKind sh:Literal ] ) ; sh:and ( [ sh:nodeKind sh:IRI ] ) ;
          sh:property [ sh:path <urn:x:p> ; sh:minCount 1 ; sh:maxCount 1 ; sh:datatype xsd:dateTime ;
            sh:pattern "^2" ; sh:minLength 1 ; sh:maxLength 9 ; sh:minInclusive 1 ; sh:maxExclusive 3 ;
            sh:languageIn ( "en" ) ; sh:uniqueLang true ; sh:hasValue 1 ; sh:equals <urn:x:q> ;
            sh:disjoint <urn:x:r> ; sh:lessThan <urn:x:r> ; sh:lessThanOrEquals <urn:x:r> ;
            sh:qualifiedValueShape [ sh:nodeKind sh:IRI ] ; sh:qualifiedMinCount 1 ] ;
          sh:property [ sh:path ( [ sh:zeroOrMorePath <urn:x:p> ] [ sh:inversePath <urn:x:p> ]
            [ sh:alternativePath ( <urn:x:p> <urn:x:q> ) ] [ sh:zeroOrOnePath <urn:x:p> ]
            [ sh:oneOrMorePath <urn:x:p> ] ) ; sh:minCount 1 ] ;
          sh:sparql [ sh:prefixes <urn:x:d> ; sh:message "no {{?value}}" ; sh:select \"\"\"
            SELECT $this ?value (COUNT(*) AS ?n) WHERE {{ $this x:p ?value . OPTIONAL {{ ?value x:p+ ?o }}
            FILTER(REGEX(STR(?value), "2") && xsd:integer(?value) < 3 && NOT EXISTS {{ $this x:q ?z }}
            && ?value != NOW() && SHA256("x") != MD5("y") && STRUUID() != UUID())
            FILTER(LANG(?value) = "" && YEAR(xsd:dateTime("2026-01-01T00:00:00Z")) > 1) }}
            GROUP BY $this ?value ORDER BY ?value LIMIT 5 \"\"\" ] .
        <urn:x:d> sh:declare [ sh:prefix "x" ; sh:namespace "urn:x:"^^xsd:anyURI ] ,
          [ sh:prefix "xsd" ; sh:namespace "http://www.w3.org/2001/XMLSchema#"^^xsd:anyURI ] .
    """
    data = Graph(bind_namespaces="none")
    data.add((URIRef("urn:x:a"), URIRef("urn:x:p"), RdfLiteral("2020-01-01T00:00:00Z", datatype=rdflib.XSD.dateTime)))
    data.add((URIRef("urn:x:a"), URIRef("urn:x:p"), RdfLiteral(2)))
    for datatype in ("date", "time", "gYear", "duration", "decimal", "double", "boolean", "hexBinary", "anyURI"):
        data.add((URIRef("urn:x:a"), URIRef("urn:x:q"), RdfLiteral("1", datatype=rdflib.XSD[datatype])))
    evaluate(shapes, Shapes(), data, [URIRef("urn:x:a")])
    serialize([], format=RdfFormat.N_TRIPLES)


def main() -> None:
    """Answer requests until standard input ends: `worker.py MEMORY PARENT`."""
    memory, parent = int(sys.argv[1]), int(sys.argv[2])
    rdflib.plugins.sparql.SPARQL_LOAD_GRAPHS = False
    sys.setrecursionlimit(2_000)
    try_out()
    held = confine_here(memory, parent)
    pipe, kept = Pipe(), Shapes()
    pipe.send({"ready": held})
    while True:
        request = pipe.receive()
        pipe.send(answer(request, kept, pipe))


def confine_here(memory: int, parent: int) -> list[str]:
    """Confine this process for good; the names of what is in force."""
    if sys.platform != "linux":
        return []
    import resource

    from cortex_sandbox.isolation.confinement import confine

    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    return [protection.name for protection in confine(parent) if protection.in_force]


if __name__ == "__main__":
    main()
