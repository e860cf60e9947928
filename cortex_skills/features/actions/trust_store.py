"""The trust level of a namespace, in the store, shared by all processes that use it.

Rules kept here:
- a person or the owner sets it, by the operation `actions.trust_level.set`, which `set` runs for a host in Python; no
  tool, action or skill does, and the graph of the level is one that no client of the namespace reads or writes;
- until it is set it is the level of the configuration;
- a stored value that is not one known level is `observe`, the lowest, and reading it says so in the log.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph.naming.names import Names
from cortex_graph.naming.vocabulary import CORTEX
from cortex_graph.store import GraphStore, Pattern
from cortex_graph.store_access.half_made import read_whole
from cortex_skills.errors import CortexError
from cortex_skills.policy.trust_levels import LEVELS, LOWEST, TrustLevel, trust_level
from cortex_skills.safe_io.schemas import did_you_mean, shown

log = logging.getLogger(__name__)

TRUST_LEVEL = NamedNode(f"{CORTEX}trustLevel")


@dataclass(frozen=True, slots=True)
class TrustChange:
    """A change of the level: from and to."""

    before: TrustLevel
    after: TrustLevel


class TrustStore:
    """The trust level of one namespace. Safe to use from several threads.

    Args:
        store: the store.
        names: of the namespace.
        configured: the level until one is set.
        operate: runs the operation that sets the level, as an owner of a name.
    """

    def __init__(
        self, store: GraphStore, names: Names, configured: object, operate: Callable[[str, object], TrustChange]
    ) -> None:
        self._operate = operate
        self._store = store
        self._node = self._graph = names.trust_graph
        self.ahead = Pattern(self._graph, self._node, TRUST_LEVEL)  # what is read
        self.configured = trust_level(configured)

    def level(self) -> TrustLevel:
        """The level now.

        Raises:
            GraphError: the store cannot be read.
        """
        try:
            return read_whole(self._store, self._level, ValueError)
        except ValueError:
            log.warning("the stored trust level is not one known level: it is taken for %s", LOWEST)
            return LOWEST

    def _level(self) -> TrustLevel:
        found = self._stored()
        if not found:
            return self.configured
        value = found[0].object
        if len(found) == 1 and isinstance(value, Literal) and value.value in LEVELS:
            return trust_level(value.value)
        raise ValueError("not one known level")

    def set(self, level: object, *, actor: str) -> TrustChange:
        """Set the level, for all processes.

        Args:
            level: one of `LEVELS`.
            actor: who sets it, for the audit.

        Raises:
            CortexError: `invalid_arguments`: there is no such level.
            GraphError: the store cannot be written.
        """
        if not isinstance(level, str) or level not in LEVELS:
            hint = (did_you_mean(level, LEVELS) if isinstance(level, str) else "") or f"one of {', '.join(LEVELS)}"
            raise CortexError("invalid_arguments", f"there is no trust level {shown(level)}", hint=hint)
        return self._operate(actor, level)

    def change(self, level: TrustLevel) -> TrustChange:
        """Set the level, for a caller who may."""
        before = self.level()
        new = Quad(self._node, TRUST_LEVEL, Literal(level), self._graph)
        old = [quad for quad in self._stored() if quad != new]
        self._store.apply([new], old)
        return TrustChange(before, level)

    def _stored(self) -> Sequence[Quad]:
        return list(islice(self._store.quads(self.ahead), 10))
