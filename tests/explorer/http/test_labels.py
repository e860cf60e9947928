"""Pages name resources by their labels, and a label passes for no other resource."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree import ElementTree as ET

import httpx
import pytest

from cortex_graph import NamespacedGraph
from cortex_graph.namespace.labels import Labels
from tests.explorer.hostile import TEXTS, check_page
from tests.explorer.http.browsing import CLICKED
from tests.server.serving import Running, served

RDFS_LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
QUERY = "SELECT ?s ?p ?o ?n { ?s ?p ?o BIND(1 AS ?n) }"
HTML = {"Accept": "text/html"}


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with served(tmp_path_factory.mktemp("labels"), graph={"labels": ["caption"]}) as server:
        yield server


def reader(running: Running, namespace: str, triples: list[tuple[str, str, object]], **headers: str) -> httpx.Client:
    """A reader of a namespace with these triples; the value of a label may be a text and its language."""
    graph = NamespacedGraph(running.plugin.graph.store, namespace)
    graph.create_triples([{"subject": s, "predicate": p, "object": o} for s, p, o in triples])
    client = running.client(running.token(namespace, (namespace,), ("read",)))
    client.headers.update({**HTML, **headers})
    return client


def names_in(page: str) -> dict[str, str]:
    """The texts of the links of a page that have a title, by their titles."""
    check_page(page)
    found = re.findall(r'<a class="term[^"]*" href="[^"]*" title="([^"]*)"><bdi>(.*?)</bdi></a>', page)
    return {title: re.sub("<[^>]*>", "", text) for title, text in found}


def named(page: str) -> list[str]:
    """The names that are beside labels."""
    return [
        re.sub("<[^>]*>", "", each)
        for each in re.findall(r'<(?:small class="mono wrap"><bdi|bdi class="mono")>(.*?)</bdi>', page)
    ]


KNOWS = [
    ("person:ada", RDFS_LABEL, "Ada Lovelace"),
    ("person:bob", RDFS_LABEL, "Bob"),
    ("person:ada", "knows", {"node": "person:bob"}),
    ("knows", RDFS_LABEL, "is acquainted with"),
]


@pytest.mark.parametrize("path", ["list", "r?name=person:ada", "r/used?name=person:bob", "map", ""])
def test_a_name_is_its_label_on_every_page_of_data_and_the_name_is_in_the_title(running: Running, path: str) -> None:
    space = f"all{len(path)}"
    client = reader(running, space, KNOWS)
    NamespacedGraph(running.plugin.graph.store, space).counts.latest(wait_s=30)
    found = names_in(client.get(f"/explore/{space}/{path}".rstrip("/")).text)
    assert found.get(f"{space}:knows") == "is acquainted with"
    if path:
        assert found.get(f"{space}:person:bob") == "Bob"


def test_titles_charts_maps_and_the_schema_have_labels_too(running: Running) -> None:
    triples: list[tuple[str, str, object]] = [*KNOWS, ("person:ada", "age", 36), ("person:bob", "age", 41)]
    client = reader(running, "titles", triples)
    graph = NamespacedGraph(running.plugin.graph.store, "titles")
    graph.schema.latest(wait_s=30)
    (triple,) = graph.list_triples({"subject": "person:ada", "predicate": "knows"})["triples"]
    query = "SELECT ?s ?age { ?s titles:age ?age }"
    for path, label in (
        ("map?name=person:ada", "<title>Map of Ada Lovelace · "),
        ("map?name=person:ada", "Ada Lovelace, 2 steps around"),
        ("map?name=person:ada", ">is acquainted with</text>"),
        ("r/used?name=person:bob", "<title>Who points to Bob · "),
        (f"t/{triple['id']}", "<title>Ada Lovelace is acquainted with · "),
        (f"sparql?query={query}&view=chart", ">Ada Lovelace</text>"),
        ("schema", "is acquainted with"),
    ):
        assert label in client.get(f"/explore/titles/{path}", headers=CLICKED).text, (path, label)


def test_a_label_is_in_the_languages_of_the_reader(running: Running) -> None:
    texts = [("Faktura", "sv"), ("Rechnung", "de"), ("Invoice", "en")]
    triples: list[tuple[str, str, object]] = [
        ("bill", RDFS_LABEL, {"value": text, "language": tag}) for text, tag in texts
    ]
    client = reader(running, "tongues", [*triples, ("bill", "paid", True)])
    for header, label in (("sv-FI,en;q=0.5", "Faktura"), ("en;q=0.5,de", "Rechnung"), ("de;q=0,en", "Invoice")):
        answer = client.get("/explore/tongues/list", headers={"Accept-Language": header})
        assert names_in(answer.text)["tongues:bill"] == label
        assert "Accept-Language" in answer.headers["vary"]


def test_a_property_of_the_configuration_names_things(running: Running) -> None:
    client = reader(running, "captions", [("u1", "caption", "The first one"), ("u1", RDFS_LABEL, "Another")])
    assert names_in(client.get("/explore/captions/list").text)["captions:u1"] == "The first one"


def test_a_page_looks_labels_up_once(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    client, looked_up = reader(running, "once", KNOWS), []
    look_up = Labels._look_up
    monkeypatch.setattr(Labels, "_look_up", lambda self, new: (looked_up.append(len(new)), look_up(self, new)))
    of_names = [f"{page}?name=person:ada" for page in ("r", "r/used", "map")]
    of_queries = [f"sparql?query={QUERY}{view}" for view in ("", "&view=chart", "&view=map")]
    for path in ("list", "find?q=lovelace", "", *of_names, *of_queries):
        looked_up.clear()
        assert client.get(f"/explore/once/{path}".rstrip("/")).status_code == 200
        assert len(looked_up) == 1, path


def test_where_identity_matters_the_name_is_beside_the_label(running: Running) -> None:
    client = reader(running, "sure", KNOWS)
    graph = NamespacedGraph(running.plugin.graph.store, "sure")
    (row,) = graph.list_triples({"predicate": "knows"})["triples"]
    whole = ["sure:person:ada", "sure:knows", "sure:person:bob"]
    assert named(client.get(f"/explore/sure/t/{row['id']}").text) == whole
    assert named(client.get("/explore/sure/r?name=person:ada").text) == whole[:1]
    assert named(client.get("/explore/sure/r/used?name=person:bob").text) == whole[2:]
    assert "sure:person:ada" in named(client.get("/explore/sure/find?q=lovelace").text)


@pytest.mark.parametrize(
    "label",
    [
        "Bob",  # as another one is called
        "Воb",  # with Cyrillic letters
        "person:bob",
        "deceit:person:bob",
        "<urn:cortex:deceit:person:bob>",
        "https://example.org/bob",
        "Ada\u202eboB",
        "B\u200bob",
        "Ｂｏｂ",
    ],
)
def test_a_label_that_may_pass_for_another_resource_has_the_name_beside_it(running: Running, label: str) -> None:
    space = f"deceit{sum(map(ord, label))}"
    label = label.replace("deceit", space)
    triples = [("eve", RDFS_LABEL, label), ("person:bob", RDFS_LABEL, "Bob"), ("eve", "owes", {"node": "person:bob"})]
    client = reader(running, space, triples)
    page = client.get(f"/explore/{space}/list").text
    assert f"{space}:eve" in named(page)
    assert "\u202e" not in page
    drawn = ET.fromstring(client.get(f"/explore/{space}/r?name=eve&format=svg", headers={"Accept": "*/*"}).text)
    focus = next(each for each in drawn.iter() if each.get("class") == "f-focus")
    assert "".join(focus.itertext()) == "eve"


def test_a_graph_cannot_call_a_standard_term_otherwise(running: Running) -> None:
    rdf_type = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
    client = reader(running, "terms", [("eve", rdf_type, {"node": "Thief"}), (rdf_type, RDFS_LABEL, "is approved as")])
    page = check_page(client.get("/explore/terms/r?name=eve").text)
    assert "rdf:type" in page.text
    assert "is approved as" not in page.text


def test_a_label_is_that_of_the_moment_of_the_page(running: Running) -> None:
    client = reader(running, "moment", [("u1", RDFS_LABEL, "First"), ("u1", "p", 1)])
    page = client.get("/explore/moment/list?asOf=2999-01-01").text
    assert names_in(page)["moment:u1"] == "First"


def test_a_map_and_a_fan_draw_labels(running: Running) -> None:
    client = reader(running, "drawn", KNOWS)
    nodes = client.get("/explore/drawn/map?name=person:ada&format=json").json()["nodes"]
    assert [node["label"] for node in nodes if node["kind"] == "resource"][:2] == ["Ada Lovelace", "Bob"]
    drawn = client.get("/explore/drawn/r?name=person:ada&format=svg", headers={"Accept": "*/*"}).text
    assert {"Ada Lovelace", "is acquainted with", "Bob"} <= {"".join(t.itertext()) for t in ET.fromstring(drawn).iter()}


def test_hostile_labels_stay_texts(running: Running) -> None:
    labels = [(f"h{place}", RDFS_LABEL, text) for place, text in enumerate(TEXTS)]
    links = [("top", f"p{place}", {"node": f"h{place}"}) for place in range(len(TEXTS))]
    client = reader(running, "hostile", [*labels, *links])
    for path in ("list", "r?name=top", "map", *(f"r?name=h{place}" for place in range(len(TEXTS)))):
        answer = client.get(f"/explore/hostile/{path}")
        assert answer.status_code == 200
        check_page(answer.text)
