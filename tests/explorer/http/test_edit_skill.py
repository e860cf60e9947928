"""The form for the next version of a registered skill: preview, save, what is refused, and hostile texts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from html import unescape

import httpx
import pytest

from cortex_skills.features.registry.documents.document import SkillDocument, Step
from cortex_skills.features.registry.documents.skill_md import inline_document
from cortex_skills.features.registry.records.registry import SkillRegistry
from cortex_skills.features.registry.records.skill_record import SkillKey
from tests.explorer.hostile import TEXTS, check_page
from tests.explorer.http.browsing import CLICKED, FOREIGN, fields_of, signed_in, submitted
from tests.server.serving import Running, served

LIST = "/explore/registry"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with served(tmp_path_factory.mktemp("explorer-edit")) as server:
        yield server


@pytest.fixture(scope="module")
def registry(running: Running) -> SkillRegistry:
    return running.plugin.registry


@pytest.fixture(scope="module")
def token(running: Running) -> str:
    return running.token("writes", ("mayros",), ("read", "write"), "person")


@pytest.fixture(scope="module")
def browser(running: Running, token: str) -> httpx.Client:
    """A browser whose token was shown again."""
    return signed_in(running, token)


def add(registry: SkillRegistry, name: str, origin: str = "human", **more: object) -> str:
    given = {"name": name, "description": f"Does {name}.", "body": "Read it.\n", **more}
    registry.register(inline_document(given, "mayros"), actor="ada", origin=origin)
    return f"{LIST}/{name}/edit"


def form_of(page: str) -> dict[str, str]:
    """All fields of the form, as a browser sends them."""
    areas = re.findall(r'<textarea id="[^"]*" name="([^"]*)"[^>]*>\n(.*?)</textarea>', page, re.DOTALL)
    kept = {name: value for name, value in fields_of(page).items() if name in ("form", "version")}
    return kept | {name: unescape(text).replace("\n", "\r\n") for name, text in areas}


def send(browser: httpx.Client, path: str, action: str, token: str = "", **fields: str) -> httpx.Response:
    form = form_of(browser.get(path, headers=CLICKED).text)
    return submitted(browser, path, form | {"action": action} | fields | ({"token": token} if token else {}))


def current(registry: SkillRegistry, name: str) -> tuple[int, SkillDocument]:
    version = registry.version(registry.record(SkillKey("mayros", name)).version_id)
    return version.number, registry.document(version)


def text_of(answer: httpx.Response) -> str:
    return re.sub(r"\s+", " ", check_page(answer.text).text)


def test_a_preview_shows_what_an_agent_will_read_and_changes_nothing(
    registry: SkillRegistry, browser: httpx.Client
) -> None:
    path = add(registry, "preview-it")
    answer = send(browser, path, "preview", body="Read it twice.\r\n")
    assert answer.status_code == 200, answer.text
    text = text_of(answer)
    assert 'preview-it version 2 (released, human, trust tier 3): "Does preview-it."' in text
    assert "+Read it twice." in text
    assert "-Read it." in text
    assert form_of(answer.text)["body"] == "Read it twice.\r\n"
    assert current(registry, "preview-it")[0] == 1
    again = submitted(browser, path, form_of(answer.text) | {"action": "preview", "description": "  "})
    assert (again.status_code, "is empty" in again.text) == (400, True)


def test_saving_asks_for_the_token_keeps_what_was_typed_and_registers_the_next_version(
    running: Running, registry: SkillRegistry, token: str
) -> None:
    path, browser = add(registry, "save-it", steps=[{"action": "a"}]), signed_in(running, token)
    page = browser.get(path, headers=CLICKED).text
    typed = {
        "description": "Does <b>it</b>.",
        "trigger": "When asked.",
        "body": "One\r\n\r\ntwo\r\n",
        "steps": "Read | fs_read | once | more\r\nThink\r\n",
        "tools": "fs_read\r\nfs_list",
    }
    asking = submitted(browser, path, form_of(page) | typed | {"action": "save"})
    assert (asking.status_code, "A session reads." in asking.text) == (401, True)
    assert current(registry, "save-it")[0] == 1
    kept = fields_of(asking.text)
    assert {name: kept[name] for name in typed} == typed
    done = submitted(browser, path, {**kept, "token": token})
    assert (done.status_code, done.headers["location"]) == (303, f"{LIST}/save-it")
    number, document = current(registry, "save-it")
    assert number == 2
    assert (document.description, document.trigger_pattern) == ("Does <b>it</b>.", "When asked.")
    assert document.body == "One\n\ntwo\n"
    assert document.steps == (Step("Read", "fs_read", "once | more"), Step("Think"))
    assert document.allowed_tools == ("fs_read", "fs_list")
    record = running.plugin.recent_calls.page(limit=1).calls[0].record
    assert (record.tool, record.agent, record.outcome) == ("registry.register", "writes", "ok")
    unchanged = send(browser, path, "save")
    assert (unchanged.status_code, "nothing was changed" in unchanged.text) == (400, True)
    assert current(registry, "save-it")[0] == 2


def test_a_form_of_an_earlier_version_is_refused_with_what_was_typed(
    registry: SkillRegistry, browser: httpx.Client, token: str
) -> None:
    path = add(registry, "race-it")
    form = form_of(browser.get(path, headers=CLICKED).text)
    add(registry, "race-it", body="Another one wrote this.\n")
    answer = submitted(browser, path, form | {"action": "save", "body": "My text.", "token": token})
    assert answer.status_code == 409
    assert "version 2 is the current one now, and the form was made from version 1" in text_of(answer)
    assert form_of(answer.text)["body"] == "My text."
    assert current(registry, "race-it")[1].body == "Another one wrote this.\n"


def test_of_two_saves_at_the_same_time_exactly_one_passes(
    registry: SkillRegistry, browser: httpx.Client, token: str
) -> None:
    path = add(registry, "twice-it")
    form = form_of(browser.get(path, headers=CLICKED).text)

    def save(body: str) -> int:
        return submitted(browser, path, form | {"action": "save", "body": body, "token": token}).status_code

    for number, (one, other) in enumerate([("a", "b"), ("c", "d"), ("e", "f")], 2):
        with ThreadPoolExecutor(2) as pool:
            assert sorted(pool.map(save, (one, other))) == [303, 409]
        version, document = current(registry, "twice-it")
        assert (version, document.body in (one, other)) == (number, True)
        form = form_of(browser.get(path, headers=CLICKED).text)


def test_a_trigger_pattern_can_be_removed(registry: SkillRegistry, browser: httpx.Client, token: str) -> None:
    path = add(registry, "untrigger-it", trigger_pattern="When asked.")
    assert send(browser, path, "preview", trigger=" ").status_code == 200
    assert send(browser, path, "save", token, trigger="").status_code == 303
    assert current(registry, "untrigger-it")[1].trigger_pattern is None


def test_steps_of_the_body_follow_it_and_a_learned_skill_becomes_that_of_a_person(
    registry: SkillRegistry, browser: httpx.Client, token: str
) -> None:
    path = add(registry, "learn-it", "learned", body="1. **Read** — use fs_read\n")
    page = browser.get(path, headers=CLICKED)
    assert "it is candidate now, and released as a skill of a person after saving" in text_of(page)
    assert form_of(page.text)["steps"] == "Read | fs_read"
    preview = send(browser, path, "preview", body="1. **Look** — use fs_list\r\n")
    assert "An agent wrote what follows" not in text_of(preview)
    assert send(browser, path, "save", token, body="1. **Look** — use fs_list\r\n").status_code == 303
    assert current(registry, "learn-it")[1].steps == (Step("Look", "fs_list"),)
    standing = registry.record(SkillKey("mayros", "learn-it")).standing
    assert (standing.origin, standing.lifecycle) == ("human", "released")


def test_an_unchanged_field_stays_as_it_is_and_a_long_one_is_left_out(
    registry: SkillRegistry, browser: httpx.Client, token: str
) -> None:
    body = "pay \u202e001\u202c\r\na\u200bb\tc\n"
    path = add(registry, "keep-it", body=body, steps=[{"action": "a | b\nc", "details": "d"}], allowed_tools=["x\ty"])
    assert "pay ⟨U+202E⟩001⟨U+202C⟩" in form_of(browser.get(path, headers=CLICKED).text)["body"]
    assert send(browser, path, "save", token, description="New.").status_code == 303
    document = current(registry, "keep-it")[1]
    assert (document.body, document.steps, document.allowed_tools) == (body, (Step("a | b\nc", None, "d"),), ("x\ty",))
    assert send(browser, path, "save", body="a⟨U+200B⟩b ⟨U+0041⟩ ⟨U+D800⟩ ⟨U+FFFFFF⟩").status_code == 303
    assert current(registry, "keep-it")[1].body == "a\u200bb ⟨U+0041⟩ ⟨U+D800⟩ ⟨U+FFFFFF⟩"
    path = add(registry, "long-one", body="é" * 70_000)
    page = browser.get(path, headers=CLICKED)
    assert "not changed by it: Body." in text_of(page)
    assert send(browser, path, "save", token, description="New.", body="x").status_code == 303
    assert current(registry, "long-one")[1].body == "é" * 70_000
    path = add(registry, "longest", body="€" * 60_000)  # nine bytes a character in a form
    assert send(browser, path, "save", token, body="€" * 60_001).status_code == 303


def test_a_form_needs_the_permission_this_page_and_this_session(
    running: Running, registry: SkillRegistry, browser: httpx.Client, token: str
) -> None:
    path, other = add(registry, "guard-it"), add(registry, "guard-too")
    reader = signed_in(running, running.token("only-reads", ("mayros",), ("read", "registry")))
    assert reader.get(path, headers=CLICKED).status_code == 403
    assert "/edit" not in reader.get(f"{LIST}/guard-it", headers=CLICKED).text
    assert f'href="{path}#body"' in browser.get(f"{LIST}/guard-it", headers=CLICKED).text
    form = form_of(browser.get(path, headers=CLICKED).text) | {"action": "save", "body": "x", "token": token}
    assert submitted(reader, path, form).status_code == 403
    assert submitted(browser, other, form).status_code == 403
    assert submitted(browser, path, form | {"form": "0" * 64}).status_code == 403
    assert submitted(browser, path, form | {"action": "delete"}).status_code == 400
    assert submitted(browser, path, form, **FOREIGN).status_code == 403
    assert submitted(running.client(), path, form | {"body": "x" * 70_000}).status_code in (401, 403, 413)
    assert current(registry, "guard-it")[0] == 1
    for unknown in ("no-such/edit", "a%20b/edit", "guard-it/edit?of=shop", "guard-it@7/edit"):
        assert browser.get(f"{LIST}/{unknown}", headers=CLICKED).status_code == 404, unknown
    add(registry, "guard-it", body="Second.\n")
    earlier = browser.get(f"{LIST}/guard-it@1/edit", headers=CLICKED)
    assert (earlier.status_code, earlier.headers["location"]) == (303, path)


def test_hostile_texts_are_shown_as_text_and_saved_as_typed(
    registry: SkillRegistry, browser: httpx.Client, token: str
) -> None:
    path = add(registry, "hostile")
    for number, text in enumerate(TEXTS, 1):
        fields = {"body": f"{number} {text}", "description": text, "steps": text, "tools": text, "trigger": text}
        for given in (fields, fields | {"version": text}):
            answer = send(browser, path, "preview", **given)
            assert answer.status_code in (200, 400, 409), text
            check_page(answer.text)
        asking = send(browser, path, "save", token, body=f"{number} {text}")
        assert asking.status_code == 303, (text, asking.text)
        check_page(browser.get(path, headers=CLICKED).text)
        saved = current(registry, "hostile")[1].body
        assert saved == f"{number} {text}".replace("\r\n", "\n")
    assert send(browser, path, "save", token, body="a\0b").status_code == 400


def test_a_skill_with_underscores_is_shown_and_edited_by_either_spelling(
    registry: SkillRegistry, browser: httpx.Client
) -> None:
    step = {"action": "Count", "tool": "fs_list", "details": "all", "params": {"path": "a|b"}}
    path = add(registry, "snake_case_name", steps=[step])
    for each in (path, path.replace("snake_case_name", "snake-case-name")):
        page = browser.get(each.removesuffix("/edit"), headers=CLICKED)
        assert (page.status_code, "snake_case_name version 1" in text_of(page)) == (200, True)
        assert "1. Count" in text_of(page)
    kept = form_of(browser.get(path, headers=CLICKED).text)["steps"]
    answer = send(browser, path, "preview", steps=f"{kept}\r\nThink")
    assert "2. Think" in text_of(answer)
    assert json.loads(re.findall(r'"params": ({.*?})', text_of(answer).replace('\\"', '"'))[0]) == step["params"]
