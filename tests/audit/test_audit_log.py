"""The audit of a plugin: what is written for calls, what is read, and what happens on a full disk."""

from __future__ import annotations

import json
import logging
import resource
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_skills import Config, CortexError, Plugin
from cortex_skills.audit.audit_log import AuditLog
from cortex_skills.audit.bounded import MAX_PARTS, bounded, bounded_text
from cortex_skills.audit.journal import Journal
from cortex_skills.audit.journal_files import day_files
from cortex_skills.audit.lines import read_line
from cortex_skills.audit.recent_calls import CallFilter, RecentCalls
from cortex_skills.doors.cli.app import program
from tests.actions.conftest import operator
from tests.actions.manifests import manifest
from tests.configs import config
from tests.plugin.skills import write_skill

__all__ = ["operator"]

DAY = 86_400
SECRET = "hunter2hunter2"


def opened(folder: Path, **given: Any) -> Plugin:
    audit = {"folder": str(folder / "audit")} | given.pop("audit", {})
    return Plugin.open(config(audit=audit, **given))


def documents(folder: Path) -> list[dict[str, Any]]:
    files = day_files(folder / "audit")
    return [json.loads(line) for path in files for line in path.read_text(encoding="ascii").splitlines()]


def audit_command(folder: Path, *args: str) -> tuple[int, Any]:
    command = ["audit", args[0], "--folder", str(folder / "audit"), *args[1:], "--json"]
    result = CliRunner().invoke(program, command)
    return result.exit_code, result.stdout


@pytest.fixture
def small_files() -> Iterator[Callable[[int], None]]:
    """Limits the size of files that this process writes."""
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, old[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, old)


def test_a_call_is_written_with_redacted_inputs_and_its_outcome(tmp_path: Path) -> None:
    with opened(tmp_path) as plugin:
        plugin.call("nothing", {"api_key": SECRET, "n": 1, "deep": [{"password": SECRET}]}, agent="a2")
        plugin.record("hub_install", arguments={"token": SECRET, "name": "x"})
    first, second, head = documents(tmp_path)
    assert (first["level"], first["category"], first["event"], first["actor"]) == ("warn", "tool", "tool.call", "a2")
    details = first["details"]
    assert (details["action"], details["code"], details["success"]) == ("nothing", "tool_not_found", False)
    assert details["inputs"] == {"api_key": "[redacted]", "n": 1, "deep": [{"password": "[redacted]"}]}
    assert details["namespace"] == "mayros"
    assert "nothing" in details["outputs"]
    assert second["details"]["inputs"] == {"token": "[redacted]", "name": "x"}
    assert head["event"] == "audit.head"


def test_each_record_names_the_host_that_wrote_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    with opened(tmp_path, host={"name": "desk"}) as plugin:
        plugin.call("nothing", {})
        host = plugin.part(lambda host: host).identity
        (call,) = plugin.audit.calls.page().calls
        assert (call.record.host, host.name) == (host, "desk")
    assert [each["details"]["host"] for each in documents(tmp_path)] == [{"id": host.id, "name": "desk"}] * 2


def test_a_name_that_is_no_tool_is_text_of_the_caller(tmp_path: Path) -> None:
    key = "gh" + "p_" + "a1B2" * 9
    with opened(tmp_path) as plugin:
        plugin.call(key, {})
        plugin.call(f"password={SECRET}", {})
        assert [call.record.tool for call in plugin.recent_calls.page().calls] == ["password=[redacted]", "[redacted]"]
    written = json.dumps(documents(tmp_path))
    assert (key in written, SECRET in written) == (False, False)


def test_what_an_answer_repeats_of_redacted_inputs_is_redacted_too(tmp_path: Path) -> None:
    stated = {"password": SECRET, "hasPassword": SECRET, "hasApiKey": SECRET, "passcode": 73102844, "note": "it is 5"}
    predicates = [{"predicate": predicate} for predicate in stated]
    skill = write_skill(tmp_path / "probe", permissions={"graph": ["read", "write"]}, assertions=predicates)
    with opened(tmp_path, verification={"autoScan": False}) as plugin:
        plugin.load(skill)
        for predicate, value in stated.items():
            result = plugin.call("skill_assert", {"subject": "ada", "predicate": predicate, "object": value})
            assert (result.code, str(value) in result.text) == (None, True)
    kept = [each["details"] for each in documents(tmp_path) if each["details"]["action"] == "skill_assert"]
    assert [each["inputs"]["object"] for each in kept] == ["[redacted]"] * 4 + ["it is 5"]
    assert not any(str(secret) in json.dumps(kept) for secret in (SECRET, 73102844))
    assert all(each["outputs"].startswith("Asserted: mayros:ada") for each in kept)


@pytest.mark.parametrize(
    ("inputs", "text", "kept"),
    [
        ({"password": SECRET}, f"no user has {SECRET} here", "no user has [redacted] here"),
        ({"a": [{"pin": 730155}]}, "730155 is wrong", "[redacted] is wrong"),
        ({"credentials": {"x": [SECRET], "y": "abc"}}, f"abc and {SECRET}", "abc and [redacted]"),
        ({"args": ["--token", SECRET]}, f"{SECRET} ends", "[redacted] ends"),
        ({"password": "correct horse"}, f"{'y ' * 95}correct horse", f"{'y ' * 95}[redacted]"),
        ({"name": SECRET}, f"no user has {SECRET} here", f"no user has {SECRET} here"),
    ],
)
def test_a_text_has_nothing_that_is_masked_in_the_inputs(tmp_path: Path, inputs: Any, text: str, kept: str) -> None:
    with opened(tmp_path) as plugin:
        assert plugin.audit.kept_output(text, inputs, plugin.audit.kept(inputs)) == kept


def test_a_plugin_in_memory_has_no_journal_and_one_that_serves_has_it_beside_its_store(tmp_path: Path) -> None:
    store = str(tmp_path / "w")
    with Plugin.open(config()) as plugin:
        assert plugin.audit.journal is None
        assert plugin.audit.calls is plugin.recent_calls
    with Plugin.open(config(store=store)) as plugin:
        plugin.call("nothing", {})
        assert plugin.audit.journal is None
    acts = {"workspace": str(tmp_path / "workspace")}
    with Plugin.open(config(store=store, actions=acts)) as plugin:
        assert plugin.audit.journal is not None
    with Plugin.open(config(store=store, audit={"journal": "off"}), serves=True) as plugin:
        assert plugin.audit.journal is None
    with Plugin.open(config(store=store), serves=True) as plugin:
        plugin.call("nothing", {})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["w", "w.audit"]
    with Plugin.open(config(store=store)) as plugin:  # continued by every process
        plugin.call("nothing", {})
        assert plugin.audit.calls.counts().total == 2


SERVER = "http://graph.example.org:7878"


@pytest.mark.parametrize(
    ("store", "name"),
    [
        ("memory:", "memory"),
        (SERVER, "graph.example.org-"),
        ({"query": f"{SERVER}/q", "update": f"{SERVER}/u"}, "graph.example.org-"),
        ("cortex://127.0.0.1:9", "127.0.0.1-"),
    ],
)
def test_a_process_that_serves_a_store_without_a_folder_keeps_a_journal_in_the_data_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store: Any, name: str
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    journals = tmp_path / "cortex-skills" / "audit"
    with Plugin.open(config(store=store)) as plugin:
        plugin.call("nothing", {})
    assert not journals.exists()
    with Plugin.open(config(store=store), serves=True) as plugin:
        plugin.call("nothing", {})
    (folder,) = journals.iterdir()
    assert folder.name.startswith(name)
    with Plugin.open(config(store=store)) as plugin:
        assert (plugin.audit.journal is None) == (store == "memory:")
        assert plugin.audit.journal is None or plugin.audit.calls.counts().total == 1
    assert numbers(folder) == (1, 2)


def numbers(folder: Path) -> tuple[int, int]:
    lines = [line for path in day_files(folder) for line in path.read_bytes().splitlines(keepends=True)]
    seqs = [found.seq for found in map(read_line, lines) if found is not None]
    return seqs[0], seqs[-1]


@pytest.mark.parametrize("word", ["on", "'on'", "auto", "off", "'off'"])
def test_a_word_of_the_journal_needs_no_quotes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, word: str) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    (tmp_path / "cortex.yaml").write_text(f"store: 'memory:'\naudit:\n  journal: {word}\n")
    with Plugin.open(Config.load(tmp_path / "cortex.yaml", env={})) as plugin:
        assert (plugin.audit.journal is not None) == (word.strip("'") == "on")


def test_the_first_action_begins_the_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, operator: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    settings = {"actions": {"trustLevel": "bounded_auto"}, "tools": {"profiles": ["operator"]}}
    with Plugin.open(config(**settings)) as plugin:
        plugin.actions.register(manifest(), lambda call: {"lines": 1})
        plugin.load(operator)
        plugin.call("nothing", {})
        assert plugin.audit.journal is None
        assert plugin.call("count_lines", {"text": "a"}).code is None
        assert [call.record.event for call in plugin.audit.calls.page().calls] == ["skill_executed", "action.started"]


@pytest.mark.parametrize(("on_full", "code"), [("refuse-actions", "audit_unavailable"), ("warn", None)])
def test_no_action_runs_without_a_journal_unless_the_owner_wants_that(
    on_full: str, code: str | None, operator: Path
) -> None:
    audit = {"journal": "off", "onFull": on_full}
    ran = []
    settings = {"actions": {"trustLevel": "bounded_auto"}, "tools": {"profiles": ["operator"]}, "audit": audit}
    with Plugin.open(config(**settings)) as plugin:
        plugin.actions.register(manifest(), lambda call: ran.append(call) or {"lines": 1})
        plugin.load(operator)
        assert plugin.call("count_lines", {"text": "a"}).code == code
        assert len(ran) == (code is None)


def test_calls_are_read_from_the_journal_after_the_plugin_was_closed(tmp_path: Path) -> None:
    with opened(tmp_path) as plugin:
        for number in range(5):
            plugin.record(f"tool_{number % 2}", agent=f"a{number}", outcome="ok" if number else "rate_limited")
    with (
        opened(tmp_path) as plugin,
        Plugin.open(config(agentNamespace="other", audit={"folder": str(tmp_path / "audit")})) as other,
    ):
        calls = plugin.audit.calls
        page = calls.page(limit=2)
        rest = calls.page(cursor=page.next_cursor)
        assert [call.record.agent for call in page.calls + rest.calls] == ["a4", "a3", "a2", "a1", "a0"]
        assert calls.get(page.calls[1].id) == page.calls[1]
        found = calls.page(CallFilter(tool="tool_0", outcome="refused")).calls
        assert [call.record.agent for call in found] == ["a0"]
        now = datetime.fromisoformat(page.calls[0].record.time)
        assert calls.page(CallFilter(since=now + timedelta(hours=1))).calls == ()
        assert calls.counts().by_tool == {"tool_0": 3, "tool_1": 2}
        assert other.audit.calls.page().calls == ()
        assert other.audit.calls.get(page.calls[0].id) is None
        for cursor in ("", "00000000-1", f"{page.calls[0].id[:8]}-99", "x"):
            with pytest.raises(CortexError, match="not one of this audit"):
                calls.page(cursor=cursor)


def test_pages_go_back_over_days(tmp_path: Path) -> None:
    times = iter(range(0, 40 * DAY, DAY // 4))
    journal = Journal(tmp_path / "audit", clock=lambda: 1e9 + next(times))
    log = AuditLog("a1", RecentCalls(), journal, namespace="mayros")
    ids = [log.event("approval.approved", data={"n": number}).id for number in range(60)]
    assert len(day_files(tmp_path / "audit")) == 15
    cursor, found = None, []
    while True:
        page = log.calls.page(limit=7, cursor=cursor)
        found += [call.id for call in page.calls]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert found == ids[::-1]
    assert [log.calls.get(each).id for each in ids[::9]] == ids[::9]  # type: ignore[union-attr]


def test_a_corrupt_line_hides_no_other(tmp_path: Path) -> None:
    with opened(tmp_path) as plugin:
        for number in range(4):
            plugin.record(f"tool_{number}")
        (path,) = day_files(tmp_path / "audit")
        lines = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(b"".join([lines[0], b"\xff{" + lines[1], lines[2], b"\n", lines[3]]))
        assert [call.record.tool for call in plugin.audit.calls.page().calls] == ["tool_3", "tool_2", "tool_0"]


def test_on_a_full_disk_calls_continue_and_actions_are_refused(
    tmp_path: Path, small_files: Callable[[int], None], caplog: pytest.LogCaptureFixture
) -> None:
    with opened(tmp_path) as plugin, caplog.at_level(logging.WARNING):
        plugin.call("nothing", {})
        small_files(day_files(tmp_path / "audit")[0].stat().st_size + 100)
        try:
            for _ in range(3):
                assert plugin.call("nothing", {}).code == "tool_not_found"
            with pytest.raises(CortexError) as raised:
                plugin.audit.check_writable("fs_write", inputs={"path": "out/x"})
        finally:
            small_files(resource.RLIM_INFINITY)
        assert raised.value.code == "audit_unavailable"
        assert "fs_write was not run" in raised.value.message
        assert [record.getMessage() for record in caplog.records if "continue without" in record.getMessage()] != []
        plugin.audit.check_writable("fs_write", agent="a2", inputs={"path": "out/x"})
    _, gap, started, _ = documents(tmp_path)
    assert (gap["event"], gap["details"]["data"]) == ("audit.gap", {"missing": 3})
    assert (started["event"], started["details"]["action"], started["actor"]) == ("action.started", "fs_write", "a2")
    assert started["details"]["inputs"] == {"path": "out/x"}


@pytest.mark.parametrize(("on_full", "code"), [("refuse-all", "audit_unavailable"), ("warn", "tool_not_found")])
def test_what_is_refused_on_a_full_disk_is_configured(
    tmp_path: Path, small_files: Callable[[int], None], on_full: str, code: str
) -> None:
    with opened(tmp_path, audit={"onFull": on_full}) as plugin:
        plugin.call("nothing", {})
        small_files(day_files(tmp_path / "audit")[0].stat().st_size + 100)
        try:
            answers = [plugin.call("nothing", {}).code for _ in range(3)]
            if on_full == "warn":
                plugin.audit.check_writable("fs_write")
        finally:
            small_files(resource.RLIM_INFINITY)
        assert answers == ["tool_not_found", code, code]
        assert plugin.call("nothing", {}).code == "tool_not_found"


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=12), inner, max_size=6),
    max_leaves=40,
)
_NAMES = st.sampled_from(["password", "apiKey", "X-Auth-Token", "client_secret", "PASSWD", "private_key", "cookie"])


@settings(max_examples=40)
@given(before=_JSON, name=_NAMES, path=st.lists(st.sampled_from(["list", "dict"]), max_size=6), secret=_JSON)
def test_a_secret_is_in_no_record_at_any_depth(before: Any, name: str, path: list[str], secret: Any) -> None:
    value: Any = {name: ["SECRET-VALUE", secret]}
    for kind in path:
        value = [value] if kind == "list" else {"a": value, "b": before}
    assert "SECRET-VALUE" not in json.dumps(bounded(value))


@settings(max_examples=40)
@given(value=_JSON)
def test_what_is_recorded_is_json_of_limited_size(value: Any) -> None:
    kept = bounded([value] * 3)
    assert json.loads(json.dumps(kept, allow_nan=False)) == kept


def test_the_limits_hold_for_large_and_strange_values() -> None:
    kept = bounded({"many": list(range(10_000)), "after": "x"})
    assert kept["many"][-1] == "… 49 more"
    assert len(json.dumps(bounded([[["x" * 100] * 100] * 100] * 100))) < 100 * 600
    assert len(json.dumps(bounded({f"k{n}": {f"k{m}": "y" * 50 for m in range(200)} for n in range(200)}))) < 20_000
    assert bounded({"n": float("nan"), "b": b"x", 3: "y", "big": 1 << 80}) == {
        "n": "nan",
        "b": "<bytes>",
        "<int>": "y",
        "big": "<int>",
    }
    deep: Any = "SECRET"
    for _ in range(500):
        deep = [deep]
    assert "SECRET" not in json.dumps(bounded(deep))
    assert MAX_PARTS == 100


def test_the_text_of_a_result_is_cut_at_a_word_and_redacted() -> None:
    text = "a " * 95 + "ghp_0123456789abcdefghij rest"
    assert bounded_text(text) == ("a " * 95).rstrip() + "..."
    assert bounded_text("password=hunter2 ok") == "password=[redacted] ok"
    assert bounded_text("x" * 5_000) == "..."


def test_the_commands_show_search_verify_and_export(tmp_path: Path) -> None:
    with opened(tmp_path) as plugin:
        plugin.record("one", agent="a1")
        plugin.record("two", agent="a2", outcome="rate_limited")
        plugin.audit.event("trust_level.changed", actor="ada", data={"from": "observe", "to": "suggest"})
    code, shown = audit_command(tmp_path, "tail", "-n", "2")
    assert (code, [each["tool"] for each in json.loads(shown)]) == (0, ["two", "trust_level.changed"])
    assert json.loads(audit_command(tmp_path, "search", "--of", "a2")[1])[0]["outcome"] == "rate_limited"
    (changed,) = json.loads(audit_command(tmp_path, "search", "--event", "trust_level.changed")[1])
    assert (changed["actor"], changed["data"]) == ("ada", {"from": "observe", "to": "suggest"})
    assert json.loads(audit_command(tmp_path, "search", "--until", "2020-01-01")[1]) == []
    assert audit_command(tmp_path, "search", "--since", "tomorrow")[0] == 2
    code, report = audit_command(tmp_path, "verify")
    verified = json.loads(report)
    assert (code, verified["whole"], verified["records"], verified["signed"]) == (0, True, 4, 4)
    assert audit_command(tmp_path, "verify", "--noted", verified["hash"])[0] == 0
    assert audit_command(tmp_path, "verify", "--noted", "0" * 64)[0] == 1
    (path,) = day_files(tmp_path / "audit")
    assert audit_command(tmp_path, "export")[1] == path.read_text()
    assert audit_command(tmp_path, "export", "--until", "2020-01-01")[1] == ""
    path.write_text(path.read_text().replace('"a2"', '"a3"'))
    code, report = audit_command(tmp_path, "verify")
    assert (code, json.loads(report)["fault"]["seq"]) == (1, 2)


def test_the_commands_need_a_journal(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))  # where that of a store in memory is
    for args in (["--store", str(tmp_path / "w")], ["--store", "memory:"], ["--folder", str(tmp_path)]):
        result = CliRunner().invoke(program, ["audit", "tail", *args, "--json"])
        assert result.exit_code == 1
        assert json.loads(result.stderr.splitlines()[-1])["code"] == "invalid_arguments"
    assert list(tmp_path.iterdir()) == []
