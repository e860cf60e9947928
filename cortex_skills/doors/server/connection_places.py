"""`ConnectionPlaces`: which connections are kept when there are too many.

Rules kept here:
- a new connection always gets a place, and has not shown a token yet;
- when there are too many, the connection without a token that came first goes: half-open connections and strangers
  displace one another, and never those who have shown a valid token;
- a token keeps at most `of_token` connections, and all tokens together `KEPT` of all; further connections count as if
  they had shown none, so that no token and no number of tokens locks newcomers out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import Generic, TypeVar

KEPT = 3 / 4

T = TypeVar("T", bound=Hashable)


class ConnectionPlaces(Generic[T]):
    """The places of a server's connections.

    Args:
        places: the largest number of connections, at least 1.
        of_token: how many connections of one token are kept.
    """

    def __init__(self, places: int, of_token: int) -> None:
        self._places = places
        self._most_kept = int(places * KEPT)
        self._of_token = of_token
        self._strangers: dict[T, None] = {}  # in the order in which they came
        self._kept: dict[T, str] = {}
        self._by_token: Counter[str] = Counter()

    def enter(self, connection: T) -> T | None:
        """Add a connection; returns the one that has to be closed for it, if any."""
        self._strangers[connection] = None
        if len(self._strangers) + len(self._kept) <= self._places:
            return None
        first = next(iter(self._strangers))
        del self._strangers[first]
        return first

    def show(self, connection: T, token: str) -> None:
        """Keep a connection that has shown a valid token, if its token may keep another."""
        if connection not in self._strangers:
            return
        if len(self._kept) < self._most_kept and self._by_token[token] < self._of_token:
            del self._strangers[connection]
            self._kept[connection] = token
            self._by_token[token] += 1

    def leave(self, connection: T) -> None:
        """Remove a connection, if it is still there."""
        self._strangers.pop(connection, None)
        token = self._kept.pop(connection, None)
        if token is not None:
            self._by_token[token] -= 1
            if not self._by_token[token]:
                del self._by_token[token]
