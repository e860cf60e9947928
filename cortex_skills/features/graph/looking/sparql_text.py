"""`SparqlAnswer`: a page of the answer of a query, as a model reads it, and as JSON.

Rules kept here:
- a row is one line, its cells are separated by tabs, and written as in Turtle; a node has its label beside it, once on
  a page, unless its name or the row has that text already;
- a page that the caller did not give a number of rows has at most `OF_TEXT` tokens, any page at most `LONGEST`; the
  first line states which rows follow, of how many, and the last one how to get the next ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NotRequired

from pyoxigraph import Literal, NamedNode, Triple
from typing_extensions import TypedDict

from cortex_graph import NamespacedGraph
from cortex_graph.naming.counted import Count
from cortex_skills.enrichment.policy import RULE, Policy
from cortex_skills.features.graph.looking.model_terms import ModelTerms, letters
from cortex_skills.tools.token_estimate import tokens_of

OF_TEXT = 2_300  # tokens
LONGEST = 20_000

Cell = NamedNode | Literal | Triple | None


class SparqlDocument(TypedDict):
    """A page of an answer: cells as in Turtle, null where a variable is unbound; or the answer of ASK."""

    columns: list[str]
    rows: list[list[str | None]]
    boolean: NotRequired[bool]
    total: int
    totalIsExact: bool
    nextCursor: str | None
    notes: list[str]
    prefixes: dict[str, str]


@dataclass(frozen=True, slots=True)
class SparqlAnswer:
    """A page of the answer of a query.

    Attributes:
        graph: the graph.
        columns: the variables; `subject`, `predicate` and `object` of CONSTRUCT and DESCRIBE.
        rows: the terms.
        first: how many rows come before them.
        total: how many rows the answer has.
        digest: of the query, for cursors.
        boolean: the answer of ASK; None of other queries.
        labels: of nodes in the rows.
        notes: what the reader should know about the answer.
        is_limited: whether the caller chose the number of rows.
    """

    graph: NamespacedGraph
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    first: int
    total: Count
    digest: str
    boolean: bool | None
    labels: dict[NamedNode, str]
    notes: tuple[str, ...] = ()
    is_limited: bool = False

    def cursor(self, shown: int) -> str | None:
        """The cursor of the page after so many rows of this one; None if there are no more."""
        end = self.first + shown
        return f"{end}-{self.digest}" if end < self.total.value or not self.total.is_exact else None

    def text(self, policy: Policy | None = RULE) -> str:
        """The page for a model; for a person without a policy."""
        return sparql_text(self, policy)

    def document(self) -> SparqlDocument:
        """The page as JSON."""
        terms = self.graph.prefixes.terms()
        document: SparqlDocument = {
            "columns": list(self.columns),
            "rows": [[None if cell is None else terms.written(cell) for cell in row] for row in self.rows],
            "total": self.total.value,
            "totalIsExact": self.total.is_exact,
            "nextCursor": self.cursor(len(self.rows)),
            "notes": list(self.notes),
            "prefixes": {prefix: start for prefix, start in self.graph.prefixes.all().items() if prefix in terms.used},
        }
        if self.boolean is not None:
            document["boolean"] = self.boolean
        return document


def sparql_text(answer: SparqlAnswer, policy: Policy | None) -> str:
    """The text."""
    if answer.boolean is not None:
        return "true" if answer.boolean else "false"
    writer = _RowWriter(answer, policy)
    lines: list[str] = []
    left = LONGEST if answer.is_limited else OF_TEXT
    for row in answer.rows:
        line = writer.line(row)
        left -= tokens_of(line) + len(row)
        if left < 0 and lines and policy is not None:
            break
        lines.append(line)
    text = [_heading(answer, len(lines)), *(["\t".join(answer.columns)] if lines else []), *lines, *answer.notes]
    if cursor := answer.cursor(len(lines)):
        text.append(f"more: cursor={cursor}")
    return "\n".join(text)


def _heading(answer: SparqlAnswer, shown: int) -> str:
    total = f"{answer.total.text} row{'' if answer.total == Count(1) else 's'}"
    if not shown:
        return f"{total}, none after this cursor." if answer.total else "No rows."
    if answer.total == Count(shown):
        return f"{total}:"
    return f"{total}, {answer.first + 1:,} to {answer.first + shown:,}:"


class _RowWriter:
    def __init__(self, answer: SparqlAnswer, policy: Policy | None) -> None:
        self._columns = answer.columns
        self._labels = answer.labels
        self._terms = ModelTerms(answer.graph, policy)
        self._said: set[str] = set()

    def line(self, row: tuple[object, ...]) -> str:
        texts = {letters(cell.value) for cell in row if isinstance(cell, Literal)}
        return "\t".join(self._cell(cell, name, texts) for cell, name in zip(row, self._columns, strict=True))

    def _cell(self, cell: object, name: str, texts: set[str]) -> str:
        shown = self._terms.term(cell, name)
        label = self._labels.get(cell) if isinstance(cell, NamedNode) else None
        if label is None or label in self._said or letters(label) in texts or letters(label) in letters(shown):
            return shown
        self._said.add(label)
        return f"{shown} {self._terms.label(label)}"
