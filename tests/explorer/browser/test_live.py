"""Pages that show what is new while they are open."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from cortex_graph import Provenance
from cortex_skills.features.actions.action_request import ActionRequest
from tests.server.serving import Running

playwright = pytest.importorskip("playwright.sync_api")
Pages = Callable[..., Any]
LIVE = ".live.on"


def asserted(running: Running, subject: str) -> None:
    who = Provenance("stock-watch", "1.2.0", "planner", datetime.now(UTC))
    running.plugin.graph.create_triple({"subject": subject, "predicate": "state", "object": "new"}, who)


def opened(page: Any, running: Running, address: str) -> None:
    with page.expect_response(lambda answer: "/explore/live" in answer.url):
        page.goto(running.url + address)
    playwright.expect(page.locator(LIVE)).to_be_visible()
    page.wait_for_timeout(500)  # the first event, which is what the page shows


def test_a_new_row_appears_with_a_mark_and_the_inbox_with_its_number(signed_in: Pages, running: Running) -> None:
    page = signed_in()
    opened(page, running, "/explore/mayros")
    asserted(running, "arrives-live")
    row = page.get_by_role("row").filter(has_text="New").first
    playwright.expect(page.locator("main")).to_contain_text("arrives-live")
    playwright.expect(row).to_be_visible()
    title = re.fullmatch(r"\((\d+)\) mayros · Cortex explorer", page.title())
    assert title is not None
    request = ActionRequest("fs_write", "v1", {"path": "live.md"}, "a1", "mayros", "tidy", "low", "why", "+one")
    running.plugin.approvals.request(request)
    playwright.expect(page).to_have_title(f"({int(title[1]) + 1}) mayros · Cortex explorer")
    playwright.expect(page.locator(".rail [data-page=approvals] .n")).to_have_text("1 waiting")


@pytest.mark.extended
def test_nothing_jumps_where_a_table_begins_above_the_window(signed_in: Pages, running: Running) -> None:
    for number in range(60):
        asserted(running, f"row-{number}")
    page = signed_in()
    opened(page, running, "/explore/mayros/list?recorded=yes")
    page.evaluate("() => scrollTo(0, 900)")
    text = page.locator("main table").inner_text()
    asserted(running, "arrives-later")
    offer = page.get_by_role("button", name="new", exact=False).filter(has_text="1 new")
    playwright.expect(offer).to_be_visible()
    assert (page.evaluate("() => scrollY"), page.locator("main table").inner_text()) == (900, text)
    offer.click()
    playwright.expect(page.locator("main table")).to_contain_text("arrives-later")


def test_without_scripts_and_as_of_a_moment_a_page_is_not_live(signed_in: Pages, running: Running) -> None:
    page = signed_in(java_script_enabled=False)
    page.goto(f"{running.url}/explore/mayros")
    playwright.expect(page.locator(".live")).to_be_hidden()
    page.goto(f"{running.url}/explore/mayros/list?asOf=2026-01-01")
    playwright.expect(page.locator(".live")).to_have_count(0)


@pytest.mark.extended
def test_the_first_row_of_a_page_that_had_none_is_offered(signed_in: Pages, running: Running) -> None:
    page = signed_in()
    opened(page, running, "/explore/mayros/list?subject=arrives-first")
    playwright.expect(page.locator("main table")).to_have_count(0)
    asserted(running, "arrives-first")
    page.get_by_role("button", name="1 new").click()
    playwright.expect(page.locator("main table")).to_contain_text("state")


# The real notifications are counted: a browser without a window shows none. A page in it is never hidden.
HIDES = """
window.notified = [];
window.Notification = class extends Notification {
    constructor(title, given) { super(title, given); window.notified.push(given.body); }
};
let hidden = false;
Object.defineProperty(document, "hidden", {get: () => hidden});
window.hide = () => { hidden = true; document.dispatchEvent(new Event("visibilitychange")); };
"""


def waits(running: Running, path: str) -> None:
    request = ActionRequest("fs_write", "v1", {"path": path}, "a1", "mayros", "tidy", "low", "why", "+one")
    running.plugin.approvals.request(request)


@pytest.mark.extended
def test_a_reader_who_chose_so_is_notified_of_what_waits_and_no_other(signed_in: Pages, running: Running) -> None:
    page = signed_in(permissions=["notifications"])
    page.add_init_script(HIDES)
    waits(running, "first.md")
    opened(page, running, "/explore/approvals")
    button = page.get_by_role("button", name="Notify me in this browser")
    playwright.expect(button).to_have_attribute("aria-pressed", "false")
    waits(running, "seen.md")  # it was not chosen
    many = len(running.plugin.approvals.list("pending").records)
    playwright.expect(page.locator(".rail [data-page=approvals] .n")).to_have_text(f"{many} waiting")
    assert page.evaluate("() => window.notified") == []
    button.click()
    playwright.expect(button).to_have_attribute("aria-pressed", "true")
    page.evaluate("() => window.hide()")
    before = int(re.sub(r"\D", "", page.locator(".rail [data-page=overview] .n").inner_text()))
    waits(running, "unseen.md")
    playwright.expect(page).to_have_title(f"({before + 1}) Approvals · Cortex explorer")
    assert page.evaluate("() => window.notified") == [f"{before + 1} waiting for a person"]
