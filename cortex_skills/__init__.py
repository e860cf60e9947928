"""Cortex Skills: semantic skills for AI agents on an RDF knowledge graph.

from cortex_skills import Plugin, Config

with Plugin.open(Config()) as plugin:
    plugin.load("examples/verify-kyc")
    result = plugin.call("skill_graph_query", {"predicate": "hasStatus", "scope": "namespace"})
    print(result.text)
"""

from typing import TYPE_CHECKING, Any

from cortex_skills.errors import CortexError
from cortex_skills.version import __version__

if TYPE_CHECKING:
    from cortex_skills.features.with_features import ConfigWithFeatures as Config
    from cortex_skills.features.with_features import PluginWithFeatures as Plugin
    from cortex_skills.gate.result import Result

__all__ = ["Config", "CortexError", "Plugin", "Result", "__version__"]

# Large modules are imported when they are first used, so that the command starts quickly.
_LAZY = {"Config": "config.settings", "Plugin": "plugin", "Result": "gate.result"}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"cortex_skills.{_LAZY[name]}"), name)
