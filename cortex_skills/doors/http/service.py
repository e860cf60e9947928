"""`Service`: what all requests share: the plugin, the access control, the worker pools, and a graph for each namespace.

Rules kept here:
- nothing here is HTTP;
- a graph is that of one namespace; the base IRI, the vocabularies and the store are the plugin's;
- memories that an earlier version wrote to the graph of a namespace are moved before the graph is used;
- what features keep for a namespace is kept for the last few that were used.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from typing import TYPE_CHECKING

from cortex_graph import WELL_KNOWN_VOCABULARIES, GraphError, NamespacedGraph
from cortex_skills.cancellation import CancelGroup
from cortex_skills.doors.http.auth import AccessControl
from cortex_skills.doors.http.bodies import Bodies
from cortex_skills.doors.http.sandboxes import Sandboxes
from cortex_skills.doors.http.store_health import StoreHealth
from cortex_skills.doors.http.worker_pools import WorkerPool
from cortex_skills.errors import CortexError
from cortex_skills.operations.caller import SERVER, Caller
from cortex_skills.operations.run import run
from cortex_skills.operations.sandbox_operations import empty_sandbox
from cortex_skills.plugin import Plugin

if TYPE_CHECKING:
    from cortex_skills.host import Host

log = logging.getLogger(__name__)

_MAX_GRAPHS = 256
_MAX_HOSTS = 16  # each keeps the indexes of some agents, and of the skills of a namespace
# Threads, and calls that may wait for one.
_POOLS = {"quick": (16, 256), "slow": (4, 64), "sparql": (8, 256), "mcp": (16, 256), "health": (4, 256)}


class Service:
    """The state of a server.

    Args:
        plugin: the plugin that is served.
        access: decides who may do what.
        bodies: reads bodies.
    """

    def __init__(self, plugin: Plugin, access: AccessControl, bodies: Bodies) -> None:
        self.plugin = plugin
        self.access = access
        self.bodies = bodies
        self.started = time.monotonic()
        self.calls = CancelGroup()
        self.pools = {name: WorkerPool(name, *size, deep=name == "mcp") for name, size in _POOLS.items()}
        self.store_health = StoreHealth()
        self.sandboxes = Sandboxes()
        self._graphs: OrderedDict[str, NamespacedGraph] = OrderedDict()
        self._hosts: dict[str, Host] = {}
        self._making = threading.Lock()

    def graph(self, namespace: str) -> NamespacedGraph:
        """The graph of a namespace; the caller has checked that it may be used."""
        own = self.plugin.graph
        if namespace == own.namespace:
            own.settle()
            return own
        graph = self._graph(namespace, own)
        graph.settle()
        return graph

    def _graph(self, namespace: str, own: NamespacedGraph) -> NamespacedGraph:
        with self._making:
            graph = self._graphs.get(namespace)
            if graph is None:
                vocabularies = {prefix: WELL_KNOWN_VOCABULARIES[prefix] for prefix in self.plugin.config.vocabularies}
                graph = NamespacedGraph(
                    own.store,
                    namespace,
                    base=own.names.base,
                    vocabularies=vocabularies,
                    understood=WELL_KNOWN_VOCABULARIES,
                )
                self._graphs[namespace] = graph
                if len(self._graphs) > _MAX_GRAPHS:
                    self._graphs.popitem(last=False)
            else:
                self._graphs.move_to_end(namespace)
            return graph

    def host(self, namespace: str) -> Host:
        """What operations use of a namespace; the caller has checked that it may be used."""
        own = self.plugin.graph
        if namespace == own.namespace:
            return self.plugin.host_of(own)
        graph = self.graph(namespace)
        with self._making:
            host = self._hosts.pop(namespace, None) or self.plugin.host_of(graph)
            self._hosts[namespace] = host  # the latest is the last
            if len(self._hosts) > _MAX_HOSTS:
                del self._hosts[next(iter(self._hosts))]
            return host

    def empty_sandboxes(self, *, everything: bool = False) -> None:
        """Empty the expired sandboxes, or all of them; one that cannot be emptied stays for the next time."""
        for area in self.sandboxes.ended(everything=everything):
            caller = Caller(SERVER, "program", "task", frozenset({"write"}), namespace=area.namespace)
            try:
                run(empty_sandbox, caller, {"prefix": area.prefix}, self.host(area.namespace))
            except (CortexError, GraphError) as error:
                log.warning("the sandbox %s could not be emptied: %s", area.id, error)
            else:
                self.sandboxes.forget(area.id)

    def under_way(self) -> int:
        """How many calls run or wait."""
        return sum(pool.taken for pool in self.pools.values())

    def cancel_calls(self) -> None:
        """Cancel queries and calls of tools, those under way and those to come; writes that have begun complete."""
        self.calls.cancel("because the server is shutting down")

    def close(self) -> None:
        """Accept no more work; the plugin stays open."""
        self.store_health.close()
        for pool in self.pools.values():
            pool.close()
