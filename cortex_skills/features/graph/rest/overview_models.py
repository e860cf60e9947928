"""The models of what a page about a namespace or a resource shows: neighbourhoods, counts, assertions."""

from typing import Annotated, Literal, NotRequired, Required

from pydantic import Field

from cortex_skills.doors.rest.model_types import (
    FROM_QUERY,
    ApiModel,
    Count,
    Cursor,
    FullName,
    Moment,
    NamespaceQuery,
    NextCursor,
    PastAnswer,
    PastQuery,
    QueryBoolean,
    TripleId,
    TripleProvenance,
    Value,
)

_QueryName = Annotated[str, Field(min_length=1, max_length=2048)]
_Exact = Annotated[bool, Field(description="Whether the number is exact; else it is a lower bound.")]


class NeighbourhoodQuery(PastQuery, total=False):
    """A resource."""

    name: Required[Annotated[_QueryName, Field(description="The name of the resource.")]]
    predicates: Annotated[int, Field(ge=1, le=100, description="The largest number of groups, 12."), FROM_QUERY]
    values: Annotated[int, Field(ge=1, le=100, description="The largest number of rows of a group, 7."), FROM_QUERY]


class NeighbourValue(ApiModel):
    """A triple of the resource."""

    id: TripleId
    value: Annotated[Value, Field(description="The object; the subject as a node when the triple is incoming.")]


class NeighbourGroup(ApiModel):
    """The triples of the resource with one predicate."""

    predicate: FullName
    count: Count
    exact: _Exact
    rows: list[NeighbourValue]


class NeighbourDirection(ApiModel):
    """The triples of the resource in one direction."""

    groups: list[NeighbourGroup]
    predicates: Annotated[Count, Field(description="How many predicates there are.")]
    complete: Annotated[bool, Field(description="Whether all predicates were found; else there may be more.")]
    count: Annotated[Count, Field(description="How many triples there are.")]
    exact: _Exact


class ResourceNeighbourhood(PastAnswer):
    """The triples of a resource, grouped by predicate."""

    name: FullName
    iri: str
    outgoing: NeighbourDirection
    incoming: NeighbourDirection


class PredicateUse(ApiModel):
    """A predicate, and how many triples have it."""

    predicate: FullName
    count: Count


class AsserterUse(ApiModel):
    """An agent or a version of a skill, and how many triples it asserted."""

    name: FullName
    kind: Literal["agent", "skill", "other"]
    assertions: Annotated[Count, Field(description="Those that are in the graph.")]
    withdrawn: Annotated[Count, Field(description="Those that were withdrawn.")]


class CountsQuery(NamespaceQuery, total=False):
    """The namespace, and how many names to list."""

    limit: Annotated[int, Field(ge=1, le=1000, description="The largest number of names of a list, 100."), FROM_QUERY]


class CountsReport(ApiModel):
    """What a namespace has."""

    namespace: str
    triples: Count
    resources: Annotated[Count, Field(description="Different subjects.")]
    predicates: Annotated[list[PredicateUse], Field(description="The most frequent first.")]
    predicateTotal: Count
    asserters: Annotated[list[AsserterUse], Field(description="Those with the most assertions first.")]
    asserterTotal: Count
    assertions: Annotated[Count, Field(description="Triples that have a record.")]
    undated: Annotated[Count, Field(description="Triples without a record, such as imported ones.")]
    withdrawn: Annotated[Count, Field(description="Assertions that were withdrawn.")]
    proofs: Count
    exact: _Exact
    current: Annotated[bool, Field(description="Whether it is known that nothing was written since.")]
    countedAt: Annotated[str | None, Field(description="When; null while the first count is under way.")]


class AssertionsQuery(PastQuery, total=False):
    """Which assertions."""

    subject: Annotated[_QueryName, Field(description="The name of the subject.")]
    predicate: Annotated[_QueryName, Field(description="The name of the predicate.")]
    object: Annotated[str, Field(max_length=2048, description="The object as JSON; text that is no JSON is a string.")]
    agent: Annotated[str, Field(min_length=1, max_length=256, description="The agent that asserted it.")]
    skill: Annotated[str, Field(min_length=1, max_length=513, description="The skill: `SLUG` or `SLUG@VERSION`.")]
    since: Moment
    until: Moment
    withdrawn: Annotated[QueryBoolean, Field(description="List withdrawn assertions, too.")]
    limit: Annotated[int, Field(ge=1, le=1000, description="The largest number of assertions, 50."), FROM_QUERY]
    cursor: Cursor


class ListedAssertion(ApiModel):
    """An assertion of a triple."""

    id: TripleId
    subject: FullName
    predicate: FullName
    object: Value
    record: Annotated[str, Field(description="The name of its record.")]
    provenance: TripleProvenance
    proofs: Annotated[list[str], Field(description="The ids of the proofs to which its record links.")]
    present: Annotated[bool, Field(description="Whether the triple is in the graph by this assertion.")]
    withdrawn: NotRequired[Annotated[TripleProvenance, Field(description="Who withdrew it, and when.")]]


class ListedAssertions(PastAnswer):
    """Assertions, the newest first."""

    assertions: list[ListedAssertion]
    nextCursor: NextCursor


class FindQuery(PastQuery, total=False):
    """A text."""

    q: Required[Annotated[str, Field(min_length=1, max_length=200, pattern=r"\S", description="What to find.")]]
    limit: Annotated[int, Field(ge=1, le=1000, description="The largest number of hits of a kind, 20."), FROM_QUERY]


class FoundTriple(ApiModel):
    """A triple that was found."""

    id: TripleId
    subject: FullName
    predicate: FullName
    object: Value


class FoundHit(ApiModel):
    """What was found, and where."""

    where: Annotated[
        Literal["name", "id", "predicate", "asserter", "begins", "text"],
        Field(description="Its whole name, its id, words of its name, or a text that has the words."),
    ]
    name: FullName
    triple: NotRequired[Annotated[FoundTriple, Field(description="The triple with the id or the text.")]]


class FoundHits(PastAnswer):
    """What was found, the nearest first."""

    hits: list[FoundHit]
    complete: Annotated[bool, Field(description="Whether these are all.")]
    reason: NotRequired[Annotated[str, Field(description="Why they may not be all.")]]
