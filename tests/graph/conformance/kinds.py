"""The stores that the suite runs against, and in what they may differ.

Another kind of store joins with one line in `KINDS`, and one fixture of that name that opens it (`conftest.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from cortex_graph import GraphStore


@dataclass(frozen=True)
class Kind:
    """A kind of store.

    Attributes:
        name: the name of the fixture that opens it.
        refuses: the terms of `terms.py` that it refuses to store.
        equals_apart: whether `1`, `1.0` and `true` are different objects of the same subject and predicate.
        any_query: whether a query may name graphs.
        any_graph: whether a graph may have any name, and not only that of a namespace.
        server: whether each operation is a request; there are fewer examples then.
        extended: whether only `make test-all` runs it.

    """

    name: str
    refuses: frozenset[str] = field(default_factory=frozenset)
    equals_apart: bool = True
    any_query: bool = True
    any_graph: bool = True
    server: bool = True
    extended: bool = False


_VIRTUOSO = """
integer-past-64-bits integer-nearly-most integer-of-19-digits long-first long-last integer-huge integer-least
integer-no-number integer-most decimal-long decimal-huge decimal-of-54-digits double-nan float-nan float-least
float-infinite double-no-number boolean-no-boolean unsignedLong-most dateTime-fine dateTime-before-christ
dateTime-far dateTime-no-date date-before-christ time time-zone duration dayTimeDuration yearMonthDuration
gYear gYearMonth gMonthDay gMonth gDay direction-ltr direction-rtl xmlLiteral iri-3000
"""

KINDS = (
    Kind("memory_store", server=False),
    Kind("disk_store", server=False),
    Kind("owned_store"),
    Kind("oxigraph_store"),
    Kind("unknown_server_store"),
    Kind("virtuoso_store", refuses=frozenset(_VIRTUOSO.split()), equals_apart=False, any_query=False, extended=True),
    Kind("cortex_store", any_graph=False),
)


@dataclass(frozen=True)
class Subject:
    """A store under test, and its kind."""

    kind: Kind
    store: GraphStore
