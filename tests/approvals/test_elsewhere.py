"""An action runs where it was asked for: approved in another workspace or on another host, it waits for its own."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from pyoxigraph import Literal, Quad

from cortex_graph.store import Pattern
from cortex_graph.store_access import half_made
from cortex_graph.store_access.half_made import READS
from cortex_skills import CortexError, Plugin
from cortex_skills.config.host_identity import HostIdentity
from cortex_skills.doors.cli.app import program
from cortex_skills.features.actions.agent_actions import AgentActions
from cortex_skills.features.actions.approvals.elsewhere import MAX_RUNNING, ApprovedElsewhere
from cortex_skills.features.actions.approvals.queue import RESOLUTION, RUNS_AT, ApprovalQueue
from cortex_skills.features.actions.approvals.record import LEASE
from cortex_skills.features.actions.workspace_id import NAME
from cortex_skills.keys.folder import signing_key
from tests.approvals.approver import APPEND, opened
from tests.approvals.test_desk import asked, error_of, status

AT_ONCE = MAX_RUNNING + 1


class Hosts:
    """Plugins on one store, each with a workspace, or the identity of another host."""

    def __init__(self, stack: ExitStack, folder: Path, skill: Path) -> None:
        self._stack, self._folder, self._skill = stack, folder, skill

    def open(self, workspace: str = "", host: str = "", *, skilled: bool = True, **settings: Any) -> Plugin:
        """A plugin with a workspace in a folder of that name, and of a host of that name."""
        if workspace:
            (self._folder / workspace).mkdir(exist_ok=True)
            settings["actions"] = {"workspace": str(self._folder / workspace)}
        plugin = opened(
            str(self._folder / "store"), self._skill, self._folder / f"lines-{workspace or host}", **settings
        )
        if not skilled:
            plugin.unload("operator")
        if host:
            plugin.part(lambda host: host).__dict__["identity"] = HostIdentity((host * 32)[:32], f"host-{host}")
        return self._stack.enter_context(plugin)

    def lines(self, name: str) -> list[str]:
        """What the action wrote for a host."""
        path = self._folder / f"lines-{name}"
        return path.read_text().split() if path.is_file() else []


@pytest.fixture
def hosts(tmp_path: Path, operator: Path) -> Iterator[Hosts]:
    with ExitStack() as stack:
        yield Hosts(stack, tmp_path, operator)


def looking(plugin: Plugin) -> ApprovedElsewhere:
    return ApprovedElsewhere(plugin.part(AgentActions))


def look(plugin: Plugin) -> ApprovedElsewhere:
    """Look once, and wait for what runs."""
    found = looking(plugin)
    found.look()
    for thread in found._runs.values():
        thread.join()
    return found


def places(plugin: Plugin) -> list[str]:
    queue = plugin.part(AgentActions).queue
    return [quad.object.value for quad in queue.store.quads(Pattern(queue._graph, None, RUNS_AT))]


def test_what_is_approved_on_another_host_runs_when_its_own_looks(hosts: Hosts) -> None:
    asking, approving = hosts.open(host="a"), hosts.open(host="b", skilled=False)
    approval_id = asked(asking)
    assert approving.approvals.refusal_of(approving.approvals.show(approval_id)) is None
    approved = approving.approvals.approve(approval_id, by="ada", reason="fine")
    assert approving.approvals.state_of(approved) == "approved"
    assert (
        status(asking, approval_id).text
        == "append_line was approved by ada and runs on host-a when that host next looks."
    )
    assert error_of(asking.approvals.approve, approval_id, by="bob").code == "approval_resolved"
    look(approving)
    assert (hosts.lines("a"), hosts.lines("b")) == ([], [])
    assert places(asking) == [f"host:{'a' * 32}"]
    look(asking)
    look(asking)
    assert (hosts.lines("a"), hosts.lines("b"), places(asking)) == (["one"], [], [])
    done = approving.approvals.view(approving.approvals.show(approval_id))
    assert (done["state"], done["resolvedBy"], done["host"], done["hostId"]) == ("done", "ada", "host-a", "a" * 32)
    ran = [call.record for call in asking.recent_calls.page().calls if call.record.event == "skill_executed"]
    assert [(each.approved_by, each.outcome) for each in ran] == [("ada", "ok"), (None, "ok")]


def test_what_is_asked_for_in_a_workspace_runs_in_that_one_only(hosts: Hosts) -> None:
    asking, other, same = (hosts.open(name) for name in ("work", "other", "work"))
    first, second = asked(asking), asked(asking, "two")
    assert other.approvals.state_of(other.approvals.approve(first, by="ada")) == "approved"
    assert same.approvals.state_of(same.approvals.approve(second, by="ada")) == "done"
    assert look(other)._runs == {}
    look(same)
    assert other.approvals.state_of(other.approvals.show(first)) == "done"
    none = hosts.open()
    third = asked(asking, "three")
    assert none.approvals.state_of(none.approvals.approve(third, by="ada")) == "approved"
    mounted = hosts.open("work", "z")
    look(mounted)
    assert none.approvals.state_of(none.approvals.show(third)) == "done"


def test_a_request_of_an_earlier_version_runs_anywhere(hosts: Hosts) -> None:
    asking, approving = hosts.open(host="a"), hosts.open(host="b")
    asking.part(lambda host: host).__dict__["identity"] = HostIdentity("", "")
    assert approving.approvals.state_of(approving.approvals.approve(asked(asking), by="ada")) == "done"


def test_a_process_that_cannot_run_it_leaves_it_to_others_and_says_so_once(
    hosts: Hosts, caplog: pytest.LogCaptureFixture
) -> None:
    asking, unskilled, approving = hosts.open(host="a"), hosts.open(host="a", skilled=False), hosts.open(host="b")
    approval_id = asked(asking)
    approving.approvals.approve(approval_id, by="ada")
    with caplog.at_level(logging.WARNING):
        found = looking(unskilled)
        found.look()
        found.look()
    assert [text.partition(":")[0] for text in caplog.messages] == [
        f"{approval_id} was approved, and cannot run in this process"
    ]
    assert approving.approvals.state_of(approving.approvals.show(approval_id)) == "approved"
    look(asking)
    assert approving.approvals.state_of(approving.approvals.show(approval_id)) == "done"


def test_an_approved_request_whose_host_does_not_look_expires_and_never_runs(hosts: Hosts) -> None:
    asking, approving = hosts.open(host="a"), hosts.open(host="b")
    approval_id = asked(asking)
    approving.approvals.approve(approval_id, by="ada")
    now = datetime.now(UTC)
    for plugin in (asking, approving):
        plugin.part(AgentActions).queue.now = lambda: now + 2 * LEASE
    assert status(asking, approval_id).details["state"] == "approved"
    for plugin in (asking, approving):
        plugin.part(AgentActions).queue.now = lambda: now + timedelta(hours=24, seconds=1)
    told = status(asking, approval_id).text
    assert told.startswith("append_line was approved by ada, and did not run: host-a did not start it until ")
    record = asking.approvals.show(approval_id)
    assert error_of(asking.approvals.run_approved, record).code == "approval_resolved"
    look(asking)
    assert (hosts.lines("a"), places(asking)) == ([], [])
    assert asking.approvals.state_of(asking.approvals.show(approval_id)) == "expired"


def test_a_note_of_a_place_approves_nothing(hosts: Hosts) -> None:
    asking = hosts.open(host="a")
    approval_id = asked(asking)
    queue = asking.part(AgentActions).queue
    place = f"host:{'a' * 32}"
    for about in (approval_id, "0" * 32, "x"):
        queue.store.apply([Quad(queue._node(about), RUNS_AT, Literal(place), queue._graph)], [])
    look(asking)
    assert hosts.lines("a") == []
    assert asking.approvals.state_of(asking.approvals.show(approval_id)) == "pending"
    rejected = asked(asking, "two")
    asking.approvals.reject(rejected, by="ada")
    queue.store.apply([Quad(queue._node(rejected), RUNS_AT, Literal(place), queue._graph)], [])
    look(asking)
    assert hosts.lines("a") == []


def test_a_place_that_the_request_does_not_name_is_a_changed_request(hosts: Hosts) -> None:
    asking, approving = hosts.open(host="a"), hosts.open(host="b")
    approval_id = asked(asking)
    queue = approving.part(AgentActions).queue
    elsewhere = f"host:{'b' * 32}"
    assert error_of(queue.resolve, approval_id, True, "eve", runs_at=elsewhere).code == "approval_changed"
    assert error_of(asking.approvals.show, approval_id).code == "approval_changed"
    look(approving)
    assert (hosts.lines("a"), hosts.lines("b")) == ([], [])


def test_a_look_that_finds_nothing_is_one_request_to_the_store(hosts: Hosts, monkeypatch: pytest.MonkeyPatch) -> None:
    plugin = hosts.open("work")
    plugin.part(AgentActions).place()
    found = looking(plugin)
    asked_for: list[str] = []
    kind = type(plugin.part(AgentActions).queue.store)
    for name in ("quads", "match", "apply", "revision"):
        method = getattr(kind, name)

        def counted(self: Any, *given: Any, _name: str = name, _method: Any = method, **named: Any) -> Any:
            asked_for.append(_name)
            return _method(self, *given, **named)

        monkeypatch.setattr(kind, name, counted)
    found.look()
    assert asked_for == ["quads"]


def test_of_processes_that_look_at_once_one_runs_each(hosts: Hosts) -> None:
    asking, approving = hosts.open(host="a"), hosts.open(host="b")
    others = [hosts.open(host="a") for _ in range(3)]
    ids = [asked(asking, f"line{number}") for number in range(AT_ONCE)]
    for approval_id in ids:
        approving.approvals.approve(approval_id, by="ada")
    while places(asking):
        threads = [threading.Thread(target=look, args=(plugin,)) for plugin in (asking, *others)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(hosts.lines("a")) == [f"line{number}" for number in range(AT_ONCE)]


def test_a_broken_workspace_file_refuses_requests_and_the_others_go_on(hosts: Hosts, tmp_path: Path) -> None:
    asking = hosts.open("work")
    (tmp_path / "work" / NAME).write_bytes(b"mine")
    refused = asking.call("append_line", {"text": "one"}, agent="a1")
    assert (refused.code, asking.approvals.list().records) == ("workspace_invalid", ())
    with pytest.raises(CortexError, match="is not one that this program wrote"):
        looking(asking).look()


def test_a_process_that_serves_looks_and_cancels_what_runs_when_it_closes(
    hosts: Hosts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "cortex_skills.features.actions.approvals.elsewhere.ApprovedElsewhere.__init__.__defaults__", (0.01,)
    )
    approving = hosts.open(host="b")
    serving = hosts.open("work", serves=True)
    started = threading.Event()

    def wait(call: Any) -> dict[str, Any]:
        started.set()
        while True:
            call.cancel.check()

    serving.actions.register(APPEND | {"id": "wait_long", "name": "Wait long"}, wait)
    approval_id = serving.call("wait_long", {"text": "x"}, agent="a1").details["approval"]
    approving.approvals.approve(approval_id, by="ada")
    assert started.wait(30)
    assert approving.approvals.state_of(approving.approvals.show(approval_id)) == "running"
    serving.close()
    ended = approving.approvals.show(approval_id)
    assert (approving.approvals.state_of(ended), ended.end and ended.end.code) == ("failed", "cancelled")


def test_a_server_that_answers_in_the_middle_of_a_change_is_asked_again(
    hosts: Hosts, monkeypatch: pytest.MonkeyPatch
) -> None:
    asking = hosts.open(host="a")
    approval_id = asked(asking)
    asking.approvals.approve(approval_id, by="ada")
    queue = ApprovalQueue(asking.graph.store, asking.graph.names)  # of which no thread reads
    whole, reads = queue._values(approval_id), []
    monkeypatch.setattr(type(queue.store), "shows_whole_changes", False, raising=False)
    monkeypatch.setattr(half_made, "PAUSE_S", 0.0)
    torn = {predicate: values for predicate, values in whole.items() if predicate != RESOLUTION}
    for answers, code in (
        ([torn, torn, whole], None),
        ([torn] * READS, "approval_changed"),
        ([torn], "approval_changed"),
    ):
        left = iter(answers)
        monkeypatch.setattr(queue, "_values", lambda _, left=left: reads.append(1) or next(left))
        if code is None:
            assert queue.find(approval_id).end is not None
        else:
            assert error_of(queue.find, approval_id).code == code
    assert len(reads) == 3 + READS + 1


def test_a_request_that_the_server_made_up_does_not_run(hosts: Hosts, caplog: pytest.LogCaptureFixture) -> None:
    asking = hosts.open(host="a")
    genuine = asking.approvals.show(asked(asking))
    other = hosts.open(host="a", proofs={"key": "stranger"}).part(AgentActions)._host
    store, names = asking.part(AgentActions).queue.store, asking.graph.names
    made_up = []
    for signer in (lambda: None, lambda: signing_key(other.config)):
        queue = ApprovalQueue(store, names, signer=signer)
        request = replace(genuine.request, inputs={"text": f"evil{len(made_up)}"})
        made_up.append(queue.add(request).id)
        queue.resolve(made_up[-1], approved=True, by="ada", runs_at=request.place)
    with caplog.at_level(logging.WARNING):
        look(asking)
    assert hosts.lines("a") == []
    assert sorted(caplog.messages) == sorted(
        f"{each} was approved, and cannot run in this process: the request {each} was not asked for by this host, "
        "or one of approvals.hosts"
        for each in made_up
    )


@pytest.mark.parametrize(("known", "runs"), [(True, ["one"]), (False, [])])
def test_a_host_that_names_others_runs_what_was_approved_there_only(hosts: Hosts, known: bool, runs: list[str]) -> None:
    approving = hosts.open(host="b", proofs={"key": "approver"})
    stranger = hosts.open(host="b", proofs={"key": "stranger"})
    did = signing_key((approving if known else stranger).config).did
    asking = hosts.open(host="a", approvals={"hosts": [did]})
    approval_id = asked(asking)
    approving.approvals.approve(approval_id, by="ada")
    look(asking)
    assert hosts.lines("a") == runs


@pytest.mark.parametrize("part", ["key", "signature"])
def test_a_changed_signature_is_none(hosts: Hosts, part: str) -> None:
    asking = hosts.open(host="a")
    record = asking.approvals.show(asked(asking))
    assert record.signed is not None
    own = {record.signed.key}
    assert record.signed.is_of(own)
    for value in ("", "00", "z", "é", "did:key:z6Mk"):
        changed = replace(record.signed, **{part: value})
        assert not changed.is_of(own | {value})
    assert not replace(record.signed, message=record.signed.message + b" ").is_of(own)


def test_the_command_states_where_an_approved_action_runs(hosts: Hosts, tmp_path: Path) -> None:
    asking = hosts.open(host="a")
    approval_id = asked(asking)
    result = CliRunner().invoke(program, ["approvals", "approve", approval_id, "--store", str(tmp_path / "store")])
    assert (result.exit_code, result.stdout) == (
        0, "append_line was approved, and runs on host-a when that host next looks\n",
    )  # fmt: skip
    shown = CliRunner().invoke(program, ["approvals", "show", approval_id, "--store", str(tmp_path / "store")])
    assert "\nstate: approved\n" in shown.stdout
    assert "\nhost: host-a\n" in shown.stdout
