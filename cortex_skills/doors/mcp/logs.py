"""Log lines of skills, for the client whose call caused them.

Rules kept here:
- a client gets the lines of its own calls only, before the answer;
- from `info` on, until it sets another level (`logging/setLevel`); since 2026-07-28 only if the call names a level.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, get_args
from weakref import WeakKeyDictionary

import mcp_types as types
from mcp.server.connection import allowed_log_levels
from mcp.server.context import ServerRequestContext
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

if TYPE_CHECKING:
    from mcp.server.connection import Connection

Line = tuple[int, str, str]
_LEVELS: tuple[types.LoggingLevel, ...] = get_args(types.LoggingLevel)
_NAMES: dict[int, types.LoggingLevel] = {
    logging.DEBUG: "debug",
    logging.INFO: "info",
    logging.WARNING: "warning",
    logging.ERROR: "error",
}


class Logs:
    """Sends lines to clients, at the levels that they have set."""

    def __init__(self) -> None:
        self._least: WeakKeyDictionary[Connection, int] = WeakKeyDictionary()

    async def set_level(self, ctx: ServerRequestContext[Any, Any], params: types.SetLevelRequestParams) -> Any:
        """Handle `logging/setLevel`."""
        self._least[ctx.session._connection] = _LEVELS.index(params.level)
        return types.EmptyResult()

    async def send(self, ctx: ServerRequestContext[Any, Any], lines: list[Line]) -> None:
        """Send the lines of a call to its client."""
        if not lines:
            return
        if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
            allowed = allowed_log_levels(ctx.protocol_version, ctx.meta)
        else:
            allowed = frozenset(_LEVELS[self._least.get(ctx.session._connection, _LEVELS.index("info")) :])
        for level, skill, text in lines:
            name = _NAMES.get(level, "info")
            if name in allowed:
                params = types.LoggingMessageNotificationParams(level=name, logger=f"skill:{skill}", data=text)
                await ctx.session.send_notification(
                    types.LoggingMessageNotification(params=params), related_request_id=ctx.request_id
                )
