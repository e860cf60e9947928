"""`create_app`: the plugin over HTTP, for the server of an application.

from cortex_skills import Config
from cortex_skills.server import create_app

app = create_app(Config.load("cortex.yaml"))
"""

from cortex_skills.doors.server import create_app

__all__ = ["create_app"]
