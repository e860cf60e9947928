"""`/api/v1/neighbourhood`, `/counts`, `/assertions` and `/find`: what a page about a resource or a namespace shows.

Rules kept here:
- each is one call of one function of `cortex_graph`, whose reads are bounded;
- an unknown name has an empty neighbourhood, in the caller's namespace and in any other.
"""

from __future__ import annotations

from typing import Any

from cortex_graph.assertions import Assertion, AssertionFilter, list_assertions
from cortex_graph.checks.datetimes import date_time
from cortex_graph.index.counting import NamespaceCounts
from cortex_graph.namespace.neighbourhood import Direction, Neighbourhood, neighbourhood
from cortex_graph.naming.names import Names
from cortex_graph.naming.terms import from_term
from cortex_skills.doors.rest.operations import ApiAnswer, ApiCall, Operations
from cortex_skills.features.graph.looking.pattern_query import moment_of
from cortex_skills.features.graph.rest import overview_models as models
from cortex_skills.features.graph.text_search import search
from cortex_skills.safe_io.lenient_values import json_or_text

_NAMES = 100

OPERATIONS = Operations()


@OPERATIONS.add("GET", "/api/v1/neighbourhood", {200: models.ResourceNeighbourhood}, query=models.NeighbourhoodQuery)
def get_neighbourhood(call: ApiCall) -> ApiAnswer:
    """Group the triples of a resource by predicate, in both directions.

    An extension. A large resource has the groups of its first triples and of the frequent predicates of the namespace;
    `complete` is false then. An unknown name has no groups.
    """
    graph = call.graph
    numbers = {key: call.query[key] for key in ("predicates", "values") if key in call.query}
    found = neighbourhood(graph, call.query["name"], **numbers)
    groups = (*found.outgoing.groups, *found.incoming.groups)
    moment = moment_of(graph, [row.triple_id for group in groups for row in group.rows])
    return ApiAnswer(200, neighbourhood_document(found, graph.names) | moment)


@OPERATIONS.add("GET", "/api/v1/counts", {200: models.CountsReport}, query=models.CountsQuery)
def get_counts(call: ApiCall) -> ApiAnswer:
    """Return the numbers of a namespace that the server keeps.

    An extension. After a write they are counted again in the background; `current` and `countedAt` say what they
    are, and `exact` whether they are lower bounds.
    """
    graph = call.graph
    return ApiAnswer(200, counts_document(graph.counts.latest(), graph.names, call.query.get("limit", _NAMES)))


def counts_document(counts: NamespaceCounts, names: Names, limit: int) -> dict[str, Any]:
    """Return the counts of a namespace as the API writes them, with at most `limit` predicates and asserters."""
    return {
        "namespace": names.namespace,
        "triples": counts.triples,
        "resources": counts.resources,
        "predicates": [
            {"predicate": names.name(each.predicate.value), "count": each.triples} for each in counts.predicates[:limit]
        ],
        "predicateTotal": counts.predicate_total,
        "asserters": [
            {
                "name": (name := names.name(each.node.value)),
                "kind": _kind(name, names),
                "assertions": each.assertions,
                "withdrawn": each.withdrawn,
            }
            for each in counts.asserters[:limit]
        ],
        "asserterTotal": counts.asserter_total,
        "assertions": counts.assertions,
        "undated": counts.undated,
        "withdrawn": counts.withdrawn,
        "proofs": counts.proofs,
        "exact": counts.is_exact,
        "current": counts.is_current,
        "countedAt": None if counts.counted_at is None else date_time(counts.counted_at),
    }


@OPERATIONS.add(
    "GET",
    "/api/v1/assertions",
    {200: models.ListedAssertions},
    query=models.AssertionsQuery,
    errors=("query_timeout",),
    pool="slow",
)
def get_assertions(call: ApiCall) -> ApiAnswer:
    """List the assertions of a namespace, the newest first.

    An extension. Triples without a record, such as imported ones, have no time and are not listed.
    """
    graph, given = call.graph, dict(call.query)
    if "object" in given:
        given["object"] = json_or_text(given["object"])
    keys = ("subject", "predicate", "object", "agent", "skill", "since", "until", "withdrawn")
    which = AssertionFilter(**{key: given[key] for key in keys if key in given})
    page = list_assertions(graph, which, limit=given.get("limit", 50), cursor=given.get("cursor"))
    listed = [assertion_document(assertion, graph.names) for assertion in page.assertions]
    return ApiAnswer(200, {"assertions": listed, **moment_of(graph, []), "nextCursor": page.cursor})


@OPERATIONS.add("GET", "/api/v1/find", {200: models.FoundHits}, query=models.FindQuery, pool="slow")
def get_found(call: ApiCall) -> ApiAnswer:
    """Find what a text may mean: a name, an id, or words of names and texts.

    An extension. Words are compared in any order, without case and diacritics, by their stems; the last one may be the
    beginning of a word. Where nothing matches, one typo a word is allowed, and then some of the words are enough.
    `complete` is false if something may be missing, and `reason` states why.
    """
    graph = call.graph
    found = search(graph, call.query["q"], limit=call.query.get("limit", 20))
    hits: list[dict[str, Any]] = []
    for hit in found.hits:
        document: dict[str, Any] = {"where": hit.where, "name": graph.names.name(hit.node.value)}
        if hit.triple is not None:
            subject, predicate, object_ = hit.triple
            document["triple"] = {
                "id": hit.triple_id,
                "subject": graph.names.name(subject.value),
                "predicate": graph.names.name(predicate.value),
                "object": from_term(object_, graph.names),
            }
        hits.append(document)
    ids = [hit.triple_id for hit in found.hits if hit.triple_id is not None]
    limit, reason = call.query.get("limit", 20), found.reason
    if not reason and found.by_words > limit:
        reason = f"there are {found.by_words:,} resources with these words"
    answer = {"hits": hits, **moment_of(graph, ids), "complete": not reason}
    return ApiAnswer(200, answer | ({"reason": reason} if reason else {}))


def assertion_document(assertion: Assertion, names: Names) -> dict[str, Any]:
    """Return an assertion as the API writes it."""
    subject, predicate, object_ = assertion.triple
    document: dict[str, Any] = {
        "id": assertion.triple_id,
        "subject": names.name(subject.value),
        "predicate": names.name(predicate.value),
        "object": from_term(object_, names),
        "record": names.name(assertion.record.value),
        "provenance": assertion.origin,
        "proofs": list(assertion.proofs),
        "present": assertion.is_present,
    }
    if assertion.withdrawn is not None:
        document["withdrawn"] = assertion.withdrawn
    return document


def neighbourhood_document(found: Neighbourhood, names: Names) -> dict[str, Any]:
    """Return the triples of a resource as the API writes them."""
    return {
        "name": names.name(found.node.value),
        "iri": found.node.value,
        "outgoing": _direction(found.outgoing, names),
        "incoming": _direction(found.incoming, names),
    }


def _direction(direction: Direction, names: Names) -> dict[str, Any]:
    groups = [
        {
            "predicate": names.name(group.predicate.value),
            "count": group.count.value,
            "exact": group.count.is_exact,
            "rows": [{"id": row.triple_id, "value": from_term(row.term, names)} for row in group.rows],
        }
        for group in direction.groups
    ]
    return {
        "groups": groups,
        "predicates": direction.predicates.value,
        "complete": direction.predicates.is_exact,
        "count": direction.count.value,
        "exact": direction.count.is_exact,
    }


def _kind(name: str, names: Names) -> str:
    for kind in ("agent", "skill"):
        if name.startswith(f"{names.prefix}{kind}:"):
            return kind
    return "other"
