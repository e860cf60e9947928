"""The command `cortex-skills`: a thin door onto the plugin, one file a command or a small family of them."""

from cortex_skills.cli.app import main

__all__ = ["main"]
