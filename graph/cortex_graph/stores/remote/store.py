"""A store behind a SPARQL 1.1 endpoint.

Rules kept here:
- every operation names its graph; nothing of a user's but whole terms gets into the texts of the operations;
- a change is one update request. SPARQL 1.1 Update §2.2 asks servers to carry it out as one; Oxigraph does. Virtuoso
  takes 500 quads at once, and keeps what was done before an operation that failed: repeating the call mends it;
- "is it there, then write" is two requests. Threads of one process wait for each other; of two processes that create
  the same quad both may be told that they did, and there is one;
- a term that the server would change is refused before it is sent (`engines.py`).
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, cast

from pyoxigraph import Literal, NamedNode, Quad, QueryResultsFormat, QuerySolution, RdfFormat

from cortex_graph.errors import invalid
from cortex_graph.files import read_triples
from cortex_graph.stopping import Stop
from cortex_graph.store import Answer, Dataset, Page, Pattern
from cortex_graph.stores.http.client import HttpClient
from cortex_graph.stores.http.portions import portions
from cortex_graph.stores.remote.answers import has_rows, whole
from cortex_graph.stores.remote.confinement import NOTHING, Confinement, check_text, try_out
from cortex_graph.stores.remote.endpoints import Endpoints
from cortex_graph.stores.remote.engines import OXIGRAPH, Engine, Term, engine_of
from cortex_graph.stores.remote.paging import page_of
from cortex_graph.stores.remote.protocol import Protocol, RefusedError
from cortex_graph.stores.remote.spelling import Spelling
from cortex_graph.stores.remote.wire import (
    data,
    existence_of,
    group_of,
    is_looked_at,
    read_row,
    rows_of,
)

_CHECKED = 50  # quads whose existence is asked for in one query
_BULK = 5_000
_BULK_SIZE = 4 << 20  # characters


class RemoteStore:
    """A store on a server. Nothing is asked of it before the first operation.

    Args:
        endpoints: where it is.
        timeout_s: how long each operation may take, in seconds.
        client: what carries the requests; one of its own unless told.
        engine: what kind of server it is; asked of it unless told.

    """

    bulk_is_atomic = False
    keeps_order = False  # an answer must have ended when its time is over

    def __init__(
        self,
        endpoints: Endpoints,
        *,
        timeout_s: float = 30.0,
        client: HttpClient | None = None,
        engine: Engine | None = None,
    ) -> None:
        self.maintenance = threading.Lock()
        self._client = client or HttpClient(endpoints.query, endpoints.credentials, timeout_s=timeout_s)
        self._protocol = Protocol(endpoints, self._client)
        self._spelling = Spelling(self._protocol)
        self._writing = threading.Lock()
        self._known = engine
        self._confinement: Confinement | None = None

    def __repr__(self) -> str:
        return f"RemoteStore({self._client.name!r})"

    def contains(self, quad: Quad) -> bool:
        """See `GraphStore`."""
        pattern = _pattern_of(quad)
        if self._holds_none(pattern):
            return False
        if is_looked_at(pattern, self._engine):
            return any(True for _ in self._matching(pattern))
        return self._ask(f"ASK {{ {group_of(pattern, self._engine)} }}")

    def insert(self, groups: Sequence[Sequence[Quad]]) -> list[bool]:
        """See `GraphStore`. One query for 50 groups, then one update; `created` may be told to two racing processes."""
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
            self._write("INSERT", [quad for group in new.values() for quad in group])
        return written

    def remove(self, quad: Quad, about: Iterable[tuple[NamedNode, NamedNode]] = ()) -> bool:
        """See `GraphStore`."""
        described = [f"DELETE WHERE {{ GRAPH {graph} {{ {subject} ?p ?o }} }}" for graph, subject in about]
        with self._writing:
            if not self.contains(quad):
                return False
            self._update("; ".join([*described, data("DELETE", [quad])]))
        return True

    def apply(self, insert: Iterable[Quad] = (), remove: Iterable[Quad] = ()) -> None:
        """See `GraphStore`."""
        inserted, removed = list(insert), list(remove)
        if not inserted and not removed:
            self._engine  # noqa: B018 - a store that is closed or gone says so
            return
        with self._writing:
            self._check(inserted, ())
            if len(inserted) + len(removed) <= self._engine.batch:
                parts = [data(verb, quads) for verb, quads in (("DELETE", removed), ("INSERT", inserted)) if quads]
                self._update("; ".join(parts))
                return
            self._write("DELETE", removed)
            self._write("INSERT", inserted)

    def match(self, pattern: Pattern, limit: int, cursor: str | None = None) -> Page:
        """See `GraphStore`."""
        if _is_whole(pattern) or self._holds_none(pattern):
            return Page.of(pattern.graph, self.quads(pattern), None)
        try:
            return page_of(self._protocol, self._engine, pattern, limit, cursor)
        except RefusedError as error:
            raise self._not_taken(error) from error

    def quads(self, pattern: Pattern) -> Iterator[Quad]:
        """See `GraphStore`. Read as they come, in one answer."""
        if _is_whole(pattern):
            quad = _quad_of(pattern)
            if self.contains(quad):
                yield quad
            return
        if not self._holds_none(pattern):
            yield from self._matching(pattern)

    def count(self, pattern: Pattern, ceiling: int | None = None) -> int:
        """See `GraphStore`."""
        if ceiling == 0 or self._holds_none(pattern):
            return 0
        group = group_of(pattern, self._engine)
        if is_looked_at(pattern, self._engine):
            return sum(1 for _ in islice(self._matching(pattern), ceiling))
        if ceiling is not None:
            group = f"{{ SELECT (1 AS ?one) {{ {group} }} LIMIT {ceiling} }}"
        counted = list(self._rows(f"SELECT (COUNT(*) AS ?n) {{ {group} }}"))
        number = counted[0]["n"] if len(counted) == 1 else None
        if not isinstance(number, Literal) or not re.fullmatch(r"\d{1,18}", number.value, re.ASCII):
            raise self._client.unavailable("answers a count with something else")
        return int(number.value)

    def graph_names(self) -> list[NamedNode]:
        """See `GraphStore`."""
        if self._engine.ordered:
            text = "SELECT ?g { GRAPH ?g {} FILTER EXISTS { GRAPH ?g { ?s ?p ?o } } }"
        else:
            text = "SELECT DISTINCT ?g { GRAPH ?g { ?s ?p ?o } }"
        return [graph for row in self._rows(text) if isinstance(graph := row["g"], NamedNode)]

    def as_stored(self, literal: Literal) -> Literal:
        """See `GraphStore`.

        Raises:
            InvalidArguments: this server would change it beyond its spelling.

        """
        stored = self._spelling.of([literal], self._engine)[literal]
        self._objection(stored)
        return stored

    def bulk_insert(self, quads: Iterable[Quad]) -> None:
        """See `GraphStore`. In updates of up to 5,000 quads and about four megabytes."""
        for portion in portions(quads, min(_BULK, self._engine.batch), _BULK_SIZE):
            self._check(portion, portion if self._engine.by_value else ())
            self._update(data("INSERT", portion))

    def bulk_load(self, path: Path, graph: NamedNode) -> None:
        """See `GraphStore`."""
        try:
            self.bulk_insert(read_triples(path, graph))
        except OSError as error:
            raise self._client.unavailable(f"was to load {path}, which cannot be read: {error}") from error

    def query(
        self,
        text: str,
        dataset: Dataset,
        *,
        results: QueryResultsFormat = QueryResultsFormat.JSON,
        graphs: RdfFormat = RdfFormat.N_TRIPLES,
        timeout_s: float = 30.0,
        stop: Stop | None = None,
    ) -> Answer:
        """See `GraphStore`. What may be asked depends on the server; see `confinement.py`."""
        form = results if has_rows(text) else graphs
        check_text(text, self._confined(), self._client.name)
        scope = Dataset(dataset.default or (NOTHING,), dataset.named or (NOTHING,))
        try:
            reply = self._protocol.query(text, form.media_type, scope, timeout_s, stop)
        except RefusedError as error:
            raise invalid("query", f"is not taken by {self._client.name}: {error}") from error
        chunks = whole(self._protocol, reply, form)
        next(chunks)
        return Answer(form, chunks)

    def snapshot(self, folder: Path) -> bool:  # noqa: ARG002
        """See `GraphStore`: there are no files here."""
        return False

    def flush(self) -> None:
        """See `GraphStore`: what a server has answered is its own affair; this asks whether it is there."""
        self._ask(f"ASK {{ {NOTHING} ?p ?o }}")

    def close(self) -> None:
        """See `GraphStore`."""
        self._client.close()

    @property
    def _engine(self) -> Engine:
        if self._known is None:
            self.flush()
            self._known = engine_of(self._protocol.server)
        return self._known

    def _confined(self) -> Confinement:
        if self._confinement is None:
            row = next(self._rows("SELECT ?g { GRAPH ?g { ?s ?p ?o } } LIMIT 1"), None)
            if row is None:
                # Nothing to try it with; that of Oxigraph is known.
                return Confinement.FULL if self._engine is OXIGRAPH else Confinement.UNLESS_NAMED
            self._confinement = try_out(self._protocol.ask, row["g"])
            if self._engine.by_value and self._confinement is Confinement.FULL:
                self._confinement = Confinement.UNLESS_NAMED
        return self._confinement

    def _matching(self, pattern: Pattern) -> Iterator[Quad]:
        for row in self._rows(f"{rows_of(pattern, self._engine)} {{ {group_of(pattern, self._engine)} }}"):
            if (quad := read_row(row, pattern, self._engine)) is not None:
                yield quad

    def _existing(self, quads: list[Quad]) -> set[Quad]:
        """Those of the quads that are there."""
        engine = self._engine
        there: set[Quad] = set()
        distinct = list(dict.fromkeys(quads))
        if len(distinct) == 1:
            return {distinct[0]} if self.contains(distinct[0]) else set()
        for start in range(0, len(distinct), _CHECKED):
            portion = [_pattern_of(quad) for quad in distinct[start : start + _CHECKED]]
            branches = [group_of(pattern, engine) for pattern in portion]
            there.update(found for _, found in self._found(existence_of(branches, engine), portion) if found)
        return there

    def _found(self, text: str, portion: list[Pattern]) -> Iterator[tuple[int, Quad | None]]:
        """For each row of a question about existence: its place, and the quad if it is the one that was asked for."""
        for row in self._rows(text):
            place = row["i"]
            if not isinstance(place, Literal) or place.value not in map(str, range(len(portion))):
                raise self._client.unavailable("answers a question with something else")
            yield int(place.value), read_row(row, portion[int(place.value)], self._engine)

    def _check(self, quads: Sequence[Quad], new: Iterable[Quad]) -> None:
        """Refuse what the server would not keep as it is; `new` are those that are known not to be there."""
        self._refuse(quads)
        engine = self._engine
        if engine.spelling is None:
            literals = dict.fromkeys(quad.object for quad in quads if isinstance(quad.object, Literal))
            for literal, stored in self._spelling.of(literals, engine).items():
                if stored != literal:
                    raise invalid("object", f"is {str(literal)[:200]}, and {self._client.name} keeps it as {stored}")
        if engine.by_value:
            self._refuse_equals(list(new))

    def _refuse_equals(self, quads: list[Quad]) -> None:
        """Refuse quads that a server that goes by values would take for others."""
        engine = self._engine
        alike = Spelling.alike(quads)
        looked_at = [pattern for pattern in map(_pattern_of, quads) if is_looked_at(pattern, engine)]
        for start in range(0, len(looked_at), _CHECKED):
            portion = looked_at[start : start + _CHECKED]
            branches = [group_of(pattern, engine) for pattern in portion]
            for place, found in self._found(existence_of(branches, engine), portion):
                if found is None:
                    alike = alike or _quad_of(portion[place])
        if alike is not None:
            raise invalid(
                "object",
                f"is {alike.object}, and {self._client.name} has, or would have, an equal value of another type there",
                hint=f"{self._engine.name} takes both for the same; use another predicate, or another store",
            )

    def _refuse(self, quads: Sequence[Quad]) -> None:
        """Refuse terms that the server cannot keep."""
        for term in {term for quad in quads for term in (*quad.triple, quad.graph_name)}:
            self._objection(cast(Term, term))

    def _holds_none(self, pattern: Pattern) -> bool:
        """Whether nothing can match, since the server could not keep it."""
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
            raise self._not_taken(error) from error

    def _rows(self, text: str) -> Iterator[QuerySolution]:
        try:
            yield from self._protocol.rows(text)
        except RefusedError as error:
            raise self._not_taken(error) from error

    def _update(self, text: str) -> None:
        try:
            self._protocol.update(text)
        except RefusedError as error:
            raise self._not_taken(error) from error

    def _not_taken(self, error: RefusedError) -> Exception:
        return self._client.unavailable(f"does not take our request: {error}", hint="see whether it speaks SPARQL 1.1")


def _pattern_of(quad: Quad) -> Pattern:
    return Pattern(*cast(Any, (quad.graph_name, quad.subject, quad.predicate, quad.object)))


def _quad_of(pattern: Pattern) -> Quad:
    return Quad(*cast(Any, (pattern.subject, pattern.predicate, pattern.object_, pattern.graph)))


def _is_whole(pattern: Pattern) -> bool:
    return None not in (pattern.subject, pattern.predicate, pattern.object_)
