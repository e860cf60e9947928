"""Pages as they are drawn: texts of pictures, names within their pills, buttons."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.explorer.browser.every_page import addresses
from tests.explorer.browser.test_access import go
from tests.explorer.browser.workshop import LABEL, open_workshop
from tests.server.serving import Running

WIDTHS = (320, 390, 768, 1280, 1920)
SMALLEST = 11
# The sizes of the texts as drawn, and how many pairs of texts overlap.
TEXTS = """() => {
    const texts = [...document.querySelectorAll('.plot text')];
    const boxes = texts.map(text => text.getBoundingClientRect());
    const apart = (one, other) => one.right <= other.left || other.right <= one.left
        || one.bottom <= other.top || other.bottom <= one.top;
    const plots = [...document.querySelectorAll('.plot')].map(plot => plot.getBoundingClientRect());
    const holds = box => plots.some(plot => plot.left <= box.left + 1 && box.right <= plot.right + 1);
    return {
        sizes: [...new Set(texts.map(text => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().d))],
        overlaps: boxes.flatMap((one, at) => boxes.slice(at + 1).filter(other => !apart(one, other))).length,
        outside: boxes.filter(box => !holds(box)).length,
    };
}"""


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with open_workshop(tmp_path_factory.mktemp("workshop")) as server:
        yield server


@pytest.mark.extended
def test_the_texts_of_plots_have_one_size_at_every_width(signed_in: Callable[..., Any], running: Running) -> None:
    known, page = addresses(running), signed_in(reduced_motion="reduce")
    found = {}
    for name in ("overview", "audit", "resource", "session", "registered"):
        go(page, running, known[name])
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 800})
            found[name, width] = page.evaluate(TEXTS)
    assert {size for each in found.values() for size in each["sizes"]} == {11.5}
    assert {key: each for key, each in found.items() if each["overlaps"] or each["outside"]} == {}
    assert all(each["sizes"] for each in found.values())


LONG = ("W" * 60, "\u68ee" * 40, "i" * 90, "supplier of the parts of a bicycle that is built in our own workshop")
# Shapes that overlap, and texts that are wider than their pill or than the picture.
FAN = """() => {
    const fan = document.querySelector('.fan'), room = fan.getBoundingClientRect();
    const box = each => each.getBoundingClientRect();
    const apart = (one, other) => one.right <= other.left || other.right <= one.left
        || one.bottom <= other.top || other.bottom <= one.top;
    const all = names => [...fan.querySelectorAll(names)];
    const shapes = all('.f-pred rect, .f-focus rect, .f-arrow, .f-node circle, .f-lit rect').map(box);
    const inside = (text, rect) => rect.left <= text.left && text.right <= rect.right;
    return {
        pills: all('.f-pred, .f-focus').length,
        overlaps: shapes.flatMap((one, at) => shapes.slice(at + 1).filter(other => !apart(one, other))).length,
        wider: all('.f-pred, .f-focus').filter(
            each => !inside(box(each.querySelector('text')), box(each.querySelector('rect')))).length,
        outside: all('text').filter(each => !inside(box(each), room)).length,
    };
}"""


@pytest.mark.extended
def test_the_texts_of_the_picture_of_a_resource_have_eleven_pixels(
    signed_in: Callable[..., Any], running: Running
) -> None:
    page = signed_in(reduced_motion="reduce")
    go(page, running, addresses(running)["resource"])
    sizes = "texts => texts.map(text => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().d)"
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        assert min(page.locator(".fan text").evaluate_all(sizes)) >= SMALLEST


@pytest.mark.extended
def test_long_names_stay_within_their_pills_and_the_picture(signed_in: Callable[..., Any], running: Running) -> None:
    stated: list[dict[str, Any]] = []
    for place, text in enumerate(LONG):
        # Labels differ: instead of two that are the same, the picture has the names.
        stated.append({"subject": f"long:{place}", "predicate": LABEL, "object": text})
        stated.append({"subject": f"has:{place}", "predicate": LABEL, "object": text[1:]})
        other = {"node": f"long:{(place + 1) % len(LONG)}"}
        stated.append({"subject": f"long:{place}", "predicate": f"has:{place}", "object": other})
        stated.append({"subject": f"long:{place}", "predicate": f"has:{place}", "object": text})
    running.plugin.graph.create_triples(stated)
    page, found = signed_in(reduced_motion="reduce"), []
    for place in range(len(LONG)):
        go(page, running, f"/explore/mayros/r?name=long:{place}")
        found.append(page.evaluate(FAN))
    assert found == [{"pills": 4, "overlaps": 0, "wider": 0, "outside": 0}] * len(LONG)


def test_a_picture_that_is_wider_than_its_box_opens_with_its_resource(
    signed_in: Callable[..., Any], running: Running
) -> None:
    page = signed_in(viewport={"width": 390, "height": 780})
    go(page, running, addresses(running)["resource"])
    focus = page.locator(".f-focus").bounding_box()
    assert abs(focus["x"] + focus["width"] / 2 - 390 / 2) < 4


# The heights of buttons, and the acts that are filled.
BUTTONS = """() => {
    const seen = names => [...document.querySelectorAll(names)].filter(each => each.checkVisibility());
    const buttons = seen('button:not(.link, .spoken-button), .btn');
    return {
        heights: [...new Set(buttons.map(each => each.getBoundingClientRect().height))],
        filled: seen('main .primary').length,
        red: seen('main .danger.final').length,
    };
}"""


@pytest.mark.extended
def test_buttons_have_one_height_and_a_page_has_one_filled_act(signed_in: Callable[..., Any], running: Running) -> None:
    page, found = signed_in(expected=("status of 400", "status of 404")), {}
    for name, address in addresses(running).items():
        go(page, running, address)
        found[name] = page.evaluate(BUTTONS)
    assert {height for each in found.values() for height in each["heights"]} == {34}
    assert {name: each for name, each in found.items() if each["filled"] > 1 or each["red"]} == {}
