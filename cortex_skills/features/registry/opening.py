"""Opens the registry of a namespace with the key and the trust store of this installation.

Rules kept here:
- nothing is read or created here: the key is opened when a version or an event is signed, and the trust store and the
  folder of keys when the level of a signature is asked.
"""

from __future__ import annotations

from cortex_graph import NamespacedGraph
from cortex_skills.config.settings import Config
from cortex_skills.features.registry.registry import SkillRegistry


def open_registry(config: Config, graph: NamespacedGraph) -> SkillRegistry:
    """The registry of the namespace of a graph."""
    from cortex_skills.keys.folder import own_keys, signing_key
    from cortex_skills.signatures.trust_file import trust_of

    return SkillRegistry(
        graph.store,
        graph.names,
        lambda: signing_key(config),
        lambda: trust_of(config).trust().trusted_keys(),
        lambda: own_keys(config),
    )
