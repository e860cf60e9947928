"""`/explore/NS/map`: a resource and what is around it, the triples of a query, or the first triples of the namespace.

Rules kept here:
- the address has all that a reader chose: what is expanded, hidden, pinned, and which node's card is open; so each act
  is a link, needs no script, and can be given to others;
- a query that came with a followed link is not run: its page is that of the query;
- the forms have what is shown: the triples of the nodes in the picture, and the picture;
- the table has the same content as the picture.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyoxigraph import Literal, NamedNode, Quad, RdfFormat

from cortex_graph.namespace.neighbourhood import neighbourhood
from cortex_graph.naming.vocabulary import TYPE
from cortex_skills.doors.explorer.addresses import ROOT
from cortex_skills.doors.explorer.display import ShownLiteral, ShownName, ShownTerm
from cortex_skills.doors.explorer.exports import rdf
from cortex_skills.doors.explorer.field_text import to_field
from cortex_skills.doors.explorer.following import marked
from cortex_skills.doors.explorer.page import ExplorerPage, Form, PageCall, Redirected, not_found
from cortex_skills.doors.explorer.page_queries import MapQuery
from cortex_skills.doors.explorer.pictures.map import class_mark, picture
from cortex_skills.doors.explorer.pictures.svg import Svg
from cortex_skills.doors.http.bodies import to_json
from cortex_skills.doors.http.http_errors import HttpError
from cortex_skills.features.explorer.class_marks import id_of
from cortex_skills.features.explorer.map_graph import STEPS, ReadMap, read_map, with_id, without_id
from cortex_skills.features.explorer.reading import AsOfField, Reading, TakeAway, TextLink

_PATH = "map"
_ROWS = 200
_FACTS, _VALUES = 12, 3
_OF_FACT = 120  # characters


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """A class in the picture: its mark, its label, and the link that hides or shows its resources."""

    mark: Svg
    label: str
    count: int
    is_hidden: bool
    href: str


@dataclass(frozen=True, slots=True)
class NodeCard:
    """What is known of one node: its class, its literals, and what can be done with it in the picture."""

    name: ShownTerm
    class_: ShownName | None
    facts: tuple[tuple[ShownName, ShownTerm], ...]
    words: str
    acts: tuple[TextLink, ...]


@dataclass(frozen=True, slots=True)
class MapView:
    """A map.

    Attributes:
        title: what it is of.
        label: of the resource in the middle; None for another map.
        name, steps, query: what was asked for.
        words: how much it shows.
        picture: it.
        legend: the classes.
        card: of the chosen node, or of the root.
        shown: the link that shows all that is hidden; None if nothing is.
        svg: the address of the picture as a file.
        rows: the first triples, as a table.
        as_of, away: the field of the moment, and the forms.
    """

    title: str
    label: ShownName | None
    name: str
    steps: int
    query: str
    words: str
    picture: Svg | None
    legend: tuple[LegendEntry, ...]
    card: NodeCard | None
    shown: TextLink | None
    svg: str
    rows: tuple[tuple[ShownTerm, ...], ...]
    as_of: AsOfField
    away: TakeAway


def view(call: PageCall) -> MapView:
    """A map.

    Raises:
        HttpError: `not_found`: the namespace is not open to the caller.
        GraphError: the name or the query is invalid.
        Redirected: the query came with a followed link.
    """
    reading = Reading.of(call, _PATH)
    if "query" in call.query and not call.may_run:
        raise Redirected(marked(reading.addresses.page("sparql", query=call.query["query"])))
    found = read_map(reading, lambda: _title(reading), has_links=True)
    data, query = found.data, call.query
    reading.near.terms(term for triple in found.triples[:_ROWS] for term in triple)
    rows = tuple(tuple(reading.near.term(term) for term in triple) for triple in found.triples[:_ROWS])
    forms = {name: form for name, form in PAGE.forms.items() if name != "svg" or data.nodes}
    return MapView(
        data.title,
        reading.display.name(query["name"]) if "name" in query else None,
        to_field(query.get("name", "")),
        query.get("steps", STEPS),
        query.get("query", ""),
        found.words,
        picture(data, *found.before, chosen=query.get("at", "")) if data.nodes else None,
        _legend(reading, found),
        _card(reading, found),
        TextLink(f"Show {found.hidden:,} hidden", reading.changed(hide=None)) if found.hidden else None,
        reading.address(format="svg"),
        rows,
        reading.as_of_field(),
        reading.take_away(forms),
    )


def _legend(reading: Reading, found: ReadMap) -> tuple[LegendEntry, ...]:
    entries = []
    for each in found.classes:
        change = without_id(reading, "hide", each.id) if each.is_hidden else with_id(reading, "hide", each.id)
        mark = class_mark(each.mark)
        entries.append(LegendEntry(mark, each.label, each.count, each.is_hidden, reading.changed(hide=change)))
    return tuple(entries)


def _card(reading: Reading, found: ReadMap) -> NodeCard | None:
    """The card of the chosen node; of the root if none is chosen."""
    chosen = reading.call.query.get("at") or found.data.root
    node = next((node for node in found.data.nodes if node.id == chosen), None)
    term = found.terms.get(chosen)
    if node is None or not isinstance(term, NamedNode):
        return None
    graph, display = reading.graph, reading.near
    around = neighbourhood(graph, graph.names.name(term.value), predicates=40, values=_VALUES).outgoing.groups
    classes = [row.term for group in around if group.predicate == TYPE for row in group.rows]
    shown = display.iri(term.value)
    rows = ((group.predicate, row.term) for group in around for row in group.rows)
    literals = [
        (predicate, value) for predicate, value in rows if isinstance(value, Literal) and value.value != shown.called
    ][:_FACTS]
    display.terms(each for pair in literals for each in pair)
    facts = tuple((display.iri(predicate.value), display.term(value, _OF_FACT)) for predicate, value in literals)
    links = sum(link.count for link in found.data.links if chosen in (link.source, link.target))
    class_ = next((each for each in classes if isinstance(each, NamedNode) and id_of(each) == node.class_), None)
    return NodeCard(
        shown,
        None if class_ is None else display.iri(class_.value),
        facts,
        f"{links:,} link{'' if links == 1 else 's'} here",
        _acts(reading, found, chosen) if found.is_linked else (),
    )


def _acts(reading: Reading, found: ReadMap, chosen: str) -> tuple[TextLink, ...]:
    query = reading.call.query
    is_expanded = chosen in query.get("expand", "").split(".")
    expand = without_id(reading, "expand", chosen) if is_expanded else with_id(reading, "expand", chosen)
    links = [TextLink("Fold" if is_expanded else "Expand", reading.changed(expand=expand, at=chosen), is_expanded)]
    is_pinned = chosen in dict(found.data.pinned)
    at = found.place(chosen)
    pin = f"{chosen},{at.real:.0f},{at.imag:.0f}"
    others = without_id(reading, "pin", chosen)
    changed = others if is_pinned else ".".join(filter(None, (others, pin)))
    links.append(TextLink("Unpin" if is_pinned else "Pin", reading.changed(pin=changed, at=chosen), is_pinned))
    if chosen != found.data.root:
        hide = with_id(reading, "hide", chosen)
        links.append(TextLink("Hide", reading.changed(hide=hide, at=None)))
    return tuple(links)


def _title(reading: Reading) -> str:
    query = reading.call.query
    if "query" in query:
        return "The answer of a query"
    if "name" in query:
        steps = query.get("steps", STEPS)
        label = reading.display.name(query["name"], 80).called
        return f"{label}, {steps} step{'s' if steps > 1 else ''} around"
    return f"The first triples of {reading.graph.namespace}"


def _read(call: PageCall) -> tuple[Reading, ReadMap]:
    """The map for another form.

    Raises:
        HttpError: `permission_denied`: a query that came with a link is not run.
    """
    reading = Reading.of(call, _PATH)
    if "query" in call.query and not call.may_run:
        hint = "open the page of the query, look at it, and run it there"
        raise HttpError("permission_denied", "a query that comes with a link is not run", hint=hint)
    return reading, read_map(reading, lambda: _title(reading))


def _document(call: PageCall) -> bytes:
    reading, found = _read(call)
    values = [
        {"node": id_of(subject), "label": reading.display.term(predicate).called, "value": shown.text.plain}
        for subject, predicate, value in found.triples
        if isinstance(shown := reading.display.term(value), ShownLiteral)
    ]
    return to_json({**found.data.to_json(*found.before), "values": values})


def _turtle(call: PageCall) -> bytes:
    reading, found = _read(call)
    triples: list[Any] = list(found.triples)
    quads = [Quad(subject, predicate, value, reading.graph.names.graph) for subject, predicate, value in triples]
    return rdf(reading.graph, quads, RdfFormat.TURTLE)


def _drawn(call: PageCall) -> bytes:
    _, found = _read(call)
    if not found.data.nodes:
        raise not_found("this map has nothing to show")
    return picture(found.data, *found.before).alone()


PAGE = ExplorerPage(
    f"{ROOT}/{{namespace}}/{_PATH}",
    "map",
    "map.html",
    view,
    query=MapQuery,
    example={"name": "{name}"},
    pool="sparql",
    forms={
        "json": Form("application/json", _document),
        "turtle": Form("text/turtle", _turtle, "ttl"),
        "svg": Form("image/svg+xml", _drawn, "svg"),
    },
    label="Map",
    section="See",
    keys="g m",
    place=70,
)
