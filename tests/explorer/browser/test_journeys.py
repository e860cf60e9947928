"""What people do in the explorer."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from cortex_graph import Provenance
from cortex_skills.keys.folder import key_folder
from tests import fork_server
from tests.server.serving import Running

playwright = pytest.importorskip("playwright.sync_api")
START = "/explore/mayros"
FOREIGN = Path(__file__).parents[2] / "proofs" / "interop" / "digitalbazaar"
Pages = Callable[..., Any]


def expect(thing: Any) -> Any:
    return playwright.expect(thing)


def test_from_finding_a_customer_to_a_bundle_that_is_verified_elsewhere(
    signed_in: Pages, running: Running, tmp_path: Path
) -> None:
    page = signed_in()
    page.goto(running.url + START)
    page.keyboard.press("/")
    page.keyboard.type("customer")
    page.keyboard.press("Enter")
    page.get_by_role("link", name="mayros:customer:boris").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("mayros:customer:boris")
    row = page.get_by_role("row", name=re.compile("isVerified"))
    expect(row).to_contain_text("verify-kyc")
    row.get_by_role("link", name=re.compile("Evidence")).click()
    expect(page.locator("ol.chain li")).to_have_count(5)
    with page.expect_download() as download:
        page.get_by_role("link", name="bundle", exact=True).first.click()
    bundle = tmp_path / "assertion.bundle.json"
    download.value.save_as(bundle)
    verify = [fork_server.command(), "proof", "verify", str(bundle), "--store", "memory:"]

    def stranger(*words: str) -> subprocess.CompletedProcess[str]:
        home = {**os.environ, "HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)}
        return subprocess.run([*words], capture_output=True, text=True, check=False, cwd=tmp_path, env=home)

    unknown = stranger(*verify)
    assert unknown.returncode == 1
    assert unknown.stdout.startswith("NOT CHECKED (bundle)\n"), unknown.stdout + unknown.stderr
    assert "publisher: verify-kyc is signed by kyc.example, whom you do not trust" in unknown.stderr
    key = key_folder(running.plugin.config).open("kyc").did
    assert stranger(fork_server.command(), "trust", "add", "kyc.example", key).returncode == 0
    done = stranger(*verify)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("VERIFIED (bundle)\n")
    assert "verified logic: the rules of the skill" in done.stdout
    assert "the files of verify-kyc 1.0.0 are the ones that its publisher signed" in done.stdout

    if not (FOREIGN / "node_modules" / "@digitalbazaar").is_dir():
        pytest.skip("the other implementation is not installed: npm ci --prefix tests/proofs/interop/digitalbazaar")
    document = json.loads(bundle.read_text(encoding="utf-8"))
    credentials = [document["assertion"], *document["credentials"]]
    asked = "".join(json.dumps({"verify": credential}) + "\n" for credential in credentials)
    other = subprocess.run(
        ["node", str(FOREIGN / "credentials.mjs")], input=asked, capture_output=True, text=True, timeout=60, check=True
    )
    answers = [json.loads(answer) for answer in other.stdout.splitlines()]
    assert answers == [{"verified": True, "why": ""}] * len(credentials)


@pytest.mark.parametrize("by", ["mouse", "keyboard"])
def test_a_newcomer_learns_in_three_steps_who_asserted_a_triple(signed_in: Pages, running: Running, by: str) -> None:
    who = Provenance("stock-watch", "1.2.0", "counter", datetime.now(UTC))
    running.plugin.graph.create_triple({"subject": "nails", "predicate": "reorder", "object": True}, who)
    page = signed_in()
    page.goto(running.url + START)
    row = page.get_by_role("row", name=re.compile("nails"))
    expect(row).to_contain_text("stock-watch")
    evidence = row.get_by_role("link", name=re.compile("Evidence"))
    if by == "mouse":  # one step
        evidence.click()
    else:
        evidence.focus()
        page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/explore/mayros/t/[0-9a-f]{64}$"))
    main = page.get_by_role("main")
    for text in ("nails", "reorder", "true", "counter", "stock-watch", "1.2.0"):
        expect(main).to_contain_text(text)


def test_a_query_is_typed_corrected_run_and_taken_away(signed_in: Pages, running: Running) -> None:
    page = signed_in(expected=["status of 400"])
    page.goto(f"{running.url}{START}/sparql")
    editor = page.locator(".editor .cm-content")
    editor.click()
    page.keyboard.insert_text("SELECT ?who WHERE { ?who mayros:hasStatus ")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("alert")).to_contain_text("Line 1")
    expect(page.locator(".editor .cm-lintRange-error")).to_have_count(1)
    editor.click()
    page.keyboard.press("Control+End")
    page.keyboard.insert_text('"approved" }')
    expect(page.locator(".editor .cm-lintRange-error")).to_have_count(0)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("status").filter(has_text="2 rows, the whole answer")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV").click()
    assert download.value.suggested_filename == "sparql.csv"
    text = Path(download.value.path()).read_text()
    assert text.split() == ["who", "urn:cortex:mayros:customer:ada", "urn:cortex:mayros:customer:boris"] or (
        text.split() == ["who", "urn:cortex:mayros:customer:boris", "urn:cortex:mayros:customer:ada"]
    )


def test_names_are_completed_and_queries_kept_in_the_browser(signed_in: Pages, running: Running) -> None:
    page = signed_in()
    page.goto(f"{running.url}{START}/sparql")
    page.locator(".editor .cm-content").click()
    page.keyboard.type("SELECT * WHERE { ?s mayros:hasS")
    expect(page.locator(".cm-tooltip-autocomplete li[aria-selected]")).to_contain_text("mayros:hasStatus")
    page.wait_for_timeout(250)  # the editor ignores a key that comes at once with its list
    page.keyboard.press("Enter")
    page.keyboard.type(" ?status }")
    page.get_by_label("Name to save the query as").fill("states")
    page.get_by_role("button", name="Save", exact=True).click()
    page.goto(f"{running.url}{START}/sparql")
    expect(page.locator(".editor .cm-content")).to_have_text("")
    page.get_by_label("Saved queries in this browser").select_option("states")
    expect(page.locator(".editor .cm-content")).to_contain_text("SELECT * WHERE { ?s mayros:hasStatus ?status }")
    page.get_by_role("button", name="Forget").click()
    expect(page.get_by_label("Saved queries in this browser").locator("option")).to_have_count(1)


def test_a_call_appears_in_the_audit(signed_in: Pages, running: Running) -> None:
    page = signed_in()
    page.goto(f"{running.url}/explore/audit")
    rows = page.get_by_role("region", name="Calls").locator("tbody tr")
    before = rows.count()
    running.plugin.call("skill_graph_query", {"predicate": "hasStatus", "scope": "namespace"}, agent="newcomer")
    page.reload()
    expect(rows).to_have_count(before + 1)
    expect(rows.first).to_contain_text("newcomer")


def test_the_keyboard_alone_is_enough(signed_in: Pages, running: Running) -> None:
    page = signed_in()
    page.goto(running.url + START)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_contain_text("SPARQL")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("g")
    page.keyboard.press("m")
    expect(page).to_have_url(f"{running.url}{START}/map")
    nodes = page.locator(".map.scripted a.m-node")
    expect(nodes.first).to_be_attached()
    assert nodes.evaluate_all("nodes => nodes.filter(node => node.tabIndex === 0).length") == 1
    page.locator('.map.scripted a.m-node[tabindex="0"]').focus()
    began = page.evaluate("() => document.activeElement.getAttribute('aria-label')")
    for key in ("ArrowRight", "ArrowLeft", "ArrowUp", "ArrowDown"):
        page.keyboard.press(key)
        if page.evaluate("() => document.activeElement.getAttribute('aria-label')") != began:
            break
    else:
        pytest.fail("no arrow moved from the first node to another")
    page.keyboard.press("+")
    page.keyboard.press("g")
    page.keyboard.press("q")
    expect(page).to_have_url(f"{running.url}{START}/sparql")


@pytest.mark.extended
def test_single_keys_can_be_switched_off(signed_in: Pages, running: Running) -> None:
    page = signed_in()
    page.goto(running.url + START)
    page.keyboard.press("?")
    page.get_by_label("These keys are on").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.keyboard.press("m")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    expect(page).to_have_url(running.url + START)


@pytest.mark.extended
def test_a_picture_is_taken_away_as_png(signed_in: Pages, running: Running) -> None:
    page = signed_in()
    for address, name in ((f"{START}/r?name=customer:boris", "resource.png"), (f"{START}/map", "map.png")):
        page.goto(running.url + address)
        with page.expect_download() as download:
            page.get_by_role("button", name="PNG").click()
        assert download.value.suggested_filename == name
        data = Path(download.value.path()).read_bytes()
        assert data.startswith(b"\x89PNG\r\n\x1a\n")
        assert len(data) > 5_000  # not blank
    plain = signed_in(java_script_enabled=False)
    plain.goto(f"{running.url}{START}/map")
    expect(plain.get_by_role("button", name="PNG")).to_have_count(0)


def test_without_scripts_every_page_is_read_and_a_query_asked(signed_in: Pages, running: Running) -> None:
    page = signed_in(java_script_enabled=False)
    page.goto(f"{running.url}{START}/r?name=customer:boris")
    expect(page.get_by_role("heading", level=1)).to_have_text("mayros:customer:boris")
    page.get_by_role("link", name="Map, 2 steps").click()
    expect(page.locator(".map svg .m-node").first).to_be_visible()
    page.get_by_role("navigation", name="Sections").get_by_role("link", name="SPARQL").click()
    page.get_by_label("SPARQL query").fill("SELECT * { ?s mayros:hasStatus ?status }")
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_role("region", name="Rows of the answer").locator("tbody tr")).to_have_count(4)
    page.get_by_role("searchbox").fill("customer")
    page.get_by_role("searchbox").press("Enter")
    expect(page.get_by_role("link", name="mayros:customer:chidi").first).to_be_visible()


@pytest.mark.extended
def test_the_switch_of_the_colours_is_kept(signed_in: Pages, running: Running) -> None:
    page = signed_in(color_scheme="light")
    page.goto(running.url + START)
    light = page.evaluate("() => getComputedStyle(document.documentElement).backgroundColor")
    page.get_by_role("button", name="Dark colours").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    assert page.evaluate("() => getComputedStyle(document.documentElement).backgroundColor") != light
    page.goto(f"{running.url}{START}/sparql")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
