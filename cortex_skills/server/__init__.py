"""The plugin over HTTP."""

from cortex_skills.server.app import create_app

__all__ = ["create_app"]
