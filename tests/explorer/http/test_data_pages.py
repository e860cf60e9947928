"""The pages of data: what they show, their forms, and that the RDF of a page is what the store holds."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree as ET

import httpx
import pytest
from pyoxigraph import CanonicalizationAlgorithm, Dataset, NamedNode, Quad, RdfFormat, parse

from cortex_graph import NamespacedGraph, Provenance
from cortex_graph.exceptions import QueryTimeout
from cortex_graph.index import triple_index
from cortex_graph.index.counting import NamespaceCounts
from cortex_graph.index.counts import KeptCounts
from cortex_graph.index.triple_index import TripleIndex
from cortex_graph.naming.names import WELL_KNOWN_VOCABULARIES
from cortex_skills.features.explorer.pages import resource, triple_list
from tests.explorer.hostile import TEXTS, check_page
from tests.server.proof_cases import Elsewhere
from tests.server.serving import Running, served

HTML = {"Accept": "text/html"}
TIME = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
RDF = {
    "turtle": RdfFormat.TURTLE,
    "json-ld": RdfFormat.JSON_LD,
    "n-quads": RdfFormat.N_QUADS,
    "rdf-xml": RdfFormat.RDF_XML,
}


def fill(graph: NamespacedGraph) -> None:
    """A small warehouse: asserted, imported and withdrawn triples."""
    watch = Provenance("stock-watch", "1.2.0", "a1", TIME)
    graph.create_triples([{"subject": "nails", "predicate": "reorder", "object": True}], watch)
    rows = [
        {"subject": name, "predicate": "inStock", "object": count} for name, count in (("nails", 3), ("screws", 250))
    ]
    rows += [{"subject": f"order:{n}", "predicate": "contains", "object": {"node": "nails"}} for n in range(12)]
    rows.append({"subject": "nails", "predicate": "label", "object": {"value": "clous", "language": "fr"}})
    graph.create_triples(rows)
    gone = graph.create_triples([{"subject": "bolts", "predicate": "reorder", "object": True}], watch)
    graph.withdraw(gone[0]["id"], Provenance(agent="a2"))


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with served(tmp_path_factory.mktemp("explorer-data")) as server:
        fill(server.plugin.graph)
        yield server


@pytest.fixture(scope="module")
def reader(running: Running) -> httpx.Client:
    client = running.client(running.token("reader", ("mayros",), ("read",)))
    client.headers.update(HTML)
    return client


def id_of(running: Running, **pattern: object) -> str:
    (row,) = running.plugin.graph.list_triples(pattern)["triples"]
    return str(row["id"])


def stored(running: Running, **pattern: object) -> Dataset:
    graph = running.plugin.graph
    return Dataset(
        graph.quad_of({k: row[k] for k in ("subject", "predicate", "object")})
        for row in graph.list_triples(pattern)["triples"]
    )


def test_the_overview_counts_and_names_who_asserted(running: Running, reader: httpx.Client) -> None:
    running.plugin.graph.counts.latest(wait_s=30)
    page = check_page(reader.get("/explore/mayros").text, 60_000)
    assert "Namespace mayros" in page.text
    assert "stock-watch 1.2.0" in page.text.replace("\n", " ")
    assert 'title="2026-11-20 12:00:00 UTC"' in reader.get("/explore/mayros").text
    assert f"/explore/mayros/t/{id_of(running, subject='nails', predicate='reorder')}" in page.links
    assert "/explore/mayros/list?predicate=mayros:contains" in page.links
    assert "Calls of the last hour" not in page.text
    document = reader.get("/explore/mayros?format=json").json()
    triples = running.plugin.graph.count()
    assert (document["triples"], document["withdrawn"]) == (triples, 1)
    assert "a1" in {each["provenance"]["agent"] for each in document["latest"]}
    void = Dataset(parse(reader.get("/explore/mayros?format=void").content, RdfFormat.TURTLE))
    assert f'"{triples}"^^<http://www.w3.org/2001/XMLSchema#integer>' in str(void)


def test_the_overview_states_nothing_that_is_not_counted_yet(
    reader: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(KeptCounts, "latest", lambda self, wait_s=0.0: NamespaceCounts(triples=4))
    page = check_page(reader.get("/explore/mayros").text, 60_000)
    assert "Triples4 at least" in " ".join(page.text.split())
    assert "The first count of this graph is under way" in page.text
    assert "stock-watch" in page.text
    for unknown in ("Resources", "Withdrawn", "without", "No record", "There is no triple"):
        assert unknown not in page.text


def test_a_resource_has_its_fan_its_tables_and_who_asserted(running: Running, reader: httpx.Client) -> None:
    response = reader.get("/explore/mayros/r?name=nails")
    page = check_page(response.text, 60_000)
    assert "15 of 16" not in page.text
    assert "10 of 15 triples, grouped by predicate" in page.text
    assert "5 more" in page.text
    assert "clous" in page.text
    assert "stock-watch" in page.text
    assert "Evidence: agent, skill recorded; rules, proof, signature not recorded" in response.text
    assert "/explore/mayros/r/used?name=mayros:nails&predicate=mayros:contains" in page.links
    assert response.headers["vary"] == "Accept, Accept-Language, Cookie"


@pytest.mark.parametrize("form", RDF)
def test_the_rdf_of_a_page_is_isomorphic_to_what_the_store_holds(
    running: Running, reader: httpx.Client, form: str
) -> None:
    for path, pattern in (
        ("r?name=nails", {"subject": "nails"}),
        ("r/used?name=nails", {"object": {"node": "nails"}}),
        ("list?predicate=inStock", {"predicate": "inStock"}),
        ("list?skill=stock-watch", {"predicate": "reorder"}),
    ):
        answer = reader.get(f"/explore/mayros/{path}&format={form}")
        assert answer.status_code == 200, answer.text
        read = Dataset(parse(answer.content, RDF[form]))
        wanted = stored(running, **pattern)
        if not RDF[form].supports_datasets or form == "json-ld":
            wanted = Dataset(Quad(*quad.triple) for quad in wanted)
        for both in (read, wanted):
            both.canonicalize(algorithm=CanonicalizationAlgorithm.UNSTABLE)
        assert len(wanted) > 0
        assert read == wanted


def test_accept_selects_a_form_as_format_does(reader: httpx.Client) -> None:
    for accept, kind in (("text/turtle", "text/turtle; charset=utf-8"), ("application/ld+json", "application/ld+json")):
        answer = reader.get("/explore/mayros/r?name=nails", headers={"Accept": accept})
        assert answer.headers["content-type"] == kind
    assert reader.get("/explore/mayros/r?name=nails", headers={"Accept": "image/png"}).status_code == 406
    assert reader.get("/explore/mayros/r?name=nails&format=docx").status_code == 406


def test_csv_has_full_iris_and_a_sheet_gets_quotes(running: Running, reader: httpx.Client) -> None:
    running.plugin.graph.create_triple({"subject": "sheet", "predicate": "formula", "object": "=1+1"})
    plain, sheet = (reader.get(f"/explore/mayros/r?name=sheet&format=csv{more}") for more in ("", "&csv=sheet"))
    rows = [list(csv.reader(io.StringIO(answer.text))) for answer in (plain, sheet)]
    assert rows[0][1] == [
        *("urn:cortex:mayros:sheet", "urn:cortex:mayros:formula", "=1+1"),
        *("http://www.w3.org/2001/XMLSchema#string", ""),
    ]
    assert rows[1][1][2] == "'=1+1"
    assert plain.headers["content-disposition"] == 'attachment; filename="resource.csv"'


def test_the_picture_as_a_file_has_no_links_and_a_policy_of_its_own(reader: httpx.Client) -> None:
    answer = reader.get("/explore/mayros/r?name=nails&format=svg")
    assert answer.headers["content-security-policy"] == "default-src 'none'; style-src 'unsafe-inline'; sandbox"
    assert answer.headers["content-disposition"].startswith("attachment")
    assert b"href" not in answer.content
    assert ET.fromstring(answer.content).tag == "{http://www.w3.org/2000/svg}svg"


def test_a_nanopublication_has_its_four_graphs(running: Running, reader: httpx.Client) -> None:
    triple_id = id_of(running, subject="nails", predicate="reorder")
    for path in ("r?name=nails&format=nanopub", f"t/{triple_id}?format=trig"):
        quads = list(parse(reader.get(f"/explore/mayros/{path}").content, RdfFormat.TRIG))
        graphs = {str(quad.graph_name).rpartition("#")[2].rstrip(">") for quad in quads}
        assert graphs == {"head", "assertion", "provenance", "pubinfo"}
        assertion = {quad.triple for quad in quads if str(quad.graph_name).endswith("#assertion>")}
        pattern = {"subject": "nails"} if path.startswith("r?") else {"subject": "nails", "predicate": "reorder"}
        assert assertion == {quad.triple for quad in stored(running, **pattern)}
        record = running.plugin.graph.names.record(triple_id)
        assert [quad for quad in quads if quad.subject == record and "generatedAtTime" in str(quad.predicate)]


def test_a_nanopublication_is_well_formed_and_names_its_creators(running: Running, reader: httpx.Client) -> None:
    """The criteria of nanopub.org/guidelines, and its recommendations about attribution and time."""
    np, prov, dct = "http://www.nanopub.org/nschema#", "http://www.w3.org/ns/prov#", "http://purl.org/dc/terms/"
    recorded = id_of(running, subject="nails", predicate="reorder")
    unrecorded = running.plugin.graph.create_triple({"subject": "imported", "predicate": "p", "object": 1})["id"]
    for triple_id in (recorded, unrecorded):
        quads = list(parse(reader.get(f"/explore/mayros/t/{triple_id}?format=trig").content, RdfFormat.TRIG))
        (head,) = [quad for quad in quads if quad.object == NamedNode(f"{np}Nanopublication")]
        node, parts = head.subject, {}
        for link in ("hasAssertion", "hasProvenance", "hasPublicationInfo"):
            (quad,) = [quad for quad in quads if quad.predicate == NamedNode(np + link)]
            assert (quad.subject, quad.graph_name) == (node, head.graph_name)
            parts[link] = quad.object
        graphs = {node, head.graph_name, *parts.values()}
        assert len(graphs) == 5
        assert {quad.graph_name for quad in quads} == graphs - {node}
        about = [quad for quad in quads if quad.graph_name == parts["hasProvenance"]]
        attributed = {quad.object for quad in about if quad.predicate == NamedNode(f"{prov}wasAttributedTo")}
        assert parts["hasAssertion"] in {quad.subject for quad in about}
        typed = {quad.subject for quad in about if quad.object == NamedNode(f"{prov}Agent")}
        assert attributed <= typed
        info = [quad for quad in quads if quad.graph_name == parts["hasPublicationInfo"]]
        assert {quad.subject for quad in info} == {node}
        creators = {quad.object for quad in info if quad.predicate == NamedNode(f"{dct}creator")}
        expected = {each for each in attributed if ":skill:" not in each.value} or {running.plugin.graph.names.graph}
        assert creators == expected
        assert [quad for quad in info if quad.predicate == NamedNode(f"{dct}created")]
    running.plugin.graph.delete_triple(unrecorded)


def test_an_unknown_name_is_not_found_with_the_nearest_names(running: Running, reader: httpx.Client) -> None:
    answer = reader.get("/explore/mayros/r?name=nailz")
    assert answer.status_code == 404
    assert "/explore/mayros/r?name=mayros:nails" in check_page(answer.text).links
    for form in ("turtle", "svg", "json", "nanopub", "csv"):
        refused = reader.get(f"/explore/mayros/r?name=nailz&format={form}", headers={"Accept": "*/*"})
        assert refused.status_code == 404, form
    other = reader.get("/explore/secret/r?name=nails")
    assert (other.status_code, "nearest" in other.text) == (404, False)


def test_bad_parameters_name_their_field(reader: httpx.Client) -> None:
    for path, field in (
        ("r", "name"),
        ("r?name=a&unknown=1", "unknown"),
        ("r/used?name=nails&cursor=nonsense", "cursor"),
        ("list?limit=1001", "limit"),
        ("list?limit=x", "limit"),
        ("list?cursor=AAAA", "cursor"),
        ("list?agent=a1&cursor=AAAA", "cursor"),
        ("list?since=tomorrow", "since"),
        ("proofs?verdict=maybe", "verdict"),
    ):
        answer = reader.get(f"/explore/mayros/{path}")
        assert answer.status_code == 400, path
        assert field in check_page(answer.text).text.lower(), path


def test_lists_are_paged_by_cursors_that_find_everything(running: Running, reader: httpx.Client) -> None:
    seen: set[str] = set()
    href = "/explore/mayros/r/used?name=nails&limit=5"
    for _ in range(3):
        page = check_page(reader.get(href).text)
        seen |= {link for link in page.links if link.startswith("/explore/mayros/t/")}
        href = next((link for link in page.links if "cursor=" in link and "format=" not in link), "")
        if not href:
            break
    assert len(seen) == 12


def test_a_list_filters_and_offers_facets(running: Running, reader: httpx.Client) -> None:
    running.plugin.graph.counts.latest(wait_s=30)
    text = reader.get("/explore/mayros/list?skill=stock-watch").text
    page = check_page(text, 60_000)
    assert "Assertions, the newest first" in page.text
    assert text.count('title="2026-11-20 12:00:00 UTC"') == 1
    assert "/explore/mayros/list?skill=stock-watch&predicate=mayros:contains" in page.links
    assert "No triple matches" in check_page(reader.get("/explore/mayros/list?subject=nothing").text).text
    rows = reader.get("/explore/mayros/list?object=%7B%22node%22:%22nails%22%7D&format=json").json()["triples"]
    assert len(rows) == 12


def test_the_evidence_of_a_list_is_a_kind_of_proof(running: Running, tmp_path: Path) -> None:
    elsewhere, graph = Elsewhere("proved", tmp_path), running.server.config.app.state.service.graph("proved")
    graph.create_triples(
        [{"subject": "alice", "predicate": "isVerified", "object": True}], Provenance("kyc", "1.0.0", "a1")
    )
    graph.create_triple({"subject": "nails", "predicate": "inStock", "object": 3})
    writer = running.client(running.token("prover", ("proved",), ("read", "write")))
    reader = running.client(running.token("proved-reader", ("proved",), ("read",)))
    reader.headers.update(HTML)
    sent = writer.post(
        "/api/v1/proofs", params={"namespace": "proved"}, json={"proof_type": "pol", "proof_data": elsewhere.pol()}
    )
    assert sent.status_code == 201, sent.text
    page = check_page(reader.get("/explore/proved/list").text)
    assert "/explore/proved/list?evidence=pol" in page.links
    rows = {
        kind: reader.get(f"/explore/proved/list?evidence={kind}&format=json").json()["assertions"]
        for kind in ("pol", "zk")
    }
    assert [(row["subject"], row["predicate"]) for row in rows["pol"]] == [("proved:alice", "proved:isVerified")]
    assert rows["zk"] == []
    for more in ("", "&skill=kyc", "&limit=1"):
        shown = check_page(reader.get(f"/explore/proved/list?evidence=pol{more}").text)
        assert shown.text.count("kyc 1.0.0") == 1
        assert "No triple matches" in reader.get("/explore/proved/list?evidence=pol&agent=nobody").text
    turtle = reader.get("/explore/proved/list?evidence=pol&format=turtle").text
    assert (turtle.count("isVerified"), turtle.count("inStock")) == (1, 0)
    assert "No triple matches" in reader.get("/explore/proved/list?evidence=pol&asOf=2020-01-01").text
    refused = reader.get("/explore/proved/list?evidence=nonsense")
    assert (refused.status_code, "evidence" in refused.text) == (400, True)


def test_an_assertion_shows_its_thread_and_never_says_verified_of_what_was_not(
    running: Running, reader: httpx.Client
) -> None:
    asserted = reader.get(f"/explore/mayros/t/{id_of(running, subject='nails', predicate='reorder')}")
    page = check_page(asserted.text, 60_000)
    assert asserted.text.count('<li class="open"') == 3
    assert "a1" in page.text
    assert "stock-watch 1.2.0" in page.text
    assert "not loaded here: its signature was not checked" in page.text
    assert "none: no issuer outside vouches for it" in page.text
    assert "A bundle needs a Proof of Logic" in page.text
    assert "prov:" in page.text or "prov#generatedAtTime" in page.text
    imported = reader.get(f"/explore/mayros/t/{id_of(running, subject='screws')}")
    assert imported.text.count('<li class="open"') == 5
    assert "imported" in imported.text
    assert ">verified<" not in imported.text.partition("What this establishes")[0]


def test_a_withdrawn_assertion_has_its_page(running: Running, reader: httpx.Client) -> None:
    (gone,) = running.plugin.graph.withdrawn({"subject": "bolts", "predicate": "reorder"})
    page = check_page(reader.get(f"/explore/mayros/t/{gone.triple_id}").text)
    assert "Withdrawn" in page.text
    assert "by a2" in page.text
    for wrong in ("0" * 64, "nonsense", "F" * 64):
        assert reader.get(f"/explore/mayros/t/{wrong}").status_code == 404


def test_a_proof_is_checked_for_its_reader(running: Running, reader: httpx.Client, tmp_path_factory) -> None:
    elsewhere = Elsewhere("mayros", tmp_path_factory.mktemp("elsewhere"))
    graph = running.plugin.graph
    graph.create_triples(
        [{"subject": "alice", "predicate": "isVerified", "object": True}], Provenance("kyc", "1.0.0", "a1")
    )
    writer = running.client(running.token("writer", ("mayros",), ("read", "write")))
    for kind, document in (("pol", elsewhere.pol()), ("credential", elsewhere.credential())):
        sent = writer.post("/api/v1/proofs", json={"proof_type": kind, "proof_data": document})
        assert sent.status_code == 201, sent.text
    listed = check_page(reader.get("/explore/mayros/proofs").text, 60_000)
    assert listed.text.count("Not checked") >= 2
    links = sorted({link for link in listed.links if link.startswith("/explore/mayros/proofs/")})
    assert len(links) == 2
    for link in links:
        page = check_page(reader.get(link).text, 60_000)
        assert "for you, now" in page.text
        assert "alice" in page.text
        document = reader.get(f"{link}?format=json").json()
        assert document["status"] in ("verified", "well-formed", "not checked")
        assert document["checks"]
    checked = check_page(reader.get("/explore/mayros/proofs?verdict=refuted").text)
    assert "None" in checked.text
    assert reader.get("/explore/mayros/proofs/" + "0" * 64).status_code == 404
    page = check_page(reader.get(f"/explore/mayros/t/{id_of(running, subject='alice')}").text, 60_000)
    assert "Proof of Logic" in page.text
    assert "by a signer that is not trusted here" in page.text
    document = reader.get(f"/explore/mayros/t/{id_of(running, subject='alice')}?format=json").json()
    assert {part["kind"] for part in document["checks"] if "kind" in part} == {"pol", "credential"}
    assert json.dumps(document)


def test_a_predicate_shows_a_plot_of_its_values(running: Running, reader: httpx.Client) -> None:
    page = check_page(reader.get("/explore/mayros/r?name=inStock").text)
    assert "2 triples have it as their predicate" in page.text
    assert "As a predicate" in page.text


def test_a_long_literal_is_clipped_and_comes_whole_as_text(running: Running, reader: httpx.Client) -> None:
    text = "\u202e<b>" + "long line\n" * 10_000
    row = running.plugin.graph.create_triple({"subject": "long", "predicate": "text", "object": text})
    page = check_page(reader.get(f"/explore/mayros/t/{row['id']}").text, 60_000)
    assert f"Show all, {len(text):,} characters" in page.text
    whole = reader.get(f"/explore/mayros/t/{row['id']}?format=text")
    assert (whole.text, whole.headers["content-type"]) == (text, "text/plain; charset=utf-8")
    check_page(reader.get("/explore/mayros/r?name=long").text, 60_000)


def test_memories_are_shown_to_who_may_read_them(running: Running, reader: httpx.Client) -> None:
    from cortex_skills.features.memory.model import NewMemory

    running.plugin.graph.create_triple({"subject": "agent:a1", "predicate": "role", "object": "auditor"})
    running.plugin.memories.remember(NewMemory("ask about nails", 0.5, ()), agent="a1")
    assert "ask about nails" not in reader.get("/explore/mayros/r?name=agent:a1").text
    trusted = running.client(running.token("trusted", ("mayros",), ("read", "memories")))
    page = check_page(trusted.get("/explore/mayros/r?name=agent:a1", headers=HTML).text)
    assert "ask about nails" in page.text


def test_pages_are_read_as_of_a_moment_and_keep_it_in_their_links(running: Running, reader: httpx.Client) -> None:
    before, after = "2026-11-19", "2026-11-21T00:00:00Z"
    triple_id = id_of(running, subject="nails", predicate="reorder")
    early = check_page(reader.get(f"/explore/mayros/r?name=nails&asOf={before}").text, 60_000)
    assert "reorder" not in early.text
    assert "inStock" in early.text  # imported: of unknown time
    late = check_page(reader.get("/explore/mayros/r", params={"name": "bolts", "asOf": after}).text, 60_000)
    assert "reorder" in late.text  # withdrawn since
    now = check_page(reader.get("/explore/mayros/r?name=bolts").text, 60_000)
    assert ("Nothing." in now.text, "History" in now.text) == (True, True)
    within = [link for link in late.links if link.startswith(("/explore/mayros/r", "/explore/mayros/t/"))]
    assert [link for link in within if "asOf=" not in link] == ["/explore/mayros/r?name=bolts"]  # back to now
    assert (
        f"/explore/mayros/t/{triple_id}?asOf=2026-11-21T00:00:00Z"
        in check_page(reader.get("/explore/mayros/list", params={"asOf": after, "skill": "stock-watch"}).text).links
    )
    for moment, words in ((before, "this triple was not in the graph"), (after, "this triple was in the graph")):
        page = check_page(reader.get(f"/explore/mayros/t/{triple_id}", params={"asOf": moment}).text)
        assert words in page.text
    turtle = reader.get("/explore/mayros/r", params={"name": "bolts", "asOf": after, "format": "turtle"}).text
    assert "reorder" in turtle
    overview = check_page(reader.get("/explore/mayros", params={"asOf": before}).text, 60_000)
    assert "stock-watch" not in overview.text
    assert "of unknown time" in overview.text
    assert reader.get("/explore/mayros", params={"asOf": before, "format": "json"}).json()["latest"] == []
    assert "None" in check_page(reader.get("/explore/mayros/proofs?asOf=2020-01-01").text).text
    for path in ("", "/r?name=nails", "/list", "/r/used?name=nails", f"/t/{triple_id}", "/proofs"):
        bad = reader.get(f"/explore/mayros{path}{'&' if '?' in path else '?'}asOf=tomorrow")
        assert (bad.status_code, "asOf" in bad.text) == (400, True), path
        assert reader.get(f"/explore/mayros{path}{'&' if '?' in path else '?'}asOf=").status_code == 200, path


@pytest.mark.parametrize("permissions", [("read",), ("read", "memories", "provenance")])
def test_queries_and_maps_are_read_as_of_a_moment(running: Running, permissions: tuple[str, ...]) -> None:
    client = running.client(running.token(f"then-{len(permissions)}", ("mayros",), permissions))
    client.headers.update({**HTML, "Sec-Fetch-Site": "same-origin"})
    days = {"2026-11-19": 0, "2026-11-21": 2, "": 1}  # asserted on the 20th, one withdrawn since
    for query, view in (
        ("SELECT ?s { ?s mayros:reorder ?o }", "table"),
        ("SELECT ?s { ?s mayros:reorder ?o }", "raw"),
        ("CONSTRUCT { ?s ?p ?o } { ?s ?p ?o FILTER(?p = mayros:reorder) }", "map"),
    ):
        asked = {"query": query, "view": view}
        found = {}
        for day in days:
            page = client.get("/explore/mayros/sparql", params={**asked, "asOf": day})
            assert page.status_code == 200, page.text
            assert f'name="asOf" value="{day}" placeholder="now"' in page.text  # the form keeps and changes it
            answer = page.text.partition('aria-label="Answer"')[2].partition("Examples of this namespace")[0]
            found[day] = [name for name in ("nails", "bolts") if name in answer]
            assert all(f"asOf={day}" in link for link in check_page(answer).links if day)
        assert {day: len(names) for day, names in found.items()} == days, view
    for day, count in days.items():
        asked = {"query": "SELECT ?s { ?s mayros:reorder ?o }", "format": "csv", "asOf": day}
        assert len(client.get("/explore/mayros/sparql", params=asked).text.split()) == 1 + count
        asked = {"query": "CONSTRUCT { ?s ?p ?o } { ?s ?p ?o FILTER(?p = mayros:reorder) }", "format": "json"}
        assert len(client.get("/explore/mayros/map", params={**asked, "asOf": day}).json()["values"]) == count
        around = {"name": "bolts", "asOf": day}
        assert ("nothing to show" in client.get("/explore/mayros/map", params=around).text) is (day != "2026-11-21"), (
            day
        )
        first = client.get("/explore/mayros/map", params={"format": "json", "asOf": day}).json()
        assert [value["label"] for value in first["values"]].count("mayros:reorder") == count
    for path in ("map", "sparql"):
        bad = client.get(f"/explore/mayros/{path}", params={"asOf": "tomorrow"})
        assert (bad.status_code, "asOf" in bad.text) == (400, True)


def test_a_page_that_takes_too_long_says_so(reader: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(*_: object, **__: object) -> None:
        raise QueryTimeout("the query was stopped after 30 s", hint="ask for less")

    monkeypatch.setattr(triple_list, "list_assertions", slow)
    monkeypatch.setattr(resource, "neighbourhood", slow)
    listed = reader.get("/explore/mayros/list?skill=stock-watch")
    assert listed.status_code == 200
    assert "This took too long: narrow it" in check_page(listed.text).text
    page = reader.get("/explore/mayros/r?name=nails")
    assert page.status_code == 504
    shown = check_page(page.text).text
    assert "This took too long" in shown
    assert "The query was stopped after 30 s" in shown
    assert "ask for less" in shown


def test_find_lists_everything_in_pages_and_by_class(running: Running, reader: httpx.Client) -> None:
    graph = running.plugin.graph
    label, kind = f"<{WELL_KNOWN_VOCABULARIES['rdfs']}label>", f"<{WELL_KNOWN_VOCABULARIES['rdf']}type>"
    for number in range(70):
        subject = f"vessel:{number}"
        graph.create_triple({"subject": subject, "predicate": label, "object": f"Frégate {'abc'[number % 3]} {number}"})
        of_class = {"node": f"Ship{number % 2}"}
        graph.create_triple({"subject": subject, "predicate": kind, "object": of_class})
    address, found = "/explore/mayros/find?q=fregate", []
    for first, last in ((1, 30), (31, 60), (61, 70)):
        text = reader.get(address).text
        page = check_page(text)
        assert f"70 resources with these words, {first} to {last} here" in page.text
        assert text.count("<mark>Frégate</mark>") >= last - first + 1
        found += [each for each in page.links if "r?name=mayros:vessel:" in each]
        address = next((each for each in page.links if f"page={last // 30 + 1}" in each), "")
        address = f"/explore/mayros/find{address}" if address.startswith("?") else address
    assert len(found) == len(set(found)) == 70
    assert "Ship0 35" in page.text
    assert "Ship1 35" in page.text
    of_class = check_page(reader.get("/explore/mayros/find?q=fregate&type=mayros:Ship1").text)
    assert "35 resources with these words, 1 to 30 here" in of_class.text
    answer = reader.get("/explore/mayros/find?q=69+freg&format=suggestions").json()
    (suggested,) = answer["suggestions"]
    assert suggested == {
        "text": "Frégate a 69",
        "notes": ["mayros:vessel:69"],
        "href": "/explore/mayros/r?name=mayros:vessel:69",
    }
    assert reader.get("/explore/mayros/find?format=suggestions").json() == {"suggestions": [], "more": 0}
    assert reader.get("/explore/mayros/find?q=fregate&format=suggestions").json()["more"] == 62
    assert reader.get("/explore/mayros/find?q=fregate&page=35").status_code == 400


def test_find_shows_where_each_was_found_and_leads_to_one_name(running: Running, reader: httpx.Client) -> None:
    triple_id = id_of(running, subject="nails", predicate="reorder")
    page = check_page(reader.get("/explore/mayros/find?q=order").text, 60_000)
    assert "Words of its name" in page.text
    assert "/explore/mayros/r?name=mayros:order:11" in page.links
    part = reader.get("/explore/mayros/find?q=11+ord", follow_redirects=False)
    assert (part.status_code, part.headers.get("location")) == (303, "/explore/mayros/r?name=mayros:order:11")
    assert "Words of a text" in check_page(reader.get("/explore/mayros/find?q=clou").text).text
    by_id = check_page(reader.get(f"/explore/mayros/find?q={triple_id}").text)
    assert f"/explore/mayros/t/{triple_id}" in by_id.links
    one = reader.get("/explore/mayros/find?q=screws", follow_redirects=False)
    assert (one.status_code, one.headers.get("location")) == (303, "/explore/mayros/r?name=mayros:screws")
    assert "Nothing was found" in check_page(reader.get("/explore/mayros/find?q=zzz").text).text
    check_page(reader.get("/explore/mayros/find").text, 60_000)
    assert reader.get("/explore/mayros/find?q=order&format=json").json()
    for text in TEXTS:
        answer = reader.get("/explore/mayros/find", params={"q": text[:1_000]})
        assert answer.status_code in (200, 303), text
        check_page(answer.text)


def test_the_first_click_on_an_imported_triple_of_a_graph_without_an_index_is_answered(
    running: Running, reader: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = running.server.config.app.state.service.graph("imported")
    graph.create_triples([{"subject": f"item{n}", "predicate": "size", "object": n} for n in range(40)])
    of_import = running.client(running.token("of-import", ("imported",), ("read",)))
    of_import.headers.update(HTML)
    pages = {path: of_import.get(f"/explore/imported/{path}").text for path in ("list", "r?name=item7")}
    graph.index.recent = type(graph.index.recent)()
    monkeypatch.setattr(triple_index, "SMALL", 0)
    monkeypatch.setattr(TripleIndex, "complete", lambda self, timeout_s=None: pytest.fail("the graph is indexed"))
    for path in pages:
        html = of_import.get(f"/explore/imported/{path}").text
        links = {link for link in check_page(html).links if "/t/" in link}
        assert links
        for link in links:
            assert of_import.get(link).status_code == 200, link
