"""`/explore/{namespace}/schema`: the classes of a namespace, and their predicates as they are used.

Rules kept here:
- the numbers are those of `graph.overview`, which are kept: nothing is counted for the page, and what is a lower bound
  or of an earlier state is called so;
- what shapes ask for is beside what there is; where both differ, a mark leads to the resources;
- a class leads to the list of its resources, a predicate of it to the query that has its values.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pyoxigraph import NamedNode

from cortex_graph.index.schema_in_use import RESOURCE, ClassInUse, KindInUse, PredicateInUse, SchemaInUse
from cortex_graph.naming.vocabulary import TYPE
from cortex_skills.doors.explorer.addresses import ROOT
from cortex_skills.doors.explorer.display import ShownName, ShownTerm
from cortex_skills.doors.explorer.page import ExplorerPage, Form, PageCall, not_found
from cortex_skills.doors.explorer.page_queries import SchemaPageQuery
from cortex_skills.doors.explorer.pictures.map import MapData, MapLink, MapNode, class_mark, picture
from cortex_skills.doors.explorer.pictures.svg import Svg
from cortex_skills.doors.http.bodies import to_json
from cortex_skills.features.explorer.class_marks import id_of, marks_of
from cortex_skills.features.explorer.map_graph import name_of_link
from cortex_skills.features.explorer.reading import Reading, TakeAway
from cortex_skills.features.explorer.void_description import void_of
from cortex_skills.features.graph.looking.class_shapes import PropertyShape, shapes_of
from cortex_skills.features.graph.looking.rules_here import rule_sets
from cortex_skills.features.graph.looking.schema_overview import example_of, overview

_PATH = "schema"
_CLASSES, _PREDICATES = 200, 200  # that the page lists
_DRAWN, _LINKS = 14, 30  # classes and links of the picture
_KINDS = 3  # of the values of a predicate
_EXAMPLE = 60  # characters
_NO_CLASS = "none"


@dataclass(frozen=True, slots=True)
class ClassRow:
    """A class with its mark, and how many resources it has; `name` is None for those without one."""

    name: ShownName | None
    mark: Svg
    count: int
    href: str
    listed: str
    is_current: bool


@dataclass(frozen=True, slots=True)
class KindWords:
    """Values of one kind: how many, and the kind with its mark, if it is a class."""

    count: int
    name: ShownName | None
    mark: Svg | None
    words: str


@dataclass(frozen=True, slots=True)
class ShapeDifference:
    """Where the graph differs from a shape, and the query that has the resources."""

    words: str
    href: str | None


@dataclass(frozen=True, slots=True)
class PredicateRow:
    """A predicate of the class.

    Attributes:
        name: the predicate.
        href: the query that has its values.
        subjects: how many resources of the class have it.
        percent: the same as a share of all of them, 0 to 100.
        values: their kinds; `several` is the largest number of one resource, if that is more than one.
        example: one of them.
        asked: what shapes ask for, each with its source; and where the graph differs.
    """

    name: ShownName
    href: str
    subjects: int
    percent: int
    values: tuple[KindWords, ...]
    several: int
    example: ShownTerm | None
    asked: tuple[tuple[str, str, tuple[ShapeDifference, ...]], ...]


@dataclass(frozen=True, slots=True)
class SchemaView:
    """The schema.

    Attributes:
        words: how many classes there are, and when that was counted.
        classes: the largest first, those without one last.
        picture: how the classes are linked; None if they are not.
        chosen: the class whose predicates are listed; None for a graph without triples.
        rows: its predicates.
        has_shapes: whether a shape asks for anything.
        pointing: classes with predicates that point to it.
        left_out: how many classes or predicates the page leaves out, in words.
    """

    words: str
    classes: tuple[ClassRow, ...]
    picture: Svg | None
    chosen: ClassRow | None
    rows: tuple[PredicateRow, ...]
    has_shapes: bool
    pointing: tuple[tuple[ClassRow, ShownName, int], ...]
    left_out: str
    away: TakeAway


def view(call: PageCall) -> SchemaView:
    """The schema of a namespace.

    Raises:
        HttpError: `not_found`: no resource has the class.
        CortexError: `graph_busy`: it is being read for the first time.
    """
    return _Schema(call).view()


class _Schema:
    """Makes the view of a request."""

    def __init__(self, call: PageCall) -> None:
        self._reading = Reading.of(call, _PATH)
        self._schema: SchemaInUse = call.api().operate(overview).schema
        self._marks = marks_of(self._schema)
        self._chosen = self._class(call.query.get("type"))
        if self._chosen is not None:  # that each has its class is no news
            uses = tuple(use for use in self._chosen.predicates if use.predicate != TYPE)
            self._chosen = replace(self._chosen, predicates=uses)

    def view(self) -> SchemaView:
        """The view."""
        schema, chosen, display = self._schema, self._chosen, self._reading.near
        uses = () if chosen is None else chosen.predicates[:_PREDICATES]
        display.terms(each.node for each in schema.classes[:_CLASSES] if each.node is not None)
        kinds = [kind.kind for use in uses for kind in use.values[:_KINDS]]
        examples = [example_of(use.values[0]) for use in uses if use.values]
        display.terms([*(use.predicate for use in uses), *kinds, *examples])
        asked = self._asked()
        rows = tuple(self._rows(asked))
        return SchemaView(
            self._words(),
            tuple(self._row(each) for each in schema.classes[:_CLASSES]),
            self._picture(),
            None if chosen is None else self._row(chosen),
            rows,
            bool(asked),
            tuple(self._pointing()),
            self._left_out(),
            self._reading.take_away(FORMS),
        )

    def _class(self, name: str | None) -> ClassInUse | None:
        """The class that was asked for; the largest one if none was."""
        classes = self._schema.classes
        if name is None:
            return classes[0] if classes else None
        node = None if name == _NO_CLASS else self._reading.graph.node_of(name, "type")
        found = next((each for each in classes if each.node == node), None)
        if found is None:
            raise not_found("no resource here has this class")
        return found

    def _words(self) -> str:
        schema = self._schema
        count = sum(each.node is not None for each in schema.classes)
        least = "" if schema.is_exact else "at least "
        when = "" if schema.counted_at is None else schema.counted_at.strftime(", counted %Y-%m-%d %H:%M:%S UTC")
        later = "" if schema.is_current else "; the graph may have been written to since"
        return f"{least}{count:,} class{'' if count == 1 else 'es'}, {schema.triples:,} triples{when}{later}"

    def _left_out(self) -> str:
        more = len(self._schema.classes) - _CLASSES
        predicates = 0 if self._chosen is None else len(self._chosen.predicates) - _PREDICATES
        parts = [f"{more:,} more classes"] if more > 0 else []
        return " and ".join([*parts, *([f"{predicates:,} more predicates"] if predicates > 0 else [])])

    def _row(self, found: ClassInUse) -> ClassRow:
        node, reading = found.node, self._reading
        if node is None:
            query = (
                f"SELECT DISTINCT ?subject {{ ?subject ?p ?o FILTER NOT EXISTS {{ ?subject {TYPE} ?c }} }} LIMIT 100"
            )
            listed = reading.near.addresses.page("sparql", query=query)
        else:
            name = json.dumps({"node": reading.graph.names.name(node.value)}, ensure_ascii=False)
            listed = reading.near.addresses.triples(predicate=reading.graph.names.name(TYPE.value), object=name)
        return ClassRow(
            None if node is None else reading.near.iri(node.value),
            class_mark(0 if node is None else self._marks.get(node, 0)),
            found.subjects,
            reading.changed(type=_NO_CLASS if node is None else reading.graph.names.name(node.value)),
            listed,
            self._chosen is not None and found.node == self._chosen.node,
        )

    def _rows(self, asked: dict[NamedNode, list[PropertyShape]]) -> Iterator[PredicateRow]:
        chosen = self._chosen
        if chosen is None:
            return
        used = {use.predicate for use in chosen.predicates}
        unused = [PredicateInUse(path, 0, 0, 0, ()) for path in asked if path not in used]
        display, near = self._reading.near, self._reading.near.addresses
        for use in (*chosen.predicates[:_PREDICATES], *unused):
            query = (
                f"SELECT ?subject ?value {{ {self._of_class('?subject')}?subject {use.predicate} ?value }} LIMIT 100"
            )
            yield PredicateRow(
                display.iri(use.predicate.value),
                near.page("sparql", query=query),
                use.subjects,
                round(100 * use.subjects / max(1, chosen.subjects)) or (1 if use.subjects else 0),
                tuple(map(self._kind, use.values[:_KINDS])),
                use.most if use.most > 1 else 0,
                display.term(example_of(use.values[0]), _EXAMPLE) if use.values else None,
                tuple(
                    (shape.demand(self._called), shape.source, tuple(self._differences(use, shape)))
                    for shape in asked.get(use.predicate, ())
                ),
            )

    def _called(self, node: NamedNode) -> str:
        return self._reading.near.iri(node.value).called

    def _of_class(self, variable: str) -> str:
        node = None if self._chosen is None else self._chosen.node
        return f"{variable} a {node} . " if node is not None else f"FILTER NOT EXISTS {{ {variable} a ?class }} "

    def _kind(self, kind: KindInUse) -> KindWords:
        if not kind.is_node:
            shown = self._reading.near.iri(kind.kind.value)
            return KindWords(kind.count, None, None, shown.plain)
        if kind.kind == RESOURCE:
            return KindWords(kind.count, None, None, "resources without a class")
        return KindWords(
            kind.count, self._reading.near.iri(kind.kind.value), class_mark(self._marks.get(kind.kind, 0)), ""
        )

    def _asked(self) -> dict[NamedNode, list[PropertyShape]]:
        """What shapes ask for, by predicate."""
        asked: dict[NamedNode, list[PropertyShape]] = {}
        if self._chosen is not None and self._chosen.node is not None:
            call, graph = self._reading.call, self._reading.graph
            rules = rule_sets(call.service.host(graph.namespace), is_anonymous=not call.principal.has_token)
            for shape in shapes_of(graph, [self._chosen.node], rules):
                asked.setdefault(shape.path, []).append(shape)
        return asked

    def _differences(self, use: PredicateInUse, shape: PropertyShape) -> Iterator[ShapeDifference]:
        chosen, page = self._chosen, self._reading.near.addresses.page
        if chosen is None or not self._schema.is_exact:
            return
        subject, predicate = self._of_class("?subject"), use.predicate
        if shape.least and (lacking := chosen.subjects - use.subjects) > 0:
            query = f"SELECT ?subject {{ {subject}FILTER NOT EXISTS {{ ?subject {predicate} ?value }} }} LIMIT 100"
            yield ShapeDifference(f"{lacking:,} lack{'s' if lacking == 1 else ''} it", page("sparql", query=query))
        if shape.most is not None and use.most > shape.most:
            counted = f"GROUP BY ?subject HAVING (COUNT(?value) > {shape.most})"
            query = f"SELECT ?subject {{ {subject}?subject {predicate} ?value }} {counted} LIMIT 100"
            yield ShapeDifference(f"up to {use.most:,} values", page("sparql", query=query))
        wrong = [kind for kind in use.values if _is_wrong(kind, shape)]
        if count := sum(kind.count for kind in wrong):
            tests = " || ".join(dict.fromkeys(map(_test_of, wrong)))
            query = f"SELECT ?subject ?value {{ {subject}?subject {predicate} ?value FILTER({tests}) }} LIMIT 100"
            kind = "resources" if wrong[0].is_node else self._reading.near.iri(wrong[0].kind.value).plain
            words = f"{count:,} {'is' if count == 1 else 'are'} {kind if len(wrong) == 1 else 'of other kinds'}"
            yield ShapeDifference(words, page("sparql", query=query))

    def _pointing(self) -> Iterator[tuple[ClassRow, ShownName, int]]:
        chosen = None if self._chosen is None else self._chosen.node
        found = [
            (each, use, kind.count)
            for each in self._schema.classes
            for use in each.predicates
            for kind in use.values
            if chosen is not None and kind.is_node and kind.kind == chosen and use.predicate != TYPE
        ]
        for each, use, count in sorted(found, key=lambda one: -one[2])[:_LINKS]:
            yield self._row(each), self._reading.near.iri(use.predicate.value), count

    def _picture(self) -> Svg | None:
        """How the largest classes are linked."""
        classes = [each for each in self._schema.classes if each.node is not None][:_DRAWN]
        nodes = {each.node for each in classes}
        display, changed, names = self._reading.near, self._reading.changed, self._reading.graph.names
        found = [
            MapLink(id_of(each.node), id_of(kind.kind), name_of_link(display.iri(use.predicate.value)), kind.count)
            for each in classes
            for use in each.predicates
            for kind in use.values
            if kind.is_node and kind.kind in nodes and use.predicate != TYPE
        ]
        links = _largest(found)
        if not links:
            return None
        linked = {end for link in links for end in (link.source, link.target)}
        drawn = tuple(
            MapNode(
                id_of(each.node),
                f"{display.iri(each.node.value).called} {each.subjects:,}",
                id_of(each.node),
                self._marks.get(each.node, 0),
                changed(type=names.name(each.node.value)),
                kind="class",
            )
            for each in classes
            if each.node is not None and id_of(each.node) in linked
        )
        chosen = "" if self._chosen is None or self._chosen.node is None else id_of(self._chosen.node)
        return picture(MapData("How the classes are linked", drawn, links), chosen=chosen)


def _largest(links: Sequence[MapLink]) -> tuple[MapLink, ...]:
    return tuple(sorted(links, key=lambda link: (-link.count, link.source, link.target, link.label))[:_LINKS])


def _is_wrong(kind: KindInUse, shape: PropertyShape) -> bool:
    """Whether values of a kind are not what a shape asks for; those of subclasses are not known here."""
    if shape.datatype is not None:
        return kind.is_node or kind.kind != shape.datatype
    return shape.is_node is not None and kind.is_node != shape.is_node


def _test_of(kind: KindInUse) -> str:
    return "isIRI(?value)" if kind.is_node else f"DATATYPE(?value) = {kind.kind}"


def _document(call: PageCall) -> bytes:
    name = call.query.get("type")
    given = {} if name in (None, _NO_CLASS) else {"class_": name}
    return to_json(call.api().operate(overview, **given).document())


def _void(call: PageCall) -> bytes:
    return void_of(call.graph)


FORMS = {
    "json": Form("application/json", _document),
    "void": Form("text/turtle", _void, "ttl"),
}
PAGE = ExplorerPage(
    f"{ROOT}/{{namespace}}/{_PATH}",
    "schema",
    "schema.html",
    view,
    query=SchemaPageQuery,
    pool="slow",
    forms=FORMS,
    label="Schema",
    section="See",
    keys="g h",
    place=65,
)
