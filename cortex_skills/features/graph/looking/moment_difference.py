"""`graph.difference`: what changed between two moments: statements, with by whom, or the rows of a query.

Rules kept here:
- a moment is one of every interface (`checks.moments`); the later one is now unless it is given;
- with a query the answers as of both moments are compared, of each at most `ROWS` rows, which have no records;
- what a model reads is withheld as in other answers (`model_terms.py`), and as long as they are: fewer changes than the
  limit, and how many are not there. Nothing is withheld or left out for a person.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, NotRequired

from annotated_types import Interval, Len
from pyoxigraph import NamedNode
from typing_extensions import TypedDict

from cortex_graph import NamespacedGraph
from cortex_graph.as_of import GraphDifference, difference
from cortex_graph.assertion_records.withdrawals import Origin
from cortex_graph.assertions import Assertion, AssertionFilter
from cortex_graph.checks.datetimes import date_time
from cortex_graph.checks.moments import absolute, check_moment
from cortex_graph.exceptions import invalid
from cortex_skills.enrichment.policy import RULE, Policy
from cortex_skills.features.graph.looking.call_graph import labels_in
from cortex_skills.features.graph.looking.model_terms import ModelTerms
from cortex_skills.features.graph.looking.sparql_rows import PagedQuery, sparql
from cortex_skills.features.graph.looking.sparql_text import LONGEST, OF_TEXT, Cell
from cortex_skills.operations.operation import Described, OperationCall, operation
from cortex_skills.tools.token_estimate import tokens_of

ROWS = 1_000  # of the answer of a query
CHANGES = 100  # that are listed, by default
_Name = Annotated[str, Len(1, 4096)]
_Moment = Annotated[str, Len(1, 64)]


@dataclass(frozen=True, slots=True)
class ComparedMoments:
    """Two moments, and what is compared: everything, the statements of a pattern, or the answers of a query."""

    since: Annotated[_Moment, Described("The earlier moment: a date or time, yesterday, or 24h.")]
    until: Annotated[_Moment, Described("The later moment; now by default.")] | None = None
    subject: Annotated[_Name, Described("Only statements of this thing.")] | None = None
    predicate: Annotated[_Name, Described("Only statements with this predicate.")] | None = None
    object_: Annotated[_Name, Described("Only statements with this thing as their object.")] | None = None
    by: Annotated[str, Len(1, 256), Described("Only what this agent asserted or withdrew.")] | None = None
    query: Annotated[str, Len(1, 65_536), Described("A SPARQL query, whose answers are compared.")] | None = None
    limit: Annotated[int, Interval(ge=1, le=1000), Described(f"Changes that are listed, {CHANGES}.")] | None = None


class ByDocument(TypedDict):
    """Who asserted or withdrew a statement, and when; null for unknown."""

    agent: str | None
    skill: str | None
    skillVersion: str | None
    time: str | None


class ChangeDocument(TypedDict):
    """A statement that was added or withdrawn."""

    change: str
    id: str
    subject: str
    predicate: str
    object: str
    by: ByDocument


class RowDocument(TypedDict):
    """A row of an answer that was added or is gone."""

    change: str
    row: list[str]


class DifferenceDocument(TypedDict):
    """The changes, the latest first; of a query `columns` and `rows`. `complete` is whether everything was compared."""

    since: str
    until: str
    added: int
    withdrawn: int
    complete: bool
    changes: NotRequired[list[ChangeDocument]]
    columns: NotRequired[list[str]]
    rows: NotRequired[list[RowDocument]]
    prefixes: dict[str, str]


@dataclass(frozen=True, slots=True)
class ChangedRows:
    """The rows of two answers: those that the later one has and the earlier one has not, and those that are gone."""

    columns: tuple[str, ...]
    added: tuple[tuple[Cell, ...], ...]
    gone: tuple[tuple[Cell, ...], ...]

    def listed(self, limit: int) -> list[tuple[str, tuple[Cell, ...]]]:
        """The first rows, each with what became of it."""
        return [*(("added", row) for row in self.added), *(("withdrawn", row) for row in self.gone)][:limit]


@dataclass(frozen=True, slots=True)
class MomentDifference:
    """What changed.

    Attributes:
        graph: of now.
        since, until: the moments, as texts.
        found: the statements; None for a query.
        rows: the rows of a query.
        labels: of nodes.
        limit: how many changes are listed.
        is_limited: whether the caller asked for so many.
        is_complete: whether everything was compared.
    """

    graph: NamespacedGraph
    since: str
    until: str
    found: GraphDifference | None
    rows: ChangedRows | None
    labels: dict[NamedNode, str]
    limit: int
    is_complete: bool
    is_limited: bool

    @property
    def counts(self) -> tuple[int, int]:
        """How many were added, and how many withdrawn."""
        if self.found is not None:
            return len(self.found.added), len(self.found.withdrawn)
        return (len(self.rows.added), len(self.rows.gone)) if self.rows is not None else (0, 0)

    def changes(self) -> list[tuple[str, Assertion, Origin]]:
        """The changes that are listed, the latest first: whether added or withdrawn, what, and by whom."""
        if self.found is None:
            return []
        every = [("added", each, each.origin) for each in self.found.added]
        every += [("withdrawn", each, each.withdrawn) for each in self.found.withdrawn if each.withdrawn is not None]
        return sorted(every, key=lambda change: change[2]["time"] or "", reverse=True)[: self.limit]

    def text(self, policy: Policy | None = RULE) -> str:
        """The changes for a model; for a person without a policy."""
        terms = ModelTerms(self.graph, policy)
        added, gone = self.counts
        some = "" if self.is_complete else "at least "
        lines = [f"From {self.since} to {self.until}: {some}{added:,} added, {some}{gone:,} withdrawn."]
        if self.rows is not None:
            lines.append(" ".join(f"?{name}" for name in self.rows.columns))
        listed, room = 0, LONGEST if self.is_limited else OF_TEXT
        for line in self._lines(terms):
            room -= tokens_of(line) + 1
            if room < 0 and listed and policy is not None:
                break
            lines.append(line)
            listed += 1
        left = added + gone - listed
        return "\n".join([*lines, f"{left:,} more are not listed: {_NARROWER}"] if left > 0 else lines)

    def _lines(self, terms: ModelTerms) -> Iterator[str]:
        for change, each, by in self.changes():
            subject, predicate, term = each.triple
            who = " ".join(filter(None, (by["agent"], by["skill"], by["skillVersion"]))) or "unknown"
            stated = f"{terms.term(subject)} {terms.node(predicate)} {terms.term(term, self._key(predicate))}"
            yield f"{_SIGNS[change]} {stated} ({terms.label(who)}, {by['time'] or 'at an unknown time'})"
        if self.rows is not None:
            for change, row in self.rows.listed(self.limit):
                cells = (terms.term(cell, name) or "-" for name, cell in zip(self.rows.columns, row, strict=True))
                yield f"{_SIGNS[change]} {' '.join(cells)}"

    def document(self) -> DifferenceDocument:
        """The changes as JSON."""
        terms = self.graph.prefixes.terms()
        added, gone = self.counts
        document: DifferenceDocument = {
            "since": self.since,
            "until": self.until,
            "added": added,
            "withdrawn": gone,
            "complete": self.is_complete,
            "prefixes": dict(self.graph.prefixes.all()),
        }
        if self.rows is not None:
            document["columns"] = list(self.rows.columns)
            document["rows"] = [
                {"change": change, "row": ["" if cell is None else terms.written(cell) for cell in row]}
                for change, row in self.rows.listed(self.limit)
            ]
            return document
        document["changes"] = [
            {
                "change": change,
                "id": each.triple_id,
                "subject": terms.written(each.triple[0]),
                "predicate": terms.node(each.triple[1].value),
                "object": terms.written(each.triple[2]),
                "by": {name: by[name] for name in ("agent", "skill", "skillVersion", "time")},  # type: ignore[typeddict-item]
            }
            for change, each, by in self.changes()
        ]
        return document

    def _key(self, predicate: NamedNode) -> str:
        return self.graph.names.name(predicate.value)


_SIGNS = {"added": "+", "withdrawn": "-"}
_NARROWER = "raise limit, or name a thing, a predicate or a later moment"


@operation("graph.difference", effect="reads", permission="read")
def compare(call: OperationCall, given: ComparedMoments) -> MomentDifference:
    """Compare the graph as of two moments: what was added and withdrawn, and by whom."""
    graph, limit = call.host.graph, given.limit or CHANGES
    if given.query is not None:
        return _compared_answers(call, given, given.query, limit)
    subject, predicate, named = (
        None if name is None else graph.names.name(graph.node_of(name).value)
        for name in (given.subject, given.predicate, given.object_)
    )
    which = AssertionFilter(subject, predicate, None if named is None else {"node": named}, agent=given.by)
    found = difference(graph, given.since, given.until, which)
    nodes = [term for each in (*found.added, *found.withdrawn)[:limit] for term in each.triple]
    labels = labels_in(call, graph).of(nodes)
    since, until = date_time(found.since), date_time(found.until)
    return MomentDifference(graph, since, until, found, None, labels, limit, found.is_complete, bool(given.limit))


def _compared_answers(call: OperationCall, given: ComparedMoments, query: str, limit: int) -> MomentDifference:
    if given.subject or given.predicate or given.object_ or given.by:
        raise invalid("query", "is given beside a pattern", hint="write the pattern into the query")
    since, until = absolute(given.since, "since"), absolute(given.until or "now", "until")
    if check_moment(until, "until") <= check_moment(since, "since"):
        raise invalid("until", "is not later than `since`", hint="give the earlier moment as `since`")
    before = sparql.run(call, PagedQuery(query, ROWS, as_of=since))
    after = sparql.run(call, PagedQuery(query, ROWS, as_of=until if given.until else None))
    then, now = Counter(before.rows), Counter(after.rows)
    columns = after.columns or before.columns
    if before.boolean is not None and after.boolean is not None:
        raise invalid("query", "is ASK, whose answer has no rows", hint="SELECT what should be there")
    rows = ChangedRows(columns, tuple((now - then).elements()), tuple((then - now).elements()))
    is_complete = all(each.total.is_exact and each.total.value <= ROWS for each in (before, after))
    return MomentDifference(call.host.graph, since, until, None, rows, {}, limit, is_complete, bool(given.limit))
