"""`McpExtension`: what a feature adds to the MCP server: resources that end, and answers of tools that it completes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Protocol

from cortex_skills.cancellation import CancelToken
from cortex_skills.doors.mcp.caller import SessionCaller
from cortex_skills.gate.result import Result

if TYPE_CHECKING:
    import mcp_types as types
    from mcp.server.context import ServerRequestContext

# Runs blocking work in the pool of the server, and reports its progress under a name.
Work = Callable[[Callable[[CancelToken], Any], str], Awaitable[Any]]


class McpExtension(Protocol):
    """A feature names functions of a plugin and of the bus of subscriptions that return one (`Feature.mcp`).

    Attributes:
        prefix: of the URIs of its resources; empty for none.
    """

    prefix: str

    def read(self, uri: str, agent: str) -> types.TextResourceContents:
        """A resource, as an agent sees it; blocks.

        Raises:
            ResourceNotFoundError: the agent has none with that URI.
        """

    def watch_own(self, uri: str, agent: str) -> None:
        """Notice a change of a resource of an agent; blocks.

        Raises:
            ResourceNotFoundError: the agent has none with that URI.
        """

    def subscribe(self, ctx: ServerRequestContext[Any, Any], uri: str) -> None:
        """Notify a connection of a change that `watch_own` notices.

        Raises:
            ResourceNotFoundError: it subscribes to too many.
        """

    def unsubscribe(self, ctx: ServerRequestContext[Any, Any], uri: str) -> None:
        """Notify a connection no more."""

    async def watch(self) -> None:
        """Notify until cancelled."""

    async def answered(
        self, ctx: ServerRequestContext[Any, Any], result: Result, caller: SessionCaller, work: Work
    ) -> Result:
        """The result of a call as it is answered."""
