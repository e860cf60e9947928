"""The plugin over HTTP."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cortex_skills.doors.server.app import create_app

__all__ = ["create_app"]


# Imported when it is first used: MCP over standard input and output needs no HTTP application.
def __getattr__(name: str) -> Any:
    if name != "create_app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from cortex_skills.doors.server.app import create_app

    return create_app
