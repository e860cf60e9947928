"""The plugins and skills of the plugin's own tests."""

from tests.plugin.conftest import opened, patient, plugin, skill, told

__all__ = ["opened", "patient", "plugin", "skill", "told"]
