"""Triples as text for a model, one unambiguous line each.

Rules kept here:
- a line is `subject predicate object`, each as in Turtle with the prefixes of the graph, and taken back by every tool;
- no name and no value can start a new line, look like another triple, or open a tag: a subject or a predicate with
  unusual characters is written as a JSON string, and such an object as an IRI in angle brackets;
- invisible characters and those that change the writing direction are escaped (`safe_io.display`);
- an instruction in a name or a value is withheld, and the line states that (`enrichment.triples`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any
from weakref import WeakKeyDictionary

from pyoxigraph import Literal, NamedNode

from cortex_graph import NamespacedGraph
from cortex_graph.index.prefixes import Prefixes
from cortex_skills.enrichment.policy import RULE, Policy
from cortex_skills.enrichment.triples import why_withheld
from cortex_skills.safe_io.display import json_text, one_line, shown_name

# The limits of the cache of lines: the same short triples of strings are often queried again.
_MAX_CHARACTERS, _MAX_LINES, _MAX_NAMES = 1024, 4096, 4096


class TripleLines:
    """Writes the triples of one graph, as long as its prefixes are the same."""

    def __init__(self, graph: NamespacedGraph) -> None:
        self.prefixes = graph.prefixes.all()
        self._names = graph.names
        self._terms = graph.prefixes.terms(json_text)
        self._known: dict[str, str] = {}
        self.lines: dict[tuple[str, str, str], tuple[str, bool]] = {}

    def line(self, triple: Mapping[str, Any]) -> str:
        """One triple as one line; nothing is withheld. Of a triple with `objectLength` the object is a beginning."""
        object_ = triple["object"]
        shown = f"{self.name(triple['subject'])} {self.name(triple['predicate'])} {self._object(object_)}"
        if "objectLength" not in triple:
            return shown
        text = object_["value"] if isinstance(object_, Mapping) else object_
        return f"{shown} (the first {len(text):,} of {triple['objectLength']:,} characters)"

    def name(self, name: str) -> str:
        """A subject or a predicate."""
        if name.startswith(self._names.prefix):
            return shown_name(name)
        known = self._known.get(name)
        if known is None:
            if len(self._known) >= _MAX_NAMES:
                self._known.clear()
            known = self._known[name] = shown_name(self._terms.name(self._names.node(name).value) or name)
        return known

    def _object(self, value: Any) -> str:
        if isinstance(value, bool | int | str):
            return json_text(value)
        if isinstance(value, float):
            return self._terms.written(Literal(value))
        if "node" in value:
            return self._node(value["node"])
        if "datatype" in value:
            datatype = NamedNode(value["datatype"])
            return self._terms.written(Literal(value["value"], datatype=datatype))
        language = f"@{value['language']}" if "language" in value else ""
        direction = f"--{value['direction']}" if "direction" in value else ""
        return f"{json_text(value['value'])}{language}{direction}"

    def _node(self, name: str) -> str:
        iri = self._names.node(name).value
        shown = self._terms.node(iri)
        return shown if one_line(shown) == shown else one_line(f"<{iri}>")


_WRITERS: WeakKeyDictionary[Prefixes, TripleLines] = WeakKeyDictionary()


def lines_of(graph: NamespacedGraph) -> TripleLines:
    """What writes the triples of a graph."""
    writer = _WRITERS.get(graph.prefixes)
    if writer is None or writer.prefixes is not graph.prefixes.all():
        writer = _WRITERS[graph.prefixes] = TripleLines(graph)
    return writer


def line_of(triple: Mapping[str, Any], graph: NamespacedGraph) -> str:
    """One triple as one line; nothing is withheld."""
    return lines_of(graph).line(triple)


def lines_shown(triples: Sequence[Mapping[str, Any]], policy: Policy, graph: NamespacedGraph) -> list[tuple[str, bool]]:
    """The line of each triple for a model, and whether it is complete."""
    writer = lines_of(graph)
    shown: list[tuple[str, bool] | None] = [None] * len(triples)
    if policy is RULE:
        known = writer.lines
        shown = [
            known.get((triple["subject"], triple["predicate"], object_))
            if type(object_ := triple["object"]) is str and "objectLength" not in triple
            else None
            for triple in triples
        ]
    new = [place for place, known in enumerate(shown) if known is None]
    if new:
        if len(writer.lines) >= _MAX_LINES:
            writer.lines.clear()
        for place, withheld in zip(new, why_withheld([triples[place] for place in new], policy), strict=True):
            shown[place] = line = _line(writer, triples[place], withheld, policy)
            if policy is RULE:
                _cache(writer, triples[place], line)
    return [line for line in shown if line is not None]


def grouped(lines: list[str], subjects: Sequence[str | None], graph: NamespacedGraph) -> list[str]:
    """Lines of which those after one with the same subject are written without it.

    Args:
        lines: of triples.
        subjects: their subjects; None for a line that is not shown whole.
        graph: of the triples.
    """
    found, writer = list(lines), lines_of(graph)
    for place, (before, subject) in enumerate(pairwise(subjects), 1):
        if subject is not None and subject == before:
            found[place] = f" {lines[place][len(writer.name(subject)) :]}"
    return found


def _cache(writer: TripleLines, triple: Mapping[str, Any], shown: tuple[str, bool]) -> None:
    key = (triple["subject"], triple["predicate"], triple["object"])
    if type(key[2]) is str and "objectLength" not in triple and sum(map(len, key)) < _MAX_CHARACTERS:
        writer.lines[key] = shown


def _line(
    writer: TripleLines, triple: Mapping[str, Any], withheld: tuple[str, str] | None, policy: Policy
) -> tuple[str, bool]:
    if withheld is None:
        return writer.line({**triple, "object": policy.marked(triple["object"])} if policy.mark else triple), True
    part, reason = withheld
    if part != "object":
        return f"(a triple is withheld: its {part}: {reason})", False
    return f"{writer.name(triple['subject'])} {writer.name(triple['predicate'])} (withheld: {reason})", False
