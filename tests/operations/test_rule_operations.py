"""Every interface gives a caller the same verdict about rules that approve, and leaves one record."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from cortex_skills import Plugin
from cortex_skills.operations.operation import OPERATIONS, all_operations
from tests.actions.conftest import operator
from tests.configs import config
from tests.explorer.http.browsing import CLICKED, fields_of, signed_in, submitted
from tests.operations.test_action_operations import APPROVES, code_of, last
from tests.server.serving import Running, served

__all__ = ["operator"]

CALLERS: dict[str, tuple[str, tuple[str, ...], Any]] = {
    "a person": ("ada", APPROVES, "person"),
    "a person of the name that asked": ("a1", APPROVES, "person"),
    "an agent": ("bot", APPROVES, "agent"),
    "a person who may not": ("kay", ("read", "write"), "person"),
}
_NUMBERS = itertools.count()


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory, operator: Path) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("ruling")
    (folder / "work" / "out").mkdir(parents=True)
    settings = {
        "actions": {"workspace": str(folder / "work"), "trustLevel": "bounded_auto"},
        "approvals": {"rules": True},
        "audit": {"folder": str(folder / "audit")},
        "tools": {"profiles": ["operator"]},
        "cortex": {"tokenFile": str(folder / "tokens.json")},
        "skillSandbox": {"maxCallsPerMinute": 1000},
    }
    plugin = Plugin.open(config(**settings))
    plugin.load(operator)
    with served(folder, plugin=plugin) as found:
        yield found


def given_of(running: Running) -> dict[str, Any]:
    """What a rule is made with, in a folder of this rule alone."""
    number = next(_NUMBERS)
    asked = running.plugin.call("fs_write", {"path": f"out/n{number}/a.md", "content": "x"}, agent="a1")
    ends = f"{datetime.now(UTC) + timedelta(2):%Y-%m-%d}"
    return {"approval": asked.details["approval"], "folder": f"out/n{number}", "ends": ends}


def added(running: Running) -> str:
    return str(running.plugin.operate(OPERATIONS["approvals.rule.add"], **given_of(running))["id"])


def by_rest(running: Running, token: str, name: str, given: dict[str, Any]) -> str:
    client = running.client(token)
    if name == "approvals.rule.end":
        return code_of(client.post(f"/api/v1/approval-rules/{given['rule']}/end", json={"reason": "r"}))
    path = "/api/v1/approval-rules" + ("/preview" if name == "approvals.rule.preview" else "")
    return code_of(client.post(path, json=given))


def by_page(running: Running, token: str, name: str, given: dict[str, Any]) -> str:
    browser, path = signed_in(running, token), "/explore/approvals"
    given = dict(given)
    address, word = f"{path}?state=rules", "end-rule"
    if name != "approvals.rule.end":
        address = path = f"{path}/{given.pop('approval')}/rule"
        word = "rule"
    asked = browser.get(address, params=None if word == "end-rule" else given, headers=CLICKED)
    stated = re.search(r"<code>([a-z_]+)</code> · request", asked.text)
    if name == "approvals.rule.preview":
        is_shown = "From now on</button>" in asked.text
        return "ok" if is_shown else stated[1] if stated else "permission_denied" if "fault" in asked.text else "?"
    forms = re.findall(r"<form.*?</form>", asked.text, re.DOTALL)
    tokens = [fields["form"] for each in forms if (fields := fields_of(each)).get("action") == word]
    if not tokens and not stated:  # no form is shown with the reason why there is none
        return "permission_denied" if 'class="fault"' in asked.text else "no form"
    fields = {**given, "action": word, "form": tokens[0] if tokens else "0" * 64, "token": token}
    answer = submitted(browser, path, fields)
    stated = re.search(r"<code>([a-z_]+)</code> · request", answer.text)
    return "ok" if answer.status_code == 303 else stated[1] if stated else str(answer.status_code)


INTERFACES: dict[str, Callable[..., str]] = {"rest": by_rest, "page": by_page}
CHANGES = ("approvals.rule.add", "approvals.rule.end")


def expected(name: str, caller: str) -> str:
    """The one verdict: who may approve may end a rule, as they may reject."""
    if caller == "a person who may not" or (caller != "a person" and name != "approvals.rule.end"):
        return "permission_denied"
    return "ok"


def test_every_operation_about_rules_is_here() -> None:
    found = {name for name in all_operations() if name.startswith("approvals.rule.")}
    assert found == {*CHANGES, "approvals.rule.preview", "approvals.rule.list"}


@pytest.mark.parametrize("caller", CALLERS)
@pytest.mark.parametrize("name", [*CHANGES, "approvals.rule.preview"])
def test_every_interface_gives_one_verdict_and_a_change_leaves_a_record(
    running: Running, name: str, caller: str
) -> None:
    who, permissions, holder = CALLERS[caller]
    token = running.token(who, permissions=permissions, holder=holder)
    for door, asked in INTERFACES.items():
        given = {"rule": added(running)} if name == "approvals.rule.end" else given_of(running)
        verdict = asked(running, token, name, given)
        assert (door, verdict) == (door, expected(name, caller))
        if name not in CHANGES or (door, verdict) == ("page", "permission_denied") or not {"approve"} <= {*permissions}:
            continue
        record = last(running, name)
        assert (record.outcome, record.data["door"], record.agent) == (verdict, door, who)
        if verdict == "ok":
            assert re.fullmatch(r"[0-9a-f]{32}", record.data["object"])
            state = "ended" if name == "approvals.rule.end" else "holds"
            assert f", {state}, 0 of 20" in record.data["after"]


def test_the_list_is_the_same_over_rest_and_in_python(running: Running) -> None:
    added(running)
    token = running.token("ada2", permissions=APPROVES, holder="person")
    listed = running.client(token).get("/api/v1/approval-rules").json()
    assert listed == running.plugin.operate(OPERATIONS["approvals.rule.list"])
    assert listed["isOn"] is True
