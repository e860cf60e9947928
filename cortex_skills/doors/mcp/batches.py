"""`Batches`: several messages on one line, which MCP had in the revision 2025-03-26 only (JSON-RPC 2.0 §6).

Rules kept here:
- they are read where that revision was negotiated; elsewhere each request of a batch is refused (`unreadable`);
- the members are passed on one by one, as if each came on its own line. Their answers are one array, in the order of
  the requests, once all of them are there; notifications and answers have no place in it, and a batch without
  requests has no answer;
- a member that is no message, a handshake and an id that waits for an answer already are refused in their place;
- a request that its client cancels has no answer, and none waits for it.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable
from typing import Any, Self

import mcp_types as types
from mcp.shared._context_streams import ContextReceiveStream, ContextSendStream  # the SDK has no public name for them
from mcp.shared.message import SessionMessage
from pydantic import RootModel

from cortex_skills.doors.mcp.unreadable import Refusal, Unread, refused

REVISION = "2025-03-26"
_Answer = types.JSONRPCResponse | types.JSONRPCError | Refusal
_Key = tuple[type, Any]


class Answers(RootModel[list[_Answer]]):
    """The answer to a batch."""


class _Batch:
    """The places of the answers to one batch, in order; None in one that is not there yet."""

    def __init__(self) -> None:
        self.answers: dict[object, _Answer | None] = {}
        self.waiting = 0


class Batches(ContextSendStream[SessionMessage]):
    """The stream of answers of one client, which collects those to a batch.

    Args:
        writing: the stream that it writes to.

    Attributes:
        are_read: whether the negotiated revision has batches.
    """

    def __init__(self, writing: ContextSendStream[SessionMessage]) -> None:
        super().__init__(writing._inner)
        self.are_read = False
        self._waiting: dict[_Key, _Batch] = {}

    async def __aenter__(self) -> Self:
        return self

    async def begin(self, members: Iterable[Any]) -> list[SessionMessage]:
        """The messages of a batch that are passed on."""
        batch, passed = _Batch(), list[SessionMessage]()
        for place, member in enumerate(members):
            text = json.dumps(member)
            refusal = refused(member, text, self._reason(member))
            if refusal is not None:
                if isinstance(refusal.answer, Refusal):
                    batch.answers[place] = refusal.answer
                continue
            message = types.jsonrpc_message_adapter.validate_json(text, by_name=False)
            if isinstance(message, types.JSONRPCRequest):
                key = _key(message.id)
                self._waiting[key] = batch
                batch.answers[key] = None
                batch.waiting += 1
            passed.append(SessionMessage(message))
        await self._end(batch)
        return passed

    async def cancelled(self, message: SessionMessage) -> None:
        """Wait no more for the answer that a message of the client cancels, if it cancels one."""
        notification = message.message
        if isinstance(notification, types.JSONRPCNotification) and notification.method == "notifications/cancelled":
            key = _key((notification.params or {}).get("requestId"))
            if key is not None and key in self._waiting:
                await self._filled(key, None)

    async def send(self, item: SessionMessage) -> None:
        """Send a message, or keep it until the other answers to its batch are there."""
        message = item.message
        if isinstance(message, types.JSONRPCResponse) and "serverInfo" in message.result:
            self.are_read = message.result.get("protocolVersion") == REVISION
        key = _key(message.id) if isinstance(message, types.JSONRPCResponse | types.JSONRPCError) else None
        if key is not None and key in self._waiting:
            await self._filled(key, message)
        else:
            await super().send(item)

    def _reason(self, member: Any) -> str:
        """Why a member that is a message is refused nevertheless; empty if it is not."""
        if not isinstance(member, dict) or "method" not in member or "id" not in member:
            return ""
        if member["method"] == "initialize":
            return "the handshake is no member of a batch"
        return "a request with this id waits for its answer" if _key(member["id"]) in self._waiting else ""

    async def _filled(self, key: _Key, answer: Any) -> None:
        batch = self._waiting.pop(key)
        batch.answers[key] = answer
        batch.waiting -= 1
        await self._end(batch)

    async def _end(self, batch: _Batch) -> None:
        answers = [answer for answer in batch.answers.values() if answer is not None]
        if not batch.waiting and answers:
            await super().send(SessionMessage(Answers(answers)))  # type: ignore[arg-type]


class ReadableMessages(ContextReceiveStream[SessionMessage | Exception]):
    """The messages that the SDK parsed; the others are answered here.

    Args:
        reading: messages, or the exception that was raised in place of one.
        writing: the stream of answers, which reads batches.
        lines: for each line that was passed to the SDK None, or what is answered in its place.
    """

    __slots__ = ("_lines", "_of_batch", "_writing")

    def __init__(
        self,
        reading: ContextReceiveStream[SessionMessage | Exception],
        writing: Batches,
        lines: deque[Unread | None],
    ) -> None:
        super().__init__(reading._inner)
        self._writing = writing
        self._lines = lines
        self._of_batch: deque[SessionMessage] = deque()

    async def __aenter__(self) -> Self:
        return self

    async def receive(self) -> SessionMessage | Exception:
        """The next message.

        Raises:
            anyio.EndOfStream: there is none.
        """
        while True:
            if self._of_batch:
                item: SessionMessage | Exception = self._of_batch.popleft()
            else:
                item = await super().receive()
                unread = self._lines.popleft()
            if isinstance(item, SessionMessage):
                await self._writing.cancelled(item)
                return item
            if unread is not None and unread.batch and self._writing.are_read:
                self._of_batch.extend(await self._writing.begin(unread.batch))
            elif unread is not None and unread.answer is not None:
                await self._writing.send(SessionMessage(unread.answer))  # type: ignore[arg-type]


def _key(identifier: Any) -> _Key:
    """An id, of which 1 and "1" are two."""
    return type(identifier), identifier if isinstance(identifier, int | str) else None
