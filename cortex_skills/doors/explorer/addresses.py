"""The addresses of the explorer's pages.

Rules kept here:
- every address is a path on this server, below `/explore`;
- a namespace that is called like another page (`RESERVED`) has `~` before its name, which no namespace begins with, so
  that every namespace has its pages; the other namespaces have their names, so that a page has one address;
- a name is percent-encoded once, in the query string, since proxies decode encoded slashes in paths;
- `asOf` is kept: pages that are read as of a moment link to pages as of the same moment;
- parameters without a value are left out, and the others keep their order; a value is written so that pages read it
  as it is (`field_text.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote

from cortex_skills.doors.explorer.field_text import with_own_codes

ROOT = "/explore"
# The first segments of the addresses of pages that belong to no namespace.
RESERVED = frozenset(
    (
        "approvals",
        "artifacts",
        "audit",
        "enter",
        "install",
        "live",
        "login",
        "logout",
        "new-skill",
        "registry",
        "sessions",
        "skill-folders",
        "skills",
        "static",
        "theme",
        "zone",
    )
)
_ESCAPE = "~"
_KEPT = ":"  # in a query string (RFC 3986, §3.4); names have one after each prefix


def namespace_root(namespace: str) -> str:
    """The address of the overview of a namespace."""
    return f"{ROOT}/{_ESCAPE if namespace in RESERVED else ''}{namespace.replace('/', _ESCAPE)}"


def namespace_in(segment: str) -> str | None:
    """The namespace that a segment of a path stands for; None for a reserved name, or for one escaped without need."""
    name = segment.removeprefix(_ESCAPE)
    return name.replace(_ESCAPE, "/") if (name in RESERVED) == (name != segment) else None


def _quoted(value: str) -> str:
    return quote(with_own_codes(value), safe=_KEPT)


def address(path: str, **parameters: Any) -> str:
    """The address of a page; parameters that are None or empty are left out."""
    given = [f"{key}={_quoted(str(value))}" for key, value in parameters.items() if value not in (None, "")]
    return f"{path}?{'&'.join(given)}" if given else path


def in_form(page: str, form: str) -> str:
    """The address of another form of a page, from that of the page."""
    return f"{page}{'&' if '?' in page else '?'}format={form}"


@dataclass(frozen=True, slots=True)
class Addresses:
    """The addresses of the pages about one namespace.

    Attributes:
        namespace: the namespace.
        as_of: the moment that the pages show, as it was asked for; None for now.
        root: what the addresses begin with, without the slash behind it; None for the path of the namespace. `relative`
            gives the shorter one for links within a page.
    """

    namespace: str
    as_of: str | None = None
    root: str | None = None

    def relative(self, path: str) -> Addresses:
        """The addresses as references (RFC 3986, §4.2) from a page of the namespace, such as `r/used`."""
        segment = namespace_root(self.namespace).removeprefix(f"{ROOT}/")
        return replace(self, root="/".join([".."] * path.count("/")) if path else segment)

    def page(self, path: str = "", **parameters: Any) -> str:
        """A page of the namespace, such as `find`."""
        return address(self._path(path), **parameters, asOf=self.as_of)

    def _path(self, path: str) -> str:
        root = namespace_root(self.namespace) if self.root is None else self.root
        return f"{root}/{path}" if root and path else root or path or "."

    def resource(self, name: str, **parameters: Any) -> str:
        """The page of a resource."""
        if parameters or self.as_of is not None or not name:
            return self.page("r", name=name, **parameters)
        return f"{self._path('r')}?name={_quoted(name)}"

    def used(self, name: str, **parameters: Any) -> str:
        """Who points to a resource."""
        return self.page("r/used", name=name, **parameters)

    def assertion(self, triple_id: str, **parameters: Any) -> str:
        """The page of one assertion."""
        if parameters or self.as_of is not None:
            return self.page(f"t/{triple_id}", **parameters)
        return self._path(f"t/{triple_id}")

    def proof(self, proof_id: str, **parameters: Any) -> str:
        """The page of one proof."""
        return self.page(f"proofs/{proof_id}", **parameters)

    def agent(self, agent: str) -> str:
        """The page of an agent, by its id."""
        return self.page("agent", name=agent)

    def triples(self, **parameters: Any) -> str:
        """A list of triples."""
        return self.page("list", **parameters)


def skill(name: str, **parameters: Any) -> str:
    """The page of a skill."""
    return address(f"{ROOT}/skills/{quote(name, safe='')}", **parameters)


def registered_skill(name: str, number: int | None = None, **parameters: Any) -> str:
    """The page of a registered skill, or of one version of it."""
    version = "" if number is None else f"@{number}"
    return address(f"{ROOT}/registry/{quote(name, safe='@')}{version}", **parameters)
