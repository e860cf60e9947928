"""Bodies and parameters on the wire: untrusted until checked.

Rules kept here:
- a body must have an accepted type, and is refused as soon as it is larger or slower than the limits allow;
- the bodies in memory have a common limit;
- JSON is UTF-8 without NaN or duplicate keys, and limited in depth and in members, because a body of short members
  takes fifty times its size when it is parsed; integers keep every digit;
- JSON that is sent keeps integers of any size and all of Unicode.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qsl

from starlette.types import Receive

from cortex_skills.doors.http.http_errors import HttpError
from cortex_skills.safe_io.strict_json import read_json, without_mark

MAX_BODY = 8 << 20
MAX_HELD = 256 << 20
BODY_S = 30.0
FORM_WITH_FILES = "multipart/form-data"
JSON_ONLY = frozenset({"application/json"})
_MAX_DEPTH = 16
_MAX_MEMBERS = 500_000  # twice the members of a full batch of proofs
_STRINGS = re.compile(rb'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_DIGITS = sys.get_int_max_str_digits()
_TOO_LONG = "for integer string conversion"  # part of Python's message about an integer with more digits

# A route sets this key in the scope of a request that its client cancels by closing the connection.
LEAVING_CANCELS = "cortex.leaving_cancels"

Headers = Mapping[str, str]


class Bodies:
    """Reads the bodies of requests.

    Args:
        within_s: how long a body may take to arrive, in seconds.
    """

    def __init__(self, within_s: float = BODY_S) -> None:
        self._within_s = within_s
        self._held = 0

    @asynccontextmanager
    async def read(
        self, headers: Headers, receive: Receive, kinds: frozenset[str] = JSON_ONLY, most: int = MAX_BODY
    ) -> AsyncIterator[bytes]:
        """Read the whole body of a request; it counts as held until the end of the block.

        Args:
            headers: the headers of the request.
            receive: the ASGI channel.
            kinds: the accepted media types; all are UTF-8.
            most: bytes.

        Raises:
            HttpError: `unsupported_media_type`, `request_too_large`, `request_timeout` or `server_busy`. The rest of
                the body is not read then, so the connection has to be closed.
        """
        _check_type(headers, kinds)
        declared = headers.get("content-length")
        if declared is not None and (len(declared) > 12 or int(declared) > most):
            raise _too_large(most)
        body = bytearray()
        try:
            try:
                async with asyncio.timeout(self._within_s):
                    while await self._read_part(receive, body, most):
                        pass
            except TimeoutError:
                message = f"the body was not complete after {self._within_s:g} s"
                raise HttpError("request_timeout", message, hint="send it faster, or send less") from None
            yield bytes(body)
        finally:
            self._held -= len(body)

    async def _read_part(self, receive: Receive, body: bytearray, most: int) -> bool:
        """Append the next part; True if more follow."""
        message = await receive()
        if message["type"] == "http.disconnect":
            raise HttpError("bad_request", "the client disconnected before its request was complete")
        part = message.get("body", b"")
        body += part
        self._held += len(part)
        if len(body) > most:
            raise _too_large(most)
        if self._held > MAX_HELD:
            raise HttpError("server_busy", "too many request bodies are in memory", hint="try again in a while")
        return bool(message.get("more_body", False))


def to_json(document: Any) -> bytes:
    """A document as JSON in UTF-8."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace")


def parse_json(body: bytes) -> Any:
    """Parse a body.

    Raises:
        HttpError: `invalid_arguments`: it is not JSON by the rules above.
    """
    if body.count(b",") > _MAX_MEMBERS and _STRINGS.sub(b"", body).count(b",") > _MAX_MEMBERS:
        raise invalid("the body has too many members", f"at most {_MAX_MEMBERS:,}: send several smaller requests")
    try:
        document = read_json(without_mark(body))
    except UnicodeDecodeError:
        raise invalid("the body is not UTF-8") from None
    except ValueError as error:
        if _TOO_LONG in str(error):
            hint = "give its digits as text: {value, datatype: xsd:integer's IRI}"
            raise invalid(f"the body holds an integer of more than {_DIGITS:,} digits", hint) from None
        raise invalid(f"the body is not JSON: {str(error)[:200]}") from None
    _check_depth(document)
    return document


def pairs_of(encoded: bytes, most: int) -> list[tuple[str, str]]:
    """The names and values of a query string or a form.

    Raises:
        ValueError: it is malformed, is not ASCII or, decoded, not UTF-8, or has more than `most` of them.
    """
    return parse_qsl(
        encoded.decode("ascii"),
        keep_blank_values=True,
        strict_parsing=bool(encoded),
        errors="strict",
        max_num_fields=most,
    )


def invalid(message: str, hint: str = "", **details: Any) -> HttpError:
    """The error `invalid_arguments`."""
    return HttpError("invalid_arguments", message, hint=hint, details=details)


def _check_type(headers: Headers, kinds: frozenset[str]) -> None:
    kind, _, parameters = headers.get("content-type", "").partition(";")
    charset = parameters.strip().lower().replace('"', "")
    named = kind.strip().lower()
    is_text = named != FORM_WITH_FILES  # its parameter is the boundary of its parts, each of which has its own
    if named not in kinds or (is_text and charset not in ("", "charset=utf-8")):
        hint = f"send `Content-Type: {' or '.join(sorted(kinds))}`, in UTF-8"
        raise HttpError("unsupported_media_type", "bodies of this type are not accepted here", hint=hint)
    if headers.get("content-encoding", "identity").lower() != "identity":
        raise HttpError("unsupported_media_type", "the body is compressed", hint="send it uncompressed")


def _check_depth(document: Any) -> None:
    level = [document]
    for _ in range(_MAX_DEPTH):
        level = [
            part
            for value in level
            if isinstance(value, dict | list)
            for part in (value.values() if isinstance(value, dict) else value)
        ]
        if not level:
            return
    raise invalid("the body is nested too deeply", f"at most {_MAX_DEPTH} levels")


def _too_large(most: int) -> HttpError:
    message = f"the body has more than {most >> 20} MiB"
    return HttpError("request_too_large", message, hint="send several smaller requests")
