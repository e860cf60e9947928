"""`/explore/{namespace}/queries/{name}`: a saved query as a form with its parameters, and its answer.

Rules kept here:
- the answer is that of the page of SPARQL; one whose address came with a followed link is shown without it;
- forgetting is the operation, and needs the permission `write`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote

from cortex_graph.exceptions import GraphError
from cortex_graph.sparql.query_parameters import filled
from cortex_skills.doors.explorer.addresses import namespace_root
from cortex_skills.doors.explorer.display import OF_HEADING, ShownTerm, ShownText, shown_text
from cortex_skills.doors.explorer.field_text import to_field
from cortex_skills.doors.explorer.page import Action, ExplorerPage, Faulty, Form, PageCall
from cortex_skills.doors.explorer.page_queries import SavedQueryQuery
from cortex_skills.doors.http.bodies import to_json
from cortex_skills.doors.http.http_errors import HttpError
from cortex_skills.errors import CortexError, as_ours
from cortex_skills.features.explorer.pages.query_list import PATH, query_address
from cortex_skills.features.explorer.pages.sparql_page import table_of, words_of
from cortex_skills.features.explorer.query_answers import answer_to
from cortex_skills.features.explorer.reading import AsOfField, Reading, TakeAway
from cortex_skills.features.graph.saved_queries import SavedQuery, terms_of
from cortex_skills.features.graph.saved_query_operations import document_of, forget_query, found_query

_ROWS = 200
_MOST_FIELDS = 10
_TYPES = {"number": "number", "date": "date"}


@dataclass(frozen=True, slots=True)
class ParameterField:
    """A field of the form: its name, label, kind of input, and value."""

    name: str
    label: ShownText
    input: str
    kind: str
    value: str


@dataclass(frozen=True, slots=True)
class SavedQueryView:
    """A saved query.

    Attributes:
        name, description, text: of the query.
        fields: of its parameters.
        columns, rows, words: the answer; no columns for one without rows.
        fault: why there is no answer; None if there is one, or nothing was asked.
        sparql: the page of SPARQL with the values; None without an answer.
    """

    name: ShownText
    description: ShownText
    text: ShownText
    creator: ShownText
    fields: tuple[ParameterField, ...]
    columns: tuple[ShownText, ...]
    rows: tuple[tuple[ShownTerm | None, ...], ...]
    words: str
    fault: ShownText | None
    sparql: str | None
    here: str
    back: str
    as_of: AsOfField
    away: TakeAway


def view(call: PageCall) -> SavedQueryView:
    """A saved query, with its answer if its parameters have values.

    Raises:
        CortexError: `not_found`.
        Faulty: a value is refused, or the query has no answer.
    """
    reading, query = Reading.of(call, f"queries/{quote(call.path['name'])}"), _query(call)
    values = _values(call, query)
    if not call.may_run or (query.parameters and not any(values.values())):
        return _view(reading, query)
    try:
        text = filled(query.text, terms_of(reading.graph, query, values))
        found = answer_to(call, reading.graph, text, _ROWS)
    except (GraphError, HttpError, CortexError) as error:
        ours = error if isinstance(error, HttpError) else as_ours("graph.run_query", error)
        raise Faulty(_view(reading, query, fault=f"{ours.message}. {ours.hint}"), ours) from None
    sparql = reading.addresses.page("sparql", query=text)
    if isinstance(found, bool):
        return _view(reading, query, words="Yes" if found else "No", sparql=sparql)
    columns, rows = table_of(reading, found)
    return _view(reading, query, columns, rows, words_of(found), sparql)


def _view(
    reading: Reading,
    query: SavedQuery,
    columns: tuple[ShownText, ...] = (),
    rows: tuple[tuple[ShownTerm | None, ...], ...] = (),
    words: str = "",
    sparql: str | None = None,
    fault: str = "",
) -> SavedQueryView:
    values, namespace = _values(reading.call, query), reading.graph.namespace
    fields = (
        ParameterField(
            f"v{place}",
            shown_text(each.description or each.name, OF_HEADING),
            _TYPES.get(each.kind, "text"),
            each.kind,
            to_field(values[each.name]),
        )
        for place, each in enumerate(query.parameters[:_MOST_FIELDS])
    )
    return SavedQueryView(
        shown_text(query.name, OF_HEADING),
        shown_text(query.description, 1_000),
        shown_text(query.text, 24_000, lines=400),
        shown_text(query.creator, OF_HEADING),
        tuple(fields),
        columns,
        rows,
        words,
        shown_text(fault, 600) if fault else None,
        sparql,
        query_address(namespace, query.name),
        f"{namespace_root(namespace)}/queries",
        reading.as_of_field(),
        reading.take_away(FORMS),
    )


def _query(call: PageCall) -> SavedQuery:
    return found_query(call.api(), call.path["name"])


def _values(call: PageCall, query: SavedQuery) -> dict[str, str]:
    return {each.name: call.query.get(f"v{place}", "") for place, each in enumerate(query.parameters[:_MOST_FIELDS])}


def _forget(call: PageCall, _: Mapping[str, str]) -> str:
    """Forget the query, and go to the list."""
    call.api().operate(forget_query, name=call.path["name"])
    return f"{namespace_root(call.graph.namespace)}/queries"


FORMS = {"json": Form("application/json", lambda call: to_json(document_of(_query(call))))}
PAGE = ExplorerPage(
    f"{PATH}/{{name}}",
    "query",
    "query.html",
    view,
    query=SavedQueryQuery,
    forms=FORMS,
    actions={"forget": Action("Forget", "write", _forget, takes_away=True)},
    pool="sparql",
    place=83,
)
