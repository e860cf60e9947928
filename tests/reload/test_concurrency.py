"""`Plugin.reload`: calls in progress, callbacks, threads, and closing."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path

import pytest

from cortex_skills import CortexError, Plugin
from cortex_skills.lifecycle.reload.report import ReloadReport
from tests.plugin.skills import living_sandboxes
from tests.reload.versions import Opened, names, save_code, version_of, write

SLOW = """async onQuery({ agentId }) {
    if (agentId !== "slow") return { additionalContext: { version: VERSION } };
    await graphClient.listTriples({ subject: "gate" });
    return { additionalContext: { version: VERSION } };
  },"""


def test_a_call_in_progress_ends_on_the_version_that_it_began_with(
    plugin: Plugin, skills: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cortex_skills.lifecycle.active_skills._DRAIN_S", 100.0)
    plugin.load(write(skills / "kyc", 1, SLOW.replace("VERSION", "1")))
    old = plugin.skills["kyc"]
    inside, go_on = threading.Event(), threading.Event()
    listing = plugin.graph.list_triples

    def wait_inside(*arguments: object, **more: object) -> object:
        inside.set()
        assert go_on.wait(50)
        return listing(*arguments, **more)  # type: ignore[arg-type]

    plugin.graph.list_triples = wait_inside  # type: ignore[assignment,method-assign]
    texts: list[str] = []

    def ask() -> None:
        arguments = {"predicate": "p", "scope": "namespace"}
        texts.append(plugin.call("skill_graph_query", arguments, skill="kyc", agent="slow").text)

    call = threading.Thread(target=ask)
    call.start()
    assert inside.wait(100)
    save_code(skills / "kyc", 2, SLOW.replace("VERSION", "2"))
    reload = threading.Thread(target=plugin.reload)
    reload.start()
    while plugin.skills["kyc"] is old:  # a query now would wait for the call
        assert reload.is_alive()
        time.sleep(0.001)
    assert (version_of(plugin, "kyc"), call.is_alive()) == ("2", True)  # the new version is active
    assert reload.is_alive()  # the old version is not closed during a call
    assert living_sandboxes() == 2
    go_on.set()
    call.join()
    reload.join()
    assert '"version":1' in texts[0]
    assert living_sandboxes() == 1


def test_a_callback_receives_each_report_and_may_reload(plugin: Plugin, skills: Path) -> None:
    reports: list[ReloadReport] = []

    def callback(report: ReloadReport) -> None:
        reports.append(report)
        assert not plugin.reload()
        raise RuntimeError("an error of the callback")

    plugin.load(write(skills / "kyc", 1))
    stop = plugin.on_reload(callback)
    plugin.reload()
    save_code(skills / "kyc", 2)
    plugin.reload()
    stop()
    save_code(skills / "kyc", 3)
    plugin.reload()
    assert [names(report)["reloaded"] for report in reports] == [["kyc"]]
    assert version_of(plugin, "kyc") == "3"


def test_a_rejection_keeps_no_objects_alive(plugin: Plugin, skills: Path) -> None:
    plugin.load(write(skills / "kyc", 1))
    save_code(skills / "kyc", 2, "onActivate() { throw new Error('no'); },")
    (rejected,) = plugin.reload().rejected
    assert (rejected.error.__traceback__, rejected.error.__cause__, rejected.error.__context__) == (None, None, None)
    assert living_sandboxes() == 1


def test_a_report_is_json(plugin: Plugin, skills: Path) -> None:
    write(skills / "one", 1)
    write(skills / "two", 1)
    plugin.load(skills)
    save_code(skills / "one", 2)
    save_code(skills / "two", "oops oops")
    reports = json.loads(json.dumps(plugin.reload().to_json()))
    assert reports["reloaded"] == [{"name": "one", "version": "1.2.3", "differences": [], "files": ["skill.ts"]}]
    assert reports["rejected"][0]["error"]["code"] == "transpile_error"
    assert (reports["loaded"], reports["restored"], reports["unchanged"]) == ([], [], [])


def test_closing_does_not_wait_for_a_skill_that_is_loading(opened: Opened, skills: Path) -> None:
    plugin = opened()
    plugin.load(write(skills / "kyc", 1))
    begun = threading.Event()
    plugin.graph.list_triples = lambda *_, **__: begun.set() or {}  # type: ignore[assignment,method-assign,func-returns-value]
    save_code(skills / "kyc", 2, "async onActivate() { await graphClient.listTriples(); for (;;) {} },")
    thread = threading.Thread(target=plugin.reload)
    thread.start()
    assert begun.wait(100)
    plugin.close()
    thread.join(50)
    assert not thread.is_alive()
    assert living_sandboxes() == 0
    with pytest.raises(CortexError, match="closed"):
        plugin.reload()


def test_a_skill_can_be_unloaded_while_other_threads_call_it(plugin: Plugin, skills: Path) -> None:
    plugin.load(write(skills / "kyc", 1))
    codes: set[str | None] = set()
    stop = threading.Event()

    def ask() -> None:
        while not stop.is_set():
            codes.add(plugin.call("skill_graph_query", {"predicate": "p"}, skill="kyc").code)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    while None not in codes:
        time.sleep(0.001)
    plugin.unload("kyc")
    while "skill_not_found" not in codes:
        assert codes <= {None, "skill_not_found", "rate_limited", "query_limit"}
        time.sleep(0.001)
    stop.set()
    for thread in threads:
        thread.join()
    assert codes <= {None, "skill_not_found", "rate_limited", "query_limit"}


def test_concurrent_reloads_run_one_after_the_other(plugin: Plugin, skills: Path) -> None:
    write(skills / "one", 0)
    write(skills / "two", 0)
    plugin.load(skills)
    failed: list[BaseException] = []
    stop = threading.Event()

    def reload() -> None:
        try:
            while not stop.is_set():
                plugin.reload()
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=reload) for _ in range(4)]
    for thread in threads:
        thread.start()
    for version in range(1, 20):
        save_code(skills / "one", version)
        save_code(skills / "two", version)
    stop.set()
    for thread in threads:
        thread.join()
    plugin.reload()
    assert failed == []
    assert (version_of(plugin, "one"), version_of(plugin, "two")) == ("19", "19")
    assert living_sandboxes() == 2
