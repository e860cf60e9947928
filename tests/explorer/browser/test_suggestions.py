"""The field that finds suggests as one types, with the keyboard and for screen readers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.explorer.browser.test_access import AXE, WIDEST
from tests.server.serving import Running

playwright = pytest.importorskip("playwright.sync_api")
START = "/explore/mayros"
LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
Pages = Callable[..., Any]


def expect(thing: Any) -> Any:
    return playwright.expect(thing)


@pytest.fixture
def people(running: Running) -> Running:
    names = {"person:zoe": "Zoë Müller", "person:zoltan": "Zoltan Mueller", "person:x": "Zoubek <img src=x> \u202egnp"}
    for subject, label in names.items():
        running.plugin.graph.create_triple({"subject": subject, "predicate": LABEL, "object": label})
    return running


def test_words_in_any_order_are_suggested_and_chosen_with_keys(signed_in: Pages, people: Running) -> None:
    page = signed_in()
    page.goto(people.url + START)
    page.keyboard.press("/")
    field = page.get_by_role("combobox", name="Find")
    expect(field).to_be_focused()
    page.keyboard.type("muller zo")
    options = page.get_by_role("option")
    expect(options).to_have_count(1)
    expect(options).to_contain_text("Zoë Müller")
    expect(field).to_have_attribute("aria-expanded", "true")
    expect(page.get_by_role("status")).to_have_text("1 suggestion.")
    page.keyboard.press("ArrowDown")
    expect(options.first).to_have_attribute("aria-selected", "true")
    assert field.get_attribute("aria-activedescendant") == options.first.get_attribute("id")
    page.keyboard.press("ArrowDown")  # back to the field
    assert field.get_attribute("aria-activedescendant") is None
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{people.url}{START}/r?name=mayros:person:zoe")


def test_escape_closes_the_list_and_enter_without_a_choice_opens_the_page(signed_in: Pages, people: Running) -> None:
    page = signed_in()
    page.goto(people.url + START)
    field = page.locator("#find")
    field.click()
    page.keyboard.type("zou")
    option = page.get_by_role("option")
    expect(option).to_contain_text("Zoubek <img src=x>")
    expect(option.locator("img")).to_have_count(0)
    page.keyboard.press("Escape")
    expect(page.get_by_role("listbox")).to_have_count(0)
    expect(field).to_have_value("zou")
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{people.url}{START}/find?q=zou")
    expect(page.get_by_role("main")).to_contain_text("1 resource with these words")


def test_a_click_opens_what_is_suggested(signed_in: Pages, people: Running) -> None:
    page = signed_in()
    page.goto(people.url + START)
    page.locator("#find").click()
    page.keyboard.type("mueller")
    page.get_by_role("option").filter(has_text="Zoltan").click()
    expect(page).to_have_url(f"{people.url}{START}/r?name=mayros:person:zoltan")


def test_without_scripts_the_field_opens_the_page(signed_in: Pages, people: Running) -> None:
    page = signed_in(java_script_enabled=False)
    page.goto(people.url + START)
    page.locator("#find").fill("zoe muller")
    page.locator("#find").press("Enter")
    expect(page.get_by_role("main")).to_contain_text("1 resource with these words")


@pytest.mark.extended
def test_the_list_breaks_no_rule_of_wcag_and_fits_320_pixels(signed_in: Pages, people: Running) -> None:
    if not AXE.is_file():
        pytest.skip(f"axe-core is not installed: npm ci --prefix {AXE.parents[2].name}")
    page = signed_in(viewport={"width": 320, "height": 640}, reduced_motion="reduce")
    page.context.add_init_script(path=AXE)
    page.goto(people.url + START)
    page.locator("#find").click()
    page.keyboard.type("zo")
    expect(page.get_by_role("option")).to_have_count(3)
    page.keyboard.press("ArrowDown")
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        violations = page.evaluate("() => axe.run(document.querySelector('.find')).then(found => found.violations)")
        assert [(each["id"], [node["target"] for node in each["nodes"]]) for each in violations] == []
    page.evaluate(WIDEST)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 320
