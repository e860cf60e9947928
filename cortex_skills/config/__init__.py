"""The configuration: settings, their sources, and the graph that they name."""

from cortex_skills.config.settings import Config

__all__ = ["Config"]
