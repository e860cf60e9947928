"""The fixtures of the plugin's tests."""

from tests.cli.conftest import run, store
from tests.plugin.conftest import logged_at_info, long_limits, opened, plugin, skill

__all__ = ["logged_at_info", "long_limits", "opened", "plugin", "run", "skill", "store"]
