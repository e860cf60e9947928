# ruff: noqa: D102 - the operations are those of `GraphStore`
"""A store behind a SPARQL 1.1 endpoint.

Rules kept here:
- every operation names its graph; only whole terms of a user are inserted into the texts of operations;
- a change is one update request. SPARQL 1.1 Update §2.2 asks servers to execute it atomically; Oxigraph does. Virtuoso
  accepts 500 quads at once, and keeps the effect of the operations before a failed one: repeating the call repairs
  that;
- a change whose answer was lost is an `UnknownOutcome`; one with a claim that is there is known to have been made;
- of two writers that make a claim one does, also where a server evaluates two updates at once: Virtuoso locks what the
  condition reads, and elsewhere claims are announced (`announced_claims.py`);
- what an operation reads is asked for in one request, where it states that (`read_ahead.py`);
- "check, then write" is two requests. Threads of one process wait for each other; of two processes that create the
  same quad both may get `True`, and the quad exists once;
- a term that the server would change is refused before it is sent (`engines.py`).
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar, cast

from pyoxigraph import Literal, NamedNode, Quad, QueryResultsFormat, QuerySolution, RdfFormat

from cortex_graph.cancellation import Cancellation
from cortex_graph.exceptions import GraphError, GraphUnavailable, invalid
from cortex_graph.sparql.careful import careful_query
from cortex_graph.sparql.tokens import MOST_DEPTH, read_tokens
from cortex_graph.store import Dataset, Page, Pattern, QueryAnswer
from cortex_graph.store_access.claims import claimed
from cortex_graph.store_access.half_made import read_whole
from cortex_graph.store_access.read_ahead import Ahead, ReadAhead, WholeSubjects, pattern_of
from cortex_graph.stores.http.bulk import batches, read_triples
from cortex_graph.stores.http.client import HttpClient
from cortex_graph.stores.remote.announced_claims import apply_announced
from cortex_graph.stores.remote.answers import has_rows, whole
from cortex_graph.stores.remote.confinement import NOTHING, Confinement, check_text, try_out
from cortex_graph.stores.remote.endpoints import Endpoints
from cortex_graph.stores.remote.engines import OXIGRAPH, EngineProfile, Term, engine_of
from cortex_graph.stores.remote.gathering import gathered_rows, plain_pattern
from cortex_graph.stores.remote.literal_forms import LiteralForms
from cortex_graph.stores.remote.paging import counted_page_of, page_of
from cortex_graph.stores.remote.sparql_protocol import RefusedError, SparqlProtocol
from cortex_graph.stores.remote.sparql_texts import (
    IncompleteRowError,
    conditional,
    data,
    existence_of,
    group_of,
    is_compared_here,
    read_row,
    rows_of,
)

_CHECKED = 50  # patterns in one query; some servers compile no more
_FIRST = 1_000  # quads of a stream that are read again if one is not complete
_BULK = 5_000
_BULK_SIZE = 4 << 20  # characters


T = TypeVar("T")


class RemoteStore:
    """A store on a server, which is not contacted before the first operation.

    Args:
        endpoints: its addresses.
        timeout_s: the time limit of each operation, in seconds.
        client: sends the requests; by default one of its own.
        engine: the kind of server; by default taken from its header.
    """

    bulk_is_atomic = False
    keeps_order = False  # a result must end within its time limit

    def __init__(
        self,
        endpoints: Endpoints,
        *,
        timeout_s: float = 30.0,
        client: HttpClient | None = None,
        engine: EngineProfile | None = None,
    ) -> None:
        self.maintenance = threading.Lock()
        self._client = client or HttpClient(endpoints.query, endpoints.credentials, timeout_s=timeout_s)
        self._protocol = SparqlProtocol(endpoints, self._client)
        self._spelling = LiteralForms(self._protocol)
        self._writing = threading.Lock()
        self._ahead = ReadAhead()
        self._known = engine
        self._confinement: Confinement | None = None

    def __repr__(self) -> str:
        return f"RemoteStore({self._client.name!r})"

    def reading_ahead(self, patterns: Sequence[Ahead]) -> AbstractContextManager[None]:
        """See `read_ahead.reading_ahead`."""
        return self._ahead.reading(patterns, self._found)

    def reading_now(self, forgets: bool) -> AbstractContextManager[None]:
        """See `read_ahead.reading_now`."""
        return self._ahead.reading_now(forgets)

    def subjects_ahead(self, wanted: WholeSubjects) -> list[NamedNode] | None:
        """See `read_ahead.subjects_ahead`."""
        return self._ahead.subjects(wanted)

    @property
    def shows_whole_changes(self) -> bool:
        """Whether no reader sees a change while it is made."""
        return self._engine.fails_whole

    def contains(self, quad: Quad) -> bool:
        pattern = pattern_of(quad)
        known = self._ahead.find(pattern)
        if known is not None:
            return bool(known)
        found = self._contains(pattern)
        self._ahead.keep(pattern, [quad] if found else [])
        return found

    def _contains(self, pattern: Pattern) -> bool:
        if self._matches_nothing(pattern):
            return False
        if is_compared_here(pattern, self._engine):
            return any(True for _ in self._matching(pattern))
        return self._ask(f"ASK {{ {group_of(pattern, self._engine)} }}")

    def insert(self, groups: Sequence[Sequence[Quad]]) -> list[bool]:
        """See `GraphStore`. One query for 50 groups, then one update; of two racing processes both may get `True`."""
        for group in groups:
            self._refuse(group)
        with self._writing:
            there = self._existing([group[0] for group in groups])
            new: dict[Quad, Sequence[Quad]] = {}
            written = []
            for group in groups:
                written.append(group[0] not in there and group[0] not in new)
                if written[-1]:
                    new[group[0]] = group
            self._check([quad for group in new.values() for quad in group], new)
            inserted = [quad for group in new.values() for quad in group]
            self._write("INSERT", inserted)
            self._ahead.wrote(inserted, ())
        return written

    def remove(self, quad: Quad, about: Iterable[tuple[NamedNode, NamedNode]] = ()) -> bool:
        described = [f"DELETE WHERE {{ GRAPH {graph} {{ {subject} ?p ?o }} }}" for graph, subject in about]
        with self._writing:
            if not self.contains(quad):
                return False
            self._update("; ".join([*described, data("DELETE", [quad])]))
            self._ahead.forget()
        return True

    def apply(self, insert: Iterable[Quad] = (), remove: Iterable[Quad] = ()) -> None:
        inserted, removed = list(insert), list(remove)
        if not inserted and not removed:
            self._engine  # noqa: B018 - raises when the store is closed or unreachable
            return
        with self._writing:
            self._check(inserted, ())
            if len(inserted) + len(removed) <= self._engine.batch:
                parts = [data(verb, quads) for verb, quads in (("DELETE", removed), ("INSERT", inserted)) if quads]
                self._update("; ".join(parts))
            else:
                self._write("DELETE", removed)
                self._write("INSERT", inserted)
            self._ahead.wrote(inserted, removed)

    def apply_claimed(self, claim: Quad, insert: Sequence[Quad], remove: Sequence[Quad]) -> bool:
        """See `claims.Claiming`. One update with the condition, whose answer may state that it was made.

        Where it does not, since another claim was there or the server cannot state it, the claims are read. Virtuoso
        and Oxigraph evaluate the condition beside other updates: see `EngineProfile.alone` and `announced_claims.py`.
        """
        inserted = [claim, *insert]
        if len(inserted) + len(remove) > self._engine.batch:
            raise invalid("change", f"has more than {self._engine.batch} quads", hint="make several changes of it")
        with self._writing:
            self._check(inserted, ())
            if self._engine.fails_whole:
                made = apply_announced(self._update, self._gather_now, claim, inserted, remove)
                if made:
                    self._ahead.wrote(inserted, remove)
                return made
            problem: GraphUnavailable | None = None
            try:
                answer = self._update(conditional(claimed(claim), inserted, remove, self._engine))
                if self._engine.made(answer):
                    self._ahead.wrote(inserted, remove)
                    return True
            except GraphUnavailable as error:  # also `UnknownOutcome`
                problem = error
            return self._is_claimed(claim, problem)

    def _gather_now(self, patterns: Sequence[Pattern]) -> list[list[Quad]]:
        self._ahead.forget()
        return self.gather(patterns)

    def _is_claimed(self, claim: Quad, problem: GraphUnavailable | None) -> bool:
        """Return whether a claim is there; raises the problem of the change where it can explain that none is."""
        self._ahead.forget()
        try:
            found = list(self.quads(claimed(claim)))
        except GraphError as error:
            raise (problem or error) from None
        if claim in found:
            return True
        if problem is not None and not found:
            raise problem from None
        return False

    def match(self, pattern: Pattern, limit: int, cursor: str | None = None) -> Page:
        if _is_whole(pattern) or self._matches_nothing(pattern):
            return Page.of(pattern.graph, self.quads(pattern), None)
        if cursor is None and (known := self._ahead.first_page(pattern, limit)) is not None:
            return known
        page = self._complete(lambda: page_of(self._protocol, self._engine, pattern, limit, cursor))
        return self._ahead.keep_page(page)

    def match_counted(self, pattern: Pattern, limit: int, cursor: str | None, ceiling: int) -> tuple[Page, int]:
        """See `gathered.CountingPages`."""
        if _is_whole(pattern) or self._matches_nothing(pattern) or is_compared_here(pattern, self._engine):
            return self.match(pattern, limit, cursor), self.count(pattern, ceiling)
        if cursor is None and (known := self._ahead.first_page(pattern, limit)) is not None:
            return known, min(len(known.triples), ceiling)
        page, counted = self._complete(
            lambda: counted_page_of(self._protocol, self._engine, pattern, limit, cursor, ceiling)
        )
        return self._ahead.keep_page(page), self.count(pattern, ceiling) if counted is None else counted

    def gather(self, patterns: Sequence[Pattern]) -> list[list[Quad]]:
        """See `gathered.Gathering`. One query for as many patterns as differ in one node, and 50 others."""
        return [[] if found is None else found for found in self._found(patterns)]

    def _found(self, wanted: Sequence[Ahead]) -> list[list[Quad] | None]:
        """See `gathered_rows`; what was read is not asked for again."""
        found = [self._ahead.find(each) if isinstance(each, Pattern) else None for each in wanted]
        asked = []
        for place, each in enumerate(wanted):
            if found[place] is None:
                if self._matches_nothing(plain_pattern(each)):
                    found[place] = []
                else:
                    asked.append(place)
        rest = [wanted[place] for place in asked]
        answers = self._complete(lambda: gathered_rows(self._rows, rest, self._engine)) if rest else []
        for place, quads in zip(asked, answers, strict=True):
            found[place] = quads
        return found

    def quads(self, pattern: Pattern) -> Iterator[Quad]:
        known = self._ahead.find(pattern)
        if known is not None:
            yield from known
            return
        if _is_whole(pattern):
            quad = _quad_of(pattern)
            if self.contains(quad):
                yield quad
            return
        if not self._matches_nothing(pattern):
            found: list[Quad] | None = [] if self._ahead.is_reading else None
            for quad in self._matching(pattern):
                if found is not None:
                    found.append(quad)
                yield quad
            if found is not None:
                self._ahead.keep(pattern, found)

    def count(self, pattern: Pattern, ceiling: int | None = None) -> int:
        if ceiling == 0 or self._matches_nothing(pattern):
            return 0
        known = self._ahead.find(pattern)
        if known is not None:
            return len(known) if ceiling is None else min(len(known), ceiling)
        group = group_of(pattern, self._engine)
        if is_compared_here(pattern, self._engine):
            return sum(1 for _ in islice(self._matching(pattern), ceiling))
        if ceiling is not None:
            group = f"{{ SELECT (1 AS ?one) {{ {group} }} LIMIT {ceiling} }}"
        counted = list(self._rows(f"SELECT (COUNT(*) AS ?n) {{ {group} }}"))
        number = counted[0]["n"] if len(counted) == 1 else None
        if not isinstance(number, Literal) or not re.fullmatch(r"\d{1,18}", number.value, re.ASCII):
            raise self._client.unavailable("returns something else for a count")
        return int(number.value)

    def graph_names(self) -> list[NamedNode]:
        if self._engine.ordered:
            text = "SELECT ?g { GRAPH ?g {} FILTER EXISTS { GRAPH ?g { ?s ?p ?o } } }"
        else:
            # Virtuoso takes seconds for the same with DISTINCT from a few thousand quads on.
            text = "SELECT ?g { GRAPH ?g { ?s ?p ?o } } GROUP BY ?g"
        return [graph for row in self._rows(text) if isinstance(graph := row["g"], NamedNode)]

    def as_stored(self, literal: Literal) -> Literal:
        """See `GraphStore`."""
        stored = self._spelling.of([literal], self._engine)[literal]
        self._objection(stored)
        return stored

    def bulk_insert(self, quads: Iterable[Quad]) -> None:
        """See `GraphStore`. In updates of up to 5,000 quads and about four megabytes."""
        for batch in batches(quads, min(_BULK, self._engine.batch), _BULK_SIZE):
            self._check(batch, batch if self._engine.by_value else ())
            self._update(data("INSERT", batch))
            self._ahead.forget()

    def bulk_load(self, path: Path, graph: NamedNode) -> None:
        try:
            self.bulk_insert(read_triples(path, graph))
        except OSError as error:
            raise self._client.unavailable(f"cannot load {path}: {error}") from error

    def query(
        self,
        text: str,
        dataset: Dataset,
        *,
        results: QueryResultsFormat = QueryResultsFormat.JSON,
        graphs: RdfFormat = RdfFormat.N_TRIPLES,
        timeout_s: float = 30.0,
        cancel: Cancellation | None = None,
    ) -> QueryAnswer:
        """See `GraphStore`. Which texts are allowed depends on the server; see `confinement.py`."""
        form = results if has_rows(text) else graphs
        confined = self._confined()
        check_text(text, confined, self._client.name)
        scope = Dataset(dataset.default or (NOTHING,), dataset.named or (NOTHING,))
        careful = None
        if confined is Confinement.FULL:  # it may be Oxigraph behind a proxy
            careful = careful_query(text, read_tokens(text, MOST_DEPTH), dataset, has_long_numbers=None)
        try:
            try:
                sent = text if careful is None else careful.text
                reply = self._protocol.query(sent, form.media_type, scope, timeout_s, cancel)
            except RefusedError:
                if careful is None:
                    raise
                reply = self._protocol.query(text, form.media_type, scope, timeout_s, cancel)  # for the place
        except RefusedError as error:
            raise invalid("query", f"is refused by {self._client.name}: {error}") from error
        chunks = whole(self._protocol, reply, form)
        next(chunks)
        return QueryAnswer(form, chunks, () if careful is None else careful.warnings)

    def own_rows(self, text: str, dataset: Dataset, timeout_s: float) -> list[QuerySolution]:
        """Return the rows of a SELECT of this package, which needs none of the checks of the text of a user."""
        try:
            return list(self._protocol.rows(text, dataset, timeout_s))
        except RefusedError as error:
            raise self._refused_request(error) from error

    def snapshot(self, folder: Path) -> bool:  # noqa: ARG002
        """See `GraphStore`: there are no files."""
        return False

    def flush(self) -> None:
        """See `GraphStore`: servers write to their disks themselves; this checks that the server answers."""
        self._ask(f"ASK {{ {NOTHING} ?p ?o }}")

    def close(self) -> None:
        self._client.close()

    @property
    def _engine(self) -> EngineProfile:
        if self._known is None:
            self.flush()
            self._known = engine_of(self._protocol.server)
        return self._known

    def _confined(self) -> Confinement:
        if self._confinement is None:
            row = next(self._rows("SELECT ?g { GRAPH ?g { ?s ?p ?o } } LIMIT 1"), None)
            if row is None:
                # An empty server cannot be tested; Oxigraph is known.
                return Confinement.FULL if self._engine is OXIGRAPH else Confinement.UNLESS_NAMED
            self._confinement = try_out(self._protocol.ask, row["g"])
            if self._engine.by_value and self._confinement is Confinement.FULL:
                self._confinement = Confinement.UNLESS_NAMED
        return self._confinement

    def _complete(self, read: Callable[[], T]) -> T:
        """Return what `read` returns when no row lacks a term; see `IncompleteRowError`."""
        try:
            return read_whole(self, read, IncompleteRowError)
        except RefusedError as error:
            raise self._refused_request(error) from error

    def _matching(self, pattern: Pattern) -> Iterator[Quad]:
        def begin() -> tuple[list[Quad], Iterator[Quad]]:
            rest = self._streamed(pattern)
            return list(islice(rest, _FIRST)), rest

        first, rest = self._complete(begin)
        yield from first
        yield from rest

    def _streamed(self, pattern: Pattern) -> Iterator[Quad]:
        for row in self._rows(f"{rows_of(pattern, self._engine)} {{ {group_of(pattern, self._engine)} }}"):
            if (quad := read_row(row, pattern, self._engine)) is not None:
                yield quad

    def _existing(self, quads: list[Quad]) -> set[Quad]:
        """Return the quads that exist."""
        engine = self._engine
        there: set[Quad] = set()
        distinct = list(dict.fromkeys(quads))
        if len(distinct) == 1:
            return {distinct[0]} if self.contains(distinct[0]) else set()
        known = {quad: self._ahead.find(pattern_of(quad)) for quad in distinct}
        there |= {quad for quad, found in known.items() if found}
        asked = [quad for quad in distinct if known[quad] is None]
        for start in range(0, len(asked), _CHECKED):
            batch = [pattern_of(quad) for quad in asked[start : start + _CHECKED]]
            branches = [group_of(pattern, engine) for pattern in batch]
            there.update(found for _, found in self._existing_of(existence_of(branches, engine), batch) if found)
        return there

    def _existing_of(self, text: str, batch: list[Pattern]) -> Iterator[tuple[int, Quad | None]]:
        """Yield, for each row of an existence query, the index of its pattern, and the quad if it is identical."""
        for row in self._rows(text):
            place = self._place(row, len(batch))
            yield place, read_row(row, batch[place], self._engine)

    def _place(self, row: QuerySolution, count: int) -> int:
        """Return the index in a row, of `count` patterns."""
        place = row["i"]
        if not isinstance(place, Literal) or place.value not in map(str, range(count)):
            raise self._client.unavailable("returns something else for the index of a pattern")
        return int(place.value)

    def _check(self, quads: Sequence[Quad], new: Iterable[Quad]) -> None:
        """Refuse quads that the server would change; `new` are those that are known to be new."""
        self._refuse(quads)
        engine = self._engine
        if engine.spelling is None:
            literals = dict.fromkeys(quad.object for quad in quads if isinstance(quad.object, Literal))
            for literal, stored in self._spelling.of(literals, engine).items():
                if stored != literal:
                    raise invalid("object", f"is {str(literal)[:200]}, and {self._client.name} stores it as {stored}")
        if engine.by_value:
            self._refuse_equals(list(new))

    def _refuse_equals(self, quads: list[Quad]) -> None:
        """Refuse quads that a server with `by_value` would take for others."""
        engine = self._engine
        alike = LiteralForms.alike(quads)
        looked_at = [pattern for pattern in map(pattern_of, quads) if is_compared_here(pattern, engine)]
        for start in range(0, len(looked_at), _CHECKED):
            batch = looked_at[start : start + _CHECKED]
            branches = [group_of(pattern, engine) for pattern in batch]
            for place, found in self._existing_of(existence_of(branches, engine), batch):
                if found is None:
                    alike = alike or _quad_of(batch[place])
        if alike is not None:
            raise invalid(
                "object",
                f"is {alike.object}, and {self._client.name} has, or would have, an equal value of another type there",
                hint=f"{self._engine.name} takes both for the same term; use another predicate, or another store",
            )

    def _refuse(self, quads: Sequence[Quad]) -> None:
        """Refuse terms that the server cannot store."""
        for term in {term for quad in quads for term in (*quad.triple, quad.graph_name)}:
            self._objection(cast(Term, term))

    def _matches_nothing(self, pattern: Pattern) -> bool:
        """Return whether nothing can match, since the server cannot store a term of the pattern."""
        terms = (pattern.graph, pattern.subject, pattern.predicate, pattern.object_)
        return any(self._engine.objection(term) for term in terms if term is not None)

    def _objection(self, term: Term) -> None:
        if objection := self._engine.objection(term):
            raise invalid(
                "object" if isinstance(term, Literal) else "name",
                f"is {str(term)[:200]}, and {self._engine.name} {objection}",
                hint="see the table of engines in docs/graph.md",
            )

    def _write(self, verb: str, quads: Sequence[Quad]) -> None:
        for start in range(0, len(quads), self._engine.batch):
            self._update(data(verb, quads[start : start + self._engine.batch]))

    def _ask(self, text: str) -> bool:
        try:
            return self._protocol.ask(text)
        except RefusedError as error:
            raise self._refused_request(error) from error

    def _rows(self, text: str) -> Generator[QuerySolution, None, None]:
        try:
            yield from self._protocol.rows(text)
        except RefusedError as error:
            raise self._refused_request(error) from error

    def _update(self, text: str) -> bytes:
        try:
            return self._protocol.update(text)
        except RefusedError as error:
            self._ahead.forget()
            raise self._refused_request(error) from error
        except GraphError:
            self._ahead.forget()
            raise

    def _refused_request(self, error: RefusedError) -> Exception:
        return self._client.unavailable(f"refuses a request: {error}", hint="check that it supports SPARQL 1.1")


def _quad_of(pattern: Pattern) -> Quad:
    return Quad(*cast(Any, (pattern.subject, pattern.predicate, pattern.object_, pattern.graph)))


def _is_whole(pattern: Pattern) -> bool:
    return None not in (pattern.subject, pattern.predicate, pattern.object_)
