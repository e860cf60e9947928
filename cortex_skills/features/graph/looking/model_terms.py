"""Terms and texts of a graph as a model reads them.

Rules kept here:
- a term is written as in Turtle, with prefixed names, on one line: no text can begin a line, open a tag, or hide what
  it has (`safe_io.display`);
- a name or a text that is an instruction to the model is withheld, and its place states that, as in the lines of
  `skill_graph_query` (`enrichment.triples`);
- a long text is cut, and its length is there; a name that is longer than any of use is cut in its middle.
"""

from __future__ import annotations

from pyoxigraph import Literal, NamedNode

from cortex_graph import NamespacedGraph
from cortex_graph.namespace.labels import cut
from cortex_skills.enrichment.fragments import kind_of
from cortex_skills.enrichment.policy import RULE, Policy
from cortex_skills.enrichment.triples import why_withheld
from cortex_skills.safe_io.display import json_text, one_line, shown_name

OF_TEXT = 200  # characters of a literal
_OF_NAME = 300  # characters of a name; longer ones are cut in the middle


class ModelTerms:
    """Writes the terms of one graph for a model.

    Args:
        graph: the graph.
        policy: what is withheld beyond the rule; None for a person, from whom nothing is.
        of_text: how many characters of a literal are written.

    Attributes:
        of_text: how many characters of a literal are written, from now on.
        used: the prefixes that were written; it may be emptied.
    """

    def __init__(self, graph: NamespacedGraph, policy: Policy | None = RULE, of_text: int = OF_TEXT) -> None:
        self._names = graph.names
        self._terms = graph.prefixes.terms(json_text)
        self._policy = policy
        self.of_text = of_text
        self._nodes: dict[NamedNode, str] = {}
        self.used: set[str] = set()

    def node(self, node: NamedNode) -> str:
        """A node by its name."""
        known = self._nodes.get(node)
        if known is None:
            name = self._terms.node(node.value)
            shown = cut(name if one_line(name) == name else one_line(f"<{node.value}>"), _OF_NAME)
            kind = self._kind(shown)
            known = self._nodes[node] = shown if kind is None else _withheld(kind)
        if known[0] not in "<(":
            self.used.add(known.partition(":")[0])
        return known

    def own_name(self, node: NamedNode) -> str:
        """An agent or a skill by its name in the namespace."""
        name = self._names.name(node.value)
        kind = self._kind(name)
        return shown_name(name) if kind is None else _withheld(kind)

    def term(self, term: object, key: str = "") -> str:
        """A term.

        Args:
            term: the term; None for none.
            key: the predicate, or the variable, whose value it is.
        """
        if isinstance(term, NamedNode):
            return self.node(term)
        if not isinstance(term, Literal):
            return "" if term is None else json_text(str(term))
        value, length = term.value, len(term.value)
        text = value if length <= self.of_text else value[: self.of_text]
        if self._policy is not None:  # what is not shown is not judged: a text may have megabytes
            (reason,) = why_withheld([{"subject": "", "predicate": key, "object": text}], self._policy)
            if reason is not None:
                return _withheld(reason[1])
            text = self._policy.marked(text)
        if text != value:
            term = Literal(text, language=term.language) if term.language else Literal(text, datatype=term.datatype)
        shown = self._terms.written(term)
        return shown if length <= self.of_text else f"{shown} (the first {self.of_text} of {length:,} characters)"

    def _kind(self, name: str) -> str | None:
        return None if self._policy is None else kind_of(name)

    def label(self, text: str) -> str:
        """A label, in quotes."""
        return self.term(Literal(text), "label")


def letters(text: str) -> str:
    """The letters and digits of a text, in small letters, to compare texts."""
    return "".join(filter(str.isalnum, text)).casefold()


def _withheld(reason: str) -> str:
    return f"(withheld: {reason})"
