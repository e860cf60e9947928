"""Views to HTML.

Rules kept here:
- every value is escaped: autoescape is on for all templates, and no template uses `|safe`;
- an invisible character that is left, such as in a hidden field, is a reference (`&#x202E;`), which a browser reads as
  the character;
- a name that a view or a template lacks is an error, not an empty text;
- templates hold no logic beyond `if`, `for` and macros, and are read when the first page is asked for;
- the template of a page is beside its module, or among those that pages share, which come first.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from cortex_skills.doors.explorer.addresses import ROOT, namespace_root
from cortex_skills.doors.explorer.assets import asset
from cortex_skills.doors.explorer.inbox import Attention, numbers_of
from cortex_skills.doors.explorer.page import ExplorerPage
from cortex_skills.doors.explorer.times import ago, exact, moment, with_times
from cortex_skills.feature import faults, features
from cortex_skills.safe_io.display import is_invisible

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = Path(__file__).parent / "templates"
# Without the characters that HTML has no references for: NUL, U+0080 to U+009F (HTML §13.2.5.80) and surrogates.
_UNUSUAL = re.compile("[^\\n\\t -~\\0\\x80-\\x9f\\ud800-\\udfff]")


@dataclass(frozen=True, slots=True)
class NavigationLink:
    """A page in the navigation."""

    href: str
    label: str
    keys: str
    is_current: bool
    page: str = ""


@dataclass(frozen=True, slots=True)
class NavigationGroup:
    """The pages of one section."""

    heading: str
    links: tuple[NavigationLink, ...]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the base template shows around a view.

    Attributes:
        page: the name of the page; empty for one without navigation.
        here: the path and the query string of the request.
        path: the path alone, decoded: the object of the actions of a page.
        namespace: the current namespace; None without one.
        navigation: the pages that the caller may read.
        find: the address that the find field asks; None without one.
        caller: the name of the caller; None without one.
        permissions: of the caller, as words.
        until: when the session ends, as words; None without a session.
        theme: `light`, `dark`, or None for that of the system.
        zone: the time zone that the reader chose; None for UTC.
        form_token: makes the hidden token of a form from the action and its object.
        needs_token: whether an action needs the token of the session shown again.
        origin: the scheme, host and port of the request.
        inbox: what waits for the caller; it is read when the page is rendered.
        live: what the page shows anew (`ExplorerPage.live`); None where nothing is live.
    """

    page: str
    here: str
    path: str = "/explore"
    namespace: str | None = None
    navigation: tuple[NavigationGroup, ...] = ()
    find: str | None = None
    caller: str | None = None
    permissions: str = ""
    until: str | None = None
    theme: str | None = None
    form_token: Callable[[str, str], str] | None = None
    needs_token: bool = False
    origin: str = ""
    inbox: Callable[[], tuple[Attention, ...]] = tuple
    live: str | None = None
    zone: str | None = None


def navigation_of(
    pages: tuple[ExplorerPage, ...], current: str, namespace: str | None, permissions: frozenset[str]
) -> tuple[NavigationGroup, ...]:
    """The navigation: pages with a label, that need no other parameter than the namespace and that may be read."""
    groups: dict[str, list[NavigationLink]] = {}
    for page in pages:
        if not page.label or page.permission not in permissions or ("{namespace}" in page.path and namespace is None):
            continue
        href = page.path.replace(f"{ROOT}/{{namespace}}", namespace_root(namespace or ""))
        link = NavigationLink(href, page.label, page.keys, page.name == current, page.name)
        groups.setdefault(page.section, []).append(link)
    return tuple(NavigationGroup(heading, tuple(links)) for heading, links in groups.items())


def render(template: str, around: Surroundings, view: object) -> bytes:
    """A page in UTF-8."""
    waiting = numbers_of(around.inbox())
    text = _environment().get_template(template).render(view=view, around=around, waiting=waiting)
    return _UNUSUAL.sub(_reference, text).encode("utf-8", "replace")


def _reference(found: re.Match[str]) -> str:
    return f"&#x{ord(found[0]):X};" if is_invisible(found[0]) else found[0]


def _sentence(words: str) -> str:
    """The words with a capital letter first; a code such as `scan_rejected` stays as it is."""
    return words if "_" in words else words[:1].upper() + words[1:]


def template_folders() -> list[Path]:
    """The folder of the shared templates, and those of the modules of pages."""
    modules = [find_spec(module) for feature in features() if feature.name not in faults() for module in feature.pages]
    return [TEMPLATES, *dict.fromkeys(Path(each.origin).parent for each in modules if each and each.origin)]


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(template_folders()),
        autoescape=True,
        undefined=StrictUndefined,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["asset"] = asset
    environment.filters.update(ago=ago, exact=exact, moment=moment, with_times=with_times, sentence=_sentence)
    return environment
