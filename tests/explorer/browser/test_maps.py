"""A map in the browser: it can be read at every width and zoom, and is expanded, hidden, pinned and taken away."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from cortex_graph import NamespacedGraph
from tests.server.serving import Running

playwright = pytest.importorskip("playwright.sync_api")
MAP = "/explore/mayros/map"
LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
KINDS = ("Part", "Supplier", "Order")
Pages = Callable[..., Any]
# The boxes of what is written, with the size of its text on the screen.
TEXTS = """() => [...document.querySelectorAll('.stage.map svg text')].flatMap(text => {
    const style = getComputedStyle(text);
    if (style.visibility === 'hidden') return [];
    const box = text.getBoundingClientRect();
    const size = parseFloat(style.fontSize) * text.getScreenCTM().a;
    return [{ text: text.textContent, size, left: box.left, right: box.right, top: box.top, bottom: box.bottom }];
})"""


def expect(thing: Any) -> Any:
    return playwright.expect(thing)


@pytest.fixture(scope="module")
def garden(running: Running) -> str:
    """The name of a resource with 49 others around it: labels of many scripts, bundles, two links between the same."""
    texts = (
        "Wide MMMM WWWW label",
        "森川 はな",
        "يوسف الحدّاد",
        "Spoke 292 mm",
        "Chain 11-speed, 116 links",
        "i",
        "Café",
    )
    triples: list[dict[str, object]] = []
    for place in range(50):
        name = f"node{place}"
        triples.append({"subject": name, "predicate": LABEL, "object": f"{texts[place % 7]} {place}"})
        triples.append({"subject": name, "predicate": TYPE, "object": {"node": KINDS[place % 3]}})
        triples.append({"subject": name, "predicate": "weighs", "object": place})
        if place:
            predicate = ("fits", "goes-with", "is-supplied-by", "needs")[place % 4]
            triples.append({"subject": f"node{place // 4}", "predicate": predicate, "object": {"node": name}})
        if place % 9 == 0:
            triples.append({"subject": name, "predicate": "replaces", "object": {"node": "node0"}})
    NamespacedGraph(running.plugin.graph.store, "mayros").create_triples(triples)
    return "node0"


def overlaps(texts: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """The pairs of texts that are over each other, by more than the pixel that a box may be off."""
    found = []
    for place, one in enumerate(texts):
        for other in texts[place + 1 :]:
            across = min(one["right"], other["right"]) - max(one["left"], other["left"])
            down = min(one["bottom"], other["bottom"]) - max(one["top"], other["top"])
            if across > 1 and down > 1:
                found.append((one["text"], other["text"]))
    return found


def ids(page: Any, name: str) -> list[str]:
    """A list of ids in the address of a page."""
    return ".".join(parse_qs(urlsplit(page.url).query).get(name, [""])).split(".")


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_no_label_of_fifty_nodes_is_over_another_one(
    signed_in: Pages, running: Running, garden: str, *, scripts: bool
) -> None:
    page = signed_in(java_script_enabled=scripts)
    page.goto(f"{running.url}{MAP}?name={garden}&steps=3")
    expect(page.locator(".m-node")).to_have_count(50)
    if scripts:
        expect(page.locator(".stage.map.scripted")).to_be_visible()
        page.get_by_role("button", name="Whole map").click()
    for width in (1280, 320):
        page.set_viewport_size({"width": width, "height": 900})
        for _ in range(3 if scripts else 1):
            texts = page.evaluate(TEXTS)
            assert min(text["size"] for text in texts) >= 11
            assert overlaps(texts) == []
            if scripts:
                page.get_by_role("button", name="Zoom in").click()
    if scripts:
        for _ in range(12):  # until the picture has its own size
            page.get_by_role("button", name="Zoom in").click()
        assert len(page.evaluate(TEXTS)) > 60  # nothing is left out


def test_a_node_is_expanded_hidden_and_pinned_with_the_keyboard(
    signed_in: Pages, running: Running, garden: str
) -> None:
    page = signed_in()
    page.goto(f"{running.url}{MAP}?name={garden}&steps=1")
    expect(page.locator(".stage.map.scripted")).to_be_visible()
    before = page.locator(".m-node").count()
    node = page.locator(".m-node").filter(has_text="森川 はな 1")
    chosen = node.get_attribute("data-id")
    node.focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(f"expand={chosen}"))
    expect(page.locator(".m-node.here")).to_be_focused()
    assert page.locator(".m-node").count() > before
    expect(page.locator(".side h2")).not_to_be_empty()
    expect(page.locator(".side dd").first).to_have_text(re.compile(r"\d+"))
    page.keyboard.press("p")
    expect(page).to_have_url(re.compile(r"pin=" + chosen))
    page.keyboard.press("h")
    expect(page.locator(f'.m-node[data-id="{chosen}"]')).to_have_count(0)
    page.get_by_role("link", name="Show 1 hidden").click()
    expect(page.locator(f'.m-node[data-id="{chosen}"]')).to_have_count(1)
    page.go_back()
    expect(page.locator(f'.m-node[data-id="{chosen}"]')).to_have_count(0)


def test_what_is_dragged_is_pinned_and_what_is_clicked_opens_its_card(
    signed_in: Pages, running: Running, garden: str
) -> None:
    page = signed_in()
    page.goto(f"{running.url}{MAP}?name={garden}&steps=1")
    expect(page.locator(".stage.map.scripted")).to_be_visible()
    node = page.locator(".m-node:not(.root)").first
    chosen = node.get_attribute("data-id")
    box, root = node.locator(".mark").bounding_box(), page.locator(".root .mark").bounding_box()
    page.mouse.move(box["x"] + 3, box["y"] + 3)
    page.mouse.down()
    page.mouse.move(box["x"] + 43, box["y"] + 33, steps=4)
    page.mouse.up()
    expect(page).to_have_url(re.compile(f"pin={chosen}"))
    moved = page.locator(f'.m-node[data-id="{chosen}"] .mark').bounding_box()
    now = page.locator(".root .mark").bounding_box()
    ways = [moved[side] - now[side] - (box[side] - root[side]) for side in ("x", "y")]
    assert ways == pytest.approx((40, 30), abs=3)
    page.locator(".m-node.root .mark").click()
    expect(page.locator(".side h2")).to_contain_text("Wide MMMM WWWW label 0")
    assert ids(page, "at") == [page.locator(".m-node.root").get_attribute("data-id")]


def test_without_scripts_a_node_is_chosen_expanded_and_its_class_hidden(
    signed_in: Pages, running: Running, garden: str
) -> None:
    page = signed_in(java_script_enabled=False)
    page.goto(f"{running.url}{MAP}?name={garden}&steps=1")
    before = page.locator(".m-node").count()
    page.locator(".m-node:not(.root) .mark").first.click()
    page.get_by_role("link", name="Expand").click()
    assert page.locator(".m-node").count() > before
    page.locator("ul.classes").get_by_role("link", name="mayros:Part").click()
    expect(page.get_by_text("hidden").first).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name="SVG").first.click()
    assert download.value.suggested_filename == "map.svg"


@pytest.mark.extended
def test_more_than_150_nodes_are_classes_and_one_opens_with_a_click(signed_in: Pages, running: Running) -> None:
    triples: list[dict[str, object]] = []
    for place in range(300):
        kind = {"node": "Leaf" if place % 2 else "Twig"}
        triples.append({"subject": f"n{place}", "predicate": TYPE, "object": kind})
        triples.append({"subject": f"n{place}", "predicate": "next", "object": {"node": f"n{place // 3}"}})
    running.plugin.graph.create_triples(triples)
    page = signed_in()
    page.goto(f"{running.url}/explore/mayros/sparql")
    page.locator(".editor .cm-content").click()
    page.keyboard.insert_text("CONSTRUCT WHERE { ?s mayros:next ?o }")
    page.keyboard.press("Control+Enter")
    page.get_by_label("Views of the answer").get_by_role("link", name="Map").click()
    expect(page.locator(".map.scripted svg")).to_be_visible()
    page.get_by_role("link", name="Open the map").click()
    expect(page.locator(".m-node")).to_have_count(2)
    page.locator(".m-node .mark").first.click()
    expect(page).to_have_url(re.compile("expand=all-"))
    assert 100 < page.locator(".m-node").count() <= 150
