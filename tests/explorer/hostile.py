"""Hostile texts for every place of a page, and what no page may contain."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from urllib.parse import urljoin

TEXTS = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'onmouseover='alert(1)",
    "</textarea><svg onload=alert(1)>",
    "</title><base href=https://evil.example/>",
    "javascript:alert(1)",
    "{{ 7*7 }}{% for x in () %}",
    "&lt;b&gt; &amp; &#x27;",
    "pay \u202e001\u202c now",
    "a\u200b\u200d\u2066b\u2069",
    "tag\U000e0041\U000e0042",
    "e" + "\u0301" * 300,
    "x" * 20_000,
    "line\nline\r\n\ttab",
    '=HYPERLINK("https://evil.example")',
    "-->]]></style><style>*{display:none}</style>",
    "mayros:\u0430dmin",
)

_HIDDEN = re.compile("[\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f\0-\b\v\f\x0e-\x1f]")
_MARKS = re.compile("[\u0300-\u036f]{5,}")
_KNOWN = """
html head meta title link script body a header span form label input kbd button nav h1 h2 h3 ul ol li div p b br main
section table thead tbody tr th td code pre dl dt dd bdi time i small article details summary footer svg path circle
rect line polyline text tspan g textarea select option datalist del mark fieldset legend
"""
_TAGS = set(_KNOWN.split())
_ATTRIBUTES = {"href", "src", "action", "formaction"}


class Page(HTMLParser):
    """What a browser finds in a page: elements, addresses and text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.scripts: list[str | None] = []
        self.links: list[str] = []
        self.anchors: list[str] = []  # the links that are followed
        self.problems: list[str] = []
        self.text = ""
        self.address = "/explore"  # of the page, which the form of the theme has
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        given = dict(attrs)
        if tag == "input" and given.get("name") == "next":
            self.address = given.get("value") or self.address
        if tag == "script":
            self.scripts.append(given.get("src"))
        for name, value in attrs:
            if name.startswith("on") or name in ("style", "srcset", "srcdoc"):
                self.problems.append(f"<{tag} {name}>")
            if name in _ATTRIBUTES and value is not None:
                is_relative = value.startswith(("?", "../", "./")) or re.match(r"[\w~-]+(?:[/?]|$)", value)
                value = urljoin(self.address, value) if is_relative else value
                self.links.append(value)
                if tag == "a":
                    self.anchors.append(value)
                if value.startswith("https://") and given.get("rel") == "noopener noreferrer":
                    continue
                if not value.startswith(("/explore", "#")) and (tag, given.get("rel")) != ("link", "icon"):
                    self.problems.append(f"<{tag} {name}={value[:80]}>")

    def handle_data(self, data: str) -> None:
        self.text += data


def check_page(text: str, most: int = 400 << 10) -> Page:
    """Fail when a page contains an element, an address or a character that data brought in, or is too large."""
    page = Page(text)
    hidden = [text[max(0, found.start() - 80) : found.end() + 20] for found in _HIDDEN.finditer(text)]
    scripts = [src for src in page.scripts if src is None or not src.startswith("/explore/static/")]
    problems = [*page.problems, *(page.tags - _TAGS), *hidden[:5], *_MARKS.findall(text), *scripts]
    assert not problems, problems
    assert len(text.encode()) <= most, len(text.encode())
    return page
