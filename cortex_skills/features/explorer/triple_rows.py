"""Triples as rows: each with who asserted it, and its thread of evidence.

Rules kept here:
- the records of all rows are read together;
- the triples are remembered by their ids, so that the page of one is there at once, also while a graph of imported
  triples has no index of ids yet;
- a row of a list checks no proof, and shows none as verified;
- evidence that most rows of a list have is the usual one of the list, which shows it once;
- the words of a thread of evidence are in the page once: the first row with them has them, the others refer to it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from pyoxigraph import Quad

from cortex_graph.assertions import Assertion, assertions_of
from cortex_graph.store import Triple
from cortex_skills.doors.explorer.display import ShownName, ShownTerm, ShownText, shown_name, shown_text
from cortex_skills.doors.explorer.look_alike_names import alike
from cortex_skills.features.explorer.evidence import EvidenceThread, recorded_thread
from cortex_skills.features.explorer.reading import Reading

_Term = TypeVar("_Term", ShownTerm, ShownName)

_USUAL = 4  # rows that have the same evidence
_WHO = 28  # characters of the name of an agent, a skill or a version
_SECONDS = len("2026-01-31T12:00:00")


@dataclass(frozen=True, slots=True)
class ShownOrigin:
    """Who asserted a triple, and when; each part is None if it is not recorded.

    Attributes:
        skill, version, agent: the texts of the record.
        time: an `xsd:dateTime`.
        when: the same for a reader.
    """

    skill: ShownText | None = None
    version: ShownText | None = None
    agent: ShownText | None = None
    time: str | None = None
    when: str | None = None
    is_recorded: bool = False


@dataclass(frozen=True, slots=True)
class TripleRow:
    """A triple.

    Attributes:
        subject, predicate, object: its terms.
        href: the page of the assertion.
        origin: who asserted it.
        thread: its evidence, unchecked.
        thread_id: of the element that has the words of the thread.
        defines_thread: whether that is in this row.
        is_usual: whether most rows of the list have this evidence.
        has_subject_above: whether the row before has the same subject.
        correct: the page that corrects it; None where it is not corrected from the row.
    """

    subject: ShownTerm
    predicate: ShownName
    object: ShownTerm
    href: str
    origin: ShownOrigin
    thread: EvidenceThread
    thread_id: str
    defines_thread: bool
    is_usual: bool = False
    has_subject_above: bool = False
    correct: str | None = None


def triple_rows(reading: Reading, triples: Sequence[tuple[str, Triple]]) -> tuple[TripleRow, ...]:
    """Rows of triples, given by their ids, with their present records."""
    today = reading.call.graph
    for _, triple in triples:
        today.index.identify(Quad(*triple, today.names.graph))
    records = assertions_of(reading.graph, [triple_id for triple_id, _ in triples])
    return _compared([_row(reading, triple_id, triple, records.get(triple_id)) for triple_id, triple in triples])


def assertion_rows(reading: Reading, assertions: Iterable[Assertion]) -> tuple[TripleRow, ...]:
    """Rows of assertions."""
    return _compared([_row(reading, each.triple_id, each.triple, each) for each in assertions])


def _row(reading: Reading, triple_id: str, triple: Triple, assertion: Assertion | None) -> TripleRow:
    subject, predicate, term = triple
    thread, ids = recorded_thread(assertion), reading.evidence_ids
    is_new = thread not in ids
    if is_new:
        ids[thread] = f"e{len(ids)}"
    return TripleRow(
        reading.near.term(subject),
        reading.near.iri(predicate.value),
        reading.near.term(term),
        reading.near.addresses.assertion(triple_id),
        shown_origin(assertion),
        thread,
        ids[thread],
        is_new,
    )


def _compared(rows: list[TripleRow]) -> tuple[TripleRow, ...]:
    """The rows, with a warning at each name that looks like another name of them."""
    rows = _grouped(rows)
    others = alike(term.name for row in rows for term in _names(row))
    if not others:
        return tuple(rows)

    def warned(term: _Term) -> _Term:
        if not isinstance(term, ShownName) or term.name not in others:
            return term
        return replace(
            term,
            is_simple=False,
            warning=f"looks like {shown_name(others[term.name]).plain}, another name here",
        )

    return tuple(
        replace(row, subject=warned(row.subject), predicate=warned(row.predicate), object=warned(row.object))
        for row in rows
    )


def _grouped(rows: list[TripleRow]) -> list[TripleRow]:
    """The rows, with what they have in common with the others."""
    threads = Counter(row.thread for row in rows).most_common(1)
    usual = threads[0][0] if threads and threads[0][1] >= max(_USUAL, len(rows) / 2) else None
    before = [None, *(row.subject for row in rows)]
    return [
        replace(row, is_usual=row.thread == usual, has_subject_above=row.subject == above)
        for row, above in zip(rows, before, strict=False)
    ]


def _names(row: TripleRow) -> list[ShownName]:
    return [term for term in (row.subject, row.predicate, row.object) if isinstance(term, ShownName)]


def shown_origin(assertion: Assertion | None) -> ShownOrigin:
    """Who made an assertion."""
    if assertion is None:
        return ShownOrigin()
    texts = (assertion.skill, assertion.skill_version, assertion.agent)
    skill, version, agent = (None if text is None else shown_name(text, _WHO) for text in texts)
    return ShownOrigin(skill, version, agent, assertion.time, moment(assertion.time), is_recorded=True)


def moment(time: str | None) -> str | None:
    """A time of a record for a reader: to the second, in UTC."""
    return None if time is None else shown_text(time[:_SECONDS].replace("T", " "), 30).plain
