"""The addresses of the explorer's pages.

Rules kept here:
- every address is a path on this server, below `/explore`;
- a name is percent-encoded once, in the query string, since proxies decode encoded slashes in paths;
- `asOf` is kept: pages that are read as of a moment link to pages as of the same moment;
- parameters without a value are left out, and the others keep their order, so that a page has one address.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

ROOT = "/explore"


def address(path: str, **parameters: Any) -> str:
    """The address of a page; parameters that are None or empty are left out."""
    given = [f"{key}={quote(str(value), safe='')}" for key, value in parameters.items() if value not in (None, "")]
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

    """

    namespace: str
    as_of: str | None = None

    def page(self, path: str = "", **parameters: Any) -> str:
        """A page of the namespace, such as `find`."""
        below = f"/{path}" if path else ""
        return address(f"{ROOT}/{self.namespace}{below}", **parameters, asOf=self.as_of)

    def resource(self, name: str, **parameters: Any) -> str:
        """The page of a resource."""
        if parameters or self.as_of is not None or not name:
            return self.page("r", name=name, **parameters)
        return f"{ROOT}/{self.namespace}/r?name={quote(name, safe='')}"

    def used(self, name: str, **parameters: Any) -> str:
        """Who points to a resource."""
        return self.page("r/used", name=name, **parameters)

    def assertion(self, triple_id: str, **parameters: Any) -> str:
        """The page of one assertion."""
        if parameters or self.as_of is not None:
            return self.page(f"t/{triple_id}", **parameters)
        return f"{ROOT}/{self.namespace}/t/{triple_id}"

    def proof(self, proof_id: str, **parameters: Any) -> str:
        """The page of one proof."""
        return self.page(f"proofs/{proof_id}", **parameters)

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
