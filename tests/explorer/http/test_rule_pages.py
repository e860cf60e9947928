"""A person makes a rule from a request, sees what it approves, and ends it, in a browser and over REST."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path

import httpx
import pytest

from cortex_skills import Plugin
from tests.actions.conftest import operator
from tests.configs import config
from tests.explorer.http.browsing import CLICKED, fields_of, signed_in, submitted
from tests.server.serving import Running, served

__all__ = ["operator"]

LIST = "/explore/approvals"
RULES = f"{LIST}?state=rules"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory, operator: Path) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("rules")
    (folder / "work" / "out").mkdir(parents=True)
    settings = {
        "actions": {"workspace": str(folder / "work"), "trustLevel": "bounded_auto"},
        "approvals": {"rules": True},
        "tools": {"profiles": ["operator"]},
        "cortex": {"tokenFile": str(folder / "tokens.json")},
    }
    plugin = Plugin.open(config(**settings))
    plugin.load(operator)
    with served(folder, plugin=plugin) as found:
        yield found


def written(running: Running, path: str) -> str:
    given = {"path": path, "content": "x", "overwrite": True}
    return str(running.plugin.call("fs_write", given, agent="a1").details.get("approval", "done"))


def day(days: int) -> str:
    return f"{datetime.now(UTC) + timedelta(days=days):%Y-%m-%d}"


def form(page: str, action: str) -> dict[str, str]:
    forms = re.findall(r"<form.*?</form>", page, re.DOTALL)
    return next(fields for each in forms if (fields := fields_of(each)).get("action") == action)


def test_a_rule_is_previewed_made_used_and_ended_on_pages(running: Running) -> None:
    token = running.token("ada", permissions=("read", "approve"))
    browser: httpx.Client = signed_in(running, token)
    first, second = written(running, "out/notes/a.md"), written(running, "out/notes/b.md")
    request = f"{LIST}/{first}"
    assert f'href="{request}/rule"' in browser.get(request, headers=CLICKED).text
    empty = browser.get(f"{request}/rule", headers=CLICKED).text
    assert 'value="out/notes"' in empty
    assert "may write a file below <code><bdi>out/notes</bdi></code>" in empty  # the preview of what is usual
    typed = {"folder": "out/notes", "ends": day(3), "uses": "2", "reason": "notes"}
    address = f"{request}/rule"
    preview = browser.get(address, params=typed, headers=CLICKED).text
    assert f'href="{LIST}/{second}"' in preview
    assert running.plugin.approvals.list("pending").records  # nothing was approved by looking
    fields = form(preview, "rule")
    made = submitted(browser, address, fields)
    assert (made.status_code, "below out/notes for a1 without being asked, 2 times" in unescape(made.text)) == (
        401,
        True,
    )
    made = submitted(browser, address, fields | {"token": token})
    assert (made.status_code, made.headers["location"]) == (303, RULES)
    assert [written(running, f"out/notes/{name}.md") for name in "cd"] == ["done", "done"]
    assert written(running, "out/notes/e.md") != "done"
    rules = browser.get(RULES, headers=CLICKED).text
    assert "used up" in rules.lower()
    fields["uses"] = "5"
    assert submitted(browser, address, fields).headers["location"] == RULES
    ending = form(browser.get(RULES, headers=CLICKED).text, "end-rule")
    assert submitted(browser, LIST, ending).headers["location"] == RULES
    found = running.client(token).get("/api/v1/approval-rules").json()
    assert [(rule["state"], rule["used"], rule["endedBy"]) for rule in found["rules"]] == [
        ("ended", 0, "ada"),
        ("used_up", 2, None),
    ]
    assert browser.get(f"{RULES}&format=json").json() == found


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ({"folder": "../etc"}, "not a plain name"),
        ({"folder": "docs"}, "allowed folders"),
        ({"folder": "out", "ends": "2020-01-01"}, "within 30 days"),
        ({"folder": "out", "uses": "many"}, "no number"),
        ({"folder": "<script>alert(1)</script>"}, "allowed folders"),
    ],
)
def test_what_makes_no_rule_is_said_beside_what_was_typed(running: Running, typed: dict[str, str], words: str) -> None:
    browser = signed_in(running, running.token("bob", permissions=("read", "approve")))
    address = f"{LIST}/{written(running, 'out/x.md')}/rule"
    page = browser.get(address, params={"ends": day(2), **typed}, headers=CLICKED)
    assert page.status_code == 200
    assert words in unescape(page.text)
    assert "<script>alert" not in page.text
    assert "From now on</button>" not in page.text
