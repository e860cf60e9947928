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
    announced = Pattern(ANNOUNCED, *cast("tuple[NamedNode, NamedNode]", (claim.subject, claim.predicate)))
    own = Quad(claim.subject, claim.predicate, Literal(uuid4().hex), ANNOUNCED)
    until, first_seen, stays = time.monotonic() + WAIT_S, dict[Quad, float](), False
    while True:
        if not stays:
            with suppress(UnknownOutcome):  # the change is made only where the announcement is there
                update(data("INSERT", [own]))
        try:
            update(_changed(claim, own, insert, remove))
            return True
        except GraphUnavailable as error:
            problem = error
        while True:
            claims, others = read([claimed(claim), announced])
            now, free = time.monotonic(), FREE in problem.message
            ended = [each for each in others if now - first_seen.setdefault(each, now) > LEASE_S and each != own]
            living = [each for each in others if each not in ended]
            stays = not claims and free and now <= until and own == min(living, key=str, default=None)
            if withdrawn := [*ended, *(() if stays or own not in others else (own,))]:
                with suppress(GraphError):
                    update(data("DELETE", withdrawn))
            if claims:
                return claim in claims
            if not free:  # it did not fail for a claim or an announcement
                raise problem
            if now > until:
                raise GraphBusy("other processes make the same change, and nothing was changed", hint="try again later")
            time.sleep(_PAUSE_S * (0.5 + random.random()))  # noqa: S311 - no secret
            if stays or set(living) <= {own}:
                break


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
