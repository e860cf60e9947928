"""The protocol between the host and a worker process: frames of bytes, and errors as JSON.

Rules kept here:
- pure: bytes in, bytes out. A frame is its length in four bytes, big-endian, a byte for its kind, and a payload;
- the worker is assumed to be hostile: an unexpected kind, a length over the limit or malformed content is a
  `WireError`, raised before anything is kept or parsed;
- only JSON is decoded, and decoded data is never run.
"""

from __future__ import annotations

from typing import Any

from cortex_sandbox.errors import Frame, SandboxError, SandboxMemoryError, SandboxTimeout
from cortex_sandbox.quickjs.json_border import from_json, to_json

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
    """The other side violates the protocol."""


def frame(kind: bytes, *parts: bytes) -> bytes:
    """A frame with the parts as its payload."""
    return b"".join((sum(map(len, parts), 1).to_bytes(_LENGTH_BYTES, "big"), kind, *parts))


class Frames:
    """Cuts a stream of bytes into frames.

    Args:
        kinds: the allowed kinds.
        limit: the maximum size of a payload, in bytes.
    """

    def __init__(self, kinds: tuple[bytes, ...], limit: int) -> None:
        self._kinds = kinds
        self._limit = limit
        self._held = bytearray()

    def feed(self, data: bytes) -> None:
        """Add data from the stream."""
        self._held += data

    def take(self) -> tuple[bytes, bytes] | None:
        """The kind and payload of the next frame; None while it is incomplete.

        Raises:
            WireError: for a kind that is not allowed, or a payload over the limit.
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
    """A payload of two parts: JSON in one line, and bytes."""
    return to_json(head) + b"\n" + body


def split_head(payload: bytes) -> tuple[Any, bytes]:
    """The two parts of a payload.

    Raises:
        WireError: when the head is not JSON.
    """
    head, _, body = payload.partition(b"\n")
    return parsed(head), body


def parsed(text: bytes) -> Any:
    """A JSON value from the other side.

    Raises:
        WireError: when it is not JSON, or is nested too deeply.
    """
    try:
        return from_json(text)
    except SandboxError as error:
        raise WireError(error.message) from None


def error_to_json(error: SandboxError) -> bytes:
    """An error as JSON."""
    return to_json({**error.details, "code": error.code})


def error_from_json(text: bytes) -> SandboxError:
    """The error that a worker sent: the same class, name, message and frames.

    Raises:
        WireError: when it is malformed.
    """
    match parsed(text):
        case {"code": str(code), "name": str(name), "message": str(message), "frames": list(frames)} if code in _ERRORS:
            kept = tuple(_frame_from(item) for item in frames[:_MAX_FRAMES])
            return _ERRORS[code](message[:_MAX_TEXT], name[:_MAX_NAME], kept)
    raise WireError("an error is malformed")


def _frame_from(item: Any) -> Frame:
    match item:
        case {"function": str(function), "file": str(file), "line": int(line), "column": int(column)}:
            return Frame(function[:_MAX_NAME], file[:_MAX_NAME], line, column)
    raise WireError("a frame of a stack is malformed")
