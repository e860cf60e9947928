"""`graph.find`: the things of a graph by words of their names, labels and texts.

Rules kept here:
- what finds them is the index of the namespace (`features/finder/entities.py`); here its hits are named, and shown;
- an answer that may lack something states that, as does one whose hits lack words of the query.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NotRequired

from annotated_types import Interval, Len
from pyoxigraph import Literal, NamedNode
from typing_extensions import TypedDict

from cortex_graph import NamespacedGraph
from cortex_skills.enrichment.policy import RULE, Policy
from cortex_skills.features.finder.entities import EntityHit, EntityIndex, Found
from cortex_skills.features.graph.looking.call_graph import labels_in
from cortex_skills.features.graph.looking.model_terms import ModelTerms, letters
from cortex_skills.operations.operation import Described, OperationCall, operation

HITS = 10
_OF_TEXT = 120  # characters of the text that matched


@dataclass(frozen=True, slots=True)
class WantedThings:
    """Words, and what they are searched in."""

    text: Annotated[str, Len(1, 1000), Described("Words of names, labels or texts; the last may be a beginning.")]
    class_: Annotated[str, Len(1, 4096), Described("Only things of this class.")] | None = None
    limit: Annotated[int, Interval(ge=1, le=100), Described(f"How many, {HITS}.")] | None = None


class FoundThingDocument(TypedDict):
    """A thing: the text that matched, of `predicate`, or of its name without one, and a score from 0 to 1."""

    name: str
    label: NotRequired[str]
    classes: list[str]
    predicate: NotRequired[str]
    text: str
    score: float


class FindDocument(TypedDict):
    """What was found, best first. `complete` is whether everything was searched; `reason` is why not."""

    hits: list[FoundThingDocument]
    total: int
    complete: bool
    reason: str
    everyWord: bool
    prefixes: dict[str, str]


@dataclass(frozen=True, slots=True)
class FoundThings:
    """What was found.

    Attributes:
        graph: the graph.
        found: the hits.
        labels: of the things and of predicates.
    """

    graph: NamespacedGraph
    found: Found
    labels: dict[NamedNode, str]

    def text(self, policy: Policy | None = RULE) -> str:
        """The hits for a model; for a person without a policy."""
        terms = ModelTerms(self.graph, policy, _OF_TEXT)
        found, shown = self.found, len(self.found.hits)
        lines = [self._heading(shown)]
        lines += [self._line(terms, hit) for hit in found.hits]
        if found.hits and not found.every_word:
            lines.append("None has all the words.")
        if not found.complete:
            lines.append(f"Not everything was searched: {found.reason}")
        return "\n".join(lines)

    def document(self) -> FindDocument:
        """The hits as JSON."""
        return {
            "hits": [self._hit(hit) for hit in self.found.hits],
            "total": self.found.total,
            "complete": self.found.complete,
            "reason": self.found.reason,
            "everyWord": self.found.every_word,
            "prefixes": dict(self.graph.prefixes.all()),
        }

    def _heading(self, shown: int) -> str:
        total, more = self.found.total, "" if self.found.complete else "+"
        if not shown:
            return "Nothing has these words." if self.found.complete else "Nothing was found."
        counted = f"{total:,}{more} thing{'' if total == 1 and not more else 's'}"
        return f"{counted}:" if shown == total else f"{counted}, the best {shown}:"

    def _line(self, terms: ModelTerms, hit: EntityHit) -> str:
        parts = [terms.node(hit.subject)]
        label = self.labels.get(hit.subject, hit.label)
        if label is not None and letters(label) not in letters(parts[0]):
            parts.append(terms.label(label))
        parts += [terms.node(each) for each in hit.classes[:2]]
        if hit.predicate is not None and (label is None or letters(hit.text) != letters(label)):
            parts.append(f"({terms.node(hit.predicate)} {terms.term(Literal(hit.text), hit.predicate.value)})")
        return " ".join([*parts, f"{hit.score:.2f}"])

    def _hit(self, hit: EntityHit) -> FoundThingDocument:
        terms = self.graph.prefixes.terms()
        document: FoundThingDocument = {
            "name": terms.node(hit.subject.value),
            "classes": [terms.node(each.value) for each in hit.classes],
            "text": hit.text,
            "score": round(hit.score, 4),
        }
        if (label := self.labels.get(hit.subject, hit.label)) is not None:
            document["label"] = label
        if hit.predicate is not None:
            document["predicate"] = terms.node(hit.predicate.value)
        return document


@operation("graph.find", effect="reads", permission="read")
def find_things(call: OperationCall, given: WantedThings) -> FoundThings:
    """Find things by words of their names, labels and texts, in any order."""
    graph = call.host.graph
    of_class = None if given.class_ is None else f"<{graph.node_of(given.class_, 'class').value}>"
    found = EntityIndex(graph).find(given.text, class_=of_class, limit=given.limit or HITS)
    labels = labels_in(call, graph).of(hit.subject for hit in found.hits)
    return FoundThings(graph, found, labels)
