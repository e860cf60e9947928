"""One instance is the store of another."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from pyoxigraph import Literal, NamedNode, Quad, QueryResultsFormat, RdfFormat

from cortex_graph import (
    GraphUnavailable,
    InvalidArguments,
    NamespacedGraph,
    Pattern,
    PermissionDenied,
    Provenance,
    QueryTimeout,
    export_rdf,
    open_store,
)
from cortex_graph.index.index_build import indexed_triple
from cortex_graph.transfer.backup import back_up
from cortex_graph.transfer.copying import copy_store
from cortex_graph.transfer.importing import import_file
from cortex_skills import Config, Plugin
from tests.configs import config
from tests.graph.cortex.support import ALL, cortex_at, store_with
from tests.plugin.skills import write_skill
from tests.server.serving import Running, served, until_healthy


@pytest.fixture(scope="module")
def far(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """The instance that has the data."""
    folder = tmp_path_factory.mktemp("far")
    with served(folder, store=str(folder / "store"), vocabularies=["schema"]) as server:
        yield server


def near_config(far: Running, monkeypatch: pytest.MonkeyPatch, namespaces: tuple[str, ...] = ("mayros",)) -> Config:
    monkeypatch.setenv("FAR_TOKEN", far.token(f"near-{'-'.join(namespaces)}", namespaces, ALL))
    store = {"cortex": far.url, "auth": {"type": "bearer", "token": "${FAR_TOKEN}"}}
    return config(store=store, vocabularies=["schema"])


def test_an_assertion_through_the_gate_is_the_same_on_both_sides(
    far: Running, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with Plugin.open(near_config(far, monkeypatch), agent="a7") as near:
        near.load(write_skill(tmp_path / "probe", "export default { name: 'probe' };"))
        asked = {"subject": "project:x", "predicate": "note", "object": "seen"}
        first, again = near.call("skill_assert", asked), near.call("skill_assert", asked)
        assert (first.details["created"], again.details["created"]) == (True, False)
        triple_id = first.details["tripleHash"]
        assert again.details["tripleHash"] == triple_id
        here, there = near.graph.get_triple(triple_id), far.plugin.graph.get_triple(triple_id)
        assert here == there
        assert here is not None
        assert here["object"] == "seen"
        record = far.plugin.graph.provenance_of(triple_id)
        assert record == near.graph.provenance_of(triple_id)
        assert record is not None
        assert (record["agent"], record["skill"], record["skillVersion"]) == ("a7", "probe", "1.2.3")
        found = near.call("skill_graph_query", {"subject": "project:x", "scope": "namespace"})
        assert [match["id"] for match in found.details["matches"]] == [triple_id]
        assert near.graph.delete_triple(triple_id)
        assert far.plugin.graph.get_triple(triple_id) is None
        assert far.plugin.graph.provenance_of(triple_id) is None


def test_a_third_instance_uses_the_second(far: Running, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FAR_TOKEN", far.token("third", ("*",), ALL))
    store = {"cortex": far.url, "auth": {"type": "bearer", "token": "${FAR_TOKEN}"}}
    with served(tmp_path, store=store, vocabularies=["schema"]) as middle, cortex_at(middle) as last:
        graph = NamespacedGraph(last, "third")
        made = [
            graph.create_triple({"subject": "s", "predicate": "p", "object": number}, Provenance("k", "1", "a"))
            for number in range(7)
        ]
        assert NamespacedGraph(far.plugin.graph.store, "third").get_triple(made[3]["id"])
        pages, cursor = [], None
        while cursor is not None or not pages:
            page = graph.list_triples({"limit": 3, "cursor": cursor})
            pages.append({row["id"] for row in page["triples"]})
            if (cursor := page["nextCursor"]) is None:
                break
        assert set.union(*pages) == {row["id"] for row in made}
        assert [len(page) for page in pages] == [3, 3, 1]
        record = graph.provenance_of(made[0]["id"])
        assert record
        assert record["skill"] == "k"
        answer = json.loads(b"".join(graph.query("SELECT (COUNT(*) AS ?n) { ?s ?p ?o }").chunks))
        assert answer["results"]["bindings"][0]["n"]["value"] == "7"
        assert graph.update("DELETE WHERE { ?s ?p 3 }").removed == 1
        assert graph.provenance_of(made[3]["id"]) is None
        assert graph.count() == 6


def test_ids_are_found_without_an_index_of_ones_own(far: Running) -> None:
    with cortex_at(far) as store:
        there, here = NamespacedGraph(far.plugin.graph.store, "found"), NamespacedGraph(store, "found")
        ids = [there.create_triple({"subject": "s", "predicate": "p", "object": n})["id"] for n in range(5)]
        assert [here.get_triple(each) for each in ids] == [there.get_triple(each) for each in ids]
        assert here.get_triple("0" * 64) is None
        assert here.index.is_complete()
        assert not here.index.has_begun()
        assert store.count(Pattern(here.names.index_graph)) == 0
        store.insert([[Quad(NamedNode("urn:s"), NamedNode("urn:p"), Literal("x"), here.names.graph)]])
        store.apply(insert=[here.index.entry("0" * 64, next(store.quads(Pattern(here.names.graph))))])
        assert list(store.quads(Pattern(here.names.index_graph))) == []
        assert list(there.store.quads(Pattern(there.names.index_graph))) == []


def test_an_index_that_the_server_has_begun_is_kept_with_every_kind_of_change(far: Running) -> None:
    with cortex_at(far) as store:
        there, here = NamespacedGraph(far.plugin.graph.store, "indexed"), NamespacedGraph(store, "indexed")
        there.index.complete()
        quads = [Quad(NamedNode("urn:s"), NamedNode("urn:p"), Literal(n), there.names.graph) for n in range(3)]
        ids = [there.index.hash_of(quad) for quad in quads]
        store.insert([[quads[0]]])
        store.apply(insert=quads[1:])
        fresh = NamespacedGraph(far.plugin.graph.store, "indexed")
        assert [indexed_triple(fresh.store, fresh.names, each) for each in ids] == quads
        store.apply(remove=quads[1:])
        assert here.delete_triple(ids[0])
        assert there.store.count(Pattern(there.names.index_graph)) == 2  # that it has begun, and is complete
        assert [fresh.get_triple(each) for each in ids] == [None] * 3


def test_names_of_a_vocabulary_that_the_server_has_meanwhile_are_read_in_its_sense(
    far: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    with cortex_at(far) as store:
        here = NamespacedGraph(store, "words", vocabularies={"schema": "https://schema.org/"})
        made = here.create_triple({"subject": "s", "predicate": "schema:name", "object": "n"})
        store._graphs._spelling = ("urn:cortex:", {})  # as it was before the server was restarted with a vocabulary
        store._graphs._names = {}
        assert here.list_triples()["triples"] == [{key: made[key] for key in ("id", "subject", "predicate", "object")}]
        assert store._graphs._spelling[1] == {"schema": "https://schema.org/"}


def test_import_export_copy_and_backup(far: Running, tmp_path: Path) -> None:
    with cortex_at(far, ("moved",)) as store:
        source = open_store("memory:")
        local = NamespacedGraph(source, "moved")
        for number in range(30):
            local.create_triple(
                {"subject": f"s{number}", "predicate": "p", "object": number}, Provenance("k", "1", "a")
            )
        copied = copy_store(source, store, ["moved"])
        assert [done.triples for done in copied if done.graph == "urn:cortex:moved"] == [30]
        here = NamespacedGraph(store, "moved")
        assert {row["id"] for row in here.list_triples()["triples"]} == {
            row["id"] for row in local.list_triples()["triples"]
        }
        triple_id = local.list_triples()["triples"][0]["id"]
        assert here.provenance_of(triple_id) == local.provenance_of(triple_id)
        export_rdf(here, tmp_path / "out.trig", with_provenance=True)
        assert import_file(here, tmp_path / "out.trig", with_provenance=True)
        assert here.count() == 30
        back_up(store, tmp_path / "backup")
        assert (tmp_path / "backup" / "manifest.json").is_file()
        assert set(store.graph_names()) == {here.names.graph, here.names.provenance_graph}
        assert store.snapshot(tmp_path / "none") is False
        source.close()


def test_another_base_is_an_error_and_no_loss_of_everything(far: Running) -> None:
    with cortex_at(far) as store:
        graph = NamespacedGraph(store, "mayros", base="https://example.org/")
        for ask in (graph.list_triples, graph.count, lambda: graph.create_triple(dict.fromkeys(TRIPLE, "x"))):
            with pytest.raises(GraphUnavailable, match="cannot have the graph") as caught:
                ask()
            assert far.url in caught.value.message
            assert "baseIri" in caught.value.hint


TRIPLE = ("subject", "predicate", "object")


def test_health_reports_an_unreachable_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ExitStack() as far_one, ExitStack() as near_one:
        far = far_one.enter_context(served(tmp_path / "far"))
        config = near_config(far, monkeypatch)
        near = near_one.enter_context(served(tmp_path, store=config.store))
        until_healthy(near.client())
        far_one.close()
        assert near.client().get("/api/v1/health").json()["status"] == "degraded"
        answer = near.client(near.token("t")).get("/api/v1/triples")
        assert (answer.status_code, answer.json()["code"]) == (503, "graph_unavailable")
        assert far.url not in answer.text


def test_a_token_text_is_shown_to_its_server_alone(far: Running) -> None:
    with closing(store_with(far.url, "no-such-token")) as store:
        with pytest.raises(GraphUnavailable, match="answers 401") as caught:
            store.graph_names()
        assert "no-such-token" not in f"{caught.value} {caught.value.hint} {caught.value.details}"


LONG = "SELECT (COUNT(*) AS ?n) { ?a ?p ?b . ?c ?q ?d . ?e ?r ?f . ?g ?s ?h . ?i ?t ?j }"


def test_a_query_that_takes_too_long_ends_and_is_no_failure_of_the_server(far: Running) -> None:
    with cortex_at(far) as store:
        graph = NamespacedGraph(store, "long")
        graph.create_triples({"subject": "s", "predicate": "p", "object": number} for number in range(300))
        with pytest.raises(QueryTimeout) as caught:
            b"".join(graph.query(LONG, timeout_s=1.0).chunks)
        assert far.url in caught.value.message
        assert store._api.client.breaker.failures == 0
        assert graph.count() == 300


def test_a_syntax_error_of_a_query_has_its_position(far: Running) -> None:
    with cortex_at(far) as store:
        graph = NamespacedGraph(store, "mistaken")
        local = NamespacedGraph(far.plugin.graph.store, "mistaken")
        for text in ("SELECT * {\n  ?s ?p }", "SELECT ?o\nWHERE { ?s ?p ?o . FILTER(?o >) }"):
            reported = []
            for each in (graph, local):
                with pytest.raises(InvalidArguments) as caught:
                    b"".join(each.query(text).chunks)
                reported.append((caught.value.details.get("line"), caught.value.details.get("column")))
            assert reported[0] == reported[1] != (None, None)
        with pytest.raises(PermissionDenied):
            graph.query("SELECT * { SERVICE <http://127.0.0.1:9/> { ?s ?p ?o } }")


def test_every_form_of_an_answer_comes_through(far: Running) -> None:
    with cortex_at(far) as store:
        graph = NamespacedGraph(store, "forms")
        graph.create_triple({"subject": "s", "predicate": "p", "object": "é"})
        for form in (QueryResultsFormat.JSON, QueryResultsFormat.XML, QueryResultsFormat.CSV, QueryResultsFormat.TSV):
            answer = graph.query("SELECT ?o { ?s ?p ?o }", results=form)
            assert answer.form == form
            assert "é".encode() in b"".join(answer.chunks)
        for kind in (RdfFormat.N_TRIPLES, RdfFormat.TURTLE, RdfFormat.RDF_XML, RdfFormat.JSON_LD):
            answer = graph.query("CONSTRUCT { ?s ?p ?o } { ?s ?p ?o }", graphs=kind)
            assert answer.form == kind
            assert "é".encode() in b"".join(answer.chunks)


def test_a_provenance_too_long_for_the_api_goes_as_it_is(far: Running) -> None:
    with cortex_at(far) as store:
        graph = NamespacedGraph(store, "lengthy")
        about = Provenance("k" * 300, "1", "a" * 5_000)
        made = graph.create_triple({"subject": "s", "predicate": "p", "object": 1}, about)
        assert made["created"]
        assert not graph.create_triple({"subject": "s", "predicate": "p", "object": 1}, about)["created"]
        record = NamespacedGraph(far.plugin.graph.store, "lengthy").provenance_of(made["id"])
        assert record is not None
        assert (record["skill"], record["agent"]) == ("k" * 300, "a" * 5_000)


def test_many_threads_write_and_read_at_once(far: Running) -> None:
    with cortex_at(far) as store:
        graph = NamespacedGraph(store, "crowd")

        def work(number: int) -> int:
            mine = [
                graph.create_triple({"subject": f"s{n}", "predicate": "p", "object": n}, Provenance(agent=f"a{number}"))
                for n in range(10)
            ]
            assert all(graph.provenance_of(row["id"]) for row in mine[:2])
            return sum(row["created"] for row in mine)

        with ThreadPoolExecutor(12) as pool:
            assert sum(pool.map(work, range(12))) == 10
        assert graph.count() == 10
