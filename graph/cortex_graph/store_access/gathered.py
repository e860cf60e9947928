"""The quads of several patterns: a server is asked for all of them in one request.

Rules kept here:
- the answer has the quads of each pattern, in the order of the patterns;
- a store that cannot gather is asked for one pattern after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from pyoxigraph import Quad

from cortex_graph.store import GraphStore, Page, Pattern


@runtime_checkable
class Gathering(GraphStore, Protocol):
    """A store to which each request costs more than what it answers."""

    def gather(self, patterns: Sequence[Pattern]) -> list[list[Quad]]:
        """Do what `gathered` of this module does."""


@runtime_checkable
class CountingPages(GraphStore, Protocol):
    """A store that counts a pattern with its page."""

    def match_counted(self, pattern: Pattern, limit: int, cursor: str | None, ceiling: int) -> tuple[Page, int]:
        """Return what `match` and `count` return, in one request where the order of the store allows that."""


def gathered(store: GraphStore, patterns: Sequence[Pattern]) -> list[list[Quad]]:
    """Return the quads of each pattern.

    Raises:
        GraphUnavailable: the store does not answer.
    """
    if isinstance(store, Gathering):
        return store.gather(patterns)
    return [list(store.quads(pattern)) for pattern in patterns]


def counted_page(store: GraphStore, pattern: Pattern, limit: int, ceiling: int) -> tuple[Page, int]:
    """Return the first page of a pattern, and how many quads it has, up to `ceiling`.

    Raises:
        GraphUnavailable: the store does not answer.
    """
    if isinstance(store, CountingPages):
        return store.match_counted(pattern, limit, None, ceiling)
    page = store.match(pattern, limit)
    return page, len(page.triples) if page.cursor is None else store.count(pattern, ceiling)
