"""Random requests to two namespaces with a common prefix: no token reads, counts or changes the other."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.server.serving import Running

NAMESPACES = ("iso", "isolated")
NAMES = st.one_of(
    st.sampled_from(
        [
            "a",
            "iso:a",
            "isolated:a",
            "<urn:cortex:iso:a>",
            "<urn:cortex:isolated:a>",
            "urn:cortex:iso:a",
            "iso",
            "../iso:a",
            "a%3Ab",
        ]
    ),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6),
)
REQUESTS = st.lists(
    st.tuples(
        st.sampled_from(NAMESPACES), st.sampled_from(["create", "batch", "delete", "theirs"]), NAMES, st.integers(0, 2)
    ),
    max_size=12,
)


def everything(client) -> dict[str, tuple]:
    triples = client.get("/api/v1/triples", params={"limit": 10_000}).json()["triples"]
    return {triple["id"]: (triple["subject"], triple["predicate"], triple["object"]) for triple in triples}


@settings(max_examples=30)
@given(requests=REQUESTS)
def test_no_request_reaches_what_is_of_the_other_namespace(server: Running, requests):
    clients = {name: server.client(server.token(f"only-{name}", (name,))) for name in NAMESPACES}
    try:
        expected: dict[str, dict[str, tuple]] = {name: {} for name in NAMESPACES}
        for own, kind, name, value in requests:
            other = NAMESPACES[own == NAMESPACES[0]]
            client, mine, theirs = clients[own], expected[own], expected[other]
            triple = {"subject": name, "predicate": "p", "object": value}
            if kind == "create":
                made = client.post("/api/v1/triples", json=triple)
                if made.status_code < 300:
                    body = made.json()
                    assert body["created"] == (body["id"] not in mine)
                    mine[body["id"]] = (body["subject"], body["predicate"], body["object"])
            elif kind == "batch":
                made = client.post("/api/v1/triples/batch", json={"triples": [triple, triple | {"object": "other"}]})
                for body in made.json().get("inserted", ()):
                    mine[body["id"]] = (body["subject"], body["predicate"], body["object"])
            elif kind == "delete":
                for triple_id in list(mine)[:1]:
                    assert client.delete(f"/api/v1/triples/{triple_id}").status_code == 204
                    del mine[triple_id]
            for triple_id in list(theirs)[:2]:
                assert client.delete(f"/api/v1/triples/{triple_id}").status_code == 404
                assert client.get(f"/api/v1/triples/{triple_id}").status_code == 404
            assert client.get("/api/v1/triples", params={"namespace": other}).status_code == 403
        for name, client in clients.items():
            assert everything(client) == expected[name]
            assert client.get("/api/v1/stats").json()["graph"]["triple_count"] == len(expected[name])
    finally:
        for client in clients.values():
            for triple_id in everything(client):
                client.delete(f"/api/v1/triples/{triple_id}")
            client.close()
