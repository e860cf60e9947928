"""The canonical form: graphs like those of the published suite under other labels, and the limit of the work."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import BlankNode, CanonicalizationAlgorithm, Dataset, Literal, NamedNode, Quad

from cortex_skills.features.proofs.signing import UnsupportedError
from cortex_skills.features.proofs.signing.canonical import MAX_QUADS, canonical
from cortex_skills.features.proofs.signing.jsonld import to_rdf
from cortex_skills.features.proofs.signing.suite import sign
from cortex_skills.keys import Key
from tests.proofs.signing.published_graphs import GRAPHS, POISON, dataset

P = NamedNode("urn:x:p")
V2 = "https://www.w3.org/ns/credentials/v2"


def by_pyoxigraph(quads: Dataset) -> str:
    found = Dataset(quads)
    found.canonicalize(CanonicalizationAlgorithm.RDFC_1_0)
    return "".join(sorted(f"{quad} .\n" for quad in found))


def relabelled(quads: Dataset, seed: int) -> Dataset:
    """The same dataset with other labels, in another order."""
    order = random.Random(seed)
    terms = [term for quad in quads for term in (quad.subject, quad.object, quad.graph_name)]
    nodes = sorted({term for term in terms if isinstance(term, BlankNode)}, key=str)
    order.shuffle(nodes)
    new = {node: BlankNode(f"n{number}") for number, node in enumerate(nodes)}
    found = [
        Quad(
            new.get(quad.subject, quad.subject),
            quad.predicate,
            new.get(quad.object, quad.object),
            new.get(quad.graph_name, quad.graph_name),
        )
        for quad in quads
    ]
    order.shuffle(found)
    return Dataset(found)


@pytest.mark.parametrize("number", sorted(GRAPHS))
def test_a_graph_has_the_same_canonical_form_under_other_labels(number: str) -> None:
    graph = dataset(GRAPHS[number])
    found = canonical(graph).decode()
    assert found == by_pyoxigraph(graph)
    assert {canonical(relabelled(graph, seed)).decode() for seed in range(3)} == {found}


@pytest.mark.parametrize(
    ("number", "form"),
    [
        ("018", "_:c14n0 <urn:x:self> _:c14n0 .\n"),
        ("072", "<urn:x:a> <urn:x:p> _:c14n0 .\n<urn:x:a> <urn:x:q> _:c14n0 <urn:x:g> .\n"),
        (
            "060",
            r"""<urn:x:a> <urn:x:p> "\u0000\u0007\b\t\n\u000B\f\r\u001F\"\\\u007F"""
            "\x80'\U0001f600" + r"""\\u0041" .""" + "\n",
        ),
    ],
)
def test_a_canonical_form_in_full(number: str, form: str) -> None:
    assert canonical(dataset(GRAPHS[number])).decode() == form


LINKS = st.lists(st.tuples(*[st.integers(0, 6)] * 2, st.sampled_from(["urn:x:p", "urn:x:q"])), max_size=12)


@settings(max_examples=200)
@given(links=LINKS, marked=st.sets(st.integers(0, 6), max_size=2), seed=st.integers(0, 99))
def test_another_implementation_writes_the_same(links: list[Any], marked: set[int], seed: int) -> None:
    nodes = [BlankNode(f"b{number}") for number in range(7)]
    quads = [Quad(nodes[a], NamedNode(name), nodes[b]) for a, b, name in links]
    graph = Dataset([*quads, *(Quad(nodes[number], P, Literal("x")) for number in marked)])
    found = canonical(graph)
    assert found.decode() == by_pyoxigraph(graph)
    assert canonical(relabelled(graph, seed)) == found


# --- the limit


def clique(size: int, predicates: int = 1) -> list[Quad]:
    nodes = [BlankNode(f"b{number}") for number in range(size)]
    names = [NamedNode(f"urn:x:p{number}") for number in range(predicates)]
    return [Quad(a, name, b) for a, b in itertools.permutations(nodes, 2) for name in names]


def bipartite(size: int) -> list[Quad]:
    left, right = ([BlankNode(f"{side}{number}") for number in range(size)] for side in "lr")
    return [Quad(a, P, b) for a in left for b in right]


def chain(size: int) -> list[Quad]:
    return [Quad(BlankNode(f"b{number}"), P, BlankNode(f"b{number + 1}")) for number in range(size)]


def leaves(hubs: int, size: int) -> list[Quad]:
    return [Quad(BlankNode(f"h{hub}"), P, BlankNode(f"l{hub}x{leaf}")) for hub in range(hubs) for leaf in range(size)]


@pytest.mark.parametrize(
    "quads",
    [
        pytest.param(list(dataset(POISON)), id="the published clique"),
        pytest.param(clique(8), id="clique of 8"),
        pytest.param(clique(60), id="clique of 60"),
        pytest.param(bipartite(20), id="bipartite"),
        pytest.param(leaves(2, 2000), id="leaves"),
        pytest.param(chain(4000), id="a chain that would overflow the stack"),
    ],
)
def test_a_graph_that_takes_too_much_work_is_refused(quads: list[Quad]) -> None:
    with pytest.raises(UnsupportedError, match="too much work"):
        canonical(Dataset(quads))


@pytest.mark.parametrize(
    "quads",
    [clique(5), clique(4, predicates=50), bipartite(4), chain(60), leaves(2, 6), leaves(1, 4000)],
    ids=["clique", "clique of many predicates", "bipartite", "chain", "leaves", "one with 4000 leaves"],
)
def test_similar_nodes_that_are_connected_are_accepted_while_the_work_is_small(quads: list[Quad]) -> None:
    assert canonical(Dataset(quads)).decode() == by_pyoxigraph(Dataset(quads))


def test_two_equal_long_lists_are_accepted() -> None:
    """Each node has one that looks like it, so that all are visited, one inside the other."""
    items = [f"_:{name}{number} :p _:{name}{number + 1} ; :q {number} ." for name in "ab" for number in range(150)]
    graph = dataset(" ".join(items))
    assert canonical(graph).decode() == by_pyoxigraph(graph)


def test_a_document_that_takes_too_much_work_is_not_evaluated() -> None:
    joined = [{"id": f"_:b{a}", "urn:x:p": [{"id": f"_:b{b}"} for b in range(9) if b != a]} for a in range(9)]
    shown = {"@context": [V2], "id": "urn:x:s", "type": "VerifiableCredential", "urn:x:p": joined}
    with pytest.raises(UnsupportedError, match="too much work"):
        sign(shown, Key("k", bytes(32)), "urn:x:m", "2026-01-01T00:00:00Z")


def test_a_graph_with_too_much_in_it_is_refused() -> None:
    quads = [Quad(NamedNode(f"urn:x:{number}"), P, Literal(1)) for number in range(MAX_QUADS + 1)]
    with pytest.raises(UnsupportedError, match="more than"):
        canonical(Dataset(quads))


def test_many_similar_nodes_without_connections_are_accepted() -> None:
    school = {"urn:x:name": "School"}
    degrees = [{"type": "VerifiableCredential", "urn:x:school": school} for _ in range(100)]
    found = canonical(to_rdf({"@context": [V2], "id": "urn:x:s", "urn:x:degree": degrees}).dataset)
    assert found.count(b"\n") == 400


def test_a_missing_quad_is_another_form() -> None:
    quads = [*clique(4), Quad(BlankNode("b0"), P, Literal("x")), Quad(NamedNode("urn:x:s"), P, BlankNode("b1"))]
    assert canonical(Dataset(quads)) != canonical(Dataset(quads[1:]))
