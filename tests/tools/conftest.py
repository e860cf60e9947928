"""The plugins and skills of the plugin's own tests."""

from tests.plugin.conftest import opened, plugin, skill, told

__all__ = ["opened", "plugin", "skill", "told"]
