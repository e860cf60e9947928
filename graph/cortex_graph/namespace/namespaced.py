"""The graph of one namespace: the only graph to which a skill, a tool or a token gets access.

Rules kept here:
- arguments and results are plain mappings, as on the wire; a triple is `{id, subject, predicate, object}`;
- every read, write and delete passes the graph of the namespace to the store. That enforces the isolation; names
  (`names.py`) only decide how an IRI is written. An id, a cursor or a name of another namespace gets the answer of this
  namespace;
- a pattern without bound terms matches everything in the namespace, and nothing else;
- a result can be written back unchanged, which changes nothing;
- terms of memories are not written: they have graphs of their own (`memory_graphs.py`);
- writing a triple again is not an error: `created` is false, the id the same, and nothing is written;
- a page ends early, with a `nextCursor`, before its triples exceed one mebibyte together;
- `total` is exact up to 100, and whenever everything is on one page. Beyond that it is a lower bound, and
  `totalIsExact` is false: counting to 1,000 takes four times as long as reading a page of 20.

    >>> from cortex_graph import open_store
    >>> graph = NamespacedGraph(open_store("memory:"), "mayros")
    >>> graph.create_triple({"subject": "a", "predicate": "p", "object": 1})["created"]
    True
    >>> [(t["subject"], t["predicate"], t["object"]) for t in graph.list_triples({"subject": "a"})["triples"]]
    [('mayros:a', 'mayros:p', 1)]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pyoxigraph import Literal, NamedNode, Quad, QueryResultsFormat, RdfFormat

from cortex_graph.assertion_records.proofs import StoredProof, StoredProofs
from cortex_graph.assertion_records.provenance import (
    Provenance,
    as_json,
    at_one_time,
    description_of,
    record_of,
    skill_of,
    time_of,
)
from cortex_graph.assertion_records.withdrawals import Withdrawal, Withdrawals
from cortex_graph.checks.argument_checks import check_cursor, check_id, check_limit, check_pattern, check_triple
from cortex_graph.checks.size_limits import checked
from cortex_graph.exceptions import GraphBusy, invalid
from cortex_graph.index.counts import KeptCounts
from cortex_graph.index.prefixes import Prefixes
from cortex_graph.index.record_times import RecordTimes
from cortex_graph.index.schema_in_use import KeptSchema
from cortex_graph.index.triple_index import TripleIndex
from cortex_graph.memory_graphs import check_place, move_memories
from cortex_graph.naming.counted import Count
from cortex_graph.naming.names import DEFAULT_BASE, Names
from cortex_graph.naming.terms import Term, from_term, name_of, to_term
from cortex_graph.naming.vocabulary import ATTRIBUTED_TO, PROOF
from cortex_graph.sparql.parse import TIMEOUT_S
from cortex_graph.sparql.queries import query_graphs
from cortex_graph.sparql.updates import Updated, update_graphs
from cortex_graph.store import GraphStore, Pattern, QueryAnswer, Revisioned, Triple, triple_of
from cortex_graph.store_access.gathered import CountingPages, gathered
from cortex_graph.store_access.read_ahead import Ahead, WholeSubjects, reading_ahead

MAX_TOTAL = 100
_LIST_LIMIT = 100
_QUERY_LIMIT = 20
_ATTEMPTS = 10


class NamespacedGraph:
    """The triples of one namespace.

    Args:
        store: several namespaces, threads and `NamespacedGraph`s may share one.
        namespace: see `cortex_graph.naming.namespace_form.NAMESPACE`.
        base: the start of the IRIs of all namespaces.
        vocabularies: prefix → IRI of the standard vocabularies that may be used (see `WELL_KNOWN_VOCABULARIES`).
        understood: the same, for those that names in arguments may use, and results do not.

    Raises:
        InvalidArguments: the namespace, the base or a vocabulary is malformed.
    """

    def __init__(
        self,
        store: GraphStore,
        namespace: str,
        *,
        base: str = DEFAULT_BASE,
        vocabularies: Mapping[str, str] | None = None,
        understood: Mapping[str, str] | None = None,
    ) -> None:
        self._use(store, Names(namespace, base, vocabularies, understood))

    def _use(self, store: GraphStore, names: Names) -> None:
        self.store = store
        self.names = names
        self._counting = store if isinstance(store, CountingPages) else None
        self.index = TripleIndex(store, self.names)
        self.proofs = StoredProofs(store, self.names)
        self.withdrawals = Withdrawals(store, self.names)
        self.times = RecordTimes(store, self.names)
        self.counts = KeptCounts(store, self.names)
        self.schema = KeptSchema(store, self.names)
        self.prefixes = Prefixes(store, self.names)
        self._described: set[tuple[str | None, str | None]] = set()
        self._is_settled = False

    @property
    def namespace(self) -> str:
        """The namespace."""
        return self.names.namespace

    def settle(self) -> None:
        """Move memories that an earlier version wrote to this graph to the graphs of their owners; once.

        Raises:
            GraphUnavailable: there are such memories, and the store cannot write.
        """
        if not self._is_settled:
            move_memories(self.store, self.names.graph)
            self._is_settled = True

    def create_triple(self, triple: Mapping[str, Any], provenance: Provenance | None = None) -> dict[str, Any]:
        """Write one triple.

        Args:
            triple: `{subject, predicate, object}`.
            provenance: its source; recorded if the triple is new.

        Returns:
            `{id, subject, predicate, object, created}`.

        Raises:
            InvalidArguments: a part of the triple is invalid.
            GraphUnavailable: the store cannot write.
        """
        return self.create_triples([triple], provenance)[0]

    def create_triples(
        self, triples: Iterable[Mapping[str, Any]], provenance: Provenance | None = None
    ) -> list[dict[str, Any]]:
        """Write several triples, all or none. Arguments, results and errors are those of `create_triple`."""
        if isinstance(triples, str | bytes | Mapping) or not isinstance(triples, Iterable):
            raise invalid("triples", f"must be a list, not {type(triples).__name__}")
        quads = [self._quad(*check_triple(triple)) for triple in triples]
        ids = [self.index.identify(quad) for quad in quads]
        created = self._write(quads, ids, provenance)
        rows = [self._row(triple_id, triple_of(quad)) for triple_id, quad in zip(ids, quads, strict=True)]
        for row, new in zip(rows, created, strict=True):
            row["created"] = new
        return rows

    def list_triples(self, pattern: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return a page of the triples that match a pattern.

        Args:
            pattern: `{subject?, predicate?, object?, limit?, cursor?}`; `limit` 1 to 1,000 [100].

        Returns:
            `{triples, total, totalIsExact, nextCursor}`; `nextCursor` is None on the last page.

        Raises:
            InvalidArguments: a part of the pattern is invalid.
        """
        return self._page("triples", {} if pattern is None else pattern, _LIST_LIMIT)

    def pattern_query(self, pattern: Mapping[str, Any]) -> dict[str, Any]:
        """Do what `list_triples` does, with `matches` in place of `triples` and a default limit of 20."""
        return self._page("matches", pattern, _QUERY_LIMIT)

    def quad_of(self, triple: Mapping[str, Any]) -> Quad:
        """Return the quad of a triple, whether it exists or not; arguments and errors are those of `create_triple`."""
        return self._quad(*check_triple(triple))

    def object_of(self, value: Any) -> Term:
        """Return the term of the object of a triple, as this store stores it.

        Raises:
            InvalidArguments: the value has no term.
        """
        term = to_term(value, self.names)
        if isinstance(term, Literal) and isinstance(value, dict):
            return self.store.as_stored(term)
        return term

    def sought(self, value: Any) -> Term:
        """Return what `object_of` does for a value that is searched for: its names are those of `node_of`."""
        return self.object_of(self.with_names({"object": value})["object"])

    def with_names(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return a triple, or a pattern, with the names that `node_of` gives its names.

        Raises:
            InvalidArguments: one is no name.
        """
        found = {**given}
        for part in ("subject", "predicate"):
            if isinstance(given.get(part), str):
                found[part] = self._named(given[part], part)
        value = given.get("object")
        if isinstance(value, Mapping):
            found["object"] = dict(value)
            if isinstance(value.get("node"), str):
                found["object"]["node"] = self._named(value["node"], "object.node")
            if isinstance(value.get("datatype"), str):
                found["object"]["datatype"] = self._datatype(value["datatype"])
        return found

    def _named(self, name: str, field: str) -> str:
        return self.names.name(self.node_of(name, field).value) if ":" in name or "\\u" in name else name

    def _datatype(self, name: str) -> str:
        """A datatype is an IRI: a name of the namespace is none."""
        prefix, colon, _ = name.partition(":")
        has_prefix = name.startswith("<") or (colon and (prefix == "xsd" or prefix in self.prefixes.kept()))
        node = self.prefixes.terms().iri(name) if has_prefix else None
        return name if node is None else node.value

    def node_of(self, name: Any, field: str = "name") -> NamedNode:
        """Return the node that a name means here: a name of `names`, or one with a prefix of an imported file.

        A name of the namespace that is in use keeps its meaning, whatever prefixes a file declares.

        Raises:
            InvalidArguments: it is no name.
        """
        if isinstance(name, str) and name.startswith("<") and "\\u" in name:
            node = self.prefixes.terms().iri(name)
            if node is not None:
                return node
        node = self.names.node(name, field)
        prefix, colon, _ = name.partition(":")
        is_local = node.value.startswith(f"{self.names.graph.value}:") and not name.startswith(self.names.prefix)
        if not colon or not is_local or prefix not in self.prefixes.kept():
            return node
        other = self.prefixes.terms().iri(name)
        return node if other is None or self.has_node(node) else other

    def has_node(self, node: NamedNode) -> bool:
        """Return whether any triple has a node, as its subject, predicate or object."""
        own = self.names.graph
        patterns = (Pattern(own, node), Pattern(own, object_=node), Pattern(own, predicate=node))
        return any(self.store.count(pattern, 1) for pattern in patterns)

    def as_json(self, quad: Quad) -> dict[str, Any]:
        """Return a quad of this namespace as `{id, subject, predicate, object}`."""
        return self._row(self.index.identify(quad), triple_of(quad))

    def get_triple(self, triple_id: str) -> dict[str, Any] | None:
        """Return the triple with this id; None when this namespace has none."""
        quad = self.index.find(check_id(triple_id))
        return None if quad is None else self._row(triple_id, triple_of(quad))

    def delete_triple(self, triple_id: str) -> bool:
        """Delete a triple, its record, and the proofs that prove nothing else; returns whether it was here.

        `withdraw` keeps the record and the proofs. Records of earlier withdrawals of the triple stay.
        """
        quad = self.index.find(check_id(triple_id))
        if quad is None:
            return False
        record = self.names.record(triple_id)
        about = [(self.names.provenance_graph, node) for node in (record, *self.proofs.going_with([record]))]
        return self.store.remove(quad, [*about, (self.names.index_graph, record)])

    def withdraw(self, triple_id: str, by: Provenance) -> bool:
        """Remove a triple, and keep its record and its proofs, marked with who withdrew it, and when.

        `withdrawals` reads them. Writing the triple again makes it present again, with a new record.

        Args:
            triple_id: the id of the triple.
            by: who withdraws it.

        Returns:
            Whether the triple was here.

        Raises:
            InvalidArguments: the id or a part of `by` is invalid.
            GraphBusy: the namespace is written to repeatedly meanwhile.
            GraphUnavailable: the store cannot write.
        """
        check_id(triple_id)
        by, names = at_one_time(by), self.names
        graphs = [names.graph, names.provenance_graph, names.index_graph]
        store = self.store if isinstance(self.store, Revisioned) else None
        for _ in range(_ATTEMPTS):
            revision = "" if store is None else store.revision(graphs)
            quad = self.index.find(triple_id)
            if quad is None:
                return False
            insert, remove = self.withdrawals.change(quad, triple_id, by)
            if store is None:
                self.store.apply(insert, remove)
                return True
            if store.apply_at(revision, graphs, insert, remove):
                return True
        raise GraphBusy("the graph is written to repeatedly, and nothing was withdrawn", hint="try again later")

    def withdrawn(self, pattern: Mapping[str, Any]) -> list[Withdrawal]:
        """Return the withdrawals of the triples that match a pattern, the latest first.

        A triple of them may have been written again since. Of a subject only the first 10,000 records are searched
        when the pattern has no object.

        Args:
            pattern: `{subject, predicate, object?}`.

        Raises:
            InvalidArguments: a part of the pattern is invalid or missing.
        """
        return self.withdrawals.matching(self._bound(pattern))

    def withdrawn_ahead(self, pattern: Mapping[str, Any]) -> Ahead:
        """Return what `withdrawn` reads of a server; arguments and errors are those of it."""
        return self.withdrawals.ahead(self._bound(pattern))

    def count(self, pattern: Mapping[str, Any] | None = None) -> int:
        """Count the triples that match a pattern, exactly; the time grows with their number.

        Args:
            pattern: as for `list_triples`; `limit` and `cursor` are ignored. None for all triples.

        Raises:
            InvalidArguments: a part of the pattern is invalid.
        """
        return self.store.count(self._pattern(check_pattern({} if pattern is None else pattern)))

    def frequent_predicates(self) -> list[NamedNode]:
        """Return the predicates of the last count (`counts`), the most frequent first; does not wait for a count."""
        return [each.predicate for each in self.counts.latest(wait_s=0.0).predicates]

    def provenance_of(self, triple_id: str) -> dict[str, str | None] | None:
        """Return `{agent, skill, skillVersion, time}` of the record of a triple; None when there is no record."""
        graph = self.names.provenance_graph
        record = list(self.store.quads(Pattern(graph, self.names.record(check_id(triple_id)))))
        if not record:
            return None
        skill = skill_of(record, self.names)
        description = [] if skill is None else list(self.store.quads(Pattern(graph, skill)))
        return as_json(record, description, self.names)

    def provenances_of(self, triple_ids: Sequence[str]) -> dict[str, dict[str, str | None]]:
        """Return what `provenance_of` does of those of some triples that have a record, by their ids."""
        graph = self.names.provenance_graph
        nodes = [self.names.record(check_id(triple_id)) for triple_id in triple_ids]
        with reading_ahead(self.store, lambda: _with_skills(graph, nodes)):
            return self._provenances(triple_ids, nodes)

    def _provenances(self, triple_ids: Sequence[str], nodes: Sequence[NamedNode]) -> dict[str, dict[str, str | None]]:
        graph = self.names.provenance_graph
        records = dict(zip(triple_ids, gathered(self.store, [Pattern(graph, node) for node in nodes]), strict=True))
        skills = {triple_id: skill_of(record, self.names) for triple_id, record in records.items()}
        known = list({node for node in skills.values() if node is not None})
        found = gathered(self.store, [Pattern(graph, node) for node in known])
        described: dict[NamedNode | None, list[Quad]] = {None: [], **dict(zip(known, found, strict=True))}
        return {
            triple_id: as_json(record, described[skills[triple_id]], self.names)
            for triple_id, record in records.items()
            if record
        }

    def all_proofs_of(self, triple_ids: Sequence[str]) -> list[list[str]]:
        """Return what `proofs_of` does for each of some triples."""
        graph = self.names.provenance_graph
        records = [Pattern(graph, self.names.record(check_id(triple_id)), PROOF) for triple_id in triple_ids]
        return [
            sorted(quad.object.value for quad in links if isinstance(quad.object, NamedNode))
            for links in gathered(self.store, records)
        ]

    def proofs_of(self, triple_id: str) -> list[str]:
        """Return the IRIs of the proofs to which the record of a triple links, sorted."""
        return self.all_proofs_of([triple_id])[0]

    def current_proofs(self, triple_id: str, kind: str | None = None) -> list[StoredProof]:
        """Return the proofs of a triple as it is asserted now, the newest first; empty when it is not in the graph.

        A proof of an earlier assertion, which was withdrawn, is one of them only if it was added again.
        """
        if self.index.find(check_id(triple_id)) is None:
            return []
        proofs = self.proofs.of(triple_id, kind)
        earlier = self.withdrawals.of(triple_id) if proofs else []
        withdrawn = {iri for withdrawal in earlier for iri in withdrawal.proofs}
        if not withdrawn:
            return proofs
        current = set(self.proofs_of(triple_id))
        iris = [self.proofs.iri(proof.id).value for proof in proofs]
        return [p for p, iri in zip(proofs, iris, strict=True) if iri not in withdrawn or iri in current]

    def query(
        self,
        text: str,
        *,
        results: QueryResultsFormat = QueryResultsFormat.JSON,
        graphs: RdfFormat = RdfFormat.N_TRIPLES,
        timeout_s: float = TIMEOUT_S,
        max_bytes: int | None = None,
    ) -> QueryAnswer:
        """Evaluate a SPARQL 1.1 query over this namespace; arguments and errors are those of `sparql.query_graphs`."""
        return query_graphs(
            self.store,
            [self],
            text,
            results=results,
            graphs_format=graphs,
            timeout_s=timeout_s,
            max_bytes=max_bytes,
        )

    def update(self, text: str, provenance: Provenance | None = None, *, timeout_s: float = TIMEOUT_S) -> Updated:
        """Execute a SPARQL 1.1 update on this namespace; arguments and errors are those of `sparql.update_graphs`."""
        return update_graphs(self.store, [self], text, provenance=provenance, timeout_s=timeout_s)

    def _quad(self, subject: Any, predicate: Any, object_: Any) -> Quad:
        quad = Quad(
            self.names.node(subject, "subject"),
            self.names.node(predicate, "predicate"),
            self.object_of(object_),
            self.names.graph,
        )
        return check_place(checked(quad), self.names)

    def _write(self, quads: list[Quad], ids: list[str], provenance: Provenance | None) -> list[bool]:
        if provenance is not None:
            return self._write_recorded(quads, ids, provenance)
        if self.index.is_active():
            entries = map(self.index.entry, ids, quads)
            return self.store.insert(list(zip(quads, entries, strict=True)))
        created = self.store.insert([(quad,) for quad in quads])
        if self.index.has_begun():  # the index was begun meanwhile, and may lack these
            self.store.insert([(entry,) for entry in map(self.index.entry, ids, quads)])
        return created

    def _write_recorded(self, quads: list[Quad], ids: list[str], provenance: Provenance) -> list[bool]:
        provenance = at_one_time(provenance)
        skill = (provenance.skill, provenance.skill_version)
        description = [] if skill in self._described else description_of(provenance, self.names)
        time = time_of(provenance)
        times = self.times.quads(time)
        groups = [
            [quad, *record_of(quad, self.names.record(triple_id), provenance, self.names), *description]
            for quad, triple_id in zip(quads, ids, strict=True)
        ]
        if times and len(groups) > 1 and not all(map(self.store.contains, quads)):
            created = self.store.insert([times, *groups])[1:]  # once, not with each triple
        else:
            created = self.store.insert([[*group, *times] for group in groups])
        if any(created):
            self._described.add(skill)
            self.times.written(time)
        return created

    def _page(self, key: str, given: Mapping[str, Any], default_limit: int) -> dict[str, Any]:
        given = check_pattern(given)
        limit = check_limit(given.get("limit"), default_limit)
        cursor = check_cursor(given.get("cursor"))
        pattern = self._pattern(given)
        counted = None
        if self._counting is not None:
            page, counted = self._counting.match_counted(pattern, limit, cursor, MAX_TOTAL + 1)
        else:
            page = self.store.match(pattern, limit, cursor)
        is_whole = cursor is None and page.cursor is None
        total = self._total(pattern, len(page.triples), counted, whole=is_whole)
        return {
            key: self.index.recent.rows(page.triples, page.lines, self._row),
            "total": total.value,
            "totalIsExact": total.is_exact,
            "nextCursor": page.cursor,
        }

    def _pattern(self, given: Mapping[str, Any]) -> Pattern:
        subject, predicate, object_ = (given.get(part) for part in ("subject", "predicate", "object"))
        return Pattern(
            self.names.graph,
            None if subject is None else self.node_of(subject, "subject"),
            None if predicate is None else self.node_of(predicate, "predicate"),
            None if object_ is None else self.sought(object_),
        )

    def _bound(self, given: Mapping[str, Any]) -> Pattern:
        """Return a pattern that has a subject and a predicate."""
        pattern = self._pattern(check_pattern(given))
        for field, term in (("subject", pattern.subject), ("predicate", pattern.predicate)):
            if term is None:
                raise invalid(field, "is missing")
        return pattern

    def _total(self, pattern: Pattern, on_page: int, counted: int | None, *, whole: bool) -> Count:
        """Return the number of triples of a pattern."""
        if whole:
            return Count(on_page)
        if counted is None:
            counted = self.store.count(pattern, MAX_TOTAL + 1)
        # Triples may be removed between the page and the count.
        found = Count.up_to(counted, MAX_TOTAL)
        return Count(max(found.value, on_page), found.is_exact)

    def _row(self, triple_id: str, triple: Triple) -> dict[str, Any]:
        subject, predicate, object_ = triple
        names = self.names
        return {
            "id": triple_id,
            "subject": name_of(subject, names),
            "predicate": names.name(predicate.value),
            "object": from_term(object_, names),
        }


def _with_skills(graph: NamedNode, records: Iterable[NamedNode]) -> Iterator[Ahead]:
    """Yield what is read of records, with the skills that they name."""
    for record in records:
        yield Pattern(graph, record)
        yield WholeSubjects(Pattern(graph, record, ATTRIBUTED_TO), of_objects=True)


def namespaces_of(store: GraphStore, base: str = DEFAULT_BASE, *, with_records: bool = False) -> list[str]:
    """Return the namespaces with a base that have triples, sorted.

    Args:
        store: the store.
        base: the start of the IRIs of all namespaces.
        with_records: whether to include namespaces that have only provenance, such as withdrawn records.
    """
    graphs = {graph.value for graph in store.graph_names()}
    if with_records:
        graphs |= {graph.removesuffix("/provenance") for graph in graphs}
    rests = (graph[len(base) :] for graph in graphs if graph.startswith(base))
    return sorted(rest.replace("%2F", "/") for rest in rests if rest and not {"/", ":", "#"} & set(rest))
