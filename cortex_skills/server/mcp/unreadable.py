"""`ReadableMessages`: answers lines of standard input that are not messages, so that no client waits for ever.

Rules kept here:
- a line that looks like a request is answered with an error and its id, if it has one; notifications and answers are
  ignored;
- a line that the SDK refuses is never acted upon.
"""

from __future__ import annotations

import json
from collections import deque
from typing import Any, Self

import mcp_types as types
from mcp.shared._context_streams import ContextReceiveStream, ContextSendStream  # the SDK has no public name for them
from mcp.shared.message import SessionMessage

_TOO_DEEP = "this is nested too deeply"
_NO_JSON = "this is not JSON"
_NO_MESSAGE = "this is not a JSON-RPC 2.0 message, or holds text that is not valid Unicode"


class ReadableMessages(ContextReceiveStream[SessionMessage | Exception]):
    """The messages that the SDK parsed; lines that it could not parse are answered here.

    Args:
        reading: messages, or the exception that was raised in place of one.
        writing: the stream of answers.
        lines: the lines that the messages were parsed from; one is removed for each.

    """

    __slots__ = ("_lines", "_writing")

    def __init__(
        self,
        reading: ContextReceiveStream[SessionMessage | Exception],
        writing: ContextSendStream[SessionMessage],
        lines: deque[str],
    ) -> None:
        super().__init__(reading._inner)
        self._writing = writing
        self._lines = lines

    async def __aenter__(self) -> Self:
        return self

    async def receive(self) -> SessionMessage | Exception:
        """The next message.

        Raises:
            anyio.EndOfStream: there is none.

        """
        while True:
            item = await super().receive()
            line = self._lines.popleft()
            if isinstance(item, SessionMessage):
                return item
            refusal = refusal_of(line)
            if refusal is not None:
                await self._writing.send(SessionMessage(refusal))


def refusal_of(line: str) -> types.JSONRPCError | None:
    """The answer to a line that is not a message; None if the sender does not expect one.

    >>> refusal_of('{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": 1}').id
    7
    """
    if not line.strip():
        return None
    try:
        parsed: Any = json.loads(line)
    except RecursionError:
        return _refusal(None, types.PARSE_ERROR, _TOO_DEEP)
    except ValueError:
        return _refusal(None, types.PARSE_ERROR, _NO_JSON)
    if isinstance(parsed, dict) and "id" not in parsed and "method" in parsed:
        return None  # a notification
    if isinstance(parsed, dict) and "method" not in parsed and ("result" in parsed or "error" in parsed):
        return None  # an answer
    return _refusal(parsed.get("id") if isinstance(parsed, dict) else None, types.INVALID_REQUEST, _NO_MESSAGE)


def _refusal(number: object, code: int, message: str) -> types.JSONRPCError:
    is_id = type(number) is int or (type(number) is str and number.isprintable())
    error = types.ErrorData(code=code, message=message)
    return types.JSONRPCError(jsonrpc="2.0", id=number if is_id else None, error=error)  # type: ignore[arg-type]
