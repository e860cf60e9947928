"""What a client sends, off the wire: bodies and query strings, hostile until checked.

Rules kept here:
- a body has a type, an end, a size and a time: it is refused as soon as it has not one of them;
- the bodies that are held at once have a size together, too;
- JSON is UTF-8 without NaN, infinities, duplicate keys, depth or members without number, which take fifty times their
  size when they are read; numbers keep every digit;
- a query string is UTF-8, each name in it is known and given once; numbers and booleans are read as their schema says;
- a schema decides, and its verdict is told in words.
"""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qsl

from starlette.types import Receive

from cortex_skills.server.errors import HttpError
from cortex_skills.server.schemas import component, problems_of
from cortex_skills.strict_json import read_json

MAX_BODY = 8 << 20
MAX_HELD = 256 << 20
BODY_S = 30.0
JSON_ONLY = frozenset({"application/json"})
_MAX_DEPTH = 16
_MAX_MEMBERS = 500_000  # a full batch of proofs has half of that
_TEXTS = re.compile(rb'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_MAX_PARAMETERS = 32
_DIGITS = sys.get_int_max_str_digits()
_TOO_LONG = "for integer string conversion"  # what Python says of more
_INTEGER = re.compile(r"-?[0-9]{1,15}", re.ASCII)
_BOOLEANS = {"true": True, "false": False}

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
    async def read(self, headers: Headers, receive: Receive, kinds: frozenset[str] = JSON_ONLY) -> AsyncIterator[bytes]:
        """The whole body of a request; it counts as held until the end of the block.

        Args:
            headers: of the request.
            receive: what its parts come from.
            kinds: the media types that it may be of; all are UTF-8.

        Raises:
            HttpError: `unsupported_media_type`, `request_too_large`, `request_timeout` or `server_busy`. The rest of
                the body is still under way then, so the connection has to be closed.

        """
        _check_type(headers, kinds)
        declared = headers.get("content-length")
        if declared is not None and (len(declared) > 12 or int(declared) > MAX_BODY):
            raise _too_large()
        parts: list[bytes] = []
        try:
            async with asyncio.timeout(self._within_s):
                while await self._read_part(receive, parts):
                    pass
        except TimeoutError:
            self._held -= sum(map(len, parts))
            hint = "send it faster, or less of it"
            message = f"the body was not whole after {self._within_s:g} s"
            raise HttpError("request_timeout", message, hint=hint) from None
        except BaseException:
            self._held -= sum(map(len, parts))
            raise
        try:
            yield b"".join(parts)
        finally:
            self._held -= sum(map(len, parts))

    async def _read_part(self, receive: Receive, parts: list[bytes]) -> bool:
        """Take the next part; True when there are more."""
        message = await receive()
        if message["type"] == "http.disconnect":
            raise HttpError("bad_request", "the client went away before its request was whole")
        part = message.get("body", b"")
        parts.append(part)
        self._held += len(part)
        if sum(map(len, parts)) > MAX_BODY:  # parts are tens of kibibytes: there are few
            raise _too_large()
        if self._held > MAX_HELD:
            raise HttpError("server_busy", "too many bodies are under way", hint="try again in a while")
        return bool(message.get("more_body", False))


def parse_json(body: bytes) -> Any:
    """A body as JSON.

    Raises:
        HttpError: `invalid_arguments`: it is not JSON as the rules have it.

    """
    if body.count(b",") > _MAX_MEMBERS and _TEXTS.sub(b"", body).count(b",") > _MAX_MEMBERS:
        raise _invalid("the body has too many members", f"at most {_MAX_MEMBERS:,}: send several smaller requests")
    try:
        document = read_json(body)
    except UnicodeDecodeError:
        raise _invalid("the body is not UTF-8") from None
    except ValueError as error:
        if _TOO_LONG in str(error):
            hint = "give its digits as text: {value, datatype: xsd:integer's IRI}"
            raise _invalid(f"the body holds an integer of more than {_DIGITS:,} digits", hint) from None
        raise _invalid(f"the body is not JSON: {str(error)[:200]}") from None
    _check_depth(document)
    return document


def check(name: str, document: Any) -> Any:
    """A document, if the component of that name describes it.

    Raises:
        HttpError: `invalid_arguments`, with everything that is wrong in `details.errors`.

    """
    try:
        problems = problems_of(name, document)
    except UnicodeEncodeError:
        raise _invalid("the request holds a lone surrogate, which is no Unicode text") from None
    if problems:
        details = {"errors": problems, "field": problems[0]["field"]}
        first = problems[0]
        raise HttpError("invalid_arguments", f"`{first['field']}` {first['message']}", details=details)
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


def parse_query(name: str | None, query: bytes) -> dict[str, Any]:
    """The parameters of a query string, as the component of that name has them.

    Raises:
        HttpError: `invalid_arguments`.

    """
    try:
        pairs = pairs_of(query, _MAX_PARAMETERS)
    except ValueError:
        raise _invalid("the query string is malformed", "percent-encode it, in UTF-8") from None
    known = {} if name is None else component(name)["properties"]
    given: dict[str, Any] = {}
    for key, text in pairs:
        if key in given:
            raise _invalid(f"`{key[:80]}` is given twice")
        if key not in known:
            raise _invalid(f"`{key[:80]}` is not known here", f"known: {', '.join(known) or 'nothing'}")
        given[key] = _typed(text, known[key])
    return given if name is None else check(name, given)


def _typed(text: str, rule: Mapping[str, Any]) -> Any:
    kind = rule.get("type")
    if kind == "integer" and _INTEGER.fullmatch(text):
        return int(text)
    return _BOOLEANS.get(text, text) if kind == "boolean" else text


def _check_type(headers: Headers, kinds: frozenset[str]) -> None:
    kind, _, parameters = headers.get("content-type", "").partition(";")
    charset = parameters.strip().lower().replace('"', "")
    if kind.strip().lower() not in kinds or charset not in ("", "charset=utf-8"):
        hint = f"send `Content-Type: {' or '.join(sorted(kinds))}`, in UTF-8"
        raise HttpError("unsupported_media_type", "a body of this type is not taken here", hint=hint)
    if headers.get("content-encoding", "identity").lower() != "identity":
        raise HttpError("unsupported_media_type", "the body is compressed", hint="send it as it is")


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
    raise _invalid("the body is nested too deeply", f"at most {_MAX_DEPTH} levels")


def _too_large() -> HttpError:
    hint = "send several smaller requests"
    return HttpError("request_too_large", f"the body has more than {MAX_BODY >> 20} MiB", hint=hint)


def _invalid(message: str, hint: str = "") -> HttpError:
    return HttpError("invalid_arguments", message, hint=hint)
