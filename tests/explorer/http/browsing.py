"""A client that behaves like a browser: it keeps cookies and sends the headers that browsers add."""

from __future__ import annotations

import re
from html import unescape

import httpx

from tests.server.serving import Running

PAGE = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
NAVIGATION = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
TYPED = {**PAGE, **NAVIGATION, "Sec-Fetch-Site": "none"}
CLICKED = {**PAGE, **NAVIGATION, "Sec-Fetch-Site": "same-origin"}
FOREIGN = {**PAGE, **NAVIGATION, "Sec-Fetch-Site": "cross-site"}
OTHER_PORT = {**PAGE, **NAVIGATION, "Sec-Fetch-Site": "same-site"}


def submitted(client: httpx.Client, path: str, fields: dict[str, str], **headers: str) -> httpx.Response:
    """What a form of the server's own page gets."""
    return client.post(path, data=fields, headers={**CLICKED, "Origin": str(client.base_url).rstrip("/"), **headers})


def signed_in(running: Running, token: str) -> httpx.Client:
    """A browser with the session of a token."""
    client = running.client()
    answer = submitted(client, "/explore/login", {"token": token})
    assert (answer.status_code, answer.headers["location"]) == (303, "/explore"), answer.text
    return client


def fields_of(page: str) -> dict[str, str]:
    """The hidden fields of the forms of a page."""
    hidden = re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)">', page)
    return {name: unescape(value) for name, value in hidden}


def cookie_header(answer: httpx.Response) -> str:
    """The header that sets a cookie."""
    return answer.headers["set-cookie"]
