"""The models of triples, patterns and changes."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field

from cortex_skills.doors.rest.model_types import (
    FROM_QUERY,
    WHOLE,
    ApiModel,
    Count,
    Cursor,
    FullName,
    GraphQuery,
    NextCursor,
    PastAnswer,
    PastQuery,
    PlainTriple,
    QueryBoolean,
    StoredTriple,
    Time,
    TripleId,
    Value,
)
from cortex_skills.features.graph.statement_changes import MAX_REASON

_QueryName = Annotated[str, Field(min_length=1, max_length=2048)]
_QuerySubject = Annotated[_QueryName, Field(description="The name of the subject.")]
_QueryPredicate = Annotated[_QueryName, Field(description="The name of the predicate.")]
_NameLimit = Annotated[int, Field(ge=1, le=10_000, description="The largest number of names."), FROM_QUERY]
_ExactTotal = Annotated[QueryBoolean, Field(description="Count all of them, however long it takes.")]
_WithProvenance = Annotated[QueryBoolean, Field(description="Add to each triple who asserted it.")]
_PatternName = Annotated[str, Field(min_length=1, max_length=65_536)]
_Party = Annotated[str, Field(min_length=1, max_length=256)]


class GetQuery(PastQuery, total=False):
    """The namespace, and what to add to the triple."""

    provenance: _WithProvenance
    withdrawn: Annotated[QueryBoolean, Field(description="Return the triple also if it was withdrawn.")]


class DeleteQuery(GraphQuery, total=False):
    """The graph, whether to keep the record of the triple, and why it is withdrawn."""

    erase: Annotated[QueryBoolean, Field(description="Remove the record and the proofs of the triple, too.")]
    reason: Annotated[str, Field(max_length=MAX_REASON, description="Why, for the audit.")]


class CountQuery(PastQuery, total=False):
    """The namespace, and how to count."""

    exactTotal: _ExactTotal


class ListQuery(CountQuery, total=False):
    """A pattern."""

    subject: _QuerySubject
    predicate: _QueryPredicate
    object: Annotated[str, Field(max_length=2048, description="The object as JSON; text that is no JSON is a string.")]
    limit: Annotated[int, Field(ge=1, le=10_000, description="The largest number of triples."), FROM_QUERY]
    cursor: Cursor
    offset: Annotated[int, Field(ge=0, le=10_000, description="How many triples to skip; prefer a cursor."), FROM_QUERY]
    provenance: _WithProvenance


class SubjectsQuery(PastQuery, total=False):
    """Which subjects."""

    predicate: _QueryPredicate
    limit: _NameLimit


class PredicatesQuery(PastQuery, total=False):
    """Which predicates."""

    subject: _QuerySubject
    limit: _NameLimit


class TriplePattern(ApiModel, total=False):
    """A pattern: a part that is absent or null matches anything."""

    subject: Annotated[_PatternName | None, Field(description="The name of the subject.")]
    predicate: Annotated[_PatternName | None, Field(description="The name of the predicate.")]
    object: Value | None
    limit: Annotated[
        Annotated[int, Field(ge=1, le=10_000), WHOLE] | None, Field(description="The largest number of triples.")
    ]
    cursor: Cursor | None
    onePage: Annotated[bool, Field(description="End the answer after about one mebibyte.")]
    provenance: Annotated[bool, Field(description="Add to each triple who asserted it.")]


class GivenProvenance(ApiModel, total=False):
    """Who asserted a triple."""

    agent: Annotated[_Party, Field(description="The agent that it was asserted for.")]
    skill: Annotated[_Party, Field(description="The slug of the skill.")]
    skillVersion: Annotated[_Party, Field(description="The version of the skill.")]
    time: Time


_Provenance = Annotated[
    GivenProvenance | None,
    Field(description="Who asserts it; null writes no record. Needs the permission `provenance`."),
]


class NewTriple(PlainTriple):
    """A triple to write."""

    provenance: NotRequired[_Provenance]


class NewTriples(ApiModel):
    """Triples to write together."""

    triples: Annotated[list[PlainTriple], Field(max_length=10_000, fail_fast=True, description="All or none.")]
    provenance: NotRequired[_Provenance]


class TriplesAndRecords(ApiModel, total=False):
    """Triples of a namespace, and triples of its provenance graph."""

    triples: Annotated[list[PlainTriple], Field(max_length=100_000, fail_fast=True, description="Of the namespace.")]
    records: Annotated[
        list[PlainTriple], Field(max_length=100_000, fail_fast=True, description="Of the provenance graph.")
    ]


class ChangeRequest(ApiModel, total=False):
    """What to remove, then what to write."""

    remove: TriplesAndRecords
    insert: TriplesAndRecords


class ObjectList(ApiModel):
    """Objects of triples; the answer has the order of the request."""

    objects: Annotated[list[Value], Field(max_length=1_000, fail_fast=True)]


class Acknowledgement(ApiModel):
    """It is done."""

    ok: Literal[True]


class CreatedTriple(ApiModel):
    """A triple, and whether it is new."""

    id: TripleId
    subject: FullName
    predicate: FullName
    object: Value
    created: Annotated[bool, Field(description="Whether this request created it.")]


class CreatedTriples(ApiModel):
    """The triples, in the order of the request."""

    inserted: list[CreatedTriple]
    total: Annotated[Count, Field(description="How many triples the request holds.")]
    created: Annotated[Count, Field(description="How many are new.")]
    duplicates: Annotated[Count, Field(description="How many existed before.")]


class _Page(PastAnswer):
    total: Annotated[Count, Field(description="How many match; a lower bound if `totalIsExact` is false.")]
    totalIsExact: Annotated[bool, Field(description="Whether `total` counts all of them.")]
    limit: Annotated[int, Field(description="The limit that was applied.")]
    nextCursor: NextCursor


class TriplePage(_Page):
    """A page of triples."""

    triples: list[StoredTriple]
    offset: Annotated[Count, Field(description="The offset that was applied.")]


class BoundParts(ApiModel):
    """The parts of a pattern; null for a part that matches anything."""

    subject: str | None
    predicate: str | None
    object: Value | None


class MatchPage(_Page):
    """A page of triples, and the pattern that they match."""

    matches: list[StoredTriple]
    pattern: BoundParts


class SubjectNames(ApiModel):
    """Names of subjects, sorted."""

    subjects: list[str]
    total: Annotated[Count, Field(description="How many there are.")]


class PredicateNames(ApiModel):
    """Names of predicates, sorted."""

    predicates: list[str]
    total: Annotated[Count, Field(description="How many there are.")]
