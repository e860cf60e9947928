"""A rule approves the same within a folder, until its end, and for nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pyoxigraph import Literal, Quad

from cortex_graph import GraphError
from cortex_graph.store import Pattern
from cortex_skills import CortexError, Plugin
from cortex_skills.features.actions.action_request import ApprovalState
from cortex_skills.features.actions.agent_actions import AgentActions
from cortex_skills.features.actions.approvals import rule_book
from cortex_skills.features.actions.approvals.queue import ListedApprovals
from cortex_skills.features.actions.approvals.rule import read_rule
from cortex_skills.features.actions.approvals.rule_book import RULE
from cortex_skills.operations.caller import Caller, owner
from cortex_skills.operations.operation import OPERATIONS, all_operations
from cortex_skills.operations.run import run
from cortex_skills.policy.trust_levels import LEVELS, may_be_ruled
from cortex_skills.tools.base import CALLER
from tests.actions.conftest import operator
from tests.configs import config

__all__ = ["operator"]

Opens = Callable[..., Plugin]
PERSON = Caller("ada", "person", "rest", frozenset({"approve"}), namespace="mayros")


@pytest.fixture
def opens(operator: Path, tmp_path: Path) -> Iterator[Opens]:
    """Opens plugins that share a workspace, and a store unless it is in memory."""
    (tmp_path / "work" / "out").mkdir(parents=True)
    (tmp_path / "work" / "logs").mkdir()
    with ExitStack() as stack:

        def opened(store: str = "memory:", *, rules: bool = True, level: str = "bounded_auto", **more: Any) -> Plugin:
            settings = {
                "actions": {"workspace": str(tmp_path / "work"), "trustLevel": level},
                "approvals": {"rules": rules},
                "audit": {"folder": str(tmp_path / "audit")},
                "tools": {"profiles": ["operator"]},
                "cortex": {"tokenFile": str(tmp_path / "tokens.json")},
            }
            plugin = stack.enter_context(Plugin.open(config(store=store, **settings | more)))
            plugin.load(operator)
            return plugin

        yield opened


def write(plugin: Plugin, path: str, agent: str = "a1", content: str = "x", **more: Any) -> str:
    """`done`, `waits`, or the code of the refusal."""
    result = plugin.call("fs_write", {"path": path, "content": content, "overwrite": True}, agent=agent, **more)
    return result.code or ("waits" if "approval" in result.details else "done")


def asked(plugin: Plugin, path: str = "out/notes/a.md", agent: str = "a1") -> str:
    result = plugin.call("fs_write", {"path": path, "content": "asked", "overwrite": True}, agent=agent)
    return str(result.details["approval"])


def soon(**parts: float) -> str:
    return (datetime.now(UTC) + timedelta(**parts or {"days": 2})).isoformat(timespec="seconds")


def ruled(plugin: Plugin, folder: str = "out/notes", caller: Caller | None = None, **given: Any) -> dict[str, Any]:
    given = {"approval": given.pop("approval", "") or asked(plugin), "folder": folder, "ends": soon(), **given}
    caller = caller or owner("root", "command", "mayros")
    return dict(run(all_operations()["approvals.rule.add"], caller, given, plugin._host))


def code_of(call: Callable[[], object]) -> str:
    with pytest.raises((CortexError, GraphError)) as caught:
        call()
    return str(caught.value.code)


def test_within_the_folder_the_agent_no_longer_waits_and_each_use_names_the_rule(opens: Opens, tmp_path: Path) -> None:
    plugin = opens()
    rule = ruled(plugin, uses=3, reason="notes are fine")
    assert [write(plugin, "out/notes/b.md"), write(plugin, "out/notes/deep/c.md")] == ["done", "done"]
    assert (tmp_path / "work/out/notes/deep/c.md").read_text() == "x"
    used = [each.record for each in plugin.audit.calls.page(limit=10).calls if each.record.event == "skill_executed"]
    assert [(each.data["rule"], each.data["ruleUse"], each.approved_by) for each in used[:2]] == [
        (rule["id"], 2, "root"),
        (rule["id"], 1, "root"),
    ]
    assert plugin.operate(OPERATIONS["approvals.rule.list"])["rules"][0]["used"] == 2


@pytest.mark.parametrize(
    "path",
    [
        "out/a.md",
        "out/notes",
        "out/notesx/a.md",
        "out/NOTES/a.md",
        "logs/a.md",
        "out/notes/../a.md",
        "out/./notes/a.md",
    ],
)
def test_nothing_outside_of_the_folder_is_approved(opens: Opens, path: str) -> None:
    plugin = opens()
    ruled(plugin)
    assert write(plugin, path) in ("waits", "path_refused")


def test_a_link_in_the_folder_leads_nowhere_else(opens: Opens, tmp_path: Path) -> None:
    plugin, outside = opens(), tmp_path / "outside"
    ruled(plugin)
    outside.mkdir()
    (tmp_path / "work/out/notes").mkdir()
    (tmp_path / "work/out/notes/away").symlink_to(outside)
    (tmp_path / "work/out/notes/up").symlink_to(tmp_path / "work/logs")
    assert write(plugin, "out/notes/away/a.md") == "path_refused"
    assert write(plugin, "out/notes/up/a.md") == "path_refused"
    assert [*outside.iterdir(), *(tmp_path / "work/logs").iterdir()] == []
    approval = asked(plugin, "out/b.md")
    (tmp_path / "work/out/linked").symlink_to(tmp_path / "work/logs")
    assert code_of(lambda: ruled(plugin, "out/linked", approval=approval)) == "path_refused"


@pytest.mark.parametrize("folder", ["..", "out/..", "", ".", "/", "/etc", "docs", "out/notes/../..", "brain", "out\\x"])
def test_a_folder_that_is_none_of_the_action_makes_no_rule(opens: Opens, folder: str) -> None:
    plugin = opens()
    assert code_of(lambda: ruled(plugin, folder)) in ("path_refused", "invalid_arguments")


def test_another_agent_sender_or_skill_still_waits(opens: Opens, operator: Path, tmp_path: Path) -> None:
    plugin = opens()
    ruled(plugin)
    other = tmp_path / "other"
    other.mkdir()
    (other / "SKILL.md").write_text((operator / "SKILL.md").read_text().replace("name: operator", "name: other"))
    plugin.load(other)
    as_other = Caller("eve", "person", "mcp", frozenset({"write"}), agent="a1")
    assert write(plugin, "out/notes/b.md", agent="a2", skill="operator") == "waits"
    assert write(plugin, "out/notes/b.md", skill="other") == "waits"
    sent = CALLER.set(as_other)
    assert write(plugin, "out/notes/b.md", skill="operator") == "waits"
    CALLER.reset(sent)
    assert write(plugin, "out/notes/b.md", skill="operator") == "done"


def test_a_rule_ends_by_its_number_of_uses_its_time_and_a_person(opens: Opens) -> None:
    plugin = opens()
    book = plugin.part(AgentActions).rules
    first = ruled(plugin, uses=1)
    assert [write(plugin, "out/notes/b.md"), write(plugin, "out/notes/c.md")] == ["done", "waits"]
    second = ruled(plugin, ends=soon(hours=1))
    now = book.now
    book.now = lambda: now() + timedelta(hours=2)
    assert write(plugin, "out/notes/d.md") == "waits"
    book.now = now
    assert write(plugin, "out/notes/e.md") == "waits"  # an end is an end, also for a clock that goes back
    third = ruled(plugin)
    plugin.operate(OPERATIONS["approvals.rule.end"], rule=third["id"], reason="enough")
    assert write(plugin, "out/notes/f.md") == "waits"
    assert code_of(lambda: plugin.operate(OPERATIONS["approvals.rule.end"], rule=third["id"])) == "approval_resolved"
    states = {each["id"]: each["state"] for each in plugin.operate(OPERATIONS["approvals.rule.list"])["rules"]}
    assert states == {first["id"]: "used_up", second["id"]: "expired", third["id"]: "ended"}
    records = [each.record for each in plugin.audit.calls.page(limit=50).calls]
    ended = [each.data["state"] for each in records if each.event == "approval.rule_ended"]
    assert sorted(ended) == ["expired", "used_up"]
    (by_hand,) = [each for each in records if each.event == "approvals.rule.end" and each.outcome == "ok"]
    assert by_hand.data["object"] == third["id"]
    assert by_hand.data["after"].endswith("ended, 0 of 20")


def test_a_request_that_waits_is_closed_when_a_rule_lets_the_same_call_run(opens: Opens, tmp_path: Path) -> None:
    plugin = opens()
    approval, other = asked(plugin, "out/notes/a.md"), asked(plugin, "out/notes/b.md")
    rule = ruled(plugin, approval=approval)
    assert write(plugin, "out/notes/a.md", content="asked") == "done"
    (tmp_path / "work/out/notes/a.md").write_text("edited since")
    shown = plugin.operate(OPERATIONS["approvals.show"], approval=approval)
    why = f"it was asked for again, and the rule {rule['id']} of root approved that"
    assert (shown["state"], shown["resolvedReason"]) == ("expired", why)
    assert code_of(lambda: plugin.operate(OPERATIONS["approvals.approve"], approval=approval)) == "approval_resolved"
    assert (tmp_path / "work/out/notes/a.md").read_text() == "edited since"
    status = plugin.call("approval_status", {"approval": approval}, agent="a1")
    assert status.text == f"fs_write did not run by this request: {why}."
    waiting = plugin.operate(OPERATIONS["approvals.list"], state="pending")["approvals"]
    assert [each["id"] for each in waiting] == [other]
    (closed,) = [
        each.record for each in plugin.audit.calls.page(limit=20).calls if each.record.event == "approval.closed"
    ]
    assert (closed.data["id"], closed.data["rule"]) == (approval, rule["id"])


def test_a_call_does_not_run_by_a_rule_when_a_person_approves_its_request_at_that_moment(
    opens: Opens, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugin = opens()
    approval = asked(plugin, "out/notes/a.md")
    ruled(plugin, approval=approval)
    actions = plugin.part(AgentActions)
    queue = actions.approvals._queue
    listed = queue.list

    def approved_meanwhile(state: ApprovalState) -> ListedApprovals:
        found = listed(state)
        queue.resolve(approval, approved=True, by="ada")
        return found

    monkeypatch.setattr(queue, "list", approved_meanwhile)
    assert write(plugin, "out/notes/a.md", content="asked") == "waits"
    assert not (tmp_path / "work/out/notes/a.md").exists()
    assert plugin.operate(OPERATIONS["approvals.show"], approval=approval)["state"] == "approved"


def test_a_call_reads_no_rule_that_has_ended(opens: Opens, monkeypatch: pytest.MonkeyPatch) -> None:
    plugin = opens()
    approval = asked(plugin)
    ended = [ruled(plugin, approval=approval)["id"] for _ in range(3)]
    for rule in ended:
        plugin.operate(OPERATIONS["approvals.rule.end"], rule=rule, reason="enough")
    holds = ruled(plugin, approval=approval)["id"]
    read: list[str] = []
    monkeypatch.setattr(rule_book, "read_rule", lambda rule, text: read.append(rule) or read_rule(rule, text))
    assert write(plugin, "out/notes/b.md") == "done"
    assert set(read) == {holds}
    assert len(plugin.operate(OPERATIONS["approvals.rule.list"])["rules"]) == 4
    assert set(read) == {holds, *ended}


@pytest.mark.parametrize(
    "given",
    [{"ends": soon(days=31)}, {"ends": "2020-01-01"}, {"ends": "soon"}, {"ends": "now"}, {"uses": 0}, {"uses": 1001}],
)
def test_no_rule_is_without_bounds(opens: Opens, given: dict[str, Any]) -> None:
    assert code_of(lambda: ruled(opens(), **given)) == "invalid_arguments"


def test_no_agent_makes_a_rule_nor_who_asked_and_none_without_the_setting(opens: Opens) -> None:
    plugin = opens()
    approval = asked(plugin, agent="ada")
    agent = Caller("bot", "agent", "rest", frozenset({"approve"}))
    for caller in (PERSON, agent, Caller("bob", "person", "rest", frozenset({"read"}))):
        assert code_of(lambda caller=caller: ruled(plugin, caller=caller, approval=approval)) == "permission_denied"
    assert code_of(lambda: ruled(opens(rules=False))) == "permission_denied"
    plugin.approvals.reject(approval, by="bob")
    assert code_of(lambda: ruled(plugin, approval=approval)) == "invalid_arguments"


def test_rules_are_of_this_setting_level_and_manifest(opens: Opens, tmp_path: Path) -> None:
    store = str(tmp_path / "store")
    with opens(store) as plugin:
        ruled(plugin)
        assert write(plugin, "out/notes/b.md") == "done"
        plugin.trust.set("supervised_auto", actor="owner")
        assert write(plugin, "out/notes/b.md") == "waits"
        approval = asked(plugin)
        assert code_of(lambda: ruled(plugin, approval=approval)) == "trust_level_too_low"
        plugin.trust.set("bounded_auto", actor="owner")
    with opens(store, rules=False) as plugin:
        assert write(plugin, "out/notes/b.md") == "waits"
    settings = {"workspace": str(tmp_path / "work"), "trustLevel": "bounded_auto", "write": ["out", "logs"]}
    with opens(store, actions=settings) as plugin:  # the manifest of fs_write names the folders
        assert write(plugin, "out/notes/b.md") == "waits"
    with opens(store) as plugin:
        assert write(plugin, "out/notes/b.md") == "done"


def test_high_risk_is_never_ruled_below_the_highest_level() -> None:
    allowed = {level: [risk for risk in ("low", "medium", "high") if may_be_ruled(level, risk)] for level in LEVELS}  # type: ignore[arg-type]
    assert allowed == {
        "observe": [],
        "suggest": ["low"],
        "supervised_auto": ["low", "medium"],
        "bounded_auto": ["low", "medium", "high"],
    }
    assert not may_be_ruled("no level", "low")


def test_a_rule_of_a_token_holds_while_that_token_may_approve(opens: Opens) -> None:
    plugin = opens()
    create, revoke = OPERATIONS["tokens.create"], OPERATIONS["tokens.revoke"]
    token: dict[str, Any] = {"token": "ada", "permissions": ["approve"], "namespaces": ["mayros"], "holder": "person"}
    plugin.operate(create, **token)
    ruled(plugin, caller=PERSON)
    assert write(plugin, "out/notes/b.md") == "done"
    plugin.operate(revoke, token="ada")
    assert write(plugin, "out/notes/b.md") == "waits"
    plugin.operate(create, **token | {"permissions": ["read"]})
    assert write(plugin, "out/notes/c.md") == "waits"


def test_a_rule_that_was_written_or_changed_in_the_store_approves_nothing(opens: Opens) -> None:
    plugin = opens()
    book = plugin.part(AgentActions).rules
    kept = ruled(plugin)
    store, graph = plugin.graph.store, plugin.graph.names.approvals_graph
    (quad,) = store.quads(Pattern(graph, None, RULE))
    assert isinstance(quad.object, Literal)
    wider = Literal(quad.object.value.replace('"folder":"out/notes"', '"folder":"out"'))
    store.apply([Quad(quad.subject, RULE, wider, graph)], [quad])
    assert (write(plugin, "out/notes/b.md"), book.all()) == ("waits", [])
    # One with its own id, and without the key of this host.
    from cortex_skills.features.actions.approvals.rule import read_rule, rule_text
    from cortex_skills.keys.ed25519 import Key

    rule = read_rule(kept["id"], quad.object.value)
    assert rule is not None
    rule_id, text = rule_text(rule, Key("other", bytes(32)))
    store.apply([Quad(plugin.graph.names.beside("approval-rule", rule_id), RULE, Literal(text), graph)], [])
    assert (len(book.all()), write(plugin, "out/notes/c.md")) == (1, "waits")


def test_processes_share_the_number_of_uses(opens: Opens, tmp_path: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    plugin = opens()
    ruled(plugin, uses=5)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda n: write(plugin, f"out/notes/{n}.md"), range(12)))
    assert sorted(found) == ["done"] * 5 + ["waits"] * 7
    assert len(list((tmp_path / "work/out/notes").iterdir())) == 5


def test_a_preview_names_what_waits_and_runs_nothing(opens: Opens, tmp_path: Path) -> None:
    plugin = opens()
    first, second, other = asked(plugin), asked(plugin, "out/notes/b.md"), asked(plugin, "logs/c.md")
    preview = OPERATIONS["approvals.rule.preview"]
    found = plugin.operate(preview, approval=first, folder="out/notes", ends=soon())
    assert (set(found["waiting"]), found["rule"]["id"]) == ({first, second}, "")
    assert plugin.operate(OPERATIONS["approvals.rule.list"])["rules"] == []
    ruled(plugin, approval=first)
    assert [each.id for each in plugin.approvals.list("pending").records] == [other, second, first]
    assert list((tmp_path / "work/out").iterdir()) == []
    code = code_of(lambda: plugin.operate(preview, approval=other, folder="out", ends=soon()))
    assert code == "invalid_arguments"  # the request is not in the folder


def test_what_a_person_edited_waits_in_any_case(opens: Opens) -> None:
    plugin = opens()
    approval = asked(plugin)
    ruled(plugin, approval=approval)
    inputs = {"path": "out/notes/a.md", "content": "edited", "overwrite": True}
    edited = plugin.operate(OPERATIONS["approvals.edit"], approval=approval, inputs=inputs)
    assert edited["state"] == "pending"
