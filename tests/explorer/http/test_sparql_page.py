"""The page of a query: its answer in every view, its faults, and queries that are not run."""

from __future__ import annotations

import json

import httpx
import pytest
from pyoxigraph import QueryResultsFormat, RdfFormat, parse, parse_query_results

from cortex_skills.features.explorer import query_answers
from tests.explorer.http.browsing import CLICKED, FOREIGN, PAGE, TYPED, signed_in
from tests.server.serving import Running

ROWS = "SELECT ?s ?o WHERE { ?s <urn:cortex:queried:size> ?o } ORDER BY ?o"
TRIPLES = "CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }"
PATH = "/explore/queried/sparql"


@pytest.fixture(scope="module")
def reader(running: Running) -> httpx.Client:
    writer = running.client(running.token("queried-writer", ("queried",), ("read", "write")))
    triples = [{"subject": f"s{place:03}", "predicate": "size", "object": place} for place in range(120)]
    triples.append({"subject": "s000", "predicate": "note", "object": "<script>alert(1)</script>\u202e"})
    graph = running.server.config.app.state.service.graph("queried")
    graph.create_triple({"subject": "imported", "predicate": "origin", "object": "a file"})
    assert writer.post("/api/v1/triples/batch", json={"triples": triples}).status_code < 300
    return signed_in(running, running.token("queried-reader", ("queried",), ("read",)))


def get(client: httpx.Client, query: str, headers: dict[str, str] = CLICKED, **parameters: str) -> httpx.Response:
    return client.get(PATH, params={"query": query, **parameters}, headers=headers)


def test_without_a_query_the_page_has_a_field_and_examples(reader: httpx.Client) -> None:
    page = reader.get(PATH, headers=CLICKED)
    assert page.status_code == 200
    assert '<textarea name="query"' in page.text
    assert "How often each predicate is used" in page.text


def test_a_table_shows_the_first_rows_and_says_so(reader: httpx.Client) -> None:
    page = get(reader, ROWS)
    assert page.status_code == 200
    assert "the first 100 rows" in page.text
    assert page.text.count("<tr><td>") == 100
    assert "Show up to 1,000 rows" in page.text
    whole = get(reader, ROWS, limit="1000")
    assert "120 rows, the whole answer" in whole.text
    assert whole.text.count("<tr><td>") == 120
    assert get(reader, ROWS, limit="1001").status_code == 400


def test_values_are_text_and_what_hides_is_shown(reader: httpx.Client) -> None:
    page = get(reader, "SELECT ?o WHERE { ?s <urn:cortex:queried:note> ?o }").text
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "U+202E" in page
    assert "\u202e" not in page


@pytest.mark.parametrize("answer", ["Yes", "No"])
def test_a_question_is_answered_in_words(reader: httpx.Client, answer: str) -> None:
    value = 1 if answer == "Yes" else -1
    assert f"{answer}: there is" in get(reader, f"ASK {{ ?s ?p {value} }}").text


def test_triples_are_a_table_a_map_and_text(reader: httpx.Client) -> None:
    assert "122 triples, the whole answer" in get(reader, TRIPLES, limit="1000").text
    mapped = get(reader, TRIPLES, view="map").text
    assert '<svg viewBox="' in mapped.partition('class="stage map"')[2]
    assert 'href="/explore/queried/map?query=' in mapped
    raw = get(reader, TRIPLES, view="raw").text
    assert "&lt;urn:cortex:queried:s001&gt; &lt;urn:cortex:queried:size&gt; &#34;1&#34;" in raw


def test_rows_of_a_name_and_a_number_are_a_chart(reader: httpx.Client) -> None:
    chart = get(reader, ROWS, view="chart").text
    assert 'aria-label="o by s, ' in chart
    assert 'class="bar"' in chart
    assert "A chart needs a column of numbers" in get(reader, TRIPLES, view="chart").text
    assert "A map needs triples" in get(reader, ROWS, view="map").text


def test_a_broken_query_is_a_page_with_the_place_and_keeps_the_text(reader: httpx.Client) -> None:
    text = "SELECT ?s WHERE {\n  ?s nowhere:p ?o </textarea><b>\n}"
    page = get(reader, text)
    assert page.status_code == 400
    assert "Line 2, column 6" in page.text
    assert '<mark class="here">nowhere:p ?o' in page.text
    assert "begin with `PREFIX nowhere: &lt;…&gt;`" in page.text
    assert "</textarea><b>" not in page.text
    assert "nowhere:p ?o &lt;/textarea&gt;&lt;b&gt;" in page.text
    assert get(reader, text, headers={**CLICKED, "Accept": "application/json"}, format="json").json()["code"] == (
        "invalid_arguments"
    )


def test_a_query_from_elsewhere_is_shown_and_not_run(reader: httpx.Client, running: Running) -> None:
    for headers, parameters in ((TYPED, {}), (CLICKED, {"followed": "1"})):
        page = get(reader, ROWS, headers=headers, **parameters)
        assert page.status_code == 200
        assert "was not run" in page.text
        assert "<tr><td>" not in page.text
        assert "ORDER BY ?o</textarea>" in page.text
        refused = get(reader, ROWS, headers=headers, format="csv", **parameters)
        assert (refused.status_code, "s001" in refused.text) == (403, False)
    first = get(reader, ROWS, headers=FOREIGN).text
    assert ("<textarea" in first, "<tr>" in first, "followed=1" in first) == (False, False, True)
    mapped = reader.get("/explore/queried/map", params={"query": TRIPLES}, headers=TYPED)
    assert mapped.status_code == 303
    assert mapped.headers["location"].startswith("/explore/queried/sparql?query=")
    assert mapped.headers["location"].endswith("&followed=1")


def test_the_whole_answer_is_taken_away_in_every_format(reader: httpx.Client) -> None:
    for name, form in (
        ("json", QueryResultsFormat.JSON),
        ("xml", QueryResultsFormat.XML),
        ("tsv", QueryResultsFormat.TSV),
    ):
        taken = get(reader, ROWS, format=name)
        assert len(list(parse_query_results(taken.content, form))) == 120
        assert taken.headers["content-disposition"].startswith('attachment; filename="sparql.')
    assert get(reader, ROWS, format="csv").text.count("\r\n") == 121
    for name, form in (
        ("turtle", RdfFormat.TURTLE),
        ("n-triples", RdfFormat.N_TRIPLES),
        ("rdf-xml", RdfFormat.RDF_XML),
    ):
        assert len(list(parse(get(reader, TRIPLES, format=name).content, form))) == 122
    assert get(reader, ROWS, format="turtle").status_code == 406


def test_only_namespaces_of_the_token_are_read(reader: httpx.Client, running: Running) -> None:
    writer = running.client(running.token("unseen-writer", ("unseen",), ("read", "write")))
    writer.post("/api/v1/triples", json={"subject": "s", "predicate": "size", "object": 1})
    assert "0 rows, the whole answer" in get(reader, "SELECT * { ?s <urn:cortex:unseen:size> ?o }").text
    assert get(reader, "SELECT * { GRAPH <urn:cortex:unseen> { ?s ?p ?o } }").text.count("<tr><td>") == 0
    assert reader.get("/explore/unseen/sparql", headers=CLICKED).status_code == 404


def test_rows_that_came_before_a_limit_are_shown_with_the_reason(
    reader: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(query_answers, "PAGE_BYTES", 1 << 10)
    wide = f"?a <urn:cortex:queried:size> ?x . ?b <urn:cortex:queried:size> ?y BIND('{'w' * 500}' AS ?w)"
    page = get(reader, f"SELECT ?a ?x ?y ?w {{ {wide} }}", limit="1000")
    assert page.status_code == 200
    assert "These are not all: a page shows 0 MiB of an answer" in page.text
    assert 50 < page.text.count("<tr><td>") < 1000


def test_the_editor_gets_names_and_faults_without_a_run(reader: httpx.Client) -> None:
    names = {each["label"]: each for each in reader.get(PATH, params={"format": "names"}).json()["names"]}
    assert names["queried:size"] == {"label": "queried:size", "kind": "predicate", "count": 120}
    assert names["queried:"]["kind"] == "namespace"
    for text, line, column in ((ROWS, 0, 0), ("SELECT * {\n ?s ?p }", 2, 9), ("SELECT * { ?s a nowhere:x }", 1, 17)):
        found = get(reader, text, format="check").json()["problems"]
        assert [(each["line"], each["column"]) for each in found] == ([(line, column)] if line else [])
    heavy = " ".join(f"VALUES ?v{place} {{ {' '.join(map(str, range(2000)))} }}" for place in range(2))
    assert get(reader, f"SELECT * {{ {heavy} }} ORDER BY ?v1", format="check").json() == {"problems": []}


def test_names_of_the_graph_come_first_and_bring_the_prefix_that_they_need(running: Running) -> None:
    graph = running.server.config.app.state.service.graph("completed")
    for predicate in ("<http://xmlns.com/foaf/0.1/name>", "<http://shop.example/v#rare>", "<http://other.example/v#x>"):
        graph.create_triple({"subject": "s", "predicate": predicate, "object": 1})
    graph.create_triple({"subject": "t", "predicate": "<http://xmlns.com/foaf/0.1/name>", "object": 1})
    graph.counts.latest(wait_s=30)
    reader = running.client(running.token("completed-reader", ("completed",), ("read",)))
    names = reader.get("/explore/completed/sparql", params={"format": "names"}).json()["names"]
    assert names[0] == {"label": "foaf:name", "kind": "predicate", "count": 2}
    made = {each["declare"].split()[-1]: each for each in names[:3] if "declare" in each}
    assert set(made) == {"<http://shop.example/v#>", "<http://other.example/v#>"}
    assert {each["label"].partition(":")[0] for each in made.values()} == {"v", "v2"}
    for each in made.values():
        query = f"{each['declare']} SELECT * {{ ?s {each['label']} ?o }}"
        page = reader.get("/explore/completed/sparql", params={"query": query}, headers=PAGE)
        assert "1 row, the whole answer" in page.text
    labels = [each["label"] for each in names]
    assert (labels.count("foaf:name"), labels.index("foaf:knows") > 2) == (1, True)


def test_a_fault_names_what_was_expected_in_words(reader: httpx.Client) -> None:
    (found,) = get(reader, "SELECT ?s WHERE { ?s ?p }", format="check").json()["problems"]
    assert found["message"] == "expected an object: a triple has three parts"
    page = get(reader, "SELECT ?s WHERE { ?s queried:size }").text.replace("&#39;", "")
    assert "expected a variable, a name or an IRI" in page


def test_a_shared_link_keeps_its_view_and_its_moment(reader: httpx.Client) -> None:
    page = get(reader, ROWS, headers=CLICKED, followed="1", view="chart", asOf="2026-01-01").text
    assert '<input type="hidden" name="view" value="chart">' in page
    assert 'name="asOf" value="2026-01-01"' in page
    assert "data-followed" in page


def test_a_caller_runs_two_queries_at_a_time(reader: httpx.Client) -> None:
    key = "token:queried-reader"
    with query_answers._place_of(key), query_answers._place_of(key):
        page = get(reader, ROWS)
    assert page.status_code == 503
    assert "2 queries of yours are running already" in page.text
    assert get(reader, ROWS).status_code == 200


def test_a_map_of_a_resource_is_data_a_picture_and_a_table(reader: httpx.Client) -> None:
    page = reader.get("/explore/queried/map", params={"name": "s000", "steps": "1"}, headers=CLICKED)
    assert page.status_code == 200
    assert "queried:s000" in page.text
    data = reader.get("/explore/queried/map", params={"name": "s000", "steps": "1", "format": "json"}).json()
    assert (data["version"], data["more"], len(data["nodes"]), len(data["values"])) == (2, [], 1, 2)
    assert data["nodes"][0]["label"] == "queried:s000"
    assert data["nodes"][0]["href"].startswith("/explore/queried/r?name=")
    assert "\u202e" not in json.dumps(data, ensure_ascii=False)
    alone = reader.get("/explore/queried/map", params={"name": "s000", "format": "svg"})
    assert alone.headers["content-disposition"] == 'attachment; filename="map.svg"'
    assert b"<a" not in alone.content
    assert reader.get("/explore/queried/map", params={"name": "s000", "steps": "4"}, headers=CLICKED).status_code == 400


def test_what_an_address_of_a_map_has_is_ignored_where_it_is_nothing(reader: httpx.Client) -> None:
    plain = reader.get("/explore/queried/map", params={"name": "s000", "format": "json"}).json()
    (node,) = plain["nodes"]
    for name, value in (("pin", "a,--5,3.b,,.c,1"), ("expand", "0000000000.all-x"), ("hide", "..-"), ("at", "x")):
        given = {"name": "s000", "format": "json", name: value}
        assert reader.get("/explore/queried/map", params=given).json() == plain
    pinned = {"name": "s000", "format": "json", "pin": f"{node['id']},12,-7"}
    assert [(each["x"], each["y"]) for each in reader.get("/explore/queried/map", params=pinned).json()["nodes"]] == [
        (12, -7)
    ]
    for value in ("<script>", "a b", "é"):
        answer = reader.get("/explore/queried/map", params={"name": "s000", "hide": value})
        assert answer.status_code == 400


def test_a_query_of_the_past_states_how_many_statements_have_no_time(running: Running, reader: httpx.Client) -> None:
    graph = running.server.config.app.state.service.graph("queried")
    undated = graph.counts.latest(wait_s=30).undated
    assert undated == 1
    page = get(reader, ROWS, asOf="2026-01-01")
    assert f"{undated:,} statements without a known time, such as imported ones, are included." in page.text
    assert "without a known time" not in get(reader, ROWS).text


def test_what_of_an_answer_may_be_wrong_is_shown(reader: httpx.Client) -> None:
    deep = "?n"
    for _ in range(8):
        deep = f"STRLEN(STR({deep} + 1))"
    page = get(reader, f"SELECT ({deep} AS ?x) {{ ?s ?p ?n FILTER(?n > 12345678901234567890123) }}").text
    assert "The answer may be wrong: operations nest too deeply" in page
    assert "may be wrong" not in get(reader, ROWS).text
