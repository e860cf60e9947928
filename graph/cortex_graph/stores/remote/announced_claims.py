"""Claims on a server that evaluates two updates at once, each on what it had before the other: Oxigraph on a disk.

Rules kept here:
- a writer announces its claim in a graph for that, with one update, and makes the change with a second one, unless a
  claim is there or another writer has announced one. So of two writers at most one makes its change: each announces
  before it looks, and the later of the two announcements is made before its writer looks for the other;
- of writers that see each other, the one whose announcement is the first in the order of texts stays, and tries again
  when the others have withdrawn; these announce theirs again when no other one is there;
- an announcement that is seen for `LEASE_S` is that of a process that has ended, and is removed: no request lasts so
  long;
- the update that makes the change removes the announcement. Where its answer does not state that it was made, the
  claims are read.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import cast
from uuid import uuid4

from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph.exceptions import GraphBusy, GraphError, GraphUnavailable, UnknownOutcome
from cortex_graph.store import Pattern
from cortex_graph.store_access.claims import claimed
from cortex_graph.stores.remote.sparql_texts import FREE, data

ANNOUNCED = NamedNode("urn:cortex-graph:announced-claims")
LEASE_S = 60.0
WAIT_S = 75.0
_PAUSE_S = 0.02

Update = Callable[[str], object]
Read = Callable[[Sequence[Pattern]], list[list[Quad]]]


def apply_announced(update: Update, read: Read, claim: Quad, insert: Sequence[Quad], remove: Sequence[Quad]) -> bool:
    """Write a claim and a change; see `claims.apply_claimed`.

    Args:
        update: executes an update.
        read: returns the quads of patterns, as the server has them now.
        claim: the claim.
        insert: the quads to write, with the claim.
        remove: the quads to remove.

    Raises:
        GraphBusy: other writers announced claims each time.
    """
    return _Announcement(update, read, claim).made(insert, remove)


class _Announcement:
    """The announcement of a claim, until the change is made by this writer or another one."""

    def __init__(self, update: Update, read: Read, claim: Quad) -> None:
        self._update = update
        self._read = read
        self._claim = claim
        self._announced = Pattern(ANNOUNCED, *cast("tuple[NamedNode, NamedNode]", (claim.subject, claim.predicate)))
        self._own = Quad(claim.subject, claim.predicate, Literal(uuid4().hex), ANNOUNCED)
        self._until = time.monotonic() + WAIT_S
        self._first_seen: dict[Quad, float] = {}
        self._stays = False

    def made(self, insert: Sequence[Quad], remove: Sequence[Quad]) -> bool:
        """Make the change, unless a claim is there; returns whether this one is."""
        while True:
            if not self._stays:
                with suppress(UnknownOutcome):  # the change is made only where the announcement is there
                    self._update(data("INSERT", [self._own]))
            try:
                self._update(_changed(self._claim, self._own, insert, remove))
                return True
            except GraphUnavailable as error:
                problem = error
            if (is_ours := self._waited(problem)) is not None:
                return is_ours

    def _waited(self, problem: GraphUnavailable) -> bool | None:
        """Wait until no other announcement is in the way; returns whether this claim is there, None if none is.

        Args:
            problem: of the change; it is raised where a claim or an announcement does not explain it.
        """
        is_free = FREE in problem.message
        while True:
            claims, others = self._read([claimed(self._claim), self._announced])
            now = time.monotonic()
            living = self._living(others, now)
            is_first = self._own == min(living, key=str, default=None)
            self._stays = not claims and is_free and now <= self._until and is_first
            self._withdraw(others, living)
            if claims:
                return self._claim in claims
            if not is_free:
                raise problem
            if now > self._until:
                raise GraphBusy("other processes make the same change, and nothing was changed", hint="try again later")
            time.sleep(_PAUSE_S * (0.5 + random.random()))  # noqa: S311 - no secret
            if self._stays or set(living) <= {self._own}:
                return None

    def _living(self, announcements: Sequence[Quad], now: float) -> list[Quad]:
        """Those of processes that have not ended."""
        seen = {each: self._first_seen.setdefault(each, now) for each in announcements}
        return [each for each in announcements if each == self._own or now - seen[each] <= LEASE_S]

    def _withdraw(self, announcements: Sequence[Quad], living: Sequence[Quad]) -> None:
        """Remove the announcements of processes that have ended, and the own one unless it stays."""
        gone = [each for each in announcements if each not in living or (each == self._own and not self._stays)]
        if gone:
            with suppress(GraphError):
                self._update(data("DELETE", gone))


def _changed(claim: Quad, own: Quad, insert: Sequence[Quad], remove: Sequence[Quad]) -> str:
    """Return the update; it fails as a whole where it must not be made: only its condition makes what it drops."""
    subject, predicate, free = claim.subject, claim.predicate, f"<{FREE}>"
    condition = (
        f"GRAPH {ANNOUNCED} {{ {subject} {predicate} {own.object} }} "
        f"FILTER NOT EXISTS {{ GRAPH {claim.graph_name} {{ {subject} {predicate} ?claim }} }} "
        f"FILTER NOT EXISTS {{ GRAPH {ANNOUNCED} {{ {subject} {predicate} ?other FILTER(?other != {own.object}) }} }}"
    )
    return "; ".join(
        [
            f"INSERT {{ GRAPH {free} {{ {free} {free} {free} }} }} WHERE {{ {condition} }}",
            f"DROP GRAPH {free}",
            data("DELETE", [own, *remove]),
            data("INSERT", insert),
        ]
    )
