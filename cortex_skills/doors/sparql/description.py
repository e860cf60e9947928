"""The description of the service (SPARQL 1.1 Service Description).

Rules kept here:
- it names only what the caller may use: their graphs, and updates if they may write.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pyoxigraph import BlankNode, NamedNode, RdfFormat, Triple, serialize

from cortex_graph import WELL_KNOWN_VOCABULARIES, NamespacedGraph

_SD = "http://www.w3.org/ns/sparql-service-description#"
_FORMATS = "http://www.w3.org/ns/formats/"
_TYPE = NamedNode(f"{WELL_KNOWN_VOCABULARIES['rdf']}type")
_WRITTEN = ("SPARQL_Results_JSON", "SPARQL_Results_XML", "SPARQL_Results_CSV", "SPARQL_Results_TSV")
_GRAPHS = ("Turtle", "N-Triples", "JSON-LD", "RDF_XML")


def description(
    endpoint: str, graphs: Sequence[NamespacedGraph], beside: Sequence[NamedNode], form: RdfFormat, *, may_write: bool
) -> bytes:
    """The description of the service.

    Args:
        endpoint: the URL of the service.
        graphs: the graphs that the caller may read.
        beside: other graphs that the caller may read, and never update.
        form: the format.
        may_write: whether the caller may update the graphs.
    """
    prefixes = {"sd": _SD, "formats": _FORMATS}
    return serialize(_triples(NamedNode(endpoint), graphs, beside, may_write), format=form, prefixes=prefixes) or b""


def _triples(
    endpoint: NamedNode, graphs: Sequence[NamespacedGraph], beside: Sequence[NamedNode], may_write: bool
) -> Iterator[Triple]:
    yield Triple(endpoint, _TYPE, _sd("Service"))
    yield Triple(endpoint, _sd("endpoint"), endpoint)
    yield Triple(endpoint, _sd("supportedLanguage"), _sd("SPARQL11Query"))
    if may_write:
        yield Triple(endpoint, _sd("supportedLanguage"), _sd("SPARQL11Update"))
    for written in (*_WRITTEN, *_GRAPHS):
        yield Triple(endpoint, _sd("resultFormat"), NamedNode(f"{_FORMATS}{written}"))
    dataset, union = BlankNode(), BlankNode()
    yield Triple(endpoint, _sd("defaultDataset"), dataset)
    yield Triple(dataset, _TYPE, _sd("Dataset"))
    yield Triple(dataset, _sd("defaultGraph"), union)
    yield Triple(union, _TYPE, _sd("Graph"))
    own = [name for graph in graphs for name in (graph.names.graph, graph.names.provenance_graph)]
    for name in (*own, *beside):
        named = BlankNode()
        yield Triple(dataset, _sd("namedGraph"), named)
        yield Triple(named, _TYPE, _sd("NamedGraph"))
        yield Triple(named, _sd("name"), name)


def _sd(name: str) -> NamedNode:
    return NamedNode(f"{_SD}{name}")
