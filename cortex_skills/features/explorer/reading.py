"""What all pages about data have in common: the graph at a moment, links that keep it, and the forms to take away.

Rules kept here:
- a name is shown by its label, as the graph has it at that moment, in a language of the reader;
- a page that is asked as of a moment reads through the view of that moment only, and all its links keep it;
- each page ends with its forms, a command that fetches it, and the SPARQL query that has the same triples.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pyoxigraph import NamedNode

from cortex_graph.as_of import as_of
from cortex_graph.checks.moments import absolute
from cortex_graph.store import Pattern
from cortex_skills.doors.explorer import addresses
from cortex_skills.doors.explorer.addresses import Addresses, address, in_form, namespace_root
from cortex_skills.doors.explorer.display import Display
from cortex_skills.doors.explorer.field_text import to_field
from cortex_skills.doors.explorer.name_labels import NameLabels
from cortex_skills.doors.explorer.page import Form, PageCall
from cortex_skills.features.explorer.evidence import EvidenceThread
from cortex_skills.features.graph.looking.call_graph import labels_in

if TYPE_CHECKING:
    from cortex_graph import NamespacedGraph

_LABELS = {
    "turtle": "Turtle",
    "json-ld": "JSON-LD",
    "n-quads": "N-Quads",
    "rdf-xml": "RDF/XML",
    "csv": "CSV",
    "json": "JSON",
    "jsonl": "JSON lines",
    "svg": "SVG",
    "nanopub": "nanopublication",
    "trig": "TriG",
    "void": "VoID",
    "bundle": "bundle",
    "text": "text",
}


@dataclass(frozen=True, slots=True)
class AsOfField:
    """The field that asks a page as of a moment.

    Attributes:
        value: the moment as it was asked for; empty for now.
        kept: the other parameters of the page.
        now: the address of the page as of now.
    """

    value: str
    kept: tuple[tuple[str, str], ...]
    now: str


@dataclass(frozen=True, slots=True)
class TextLink:
    """A link with its label; `is_current` for the one that leads here, and a number beside it, if there is one."""

    label: str
    href: str
    is_current: bool = False
    count: int | None = None


@dataclass(frozen=True, slots=True)
class TakeAway:
    """How to take the content of a page away.

    Attributes:
        forms: the other forms of the page.
        curl_accept: the media type that the command asks for.
        here: the address of the page, without the origin of the server.
        query: the address of the query that has the same triples; None if there is none.
    """

    forms: tuple[TextLink, ...]
    curl_accept: str
    here: str
    query: str | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """One request for a page about data.

    Attributes:
        call: the request.
        path: of the page, below that of the namespace.
        graph: of the namespace, at the moment that was asked for.
        addresses: of the pages of the namespace, at the same moment.
        display: shows its terms.
        near: shows terms in rows: its links are relative, since rows have most links of a page.
        evidence_ids: the threads of evidence in rows of the page, with the ids of the elements that have their words.
    """

    call: PageCall
    path: str
    graph: NamespacedGraph
    addresses: Addresses
    display: Display
    near: Display
    evidence_ids: dict[EvidenceThread, str] = field(default_factory=dict)

    @classmethod
    def of(cls, call: PageCall, path: str, *, past: bool = True) -> Reading:
        """Read for a request.

        Args:
            call: the request.
            path: of the page, below that of the namespace.
            past: whether the graph is that of the moment in `asOf`; otherwise it is that of now, and links keep `asOf`.

        Raises:
            HttpError: `not_found`: the namespace is not open to the caller.
            InvalidArguments: `asOf` is not a moment.
        """
        graph, moment = call.graph, call.query.get("asOf") or None
        if moment is not None:
            moment = absolute(moment, "asOf")  # the links of the page keep it
            graph = as_of(graph, moment) if past else graph
        addresses = Addresses(graph.namespace, moment)
        labels = NameLabels(labels_in(call.api(), graph, call.languages).of)
        near = Display(graph.names, addresses.relative(path), labels)
        return cls(call, path, graph, addresses, Display(graph.names, addresses, labels), near)

    def address(self, **changes: Any) -> str:
        """The address of this page with some parameters changed; None removes one."""
        below = f"/{self.path}" if self.path else ""
        given = {**self.call.query, "asOf": self.addresses.as_of, **changes}
        return address(f"{namespace_root(self.graph.namespace)}{below}", **given)

    def asserted_by(self, name: str) -> str | None:
        """The list of what an agent or a skill asserted, by its name: `NS:agent:ID` or `NS:skill:SLUG@VERSION`."""
        for kind in ("agent", "skill"):
            start = f"{self.graph.names.prefix}{kind}:"
            if name.startswith(start):
                return self.addresses.triples(**{kind: name[len(start) :]})
        return None

    def who(self, node: NamedNode) -> str | None:
        """The page of an agent, or the list of what a skill asserted; None for another node."""
        agent = self.graph.names.agent_of(node.value)
        return self.asserted_by(self.graph.names.name(node.value)) if agent is None else self.addresses.agent(agent)

    def page_of(self, node: NamedNode) -> str | None:
        """The page of a node of a record: an agent, a list, a proof or a resource; None if there is none."""
        graph, proof = self.graph, f"{self.graph.names.graph.value}/proof/"
        if node.value.startswith(proof):
            return self.addresses.proof(node.value.removeprefix(proof))
        name = graph.names.name(node.value)
        if (who := self.who(node)) is not None:
            return who
        patterns = (Pattern(graph.names.graph, node), Pattern(graph.names.graph, None, None, node))
        is_known = any(graph.store.count(pattern, 1) for pattern in patterns)
        return self.addresses.resource(name) if is_known else None

    def changed(self, **changes: Any) -> str:
        """The same, as a reference from this page."""
        path, mark, query = self.address(**changes).partition("?")
        return mark + query if query else path

    def as_of_field(self) -> AsOfField:
        """The field of this page."""
        kept = {name: to_field(str(value)) for name, value in self.call.query.items() if name not in ("asOf", "cursor")}
        return AsOfField(
            to_field(self.addresses.as_of or ""), tuple(kept.items()), self.address(asOf=None, cursor=None)
        )

    def take_away(self, forms: Mapping[str, Form], query: str | None = None) -> TakeAway:
        """The end of this page.

        Args:
            forms: of the page, the preferred first.
            query: the SPARQL query that has its triples.
        """
        here, reference = self.address(), self.changed()
        links = [TextLink(_LABELS.get(name, name), in_form(reference, name)) for name in forms]
        if "csv" in forms:
            links.append(TextLink("CSV for spreadsheets", self.changed(format="csv", csv="sheet")))
        first = next(iter(forms.values())).media_type
        shown = None if query is None else self.addresses.page("sparql", query=query)
        return TakeAway(tuple(links), first, here, shown)


def skill_page(call: PageCall, name: str) -> str | None:
    """The page of a skill that is loaded or was refused here; None for any other."""
    plugin = call.service.plugin
    is_known = name in plugin.skills or any(each.name == name for each in plugin.rejected)
    return addresses.skill(name) if is_known else None
