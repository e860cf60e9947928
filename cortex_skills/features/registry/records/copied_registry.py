"""The registry as a part of a store that is copied: all of it, with the chain of its events."""

from __future__ import annotations

from cortex_skills.features.graph.copied_parts import StorePart

REGISTRY = StorePart("registered skills", lambda names: names.registry_graph)
