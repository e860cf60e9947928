"""A person sees what an agent wants to do, and decides about it, in a browser."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import Any

import httpx
import pytest

from cortex_skills.features.actions.action import ActionCall
from tests.actions.conftest import operator
from tests.actions.manifests import manifest
from tests.approvals.approver import opened
from tests.approvals.test_desk import asked
from tests.explorer.http.browsing import CLICKED, fields_of, signed_in, submitted
from tests.server.serving import Running, served

__all__ = ["operator"]

LIST = "/explore/approvals"
HOSTILE = "<script>alert(1)</script>\u202e{{ 7*7 }}"


@pytest.fixture(scope="module")
def running(tmp_path_factory, operator: Path):
    folder = tmp_path_factory.mktemp("pages")
    plugin = opened("memory:", operator, folder / "lines", cortex={"tokenFile": str(folder / "tokens.json")})
    with served(folder, plugin=plugin) as found:
        yield found


@pytest.fixture(scope="module")
def token(running: Running) -> str:
    return running.token("ada", permissions=("read", "approve"))


@pytest.fixture(scope="module")
def browser(running: Running, token: str) -> httpx.Client:
    return signed_in(running, token)


def shown(browser: httpx.Client, approval_id: str) -> str:
    page = browser.get(f"{LIST}/{approval_id}", headers=CLICKED)
    assert page.status_code == 200, page.text
    return page.text


def form(page: str, action: str) -> dict[str, str]:
    """The hidden fields of the form of an action."""
    forms = re.findall(r"<form.*?</form>", page, re.DOTALL)
    return next(fields for each in forms if (fields := fields_of(each)).get("action") == action)


def state(running: Running, approval_id: str) -> str:
    return running.plugin.approvals.state_of(running.plugin.approvals.show(approval_id))


def test_a_request_is_listed_shown_whole_and_approved(running: Running, browser: httpx.Client, token: str) -> None:
    approval_id = asked(running.plugin, HOSTILE)
    listed = browser.get(LIST, headers=CLICKED).text
    assert f'href="{LIST}/{approval_id}"' in listed
    page = shown(browser, approval_id)
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "U+202E" in page
    assert running.plugin.approvals.show(approval_id).digest in page
    path = f"{LIST}/{approval_id}"
    done = submitted(browser, path, {**form(page, "approve"), "reason": "fine", "token": token})
    assert (done.status_code, done.headers["location"]) == (303, path)
    assert state(running, approval_id) == "done"
    after = shown(browser, approval_id)
    assert "was approved by ada and ran." in after
    assert "Approve and run" not in after
    assert approval_id not in browser.get(LIST, headers=CLICKED).text
    assert approval_id in browser.get(f"{LIST}?state=all", headers=CLICKED).text


def test_a_form_of_another_request_or_an_old_one_decides_nothing(
    running: Running, browser: httpx.Client, token: str
) -> None:
    first, second = asked(running.plugin, "first"), asked(running.plugin, "second")
    fields = {**form(shown(browser, first), "approve"), "token": token}
    assert submitted(browser, f"{LIST}/{second}", fields).status_code == 403
    assert submitted(browser, f"{LIST}/{first}", {**fields, "action": "reject", "reason": "x"}).status_code == 403
    assert (state(running, first), state(running, second)) == ("pending", "pending")
    assert browser.get(f"{LIST}/{first}?action=approve", headers=CLICKED).status_code in (200, 400)
    assert state(running, first) == "pending"


def test_a_rejection_needs_a_reason_and_resolving_twice_says_by_whom(
    running: Running, browser: httpx.Client, token: str
) -> None:
    approval_id = asked(running.plugin, "third")
    page, path = shown(browser, approval_id), f"{LIST}/{approval_id}"
    fields = {**form(page, "reject"), "token": token}
    assert submitted(browser, path, {**fields, "reason": " "}).status_code == 400
    assert submitted(browser, path, {**fields, "reason": "not that"}).status_code == 303
    assert state(running, approval_id) == "rejected"
    again = submitted(browser, path, {**form(page, "approve"), "token": token})
    assert (again.status_code, "was rejected by ada at" in again.text) == (409, True)


def test_a_reader_sees_no_requests(running: Running) -> None:
    reader = signed_in(running, running.token("reader", permissions=("read", "write", "audit")))
    approval_id = asked(running.plugin, "fourth")
    for path in (LIST, f"{LIST}/{approval_id}"):
        assert reader.get(path, headers=CLICKED).status_code == 403
    assert submitted(reader, f"{LIST}/{approval_id}", {"action": "approve"}).status_code == 403


def test_a_long_input_has_its_length_and_digest(running: Running, browser: httpx.Client) -> None:
    approval_id = asked(running.plugin, "x\n" * 1000)
    page = shown(browser, approval_id)
    assert "2,000 characters in 1,001 lines, SHA-256 " in page
    assert len(page) < 60_000


def test_a_request_that_another_skill_would_refuse_says_so_and_is_not_spent(
    running: Running, browser: httpx.Client, token: str, tmp_path: Path
) -> None:
    approval_id = asked(running.plugin, "fifth")
    path, before = f"{LIST}/{approval_id}", shown(browser, approval_id)
    strict = tmp_path / "strict"
    strict.mkdir()
    (strict / "SKILL.md").write_text(
        "---\nname: strict\ndescription: x\ntype: semantic\nsemantic:\n  allowedTools: [fs_read]\n---\n"
    )
    running.plugin.load(strict)
    page = shown(browser, approval_id)
    assert "It cannot be approved now" in page
    assert "strict" in page
    assert ("Approve and run" in before, "Approve and run" in page, ">Reject<" in page) == (True, False, True)
    refused = submitted(browser, path, {**form(before, "approve"), "token": token})
    assert (refused.status_code, state(running, approval_id)) == (403, "pending")
    over_rest = running.client(token).post(f"/api/v1/approvals/{approval_id}/approve", json={})
    assert (over_rest.json()["code"], state(running, approval_id)) == ("tool_not_allowed", "pending")
    running.plugin.unload("strict")
    assert "It cannot be approved now" not in shown(browser, approval_id)
    assert submitted(browser, path, {**form(before, "approve"), "token": token}).status_code == 303
    assert state(running, approval_id) == "done"


def test_the_sentence_comes_first_and_the_page_that_asks_for_the_token_repeats_it(
    running: Running, browser: httpx.Client
) -> None:
    approval_id = asked(running.plugin, "sentence")
    page = shown(browser, approval_id)
    heading = re.sub("<[^>]+>", "", page.partition("<h1")[2].partition("</h1>")[0])
    assert "wants to append a line" in " ".join(heading.split())
    assert page.index("What it would change") < page.index("Inputs") < page.index("Digests and ids")
    fresh = signed_in(running, running.token("ada", permissions=("read", "approve")))
    again = submitted(fresh, f"{LIST}/{approval_id}", form(shown(fresh, approval_id), "approve"))
    assert again.status_code == 401
    assert "wants to append a line" in again.text
    assert '<div class="add">+sentence</div>' in again.text
    assert state(running, approval_id) == "pending"


def test_an_edited_request_is_a_new_one_that_is_seen_before_it_runs(
    running: Running, browser: httpx.Client, token: str
) -> None:
    old = asked(running.plugin, "teh line")
    waiting = len(running.plugin.approvals.list("pending").records)
    path = f"{LIST}/{old}/edit"
    page = browser.get(path, headers=CLICKED).text
    fields = {**form(page, "preview"), "token": token}
    same = submitted(browser, path, {**fields, "input:text": "teh line"})
    assert (same.status_code, "the inputs are as they were: approve" in same.text) == (400, True)
    bad = submitted(browser, path, {**fields, "input:text": "x", "input:nope": "1"})
    assert bad.status_code == 400
    preview = submitted(browser, path, {**fields, "input:text": "the line"})
    assert '<div class="add">+the line</div>' in preview.text
    assert (state(running, old), len(running.plugin.approvals.list("pending").records)) == ("pending", waiting)
    done = submitted(browser, path, {**fields, "input:text": "the line", "action": "edit"})
    assert done.status_code == 303, done.text
    new = done.headers["location"].rpartition("/")[2]
    before, after = running.plugin.approvals.show(old), running.plugin.approvals.show(new)
    assert (state(running, old), state(running, new)) == ("rejected", "pending")
    assert before.resolution is not None
    assert before.resolution.reason == f"ada edited it: it waits as {new}"
    assert (after.request.inputs, after.request.preview) == ({"text": "the line"}, "+the line")
    assert (after.request.agent, after.request.asked_by) == (before.request.agent, before.request.asked_by)
    assert before.digest != after.digest
    named = (
        set(map(str, (each.record.data or {}).values()))
        for each in running.plugin.audit.calls.page().calls
        if (each.record.event, each.record.outcome) == ("approvals.edit", "ok")
    )
    assert any({before.digest, after.digest} <= each for each in named)
    assert (
        submitted(browser, f"{LIST}/{new}", {**form(shown(browser, new), "approve"), "token": token}).status_code == 303
    )
    assert state(running, new) == "done"


def test_what_hides_in_an_input_comes_back_as_itself(running: Running, browser: httpx.Client, token: str) -> None:
    old = asked(running.plugin, "pay \u202e001")
    page = browser.get(f"{LIST}/{old}/edit", headers=CLICKED).text
    fields = {**form(page, "preview"), "token": token}
    same = submitted(browser, f"{LIST}/{old}/edit", {**fields, "input:text": "pay ⟨U+202E⟩001"})
    assert (same.status_code, "the inputs are as they were" in same.text) == (400, True)


def test_who_asked_for_a_request_does_not_edit_it(running: Running) -> None:
    approval_id = asked(running.plugin, "mine", "ben")
    ben = signed_in(running, running.token("ben", permissions=("read", "approve")))
    path = f"{LIST}/{approval_id}/edit"
    fields = form(ben.get(path, headers=CLICKED).text, "preview")
    for action in ("preview", "edit", "approve"):
        typed = {"action": action, "input:text": "other", "token": running.token("ben")}
        sent = submitted(ben, path, {**fields, **typed})
        assert (sent.status_code, state(running, approval_id)) == (403, "pending"), action


def test_an_edited_request_is_approved_as_it_was_shown_and_not_otherwise(
    running: Running, browser: httpx.Client, token: str, tmp_path: Path
) -> None:
    found, lines = tmp_path / "found", tmp_path / "lines"
    found.write_text("one")

    def note(call: ActionCall) -> dict[str, Any]:
        lines.write_text(call.inputs["text"])
        return {"size": 1}

    outputs = {"size": {"type": "integer", "required": True}}
    declared = manifest(id="note_it", name="Note it", risk="medium", category="fs", outputs=outputs)
    running.plugin.actions.register(
        declared, note, preview=lambda call: f"-{found.read_text()}\n+{call.inputs['text']}"
    )
    asked_for = running.plugin.call("note_it", {"text": "teh"}, skill="operator", agent="a1").details
    path = f"{LIST}/{asked_for['approval']}/edit"
    fields = {**form(browser.get(path, headers=CLICKED).text, "preview"), "input:text": "the"}
    first = submitted(browser, path, fields)
    approve = {"action": "approve", "shown": fields_of(first.text)["shown"], "token": token}
    found.write_text("two")
    stale = submitted(browser, path, {**fields, **approve})
    assert (stale.status_code, "is not what was shown" in stale.text) == (409, True)
    assert '<div class="gone">-two</div>' in stale.text
    unseen = submitted(browser, path, {**fields, **approve, "shown": ""})
    assert (unseen.status_code, "-two" in unseen.text) == (200, True)
    assert (state(running, asked_for["approval"]), lines.exists()) == ("pending", False)
    done = submitted(browser, path, {**fields, **approve, "shown": fields_of(stale.text)["shown"]})
    assert done.status_code == 303, done.text
    assert (state(running, done.headers["location"].rpartition("/")[2]), lines.read_text()) == ("done", "the")
    assert state(running, asked_for["approval"]) == "rejected"
    twice = submitted(browser, path, {**fields, **approve, "shown": fields_of(stale.text)["shown"]})
    assert (twice.status_code, "was rejected by ada" in twice.text) == (409, True)


def test_an_edit_keeps_the_invisible_characters_of_an_input(
    running: Running, browser: httpx.Client, token: str
) -> None:
    old = asked(running.plugin, HOSTILE)
    path = f"{LIST}/{old}/edit"
    page = browser.get(path, headers=CLICKED).text
    typed = unescape(page.partition('name="input:text"')[2].partition(">\n")[2].partition("</textarea>")[0])
    fields = {**form(page, "preview"), "input:text": f"{typed}\r\nmore"}
    preview = submitted(browser, path, fields).text
    hidden = {name: value for name, value in fields_of(preview).items() if name in ("input:text", "shown")}
    done = submitted(browser, path, {**fields, **hidden, "action": "approve", "token": token})
    assert done.status_code == 303, done.text
    new = running.plugin.approvals.show(done.headers["location"].rpartition("/")[2])
    assert new.request.inputs == {"text": f"{HOSTILE}\nmore"}


def test_several_are_decided_at_once_as_they_were_shown(running: Running, browser: httpx.Client, token: str) -> None:
    first, second, third = (asked(running.plugin, text) for text in ("one", "two", "three"))
    page = browser.get(LIST, headers=CLICKED).text
    form_token = {"form": fields_of(page)["form"], "token": token, "action": "approve"}
    digests = {each: running.plugin.approvals.show(each).digest for each in (first, second, third)}
    shown = {f"approval:{each}": digests[each] for each in (first, second)}
    fresh = signed_in(running, token)
    asking = submitted(
        fresh, LIST, {"form": fields_of(fresh.get(LIST, headers=CLICKED).text)["form"], "action": "approve", **shown}
    )
    assert (asking.status_code, asking.text.count("wants to append a line")) == (401, 2)
    assert "<bdi>approval:" not in asking.text  # the sentences are for the person, and the digests for the form
    assert submitted(browser, LIST, form_token).status_code == 400
    chosen = {f"approval:{first}": digests[first], f"approval:{second}": digests[third]}
    done = submitted(browser, LIST, {**form_token, **chosen})
    assert "1 approved, 1 refused" in done.text
    assert "it is not the one that was shown" in done.text
    assert [state(running, each) for each in (first, second, third)] == ["done", "pending", "pending"]
    rest = {f"approval:{each}": digests[each] for each in (second, third)}
    assert submitted(browser, LIST, {**form_token, **rest, "action": "reject"}).status_code == 400  # no reason
    done = submitted(browser, LIST, {**form_token, **rest, "action": "reject", "reason": "no"})
    assert "2 rejected, 0 refused" in done.text
    assert [state(running, each) for each in (second, third)] == ["rejected", "rejected"]


def test_what_waits_is_on_the_overview_of_those_who_may_decide(running: Running, browser: httpx.Client) -> None:
    asked(running.plugin, "sixth")
    waiting = [record.id for record in running.plugin.approvals.list("pending").records]
    page = browser.get("/explore/mayros", headers=CLICKED).text
    inbox = page.partition("Waiting for you")[2].partition("</section>")[0]
    assert sorted(re.findall(rf'href="{LIST}/([^"]+)"', inbox)) == sorted(waiting)
    assert f'data-waiting="approvals">{len(waiting)}<' in page
    assert int(re.search(r"<title>\((\d+)\) ", page)[1]) >= len(waiting)  # type: ignore[index]
    reader = signed_in(running, running.token("looks", permissions=("read",)))
    others = reader.get("/explore/mayros", headers=CLICKED).text.partition("Waiting for you")[2]
    assert "Nothing at the moment" in others
