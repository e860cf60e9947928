"""`Answering`: lines of standard input that are no message are answered, so that no client waits for ever.

Rules kept here:
- what was meant as a request is answered by its id, as far as that can be made out; what asks for no answer gets none;
- nothing is guessed into a message: what the SDK does not take is not acted upon.
"""

from __future__ import annotations

import json
from collections import deque
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import mcp_types as types
from mcp.shared.message import SessionMessage

if TYPE_CHECKING:
    import contextvars

    from mcp.shared._context_streams import ContextReceiveStream, ContextSendStream

_TOO_DEEP = "this is nested too deep to be read"
_NO_JSON = "this is no JSON"
_NO_MESSAGE = "this is no message of JSON-RPC 2.0, or holds text that is not valid Unicode"


class Answering:
    """The messages that the SDK read, without the lines that it could not read: those are answered.

    Args:
        reading: messages, and what was raised in the place of one.
        writing: where answers go.
        lines: the lines that the messages were read from; one is taken off for each.

    """

    def __init__(
        self,
        reading: ContextReceiveStream[SessionMessage | Exception],
        writing: ContextSendStream[SessionMessage],
        lines: deque[str],
    ) -> None:
        self._reading = reading
        self._writing = writing
        self._lines = lines

    @property
    def last_context(self) -> contextvars.Context | None:
        """What the sender of the last message had set."""
        return self._reading.last_context

    async def receive(self) -> SessionMessage | Exception:
        """The next message.

        Raises:
            anyio.EndOfStream: there are no more.

        """
        while True:
            item = await self._reading.receive()
            line = self._lines.popleft()
            if isinstance(item, SessionMessage):
                return item
            refusal = refusal_of(line)
            if refusal is not None:
                await self._writing.send(SessionMessage(refusal))

    async def aclose(self) -> None:
        """Read no more."""
        await self._reading.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        import anyio

        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


def refusal_of(line: str) -> types.JSONRPCError | None:
    """The answer to a line that is no message; None when nobody waits for one.

    >>> refusal_of('{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": 1}').id
    7
    """
    if not line.strip():
        return None
    try:
        said: Any = json.loads(line)
    except RecursionError:
        return _refusal(None, types.PARSE_ERROR, _TOO_DEEP)
    except ValueError:
        return _refusal(None, types.PARSE_ERROR, _NO_JSON)
    if isinstance(said, dict) and "id" not in said and "method" in said:
        return None  # a notification
    if isinstance(said, dict) and "method" not in said and ("result" in said or "error" in said):
        return None  # an answer
    return _refusal(said.get("id") if isinstance(said, dict) else None, types.INVALID_REQUEST, _NO_MESSAGE)


def _refusal(number: object, code: int, message: str) -> types.JSONRPCError:
    is_id = type(number) is int or (type(number) is str and number.isprintable())
    error = types.ErrorData(code=code, message=message)
    return types.JSONRPCError(jsonrpc="2.0", id=number if is_id else None, error=error)  # type: ignore[arg-type]
