"""The plugin over HTTP."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cortex_skills.server.app import create_app

__all__ = ["create_app"]


def __getattr__(name: str) -> Any:
    if name != "create_app":  # imported when it is first used: MCP on standard input and output needs no HTTP application
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from cortex_skills.server.app import create_app

    return create_app
