"""The command `cortex-skills`: a thin interface to the plugin, with one file for each command or group of commands."""

from cortex_skills.doors.cli.app import main

__all__ = ["main"]
