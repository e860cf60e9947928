"""With scripts: the slider of a history, the calendar of a moment, and the editor's tabs, prefixes and bookmarks."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest

from tests.explorer.browser.conftest import playwright
from tests.explorer.browser.test_access import NS, go
from tests.server.serving import Running

Pages = Callable[..., Any]
pytestmark = pytest.mark.extended


def test_the_slider_of_a_history_leads_to_the_difference(signed_in: Pages, running: Running) -> None:
    page = signed_in()
    go(page, running, f"{NS}/r?name=customer:boris")
    page.get_by_label("Back to").fill("0")
    since = page.get_by_role("textbox", name="From").input_value()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+Z", since)
    page.get_by_role("button", name="Compare").click()
    playwright.expect(page.get_by_text("1 added, 0 withdrawn from")).to_be_visible()
    assert page.get_by_role("textbox", name="Since").input_value() == since


def test_a_calendar_writes_the_time_into_the_field(signed_in: Pages, running: Running) -> None:
    page = signed_in(timezone_id="Asia/Tokyo")  # times are shown, and read, in UTC until that is chosen
    go(page, running, f"{NS}/changes")
    page.get_by_label("Choose a time").first.fill("2026-01-31T12:30")
    assert page.get_by_role("textbox", name="Since").input_value() == "2026-01-31 12:30"
    page.wait_for_load_state("networkidle")
    page.get_by_role("button", name="Compare").first.click()
    page.wait_for_url(re.compile("since=2026-01-31T12%3A30%3A00.000Z|since=2026-01-31T12:30:00.000Z"))


def test_a_query_that_was_run_here_runs_from_a_bookmark_and_another_does_not(
    signed_in: Pages, running: Running
) -> None:
    page = signed_in()
    own, other = (f"SELECT ?s {{ ?s ?p ?o }} LIMIT {count}" for count in (1, 2))
    go(page, running, f"{NS}/sparql?query={quote(own)}")
    page.locator("[data-run]").click()
    playwright.expect(page.get_by_text("1 row, the whole answer")).to_be_visible()
    page.goto(f"{running.url}{NS}/sparql?query={quote(other)}&view=raw")  # as from a bookmark
    playwright.expect(page.get_by_text("came with a link and was not run")).to_be_visible()
    page.goto(f"{running.url}{NS}/sparql?query={quote(own)}")
    playwright.expect(page.get_by_text("1 row, the whole answer")).to_be_visible()


def test_tabs_keep_their_queries_and_a_name_brings_its_prefix(signed_in: Pages, running: Running) -> None:
    running.plugin.graph.create_triple({"subject": "x", "predicate": "<http://v.example/terms#rarely>", "object": 1})
    reader = running.client(running.token("names", permissions=("read",)))
    for _ in range(200):  # it is counted in the background
        names = reader.get(f"{NS}/sparql?format=names").json()["names"]
        if "terms:rarely" in [each["label"] for each in names]:
            break
        time.sleep(0.1)
    page = signed_in()
    go(page, running, f"{NS}/sparql?query={quote('SELECT * { ?first ?p ?o }')}")
    page.get_by_role("button", name="Another query").click()
    editor = page.locator(".cm-content")
    editor.click()
    page.keyboard.type("SELECT * { ?s terms:rar")
    option = page.locator(".cm-tooltip-autocomplete li", has_text="terms:rarely").first
    option.click()
    text = page.locator("textarea[name=query]")
    assert text.input_value().startswith("PREFIX terms: <http://v.example/terms#>\nSELECT * { ?s terms:rarely")
    page.get_by_role("button", name="Query 1 ?first").click()
    assert text.input_value() == "SELECT * { ?first ?p ?o }"
