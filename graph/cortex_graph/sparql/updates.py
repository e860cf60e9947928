"""SPARQL updates of users on namespaces.

Rules kept here:
- the text of an update is not sent to a store: the templates and patterns of each operation become CONSTRUCT queries,
  whose results are written as quads of the graph of a namespace, or removed from it;
- data is parsed here, as Turtle, without the store;
- each operation is one transaction; a request that only has data is one transaction. If the graphs that were read are
  written to meanwhile, they are read again, on stores with revisions (`Revisioned`); on others the last write wins;
- no update writes directly to the provenance and the index of a namespace.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pyoxigraph import NamedNode, Quad, QueryResultsFormat, RdfFormat, Triple, parse

from cortex_graph.assertion_records.provenance import Provenance
from cortex_graph.cancellation import Cancellation
from cortex_graph.checks.size_limits import long_line, too_long
from cortex_graph.exceptions import GraphBusy, NamespaceViolation, invalid
from cortex_graph.sparql.changes import Change, Skolem, check_size, effect_of, too_large, too_many
from cortex_graph.sparql.dataset import NamespaceView, dataset_of
from cortex_graph.sparql.operations import Block, Clear, Create, Data, Modify, Operation, read_update
from cortex_graph.sparql.parse import DEFAULT_LIMITS, TIMEOUT_S, QueryLimits, read_text, without_mark
from cortex_graph.sparql.queries import offered_prefixes, run_text
from cortex_graph.sparql.query_run import too_slow
from cortex_graph.sparql.serialize import SparqlWriter
from cortex_graph.sparql.tokens import refused
from cortex_graph.store import Dataset, GraphStore, Pattern, Revisioned

_ATTEMPTS = 10
# The average size of the triples that one operation reads; with their records they take ten times as much memory.
_BYTES_A_TRIPLE = 512


@dataclass(frozen=True)
class Updated:
    """The number of new triples that an update wrote, and of existing ones that it removed."""

    inserted: int
    removed: int


def update_graphs(
    store: GraphStore,
    graphs: Sequence[NamespaceView],
    text: str,
    *,
    using_graphs: Sequence[str] | None = None,
    using_named_graphs: Sequence[str] | None = None,
    provenance: Provenance | None = None,
    may_withdraw: bool = True,
    timeout_s: float = TIMEOUT_S,
    limits: QueryLimits = DEFAULT_LIMITS,
    cancel: Cancellation | None = None,
) -> Updated:
    """Execute a SPARQL 1.1 update on namespaces of one store.

    With several namespaces, an operation names the one that it writes to (`WITH <graph>` or `GRAPH <graph> {…}`).

    Args:
        store: the store of the namespaces.
        graphs: the namespaces that may be read and written; at least one.
        text: the update of a user.
        using_graphs: IRIs to which the graphs of WHERE are narrowed (`using-graph-uri` of the SPARQL 1.1 Protocol
            §2.2.3).
        using_named_graphs: the same for named graphs.
        provenance: the source of new triples, recorded with them, and who withdraws removed triples that have proofs.
        may_withdraw: whether triples that have proofs may be removed.
        timeout_s: the time limit of the whole request, in seconds.
        limits: of the text and of the number of triples.
        cancel: cancels the request before its next write; the operations before it are done.

    Raises:
        InvalidArguments: the text is not an update, or exceeds the limits.
        PermissionDenied: it queries another server (SERVICE, LOAD), or removes triples that it may not remove.
        NamespaceViolation: it would write to a graph of none of the namespaces.
        QueryTimeout: it took too long; the operations before the failing one are done.
        GraphBusy: the graphs that it reads are written to repeatedly.
        QueryLimit: it would change more than the limits allow.
    """
    deadline = time.monotonic() + timeout_s
    text = without_mark(text)
    tokens = read_text(text, limits.update_bytes, limits.depth, deadline)
    operations = read_update(text, tokens, offered_prefixes(graphs))
    using = using_graphs, using_named_graphs
    update = _Update(store, graphs, text, using, (provenance, may_withdraw), deadline, limits, cancel)
    for operation in operations:
        update.check_targets(operation)
    if all(isinstance(operation, Data) for operation in operations):
        return update.run(operations)
    done = [update.run([operation]) for operation in operations]
    return Updated(sum(each.inserted for each in done), sum(each.removed for each in done))


class _Update:
    """One request during its execution."""

    def __init__(
        self,
        store: GraphStore,
        graphs: Sequence[NamespaceView],
        text: str,
        using: tuple[Sequence[str] | None, Sequence[str] | None],
        source: tuple[Provenance | None, bool],
        deadline: float,
        limits: QueryLimits,
        cancel: Cancellation | None,
    ) -> None:
        self._store = store
        self._graphs = graphs
        self._text = text
        self._using = using
        self._provenance, self._may_withdraw = source
        self._deadline = deadline
        self._limits = limits
        self._cancel = cancel
        self._skolem = Skolem(store)
        self._own = {graph.names.graph.value: graph for graph in graphs}

    def run(self, operations: Sequence[Operation]) -> Updated:
        """Execute operations in one transaction."""
        reads = [
            graph
            for each in self._graphs
            for graph in (each.names.graph, each.names.provenance_graph, each.names.index_graph)
        ]
        revisioned = self._store if isinstance(self._store, Revisioned) else None
        for _ in range(_ATTEMPTS):
            revision = revisioned.revision(reads) if revisioned else ""
            changes = self._changes(operations)
            self._left()
            effect = effect_of(self._store, changes, self._provenance, may_withdraw=self._may_withdraw)
            self._left()
            if revisioned is None:
                if effect.insert or effect.remove:
                    self._store.apply(effect.insert, effect.remove)
                    self._index(changes)
            elif not revisioned.apply_at(revision, reads, effect.insert, effect.remove):
                self._left()
                continue
            return Updated(effect.inserted, effect.removed)
        raise GraphBusy("the graphs that the update reads are written to repeatedly", hint="try again later")

    def _index(self, changes: Iterable[Change]) -> None:
        """Index the new triples, if the index was begun after it was checked."""
        if self._provenance is not None:
            return
        for change in changes:
            index = change.graph.index
            if index.has_begun():
                self._store.insert([(index.entry(index.identify(quad), quad),) for quad in change.insert])

    def _changes(self, operations: Sequence[Operation]) -> list[Change]:
        changes = {graph.names.graph: Change(graph) for graph in self._graphs}
        for operation in operations:
            if isinstance(operation, Data):
                for block in operation.blocks:
                    change = changes[self._target(block.graph, None).names.graph]
                    (change.inserted if operation.insert else change.removed)(self._data(operation, block))
            elif isinstance(operation, Modify):
                self._modify(operation, changes)
            elif isinstance(operation, Clear):
                for graph in self._graphs if operation.all else [self._target(operation.graph, None)]:
                    changes[graph.names.graph].removed(self._all(graph))
            check_size(changes.values(), self._limits.triples)
        return list(changes.values())

    def _modify(self, operation: Modify, changes: dict[NamedNode, Change]) -> None:
        dataset = self._dataset(operation)
        # Both read the same state: `run` repeats them after a concurrent write.
        for blocks, to in ((operation.delete, Change.removed), (operation.insert, Change.inserted)):
            for target in dict.fromkeys(self._target(block.graph, operation.with_graph) for block in blocks):
                selected = [block for block in blocks if self._target(block.graph, operation.with_graph) is target]
                to(changes[target.names.graph], self._constructed(operation, selected, target, dataset))

    def _constructed(
        self, operation: Modify, blocks: Sequence[Block], target: NamespaceView, dataset: Dataset
    ) -> list[Quad]:
        template = [part for block in blocks for part in (block.tokens, ".")]
        written = SparqlWriter(self._text, operation.prologue).write(
            ["CONSTRUCT {", *template, "} WHERE", operation.where]
        )
        answer = run_text(
            self._store,
            written,
            dataset,
            QueryResultsFormat.JSON,
            RdfFormat.N_TRIPLES,
            timeout_s=self._left(),
            cancel=self._cancel,
        )
        room = self._limits.triples * _BYTES_A_TRIPLE
        lines: list[bytes] = []
        try:
            for chunk in answer.chunks:
                room -= len(chunk)
                if room < 0:
                    raise too_large(self._limits.triples * _BYTES_A_TRIPLE)
                lines.append(chunk)
        finally:
            answer.chunks.close()
        answered = b"".join(lines)
        if long_line(answered) is not None:  # the parser may refuse it
            raise too_long("query", "reads or writes a triple of")
        quads: dict[Quad, None] = {}
        for found in parse(answered, RdfFormat.N_TRIPLES):
            quads[self._skolem.quad(found.triple, target)] = None
            if len(quads) > self._limits.triples:
                raise too_many(self._limits.triples)
        return list(quads)

    def _data(self, operation: Data, block: Block) -> Iterator[Quad]:
        self._left()
        graph = self._target(block.graph, None)
        written = SparqlWriter(self._text, operation.prologue).write([block.tokens, "."])
        try:
            for found in parse(written.text, RdfFormat.TURTLE):
                self._left()
                yield self._skolem.quad(Triple(found.subject, found.predicate, found.object), graph)
        except SyntaxError as error:
            at = written.position(error.lineno or 1, error.offset or 1)
            place = sum(len(line) for line in self._text.splitlines(keepends=True)[: at[0] - 1]) + at[1] - 1
            raise refused(self._text, min(place, len(self._text)), f"no triples: {error.msg}") from error

    def _all(self, graph: NamespaceView) -> list[Quad]:
        pattern = Pattern(graph.names.graph)
        if self._store.count(pattern, self._limits.triples + 1) > self._limits.triples:
            raise too_many(self._limits.triples)
        room = self._limits.triples * _BYTES_A_TRIPLE
        quads = []
        for quad in self._store.quads(pattern):
            room -= len(str(quad))
            if room < 0:
                raise too_large(self._limits.triples * _BYTES_A_TRIPLE)
            quads.append(quad)
        return quads

    def _dataset(self, operation: Modify) -> Dataset:
        using, using_named = self._using
        if using is not None or using_named is not None:
            if operation.with_graph or operation.using or operation.using_named:
                problem = "is given, and the update itself has WITH or USING"
                raise invalid("using-graph-uri", problem, hint="give one of the two (SPARQL 1.1 Protocol §2.2.3)")
            return dataset_of(self._graphs, using, using_named)
        if operation.using or operation.using_named:
            return dataset_of(self._graphs, operation.using, operation.using_named)
        whole = dataset_of(self._graphs)
        if operation.with_graph is None:
            return whole
        return Dataset((self._target(operation.with_graph, None).names.graph,), whole.named)

    def check_targets(self, operation: Operation) -> None:
        """Raise if an operation names a graph that belongs to none of the namespaces."""
        if isinstance(operation, Data):
            for block in operation.blocks:
                self._target(block.graph, None)
        elif isinstance(operation, Modify):
            self._dataset(operation)
            for block in (*operation.delete, *operation.insert):
                self._target(block.graph, operation.with_graph)
        elif isinstance(operation, Create) or not operation.all:
            self._target(operation.graph, None)

    def _target(self, graph: str | None, with_graph: str | None) -> NamespaceView:
        """Return the namespace whose graph an operation names."""
        named = graph or with_graph
        if named is None:
            if len(self._graphs) > 1:
                hint = f"for instance `WITH <{self._graphs[0].names.graph.value}>`"
                raise invalid("query", "names none of several graphs to write to", hint=hint)
            return self._graphs[0]
        if named not in self._own:
            raise NamespaceViolation(
                f"the graph <{named[:200]}> cannot be written here",
                hint=f"these are: {', '.join(f'<{own}>' for own in self._own)}",
                details={"graph": named[:200]},
            )
        return self._own[named]

    def _left(self) -> float:
        """The seconds that are left; raises if the request was cancelled."""
        if self._cancel is not None:
            self._cancel.check()
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise too_slow()
        return left
