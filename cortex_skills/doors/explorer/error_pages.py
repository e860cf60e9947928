"""Errors as pages.

Rules kept here:
- a page of an error shows what the JSON of the error holds, and nothing else of the server;
- its message, which may repeat what was asked for, is shown like any other text;
- what is unknown and what belongs to others have the same page.
"""

from __future__ import annotations

from dataclasses import dataclass

from cortex_skills.doors.explorer.display import shown_text
from cortex_skills.doors.explorer.page import Near
from cortex_skills.doors.http.http_errors import HttpError
from cortex_skills.errors import CortexError

_TITLES = {
    400: "This address is not valid",
    401: "Sign in",
    403: "Not allowed",
    404: "Not found",
    405: "Not possible here",
    406: "No such form",
    409: "Not possible as things are",
    429: "Too many attempts",
    503: "Not available at the moment",
    504: "This took too long",
}
_RETRY_S = 10
_MESSAGE = 2_000  # characters


@dataclass(frozen=True, slots=True)
class ErrorView:
    """The page of an error.

    Attributes:
        title: what kind of error it is.
        status: the status of HTTP.
        code: the stable code.
        message: what happened.
        hint: what to do next.
        request_id: under which the server's log has it.
        nearest: links to things with similar names.
        since: since when the store has not answered; empty otherwise.
        retry_s: after how many seconds the page asks again; 0 for never.
        back: the page of a form that was refused, or the one to sign in; empty for neither.
    """

    title: str
    status: int
    code: str
    message: str
    hint: str
    request_id: str
    nearest: tuple[Near, ...]
    since: str
    retry_s: int
    back: str = ""


def with_hint(error: CortexError | HttpError) -> str:
    """An error beside the form that it is about: what happened, and what to do."""
    return f"{error.message}: {error.hint}" if error.hint else error.message


def error_view(error: HttpError, request_id: str, since: str = "", back: str = "") -> ErrorView:
    """The page of an error."""
    nearest = tuple(Near(near["label"], near["href"]) for near in error.details.get("nearest", ()))
    title = _TITLES.get(error.status, "This did not work")
    if error.status == 400 and back:
        title = "This cannot be done"
    retry_s = _RETRY_S if error.status == 503 else 0
    message = shown_text(error.message[:1].upper() + error.message[1:], _MESSAGE).plain
    return ErrorView(title, error.status, error.code, message, error.hint, request_id, nearest, since, retry_s, back)
