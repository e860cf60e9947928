"""`/explore`: the namespaces that are open to the caller; of one alone, its overview.

Rules kept here:
- namespaces of others are not listed, and not counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cortex_skills.doors.explorer.addresses import ROOT, namespace_root
from cortex_skills.doors.explorer.page import ExplorerPage, Form, PageCall, Redirected
from cortex_skills.doors.http.bodies import to_json
from cortex_skills.features.graph.rest.stats import list_namespaces
from cortex_skills.tokens import ALL_NAMESPACES


@dataclass(frozen=True, slots=True)
class NamespaceLink:
    """A namespace, and the address of its overview."""

    name: str
    href: str


@dataclass(frozen=True, slots=True)
class Home:
    """The namespaces of a caller, and the base of their IRIs."""

    namespaces: tuple[NamespaceLink, ...]
    base_iri: str


def view(call: PageCall) -> Home:
    """List the namespaces that are not empty, and the configured one.

    Raises:
        Redirected: there is one only.
    """
    if len(call.principal.namespaces) == 1 and call.principal.namespaces[0] != ALL_NAMESPACES:
        raise Redirected(namespace_root(call.principal.namespaces[0]))
    document = _document(call)
    names = dict.fromkeys(document["namespaces"])
    if call.principal.may_use(call.principal.usual):
        names[call.principal.usual] = None
    return Home(tuple(NamespaceLink(name, namespace_root(name)) for name in sorted(names)), document["baseIri"])


def _document(call: PageCall) -> dict[str, Any]:
    document: dict[str, Any] = list_namespaces(call.api()).document
    return document


PAGE = ExplorerPage(
    ROOT,
    "home",
    "home.html",
    view,
    pool="slow",
    forms={"json": Form("application/json", lambda call: to_json(_document(call)))},
    place=10,
)
