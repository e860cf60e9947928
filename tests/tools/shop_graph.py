"""A small graph of a shop, as an organisation might have it: with its own vocabulary, labels, languages and dates."""

from __future__ import annotations

from datetime import UTC, datetime
from io import BytesIO

from cortex_graph import NamespacedGraph, Provenance, import_rdf

SHOP = """\
@prefix : <http://shop.example/data/> .
@prefix d: <http://shop.example/data/> .
@prefix v: <http://shop.example/vocab/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .

v:Product a owl:Class ; rdfs:label "Product"@en, "Vara"@sv .
v:Supplier a owl:Class ; rdfs:label "Supplier"@en .
v:tel a owl:DatatypeProperty ; rdfs:label "phone number"@en .

d:s1 a v:Supplier ; rdfs:label "Müller & Söhne" ; v:country d:de ; v:tel "+49-30-1" .
d:s2 a v:Supplier ; rdfs:label "Nordisk Skruv" ; v:country d:se .
d:s3 a v:Supplier ; rdfs:label "Acme" .
d:de rdfs:label "Germany"@en, "Tyskland"@sv .
d:se rdfs:label "Sweden"@en, "Sverige"@sv .

d:p1 a v:Product ; rdfs:label "Screw M4"@en, "Skruv M4"@sv ; v:price 0.25 ; v:stock 250 ; v:from d:s1 ; v:part d:p2 .
d:p2 a v:Product ; rdfs:label "Nail 20 mm"@en ; v:price 0.10 ; v:stock 3 ; v:from d:s1, d:s2 .
d:p3 a v:Product ; rdfs:label "Washer"@en ; v:price 12.50 ; v:stock 1 ; v:from d:s2 ;
    v:added "2026-12-01"^^xsd:date .
d:p4 a v:Product ; rdfs:label "Hammer"@en ; v:price 19.90 ; v:stock 12 ; v:from d:s3 ; v:weight 0.8e0 .

d:e1 a v:Person ; rdfs:label "Ada Berg" ; v:mail "ada@shop.example" ; v:buys d:p1, d:p2 .
d:e2 a v:Person ; rdfs:label "Zoë Lind" ; v:mail "zoe@shop.example" ; v:buys d:p3 ; v:boss d:e1 .
"""
MADE = datetime(2026, 1, 2, 12, tzinfo=UTC)


def fill(graph: NamespacedGraph) -> NamespacedGraph:
    """Import the shop, and assert two facts as agents; returns the graph."""
    import_rdf(graph, BytesIO(SHOP.encode()), "turtle")
    by = Provenance("stock", "1.0.0", "a1", MADE)
    graph.create_triple({"subject": "<http://shop.example/data/p1>", "predicate": "note", "object": "Sells well."}, by)
    by = Provenance("stock", "1.0.0", "a2", MADE.replace(year=2027))
    graph.create_triple({"subject": "<http://shop.example/data/p2>", "predicate": "note", "object": "Runs low."}, by)
    return graph
