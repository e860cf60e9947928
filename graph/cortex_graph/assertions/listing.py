"""Lists assertions page by page, and reads those of some triples.

Rules kept here:
- a page has the records that a search finds (`search.py`), each read once more as an assertion;
- the description of each skill is read once for a page.

    >>> from cortex_graph import NamespacedGraph, Provenance, open_store
    >>> graph = NamespacedGraph(open_store("memory:"), "mayros")
    >>> _ = graph.create_triple({"subject": "nails", "predicate": "reorder", "object": True}, Provenance(agent="a1"))
    >>> [(each.agent, graph.names.name(each.triple[0].value)) for each in list_assertions(graph).assertions]
    [('a1', 'mayros:nails')]
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pyoxigraph import NamedNode, Quad

from cortex_graph.assertion_records.provenance import as_json, recorded_triple, skill_of
from cortex_graph.assertion_records.records import read_records
from cortex_graph.assertion_records.withdrawals import Origin, as_record
from cortex_graph.assertions.cursors import ID
from cortex_graph.assertions.filters import AssertionFilter
from cortex_graph.assertions.search import AssertionSearch
from cortex_graph.checks.argument_checks import check_cursor, check_id, check_limit
from cortex_graph.namespace.namespaced import NamespacedGraph
from cortex_graph.naming.vocabulary import PROOF, SPECIALIZATION_OF
from cortex_graph.store import Pattern, Triple, triple_of

DEFAULT_LIMIT = 50


@dataclass(frozen=True, slots=True)
class Assertion:
    """One assertion of a triple.

    Attributes:
        triple_id: the id of the triple.
        triple: its subject, predicate and object.
        record: the node of its record; a withdrawn one has a node of its own.
        agent: the id of the agent, if it is known.
        skill: the slug of the skill, if there was one.
        skill_version: its version.
        time: when it was asserted, an `xsd:dateTime`; None for unknown.
        proofs: the ids of the proofs that its record links to, sorted.
        withdrawn: who withdrew it, and when: `{agent, skill, skillVersion, time}`; None if it was not withdrawn.
        is_present: whether the triple is in the graph by this assertion. On a server (a SPARQL endpoint or a Cortex) it
            is concluded from the record.
    """

    triple_id: str
    triple: Triple
    record: NamedNode
    agent: str | None
    skill: str | None
    skill_version: str | None
    time: str | None
    proofs: tuple[str, ...]
    withdrawn: Origin | None
    is_present: bool

    @property
    def origin(self) -> Origin:
        """Who asserted it: `{agent, skill, skillVersion, time}`; None for unknown."""
        return {"agent": self.agent, "skill": self.skill, "skillVersion": self.skill_version, "time": self.time}


@dataclass(frozen=True, slots=True)
class AssertionPage:
    """A page of assertions, the newest first.

    Attributes:
        assertions: the assertions.
        cursor: of the next page; None on the last one. A page that is not full can have a next one.
    """

    assertions: tuple[Assertion, ...]
    cursor: str | None


@dataclass(frozen=True, slots=True)
class AssertionHistory:
    """What a namespace has of one triple.

    Attributes:
        quad: the triple.
        is_present: whether it is in the graph.
        assertion: the one by which it is there or, if it is not, the latest one that was withdrawn; None for a triple
            of the graph without a record.
        withdrawn: the assertions that were withdrawn, the latest withdrawal first.
    """

    quad: Quad
    is_present: bool
    assertion: Assertion | None
    withdrawn: tuple[Assertion, ...]


def list_assertions(
    graph: NamespacedGraph,
    which: AssertionFilter | None = None,
    *,
    limit: int = DEFAULT_LIMIT,
    cursor: str | None = None,
) -> AssertionPage:
    """Return a page of assertions, the newest first.

    Args:
        graph: the graph of a namespace.
        which: the filters; None for all that were not withdrawn.
        limit: the largest number of assertions, 1 to 1,000.
        cursor: of the page before.

    Raises:
        InvalidArguments: a filter, the limit or the cursor is invalid.
        QueryTimeout: a server, or a store without an index of times, takes too long to sort the records.
    """
    which = which or AssertionFilter()
    limit = check_limit(limit, DEFAULT_LIMIT)
    search = AssertionSearch(graph, which)
    after = None if check_cursor(cursor) is None else search.place(str(cursor))
    nodes, following = search.page(limit, after)
    found = read_assertions(graph, search.as_read(nodes))
    return AssertionPage(tuple(found), None if following is None else search.cursor(following))


def assertions_of(graph: NamespacedGraph, triple_ids: Iterable[str]) -> dict[str, Assertion]:
    """Return the present assertions of some triples by their ids, without those that have no record.

    Raises:
        InvalidArguments: an id is malformed.
    """
    found = read_assertions(graph, [graph.names.record(check_id(triple_id)) for triple_id in triple_ids])
    return {assertion.triple_id: assertion for assertion in found}


def history_of(graph: NamespacedGraph, triple_id: str) -> AssertionHistory | None:
    """Return what the namespace has of a triple: its assertion and the withdrawn ones; None for an unknown id.

    Raises:
        InvalidArguments: the id is malformed.
    """
    record = graph.names.record(check_id(triple_id))
    found = read_assertions(graph, [record, *graph.withdrawals.records_of(triple_id)])
    gone = sorted((each for each in found if each.withdrawn), key=_withdrawn_at, reverse=True)
    quad = graph.index.find(triple_id)
    if quad is None:
        return AssertionHistory(Quad(*gone[0].triple, graph.names.graph), False, gone[0], tuple(gone)) if gone else None
    present = next((each for each in found if each.record == record), None)
    return AssertionHistory(quad, True, present, tuple(gone))


def _withdrawn_at(assertion: Assertion) -> str:
    return (assertion.withdrawn or {}).get("time") or ""


def read_assertions(graph: NamespacedGraph, nodes: Sequence[NamedNode]) -> list[Assertion]:
    """Return the assertions with these records, in this order, without those that do not exist."""
    described: dict[NamedNode, list[Quad]] = {}
    records = read_records(graph.store, graph.names, nodes)
    found = (_assertion(graph, node, records[node], described) for node in nodes if node in records)
    return [assertion for assertion in found if assertion is not None]


def _assertion(
    graph: NamespacedGraph, node: NamedNode, record: list[Quad], described: dict[NamedNode, list[Quad]]
) -> Assertion | None:
    names = graph.names
    quad = recorded_triple(record, names.graph)
    local = node.value.removeprefix(f"{names.graph.value}/")
    if quad is None or not ID.fullmatch(local):
        return None
    kind, _, triple_id = local.partition("/")
    withdrawn: Origin | None = None
    if kind == "withdrawn":
        of = [each.object for each in record if each.predicate == SPECIALIZATION_OF]
        if len(of) != 1 or not isinstance(of[0], NamedNode):
            return None
        triple_id = of[0].value.removeprefix(names.record("").value)
        withdrawn = _origin(graph, list(as_record(record)), described)
    origin = _origin(graph, record, described)
    start = f"{names.graph.value}/proof/"
    links = (each.object.value for each in record if each.predicate == PROOF and isinstance(each.object, NamedNode))
    return Assertion(
        triple_id,
        triple_of(quad),
        node,
        origin["agent"],
        origin["skill"],
        origin["skillVersion"],
        origin["time"],
        tuple(sorted(iri.removeprefix(start) for iri in links if iri.startswith(start))),
        withdrawn,
        withdrawn is None and (not graph.store.keeps_order or graph.store.contains(quad)),
    )


def _origin(graph: NamespacedGraph, record: list[Quad], described: dict[NamedNode, list[Quad]]) -> Origin:
    skill = skill_of(record, graph.names)
    if skill is not None and skill not in described:
        described[skill] = list(graph.store.quads(Pattern(graph.names.provenance_graph, skill)))
    return as_json(record, [] if skill is None else described[skill], graph.names)
