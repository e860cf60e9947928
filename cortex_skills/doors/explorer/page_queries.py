"""The parameters of the explorer's pages.

Rules kept here:
- a parameter that a page does not name is an error, as in the REST API; every value is bounded.
"""

from typing import Annotated, Literal

from pydantic import Field

from cortex_skills.doors.rest.model_types import FROM_QUERY, ApiModel, Cursor

# Longer names have no page: a page repeats the parameters of its address in its links.
Text = Annotated[str, Field(max_length=1_024)]
Word = Annotated[str, Field(max_length=300)]
# As long as an address may be.
Query = Annotated[str, Field(max_length=24_000)]
# A moment, or words for one: `24h`, `yesterday`.
Moment = Annotated[str, Field(max_length=64)]
Limit = Annotated[int, FROM_QUERY, Field(ge=1, le=1_000)]


class AsOfQuery(ApiModel, total=False):
    """Of a page that can be read as of a moment."""

    asOf: Moment


class ResourceQuery(AsOfQuery, total=False):
    """Of the page of a resource."""

    name: Text
    csv: Literal["sheet"]


class UsedQuery(ResourceQuery, total=False):
    """Of the list of those who point to a resource."""

    predicate: Text
    limit: Limit
    cursor: Cursor


class FindPageQuery(AsOfQuery, total=False):
    """Of a search: the text, the class of what is found, and the page of the answer."""

    q: Text
    type: Text
    page: Annotated[int, FROM_QUERY, Field(ge=1, le=34)]


class TriplesQuery(AsOfQuery, total=False):
    """Of a list of triples."""

    subject: Text
    predicate: Text
    object: Text
    skill: Word
    agent: Word
    since: Moment
    recorded: Literal["yes"]
    evidence: Word
    limit: Limit
    cursor: Cursor
    csv: Literal["sheet"]


class ChangesQuery(ApiModel, total=False):
    """Of the difference of two moments."""

    since: Moment
    until: Moment
    subject: Text
    predicate: Text
    object: Text
    by: Word
    query: Query


class WriteQuery(ApiModel, total=False):
    """Of the form that writes: the statement that is corrected, or the parts of a new one, or the name to merge.

    Of its suggestions: the field, and what is typed in it.
    """

    triple: Annotated[str, Field(max_length=64)]
    subject: Text
    predicate: Text
    merged: Text
    field: Literal["subject", "predicate", "object", "merged", "kept"]
    q: Text


class ProofListQuery(AsOfQuery, total=False):
    """Of a list of proofs."""

    kind: Word
    verdict: Literal["verified", "well-formed", "not checked", "refuted"]
    limit: Limit
    cursor: Cursor


class AuditPageQuery(ApiModel, total=False):
    """Of the audit."""

    outcome: Word
    skill: Word
    agent: Word
    tool: Word
    about: Word
    session: Word
    q: Word
    since: Moment
    until: Moment
    cleaned: Literal["yes"]
    removed: Literal["yes"]
    id: Word
    limit: Limit
    cursor: Cursor


class SessionListQuery(ApiModel, total=False):
    """Of the sessions."""

    agent: Word


class SessionQuery(ApiModel, total=False):
    """Of a session: which steps, with which text, from which one on."""

    show: Literal["", "all", "changed", "refused"]
    q: Word
    start: Annotated[int, FROM_QUERY, Field(ge=0, le=10_000)]


class AgentQuery(AsOfQuery, total=False):
    """Of the page of an agent: its id."""

    name: Word


class ApprovalListQuery(ApiModel, total=False):
    """Of the requests for approval."""

    state: Literal["all", "rules"]


class RuleQuery(ApiModel, total=False):
    """Of a rule before it is made."""

    folder: Word
    ends: Word
    uses: Word
    reason: Word


class SkillQuery(ApiModel, total=False):
    """Of the page of a skill."""

    file: Word


class SparqlQuery(AsOfQuery, total=False):
    """Of the page of a query."""

    query: Query
    view: Literal["table", "map", "chart", "raw"]
    chart: Literal["places", "lines", "bars", "points", "histogram"]
    limit: Limit


# Ids of nodes of a map, with their places if these are chosen, such as `1f0a9c2e77,120,-45`.
NodeIds = Annotated[str, Field(max_length=1_000, pattern=r"^[a-z0-9,.\-]*$")]


class QueryListQuery(ApiModel, total=False):
    """Of the saved queries: the text of a new one."""

    query: Query


class SavedQueryQuery(AsOfQuery, total=False):
    """Of a saved query: the values of its parameters, in their order."""

    v0: Text
    v1: Text
    v2: Text
    v3: Text
    v4: Text
    v5: Text
    v6: Text
    v7: Text
    v8: Text
    v9: Text


class MapQuery(AsOfQuery, total=False):
    """Of a map: of a resource, or of the triples of a query; what is expanded, hidden, pinned, and chosen."""

    name: Text
    steps: Annotated[int, FROM_QUERY, Field(ge=1, le=3)]
    query: Query
    expand: NodeIds
    hide: NodeIds
    pin: NodeIds
    at: NodeIds


class SchemaPageQuery(ApiModel, total=False):
    """Of the schema: the class that is shown."""

    type: Text


class OfRegistryQuery(ApiModel, total=False):
    """Of a page about a registry: its namespace."""

    namespace: Word


class RegistryQuery(OfRegistryQuery, total=False):
    """Of the registry."""

    group: Literal["all", "people", "learned", "released", "deprecated"]
    state: Literal["candidate", "verified", "released", "degraded", "deprecated", "archived"]
    order: Literal["name", "success", "utility", "used", "trust"]
    q: Annotated[str, Field(max_length=1_000)]
    start: Annotated[int, FROM_QUERY, Field(ge=0, le=10_000_000)]
    check: Literal["yes"]
    view: Literal["list", "cards"]


class RegisteredSkillQuery(ApiModel, total=False):
    """Of the page of a registered skill."""

    namespace: Word
    of: Word
    beside: Word
