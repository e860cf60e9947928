"""What crosses the border between the host and a worker process: frames of bytes, and errors as JSON.

Rules kept here:
- pure: bytes in, bytes out. A frame is its length in four bytes, big end first, a byte that says its kind, and a
  payload;
- the worker is taken to be hostile: a kind that is not expected, a length beyond the limit or a form that was not
  agreed on is a `WireError`, noticed before anything is kept or parsed;
- nothing but JSON is ever decoded, and nothing that was decoded is ever run.
"""

from __future__ import annotations

from typing import Any

from cortex_sandbox.border import from_json, to_json
from cortex_sandbox.errors import Frame, SandboxError, SandboxMemoryError, SandboxTimeout

# From the host: the configuration, a request, the answer to a host call.
CONFIGURE, REQUEST, ANSWER = b"C", b"Q", b"A"
# From the worker: its protections, a result, an error, a call of a host function, a line of the log.
READY, RESULT, ERROR, HOST_CALL, LOG = b"Y", b"R", b"E", b"H", b"L"

MAX_PAYLOAD_BYTES = (1 << 32) - 2
_LENGTH_BYTES = 4
_MAX_FRAMES = 50
_MAX_TEXT = 4096
_MAX_NAME = 1000
_ERRORS = {kind.code: kind for kind in (SandboxError, SandboxTimeout, SandboxMemoryError)}


class WireError(Exception):
    """The other side does not keep to the protocol."""


def frame(kind: bytes, *parts: bytes) -> bytes:
    """A frame with the parts as its payload."""
    return b"".join((sum(map(len, parts), 1).to_bytes(_LENGTH_BYTES, "big"), kind, *parts))


class Frames:
    """Cuts a stream of bytes into frames.

    Args:
        kinds: the kinds that may come.
        limit: the largest payload, in bytes.

    """

    def __init__(self, kinds: tuple[bytes, ...], limit: int) -> None:
        self._kinds = kinds
        self._limit = limit
        self._held = bytearray()

    def feed(self, data: bytes) -> None:
        """Take in what was read."""
        self._held += data

    def take(self) -> tuple[bytes, bytes] | None:
        """The kind and payload of the next frame; None while it is not complete.

        Raises:
            WireError: for a kind that may not come, or a payload beyond the limit.

        """
        held = self._held
        if len(held) <= _LENGTH_BYTES:
            return None
        length = int.from_bytes(held[:_LENGTH_BYTES], "big")
        kind = bytes(held[_LENGTH_BYTES : _LENGTH_BYTES + 1])
        if kind not in self._kinds or not 1 <= length <= self._limit + 1:
            raise WireError(f"a frame of kind {kind!r} and {length} bytes is not expected")
        end = _LENGTH_BYTES + length
        if len(held) < end:
            return None
        payload = bytes(memoryview(held)[_LENGTH_BYTES + 1 : end])
        del held[:end]
        return kind, payload


def with_head(head: Any, body: bytes) -> bytes:
    """A payload of two parts: JSON on one line, and bytes."""
    return to_json(head) + b"\n" + body


def split_head(payload: bytes) -> tuple[Any, bytes]:
    """The two parts of a payload.

    Raises:
        WireError: when the head is no JSON.

    """
    head, _, body = payload.partition(b"\n")
    return parsed(head), body


def parsed(text: bytes) -> Any:
    """JSON of the other side's.

    Raises:
        WireError: when it is none, or is nested too deeply.

    """
    try:
        return from_json(text)
    except SandboxError as error:
        raise WireError(error.message) from None


def error_to_json(error: SandboxError) -> bytes:
    """An error on its way to the host."""
    return to_json({**error.details, "code": error.code})


def error_from_json(text: bytes) -> SandboxError:
    """The error that a worker told of: the same class, name, message and frames.

    Raises:
        WireError: when it is not of the form that `error_to_json` gives.

    """
    match parsed(text):
        case {"code": str(code), "name": str(name), "message": str(message), "frames": list(frames)} if code in _ERRORS:
            kept = tuple(_frame_from(told) for told in frames[:_MAX_FRAMES])
            return _ERRORS[code](message[:_MAX_TEXT], name[:_MAX_NAME], kept)
    raise WireError("an error is not of the form agreed on")


def _frame_from(told: Any) -> Frame:
    match told:
        case {"function": str(function), "file": str(file), "line": int(line), "column": int(column)}:
            return Frame(function[:_MAX_NAME], file[:_MAX_NAME], line, column)
    raise WireError("a frame of a stack is not of the form agreed on")
