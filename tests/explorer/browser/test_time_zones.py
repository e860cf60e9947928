"""Times in the zone of the reader, by choice: shown, read in the fields of moments, and UTC without scripts."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit
from zoneinfo import ZoneInfo

import pytest

from tests.explorer.browser.conftest import playwright
from tests.explorer.http.browsing import CLICKED, signed_in, submitted
from tests.server.serving import Running

Pages = Callable[..., Any]
ADELAIDE, NEW_YORK = "Australia/Adelaide", "America/New_York"
AUDIT = "/explore/audit"


def choose(page: Any, running: Running, zone: str) -> None:
    page.goto(f"{running.url}{AUDIT}")
    page.get_by_role("button", name=f"Show {zone}").click()
    playwright.expect(page.locator(".zone [data-zone-name]")).to_have_text(zone)


def since(page: Any, written: str) -> str:
    """The moment in the address after a reader wrote a moment into the filter."""
    page.goto(page.url.partition("?")[0])
    page.locator("details > summary", has_text="Filter").click()
    page.get_by_label("Since").first.fill(written)
    page.wait_for_load_state("networkidle")  # what reads moments is loaded at the first use
    with page.expect_navigation():
        page.locator("button", has_text="Filter").click()
    return parse_qs(urlsplit(page.url).query)["since"][0]


def shown_times(page: Any) -> list[tuple[str, str]]:
    """Each exact time of the list, with its moment."""
    found: list[tuple[str, str]] = page.locator("main td time").evaluate_all(
        "all => all.map(each => [each.getAttribute('datetime'), each.textContent])"
    )
    return found


def test_times_are_shown_and_read_in_the_zone_that_was_chosen(signed_in: Pages, running: Running) -> None:
    page = signed_in(timezone_id=ADELAIDE)
    page.goto(f"{running.url}{AUDIT}")
    playwright.expect(page.locator(".zone")).to_contain_text("Times are UTC")
    before = shown_times(page)
    assert before
    assert [moment[:23].replace("T", " ") for moment, _ in before] == [text for _, text in before]
    choose(page, running, ADELAIDE)
    for moment, text in shown_times(page):
        there = datetime.fromisoformat(moment).astimezone(ZoneInfo(ADELAIDE))
        assert text == f"{there:%Y-%m-%d %H:%M:%S}"
    assert since(page, "2026-01-31") == "2026-01-30T13:30:00.000Z"
    assert page.get_by_label("Since").first.input_value() == "2026-01-31 00:00:00"
    assert page.locator("label", has_text="Since").text_content() == f"Since {ADELAIDE}"
    assert since(page, "2026-01-31 08:15") == "2026-01-30T21:45:00.000Z"
    assert since(page, "2026-01-31T08:15:00Z") == "2026-01-31T08:15:00Z"
    assert since(page, "24h") == "24h"
    today = datetime.now(ZoneInfo(ADELAIDE)).date()
    read = datetime.fromisoformat(since(page, "yesterday"))
    assert read.astimezone(ZoneInfo(ADELAIDE)).date() in (today - timedelta(days=1), today)
    page.get_by_role("button", name="Show UTC").click()
    playwright.expect(page.locator(".zone")).to_contain_text("Times are UTC")
    assert since(page, "2026-01-31") == "2026-01-31"
    assert since(page, "2026-01-31 08:15") == "2026-01-31T08:15:00.000Z"


@pytest.mark.extended
def test_a_moment_beside_a_change_of_the_clocks_is_the_one_that_was_written(signed_in: Pages, running: Running) -> None:
    page = signed_in(timezone_id=NEW_YORK)
    choose(page, running, NEW_YORK)
    for written in (
        "2026-03-08 01:59",
        "2026-03-08 03:00",
        "2026-03-08",
        "2026-11-01",
        "2026-11-01 03:00",
        "2026-07-04",
    ):
        there = datetime.fromisoformat(written).replace(tzinfo=ZoneInfo(NEW_YORK))
        assert datetime.fromisoformat(since(page, written)) == there, written


@pytest.mark.extended
def test_relative_times_and_words_have_the_zone_and_the_choice_lasts(signed_in: Pages, running: Running) -> None:
    page = signed_in(timezone_id=ADELAIDE)
    choose(page, running, ADELAIDE)
    page.goto(f"{running.url}/explore/mayros/changes?since=2026-01-31T00:00:00Z")
    assert " from 2026-01-31 10:30:00 to " in page.locator(".lede").first.text_content()
    assert page.locator(".lede").first.text_content().rstrip(".").endswith(ADELAIDE)
    titles = page.locator("td span[title]").evaluate_all("all => all.map(each => each.title)")
    assert all(title.endswith(f" {ADELAIDE}") for title in titles if title[:2] == "20")
    page.goto(f"{running.url}/explore/mayros/memories")
    assert page.locator("html").get_attribute("data-zone") == ADELAIDE


def test_without_scripts_times_are_utc_and_the_page_states_it(signed_in: Pages, running: Running) -> None:
    page = signed_in(java_script_enabled=False, timezone_id=ADELAIDE)
    page.context.add_cookies([{"name": "cortex_zone", "value": ADELAIDE, "url": f"{running.url}/explore"}])
    page.goto(f"{running.url}{AUDIT}")
    assert page.locator(".zone p").text_content().strip() == "Times are UTC"
    assert page.locator(".zone button").is_hidden()
    times = shown_times(page)
    assert [moment[:23].replace("T", " ") for moment, _ in times] == [text for _, text in times]


@pytest.mark.parametrize("zone", ["", '"><script>', "Europe/Berlin; Path=/", "a" * 400, "../x", "Europe//Berlin"])
def test_what_is_no_name_of_a_zone_is_refused_and_in_no_page(running: Running, zone: str) -> None:
    browser = signed_in_client(running)
    refused = submitted(browser, "/explore/zone", {"zone": zone, "next": AUDIT})
    assert (refused.status_code, "set-cookie" in refused.headers) == (400, False)
    given = {**CLICKED, "Cookie": f"cortex_zone={quote(zone[:100])}"}
    assert "data-zone=" not in running.client().get("/explore/login", headers=given).text


def test_a_zone_is_kept_for_the_pages_and_leads_nowhere_else(running: Running) -> None:
    browser = signed_in_client(running)
    kept = submitted(browser, "/explore/zone", {"zone": ADELAIDE, "next": "https://evil.example"})
    assert (kept.status_code, kept.headers["location"]) == (303, "/explore")
    assert (
        kept.headers["set-cookie"]
        == f"cortex_zone={ADELAIDE}; Path=/explore; Max-Age=31536000; HttpOnly; SameSite=Strict"
    )
    assert f'data-zone="{ADELAIDE}"' in browser.get(AUDIT, headers=CLICKED).text


def signed_in_client(running: Running) -> Any:
    return signed_in(running, running.token("zoned", permissions=("read", "audit")))
