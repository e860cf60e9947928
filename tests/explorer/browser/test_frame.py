"""The frame of every page in a browser: the menu, buttons, and going back."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.explorer.browser.conftest import WAIT_MS, chromium
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


@pytest.mark.extended
def test_the_back_button_shows_a_page_as_it_was_left_and_not_after_signing_out(browser: Any, running: Running) -> None:
    (cookie,) = signed_in_with(running, running.token("leaves", permissions=("read", "registry"))).cookies.jar
    usual = ["--disable-back-forward-cache"]
    keeping = browser.browser_type.launch(
        executable_path=chromium(), args=["--no-sandbox"], ignore_default_args=usual, timeout=WAIT_MS
    )
    context = keeping.new_context()
    given = {"name": cookie.name, "value": cookie.value or "", "url": f"{running.url}/explore"}
    context.add_cookies([{**given, "httpOnly": True, "sameSite": "Strict"}])
    page = context.new_page()
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
    keeping.close()
