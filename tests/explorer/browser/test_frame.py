"""The frame of every page in a browser: the menu, buttons, and going back."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from cortex_graph import Provenance
from tests.explorer.browser.conftest import READER, WAIT_MS, chromium
from tests.explorer.http.browsing import signed_in as signed_in_with
from tests.server.serving import Running

playwright = pytest.importorskip("playwright.sync_api")
Pages = Callable[..., Any]


def test_on_a_phone_the_navigation_is_a_menu_without_scripts(signed_in: Pages, running: Running) -> None:
    page = signed_in(viewport={"width": 390, "height": 740}, java_script_enabled=False)
    page.goto(f"{running.url}/explore/mayros")
    navigation = page.locator("nav.rail")
    playwright.expect(navigation).to_be_hidden()
    assert page.locator("header.top").bounding_box()["height"] < 120
    page.get_by_role("button", name="Menu").click()
    playwright.expect(navigation).to_be_visible()
    navigation.get_by_role("link", name="Triples").click()
    playwright.expect(page).to_have_url(f"{running.url}/explore/mayros/list")
    page.get_by_role("button", name="Menu").click()
    navigation.get_by_role("button", name="Close").click()
    playwright.expect(navigation).to_be_hidden()


def test_buttons_and_fields_have_one_height(signed_in: Pages, running: Running) -> None:
    page = signed_in()
    for address in ("/explore/mayros/list?subject=hostile", "/explore/registry", "/explore/registry/read-table"):
        page.goto(running.url + address)
        heights = page.locator("main :is(button, .btn, select, input:not([type=checkbox], [type=hidden])):visible")
        assert set(heights.evaluate_all("all => all.map(each => each.offsetHeight)")) == {34}, address


@pytest.fixture
def going_back(browser: Any, running: Running) -> Iterator[Any]:
    """A page of a browser that keeps pages for going back to them, with a session."""
    token = running.token("leaves", permissions=READER)
    (cookie,) = signed_in_with(running, token).cookies.jar
    usual = ["--disable-back-forward-cache"]
    keeping = browser.browser_type.launch(
        executable_path=chromium(), args=["--no-sandbox"], ignore_default_args=usual, timeout=WAIT_MS
    )
    context = keeping.new_context()
    given = {"name": cookie.name, "value": cookie.value or "", "url": f"{running.url}/explore"}
    context.add_cookies([{**given, "httpOnly": True, "sameSite": "Strict"}])
    yield context.new_page()
    keeping.close()


@pytest.mark.extended
def test_the_back_button_shows_a_page_as_it_was_left_and_not_after_signing_out(
    going_back: Any, running: Running
) -> None:
    page = going_back
    page.goto(f"{running.url}/explore/mayros/list")
    page.reload()  # the first page sets the cookie that its script asks again
    page.evaluate("() => { window.left = 'here' }")
    page.goto(f"{running.url}/explore/registry")
    page.go_back(wait_until="commit")
    assert page.evaluate("() => window.left") == "here"
    page.goto(f"{running.url}/explore/logout")
    page.get_by_role("button", name="Sign out").click()
    playwright.expect(page).to_have_url(re.compile("/explore/login"))
    page.evaluate("() => { history.go(-2) }")
    playwright.expect(page).to_have_url(re.compile("/explore/login[?]next="))


@pytest.mark.extended
def test_every_page_of_the_navigation_comes_back_from_the_cache_while_its_stream_is_open(
    going_back: Any, running: Running
) -> None:
    page, asked_again = going_back, {}
    page.goto(f"{running.url}/explore/mayros")
    links = page.locator(".rail a").evaluate_all("all => all.map(each => each.href)")
    assert len(links) > 12
    for address in links:
        page.goto(address)
        if page.locator("[data-stream]").count():
            playwright.expect(page.locator(".live.on")).to_be_visible()
        page.evaluate("() => { window.left = 'here' }")
        page.goto(f"{running.url}/explore/logout")
        page.go_back(wait_until="commit")
        if page.evaluate("() => window.left") != "here":
            (entry,) = page.evaluate("() => performance.getEntriesByType('navigation').map(each => each.toJSON())")
            asked_again[address] = entry.get("notRestoredReasons")
    assert asked_again == {}


@pytest.mark.extended
def test_a_page_from_the_cache_has_one_stream_and_what_was_written_meanwhile(going_back: Any, running: Running) -> None:
    page, streams = going_back, []
    page.on("request", lambda request: streams.append(request.url) if "/explore/live" in request.url else None)
    page.goto(f"{running.url}/explore/mayros")
    page.reload()
    playwright.expect(page.locator(".live.on")).to_be_visible()
    page.wait_for_timeout(500)  # the first event, which is what the page shows
    page.evaluate("() => { window.left = 'here' }")
    page.goto(f"{running.url}/explore/mayros/sparql")  # which has no stream
    page.wait_for_timeout(1_000)  # until the server has noticed that the other one ended
    who = Provenance("stock-watch", "1.2.0", "planner", datetime.now(UTC))
    running.plugin.graph.create_triple({"subject": "while-away", "predicate": "state", "object": "new"}, who)
    streams.clear()
    page.go_back(wait_until="commit")
    playwright.expect(page.locator("main")).to_contain_text("while-away")
    assert page.evaluate("() => window.left") == "here"
    playwright.expect(page.locator(".live.on")).to_be_visible()
    assert len(streams) == 1
