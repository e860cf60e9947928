"""JSON out: documents as bytes, and errors.

Rules kept here:
- an integer of any size and every Unicode text go out as they are; NaN and infinities are no JSON and never get here;
- answers have a length, so that a client knows when one was cut off.
"""

from __future__ import annotations

import json
from typing import Any

from starlette.types import Send

from cortex_skills.server.errors import HttpError

JSON = "application/json"
# A door puts this into the scope of a request that its client takes back by closing the connection.
LEAVING_CANCELS = "cortex.leaving_cancels"


def to_json(document: Any) -> bytes:
    """A document as JSON in UTF-8."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace")


async def send_bytes(status: int, body: bytes, send: Send, *, headers: dict[str, str] | None = None) -> None:
    """Answer a request; without a body (204) there is no type and no length."""
    given = dict(headers or {})
    if status != 204:
        given = {"content-type": JSON, "content-length": str(len(body))} | given
    pairs = [(name.encode(), value.encode("latin-1")) for name, value in given.items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": body})


async def send_error(error: HttpError, request_id: str, send: Send) -> None:
    """Answer a request with an error."""
    await send_bytes(error.status, to_json(error.body(request_id)), send, headers=error.headers)
