"""An agent asks, a person decides, and the action runs once: through one plugin, and through plugins of one store."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from cortex_skills import CortexError, Plugin
from cortex_skills.features.actions.agent_actions import AgentActions
from cortex_skills.features.actions.approvals.record import ApprovalRecord
from cortex_skills.gate.result import Result
from tests.actions.manifests import manifest

Acting = Callable[..., Plugin]


def ask(plugin: Plugin, text: str = "one", agent: str = "a1") -> Result:
    return plugin.call("append_line", {"text": text}, agent=agent)


def asked(plugin: Plugin, text: str = "one", agent: str = "a1") -> str:
    result = ask(plugin, text, agent)
    assert (result.is_error, result.details["status"]) == (False, "pending_approval"), result
    return str(result.details["approval"])


def status(plugin: Plugin, approval_id: str, agent: str = "a1") -> Result:
    return plugin.call("approval_status", {"approval": approval_id}, agent=agent)


def error_of(call: Callable[..., object], *arguments: object, **named: object) -> CortexError:
    with pytest.raises(CortexError) as caught:
        call(*arguments, **named)
    return caught.value


def events(plugin: Plugin) -> list[tuple[str, str, str | None]]:
    calls = plugin.recent_calls.page().calls
    return [(call.record.event, call.record.agent, call.record.approved_by) for call in reversed(calls)]


def test_an_action_waits_until_a_person_approves_it(acting: Acting, tmp_path: Path) -> None:
    plugin = acting()
    result = ask(plugin)
    approval_id = result.details["approval"]
    assert result.text.startswith(f"append_line did not run yet: it waits for a person as {approval_id}, because ")
    assert not (tmp_path / "lines").exists()
    assert status(plugin, approval_id).details["state"] == "pending"
    (waiting,) = plugin.approvals.list("pending").records
    assert (waiting.request.inputs, waiting.request.preview, waiting.request.agent) == ({"text": "one"}, "+one", "a1")
    done = plugin.approvals.approve(approval_id, by="ada", reason="fine")
    assert plugin.approvals.state_of(done) == "done"
    assert (tmp_path / "lines").read_text() == "one\n"
    told = status(plugin, approval_id)
    assert told.text == 'append_line was approved by ada and ran.\nappend_line: {"size":4}'
    assert (told.details["state"], told.details["resolvedBy"], told.details["reason"]) == ("done", "ada", "fine")
    assert told.details["result"]["outputs"] == {"size": 4}
    assert ("approval.requested", "a1", None) in events(plugin)
    assert ("approvals.approve", "ada", None) in events(plugin)
    assert ("skill_executed", "a1", "ada") in events(plugin)


def test_nobody_approves_what_was_asked_for_in_the_same_name_except_the_owner(acting: Acting, tmp_path: Path) -> None:
    plugin = acting()
    approval_id = ask(plugin).details["approval"]
    refused = error_of(plugin.approvals.approve, approval_id, by="a1")
    assert (refused.code, refused.message) == ("permission_denied", "a1 asked for this, and does not approve it")
    assert status(plugin, approval_id).details["state"] == "pending"
    assert not (tmp_path / "lines").exists()
    kept = [call.record for call in plugin.recent_calls.page().calls if call.record.event == "approvals.approve"]
    assert [(each.outcome, each.actor) for each in kept] == [("permission_denied", "a1")]
    done = plugin.approvals.approve(approval_id, by="a1", is_owner=True)
    assert plugin.approvals.state_of(done) == "done"


def test_a_rejected_action_does_not_run(acting: Acting, tmp_path: Path) -> None:
    plugin = acting()
    approval_id = asked(plugin)
    plugin.approvals.reject(approval_id, by="ada", reason="not there")
    assert status(plugin, approval_id).text == "append_line did not run: it was rejected by ada: not there."
    assert error_of(plugin.approvals.approve, approval_id, by="bob").code == "approval_resolved"
    assert not (tmp_path / "lines").exists()
    assert ("approvals.reject", "ada", None) in events(plugin)


def test_an_agent_sees_its_own_requests_only(acting: Acting) -> None:
    plugin = acting()
    approval_id = asked(plugin)
    other, unknown = status(plugin, approval_id, agent="a2"), status(plugin, "0" * 32, agent="a2")
    assert other.code == unknown.code == "approval_not_found"
    assert other.text.replace(approval_id, "") == unknown.text.replace("0" * 32, "")


def test_a_call_waits_for_the_decision_and_answers_with_the_result(acting: Acting) -> None:
    plugin = acting(waitMs=20_000)
    results: list[Result] = []
    thread = threading.Thread(target=lambda: results.append(ask(plugin)))
    thread.start()
    while not (waiting := plugin.approvals.list("pending").records):
        pass
    plugin.approvals.approve(waiting[0].id, by="ada")
    thread.join(20)
    (result,) = results
    assert (result.text, result.details["status"]) == ('append_line: {"size":4}', "done")
    thread = threading.Thread(target=lambda: results.append(ask(plugin, "two")))
    thread.start()
    while not (waiting := plugin.approvals.list("pending").records):
        pass
    plugin.approvals.reject(waiting[0].id, by="ada")
    thread.join(20)
    assert (results[1].code, results[1].text.partition("\n")[0]) == (
        "approval_rejected",
        "append_line did not run: it was rejected by ada.",
    )


def test_everything_is_checked_again_when_an_approved_action_runs(acting: Acting, tmp_path: Path) -> None:
    plugin = acting()
    approval_id = asked(plugin)
    found = plugin.actions.find("append_line")
    assert found is not None
    object.__setattr__(found, "preview", lambda call: "something else")
    failed = plugin.approvals.approve(approval_id, by="ada")
    assert failed.end is not None
    assert (plugin.approvals.state_of(failed), failed.end.code) == ("failed", "approval_required")
    assert not (tmp_path / "lines").exists()
    assert "what it would change is not what was shown" in status(plugin, approval_id).text


def test_a_process_without_the_action_or_the_skill_does_not_take_the_request(acting: Acting, tmp_path: Path) -> None:
    plugin, other = acting(str(tmp_path / "store")), acting(str(tmp_path / "store"))
    approval_id = asked(plugin)
    other.unload("operator")
    assert error_of(other.approvals.approve, approval_id, by="ada").code == "skill_not_found"
    other.actions._registered = {}
    assert error_of(other.approvals.approve, approval_id, by="ada").code == "tool_not_found"
    assert plugin.approvals.state_of(plugin.approvals.approve(approval_id, by="bob")) == "done"


def test_the_host_is_notified_once_of_each_end(acting: Acting, tmp_path: Path) -> None:
    plugin, other = acting(str(tmp_path / "store")), acting(str(tmp_path / "store"))
    seen: list[ApprovalRecord] = []
    notified = threading.Semaphore(0)

    def hook(record: ApprovalRecord) -> None:
        seen.append(record)
        notified.release()

    plugin.on("approval_resolved", hook)
    first, second = asked(plugin, "one"), asked(plugin, "two")
    other.approvals.approve(first, by="ada")  # as another process would
    assert notified.acquire(timeout=20)
    plugin.approvals.reject(second, by="ada")
    assert notified.acquire(timeout=20)
    assert [(record.id, plugin.approvals.state_of(record)) for record in seen] == [
        (first, "done"),
        (second, "rejected"),
    ]


def test_a_decision_needs_a_name_and_bounded_texts(acting: Acting) -> None:
    plugin = acting()
    approval_id = asked(plugin)
    for by, reason in (("", ""), (" ", ""), ("a" * 501, ""), ("ada", "x" * 501), (None, "")):
        assert error_of(plugin.approvals.reject, approval_id, by=by, reason=reason).code == "invalid_arguments"
    assert status(plugin, approval_id).details["state"] == "pending"


def test_an_expired_request_says_so(acting: Acting) -> None:
    plugin = acting(lastsMinutes=1)
    approval_id = asked(plugin)
    record = plugin.approvals.show(approval_id)
    assert record.expires - record.created == timedelta(minutes=1)
    queue = plugin.part(AgentActions).queue
    queue.now = lambda: record.expires
    assert status(plugin, approval_id).details["state"] == "expired"
    assert "nobody approved it until" in status(plugin, approval_id).text
    assert error_of(plugin.approvals.approve, approval_id, by="ada").code == "approval_resolved"


def test_the_action_of_another_store_is_not_reached_by_a_guessed_id(acting: Acting) -> None:
    plugin = acting()
    for wrong in ("", "x", "0" * 32, "../" * 8):
        assert status(plugin, wrong).code in ("approval_not_found", "invalid_arguments")


def test_a_request_below_the_trust_level_of_its_action_is_not_spent(acting: Acting) -> None:
    plugin = acting()
    plugin.actions.register(
        manifest(id="raise_all", minTrustLevel="bounded_auto", requiresApproval=True), lambda _: {"lines": 1}
    )
    plugin.trust.set("bounded_auto", actor="ada")
    approval_id = plugin.call("raise_all", {"text": "a"}, agent="a1").details["approval"]
    plugin.trust.set("observe", actor="ada")
    assert error_of(plugin.approvals.approve, approval_id, by="ada").code == "trust_level_too_low"
    assert plugin.approvals.state_of(plugin.approvals.show(approval_id)) == "pending"
