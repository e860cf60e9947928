"""Every page in both themes and at 320 px: no violation of WCAG, no scrolling sideways, hostile data included."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest

from cortex_skills.doors.explorer.page import ExplorerPage
from cortex_skills.doors.explorer.page import pages as all_pages
from cortex_skills.features.actions.action_request import ActionRequest
from cortex_skills.features.graph.saved_query_operations import save_query
from cortex_skills.features.memory.requests import new_memory
from tests.explorer.browser.conftest import HOSTILE
from tests.explorer.page_examples import example_of, is_of_one
from tests.server.serving import Running

AXE = Path(__file__).parent / "axe" / "node_modules" / "axe-core" / "axe.min.js"
NS = "/explore/mayros"
CONSTRUCT = quote("CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }")
# Addresses of pages by their names, where they are not the examples that the pages have.
ADDRESSES: dict[str, tuple[str, ...]] = {
    "resource": (f"{NS}/r?name=customer:boris", f"{NS}/r?name=hostile", f"{NS}/r?name=hasStatus"),
    "find": (f"{NS}/find?q=customer",),
    "assertion": (f"{NS}/t/TRIPLE",),
    "proof": (f"{NS}/proofs/PROOF",),
    "sparql": (
        f"{NS}/sparql?query={CONSTRUCT}",
        f"{NS}/sparql?query={CONSTRUCT}&view=map",
        f"{NS}/sparql?query={quote('SELECT ?p (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?p')}&view=chart",
        f"{NS}/sparql?query=SELECT",
    ),
    "memories": (f"{NS}/memories", f"{NS}/memories?q=harbour"),
    "memory": (f"{NS}/memories/MEMORY",),
    "query": (f"{NS}/queries/stock of", f"{NS}/queries/stock of?v0=customer:boris"),
    "agent": (f"{NS}/agent?name=auditor",),
    "session": ("/explore/sessions/SESSION", "/explore/sessions/SESSION?show=all"),
    "approvals": ("/explore/approvals", "/explore/approvals?state=all", "/explore/approvals?state=rules"),
    "approval": ("/explore/approvals/APPROVAL",),
    "edit-approval": ("/explore/approvals/APPROVAL/edit",),
    "rule-of-request": ("/explore/approvals/APPROVAL/rule",),
    "artifact": ("/explore/artifacts/acme.echo_http",),
    "skills": ("/explore/skills",),
    "skill": ("/explore/skills/verify-kyc", "/explore/skills/hostile-notes", "/explore/skills/hostile-refused"),
    "registry": ("/explore/registry", "/explore/registry?check=yes", "/explore/registry?q=table"),
    "registered": ("/explore/registry/read-table", "/explore/registry/plan-day"),
    "edit": ("/explore/registry/read-table/edit", "/explore/registry/plan-day/edit"),
}
OTHERS = ("/explore/logout", "/explore/nothing", f"{NS}/r?name=nobody")
EXPECTED = ("status of 400", "status of 404")  # what the browser writes about the pages of errors
Pages = Callable[..., Any]


# Every digit of a long id becomes the widest one.
WIDEST = """() => {
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
        const text = texts.currentNode;
        text.data = text.data.replace(/[0-9a-f]{8,}/g, id => "8".repeat(id.length));
    }
}"""


@pytest.fixture(scope="module")
def addresses(running: Running) -> list[str]:
    graph = running.plugin.graph
    (triple,) = graph.list_triples({"subject": "customer:boris", "predicate": "isVerified"})["triples"]
    proof = graph.proofs.of(triple["id"])[0].id
    given = [address for page in all_pages() for address in ADDRESSES.get(page.name) or (address_of(page),)]
    request = ActionRequest(
        "fs_write", "v1", {"content": "one\u202e\ntwo"}, "a1", "mayros", "tidy", "high", "why", "+one"
    )
    approval = running.plugin.approvals.request(request).id
    memory, _ = running.plugin.memories.remember(new_memory(f"{HOSTILE[0]} of the harbour"), agent="ada")
    text = "SELECT ?p ?o { $part ?p ?o }"
    running.plugin.operate(save_query, name="stock of", query=text, parameters=["part name The part"])
    session = next(each.record.session for each in running.plugin.audit.calls.page().calls if each.record.session)
    ids = {"SESSION": session, "TRIPLE": triple["id"], "PROOF": proof, "APPROVAL": approval, "MEMORY": memory}
    for word, found in ids.items():
        given = [each.replace(word, found) for each in given]
    return given + list(OTHERS)


def address_of(page: ExplorerPage) -> str:
    """The address of the example of a page."""
    assert not is_of_one(page), f"name what {page.name} shows in ADDRESSES"
    query = urlencode(example_of(page, "customer:boris"))
    return page.path.replace("{namespace}", "mayros") + (f"?{query}" if query else "")


def test_every_page_of_one_thing_has_an_address_here() -> None:
    assert {page.name for page in all_pages() if is_of_one(page)} <= set(ADDRESSES)


def go(page: Any, running: Running, address: str) -> None:
    """Open a page as a person does: from a page of the same server. A map is complete when its data has come."""
    if not page.url.startswith(running.url):
        page.goto(f"{running.url}/explore/logout")
    is_drawn_later = "/map" in address or "view=map" in address or "view=chart" in address
    with page.expect_navigation(wait_until="networkidle" if is_drawn_later else "load"):
        page.evaluate("address => { location.href = address }", address)


def axe() -> Path:
    """The script of axe; skips without it."""
    if not AXE.is_file():
        pytest.skip(f"axe-core is not installed: npm ci --prefix {AXE.parents[2].name}")
    return AXE


def broken_rules(page: Any, options: dict[str, Any] | None = None) -> list[Any]:
    """The rules that a page breaks, and where."""
    run = "options => axe.run(document, options).then(found => found.violations)"
    found = page.evaluate(run, options or {})
    return [(each["id"], [node["target"] for node in each["nodes"]][:3]) for each in found]


@pytest.mark.extended
def test_no_page_breaks_a_rule_of_wcag_in_either_theme(
    signed_in: Pages, running: Running, addresses: list[str]
) -> None:
    page = signed_in(expected=EXPECTED, color_scheme="light", reduced_motion="reduce")
    page.context.add_init_script(path=axe())
    found = {}
    for address in addresses:
        go(page, running, address)
        # Of the rules, the contrast of colours alone depends on the theme.
        for theme, options in (("light", {}), ("dark", {"runOnly": ["color-contrast"]})):
            page.emulate_media(color_scheme=theme)
            found[theme, address] = broken_rules(page, options)
    assert {place: broken for place, broken in found.items() if broken} == {}


@pytest.mark.extended
def test_no_page_scrolls_sideways_or_breaks_a_rule_of_wcag_at_320_pixels(
    signed_in: Pages, running: Running, addresses: list[str]
) -> None:
    page = signed_in(expected=EXPECTED, viewport={"width": 320, "height": 640}, reduced_motion="reduce")
    page.context.add_init_script(path=axe())
    wide, found = {}, {}
    for address in addresses:
        go(page, running, address)
        found[address] = broken_rules(page)
        page.evaluate(WIDEST)  # ids differ in each run, and their digits in width
        width = page.evaluate("() => document.documentElement.scrollWidth")
        if width > 320:
            wide[address] = width
    assert wide == {}
    assert {place: broken for place, broken in found.items() if broken} == {}


def test_hostile_texts_stay_texts(signed_in: Pages, running: Running) -> None:
    page = signed_in()
    of_triples = (f"{NS}/r?name=hostile", f"{NS}/list?subject=hostile", f"{NS}/map?name=hostile")
    for address in (*of_triples, *ADDRESSES["skills"], *ADDRESSES["skill"][1:]):
        go(page, running, address)
        assert page.locator("main img, main iframe, main object, main script").count() == 0
        assert page.locator("[onerror], [onload], [onclick]").count() == 0
        targets = page.locator("a[href]").evaluate_all(
            "links => links.map(link => new URL(link.getAttribute('href'), document.baseURI).protocol)"
        )
        assert set(targets) == {"http:"}
        assert page.evaluate("() => document.documentElement.scrollHeight") < 6000
