"""Runs the cases of the SPARQL suites on namespaces: each graph of a case is the graph of a namespace.

Blank nodes of the data are names of their namespace, as after an import; results are compared with such names read as
blank nodes again, and numbers in the form of the store.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from csv import DictReader
from io import StringIO
from pathlib import Path

from pyoxigraph import (
    BlankNode,
    CanonicalizationAlgorithm,
    Literal,
    NamedNode,
    Quad,
    QueryBoolean,
    QueryResultsFormat,
    RdfFormat,
    Store,
    Triple,
    parse,
    parse_query_results,
)
from pyoxigraph import Dataset as Quads

from cortex_graph import GraphStore, NamespacedGraph
from cortex_graph.sparql.queries import query_graphs
from cortex_graph.sparql.updates import update_graphs
from cortex_graph.store import Pattern
from tests.graph.w3c.manifests import RDF, Case, Dataset, iri_of, quads_of, text_of

DEFAULT = "urn:w3c:default"
_GRAPH_IRI = re.compile(r"(.*[:/#])([A-Za-z][\w-]*)", re.ASCII)
_GENID = re.compile(r".*[:/#]genid:(.+)")
_RS = "http://www.w3.org/2001/sw/DataAccess/tests/result-set#"
_RESULTS = {
    ".srx": QueryResultsFormat.XML,
    ".srj": QueryResultsFormat.JSON,
    ".tsv": QueryResultsFormat.TSV,
}
_FROM = re.compile(r"\bFROM\s+(NAMED\s+)?<([^>]+)>", re.IGNORECASE)
_GRAPHS = re.compile(
    r"\b(?:GRAPH|WITH|INTO|TO|ADD|COPY|MOVE|USING(?:\s+NAMED)?)\s+(?:SILENT\s+)?(<[^>]+>|[\w-]*:[\w-]+)"
)
_PREFIX = re.compile(r"\bPREFIX\s+([\w-]*:)\s*<([^>]*)>", re.IGNORECASE)

Term = NamedNode | BlankNode | Literal | Triple


class World:
    """The graphs of one case, in a store that all cases use one after the other."""

    def __init__(self, store: GraphStore, graphs: Iterable[str]) -> None:
        self.store = store
        self.graphs: dict[str, NamespacedGraph] = {}
        for iri in [DEFAULT, *graphs]:
            found = _GRAPH_IRI.fullmatch(iri)
            if found is None:  # no namespace has such a graph, so it is a foreign one
                continue
            self.graphs[iri] = NamespacedGraph(store, found[2], base=found[1])
        self.clear()

    def clear(self) -> None:
        """Remove what the graphs hold."""
        for graph in self.graphs.values():
            self.store.apply(remove=list(self.store.quads(Pattern(graph.names.graph))))

    def load(self, data: Dataset) -> None:
        """Load files, with a name for each of their blank nodes."""
        self.store.insert([(quad,) for quad in self.quads(data)])

    def quads(self, data: Dataset) -> Iterator[Quad]:
        """The quads of files in these graphs."""
        for iri, file in [*((DEFAULT, file) for file in data.default), *data.named]:
            graph = self.graphs[iri]
            for quad in quads_of(file):
                yield Quad(*(_named(term, graph, file) for term in quad.triple), graph.names.graph)

    def content(self) -> list[Quad]:
        """What the graphs hold."""
        return [quad for graph in self.graphs.values() for quad in self.store.quads(Pattern(graph.names.graph))]


def _named(term: Term, graph: NamespacedGraph, file: Path) -> Term:
    if isinstance(term, BlankNode):
        return graph.names.node(f"{graph.names.prefix}genid:{file.stem.replace('.', '-')}-{term.value}")
    return term


def blank(term: Term) -> Term:
    """A name that a blank node got, as a blank node."""
    found = _GENID.fullmatch(term.value) if isinstance(term, NamedNode) else None
    return BlankNode(re.sub(r"[^A-Za-z0-9]", "x", found[1])) if found else term


def canonical(quads: Iterable[Quad]) -> list[str]:
    """Comparable lines: canonical labels, and numbers in the form of the store."""
    store = Store()
    store.extend(quads)
    found = Quads(store)
    found.canonicalize(CanonicalizationAlgorithm.RDFC_1_0)
    return sorted(map(str, found))


def _named_in(text: str) -> list[str]:
    """The graphs that an update names."""
    prefixes = dict(_PREFIX.findall(text))
    found = []
    for name in _GRAPHS.findall(text):
        prefix, colon, local = name.partition(":")
        found.append(name[1:-1] if name.startswith("<") else prefixes.get(prefix + colon, "") + local)
    return found


def run(case: Case, store: GraphStore) -> None:
    """Execute a case.

    Raises:
        GraphError: it is refused.
        AssertionError: the result is not the expected one.

    """
    (_run_update if "Update" in case.kind else _run_query)(case, store)


def _run_query(case: Case, store: GraphStore) -> None:
    text = text_of(case.action)
    data, narrowed = case.data, bool(case.data.default or case.data.named)
    if not narrowed and case.result is not None:  # the data is that of the FROM clauses
        files = [case.action.parent / name for _, name in _FROM.findall(case.action.read_text(encoding="utf-8"))]
        data = Dataset((), tuple(dict.fromkeys((iri_of(file), file) for file in files)))
    world = World(store, [iri for iri, _ in data.named])
    world.load(data)
    csv = case.result is not None and case.result.suffix == ".csv"
    answer = query_graphs(
        store,
        list(world.graphs.values()),
        f"BASE <{iri_of(case.action)}> {text}",
        default_graphs=[DEFAULT] if narrowed else None,
        named_graphs=[iri for iri in world.graphs if iri != DEFAULT] if narrowed else None,
        results=QueryResultsFormat.CSV if csv else QueryResultsFormat.JSON,
    )
    content = b"".join(answer.chunks)
    if case.result is None:
        return
    if csv:
        assert _csv_rows(content.decode()) == _csv_rows(case.result.read_bytes().decode())
    elif isinstance(answer.form, RdfFormat):
        found = [Quad(*map(blank, quad.triple)) for quad in parse(content, answer.form)]
        assert canonical(found) == canonical(quads_of(case.result))
    elif re.search(r"\bREDUCED\b", text):  # any number of equal rows is right
        wanted = _distinct_rows(case.result.read_bytes(), _RESULTS[case.result.suffix])
        assert _distinct_rows(content, QueryResultsFormat.JSON) == wanted
    else:
        assert _rows(content, QueryResultsFormat.JSON) == _expected(case.result)


def _run_update(case: Case, store: GraphStore) -> None:
    text = text_of(case.action)
    named = dict.fromkeys([iri for iri, _ in (*case.data.named, *case.after.named)] + _named_in(text))
    world = World(store, named)
    world.load(case.data)
    own = re.search(r"\b(?:WITH|USING)\b", text) is None and len(world.graphs) > 1
    update_graphs(
        store,
        list(world.graphs.values()),
        f"BASE <{iri_of(case.action)}> {text}",
        using_graphs=[DEFAULT] if own else None,
        using_named_graphs=[iri for iri in world.graphs if iri != DEFAULT] if own else None,
    )
    if "Evaluation" in case.kind:
        assert canonical(map(_blank_quad, world.content())) == canonical(map(_blank_quad, world.quads(case.after)))


def _blank_quad(quad: Quad) -> Quad:
    return Quad(*map(blank, quad.triple), quad.graph_name)


def _csv_rows(text: str) -> list[dict[str, str]]:
    rows = DictReader(StringIO(text))
    plain = ({key: re.sub(r"^(_:|urn:w3c:).*", "blank", value) for key, value in row.items()} for row in rows)
    return sorted(plain, key=lambda row: sorted(row.items()))


def _rows(content: bytes, form: QueryResultsFormat) -> bool | list[str]:
    found = parse_query_results(content, form)
    if isinstance(found, QueryBoolean):
        return bool(found)
    names = [variable.value for variable in found.variables]
    return _comparable({name: row[name] for name in names if row[name] is not None} for row in found)  # type: ignore[misc]


def _comparable(rows: Iterable[dict[str, Term]]) -> list[str]:
    return canonical(_row_quads(rows))


def _row_quads(rows: Iterable[dict[str, Term]]) -> Iterator[Quad]:
    for number, row in enumerate(rows):
        node = BlankNode(f"row{number}")
        yield Quad(node, NamedNode(f"{RDF}type"), NamedNode("urn:row"))
        for name, term in row.items():
            yield Quad(node, NamedNode(f"urn:var:{name}"), blank(term))


def _expected(file: Path) -> bool | list[str]:
    if file.suffix in _RESULTS:
        return _rows(file.read_bytes(), _RESULTS[file.suffix])
    store = Store()
    store.extend(quads_of(file))
    said = list(store.quads_for_pattern(None, NamedNode(f"{_RS}boolean"), None))
    if said:
        return said[0].object.value == "true"
    rows = []
    for solution in store.quads_for_pattern(None, NamedNode(f"{_RS}solution"), None):
        row = {}
        for binding in store.quads_for_pattern(solution.object, NamedNode(f"{_RS}binding"), None):
            (name,) = store.quads_for_pattern(binding.object, NamedNode(f"{_RS}variable"), None)
            (value,) = store.quads_for_pattern(binding.object, NamedNode(f"{_RS}value"), None)
            row[name.object.value] = value.object
        rows.append(row)
    return _comparable(rows)


def _distinct_rows(content: bytes, form: QueryResultsFormat) -> set[str]:
    rows = parse_query_results(content, form)
    terms = ((canonical(_row_quads([{"v": term}]))[-1] for term in row if term is not None) for row in rows)
    return {" ".join(sorted(row)) for row in terms}
