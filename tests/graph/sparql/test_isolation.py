"""No SPARQL that is sent to a namespace reads, counts, changes or deletes another one.

Every other namespace holds a canary. Texts are drawn from a grammar that tries to get out; whatever they do, no answer
holds a canary, and the others' quads are byte for byte what they were.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import NamedNode, Quad, QueryResultsFormat, RdfFormat

from cortex_graph import (
    WELL_KNOWN_VOCABULARIES,
    Dataset,
    GraphError,
    InvalidArguments,
    NamespacedGraph,
    Provenance,
    QueryTimeout,
    check_namespace,
)
from cortex_graph.sparql import QueryLimits, query_graphs, update_graphs
from cortex_graph.sparql.query_run import query_pool
from cortex_graph.store import Pattern
from cortex_graph.stores.embedded import OxigraphStore
from cortex_graph.workers.processes import ProcessPool
from tests.graph import strategies
from tests.graph.sparql.conftest import content, rows_of

CANARY = "canary-7f3a"
OTHERS = ["may", "Mayros", "mayros-2", "mayros_2", "mayrosX", "m", "MAYROS", "rdf", "service", "graph"]
INVALID = [
    "mаyros",
    "mayros\u200b",
    "mayros:x",
    "mayros//provenance",
    "mayros/",
    "",
    "2mayros",
    "mayros ",
    "ｍayros",
    "máyros",
]
GRAPHS = [
    f"<urn:cortex:{name}{suffix}>" for name in ("may", "Mayros", "mayros-2") for suffix in ("", "/provenance", "/index")
]
TARGETS = st.sampled_from(
    [*GRAPHS, "<urn:cortex:mayros>", "<urn:cortex:mayros/provenance>", "<urn:cortex:mayros/index>", "?g", "may:", "o:"]
)
TERMS = st.sampled_from(
    ["?s", "?o", "<urn:cortex:may:secret>", "may:secret", "o:secret", "mayros:a", f"'{CANARY}'", "1", "[]", "rdf:type"]
)
PREDICATES = st.sampled_from(
    ["?p", "mayros:p", "<urn:cortex:may:p>", "(mayros:p|!mayros:p)*", "^mayros:p", "a", "mayros:p/<urn:cortex:may:p>"]
)
everything = st.just("?s ?p ?o .")
triples = st.one_of(everything, everything, st.builds(lambda s, p, o: f"{s} {p} {o} .", TERMS, PREDICATES, TERMS))
written = st.one_of(everything, st.builds(lambda o: f"mayros:a mayros:q {o} .", st.sampled_from(["?o", "?s", "2"])))


def nested(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    graph = st.builds(lambda g, p: f"GRAPH {g} {{ {p} }}", TARGETS, inner)
    any_graph = st.builds(lambda p: f"GRAPH ?g {{ {p} }}", inner)
    return st.one_of(graph, graph, any_graph, any_graph, plain(inner), plain(inner), tricks(inner))


def plain(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.builds(lambda p: f"OPTIONAL {{ {p} }}", inner),
        st.builds(lambda p: f"MINUS {{ {p} }}", inner),
        st.builds(lambda p, q: f"{{ {p} }} UNION {{ {q} }}", inner, inner),
        st.builds(lambda p: f"FILTER NOT EXISTS {{ {p} }}", inner),
        st.builds(lambda p: f"{{ SELECT * {{ {p} }} }}", inner),
        st.builds(lambda p: f"{{ SELECT (COUNT(*) AS ?n) {{ {p} }} }}", inner),
        st.builds(lambda p: f"BIND(IRI(CONCAT('urn:cortex:', 'may')) AS ?g) GRAPH ?g {{ {p} }}", inner),
        st.builds(lambda g, p: f"VALUES ?g {{ {g} }} GRAPH ?g {{ {p} }}", st.sampled_from(GRAPHS), inner),
        st.builds(lambda p, q: f"{p} {q}", inner, inner),
    )


def tricks(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.builds(lambda g, p: f"{{ SELECT * FROM {g} {{ {p} }} }}", TARGETS, inner),
        st.builds(lambda p: f"SERVICE <http://127.0.0.1:9/> {{ {p} }}", inner),
        st.builds(lambda p: f"{p} # }} GRAPH <urn:cortex:may> {{ ?s ?p ?o }}\n", inner),
        st.builds(lambda p: f"{p} GR\\u0041PH <urn:cortex:may> {{ ?s ?p ?o }}", inner),
        st.builds(lambda p: f'FILTER(?o<5#>"""\n) {p} #"""\n', inner),
    )


# Most begin with a way out that would be one if the graphs were not bounded.
patterns = st.one_of(nested(triples), st.recursive(triples, nested, max_leaves=4))
KNOWN = f"PREFIX rdf: <{WELL_KNOWN_VOCABULARIES['rdf']}> PREFIX may: <urn:cortex:may:> "
prologues = st.sampled_from(
    [
        f"{KNOWN}PREFIX o: <urn:cortex:may:> ",
        f"{KNOWN}PREFIX mayros: <urn:cortex:may:> PREFIX o: <urn:cortex:may> ",
        f"{KNOWN}BASE <urn:cortex:may> PREFIX o: <urn:cortex:Mayros> ",
        f"{KNOWN}PREFIX o: <urn:cortex:m\\u0061y> # PREFIX o: <urn:x>\n",
        KNOWN,
    ]
)
datasets = st.sampled_from([*[""] * 40, *(f"FROM {graph}" for graph in GRAPHS), *(f"FROM NAMED {g}" for g in GRAPHS)])
queries = st.one_of(
    st.builds("{}SELECT * {} {{ {} }}".format, prologues, datasets, patterns),
    st.builds("{}SELECT (COUNT(*) AS ?n) (MAX(?o) AS ?m) {} {{ {} }}".format, prologues, datasets, patterns),
    st.builds("{}CONSTRUCT {{ ?s ?p ?o }} {} WHERE {{ {} }}".format, prologues, datasets, patterns),
    st.builds("{}DESCRIBE {} {} WHERE {{ {} }}".format, prologues, TERMS, datasets, patterns),
    st.builds("{}DESCRIBE {}".format, prologues, TARGETS),
    st.builds("{}SELECT * {{ {} }}".format, prologues, patterns),
    st.builds("{}ASK {} {{ {} }} ; DROP ALL".format, prologues, datasets, patterns),
)
own_quads = st.builds("GRAPH <urn:cortex:mayros> {{ {} }}".format, written)
quads = st.one_of(written, own_quads, st.builds("GRAPH {} {{ {} }}".format, TARGETS, triples))
clauses = st.one_of(
    st.just(""), st.just(""), st.builds("USING {} ".format, TARGETS), st.builds("USING NAMED {} ".format, TARGETS)
)
withs = st.one_of(st.just(""), st.just("WITH <urn:cortex:mayros> "), st.builds("WITH {} ".format, TARGETS))
data_quads = quads.map(lambda text: text.replace("?s ?p ?o", "mayros:a mayros:p 1, 3").replace("?", "mayros:"))
updates = st.one_of(
    st.builds("{}INSERT DATA {{ {} }}".format, prologues, data_quads),
    st.builds("{}DELETE DATA {{ {} }}".format, prologues, data_quads),
    st.builds("{}DELETE WHERE {{ {} }}".format, prologues, quads),
    st.builds("{}{}DELETE {{ {} }} {}WHERE {{ {} }}".format, prologues, withs, quads, clauses, patterns),
    st.builds("{}{}INSERT {{ {} }} {}WHERE {{ {} }}".format, prologues, withs, quads, clauses, patterns),
    st.builds(
        "{}{}DELETE {{ ?s ?p ?o }} INSERT {{ {} }} {}WHERE {{ {} }}".format, prologues, withs, quads, clauses, patterns
    ),
    st.builds(
        "{}{} {}{}".format,
        prologues,
        st.sampled_from(["CLEAR", "DROP", "CREATE", "CLEAR SILENT", "DROP SILENT"]),
        st.sampled_from(["GRAPH ", ""]),
        st.one_of(TARGETS, st.sampled_from(["ALL", "NAMED", "DEFAULT"])),
    ),
    st.builds("{}{} {} TO {}".format, prologues, st.sampled_from(["COPY", "MOVE", "ADD", "LOAD"]), TARGETS, TARGETS),
)
requests = st.lists(st.one_of(st.tuples(st.just("query"), queries), st.tuples(st.just("update"), updates)), max_size=6)


valid_names = st.one_of(
    st.sampled_from(["mayros", *OTHERS]), st.from_regex(r"[mM][aA]?[yY]?[a-zA-Z0-9_-]{0,4}", fullmatch=True)
)
local_names = strategies.tricky_text.map("-{}".format)  # begins no absolute IRI
data = st.lists(st.tuples(local_names, local_names, strategies.plain_values), max_size=3)


@pytest.fixture(scope="module")
def workers() -> Iterator[ProcessPool]:
    """Processes for many stores."""
    pool = query_pool()
    yield pool
    pool.close()


@pytest.fixture(scope="module")
def world(workers: ProcessPool) -> OxigraphStore:
    """A store with the others in it, each with a canary in its graph and in its provenance."""
    store = OxigraphStore()
    store._evaluation._workers = workers
    for name in OTHERS:
        fill(store, name, [])
    return store


def fill(store: OxigraphStore, name: str, rows: list[tuple[str, str, Any]]) -> None:
    graph = NamespacedGraph(store, name)
    provenance = Provenance(agent=CANARY)
    graph.create_triple({"subject": "secret", "predicate": "p", "object": f"{CANARY} {name}"}, provenance)
    graph.create_triple({"subject": "mayros:a", "predicate": "p", "object": {"node": CANARY}}, provenance)
    graph.create_triple({"subject": "urn:cortex:mayros:a", "predicate": "urn:cortex:mayros:p", "object": CANARY})
    graph.create_triples([{"subject": s, "predicate": p, "object": o} for s, p, o in rows], provenance)


def others_of(store: OxigraphStore, own: str) -> list[str]:
    start = f"urn:cortex:{own}"
    found = [g for g in store.graph_names() if g.value != start and not g.value.startswith(f"{start}/")]
    return sorted(str(quad) for graph in found for quad in store.quads(Pattern(graph)))


def fresh(store: OxigraphStore, own: str = "mayros", vocabularies: dict[str, str] | None = None) -> NamespacedGraph:
    graph = NamespacedGraph(store, own, vocabularies=vocabularies)
    update_graphs(store, [graph], "CLEAR DEFAULT")
    graph.create_triple({"subject": "a", "predicate": "p", "object": 1}, Provenance(agent="own"))
    return graph


@given(
    names=st.lists(valid_names, min_size=2, max_size=5, unique=True),
    rows=data,
    requests=requests,
    vocabularies=st.sampled_from([None, {"rdf": WELL_KNOWN_VOCABULARIES["rdf"]}]),
)
@settings(max_examples=150)
def test_no_sparql_leads_out_of_a_namespace(
    workers: ProcessPool,
    names: list[str],
    rows: list[tuple[str, str, Any]],
    requests: list[tuple[str, str]],
    vocabularies: dict[str, str] | None,
) -> None:
    own, victim, *_ = names
    world = OxigraphStore()
    world._evaluation._workers = workers
    for other in names[1:]:
        fill(world, other, rows)
    graph = fresh(world, own, vocabularies)
    before = others_of(world, own)
    for kind, text in requests:
        text = text.replace("mayros", "\0").replace("may", victim).replace("\0", own)
        said = ""
        try:
            if kind == "update":
                update_graphs(world, [graph], text, timeout_s=5, limits=QueryLimits(triples=1000))
            else:
                # What the text itself spells may come back; the canaries' own texts it does not know.
                said = content(query_graphs(world, [graph], text, timeout_s=5)).decode()
        except QueryTimeout:
            continue
        except GraphError as error:
            said = f"{error.message} {error.hint} {error.details}"
        assert f"{CANARY} " not in said
    assert others_of(world, own) == before
    assert not any(f"{CANARY} " in str(quad) for quad in world.quads(Pattern(graph.names.graph)))
    world._evaluation._snapshots.close()


@pytest.fixture(scope="module")
def alone(workers: ProcessPool) -> OxigraphStore:
    """A store without other namespaces."""
    store = OxigraphStore()
    store._evaluation._workers = workers
    return store


@given(pattern=patterns, prologue=prologues)
@settings(max_examples=60)
def test_a_query_answers_the_same_whether_the_others_are_there_or_not(
    world: OxigraphStore, alone: OxigraphStore, pattern: str, prologue: str
) -> None:
    text = f"{prologue}SELECT (COUNT(*) AS ?n) {{ {pattern} }}"
    answers: list[Any] = []
    for store in (world, alone):
        try:
            answers.append(rows_of(query_graphs(store, [fresh(store)], text, timeout_s=10)))
        except QueryTimeout:
            return
        except GraphError as error:
            answers.append((error.code, error.message))
    assert answers[0] == answers[1]


class Watched(OxigraphStore):
    """Keeps what it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[tuple[Any, ...]] = []

    def query(self, text: str, dataset: Dataset, **how: Any) -> Any:
        how.pop("timeout_s", None)
        self.asked.append(("query", text, dataset, *how.values()))
        return super().query(text, dataset, **how)

    def contains(self, quad: Quad) -> bool:
        self.asked.append(("contains", quad))
        return super().contains(quad)

    def count(self, pattern: Pattern, ceiling: int | None = None) -> int:
        self.asked.append(("count", pattern, ceiling))
        return super().count(pattern, ceiling)

    def quads(self, pattern: Pattern) -> Iterator[Quad]:
        self.asked.append(("quads", pattern))
        return super().quads(pattern)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * { GRAPH <urn:cortex:may> { ?s ?p ?o } }",
        "SELECT * { <urn:cortex:may:secret> ?p ?o }",
        "ASK { GRAPH ?g { ?s ?p 'canary-7f3a' } }",
        "DELETE { ?s ?p ?o } INSERT { ?s mayros:q 2 } WHERE { ?s ?p ?o }",
        "INSERT DATA { mayros:a mayros:p 1, 2 }",
        "DELETE WHERE { <urn:cortex:may:secret> ?p ?o }",
        "CLEAR DEFAULT",
    ],
)
def test_the_store_is_asked_the_same_whether_another_namespace_has_it_or_not(text: str) -> None:
    """Every query names the graphs of the namespace only, so the time reveals nothing either."""
    asked = []
    for there in (True, False):
        store = Watched()
        if there:
            other = NamespacedGraph(store, "may")
            other.create_triple({"subject": "secret", "predicate": "p", "object": CANARY}, Provenance(agent="spy"))
        graph = fresh(store)
        store.asked.clear()
        if text.startswith(("SELECT", "ASK")):
            content(query_graphs(store, [graph], text))
        else:
            update_graphs(store, [graph], text)
        asked.append(list(store.asked))
        store.close()
    assert asked[0] == asked[1]
    own = {NamedNode(f"urn:cortex:mayros{part}") for part in ("", "/provenance", "/index")}
    for what, *how in asked[0]:
        if what == "query":
            assert own >= {*how[1].default, *how[1].named}
        else:
            assert (how[0].graph_name if what == "contains" else how[0].graph) in own


def test_another_namespaces_write_makes_no_query_slower(world: OxigraphStore) -> None:
    graph = fresh(world)
    content(graph.query("ASK {}"))
    graphs = frozenset({graph.names.graph, graph.names.provenance_graph})
    snapshots = world._evaluation._snapshots
    before = snapshots.lease(graphs)
    snapshots.release(before)
    other = NamespacedGraph(world, "mayros-2")
    made = other.create_triple({"subject": "b", "predicate": "p", "object": 1})
    after = snapshots.lease(graphs)
    snapshots.release(after)
    other.delete_triple(made["id"])
    assert after == before


@pytest.mark.parametrize("name", INVALID)
def test_look_alikes_that_are_no_namespaces_are_refused(name: str) -> None:
    with pytest.raises(InvalidArguments):
        check_namespace(name)


def test_formats_hold_no_more_than_rows(world: OxigraphStore) -> None:
    graph = fresh(world)
    for form in (QueryResultsFormat.JSON, QueryResultsFormat.XML, QueryResultsFormat.CSV, QueryResultsFormat.TSV):
        answer = query_graphs(world, [graph], "SELECT * { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }", results=form)
        assert CANARY.encode() not in content(answer)
    for graphs in (RdfFormat.TURTLE, RdfFormat.JSON_LD, RdfFormat.N_QUADS):
        text = "CONSTRUCT { ?s ?p ?o } WHERE { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }"
        answer = query_graphs(world, [graph], text, graphs_format=graphs)
        assert CANARY.encode() not in content(answer)
