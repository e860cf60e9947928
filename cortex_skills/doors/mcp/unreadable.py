"""Messages that are not passed to the SDK, and what is answered, so that no client waits for ever.

Rules kept here:
- a message is strict JSON (`strict_json`), nested at most `_MAX_DEPTH` levels: a repeated key, `NaN` or bytes that are
  not UTF-8 would be another message for another reader;
- what looks like a request is answered with an error and its own id, wherever the id is in the message, also if that is
  a number that is no integer; notifications and answers are ignored;
- the members of a batch are not acted upon where batches are not read (`batches`): each request of it is answered with
  its id, in one array (JSON-RPC 2.0 §6);
- a message that is refused here is never acted upon.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import mcp_types as types
from pydantic import Field, RootModel

from cortex_skills.doors.mcp.top_level_members import TopLevelMembers
from cortex_skills.safe_io.strict_json import read_json

MAX_LINE = 8 << 20
_MAX_DEPTH = 100
_MAX_BATCH = 1000
_MOST_READ = 100  # members of a batch that is read
_NO_MESSAGE = "this is not a JSON-RPC 2.0 message, or holds text that is not valid Unicode"
_NO_ID = "the id of a request is a string or an integer"
_NO_BATCH = "a batch is not read here, or has not 1 to 100 messages: send each message separately"


class Refusal(types.JSONRPCError):
    """The error that answers a message, with the id that the message has, also one that MCP does not allow."""

    id: Annotated[int, Field(strict=True)] | str | float | None  # type: ignore[assignment]


class Refusals(RootModel[list[Refusal]]):
    """The answer to a batch."""


@dataclass(frozen=True, slots=True)
class Unread:
    """A message that is not passed on.

    Attributes:
        answer: what the sender is answered; None if it expects no answer.
        batch: the members of a batch, which are passed on where batches are read.
    """

    answer: Refusal | Refusals | None
    batch: Sequence[Any] = ()


def unread(message: bytes) -> Unread | None:
    """Why a message is not passed on; None if it is.

    >>> unread(b'{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": 1}').answer.id
    7
    """
    if not message.strip():
        return Unread(None)
    try:
        parsed = read_json(message, max_depth=_MAX_DEPTH)
    except UnicodeDecodeError as error:
        return _not_parsed(message, f"this is not UTF-8, at byte {error.start}")
    except ValueError as error:
        return _not_parsed(message, f"this is not JSON as it is read here: {str(error)[:200]}")
    return _batch(parsed) if isinstance(parsed, list) else refused(parsed, message)


def refused(parsed: Any, text: bytes | str, reason: str = "") -> Unread | None:
    """Why a JSON value with this text is no message, or is refused for a reason; None if it is passed on."""
    if isinstance(parsed, dict) and "method" in parsed and "id" in parsed and type(parsed["id"]) not in (int, str):
        return _refused(parsed, types.INVALID_REQUEST, _NO_ID)
    try:
        types.jsonrpc_message_adapter.validate_json(text, by_name=False)
    except ValueError:
        return _refused(parsed, types.INVALID_REQUEST, _NO_MESSAGE)
    return _refused(parsed, types.INVALID_REQUEST, reason) if reason else None


def refusal_of(body: bytes) -> str | None:
    """The answer to the body of a request at `/mcp`, as JSON; None if the body is a message that is passed on."""
    found = unread(body)
    if found is None:
        return None
    answer = found.answer or _error(None, types.INVALID_REQUEST, _NO_MESSAGE)
    return answer.model_dump_json(by_alias=True, exclude_unset=True)


def too_long(members: TopLevelMembers) -> Unread:
    """The answer to a line of more than `MAX_LINE` bytes, by its members."""
    reason = f"the message is longer than {MAX_LINE >> 20} MiB"
    return _refused(_known(members), types.INVALID_REQUEST, reason)


def _not_parsed(message: bytes, reason: str) -> Unread:
    members = TopLevelMembers()
    members.feed(message)
    return _refused(_known(members), types.PARSE_ERROR, reason)


def _known(members: TopLevelMembers) -> dict[str, Any]:
    """The members of a message that was not parsed; one that is not known may be the id of a request."""
    is_known = members.is_complete and members.is_whole
    return members.found if is_known else {"id": None, **members.found}


def _batch(messages: list[Any]) -> Unread:
    """The answer to a batch that is not read: to each request of it; one error for an empty or a very large one."""
    if not messages or len(messages) > _MAX_BATCH:
        return _refused(None, types.INVALID_REQUEST, _NO_BATCH)
    found = (_refused(each, types.INVALID_REQUEST, _NO_BATCH).answer for each in messages)
    answers = [answer for answer in found if isinstance(answer, Refusal)]
    return Unread(Refusals(answers) if answers else None, messages if len(messages) <= _MOST_READ else ())


def _refused(message: Any, code: int, reason: str) -> Unread:
    """The answer to a message, of which at least some members are known."""
    members: Mapping[str, Any] = message if isinstance(message, dict) else {}
    if "method" in members and "id" not in members:
        return Unread(None)  # a notification
    if "method" not in members and ("result" in members or "error" in members):
        return Unread(None)  # an answer
    return Unread(_error(members.get("id"), code, reason))


def _error(number: object, code: int, reason: str) -> Refusal:
    return Refusal(jsonrpc="2.0", id=_repeated(number), error=types.ErrorData(code=code, message=reason))


def _repeated(number: object) -> int | str | float | None:
    """The id of a message as an answer can repeat it; None if it is not one."""
    if type(number) is str:
        return None if any("\ud800" <= char <= "\udfff" for char in number) else number
    if type(number) is int:
        return number
    return number if type(number) is float and math.isfinite(number) else None
