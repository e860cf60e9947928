"""The page of the schema: what it counts is there, where it differs from a shape, and how it is taken away."""

from __future__ import annotations

import csv
import io
import re
from html import unescape
from urllib.parse import urljoin

import httpx
import pytest
from pyoxigraph import QuerySolutions, RdfFormat, Store

from cortex_graph import NamespacedGraph, import_rdf
from tests.explorer.hostile import check_page
from tests.explorer.http.browsing import CLICKED
from tests.server.serving import Running

SPACE = "bikes"
VOID = "http://rdfs.org/ns/void#"
DATA = """
@prefix v: <urn:cortex:bikes:> . @prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
v:Part rdfs:label "Spare part" . v:suppliedBy rdfs:label "comes from" .
v:p1 a v:Part ; v:price 1 ; v:suppliedBy v:s1 ; v:shelf v:shelf1 .
v:p2 a v:Part ; v:price 2, 3 ; v:suppliedBy v:s1 ; v:shelf "C1" .
v:p3 a v:Part ; v:suppliedBy v:s2 ; v:shelf v:shelf2 .
v:s1 a v:Supplier . v:s2 a v:Supplier .
v:loose v:price 4 .
v:PartShape a sh:NodeShape ; sh:targetClass v:Part ; sh:property
  [ sh:path v:price ; sh:minCount 1 ; sh:maxCount 1 ; sh:datatype xsd:integer ; sh:minInclusive 1 ],
  [ sh:path v:shelf ; sh:nodeKind sh:IRI ],
  [ sh:path v:colour ; sh:minCount 1 ; sh:in ("red" "blue") ],
  [ sh:path v:hidden ; sh:minCount 1 ; sh:deactivated true ] .
"""


@pytest.fixture(scope="module")
def reader(running: Running, tmp_path_factory: pytest.TempPathFactory) -> httpx.Client:
    file = tmp_path_factory.mktemp("schema") / "bikes.ttl"
    file.write_text(DATA)
    graph = NamespacedGraph(running.plugin.graph.store, SPACE)
    import_rdf(graph, file)
    graph.schema.latest(wait_s=60)
    client = running.client(running.token(SPACE, (SPACE,), ("read",)))
    client.headers.update(CLICKED)
    return client


def page(reader: httpx.Client, query: str = "") -> str:
    answer = reader.get(f"/explore/{SPACE}/schema{query}")
    assert answer.status_code == 200, answer.text
    check_page(answer.text)
    return answer.text


def rows_of(text: str, label: str) -> dict[str, str]:
    """The rows of a table, by the text of their first cell."""
    body = text.partition(f'aria-label="{label}"')[2].partition("</table>")[0].partition("<tbody>")[2]
    rows = [re.sub(r"\s+", " ", re.sub("<[^>]*>", " ", row)).strip() for row in body.split("<tr")[1:]]
    firsts = [re.sub("<[^>]*>", "", row.partition("</td>")[0].partition("<td>")[2]) for row in body.split("<tr")[1:]]
    return dict(zip(firsts, (row.partition("> ")[2] or row for row in rows), strict=True))


def test_classes_are_listed_with_their_resources_and_predicates_with_their_use(reader: httpx.Client) -> None:
    text = page(reader, "?type=Part")
    classes = rows_of(text, "Classes")
    assert {name: row.split()[-1] for name, row in classes.items()} == {
        "Spare part": "3",
        "bikes:Supplier": "2",
        "sh:NodeShape": "1",
        "No class": row_count(reader),
    }
    rows = rows_of(text, "Predicates of the class")
    assert set(rows) == {"price", "comes from", "shelf", "colour"}
    assert "67 % 3 xsd:integer up to 2 each" in rows["price"]
    assert "100 % 3 bikes: Supplier" in rows["comes from"]
    assert "0 %" in rows["colour"]


def row_count(reader: httpx.Client) -> str:
    """How many subjects have no class, by a query."""
    query = "SELECT (COUNT(DISTINCT ?s) AS ?n) { ?s ?p ?o FILTER NOT EXISTS { ?s a ?c } }"
    found = reader.get(f"/explore/{SPACE}/sparql", params={"query": query, "format": "csv"}).text
    return found.split()[1]


def test_where_the_graph_differs_from_a_shape_a_mark_leads_to_the_resources(reader: httpx.Client) -> None:
    text = page(reader, "?type=Part")
    rows = rows_of(text, "Predicates of the class")
    assert "1, xsd:integer, from 1 1 lacks it up to 2 values" in rows["price"]
    assert "A resource 1 is xsd:string" in rows["shelf"]
    assert "At least 1, one of red, blue 3 lack it" in rows["colour"]
    found = {}
    for href, words in re.findall(r'<a class="say warn" href="([^"]*)">([^<]*)</a>', text):
        address = urljoin(f"/explore/{SPACE}/schema", unescape(href))
        answer = reader.get(f"{address}&format=csv")
        subjects = [row[0].rpartition(":")[2] for row in csv.reader(io.StringIO(answer.text))][1:]
        found[words] = sorted(subjects)
    assert found == {
        "1 lacks it": ["p3"],
        "up to 2 values": ["p2"],
        "1 is xsd:string": ["p2"],
        "3 lack it": ["p1", "p2", "p3"],
    }


def test_each_class_and_predicate_leads_to_what_it_counts(reader: httpx.Client) -> None:
    text = page(reader, "?type=Part")
    listed = re.search(r'<a href="(list[^"]*)">List them</a>', text)
    assert listed is not None
    rows = reader.get(urljoin(f"/explore/{SPACE}/schema", unescape(listed[1])) + "&format=csv").text
    assert len(rows.splitlines()) == 1 + 3
    values = re.search(r'href="(sparql[^"]*)" title="2 resources"', text)
    assert values is not None
    rows = reader.get(urljoin(f"/explore/{SPACE}/schema", unescape(values[1])) + "&format=csv").text
    assert len(rows.splitlines()) == 1 + 3  # values


def test_the_class_map_has_a_link_for_each_predicate_between_classes(reader: httpx.Client) -> None:
    drawn = page(reader).partition('aria-label="Class map"')[2].partition("</svg>")[0]
    names = re.findall(r'class="m-name"><rect [^>]*/><text [^>]*>([^<]*)</text>', drawn)
    assert names == ["comes from × 3"]
    assert re.findall(r"<title>([^<]*)</title>", drawn) == ["Spare part 3", "bikes:Supplier 2"]


def test_void_has_the_partitions_of_classes_with_their_predicates(reader: httpx.Client) -> None:
    store = Store()
    for address in (f"/explore/{SPACE}/schema?format=void", f"/explore/{SPACE}?format=void"):
        store.clear()
        store.load(reader.get(address).content, RdfFormat.TURTLE)
        query = f"""PREFIX v: <{VOID}> SELECT ?n ?subjects {{ ?d a v:Dataset ; v:classPartition ?c . ?c v:class
            <urn:cortex:bikes:Part> ; v:entities ?n ; v:propertyPartition [ v:property <urn:cortex:bikes:price> ;
            v:triples 3 ; v:distinctSubjects ?subjects ] }}"""
        found = store.query(query)
        assert isinstance(found, QuerySolutions)
        (row,) = found
        assert [term.value for term in row] == ["3", "2"]


def test_the_document_is_the_overview_of_the_class_and_an_unknown_class_is_not_found(reader: httpx.Client) -> None:
    found = reader.get(f"/explore/{SPACE}/schema?type=Part&format=json").json()
    assert [(each["name"], each["subjects"]) for each in found["classes"]] == [("bikes:Part", 3)]
    assert found["usedBy"] == []
    assert reader.get(f"/explore/{SPACE}/schema?type=Nothing").status_code == 404
    assert reader.get("/explore/mayros/schema").status_code == 404
    assert "26 % " not in page(reader, "?type=none")
    assert "price" in rows_of(page(reader, "?type=none"), "Predicates of the class")


def test_marks_of_classes_are_the_same_on_the_schema_and_on_a_map(reader: httpx.Client, running: Running) -> None:
    part = re.search(r'class="k (k\d)"[^>]*>(?:(?!</svg>).)*</svg>Spare part', page(reader, "?type=Part"))
    drawn = reader.get(f"/explore/{SPACE}/map?name=p1&steps=1").text
    assert part is not None
    assert f'class="m-node {part[1]} root"' in drawn
