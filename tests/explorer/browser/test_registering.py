"""A person writes a skill, chooses some and deletes them, and installs an artifact; with scripts and without."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from cortex_skills.features.registry.records.skill_record import SkillKey
from cortex_skills.signatures import Publisher
from cortex_skills.signatures.trust_file import trust_of
from tests.artifacts.samples import KEY
from tests.explorer.browser.conftest import READER
from tests.explorer.browser.test_access import AXE
from tests.installed.samples import NETWORK, artifact
from tests.server.serving import Running

playwright = pytest.importorskip("playwright.sync_api")
Pages = Callable[..., Any]


def expect(thing: Any) -> Any:
    return playwright.expect(thing)


@pytest.fixture(scope="module")
def token(running: Running) -> str:
    listed = Publisher("acme", KEY.did, "listed", "2026-01-01T00:00:00Z")
    trust_of(running.plugin.config).change(lambda known: known.with_publisher(listed))
    return running.token("registrar", permissions=READER, holder="person")


def enter(watched: Pages, running: Running, token: str, **settings: Any) -> Any:
    page = watched(**settings)
    page.expected += ["status of 401"]  # the page that asks for the token again
    opened = page.page()
    opened.goto(f"{running.url}/explore/login")
    opened.get_by_label("Token").fill(token)
    opened.get_by_role("button", name="Sign in").click()
    return opened


def looked_at(page: Any, broken: dict[str, Any]) -> None:
    """What axe finds, and whether the page scrolls sideways at 320 pixels."""
    if not AXE.is_file():
        return
    name = page.get_by_role("heading", level=1).inner_text()
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        found = page.evaluate("() => axe.run(document).then(found => found.violations)")
        broken |= {f"{name} {theme} {each['id']}": [node["target"] for node in each["nodes"]][:3] for each in found}
    page.set_viewport_size({"width": 320, "height": 640})
    if page.evaluate("() => document.documentElement.scrollWidth") > 320:
        broken[f"{name} is wider than 320"] = page.evaluate("() => document.documentElement.scrollWidth")
    page.set_viewport_size({"width": 1280, "height": 900})


@pytest.mark.extended
@pytest.mark.parametrize("scripts", [True, False])
def test_a_skill_is_written_some_are_deleted_and_an_artifact_is_installed(
    watched: Pages, running: Running, token: str, scripts: bool
) -> None:
    page = enter(watched, running, token, java_script_enabled=scripts, reduced_motion="reduce")
    if scripts and AXE.is_file():
        page.context.add_init_script(path=AXE)
    broken: dict[str, Any] = {}
    name = "with-scripts" if scripts else "without-scripts"

    page.goto(f"{running.url}/explore/registry")
    page.get_by_role("link", name="New skill").click()
    page.get_by_label("Name").fill(name)
    page.get_by_label("Description").fill("Counts the parts of a shelf. Use it before an order.")
    page.get_by_label("Steps").fill("Read the shelf | skill_graph_query | all parts\nState the number")
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("region", name="What an agent will read")).to_contain_text("1. Read the shelf")
    if scripts:
        looked_at(page, broken)
    page.get_by_role("button", name="Register").click()
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Register").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(name)

    page.get_by_text("Edit the description and the steps").click()
    page.get_by_label("Description").fill("Counts the parts of a shelf, twice.")
    page.get_by_role("button", name="Preview what an agent will read").click()
    expect(page.get_by_role("region", name="Difference")).to_contain_text("twice")
    expect(page.get_by_label("Steps")).to_have_value(re.compile("State the number"))
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("version 2")

    page.goto(f"{running.url}/explore/registry?view=cards&q={name}")
    page.get_by_text("Steps and rights").first.click()
    page.get_by_role("checkbox", name=name).check()
    if scripts:
        looked_at(page, broken)
    page.get_by_role("button", name="Delete …").click()
    expect(page.locator("section[role=status]")).to_contain_text("what becomes of each")
    if scripts:
        looked_at(page, broken)
    page.get_by_role("button", name="Delete 1").click()
    expect(page.locator("section[role=status]")).to_contain_text("1 deleted, 0 refused")
    assert running.plugin.registry.find(SkillKey("mayros", name)) is None

    page.goto(f"{running.url}/explore/registry")
    page.get_by_role("link", name="Load folders").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Skills in folders")
    if scripts:
        looked_at(page, broken)

    page.goto(f"{running.url}/explore/artifacts")
    page.get_by_role("link", name="Install", exact=True).click()
    if scripts:
        looked_at(page, broken)
    data = artifact("1.2.0", NETWORK, name=name.replace("-", "_"))
    page.get_by_label("File").set_input_files({"name": "x.palyra-skill", "mimeType": "text/html", "buffer": data})
    page.get_by_role("button", name="Look at it").click()
    expect(page.get_by_role("region", name="Steps of the verification")).to_contain_text("signature")
    if scripts:
        looked_at(page, broken)
    groups = page.get_by_role("group").filter(has=page.get_by_label("Deny"))
    expect(groups).to_have_count(6)
    for group in groups.all():
        expect(group.get_by_label("Grant")).not_to_be_checked()
        group.get_by_label("Deny" if "secret" in group.inner_text() else "Grant").check()
    page.get_by_role("button", name="Install").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("1.2.0")
    found = running.plugin.installed.find(f"acme.{name.replace('-', '_')}", "1.2.0")
    assert {each.kind for each in found.grants.grants()} == {"graph", "http", "predicate"}
    if scripts:
        looked_at(page, broken)
    assert broken == {}
