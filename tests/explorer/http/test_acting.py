"""What a form on a page does, and who may."""

from __future__ import annotations

import re
from urllib.parse import quote

import httpx
import pytest

from cortex_graph import Provenance
from cortex_skills.doors.explorer.callers import now
from cortex_skills.doors.explorer.sessions import Failures
from cortex_skills.tokens import digest_of
from tests.explorer.http.browsing import CLICKED, fields_of, signed_in, submitted
from tests.server.serving import Running


@pytest.fixture(autouse=True)
def no_failures(running: Running) -> None:
    running.server.config.app.state.explorer.failures = Failures()


@pytest.fixture
def token(running: Running) -> str:
    return running.token("remover", ("mayros",), ("read", "write"))


@pytest.fixture
def path(running: Running, request: pytest.FixtureRequest) -> str:
    """The page of a new assertion."""
    row = {"subject": request.node.name, "predicate": "inStock", "object": 3}
    (made,) = running.plugin.graph.create_triples([row], Provenance(agent="a1"))
    return f"/explore/mayros/t/{made['id']}"


def is_there(running: Running, path: str) -> bool:
    return running.plugin.graph.get_triple(path.rpartition("/")[2]) is not None


def form_on(browser: httpx.Client, path: str) -> dict[str, str]:
    """The hidden fields of the form of the action."""
    page = browser.get(path, headers=CLICKED)
    assert page.status_code == 200, page.text
    fields = {name: value for name, value in fields_of(page.text).items() if name in ("action", "form")}
    return {**fields, "reason": "counted again"} if "action" in fields else fields


def test_an_action_asks_for_the_token_again_and_is_done_with_it(running: Running, token: str, path: str) -> None:
    browser = signed_in(running, token)
    asking = submitted(browser, path, form_on(browser, path))
    assert (asking.status_code, "A session reads." in asking.text) == (401, True)
    assert re.search(r"<h1 [^>]*>Withdraw: mayros:test_an_action\S* mayros:inStock 3</h1>", asking.text)
    assert "Reason: counted again" in asking.text
    assert is_there(running, path)
    again = {name: value for name, value in fields_of(asking.text).items() if name != "next"}
    done = submitted(browser, path, {**again, "token": token})
    assert (done.status_code, done.headers["location"]) == (303, path)
    assert not is_there(running, path)
    assert running.plugin.graph.provenance_of(path.rpartition("/")[2]) is None
    (withdrawal,) = running.plugin.graph.withdrawals.of(path.rpartition("/")[2])
    assert (withdrawal.asserted["agent"], withdrawal.withdrawn["agent"]) == ("a1", "remover")


@pytest.mark.parametrize("reason", ["", "  ", "x" * 501])
def test_nothing_is_withdrawn_without_a_reason_of_a_readable_length(
    running: Running, token: str, path: str, reason: str
) -> None:
    browser = signed_in(running, token)
    refused = submitted(browser, path, {**form_on(browser, path), "reason": reason, "token": token})
    assert (refused.status_code, "reason" in refused.text) == (400, True)
    assert is_there(running, path)


def test_it_leaves_one_audit_record_with_the_name_of_the_token(running: Running, token: str, path: str) -> None:
    browser, before = signed_in(running, token), running.plugin.recent_calls.counts().total
    submitted(browser, path, {**form_on(browser, path), "token": token})
    record = running.plugin.recent_calls.page(limit=1).calls[0].record
    assert (record.event, record.agent, record.outcome) == ("graph.withdraw", "remover", "ok")
    assert running.plugin.recent_calls.counts().total == before + 1


def test_a_new_code_of_the_same_token_lets_the_session_act(running: Running, token: str, path: str) -> None:
    browser = signed_in(running, token)
    code = running.server.config.app.state.explorer.sessions.new_code(digest_of(token), now())
    assert submitted(browser, "/explore/enter", {"code": code}).status_code == 303
    assert submitted(browser, path, form_on(browser, path)).status_code == 303
    assert not is_there(running, path)


def test_the_token_of_another_session_is_not_enough(running: Running, token: str, path: str) -> None:
    browser = signed_in(running, token)
    other = running.token("other-remover", ("mayros",), ("read", "write"))
    for given in (other, "cortex_wrong"):
        refused = submitted(browser, path, {**form_on(browser, path), "token": given})
        assert (refused.status_code, "not the token of the session" in refused.text) == (401, True)
    assert is_there(running, path)


def test_wrong_tokens_are_counted(running: Running, token: str, path: str) -> None:
    browser = signed_in(running, token)
    form = form_on(browser, path)
    statuses = [submitted(browser, path, {**form, "token": "wrong"}).status_code for _ in range(6)]
    assert statuses == [401] * 5 + [429]
    assert is_there(running, path)


def test_a_form_of_another_page_action_or_session_does_nothing(running: Running, token: str, path: str) -> None:
    browser, other = signed_in(running, token), signed_in(running, token)
    submitted(browser, "/explore/login", {"token": token})
    row = {"subject": "other", "predicate": "inStock", "object": 3}
    (made,) = running.plugin.graph.create_triples([row], Provenance(agent="a1"))
    forms = [
        form_on(browser, f"/explore/mayros/t/{made['id']}"),
        form_on(other, path),
        {"action": "remove", "form": ""},
    ]
    forms.append({"action": "remove", "form": fields_of(browser.get("/explore/logout", headers=CLICKED).text)["form"]})
    for form in forms:
        refused = submitted(browser, path, {**form, "reason": "<b>typed</b>"})
        assert (refused.status_code, "Nothing was done." in refused.text) == (403, True)
        assert '<input type="hidden" name="reason" value="&lt;b&gt;typed&lt;/b&gt;">' in refused.text
    assert is_there(running, path)


@pytest.mark.parametrize(
    "headers", [{"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "same-site"}, {"Sec-Fetch-Site": "cross-site"}]
)
def test_a_form_from_elsewhere_does_nothing(running: Running, token: str, path: str, headers: dict[str, str]) -> None:
    browser = signed_in(running, token)
    submitted(browser, "/explore/login", {"token": token})
    assert submitted(browser, path, form_on(browser, path), **headers).status_code == 403
    assert is_there(running, path)


def test_an_action_needs_its_permission(running: Running, path: str) -> None:
    token = running.token("only-reads", ("mayros",), ("read", "audit", "approve"))
    browser = signed_in(running, token)
    submitted(browser, "/explore/login", {"token": token})
    assert "action" not in form_on(browser, path)
    refused = submitted(browser, path, {"action": "remove", "form": "0" * 64, "token": token})
    assert (refused.status_code, "permission `write`" in refused.text) == (403, True)
    assert is_there(running, path)


def test_an_action_needs_a_session(running: Running, token: str, path: str) -> None:
    client = running.client(token)
    assert submitted(client, path, {"action": "remove", "form": ""}).status_code == 403
    assert submitted(running.client(), path, {"action": "remove", "form": ""}).status_code == 401
    assert is_there(running, path)


def test_an_action_that_is_refused_leaves_its_code_in_the_audit(running: Running, token: str, path: str) -> None:
    browser = signed_in(running, token)
    form = form_on(browser, path)
    running.plugin.graph.delete_triple(path.rpartition("/")[2])
    assert submitted(browser, path, {**form, "token": token}).status_code == 404
    record = running.plugin.recent_calls.page(limit=1).calls[0].record
    assert (record.event, record.agent, record.outcome) == ("graph.withdraw", "remover", "not_found")


def test_an_unknown_action_is_refused(running: Running, token: str, path: str) -> None:
    browser = signed_in(running, token)
    assert submitted(browser, path, {"action": "destroy", "form": ""}).status_code == 400
    assert submitted(browser, "/explore", {"action": "remove"}).status_code == 405


def test_a_refusal_leads_back_to_its_page_and_an_ended_session_to_the_entrance(
    running: Running, token: str, path: str
) -> None:
    browser = signed_in(running, token)
    form = form_on(browser, path)
    refused = submitted(browser, path, {**form, "reason": "", "token": token})
    assert (refused.status_code, "This cannot be done" in refused.text) == (400, True)
    assert f'<a class="btn" href="{path}">Back to the page</a>' in refused.text
    submitted(browser, "/explore/logout", fields_of(browser.get("/explore/logout", headers=CLICKED).text))
    ended = submitted(browser, path, form)
    assert (ended.status_code, "The session has ended, and nothing was done." in ended.text) == (401, True)
    assert f'<a class="btn" href="/explore/login?next={quote(path, safe="")}">Sign in</a>' in ended.text
    assert is_there(running, path)
