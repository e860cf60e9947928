"""How much a SPARQL request may take."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """The bounds of one request; every one of them ends in an error that names it.

    Attributes:
        query_bytes: of the text of a query, as UTF-8.
        update_bytes: of the text of an update, which may carry data.
        depth: how deep brackets of any kind and prefix operators may nest.
        triples: how many an update may remove and insert together.

    """

    query_bytes: int = 64 << 10
    update_bytes: int = 2 << 20
    depth: int = 64
    triples: int = 100_000


DEFAULT_LIMITS = Limits()
TIMEOUT_S = 30.0
