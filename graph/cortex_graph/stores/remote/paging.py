"""Pages of a pattern on a server.

Rules kept here:
- a quad that exists from the first page to the last is on one of them, also during writes;
- a server with a stable order is queried by offset, and the mark of the last quad is searched, as in the embedded
  store;
- any other server returns the first page in any order. When there are more quads, the pages are in the order of a hash
  of the quads, which the server computes: a cursor contains the last hash, and no data;
- a page is read only as far as its size allows.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing

from pyoxigraph import Literal, Quad, QuerySolution

from cortex_graph.exceptions import GraphUnavailable
from cortex_graph.store import PAGE_BYTES, Page, Pattern
from cortex_graph.store_access.cursors import Position, mark_of, read_cursor, write_cursor
from cortex_graph.stores.remote.engines import EngineProfile
from cortex_graph.stores.remote.sparql_protocol import SparqlProtocol
from cortex_graph.stores.remote.sparql_texts import digits_of, group_of, key_of, read_row, rows_of

_NEARBY = 1_000  # how far from its old offset the last quad of a page is searched
_DIGITS = 31  # of a key, in hexadecimal: 16 in a cursor's mark, the rest in its offset


def page_of(protocol: SparqlProtocol, engine: EngineProfile, pattern: Pattern, limit: int, cursor: str | None) -> Page:
    """Return a page; see `GraphStore.match`."""
    last = None if cursor is None else read_cursor(pattern, cursor)
    if engine.ordered:
        offset = 0 if last is None else _offset(protocol, engine, pattern, last)
        found, _, more = _taken(_slice(protocol, engine, pattern, offset, limit + 1), limit)
        if not more:
            return Page.of(pattern.graph, found, None)
        return Page.of(pattern.graph, found, write_cursor(pattern, Position(offset + len(found), mark_of(found[-1]))))
    if last is None:
        found, _, more = _taken(_slice(protocol, engine, pattern, 0, limit + 1), limit)
        if not more:
            return Page.of(pattern.graph, found, None)
    return _keyed(protocol, engine, pattern, limit, last)


def counted_page_of(
    protocol: SparqlProtocol, engine: EngineProfile, pattern: Pattern, limit: int, cursor: str | None, ceiling: int
) -> tuple[Page, int | None]:
    """Return a page, and how many quads the pattern has, up to `ceiling`; see `CountingPages.match_counted`.

    The number is in a row before those of the page, or behind them. It is None where the page ends before that, since
    its quads are long.
    """
    last = None if cursor is None else read_cursor(pattern, cursor)
    if last is not None and not engine.ordered:
        return _keyed(protocol, engine, pattern, limit, last), None
    offset = 0 if last is None else _offset(protocol, engine, pattern, last)
    number: int | None = None
    text = (
        f"SELECT * {{ {{ {slice_text(pattern, engine, offset, limit + 1)} }} UNION "
        f"{{ SELECT (COUNT(*) AS ?n) {{ SELECT (1 AS ?one) {{ {group_of(pattern, engine)} }} LIMIT {ceiling} }} }} }}"
    )

    def quads() -> Generator[Quad | None, None, None]:
        nonlocal number
        seen = 0
        with closing(protocol.rows(text)) as rows:
            for row in rows:
                if (found := _number(row)) is not None:
                    number = found
                    continue
                seen += 1
                if seen > limit and (following := next(rows, None)) is not None:
                    number = _number(following) if number is None else number
                yield read_row(row, pattern, engine)

    found, _, more = _taken(quads(), limit)
    if not more:
        return Page.of(pattern.graph, found, None), number
    if not engine.ordered:
        return _keyed(protocol, engine, pattern, limit, None), number
    after = write_cursor(pattern, Position(offset + len(found), mark_of(found[-1])))
    return Page.of(pattern.graph, found, after), number


def _number(row: QuerySolution) -> int | None:
    """Return the number in the row of a count; None in another row."""
    try:
        number = row["n"]
    except KeyError:
        return None
    is_number = isinstance(number, Literal) and number.value.isascii() and number.value.isdigit()
    return int(number.value) if is_number and len(number.value) < 19 else None


def slice_text(pattern: Pattern, engine: EngineProfile, offset: int, length: int) -> str:
    """Return the query for some rows of a pattern."""
    window = (f" OFFSET {offset}" if offset else "") + f" LIMIT {length}"
    return f"{rows_of(pattern, engine)} {{ {group_of(pattern, engine)} }}{window}"


def _slice(
    protocol: SparqlProtocol, engine: EngineProfile, pattern: Pattern, offset: int, length: int
) -> Generator[Quad | None, None, None]:
    with closing(protocol.rows(slice_text(pattern, engine, offset, length))) as rows:
        for row in rows:
            yield read_row(row, pattern, engine)


def _taken(quads: Generator[Quad | None, None, None], limit: int) -> tuple[list[Quad], int, bool]:
    """Return the quads of a page, the number of rows read for them, and whether there are more."""
    found: list[Quad] = []
    room, rows = PAGE_BYTES, 0
    with closing(quads) as rest:
        for quad in rest:
            room -= 0 if quad is None else len(str(quad).encode())
            if rows == limit:
                next(rest, None)  # the end of the response, so that its connection is used again
                return found, rows, True
            if found and room < 0:
                return found, rows, True
            rows += 1
            if quad is not None:
                found.append(quad)
    return found, rows, False


def _offset(protocol: SparqlProtocol, engine: EngineProfile, pattern: Pattern, last: Position) -> int:
    """Return the offset after the last quad that was read."""
    found, _, _ = _taken(_slice(protocol, engine, pattern, last.offset - 1, 1), 1)
    before = found[0] if found else None
    if before is not None and mark_of(before) == last.mark:
        return last.offset
    start = max(0, last.offset - _NEARBY)
    with closing(_slice(protocol, engine, pattern, start, 2 * _NEARBY)) as nearby:
        for place, quad in enumerate(nearby, start):
            if quad is not None and mark_of(quad) == last.mark:
                return place + 1
    return 0


def _keyed(
    protocol: SparqlProtocol, engine: EngineProfile, pattern: Pattern, limit: int, last: Position | None
) -> Page:
    behind = "" if last is None else f" FILTER(?key > '{_key_of(last)}')"
    text = (
        f"SELECT ?s ?p ?o ?key{digits_of(engine)} "
        f"{{ {group_of(pattern, engine)} BIND({key_of(pattern)} AS ?key){behind} }} "
        f"ORDER BY ?key LIMIT {limit + 1}"
    )
    keys: list[str] = []

    def quads() -> Generator[Quad | None, None, None]:
        with closing(protocol.rows(text)) as answer:
            for row in answer:
                key = row["key"]
                if (
                    not isinstance(key, Literal)
                    or len(key.value) != _DIGITS
                    or set(key.value) - set("0123456789abcdef")
                ):
                    raise GraphUnavailable(
                        f"{protocol.client.name} returns {str(key)[:100]} for a hash",
                        hint="see whether this is a SPARQL 1.1 server",
                    )
                keys.append(key.value)
                yield read_row(row, pattern, engine)

    found, rows, more = _taken(quads(), limit)
    return Page.of(pattern.graph, found, write_cursor(pattern, _position_of(keys[rows - 1])) if more else None)


def _position_of(key: str) -> Position:
    return Position(int(key[16:], 16) + 1, bytes.fromhex(key[:16]))


def _key_of(position: Position) -> str:
    return position.mark.hex() + f"{min(position.offset - 1, 16**15 - 1):015x}"
