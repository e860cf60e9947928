"""`/explore/{namespace}/queries`: the queries that are saved in the namespace; save one.

Rules kept here:
- what is listed and saved is that of the operations; saving needs the permission `write`;
- a query in the address is put into the form, and not run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote

from cortex_graph.exceptions import GraphError
from cortex_skills.doors.explorer.addresses import ROOT, address, namespace_root
from cortex_skills.doors.explorer.display import OF_HEADING, ShownText, shown_text
from cortex_skills.doors.explorer.field_text import to_field
from cortex_skills.doors.explorer.page import Action, ExplorerPage, Faulty, Form, PageCall
from cortex_skills.doors.explorer.page_queries import QueryListQuery
from cortex_skills.doors.http.bodies import to_json
from cortex_skills.errors import CortexError, as_ours
from cortex_skills.features.explorer.reading import Reading, TakeAway
from cortex_skills.features.graph.saved_query_operations import list_queries, save_query

PATH = f"{ROOT}/{{namespace}}/queries"


@dataclass(frozen=True, slots=True)
class SavedQueryRow:
    """A query: its page, what it answers, its parameters, and who saved it when."""

    href: str
    name: ShownText
    description: ShownText
    parameters: ShownText
    creator: ShownText
    when: str


@dataclass(frozen=True, slots=True)
class QueryListView:
    """The queries, and the form that saves one: name, description, text and parameters as they were typed."""

    rows: tuple[SavedQueryRow, ...]
    field: tuple[str, str, str, str]
    fault: ShownText | None
    here: str
    away: TakeAway


def view(call: PageCall, typed: Mapping[str, str] | None = None, fault: str = "") -> QueryListView:
    """The queries, by name."""
    reading = Reading.of(call, "queries")
    given = {"query": call.query.get("query", ""), **(typed or {})}
    rows = (
        SavedQueryRow(
            query_address(reading.graph.namespace, each["name"]),
            shown_text(each["name"], OF_HEADING),
            shown_text(each["description"]),
            shown_text(", ".join(part["name"] for part in each["parameters"])),
            shown_text(each["creator"], OF_HEADING),
            each["modified"][: len("2026-01-31T12:00")].replace("T", " "),
        )
        for each in call.api().operate(list_queries)
    )
    names = ("name", "description", "query", "parameters")
    name, description, query, parameters = (to_field(given.get(each, "")) for each in names)
    return QueryListView(
        tuple(rows),
        (name, description, query, parameters),
        shown_text(fault, 600) if fault else None,
        f"{namespace_root(reading.graph.namespace)}/queries",
        reading.take_away(FORMS),
    )


def query_address(namespace: str, name: str, **parameters: str) -> str:
    """The page of a query."""
    return address(f"{namespace_root(namespace)}/queries/{quote(name)}", **parameters)


def _save(call: PageCall, fields: Mapping[str, str]) -> str:
    """Save the query, and go to its page.

    Raises:
        Faulty: what was typed is refused; it is shown again.
    """
    lines = [line for line in fields.get("parameters", "").splitlines() if line.strip()]
    given = {name: fields.get(name, "") for name in ("name", "description", "query")}
    try:
        done = call.api().operate(save_query, parameters=lines, **given)
    except (CortexError, GraphError) as error:
        ours = as_ours("graph.save_query", error)
        if ours.code not in ("invalid_arguments", "permission_denied"):
            raise
        raise Faulty(view(call, fields, f"{ours.message}. {ours.hint}"), ours) from None
    return query_address(call.graph.namespace, done["name"])


FORMS = {"json": Form("application/json", lambda call: to_json(call.api().operate(list_queries)))}
PAGE = ExplorerPage(
    PATH,
    "queries",
    "queries.html",
    view,
    query=QueryListQuery,
    forms=FORMS,
    actions={"save": Action("Save", "write", _save)},
    pool="slow",
    label="Queries",
    section="See",
    keys="g u",
    place=82,
)
