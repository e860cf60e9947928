"""What stands behind the doors: the plugin, the gate, the lanes, and a graph for each namespace.

Rules kept here:
- nothing here is HTTP;
- a graph is that of one namespace; the base, the vocabularies and the store are the plugin's.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from typing import TYPE_CHECKING

from cortex_graph import NamespacedGraph
from cortex_skills.plugin import Plugin
from cortex_skills.server.auth import Gate
from cortex_skills.server.bodies import Bodies
from cortex_skills.server.lanes import Lane
from cortex_skills.server.probe import Probe
from cortex_skills.server.sandboxes import Sandboxes
from cortex_skills.server.tallies import Tallies

if TYPE_CHECKING:
    from cortex_skills.proofs.logic.prover import Prover

_MAX_GRAPHS = 256
# Threads, and calls that may wait for one.
_LANES = {"quick": (16, 256), "slow": (4, 64), "sparql": (8, 256), "mcp": (16, 256), "health": (4, 256)}


class Service:
    """Everything that answering takes.

    Args:
        plugin: whose store is served.
        gate: who may come in.
        bodies: how bodies are read.

    """

    def __init__(self, plugin: Plugin, gate: Gate, bodies: Bodies) -> None:
        self.plugin = plugin
        self.gate = gate
        self.bodies = bodies
        self.started = time.monotonic()
        self.lanes = {name: Lane(name, *size, deep=name == "mcp") for name, size in _LANES.items()}
        self.probe = Probe()
        self.sandboxes = Sandboxes()
        self.tallies = Tallies()
        self._graphs: OrderedDict[str, NamespacedGraph] = OrderedDict()
        self._provers: dict[str, Prover] = {}
        self._making = threading.Lock()

    def graph(self, namespace: str) -> NamespacedGraph:
        """The graph of a namespace; whoever asks has seen to it that it may be used."""
        own = self.plugin.graph
        if namespace == own.namespace:
            return own
        with self._making:
            graph = self._graphs.get(namespace)
            if graph is None:
                names = own.names
                graph = NamespacedGraph(own.store, namespace, base=names.base, vocabularies=self._vocabularies())
                self._graphs[namespace] = graph
                if len(self._graphs) > _MAX_GRAPHS:
                    self._graphs.popitem(last=False)
            else:
                self._graphs.move_to_end(namespace)
            return graph

    def prover(self, graph: NamespacedGraph) -> Prover:
        """What knows the rules of a namespace; the file of its shapes is read once.

        Raises:
            CortexError: `config_invalid`: the configuration names shapes that are none.

        """
        from cortex_skills.proofs.logic.prover import Prover

        plugin, namespace = self.plugin, graph.namespace
        if namespace == plugin.graph.namespace:
            return plugin.prover()
        if namespace not in plugin.config.proofs.shapes:
            return Prover(plugin.config, graph)
        with self._making:
            return self._provers.setdefault(namespace, Prover(plugin.config, graph))

    def close(self) -> None:
        """Begin nothing more; the plugin is closed by whoever opened it."""
        self.probe.close()
        for lane in self.lanes.values():
            lane.close()

    def _vocabularies(self) -> dict[str, str]:
        from cortex_graph import WELL_KNOWN_VOCABULARIES

        return {prefix: WELL_KNOWN_VOCABULARIES[prefix] for prefix in self.plugin.config.vocabularies}
