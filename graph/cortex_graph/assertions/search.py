"""Finds the records of a page of assertions, the newest first.

Rules kept here:
- a page reads a bounded number of records, however many there are:
  - the times of a namespace are read from the latest one on (`record_times.py`), and only the records of these times;
  - the records of a rare subject, agent or skill are all read, and sorted here; of some more the store sorts the times;
  - a server sorts its records itself, and is asked once;
- while the times of a store of an earlier version are not all indexed, the store sorts them, too;
- a record that is added meanwhile is on no later page, and none is listed twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from pyoxigraph import Literal, NamedNode

from cortex_graph.assertion_records.records import instant, read_records, select
from cortex_graph.assertions.cursors import ID, OF_STORE, Place, cursor_of, place_of
from cortex_graph.assertions.filters import AssertionFilter, PastView, RecordFilter, time_literal, time_made
from cortex_graph.checks.datetimes import date_time
from cortex_graph.index.record_times import RecordTimes
from cortex_graph.namespace.namespaced import NamespacedGraph
from cortex_graph.naming.vocabulary import GENERATED_AT
from cortex_graph.store import Pattern

_FEW = 1000  # records that are all read, and sorted here
_JOINED = 20_000  # records with a term of the filter, from which only the times are queried
_SCANNED = 2000  # records, and times without one, that are looked at for one page

Found = tuple[list[NamedNode], Place | None]  # the records of a page, and the place of the next one


class AssertionSearch:
    """The records of a namespace that pass a filter. As of a moment those of today are searched, and read as of it."""

    def __init__(self, graph: NamespacedGraph, which: AssertionFilter) -> None:
        self._names = graph.names
        self._filter = RecordFilter(graph, which)
        self._with_withdrawn = which.withdrawn
        self._past = graph.store if isinstance(graph.store, PastView) else None
        self._store = graph.store if self._past is None else self._past.base
        self._times = graph.times if self._past is None else RecordTimes(self._store, graph.names)

    def page(self, limit: int, after: Place | None) -> Found:
        """Return the newest records after a place, up to a number, and the place of the next page."""
        if not self._store.keeps_order:
            return self._sorted_by_server(limit, after)
        has_times = self._times.is_complete()
        terms = self._filter.terms()
        if not (has_times and not terms) and (after is None or not after.is_of_store):
            few = self._few()
            if few is not None:
                return self._sorted_here(few, limit, after)
        if not has_times and self._past is None:
            self._times.complete()
        is_selective = self._is_selective()
        if has_times and not is_selective:
            return self._by_times(self._latest(after), limit, after)
        times = self._sorted_times(limit + 1, after, joined=is_selective)
        found, following = self._by_times(times, limit, after)
        if following is None and len(times) > limit:
            following = Place(times[-1], OF_STORE)
        return found, following

    def as_read(self, nodes: list[NamedNode]) -> list[NamedNode]:
        """Return the records that were there as of the moment, if there is one."""
        if self._past is None:
            return nodes
        read = self._past.read_as(self._names.provenance_graph, nodes)
        start = f"{self._names.graph.value}/{'' if self._with_withdrawn else 'triple/'}"
        return [node for node in read if node is not None and node.value.startswith(start)]

    def cursor(self, after: Place) -> str:
        """Return the cursor of a place."""
        return cursor_of(after, self._filter.identity)

    def place(self, cursor: str) -> Place:
        """Return the place of a cursor; raises `InvalidArguments` for one that is malformed or of another query."""
        return place_of(cursor, self._filter.identity)

    def _is_selective(self) -> bool:
        """Return whether joining the records with the filter costs less than reading the times of all."""
        graph, count = self._names.provenance_graph, self._store.count
        return any(
            sum(count(Pattern(graph, None, *each), _JOINED) for each in union) < _JOINED
            for union in self._filter.terms()
        )

    def _few(self) -> list[NamedNode] | None:
        """Return the nodes with one of the terms of the filter, or all with a time, if they are few."""
        asked: list[Sequence[tuple[NamedNode, NamedNode | Literal | None]]] = [*self._filter.terms()]
        for union in [*asked, [(GENERATED_AT, None)]]:
            nodes: dict[NamedNode, None] = {}
            for predicate, object_ in union:
                found = self._store.match(Pattern(self._names.provenance_graph, None, predicate, object_), _FEW)
                nodes.update(dict.fromkeys(triple[0] for triple in found.triples))
                if found.cursor is not None or len(nodes) > _FEW:
                    break
            else:
                return list(nodes)
        return None

    def _sorted_here(self, nodes: list[NamedNode], limit: int, after: Place | None) -> Found:
        """Return a page of few records, which are all read."""
        passing = self._passing(nodes)
        rows = sorted(passing, key=lambda row: row[0].value)
        rows.sort(key=lambda row: row[1], reverse=True)
        if after is not None:
            moment = instant(time_literal(after.time))
            rows = [
                row for row in rows if moment is None or row[1] < moment or (row[1] == moment and row[2] > after.record)
            ]
        last = rows[limit - 1] if len(rows) > limit else None
        return [row[0] for row in rows[:limit]], None if last is None else Place(date_time(last[1]), last[2])

    def _by_times(self, times: Iterable[str], limit: int, after: Place | None) -> Found:
        """Return a page of the records of some times, the latest first; in the order of the store within each.

        The records of a time are in the index of the store.
        """
        found: list[NamedNode] = []
        scanned = 0
        before: str | None = None
        for time in times:
            if before is not None and (len(found) >= limit or scanned >= _SCANNED):
                return found, Place(before, OF_STORE)
            of_time = Pattern(self._names.provenance_graph, None, GENERATED_AT, time_literal(time))
            following = self._within(time, after)
            while True:
                page = self._store.match(of_time, max(1, limit - len(found)), following)
                rows = self._passing([triple[0] for triple in page.triples])
                if after is not None and not after.is_of_store and time == after.time:
                    rows = [row for row in rows if row[2] > after.record]
                found += [row[0] for row in rows]
                scanned, following = scanned + max(1, len(page.triples)), page.cursor
                if following is None:
                    break
                if len(found) >= limit or scanned >= _SCANNED:
                    return found, Place(time, OF_STORE + following)
            before = time
        return found, None

    @staticmethod
    def _within(time: str, after: Place | None) -> str | None:
        """Return the cursor of the store from which the records of a time are read."""
        if after is None or time != after.time or not after.is_of_store:
            return None
        return after.record.removeprefix(OF_STORE) or None

    def _latest(self, after: Place | None) -> Iterator[str]:
        """Yield the times of records after a place, the latest first."""
        start = None if after is None else instant(time_literal(after.time))
        bounds = [each for each in (self._filter.until, start) if each is not None]
        since = self._filter.since
        for time in self._times.latest_first(min(bounds, default=None)):
            moment = instant(time)
            if moment is None or (since is not None and moment < since):
                return
            if after is not None and moment == start and _is_passed(time.value, after):
                continue
            yield time.value

    def _sorted_times(self, most: int, after: Place | None, *, joined: bool) -> list[str]:
        """Return the latest times at which records that pass the filter may have been made, as the store sorts them."""
        lines = self._filter.lines(joined=joined)
        if after is not None:
            lines.append(f"FILTER(?t {'<' if after.record == OF_STORE else '<='} {time_literal(after.time)})")
        text = f"SELECT DISTINCT ?t {{ {' '.join(lines)} }} ORDER BY DESC(?t) LIMIT {most}"
        rows = select(self._store, self._names.provenance_graph, text)
        return [row["t"].value for row in rows if isinstance(row["t"], Literal)]

    def _passing(self, nodes: Sequence[NamedNode]) -> list[tuple[NamedNode, datetime, str]]:
        """Return those records that pass the filter, with their times and their names in the namespace."""
        kinds = self._filter.kinds
        nodes = [node for node in nodes if (self._local(node) or "").startswith(kinds)]
        found = []
        for node, record in read_records(self._store, self._names, nodes).items():
            made = time_made(record)
            if made is not None and self._filter.passes(record, made):
                found.append((node, made, self._local(node) or ""))
        return found

    def _sorted_by_server(self, limit: int, after: Place | None) -> Found:
        """Return a page that a server sorts, with one request."""
        lines = self._filter.lines()
        starts = (f'STRSTARTS(STR(?r), "{self._names.graph.value}/{kind}/")' for kind in self._filter.kinds)
        lines.append(f"FILTER({' || '.join(starts)})")
        if after is not None:
            time, record = time_literal(after.time), f'"{self._names.graph.value}/{after.record}"'
            lines.append(f"FILTER(?t < {time} || (?t = {time} && STR(?r) > {record}))")
        text = f"SELECT ?r ?t {{ {' '.join(lines)} }} ORDER BY DESC(?t) STR(?r) LIMIT {limit + 1}"
        found: list[tuple[NamedNode, Place]] = []
        for row in select(self._store, self._names.provenance_graph, text):
            node, made = row["r"], row["t"]
            if isinstance(node, NamedNode) and isinstance(made, Literal) and (local := self._local(node)):
                found.append((node, Place(made.value, local)))
        return [node for node, _ in found[:limit]], found[limit - 1][1] if len(found) > limit else None

    def _local(self, node: NamedNode) -> str | None:
        local = node.value.removeprefix(f"{self._names.graph.value}/")
        return local if ID.fullmatch(local) else None


def _is_passed(time: str, after: Place) -> bool:
    """Return whether a time that is the same instant as that of a place comes before it, or is done there."""
    return time > after.time or (time == after.time and after.record == OF_STORE)
