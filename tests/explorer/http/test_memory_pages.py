"""A person reads what agents remember, corrects and forgets it, in a browser; only with the permission `memories`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import httpx
import pytest

from cortex_skills import Plugin
from cortex_skills.features.memory.requests import new_memory
from tests.configs import config
from tests.explorer.hostile import check_page
from tests.explorer.http.browsing import CLICKED, fields_of, signed_in, submitted
from tests.server.serving import Running, served

LIST = "/explore/mayros/memories"
HOSTILE = "<script>alert(1)</script>\u202e{{ 7*7 }} of the harbour"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder: Path = tmp_path_factory.mktemp("memories")
    settings = config(audit={"folder": str(folder / "audit")}, cortex={"tokenFile": str(folder / "tokens.json")})
    with served(folder, plugin=Plugin.open(settings)) as found:
        for agent, text in (("ada", "Ana moved to Oslo"), ("ada", HOSTILE), ("bob", "Oslo has a harbour")):
            found.plugin.memories.remember(new_memory(text, {"tags": ["note"]}), agent=agent)
        yield found


@pytest.fixture(scope="module")
def token(running: Running) -> str:
    return running.token("keeper", permissions=("read", "write", "memories"))


@pytest.fixture(scope="module")
def browser(running: Running, token: str) -> httpx.Client:
    return signed_in(running, token)


def shown(browser: httpx.Client, path: str) -> str:
    page = browser.get(path, headers=CLICKED)
    assert page.status_code == 200, page.text
    return check_page(page.text, 60_000).text


def page_of(browser: httpx.Client, words: str) -> str:
    """The address of the memory that a search finds first."""
    page = browser.get(LIST, params={"q": words}, headers=CLICKED).text
    return unescape(re.findall(rf'href="({LIST}/[0-9a-f]{{32}}[^"]*)"', page)[0])


def form(page: str, action: str) -> dict[str, str]:
    forms = re.findall(r"<form.*?</form>", page, re.DOTALL)
    return next(fields for each in forms if (fields := fields_of(each)).get("action") == action)


def test_memories_are_listed_by_agent_and_searched(browser: httpx.Client) -> None:
    page = shown(browser, LIST)
    assert "3 in all" in page
    assert all(text in page for text in ("Ana moved to Oslo", "Oslo has a harbour", "bob"))
    assert "Oslo has a harbour" not in shown(browser, f"{LIST}?agent=ada")
    found = shown(browser, f"{LIST}?q=harbour")
    assert "2 found" in found
    assert "U+202E" in found
    assert browser.get(f"{LIST}?q=moved+oslo&format=json").json()["memories"][0]["text"] == "Ana moved to Oslo"


def test_a_memory_is_shown_corrected_and_forgotten(running: Running, browser: httpx.Client, token: str) -> None:
    path = page_of(browser, "moved Oslo")
    fresh = signed_in(running, token)
    asking = submitted(fresh, path, form(fresh.get(path, headers=CLICKED).text, "forget"))
    assert (asking.status_code, ">Forget: Ana moved to Oslo</h1>" in asking.text) == (401, True)
    page = browser.get(path, headers=CLICKED).text
    assert "Written by" in page
    fields = {**form(page, "correct"), "token": token, "text": "Ana moved to Bergen", "tags": "a, b"}
    refused = submitted(browser, path, {**fields, "importance": "much"})
    assert refused.status_code == 400
    assert "number from 0 to 1" in refused.text
    assert "Ana moved to Bergen" in refused.text  # as it was typed
    done = submitted(browser, path, {**fields, "importance": "0.9"})
    assert done.status_code == 303, done.text
    corrected = done.headers["location"]
    after = shown(browser, corrected)
    assert all(text in after for text in ("Ana moved to Bergen", "a, b", "0.90", "keeper"))
    assert browser.get(path, headers=CLICKED).status_code == 404
    audit = [each.record for each in running.plugin.audit.calls.page(limit=5).calls]
    record = next(each for each in audit if each.event == "memory.correct" and each.outcome == "ok")
    assert record.data["object"] == f"ada/{corrected.partition('?')[0].rpartition('/')[2]}"
    gone = submitted(browser, corrected, form(browser.get(corrected, headers=CLICKED).text, "forget"))
    assert (gone.status_code, gone.headers["location"]) == (303, f"{LIST}?agent=ada")
    assert "Bergen" not in shown(browser, LIST)


def test_a_text_with_lines_and_what_hides_is_kept_by_a_correction(
    running: Running, browser: httpx.Client, token: str
) -> None:
    text = "The price\nis \u202e001 ⟨U+200B⟩"
    memory = running.plugin.memories.remember(new_memory(text, {"tags": []}), agent="eve")
    path = page_of(browser, "price")
    page = browser.get(path, headers=CLICKED).text
    typed = re.search(r'<textarea [^>]*name="text"[^>]*>\n?([^<]*)</textarea>', page)
    assert typed is not None
    sent = unescape(typed[1]).replace("\n", "\r\n")  # as a browser sends it
    fields = {**form(page, "correct"), "token": token, "text": sent, "tags": "", "importance": "0.9"}
    done = submitted(browser, path, fields)
    assert done.status_code == 303, done.text
    found = browser.get(f"{done.headers['location']}&format=json").json()
    assert (found["text"], found["importance"]) == (text, 0.9), memory


def test_without_the_permission_nothing_of_memories_is_shown(running: Running, browser: httpx.Client) -> None:
    reader = signed_in(running, running.token("reader", permissions=("read", "write", "audit", "provenance")))
    path = page_of(browser, "harbour")
    for address in (LIST, f"{LIST}?q=harbour", f"{LIST}?format=json", path):
        answer = reader.get(address, headers=CLICKED)
        assert answer.status_code == 403
        assert "harbour" not in answer.text.replace("q=harbour", "")
    assert "/memories" not in reader.get("/explore/mayros", headers=CLICKED).text
    only = signed_in(running, running.token("looker", permissions=("read", "memories")))
    assert "needs a session of a token with the permission write" in shown(only, path)
    assert submitted(only, path, {"action": "forget"}).status_code == 403
    assert "harbour</a>" not in reader.get("/explore/mayros/find?q=harbour", headers=CLICKED).text
    with_memories = shown(browser, "/explore/mayros/find?q=harbour")
    assert "Oslo has a harbour" in with_memories
    assert "All memories with these words" in with_memories
    found = browser.get("/explore/mayros/find?q=harbour&format=suggestions").json()
    assert found["suggestions"] == []  # memories are not of the graph


def test_a_correction_of_the_tags_keeps_the_invisible_characters_of_the_text(
    running: Running, browser: httpx.Client, token: str
) -> None:
    text = f"{HOSTILE} and of tea"
    running.plugin.memories.remember(new_memory(text), agent="cy")
    path = page_of(browser, "tea")
    page = browser.get(path, headers=CLICKED).text
    field = unescape(re.findall(r"<textarea[^>]*>\n(.*?)</textarea>", page, re.DOTALL)[0])
    fields = {**form(page, "correct"), "text": field, "tags": "drinks", "importance": "0.5", "token": token}
    done = submitted(browser, path, fields)
    assert done.status_code == 303, done.text
    after = browser.get(f"{done.headers['location']}&format=json").json()
    assert (after["text"], after["tags"]) == (text, ["drinks"])
