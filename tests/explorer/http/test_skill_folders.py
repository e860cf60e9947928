"""A person writes a new skill, and registers those of the configured folders, in a browser: seen first, then done."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from cortex_skills import Plugin
from cortex_skills.features.registry.documents.document import Step
from cortex_skills.features.registry.records.skill_record import SkillKey
from tests.configs import config
from tests.explorer.hostile import TEXTS, check_page
from tests.explorer.http.browsing import CLICKED, fields_of, signed_in, submitted
from tests.server.serving import Running, served

pytestmark = pytest.mark.usefixtures("no_package_skills")

NEW, FOLDERS = "/explore/new-skill", "/explore/skill-folders"


def write(folder: Path, name: str, text: str = "", depends_on: str = "") -> Path:
    (folder / name).mkdir(parents=True, exist_ok=True)
    needs = f"depends_on: [{depends_on}]\n" if depends_on else ""
    text = text or f"---\nname: {name}\ndescription: Does {name}.\n{needs}---\n1. **Read it** — use fs_read\n"
    (folder / name / "SKILL.md").write_text(text, encoding="utf-8")
    return folder / name


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("skills")


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("keys")


@pytest.fixture(scope="module")
def running(folder: Path, keys: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    root = tmp_path_factory.mktemp("explorer-folders")
    settings = config(
        registry={"folders": [str(folder)]},
        audit={"folder": str(root / "audit"), "journal": "on"},
        proofs={"keys": str(keys)},
        cortex={"tokenFile": str(root / "tokens.json")},
        verification={"trustStore": str(root / "trust.json")},
    )
    with served(root, plugin=Plugin.open(settings, registers=False)) as server:
        yield server


@pytest.fixture(scope="module")
def token(running: Running) -> str:
    return running.token("writes", ("mayros",), ("read", "write"), "person")


@pytest.fixture
def browser(running: Running, token: str) -> httpx.Client:
    return signed_in(running, token)


def text_of(answer: httpx.Response) -> str:
    return re.sub(r"\s+", " ", check_page(answer.text).text)


def form_of(browser: httpx.Client, path: str) -> dict[str, str]:
    page = browser.get(path, headers=CLICKED)
    assert page.status_code == 200, page.text
    main = page.text.partition("<main")[2]
    return {name: value for name, value in fields_of(main).items() if name in ("action", "form", "shown")}


def test_a_new_skill_is_seen_as_an_agent_will_read_it_and_registered_in_the_name_of_the_person(
    running: Running, browser: httpx.Client, token: str, keys: Path
) -> None:
    registry = running.plugin.registry
    typed = {
        "name": "check-recall",
        "description": "Finds out whether a part was recalled. Use it before a part is fitted.",
        "body": "Ask the catalogue.\r\n",
        "steps": "Read the maker | skill_graph_query | of the part\r\nState it",
        "tools": "skill_graph_query",
        "trigger": "",
    }
    given = {**form_of(browser, NEW), **typed}
    seen = submitted(browser, NEW, {**given, "action": "preview"})
    text = text_of(seen)
    assert seen.status_code == 200, seen.text
    assert 'check-recall version 1 (released, human, trust tier 3): "Finds out whether' in text
    assert "1. Read the maker — use skill_graph_query of the part" in text
    assert '☆ check-recall: "Finds out whether a part was recalled.' in text
    assert "No other skill is found by this description." in text
    assert registry.find(SkillKey("mayros", "check-recall")) is None
    assert list(keys.glob("*")) == []  # nothing was signed: the first signature makes the key
    asking = submitted(browser, NEW, {**given, "action": "save"})
    assert (asking.status_code, "A session reads." in asking.text) == (401, True)
    done = submitted(browser, NEW, {**fields_of(asking.text), "token": token})
    assert (done.status_code, done.headers["location"]) == (303, "/explore/registry/check-recall")
    record = registry.record(SkillKey("mayros", "check-recall"))
    document = registry.document(registry.version(record.version_id))
    assert document.steps == (Step("Read the maker", "skill_graph_query", "of the part"), Step("State it"))
    assert (document.body, document.allowed_tools) == ("Ask the catalogue.\n", ("skill_graph_query",))
    (act,) = running.plugin.audit.calls.page(limit=1).calls[0].record.acts
    assert (act.event, act.outcome, act.data["object"]) == ("registry.register", "ok", "mayros/check-recall")
    assert browser.get(done.headers["location"], headers=CLICKED).status_code == 200
    for action in ("preview", "save"):
        taken = submitted(browser, NEW, {**given, "action": action})
        assert (taken.status_code, "is registered already" in text_of(taken)) == (409, True)
        assert "Ask the catalogue." in taken.text
    near = submitted(browser, NEW, {**given, "name": "check-again", "action": "preview"})
    assert 'href="/explore/registry/check-recall"' in near.text


@pytest.mark.parametrize("name", ["", "Two Words", "a/b", "../x", "x" * 65])
def test_a_name_that_no_skill_can_have_is_refused_with_what_was_typed(
    running: Running, browser: httpx.Client, token: str, name: str
) -> None:
    before = len(running.plugin.registry.records()[0])
    given = {**form_of(browser, NEW), "name": name, "description": "Kept text.", "body": "b", "token": token}
    for action in ("preview", "save"):
        answer = submitted(browser, NEW, {**given, "action": action})
        assert (answer.status_code, "Kept text." in answer.text) == (400, True)
    assert len(running.plugin.registry.records()[0]) == before


def test_hostile_texts_of_a_new_skill_are_shown_as_text(browser: httpx.Client) -> None:
    form = form_of(browser, NEW)
    for text in TEXTS:
        fields = {"name": text, "description": text, "body": text, "steps": text, "tools": text, "trigger": text}
        for given in (fields, {**fields, "name": "fine"}):
            answer = submitted(browser, NEW, {**form, **given, "action": "preview"})
            assert answer.status_code in (200, 400), text
            check_page(answer.text)


def test_the_skills_of_folders_are_shown_with_what_becomes_of_each_and_registered_by_a_form(
    running: Running, browser: httpx.Client, token: str, folder: Path
) -> None:
    registry = running.plugin.registry
    write(folder, "a-above", depends_on="z-below")
    write(folder, "z-below")
    write(folder, "lost", depends_on="nowhere")
    write(folder, "broken", "---\nname: broken\n---\n")
    write(folder, "hostile", f"---\nname: hostile\ndescription: {TEXTS[0]!r}\n---\nx\n")
    (folder / "z-below" / "link").symlink_to("/etc/passwd")
    page = browser.get(FOLDERS, headers=CLICKED)
    text = text_of(page)
    assert "a-aboveVersion 1, new" in text
    assert "lostRefusedskill_not_found: a dependency is not registered: lost → nowhere" in text
    assert "description: is all that is missing" in text
    assert "'link' is left out: it is a symbolic link" in text
    assert str(folder) not in page.text
    assert registry.find(SkillKey("mayros", "z-below")) is None
    rows = {each["folder"]: each for each in browser.get(f"{FOLDERS}?format=json").json()["folders"]}
    assert {name: (row["created"], row["code"]) for name, row in rows.items()} == {
        "a-above": (True, None),
        "z-below": (True, None),
        "hostile": (True, None),
        "lost": (False, "skill_not_found"),
        "broken": (False, "manifest_invalid"),
    }
    given = form_of(browser, FOLDERS)
    write(folder, "z-below", "---\nname: z-below\ndescription: Another.\n---\nChanged meanwhile.\n")
    changed = submitted(browser, FOLDERS, {**given, "token": token})
    assert (changed.status_code, "nothing was registered" in text_of(changed)) == (409, True)
    assert registry.find(SkillKey("mayros", "z-below")) is None
    fresh = signed_in(running, token)
    given = form_of(fresh, FOLDERS)
    asking = submitted(fresh, FOLDERS, given)
    assert (asking.status_code, "a-above version 1" in asking.text) == (401, True)
    before = running.plugin.audit.calls.counts().total
    done = submitted(fresh, FOLDERS, {**fields_of(asking.text), "token": token})
    assert "3 registered, new or as they were" in text_of(done)
    assert "Refused: lost: a dependency is not registered" in text_of(done)
    assert registry.record(SkillKey("mayros", "a-above")).standing.origin == "human"
    calls = running.plugin.audit.calls.page(limit=20).calls[: running.plugin.audit.calls.counts().total - before]
    acts = [act for each in calls for act in each.record.acts]
    assert {(act.event, act.outcome, act.data["object"]) for act in acts} >= {
        ("registry.register", "ok", f"mayros/{name}") for name in ("a-above", "z-below", "hostile")
    }
    again = {each["folder"]: each for each in browser.get(f"{FOLDERS}?format=json").json()["folders"]}
    assert (again["z-below"]["created"], again["z-below"]["version"]) == (False, 1)
    assert "as it is registered" in text_of(browser.get(FOLDERS, headers=CLICKED))
    write(folder, "z-below")
    assert "Version 2, new" in text_of(browser.get(FOLDERS, headers=CLICKED))


def test_writing_and_loading_need_the_permission_and_this_form(running: Running, browser: httpx.Client) -> None:
    reader = signed_in(running, running.token("reads", ("mayros",), ("read", "registry")))
    page = reader.get("/explore/registry", headers=CLICKED).text
    for path in (NEW, FOLDERS):
        assert reader.get(path, headers=CLICKED).status_code == 403
        assert path not in page
        assert path in browser.get("/explore/registry", headers=CLICKED).text
        for action in ("save", "load", "preview"):
            refused = submitted(reader, path, {"action": action, "form": "0" * 64})
            assert refused.status_code in (400, 403)
    assert submitted(browser, NEW, {"action": "preview", "form": "0" * 64}).status_code == 403
    stranger = signed_in(running, running.token("stranger", ("elsewhere",), ("read", "write")))
    assert stranger.get(f"{NEW}?namespace=mayros", headers=CLICKED).status_code == 403
    assert stranger.get(f"{FOLDERS}?namespace=mayros", headers=CLICKED).status_code == 403
