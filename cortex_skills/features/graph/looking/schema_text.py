"""An overview of a graph as a model reads it.

Rules kept here:
- it has at most `OF_TEXT` tokens: of a large schema first the examples are left out, then predicates, then classes, and
  it states how to see them;
- classes of data come before those of schemas (`owl:Class`), and subjects without a class are the last.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from pyoxigraph import Literal, NamedNode

from cortex_graph import NamespacedGraph
from cortex_graph.checks.datetimes import date_time
from cortex_graph.index.counting import NamespaceCounts
from cortex_graph.index.schema_in_use import RESOURCE, ClassInUse, KindInUse, PredicateInUse, SchemaInUse
from cortex_graph.namespace.labels import cut
from cortex_graph.naming.names import WELL_KNOWN_VOCABULARIES
from cortex_graph.naming.vocabulary import TYPE
from cortex_skills.enrichment.policy import Policy
from cortex_skills.features.graph.looking.model_terms import ModelTerms, letters
from cortex_skills.tools.token_estimate import tokens_of

OF_TEXT = 1_500  # tokens
_KINDS = 3  # of the values of a predicate that are shown
_ASSERTERS = 5
_LANGUAGES = 12
_LONGEST_EXAMPLE = 40  # characters
_XSD = WELL_KNOWN_VOCABULARIES["xsd"]
_OF_SCHEMAS = tuple(WELL_KNOWN_VOCABULARIES[prefix] for prefix in ("owl", "rdfs", "rdf", "sh"))

Pointing = Sequence[tuple[NamedNode | None, PredicateInUse, int]] | None


@dataclass(frozen=True, slots=True)
class _Level:
    """How much is shown: classes of data, and of schemas, with predicates; predicates of each; examples; other names.

    Attributes:
        data: classes of data with their predicates.
        schemas: classes of schemas with their predicates.
        predicates: of each class.
        example: characters of an example.
        names: other classes, of which only the number of subjects is shown.
    """

    data: int
    schemas: int
    predicates: int
    example: int
    names: int


# The first that fits is taken.
_LEVELS = (
    _Level(1000, 1000, 1000, _LONGEST_EXAMPLE, 1000),
    _Level(40, 0, 40, _LONGEST_EXAMPLE, 100),
    _Level(40, 0, 40, 16, 60),
    _Level(40, 0, 40, 0, 60),
    _Level(25, 0, 20, 0, 60),
    _Level(15, 0, 16, 0, 40),
    _Level(12, 0, 12, 0, 30),
    _Level(8, 0, 8, 0, 30),
    _Level(5, 0, 6, 0, 20),
    _Level(3, 0, 4, 0, 10),
    _Level(0, 0, 0, 0, 10),
    _Level(0, 0, 0, 0, 3),
)


def overview_text(
    graph: NamespacedGraph,
    schema: SchemaInUse,
    counts: NamespaceCounts,
    labels: Mapping[NamedNode, str],
    pointing: Pointing,
    policy: Policy | None,
) -> str:
    """The text; see `GraphOverview` for the arguments."""
    if not schema.triples:
        return f"The graph {graph.namespace} has no triples."
    text, writer = "", _OverviewText(graph, schema, counts, labels, pointing, policy)
    for level in _LEVELS:
        writer.terms.used.clear()
        text = writer.written(level)
        if policy is None or tokens_of(text) <= OF_TEXT:
            break
    return text


@dataclass(frozen=True)
class _OverviewText:
    graph: NamespacedGraph
    schema: SchemaInUse
    counts: NamespaceCounts
    labels: Mapping[NamedNode, str]
    pointing: Pointing
    policy: Policy | None

    @cached_property
    def terms(self) -> ModelTerms:
        """Writes the terms."""
        return ModelTerms(self.graph, self.policy)

    def written(self, level: _Level) -> str:
        """The text at a level."""
        classes = sorted(self.schema.classes, key=lambda each: _kind_of_class(each.node))
        data = sum(not _kind_of_class(each.node) for each in classes)
        with_predicates = min(level.data, data) + (level.schemas if level.data >= data else 0)
        shown, others = classes[:with_predicates], classes[with_predicates:]
        body = [line for each in shown for line in self._class(each, level)]
        is_whole = not others and all(len(each.predicates) <= level.predicates for each in shown)
        if others:
            listed = ", ".join(self._heading(each) for each in others[: level.names])
            rest = f", and {len(others) - level.names} more" if len(others) > level.names else ""
            body.append(f"{'other classes' if shown else 'classes'}: {listed}{rest}")
        if self.pointing is not None:
            body += self._used_by(self.pointing, level.predicates)
        elif not is_whole:
            body.append("graph_overview with a class shows all its predicates.")
        return "\n".join([*self._head(), *body])

    def _head(self) -> list[str]:
        schema = self.schema
        least = "" if schema.is_exact else "at least "
        languages = f"; texts in {', '.join(schema.languages[:_LANGUAGES])}" if schema.languages else ""
        triples = f"{schema.triples:,} triple{'' if schema.triples == 1 else 's'}"
        lines = [f"graph {self.graph.namespace}: {least}{triples}{languages}"]
        if schema.first:
            lines.append(f"asserted from {schema.first[:19]} to {schema.last[:19]}{self._asserters()}")
        if not schema.is_current and schema.counted_at is not None:
            lines.append(f"counted at {date_time(schema.counted_at)[:19]}Z; the graph may have changed since")
        used = [(prefix, start) for prefix, start in self.graph.prefixes.all().items() if prefix in self.terms.used]
        declared = [f"{prefix}: <{start}>" for prefix, start in used if prefix not in WELL_KNOWN_VOCABULARIES]
        if declared:
            lines.append(f"prefixes, which graph_sparql knows: {', '.join(declared)}")
        lines.append(
            "a class: how many subjects it has; its predicates: how many of them have it (no number: all), how many "
            "values each (1-3), the kinds of the values (→ the class of a node)"
        )
        return lines

    def _asserters(self) -> str:
        counts = [each for each in self.counts.asserters if each.assertions]  # not of those whose were all withdrawn
        found = [f"{self.terms.own_name(each.node)} {each.assertions:,}" for each in counts[:_ASSERTERS]]
        rest = f", and {len(counts) - _ASSERTERS} more" if len(counts) > _ASSERTERS else ""
        return f", by {', '.join(found)}{rest}" if found else ""

    def _class(self, found: ClassInUse, level: _Level) -> list[str]:
        uses = [use for use in found.predicates if use.predicate != TYPE]
        lines = [f"  {self._use(use, found.subjects, level.example)}" for use in uses[: level.predicates]]
        hidden = len(uses) - len(lines)
        return [self._heading(found), *lines, *([f"  ({hidden} more predicates)"] if hidden else [])]

    def _heading(self, found: ClassInUse) -> str:
        return f"{'(no class)' if found.node is None else self._name(found.node)} {found.subjects:,}"

    def _name(self, node: NamedNode) -> str:
        """A name, and its label where that is more."""
        name, label = self.terms.node(node), self.labels.get(node)
        if label is None or letters(label) in letters(node.value):
            return name
        return f"{name} {self.terms.label(label)}"

    def _use(self, use: PredicateInUse, subjects: int, example: int) -> str:
        parts = [self._name(use.predicate)]
        if use.subjects != subjects:
            parts.append(f"{use.subjects:,}")
        if use.most > 1:
            parts.append(f"1-{use.most}")
        kinds = [self._kind(kind) for kind in use.values[:_KINDS]]
        parts.append("|".join([*kinds, *(["…"] if len(use.values) > _KINDS else [])]))
        if example and use.values and (shown := self._example(use, example)):
            parts.append(f"e.g. {shown}")
        return " ".join(parts)

    def _kind(self, kind: KindInUse) -> str:
        if kind.is_node:
            return "node" if kind.kind == RESOURCE else f"→{self.terms.node(kind.kind)}"
        datatype = kind.kind.value
        return datatype.removeprefix(_XSD) if datatype.startswith(_XSD) else self.terms.node(kind.kind)

    def _example(self, use: PredicateInUse, most: int) -> str:
        """An example of at most so many characters; empty for a node that does not fit, or whose class is enough."""
        kind, key = use.values[0], use.predicate.value
        if kind.is_node:
            name = self.terms.node(NamedNode(kind.example))
            is_shown = kind.kind == RESOURCE or most >= _LONGEST_EXAMPLE
            return name if len(name) <= 2 * most and is_shown else ""
        whole = self.terms.term(Literal(kind.example), key)
        if whole.startswith("("):  # it is withheld
            return whole
        text = cut(kind.example, most)
        if kind.language:
            return self.terms.term(Literal(text, language=kind.language), key)
        return self.terms.term(Literal(text, datatype=kind.kind), key).partition("^^")[0]  # the kind is there already

    def _used_by(self, pointing: Sequence[tuple[NamedNode | None, PredicateInUse, int]], most: int) -> list[str]:
        lines = [
            f"  {'(no class)' if of is None else self.terms.node(of)} {self.terms.node(use.predicate)} {count:,}"
            for of, use, count in pointing[:most]
        ]
        hidden = len(pointing) - len(lines)
        return [*(["used by"] if lines else []), *lines, *([f"  ({hidden} more)"] if hidden else [])]


def _kind_of_class(node: NamedNode | None) -> int:
    return 2 if node is None else int(node.value.startswith(_OF_SCHEMAS))
