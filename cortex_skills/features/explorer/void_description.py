"""The numbers of a namespace in VoID (W3C Interest Group Note, 2011): predicates, and classes with theirs."""

from __future__ import annotations

from pyoxigraph import Literal, NamedNode, RdfFormat, Triple, serialize

from cortex_graph import NamespacedGraph
from cortex_graph.checks.datetimes import date_time
from cortex_graph.naming.names import WELL_KNOWN_VOCABULARIES
from cortex_graph.naming.vocabulary import TYPE
from cortex_skills.features.graph.looking.schema_now import schema_of

_VOID = "http://rdfs.org/ns/void#"
_XSD = WELL_KNOWN_VOCABULARIES["xsd"]
_WAIT_S = 10.0


def void_of(graph: NamespacedGraph) -> bytes:
    """The numbers that are kept, as Turtle; nothing is stated of classes where reading the schema takes longer."""
    counts, schema = graph.counts.latest(), schema_of(graph, _WAIT_S)
    dataset, triples = graph.names.graph, []

    def state(subject: NamedNode, term: str, value: NamedNode | int) -> None:
        stated = Literal(str(value), datatype=NamedNode(f"{_XSD}integer")) if isinstance(value, int) else value
        triples.append(Triple(subject, NamedNode(_VOID + term), stated))

    def part_of(whole: NamedNode, name: str, partition: str, term: str, value: NamedNode) -> NamedNode:
        part = NamedNode(f"{dataset.value}/void/{name}")
        state(whole, partition, part)
        state(part, term, value)
        return part

    triples.append(Triple(dataset, TYPE, NamedNode(f"{_VOID}Dataset")))
    state(dataset, "triples", counts.triples)
    state(dataset, "distinctSubjects", counts.resources)
    for place, each in enumerate(counts.predicates):
        part = part_of(dataset, str(place), "propertyPartition", "property", each.predicate)
        state(part, "triples", each.triples)
    classes = [each for each in schema.classes if each.node is not None]
    if schema.counted_at is not None:
        state(dataset, "classes", len(classes))
    for place, found in enumerate(classes):
        assert found.node is not None  # noqa: S101 - chosen above
        of_class = part_of(dataset, f"class/{place}", "classPartition", "class", found.node)
        state(of_class, "entities", found.subjects)
        for number, use in enumerate(found.predicates):
            part = part_of(of_class, f"class/{place}/{number}", "propertyPartition", "property", use.predicate)
            state(part, "triples", use.triples)
            state(part, "distinctSubjects", use.subjects)
    if counts.counted_at is not None:
        time = Literal(date_time(counts.counted_at), datatype=NamedNode(f"{_XSD}dateTime"))
        triples.append(Triple(dataset, NamedNode(f"{WELL_KNOWN_VOCABULARIES['dcterms']}modified"), time))
    return serialize(triples, format=RdfFormat.TURTLE, prefixes={"void": _VOID}) or b""
