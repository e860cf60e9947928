"""`graph.suggest_predicates` and `graph.suggest_values`: what a statement about a subject may have.

Rules kept here:
- first what the shapes of its classes ask for, then what resources of its classes have, with how many of them do, then
  what the graph has. The shapes are read, and the numbers are those of the schema: nothing is counted;
- values in use are a sample: those of some resources of the class, and of the first statements of the predicate. Only
  `sh:in` makes the values that are suggested all that there may be (`closed`);
- a text limits what is suggested; where the values are resources, it is searched as by `graph.find`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Annotated, Any, NotRequired
from typing import Literal as OneOf

from annotated_types import Interval, Len
from pyoxigraph import Literal, NamedNode
from typing_extensions import TypedDict

from cortex_graph import NamespacedGraph
from cortex_graph.assertion_records.records import select
from cortex_graph.index.schema_in_use import RESOURCE, ClassInUse, PredicateInUse, SchemaInUse
from cortex_graph.namespace.labels import Labels
from cortex_graph.naming.names import WELL_KNOWN_VOCABULARIES
from cortex_graph.naming.terms import from_term
from cortex_graph.naming.vocabulary import TYPE
from cortex_graph.store import Pattern
from cortex_skills.features.finder.entities import EntityIndex
from cortex_skills.features.finder.folded_words import folded_words, name_words
from cortex_skills.features.graph.looking.call_graph import labels_in
from cortex_skills.features.graph.looking.class_shapes import PropertyShape, shaped_classes, shapes_of
from cortex_skills.features.graph.looking.rules_here import Node, classes_of, rule_sets, stated_classes
from cortex_skills.features.graph.looking.schema_now import schema_of
from cortex_skills.operations.operation import Described, OperationCall, operation
from cortex_skills.skill_folder.rule_set import RuleSet

LIMIT = 30
_LANG_STRING = NamedNode(f"{WELL_KNOWN_VOCABULARIES['rdf']}langString")
_SUBJECTS = 60  # of a class, whose values are a sample
_STATEMENTS = 300  # of a sample
_OF_SUBJECT = 1_000  # statements of the subject that are read
_MOST = 1_000  # predicates that are looked at
_OF_VALUE = 200  # characters; a longer one is not suggested
_FIND_S = 2.0
_SCHEMA_S = 1.0  # for a schema that is being read for the first time

Source = OneOf["shape", "class", "graph"]
Text = Annotated[str, Len(0, 200), Described("Words, of which the last may be a beginning.")]
Name = Annotated[str, Len(1, 4096)]


class SuggestedPredicate(TypedDict):
    """A predicate, why it is suggested, how many of the `of` resources of the class have it, and what shapes ask for.

    `has` is how many values the subject has; `required` whether a shape asks for more.
    """

    predicate: str
    label: NotRequired[str]
    source: Source
    subjects: int
    of: int
    has: int
    required: bool
    asks: list[str]


class SuggestedPredicates(TypedDict):
    """Predicates, the nearest first, and the classes that they are of."""

    classes: list[str]
    predicates: list[SuggestedPredicate]


class SuggestedKind(TypedDict):
    """A kind of values: a datatype, or with `node` a class, which may be empty for any."""

    kind: str
    node: bool
    source: Source


class SuggestedValue(TypedDict):
    """A value, what it is called if it is a resource, and why it is suggested."""

    value: Any
    label: NotRequired[str]
    source: Source


class SuggestedValues(TypedDict):
    """What a value may be: its kinds and languages, the likeliest first; `closed` is whether it is one of `values`."""

    kinds: list[SuggestedKind]
    languages: list[str]
    asks: list[str]
    values: list[SuggestedValue]
    closed: bool


@dataclass(frozen=True, slots=True)
class PredicatesWanted:
    """The subject of a statement, or its class, and the beginning of the predicate."""

    subject: Annotated[Name | None, Described("The subject of the statement.")] = None
    class_: Annotated[Name | None, Described("Its class, in place of those that it has.")] = None
    text: Text = ""
    limit: Annotated[int, Interval(ge=1, le=100), Described("How many.")] = LIMIT


@dataclass(frozen=True, slots=True)
class ValuesWanted:
    """The predicate of a statement, its subject, or the class of that, and the beginning of the value."""

    predicate: Annotated[Name, Described("The predicate of the statement.")]
    subject: Annotated[Name | None, Described("Its subject.")] = None
    class_: Annotated[Name | None, Described("The class of the subject, in place of those that it has.")] = None
    text: Text = ""
    limit: Annotated[int, Interval(ge=1, le=100), Described("How many values.")] = LIMIT


@operation("graph.suggest_predicates", effect="reads", permission="read")
def suggest_predicates(call: OperationCall, given: PredicatesWanted) -> SuggestedPredicates:
    """Suggest predicates of a statement: those of the shapes of its subject's classes, those in use, then others."""
    about = _About.of(call, given.subject, given.class_)
    rows = list(islice(about.predicates(), _MOST))
    labels = about.labels.of(node for node, _ in rows)
    names, terms = about.graph.names, about.graph.prefixes.terms()
    found = []
    for node, row in rows:
        texts = [row["predicate"], terms.name(node.value) or "", labels.get(node, ""), *about.called(node)]
        if _has_words(given.text, texts):
            found.append({**row, "label": labels[node]} if node in labels else row)
    return {
        "classes": [names.name(node.value) for node in about.classes],
        "predicates": found[: given.limit],
    }


@operation("graph.suggest_values", effect="reads", permission="read")
def suggest_values(call: OperationCall, given: ValuesWanted) -> SuggestedValues:
    """Suggest what the value of a statement may be: its kind, its language, and values of shapes and in use."""
    about = _About.of(call, given.subject, given.class_)
    predicate = about.graph.node_of(given.predicate, "predicate")
    shapes = [shape for shape in about.shapes if shape.path == predicate]
    kinds = list(_kinds(about, predicate, shapes))
    closed = [shape.values for shape in shapes if shape.values is not None]
    rows = dict(_values(about, predicate, kinds, closed, given.text, given.limit))
    labels = about.labels.of(rows)
    values: list[SuggestedValue] = []
    for term, source in rows.items():
        name = labels.get(term, "") if isinstance(term, NamedNode) else ""
        value = from_term(term, about.graph.names)
        is_found = source == "found"  # by the index, for more than these texts
        if is_found or _has_words(given.text, [value["node"], name] if isinstance(term, NamedNode) else [term.value]):
            row: SuggestedValue = {"value": value, "source": "graph" if is_found else source}  # type: ignore[typeddict-item]
            values.append({**row, "label": name} if name else row)
    return {
        "kinds": kinds,
        "languages": list(_languages(about, predicate, shapes)),
        "asks": [f"{shape.demand(about.labels.shown)} ({shape.source})" for shape in shapes],
        "values": values[: given.limit],
        "closed": bool(closed),
    }


@dataclass(frozen=True)
class _About:
    """What is known of a subject.

    Attributes:
        graph: the graph.
        classes: of the subject, with their superclasses.
        own: those that it states itself.
        has: how many values it has, by predicate.
        rules: the shapes that the caller may read, beside those in the graph.
        shapes: what they ask of the classes.
        schema: as it is used.
        labels: for the caller.
    """

    graph: NamespacedGraph
    classes: list[NamedNode]
    own: list[NamedNode]
    has: Counter[NamedNode]
    rules: list[RuleSet]
    shapes: tuple[PropertyShape, ...]
    schema: SchemaInUse
    labels: Labels

    @classmethod
    def of(cls, call: OperationCall, subject: str | None, class_: str | None) -> _About:
        """What is known of a subject, or of resources of a class.

        Raises:
            InvalidArguments: it is no name.
        """
        graph = call.host.graph
        node = None if subject is None else graph.node_of(subject, "subject")
        quads = () if node is None else islice(graph.store.quads(Pattern(graph.names.graph, node)), _OF_SUBJECT)
        own = [] if node is None else stated_classes(graph, node)
        own = own if class_ is None else [graph.node_of(class_, "class")]
        classes = classes_of(graph, own)
        rules = list(rule_sets(call.host, is_anonymous=call.caller.is_anonymous))
        return cls(
            graph,
            classes,
            own,
            Counter(quad.predicate for quad in quads),
            rules,
            shapes_of(graph, classes, rules),
            schema_of(graph, _SCHEMA_S),
            labels_in(call, graph),
        )

    @property
    def in_use(self) -> list[ClassInUse]:
        """The classes as they are used; those without one for a subject without one."""
        wanted: set[NamedNode | None] = set(self.classes) or {None}
        return [each for each in self.schema.classes if each.node in wanted]

    def called(self, predicate: NamedNode) -> list[str]:
        """What shapes call a predicate."""
        return [shape.name for shape in self.shapes if shape.path == predicate and shape.name]

    def uses(self, predicate: NamedNode) -> list[tuple[Source, PredicateInUse]]:
        """How a predicate is used: in the classes, then in others."""
        found: list[tuple[Source, PredicateInUse]] = []
        own = self.in_use
        for source, classes in (("class", own), ("graph", [each for each in self.schema.classes if each not in own])):
            found += [(source, use) for each in classes for use in each.predicates if use.predicate == predicate]  # type: ignore[misc]
        return found

    def predicates(self) -> Iterator[tuple[NamedNode, SuggestedPredicate]]:
        """The predicates, each once."""
        uses: dict[NamedNode, tuple[int, int]] = {}
        for each in self.in_use:
            for use in each.predicates:
                if use.subjects > uses.get(use.predicate, (0, 0))[0]:
                    uses[use.predicate] = (use.subjects, each.subjects)
        of_class = sorted(uses, key=lambda node: (-uses[node][0], node.value))
        untyped = [] if self.own else [TYPE]
        sources: tuple[tuple[Source, Iterable[NamedNode]], ...] = (
            ("shape", (shape.path for shape in self.shapes)),
            ("class", of_class),
            ("graph", (*untyped, *self.graph.frequent_predicates(), TYPE)),
        )
        seen: set[NamedNode] = set()
        for source, nodes in sources:
            for node in nodes:
                if node not in seen:
                    seen.add(node)
                    yield node, self._row(node, source, *uses.get(node, (0, 0)))

    def _row(self, node: NamedNode, source: Source, subjects: int, of: int) -> SuggestedPredicate:
        shapes = [shape for shape in self.shapes if shape.path == node]
        return {
            "predicate": self.graph.names.name(node.value),
            "source": source,
            "subjects": subjects,
            "of": of,
            "has": self.has[node],
            "required": any(shape.least > self.has[node] for shape in shapes),
            "asks": [f"{shape.demand(self.labels.shown)} ({shape.source})" for shape in shapes],
        }


def _kinds(about: _About, predicate: NamedNode, shapes: list[PropertyShape]) -> Iterator[SuggestedKind]:
    """The kinds of values of a predicate, each once: of shapes, then in use, the most frequent first."""
    seen: set[tuple[str, bool]] = set()
    found: list[tuple[NamedNode | None, bool, Source]] = [(None, True, "graph")] if predicate == TYPE else []
    for shape in shapes:
        given = {type(each) for each in shape.values or ()}
        if shape.datatype is not None:
            found.append((shape.datatype, False, "shape"))
        elif shape.class_ is not None or shape.is_node or given == {NamedNode}:
            found.append((shape.class_, True, "shape"))
        elif given == {Literal}:
            found += [(each.datatype, False, "shape") for each in shape.values or () if isinstance(each, Literal)]
        elif shape.languages:
            found.append((_LANG_STRING, False, "shape"))
    for source, use in about.uses(predicate) if predicate != TYPE else ():
        found += [(None if kind.kind == RESOURCE else kind.kind, kind.is_node, source) for kind in use.values]
    for kind, is_node, source in found:
        name = "" if kind is None else about.graph.names.name(kind.value)
        if (name, is_node) not in seen:
            seen.add((name, is_node))
            yield {"kind": name, "node": is_node, "source": source}


def _languages(about: _About, predicate: NamedNode, shapes: list[PropertyShape]) -> Iterator[str]:
    found = [language.lower() for shape in shapes for language in shape.languages]
    found += [kind.language for _, use in about.uses(predicate) for kind in use.values if kind.language]
    yield from dict.fromkeys(found)


def _values(
    about: _About,
    predicate: NamedNode,
    kinds: list[SuggestedKind],
    closed: list[tuple[Node, ...]],
    text: str,
    limit: int,
) -> Iterator[tuple[Node, str]]:
    """The values, the nearest first."""
    graph = about.graph
    if closed:  # what each of the shapes allows
        yield from ((term, "shape") for term in closed[0] if all(term in each for each in closed))
        return
    if predicate == TYPE:
        yield from ((node, "shape") for node in shaped_classes(graph, about.rules))
        yield from ((each.node, "graph") for each in about.schema.classes if each.node is not None)
        return
    of_class = next((kind["kind"] for kind in kinds if kind["node"]), None)
    if of_class is not None and text.strip():
        wanted = of_class or None
        found = EntityIndex(graph, _FIND_S).find(text, class_=wanted, limit=limit)
        yield from ((hit.subject, "found") for hit in found.hits)
    used = Counter(term for term in _sample(about, predicate) if len(term.value) <= _OF_VALUE)
    yield from ((term, "class" if about.own else "graph") for term, _ in used.most_common(limit))
    if of_class and not text.strip():
        pattern = Pattern(graph.names.graph, None, TYPE, graph.names.node(of_class))
        some = [quad.subject for quad in islice(graph.store.quads(pattern), limit)]
        yield from ((node, "graph") for node in some if isinstance(node, NamedNode) and node not in used)


def _sample(about: _About, predicate: NamedNode) -> Iterator[Node]:
    """Values of some resources of the classes, and of the first statements of the predicate."""
    graph, own = about.graph, about.graph.names.graph
    first = islice(graph.store.quads(Pattern(own, None, predicate)), _STATEMENTS)
    yield from (quad.object for quad in first if isinstance(quad.object, NamedNode | Literal))
    for class_ in about.own[:1]:
        quads = islice(graph.store.quads(Pattern(own, None, TYPE, class_)), _SUBJECTS)
        subjects = [quad.subject for quad in quads if isinstance(quad.subject, NamedNode)]
        if not subjects:
            return
        if not graph.store.keeps_order:  # a server is asked once
            some = " ".join(map(str, subjects))
            query = f"SELECT ?o {{ VALUES ?s {{ {some} }} ?s {predicate} ?o }} LIMIT {_STATEMENTS}"
            rows = (row["o"] for row in select(graph.store, own, query))
            yield from (term for term in rows if isinstance(term, NamedNode | Literal))
            return
        for subject in subjects:
            each = islice(graph.store.quads(Pattern(own, subject, predicate)), _STATEMENTS // _SUBJECTS)
            yield from (quad.object for quad in each if isinstance(quad.object, NamedNode | Literal))


def _has_words(text: str, texts: Iterable[str]) -> bool:
    """Whether the words of a text begin words of others, each some word."""
    known = [word for each in texts for word in (*folded_words(each), *name_words(each))]
    return all(any(word.startswith(wanted) for word in known) for wanted in folded_words(text))
