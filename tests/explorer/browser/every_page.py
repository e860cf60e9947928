"""Take a picture of every page, large and small, light and dark: `python -m tests.explorer.browser.every_page FOLDER`.

Further words select the pages by their names: `… FOLDER overview audit`. The pages are those of the workshop.
"""

from __future__ import annotations

import itertools
import sys
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import quote

from playwright.sync_api import sync_playwright

from cortex_skills.doors.explorer.page import pages
from cortex_skills.features.memory.memory_reading import list_memories
from tests.explorer.browser.conftest import READER, chromium
from tests.explorer.browser.test_access import address_of, go
from tests.explorer.browser.workshop import open_workshop
from tests.explorer.http.browsing import signed_in
from tests.server.serving import Running

NS = "/explore/mayros"
WIDTHS = {1280: 800, 390: 780}
QUERY = "SELECT ?part ?stock WHERE {\n  ?part mayros:inStock ?stock .\n} ORDER BY ?stock"
CONSTRUCT = "CONSTRUCT { ?s ?p ?o } WHERE { ?s mayros:suppliedBy ?o ; ?p ?o }"
ADDRESSES = {
    "triples": f"{NS}/list",
    "changes": f"{NS}/changes?since=24h",
    "resource": f"{NS}/r?name=part:0",
    "predicate": f"{NS}/r?name=inStock",
    "used": f"{NS}/r/used?name=part:0",
    "find": f"{NS}/find?q=order",
    "nothing-found": f"{NS}/find?q=saddle",
    "schema": f"{NS}/schema?type=Part",
    "map": f"{NS}/map?name=part:0",
    "sparql": f"{NS}/sparql?query={quote(QUERY)}",
    "sparql-chart": f"{NS}/sparql?query={quote(QUERY)}&view=chart",
    "sparql-map": f"{NS}/sparql?query={quote(CONSTRUCT)}&view=map",
    "sparql-error": f"{NS}/sparql?query=SELECT+%3Fs+WHERE",
    "query": f"{NS}/queries/stock of?v0=part:0",
    "assertion": f"{NS}/t/TRIPLE",
    "withdrawn": f"{NS}/t/WITHDRAWN",
    "write": f"{NS}/write?subject=part:0",
    "proof": f"{NS}/proofs/PROOF",
    "memory": f"{NS}/memories/MEMORY",
    "agent": f"{NS}/agent?name=clerk",
    "session": "/explore/sessions/SESSION",
    "approvals-all": "/explore/approvals?state=all",
    "approval": "/explore/approvals/APPROVAL",
    "edit-approval": "/explore/approvals/APPROVAL/edit",
    "rule-of-request": "/explore/approvals/APPROVAL/rule",
    "artifact": "/explore/artifacts/acme.echo_http",
    "skill": "/explore/skills/verify-kyc",
    "registry-cards": "/explore/registry?view=cards",
    "registered": "/explore/registry/order-parts",
    "edit": "/explore/registry/order-parts/edit",
    "sign-out": "/explore/logout",
    "unknown": f"{NS}/r?name=nobody",
}
CONFIRMED = {"approval-confirm": ("approval", "Approve and run"), "forget-confirm": ("memory", "Forget")}


def addresses(running: Running) -> dict[str, str]:
    """The addresses of all pages by names."""
    plugin = running.plugin
    (verified,) = plugin.graph.list_triples({"subject": "customer:boris", "predicate": "isVerified"})["triples"]
    (withdrawn,) = plugin.graph.withdrawn({"subject": "part:1", "predicate": "inStock"})
    ids = {
        "TRIPLE": verified["id"],
        "WITHDRAWN": withdrawn.triple_id,
        "PROOF": plugin.graph.proofs.of(verified["id"])[0].id,
        "MEMORY": plugin.operate(list_memories, agent="clerk")["memories"][0]["id"],
        "SESSION": next(each.record.session for each in plugin.audit.calls.page().calls if each.record.session),
        "APPROVAL": plugin.approvals.list().records[-1].id,
    }
    found = {page.name: ADDRESSES.get(page.name) or address_of(page) for page in pages()} | ADDRESSES
    for word, text in ids.items():
        found = {name: address.replace(word, text) for name, address in found.items()}
    return found


def take(running: Running, browser: Any, folder: Path, only: set[str]) -> None:
    """Take the pictures into a folder: `NAME-WIDTH-THEME.png`."""
    client = signed_in(running, running.token("ada", permissions=READER, holder="person"))
    (kept,) = client.cookies.jar
    cookie = {"name": kept.name, "value": kept.value or "", "url": f"{running.url}/explore"}
    for (width, height), theme in itertools.product(WIDTHS.items(), ("light", "dark")):
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=theme, reduced_motion="reduce"
        )
        context.add_cookies([{**cookie, "httpOnly": True, "sameSite": "Strict"}])
        page = context.new_page()
        known = addresses(running)
        for name, address in known.items():
            if not only or name in only:
                go(page, running, address)
                page.screenshot(path=folder / f"{name}-{width}-{theme}.png", full_page=True)
        for name, (of, button) in CONFIRMED.items():
            if not only or name in only:
                go(page, running, known[of])
                with page.expect_navigation():
                    page.get_by_role("button", name=button, exact=True).click()
                page.screenshot(path=folder / f"{name}-{width}-{theme}.png", full_page=True)
        context.close()


def main() -> None:
    """Take the pictures of the pages that are named, or of all."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, open_workshop(Path(scratch)) as running, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium(), args=["--no-sandbox", "--disable-dev-shm-usage"])
        take(running, browser, folder, set(sys.argv[2:]))
        browser.close()


if __name__ == "__main__":
    main()
