"""Forms that send a file: `multipart/form-data` (RFC 7578), parsed by python-multipart through Starlette.

Rules kept here:
- a page takes files only where it states how long one may be, and only from a session with the permission of the page:
  both are checked before a byte is read;
- there is one file; its name and its type are not read. It is in memory, and never written to a disk;
- the number and the length of the other fields are limited, as in a form without a file.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator

from starlette.datastructures import FormData, Headers
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.types import Receive, Scope

from cortex_skills.doors.explorer.callers import check_form, check_once
from cortex_skills.doors.explorer.page import ExplorerPage
from cortex_skills.doors.http.bodies import FORM_WITH_FILES
from cortex_skills.doors.http.http_errors import HttpError
from cortex_skills.doors.http.service import Service

_LONGEST_FIELD = 64 << 10  # bytes
_AROUND = 1 << 20  # bytes of a form around its file


def has_file(page: ExplorerPage, scope: Scope) -> bool:
    """Whether a request is a form with a file, for a page that takes one."""
    kind = Headers(scope=scope).get("content-type", "").partition(";")[0].strip().lower()
    return page.longest_file > 0 and kind == FORM_WITH_FILES


async def read_with_file(page: ExplorerPage, scope: Scope, receive: Receive) -> tuple[dict[str, str], dict[str, bytes]]:
    """The fields of a form, and its file.

    Raises:
        HttpError: `origin_not_allowed`, `method_not_allowed`, `request_too_large`, `invalid_arguments`, or one of
            `Bodies`.
    """
    most = page.longest_file + _AROUND
    check_form(scope, most)
    service: Service = scope["app"].state.service
    headers = Headers(scope=scope)
    async with service.bodies.read(headers, receive, frozenset({FORM_WITH_FILES}), most) as body:
        form = await _parsed(headers, body, page.most_fields)
        try:
            return await _contents(form, page.longest_file)
        finally:
            await form.close()


class _InMemory(MultiPartParser):
    spool_max_size = 1 << 30  # never reached: the body is shorter


async def _parsed(headers: Headers, body: bytes, most_fields: int) -> FormData:
    async def stream() -> AsyncGenerator[bytes, None]:
        yield body

    parser = _InMemory(headers, stream(), max_files=1, max_fields=most_fields, max_part_size=_LONGEST_FIELD)
    try:
        return await parser.parse()
    except (MultiPartException, KeyError, ValueError, LookupError):  # KeyError: without a boundary or a name
        raise HttpError("invalid_arguments", "the form is malformed, or has too many or too long fields") from None


async def _contents(form: FormData, longest: int) -> tuple[dict[str, str], dict[str, bytes]]:
    pairs = form.multi_items()
    check_once(pairs)
    fields, files = dict[str, str](), dict[str, bytes]()
    for name, value in pairs:
        if isinstance(value, str):
            fields[name] = value
            continue
        data = await value.read()
        if len(data) > longest:
            raise HttpError(
                "request_too_large", f"the file has more than {longest >> 20} MiB", hint="send a smaller one"
            )
        files[name] = data
    return fields, files
