"""Hostile texts in every place of a triple, of a record and of an address, through every page of data and its forms."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from urllib.parse import quote, urljoin
from xml.etree import ElementTree as ET

import httpx
import pytest
from pyoxigraph import Literal, RdfFormat, parse

from cortex_graph import GraphError, NamespacedGraph, Provenance
from tests.explorer.hostile import TEXTS, check_page
from tests.server.serving import Running, served

HTML = {"Accept": "text/html"}
FORMS = ("turtle", "json-ld", "n-quads", "csv", "json", "svg", "nanopub")


def fill(graph: NamespacedGraph) -> None:
    for text in TEXTS:
        who = Provenance(text[:300], text[:300], text[:300])
        for triple in (
            {"subject": text, "predicate": "p", "object": 1},
            {"subject": "hub", "predicate": text, "object": text},
            {"subject": "hub", "predicate": "p", "object": {"node": text}},
            {"subject": text, "predicate": "p", "object": {"node": "hub"}},
        ):
            try:
                graph.create_triples([triple], who)
            except GraphError:  # the store takes no such name
                graph.create_triples([{"subject": "refused", "predicate": "p", "object": text}], who)
    graph.create_triple({"subject": "mayros:admin", "predicate": "p", "object": 1})
    graph.create_triple({"subject": "hub", "predicate": "see", "object": {"node": "https://evil.example/%22onx='"}})


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with served(tmp_path_factory.mktemp("explorer-hostile")) as server:
        fill(server.plugin.graph)
        server.plugin.graph.counts.latest(wait_s=30)
        yield server


@pytest.fixture(scope="module")
def reader(running: Running) -> httpx.Client:
    client = running.client(running.token("reader", ("mayros",), ("read", "audit")))
    client.headers.update(HTML)
    return client


def test_every_page_shows_them_as_text(running: Running, reader: httpx.Client) -> None:
    for path in ("", "/r?name=hub", "/r/used?name=hub", "/list", "/list?recorded=yes", "/proofs"):
        answer = reader.get(f"/explore/mayros{path}")
        assert answer.status_code == 200, path
        page = check_page(answer.text)
        if path == "/r?name=hub":
            assert "evil.example" in page.text
        if path == "/list":
            assert "U+202E" in page.text
            assert "looks like mayros:admin, another name here" in page.text
    heading = check_page(reader.get("/explore/mayros/r?name=" + quote("\u0430dmin")).text)
    assert "looks like mayros:admin, another name here" in heading.text


def test_the_pages_of_hostile_names_and_their_forms(running: Running, reader: httpx.Client) -> None:
    for text in TEXTS:
        answer = reader.get("/explore/mayros/r?name=" + quote(text, safe=""))
        assert answer.status_code in (200, 400, 404), text
        check_page(answer.text)
        if answer.status_code != 200:
            continue
        for form in FORMS:
            data = reader.get("/explore/mayros/r?name=" + quote(text, safe="") + f"&format={form}")
            assert data.status_code == 200, (text, form)
            assert data.headers["x-content-type-options"] == "nosniff"
            assert "text/html" not in data.headers["content-type"]
            if form == "svg":
                assert {e.tag.rpartition("}")[2] for e in ET.fromstring(data.content).iter()} <= {
                    *("svg", "style", "g", "path", "circle", "rect", "text", "tspan")
                }
            if form == "turtle":
                assert list(parse(data.content, RdfFormat.TURTLE))


def test_every_assertion_has_a_page(running: Running, reader: httpx.Client) -> None:
    for row in running.plugin.graph.list_triples({"limit": 1000})["triples"]:
        answer = reader.get(f"/explore/mayros/t/{row['id']}")
        assert answer.status_code == 200
        check_page(answer.text, 60_000)
        assert json.loads(reader.get(f"/explore/mayros/t/{row['id']}?format=json").content)["triple"]["id"] == row["id"]


def test_hostile_parameters_are_text_or_refused(reader: httpx.Client) -> None:
    for text in TEXTS:
        value = quote(text[:1_000], safe="")
        for path in (
            "list?subject=",
            "list?agent=",
            "list?object=",
            "r?name=hub&asOf=",
            "r/used?name=",
            "proofs?kind=",
        ):
            answer = reader.get(f"/explore/mayros/{path}{value}")
            assert answer.status_code in (200, 400, 404), (path, text)
            check_page(answer.text)
        for path in (f"/explore/{value}", f"/explore/{value}/r?name=a", f"/explore/mayros/t/{value}"):
            answer = reader.get(path)
            assert answer.status_code in (400, 404), (path, answer.status_code)
            check_page(answer.text)


def test_hostile_texts_in_every_field_and_form_of_a_list_a_map_and_a_query(reader: httpx.Client) -> None:
    fields = (
        "list?predicate=",
        "list?skill=",
        "list?since=",
        "list?evidence=",
        "find?q=",
        "map?name=",
        "used?name=a&predicate=",
    )
    for text in TEXTS:
        value = quote(text[:1_000], safe="")
        for field in fields:
            answer = reader.get(f"/explore/mayros/{field.replace('used', 'r/used')}{value}")
            assert answer.status_code in (200, 303, 400, 404), (field, text)
            check_page(answer.text)
        query = f"SELECT ?s ?o {{ ?s ?p ?o FILTER(?o = {Literal(text[:1_000])}) }}"
        for view in ("table", "chart", "raw"):
            answer = reader.get("/explore/mayros/sparql", params={"query": query, "view": view})
            assert answer.status_code in (200, 400), (view, text)
            check_page(answer.text)
    for path in ("list?recorded=yes", "r/used?name=hub"):
        for form in ("turtle", "json-ld", "n-quads", "csv", "json"):
            data = reader.get(f"/explore/mayros/{path}&format={form}")
            assert data.status_code == 200, (path, form)
            assert data.headers["x-content-type-options"] == "nosniff"
            assert "text/html" not in data.headers["content-type"]
    for path in ("map?name=hub", "map"):
        form = f"/explore/mayros/{path}{'&' if '?' in path else '?'}format="
        tags = {element.tag.rpartition("}")[2] for element in ET.fromstring(reader.get(f"{form}svg").content).iter()}
        assert tags <= {"svg", "style", "g", "path", "circle", "rect", "line", "text", "tspan", "title"}
        nodes = reader.get(f"{form}json").json()["nodes"]
        assert all(node.get("href", "/explore/").startswith("/explore/") for node in nodes)


@pytest.mark.parametrize("path", ["", "/r", "/r/used", "/find", "/list", "/proofs", "/sparql", "/map"])
def test_no_form_of_a_page_fails_where_there_is_nothing(reader: httpx.Client, path: str) -> None:
    forms = ("turtle", "json-ld", "n-quads", "rdf-xml", "csv", "json", "svg", "nanopub", "void", "trig")
    for given in ("", "&name=nope", "&name=", "&q=", "&query=", "&asOf=", "&name=http://x/%EF%BC%9C"):
        for form in forms:
            answer = reader.get(f"/explore/mayros{path}?format={form}{given}")
            assert answer.status_code in (200, 303, 400, 403, 404, 406), (path, form, given)
    page = reader.get(f"/explore/mayros{path}?name=nope&q=")
    for link in check_page(page.text).links if page.status_code == 200 else ():
        if "format=" in link:
            assert reader.get(urljoin(str(page.url), link)).status_code in (200, 406), link


@pytest.mark.parametrize("name", ["\u202e", "\ufe0f\u200b", "http://example.org/\uff1c"])
def test_a_name_whose_visible_letters_are_no_name_has_its_page(
    running: Running, reader: httpx.Client, name: str
) -> None:
    running.plugin.graph.create_triple({"subject": name, "predicate": "p", "object": 1})
    answer = reader.get("/explore/mayros/r?name=" + quote(name, safe=""))
    assert answer.status_code == 200, answer.text
    check_page(answer.text)


def test_ten_thousand_predicates_and_a_name_of_64_kilobytes_stay_within_the_budget(running: Running) -> None:
    wide = NamespacedGraph(running.plugin.graph.store, "wide")
    wide.create_triples([{"subject": "s", "predicate": f"p{n}", "object": n} for n in range(10_000)])
    wide.create_triples([{"subject": "n" * 40_000, "predicate": "q" * 10_000, "object": {"node": "s"}}])
    client = running.client(running.token("wide", ("wide",), ("read",)))
    client.headers.update(HTML)
    assert re.search(r"\d\+ other predicates", check_page(client.get("/explore/wide/r?name=s").text).text)
    check_page(client.get("/explore/wide/list?limit=100").text)
    page = check_page(client.get("/explore/wide/r/used?name=s").text, 60_000)
    assert "40,000 characters" in page.text


def test_a_table_of_hostile_rows_is_within_400_kilobytes(running: Running) -> None:
    graph = NamespacedGraph(running.plugin.graph.store, "rows")
    worst = "\"'<&" * 2_000
    for n in range(100):
        who = Provenance(f"{worst[:200]}{n}", worst[:200], worst[:200])
        graph.create_triples([{"subject": f"{worst[:90]}{n}", "predicate": worst[:90], "object": worst}], who)
    client = running.client(running.token("rows", ("rows",), ("read",)))
    client.headers.update(HTML)
    page = check_page(client.get("/explore/rows/list?limit=100").text, 400 << 10)
    assert len([link for link in page.links if "/t/" in link]) == 100
