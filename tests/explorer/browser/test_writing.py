"""A person adds and corrects a statement: suggestions as one types, and what shapes find beside the fields."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.explorer.browser.test_access import AXE, WIDEST
from tests.explorer.http.browsing import signed_in as of_token
from tests.explorer.http.test_write_suggestions import WRITE, XSD, objects, with_shapes
from tests.server.serving import Running

playwright = pytest.importorskip("playwright.sync_api")
Pages = Callable[..., Any]


def expect(thing: Any) -> Any:
    return playwright.expect(thing)


def suggestions(page: Any) -> Any:
    """The list that is open; a select has options, too."""
    return page.locator("[role=listbox]:not([hidden]) [role=option]")


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with with_shapes(tmp_path_factory.mktemp("writing")) as server:
        yield server


@pytest.fixture(scope="module")
def token(running: Running) -> str:
    return running.token("ada", permissions=("read", "write"))


@pytest.fixture(scope="module")
def cookie(running: Running, token: str) -> dict[str, str]:
    (found,) = of_token(running, token).cookies.jar
    return {"name": found.name, "value": found.value or ""}


def test_a_statement_is_suggested_checked_and_accepted_with_the_keyboard_alone(
    signed_in: Pages, running: Running, token: str
) -> None:
    page = signed_in()
    page.goto(f"{running.url}{WRITE}?subject=b")
    predicate = page.get_by_role("combobox", name="Predicate")
    predicate.focus()
    page.keyboard.type("sta")
    option = suggestions(page)
    expect(option).to_have_count(1)
    expect(option).to_contain_text("shape")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(predicate).to_have_value("mayros:state")
    kind = page.get_by_label("Kind", exact=True)
    expect(kind).to_have_value("text")  # it follows the predicate
    expect(page.locator("#h-object")).to_have_text("One of new, worn (the rules of the namespace)")
    page.keyboard.press("Tab")
    value = page.get_by_role("combobox", name="Value")
    expect(value).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(suggestions(page)).to_have_text(["newshape", "wornshape"])
    page.keyboard.press("Escape")
    page.keyboard.type("broken")
    page.keyboard.press("Enter")  # the first button of the form is the preview
    expect(page.get_by_role("alert")).to_have_text("The change brings 1 violation.")
    value = page.get_by_role("combobox", name="Value")
    expect(value).to_have_attribute("aria-invalid", "true")
    described = [page.locator(f"#{each}").inner_text() for each in value.get_attribute("aria-describedby").split()]
    assert "New violation" in described[1]
    assert objects(running, "b", "state") == []
    page.get_by_label("Save it although it brings 1 violation").focus()
    page.keyboard.press("Space")
    page.get_by_label("Token").fill(token)
    page.keyboard.press("Enter")
    page.wait_for_url("**/t/*")
    assert objects(running, "b", "state") == ["broken"]


@pytest.mark.extended
def test_a_kind_that_was_chosen_stays_and_a_resource_is_found_by_its_label(signed_in: Pages, running: Running) -> None:
    page = signed_in()
    page.goto(f"{running.url}{WRITE}?subject=c")
    predicate, kind = page.get_by_role("combobox", name="Predicate"), page.get_by_label("Kind", exact=True)
    predicate.fill("mayros:due")
    predicate.blur()
    expect(kind).to_have_value(f"{XSD}date")
    predicate.fill("mayros:title")
    predicate.blur()
    expect(kind).to_have_value("language")
    expect(page.get_by_label("Language")).to_have_value("sv")
    kind.select_option("text")
    predicate.fill("mayros:due")
    predicate.blur()
    expect(page.locator("#h-object")).to_contain_text("xsd:date")
    expect(kind).to_have_value("text")
    predicate.fill("mayros:madeBy")
    predicate.blur()
    page.get_by_role("combobox", name="Value").press_sequentially("acme w")
    suggestions(page).filter(has_text="Acme Works").click()
    expect(page.get_by_role("combobox", name="Value")).to_have_value("mayros:acme")
    expect(kind).to_have_value("node")
    subject = page.get_by_role("combobox", name="Subject")
    subject.fill("")
    subject.press_sequentially("acm")
    suggestions(page).first.click()
    expect(subject).to_have_value("mayros:acme")


@pytest.mark.extended
def test_without_scripts_suggest_lists_values_and_preview_shows_what_shapes_find(
    signed_in: Pages, running: Running
) -> None:
    page = signed_in(java_script_enabled=False)
    page.goto(f"{running.url}{WRITE}?subject=c")
    page.get_by_label("Predicate").fill("mayros:state")
    page.get_by_role("button", name="Suggest").click()
    assert page.locator("#l-object option").evaluate_all("found => found.map(each => each.value)") == ["new", "worn"]
    expect(page.get_by_label("Kind", exact=True)).to_have_value("text")
    page.get_by_label("Value", exact=False).first.fill("broken")
    page.get_by_role("button", name="Preview").click()
    expect(page.locator("#e-object")).to_contain_text("New violation")
    expect(page.get_by_label("Save it although it brings 1 violation")).not_to_be_checked()


@pytest.mark.extended
def test_the_form_with_findings_breaks_no_rule_of_wcag_and_fits_320_pixels(signed_in: Pages, running: Running) -> None:
    if not AXE.is_file():
        pytest.skip(f"axe-core is not installed: npm ci --prefix {AXE.parents[2].name}")
    page = signed_in(viewport={"width": 320, "height": 640}, reduced_motion="reduce")
    page.context.add_init_script(path=AXE)
    page.goto(f"{running.url}{WRITE}?subject=a&predicate=inStock")
    page.get_by_role("combobox", name="Value").fill("lots")
    page.get_by_role("button", name="Preview").click()
    expect(page.locator(".found").first).to_be_visible()
    assert page.locator(".found").count() >= 2
    for state in ("findings", "suggestions"):
        if state == "suggestions":
            page.get_by_role("combobox", name="Predicate").fill("")
            page.get_by_role("combobox", name="Predicate").press("ArrowDown")
            expect(suggestions(page).first).to_be_visible()
            page.keyboard.press("ArrowDown")
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme)
            violations = page.evaluate("() => axe.run(document).then(found => found.violations)")
            assert [(each["id"], [node["target"] for node in each["nodes"]]) for each in violations] == [], (
                state,
                theme,
            )
        page.evaluate(WIDEST)
        assert page.evaluate("() => document.documentElement.scrollWidth") <= 320, state
