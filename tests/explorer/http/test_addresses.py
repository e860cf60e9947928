"""IRIs of the graph that are addresses of the server, and pages while the store is away."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from cortex_graph import GraphUnavailable
from cortex_skills.config.settings import Config
from cortex_skills.doors.explorer.addresses import RESERVED
from cortex_skills.doors.explorer.following import resource_address
from tests.explorer.hostile import Page
from tests.explorer.http.browsing import CLICKED, FOREIGN, PAGE
from tests.server.serving import Running, served

HOST = "graph.example.org"


@pytest.fixture(scope="module")
def linked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server whose IRIs are its addresses."""
    folder = tmp_path_factory.mktemp("linked")
    with served(folder, baseIri=f"https://{HOST}/id/", cortex={"allowedHosts": [HOST]}) as running:
        running.plugin.graph.create_triples([{"subject": "steel nails", "predicate": "inStock", "object": 3}])
        yield running


def ask(running: Running, iri: str, accept: str, **headers: str) -> httpx.Response:
    path = iri.removeprefix(f"https://{HOST}")
    return running.client().get(path, headers={"Host": HOST, "Accept": accept, **headers})


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        ("text/html", ""),
        (PAGE["Accept"], ""),
        ("*/*", ""),
        ("text/turtle", "&format=turtle"),
        ("text/turtle, text/html;q=0.5", "&format=turtle"),
        ("application/ld+json", "&format=turtle"),
    ],
)
def test_the_iri_of_a_resource_leads_to_its_page_or_its_turtle(linked: Running, accept: str, form: str) -> None:
    iri = linked.plugin.graph.names.node("steel nails").value
    assert iri == f"https://{HOST}/id/mayros:steel%20nails"
    answer = ask(linked, iri, accept)
    assert (answer.status_code, answer.headers["vary"]) == (303, "Accept")
    assert answer.headers["location"] == f"/explore/mayros/r?name=mayros:steel%20nails{form}"


def test_it_leads_to_what_the_iri_names(linked: Running) -> None:
    reader = linked.client(linked.token("reader", ("mayros",), ("read",)))
    led = ask(linked, linked.plugin.graph.names.node("steel nails").value, "text/turtle").headers["location"]
    turtle = reader.get(led)
    assert turtle.headers["content-type"].startswith("text/turtle")
    assert "mayros:inStock 3 ." in turtle.text


@pytest.mark.parametrize("name", ["café", "100 %", "a/b?c#d", "x:y"])
def test_a_name_is_decoded_once(linked: Running, name: str) -> None:
    iri = linked.plugin.graph.names.node(name).value
    led = ask(linked, str(httpx.URL(iri)), "text/html").headers["location"]
    assert httpx.URL(led).params["name"] == f"mayros:{name}"


def test_a_base_that_ends_with_a_number_sign_has_no_addresses() -> None:
    settings = Config(baseIri=f"https://{HOST}/id#", cortex={"allowedHosts": [HOST]})
    scope = {"path": "/idmayros:x", "raw_path": b"/idmayros:x", "headers": [(b"host", HOST.encode())]}
    assert resource_address(settings)(scope) is None


def test_whether_a_resource_exists_is_not_disclosed(linked: Running) -> None:
    for name in ("mayros:none", "of-others:x"):
        assert ask(linked, f"https://{HOST}/id/{name}", "text/html").status_code == 303


def test_other_addresses_are_not_resources(linked: Running) -> None:
    for path in ("/id/", "/id/mayros", "/id/mayros:", "/id/1:x", "/ID/mayros:x", "/id2/mayros:x"):
        assert ask(linked, path, "text/html").status_code == 404
    assert linked.client().get("/id/mayros:x", headers={"Accept": "text/html"}).status_code == 404
    assert linked.client().post("/id/mayros:x", headers={"Host": HOST}).status_code == 404


def test_the_iri_of_a_resource_may_be_followed_from_elsewhere(linked: Running) -> None:
    answer = ask(linked, f"https://{HOST}/id/mayros:x", "text/html", **FOREIGN)
    assert (answer.status_code, answer.headers["location"]) == (303, "/explore/mayros/r?name=mayros:x")
    hidden = ask(linked, f"https://{HOST}/id/mayros:x", "text/html", **{**FOREIGN, "Sec-Fetch-Dest": "iframe"})
    assert hidden.status_code == 403


def test_without_an_own_base_no_address_is_a_resource(running: Running) -> None:
    assert running.client().get("/mayros:x", headers=PAGE).status_code == 404


@pytest.mark.parametrize("namespace", sorted(RESERVED))
def test_a_namespace_that_is_called_like_a_page_is_reachable(running: Running, namespace: str) -> None:
    graph = running.server.config.app.state.service.graph(namespace)
    for name in ("nails", "nailgun"):  # two, so that finding lists them
        graph.create_triple({"subject": name, "predicate": "inStock", "object": 3})
    reader = running.client(running.token(f"only-{namespace}", (namespace,), ("read",)))
    start = f"/explore/~{namespace}"
    assert reader.get("/explore", headers=PAGE).headers["location"] == start
    for path in ("", "/list", "/r?name=nails", "/find?q=other", "/map?name=nails", "/sparql", "/proofs"):
        answer = reader.get(f"{start}{path}", headers=CLICKED)
        assert answer.status_code == 200, path
        within = {link for link in Page(answer.text).links if f"{namespace}/" in link and "/static/" not in link}
        assert within, path
        assert all(link.startswith(f"{start}/") for link in within), within
        assert Page(answer.text).text.count("inStock") >= (path in ("/list", "/r?name=nails", "/map?name=nails"))
    assert "inStock 3" in reader.get(f"{start}/r?name=nails", headers={"Accept": "text/turtle"}).text
    refused = [reader.get(f"/explore/{namespace}/list", headers=PAGE), reader.get("/explore/~mayros", headers=PAGE)]
    missing = 403 if namespace in ("approvals", "artifacts", "sessions") else 404  # whose pages are of an id
    assert [answer.status_code for answer in refused] == [missing, 404]


def test_while_the_store_is_away_its_pages_say_since_when(linked: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    token = linked.token("auditor", ("mayros",), ("read", "audit"))
    reader = linked.client(token)

    def away(*_: object, **__: object) -> None:
        raise GraphUnavailable("no answer from /secret/place")

    with monkeypatch.context() as patch:
        for method in ("match", "count", "query", "contains"):
            patch.setattr(type(linked.plugin.graph.store), method, away)
        pages = [reader.get("/explore/mayros/list", headers=CLICKED) for _ in range(2)]
        for page in pages:
            assert page.status_code == 503
            assert page.headers["retry-after"] == "1"
            assert '<meta http-equiv="refresh" content="10">' in page.text
            assert "/secret/place" not in page.text
        since = {page.text.partition("It has not answered since ")[2].partition(".")[0] for page in pages}
        assert len(since) == 1
        assert next(iter(since)).endswith(" UTC")
        assert reader.get("/explore/audit", headers=CLICKED).status_code == 200
        assert reader.get("/explore/skills", headers=CLICKED).status_code == 200
    assert reader.get("/explore/mayros/list", headers=CLICKED).status_code == 200
    assert linked.server.config.app.state.explorer.since is None
