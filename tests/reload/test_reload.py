"""`Plugin.reload`: what takes the place of what runs, and what does not."""

from __future__ import annotations

import logging
import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from cortex_skills import CortexError, Plugin
from cortex_skills.limits import RateWindow
from cortex_skills.reload import ReloadReport
from tests.plugin.skills import living_sandboxes
from tests.reload.versions import answer, save_code, save_manifest, version_of, write

Opened = Callable[..., Plugin]

RECALL = {"permissions": {"graph": ["read", "write"], "proofs": ["request"], "memory": ["recall"]}}
READ = {"permissions": {"graph": ["read"]}, "assertions": []}


def needs(slug: str, version: str = "^1.0.0") -> dict[str, object]:
    return {"dependencies": [{"slug": slug, "version": version}]}


NOTHING: dict[str, list[str]] = {"reloaded": [], "loaded": [], "rejected": [], "restored": []}


def names(report: ReloadReport) -> dict[str, list[str]]:
    return {
        "reloaded": [item.name for item in report.reloaded],
        "loaded": [item.name for item in report.loaded],
        "rejected": [item.name for item in report.rejected],
        "restored": list(report.restored),
    }


# --- a new version


def test_what_was_saved_answers_after_a_reload(plugin: Plugin, skills: Path) -> None:
    plugin.load(write(skills / "kyc", 1))
    save_code(skills / "kyc", 2)
    save_manifest(skills / "kyc", skillVersion="2.0.0")
    report = plugin.reload()
    (item,) = report.reloaded
    assert (item.name, item.version, item.files) == ("kyc", "2.0.0", ("skill.ts",))
    assert [str(difference) for difference in item.differences] == ["semantic.skillVersion: was 1.2.3, is now 2.0.0"]
    assert version_of(plugin, "kyc") == "2"
    assert plugin.skills["kyc"].semantic.skill_version == "2.0.0"
    assert living_sandboxes() == 1


def test_a_helper_file_that_changes_comes_or_goes_is_a_change(plugin: Plugin, skills: Path) -> None:
    folder = write(skills / "kyc", "v")
    (folder / "lib").mkdir()
    main = "import { v } from './lib/v';\n" + (folder / "skill.ts").read_text()
    (folder / "skill.ts").write_text(main)
    (folder / "lib/v.ts").write_text("export const v = 1;")
    plugin.load(folder)
    (folder / "lib/v.ts").write_text("export const v = 2;")
    assert plugin.reload().reloaded[0].files == ("lib/v.ts",)
    assert version_of(plugin, "kyc") == "2"
    (folder / "unused.ts").write_text("export {};")
    assert plugin.reload().reloaded[0].files == ("unused.ts",)
    (folder / "unused.ts").unlink()
    assert plugin.reload().reloaded[0].files == ("unused.ts",)


def test_contents_count_and_not_times_nor_what_is_not_loaded(plugin: Plugin, skills: Path) -> None:
    folder = write(skills / "kyc", 1)
    plugin.load(folder)
    before = plugin.skills["kyc"]
    os.utime(folder / "skill.ts")
    write(folder, 1)
    for name in (".skill.ts.swp", "skill.ts~", "4913", "README.md", "notes.txt"):
        (folder / name).write_text("anything")
    (folder / "node_modules").mkdir()
    (folder / "node_modules/a.ts").write_text("eval('1')")
    report = plugin.reload()
    assert (bool(report), report.unchanged) == (False, ("kyc",))
    assert plugin.skills["kyc"] is before


def test_hooks_are_told_in_order_and_the_new_is_activated_before_the_old_is_deactivated(
    plugin: Plugin, skills: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def telling(version: int) -> str:
        return f"""onActivate() {{ logger.info("activated {version}"); }},
        onDeactivate({{ reason }}) {{ logger.info("deactivated {version}: " + reason); }},"""

    plugin.load(write(skills / "kyc", 1, telling(1)))
    save_code(skills / "kyc", 2, telling(2))
    plugin.reload()
    plugin.unload("kyc")
    said = [record.message for record in caplog.records if record.name == "cortex_skills.skill_log"]
    assert said == [
        "[skill:kyc] activated 1",
        "[skill:kyc] activated 2",
        "[skill:kyc] deactivated 1: reload",
        "[skill:kyc] deactivated 2: unload",
    ]


def test_budgets_and_the_rate_window_survive(opened: Opened, skills: Path) -> None:
    plugin = opened(sandbox={"maxAssertions": 2, "maxWrites": 2})
    writing = "onActivate() { return graphClient.createTriple({ subject: 's', predicate: 'note', object: VERSION }); },"
    plugin.load(write(skills / "kyc", 1, writing.replace("VERSION", "1")))
    plugin._rate = RateWindow(4)
    for number in range(2):
        assert answer(plugin, "kyc")
        said = {"subject": "a", "predicate": "note", "object": number}
        assert not plugin.call("skill_assert", said).is_error
    save_code(skills / "kyc", 2, writing.replace("VERSION", "2"))
    assert names(plugin.reload())["reloaded"] == ["kyc"]
    (used,) = plugin.status()["skills"]
    assert [used[key] for key in ("queriesUsed", "assertionsUsed", "writesUsed")] == [2, 2, 2]
    assert plugin.call("skill_assert", {"subject": "a", "predicate": "note", "object": 9}).code == "rate_limited"
    plugin._rate = RateWindow(1000)
    assert plugin.call("skill_assert", {"subject": "a", "predicate": "note", "object": 9}).code == "assertion_limit"
    save_code(skills / "kyc", 3, writing.replace("VERSION", "3"))
    (rejected,) = plugin.reload().rejected  # what it would write when it is activated is one write too many
    assert (rejected.error.code, version_of(plugin, "kyc")) == ("skill_error", "2")


# --- what is rejected

BROKEN = {
    "syntax": ("export default { name: 'kyc' oops };", "transpile_error"),
    "half": ("export default {\n  name: 'kyc',\n  onQuery() { ret", "transpile_error"),
    "empty": ("", "skill_error"),
    "another name": ("export default { name: 'other' };", "skill_error"),
    "throws": ("export default { name: 'kyc', onActivate() { throw new Error('no'); } };", "skill_error"),
    "loops": ("for (;;) {}\nexport default { name: 'kyc' };", "skill_timeout"),
    "full": ("const a = []; for (;;) a.push(new Array(1e4).fill(1));\nexport default { name: 'kyc' };", "skill_memory"),
    "dangerous": ("eval('1');\nexport default { name: 'kyc' };", "scan_rejected"),
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
def test_a_broken_version_leaves_the_old_answering_until_it_is_mended(
    opened: Opened, skills: Path, broken: tuple[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    plugin = opened(sandbox={"executionTimeoutMs": 300})
    folder = write(skills / "kyc", 1)
    plugin.load(folder)
    text, code = broken
    (folder / "skill.ts").write_text(text)
    (rejected,) = plugin.reload().rejected
    assert (rejected.name, rejected.error.code, rejected.answering) == ("kyc", code, "1.2.3")
    assert version_of(plugin, "kyc") == "1"
    assert [r["error"]["code"] for r in plugin.status()["hotReload"]["rejected"]] == [code]
    assert f"kyc is rejected, version 1.2.3 answers on: [{code}]" in caplog.text
    assert living_sandboxes() == 1
    save_code(folder, 2)
    assert names(plugin.reload())["reloaded"] == ["kyc"]
    assert (version_of(plugin, "kyc"), plugin.status()["hotReload"]["rejected"]) == ("2", [])


def test_a_change_that_is_taken_back_is_told_and_reloads_nothing(plugin: Plugin, skills: Path) -> None:
    plugin.load(write(skills / "kyc", 1))
    before = plugin.skills["kyc"]
    save_code(skills / "kyc", "oops oops")
    assert names(plugin.reload())["rejected"] == ["kyc"]
    save_code(skills / "kyc", 1)
    assert names(plugin.reload())["restored"] == ["kyc"]
    assert plugin.skills["kyc"] is before
    assert plugin.status()["hotReload"]["rejected"] == []


def test_a_skill_that_is_left_alone_is_started_anew(opened: Opened, skills: Path) -> None:
    plugin = opened(sandbox={"executionTimeoutMs": 100})
    plugin.load(write(skills / "kyc", 1, "onQuery({ predicate }) { while (predicate.endsWith('bad')); return {}; },"))
    for _ in range(3):
        plugin.call("skill_graph_query", {"predicate": "bad", "scope": "namespace"})
    assert plugin.status()["skills"][0]["fault"]["code"] == "skill_timeout"
    assert names(plugin.reload("kyc"))["reloaded"] == ["kyc"]
    assert plugin.status()["skills"][0]["fault"] is None
    assert plugin.reload("kyc").unchanged == ("kyc",)


def test_a_permission_that_is_added_waits_for_the_host(plugin: Plugin, skills: Path) -> None:
    plugin.load(write(skills / "kyc", 1))
    write(skills / "kyc", 2, **RECALL)
    (rejected,) = plugin.reload().rejected
    assert (rejected.error.code, rejected.error.details["missing"]) == ("permission_denied", ["memory:recall"])
    assert version_of(plugin, "kyc") == "1"
    assert names(plugin.reload("kyc", approve=["memory:recall"]))["reloaded"] == ["kyc"]
    assert plugin.skills["kyc"].manifest.has_permission("memory:recall")


def test_a_permission_that_is_taken_away_counts_at_once_and_may_come_back(plugin: Plugin, skills: Path) -> None:
    plugin.load(write(skills / "kyc", 1))
    write(skills / "kyc", 2, **READ)
    assert names(plugin.reload())["reloaded"] == ["kyc"]
    said = plugin.call("skill_assert", {"subject": "a", "predicate": "note", "object": 1})
    assert said.code == "permission_denied"
    write(skills / "kyc", 3)
    (item,) = plugin.reload().reloaded
    assert {d.field for d in item.differences if d.security} == {"semantic.permissions", "semantic.assertions"}


def test_a_host_may_ask_a_person(opened: Opened, skills: Path) -> None:
    asked = []

    def ask(name: str, added: frozenset[str]) -> bool:
        asked.append((name, added))
        return len(asked) > 1

    plugin = opened(approve=ask)
    plugin.load(write(skills / "kyc", 1))
    write(skills / "kyc", 2, **RECALL)
    assert names(plugin.reload())["rejected"] == ["kyc"]
    assert names(plugin.reload())["reloaded"] == ["kyc"]
    assert asked == [("kyc", frozenset({"memory:recall"}))] * 2


def test_a_host_that_fails_to_answer_has_not_approved(opened: Opened, skills: Path) -> None:
    def ask(name: str, added: frozenset[str]) -> bool:
        raise RuntimeError("no terminal")

    plugin = opened(approve=ask)
    plugin.load(write(skills / "kyc", 1))
    write(skills / "kyc", 2, **RECALL)
    (rejected,) = plugin.reload().rejected
    assert (rejected.error.code, version_of(plugin, "kyc")) == ("internal_error", "1")


def test_a_tool_that_is_taken_away_is_refused(plugin: Plugin, skills: Path) -> None:
    plugin.load(write(skills / "kyc", 1, allowedTools=["skill_graph_query", "skill_assert"]))
    for tools in ({"allowedTools": ["skill_graph_query"]}, {"allowedTools": []}, {}):
        write(skills / "kyc", 2, **tools)
        (rejected,) = plugin.reload().rejected
        assert (rejected.error.code, version_of(plugin, "kyc")) == ("tool_not_allowed", "1")
    write(skills / "kyc", 2, allowedTools=["skill_graph_query", "skill_assert", "hub_search"])
    assert names(plugin.reload())["reloaded"] == ["kyc"]


def test_what_widens_is_logged_as_a_warning_and_the_rest_as_information(
    plugin: Plugin, skills: Path, caplog: pytest.LogCaptureFixture
) -> None:
    plugin.load(write(skills / "kyc", 1, allowedTools=["skill_graph_query"]))
    save_manifest(skills / "kyc", allowedTools=["*"], skillVersion="1.3.0")
    plugin.reload()
    said = {(r.levelno, r.getMessage()) for r in caplog.records if r.name == "cortex_skills.reload"}
    assert said == {
        (logging.WARNING, "kyc: the manifest changed: semantic.allowedTools: added *"),
        (logging.INFO, "kyc: the manifest changed: semantic.skillVersion: was 1.2.3, is now 1.3.0"),
    }


def test_code_that_is_gone_is_no_new_version(plugin: Plugin, skills: Path) -> None:
    folder = write(skills / "kyc", 1)
    plugin.load(folder)
    away = (folder / "skill.ts").rename(folder / "skill.ts~")
    (rejected,) = plugin.reload().rejected
    assert ("the code of kyc is gone" in str(rejected.error), version_of(plugin, "kyc")) == (True, "1")
    away.rename(folder / "skill.ts")
    assert names(plugin.reload())["restored"] == ["kyc"]


def test_a_companion_file_is_part_of_the_manifest(plugin: Plugin, skills: Path) -> None:
    folder = write(skills / "kyc", 1)
    (folder / "SKILL.md").write_text(
        "---\nname: kyc\ndescription: For the tests.\nmetadata: {semantic: semantic.yaml}\n---\n"
    )
    (folder / "semantic.yaml").write_text("version: 1\npermissions: {graph: [read]}\n")
    plugin.load(folder)
    (folder / "semantic.yaml").write_text("version: 1\npermissions: {graph: [read]}\n# a remark\n")
    assert plugin.reload().unchanged == ("kyc",)
    (folder / "semantic.yaml").write_text("version: 1\npermissions: {graph: [read, write]}\n")
    (rejected,) = plugin.reload().rejected
    assert rejected.error.code == "permission_denied"
    (folder / "semantic.yaml").write_text("version: 1\npermissions: {graph: [read]}\nmaxQueries: 7\n")
    assert [d.field for d in plugin.reload().reloaded[0].differences] == ["semantic.maxQueries"]


def test_a_skill_that_is_renamed_in_place_is_refused(plugin: Plugin, skills: Path) -> None:
    plugin.load(write(skills / "kyc", 1))
    manifest = skills / "kyc/SKILL.md"
    manifest.write_text(manifest.read_text().replace("name: kyc", "name: other"))
    (rejected,) = plugin.reload().rejected
    assert (rejected.name, rejected.error.code) == ("kyc", "manifest_invalid")
    assert version_of(plugin, "kyc") == "1"


# --- several of them


def test_dependencies_must_stay_in_range(plugin: Plugin, skills: Path) -> None:
    write(skills / "base", 1, skillVersion="1.0.0")
    write(skills / "user", 1, **needs("base"))
    plugin.load(skills)
    save_manifest(skills / "base", skillVersion="2.0.0")
    (rejected,) = plugin.reload().rejected
    assert (rejected.name, rejected.error.code) == ("base", "manifest_invalid")
    assert "user needs base ^1.0.0, but it is at 2.0.0" in str(rejected.error)
    save_manifest(skills / "user", **needs("base", "^2.0.0"))  # the two together are in order
    assert names(plugin.reload())["reloaded"] == ["base", "user"]


def test_a_dependency_on_what_is_not_there_is_refused(plugin: Plugin, skills: Path) -> None:
    write(skills / "user", 1)
    plugin.load(skills)
    write(skills / "user", 2, **needs("base"))
    (rejected,) = plugin.reload().rejected
    assert (rejected.error.code, version_of(plugin, "user")) == ("manifest_invalid", "1")
    write(skills / "base", 1, skillVersion="1.0.0")
    report = plugin.reload(approve=True)
    assert (names(report)["loaded"], names(report)["reloaded"]) == (["base"], ["user"])


def test_a_group_goes_over_together_or_not_at_all_and_others_do_not_wait(plugin: Plugin, skills: Path) -> None:
    write(skills / "base", 1, skillVersion="1.0.0")
    write(skills / "user", 1, **needs("base"))
    write(skills / "alone", 1)
    plugin.load(skills)
    save_code(skills / "base", 2)
    save_code(skills / "user", "oops oops")
    save_code(skills / "alone", 2)
    report = plugin.reload()
    assert names(report)["reloaded"] == ["alone"]
    assert {r.name: r.error.code for r in report.rejected} == {"base": "transpile_error", "user": "transpile_error"}
    assert [version_of(plugin, name) for name in ("base", "user", "alone")] == ["1", "1", "2"]
    assert living_sandboxes() == 3
    save_code(skills / "user", 2)
    assert names(plugin.reload("user"))["reloaded"] == ["base", "user"]  # it brings along what it is tied to
    assert [version_of(plugin, name) for name in ("base", "user")] == ["2", "2"]


def test_each_is_told_of_once_whatever_it_is_tied_to(plugin: Plugin, skills: Path) -> None:
    write(skills / "base", 1, skillVersion="1.0.0")
    write(skills / "left", 1, **needs("base"))
    write(skills / "right", 1, **needs("base"))
    plugin.load(skills)
    shutil.rmtree(skills / "base")
    save_code(skills / "left", 2)
    save_code(skills / "right", "oops oops")
    report = plugin.reload()
    assert sorted(r.name for r in report.rejected) == ["base", "left", "right"]
    save_code(skills / "right", 3)
    report = plugin.reload("right")
    assert names(report)["reloaded"] == ["left", "right"]
    assert [r["name"] for r in plugin.status()["hotReload"]["rejected"]] == ["base"]


def test_what_was_rejected_is_tried_again_with_what_it_is_tied_to_and_else_only_when_asked(
    plugin: Plugin, skills: Path
) -> None:
    write(skills / "base", 1, skillVersion="1.0.0")
    write(skills / "user", 1, **needs("base"))
    write(skills / "alone", 1)
    plugin.load(skills)
    save_manifest(skills / "base", skillVersion="2.0.0")
    assert names(plugin.reload())["rejected"] == ["base"]
    save_code(skills / "alone", 2)
    assert names(plugin.reload(retry=False)) == {**NOTHING, "reloaded": ["alone"]}
    assert names(plugin.reload(retry=False)) == NOTHING
    assert names(plugin.reload()) == {**NOTHING, "rejected": ["base"]}
    save_manifest(skills / "user", **needs("base", "^2.0.0"))
    assert names(plugin.reload(retry=False)) == {**NOTHING, "reloaded": ["base", "user"]}


def test_a_dependent_is_not_reloaded_with_what_it_depends_on(plugin: Plugin, skills: Path) -> None:
    write(skills / "base", 1, skillVersion="1.0.0")
    write(skills / "user", 1, **needs("base"))
    plugin.load(skills)
    before = plugin.skills["user"]
    save_code(skills / "base", 2)
    assert names(plugin.reload())["reloaded"] == ["base"]
    assert plugin.skills["user"] is before


def test_a_new_skill_of_a_folder_is_loaded_when_the_host_approves(plugin: Plugin, skills: Path) -> None:
    write(skills / "one", 1)
    plugin.load(skills)
    write(skills / "two", 1)
    (rejected,) = plugin.reload().rejected
    assert (rejected.name, rejected.answering, rejected.error.code) == ("two", None, "permission_denied")
    write(skills / "plain", 1, permissions={}, assertions=[])  # asks for nothing
    assert names(plugin.reload())["loaded"] == ["plain"]
    assert names(plugin.reload("two", approve=True))["loaded"] == ["two"]
    assert sorted(plugin.skills) == ["one", "plain", "two"]


def test_a_folder_that_is_gone_leaves_its_skill_answering(plugin: Plugin, skills: Path) -> None:
    write(skills / "one", 1)
    plugin.load(write(skills / "two", 1))
    plugin.load(skills / "one")
    shutil.rmtree(skills / "two")
    (rejected,) = plugin.reload().rejected
    assert (rejected.name, rejected.error.code, version_of(plugin, "two")) == ("two", "skill_not_found", "1")
    write(skills / "two", 1)
    assert names(plugin.reload())["restored"] == ["two"]
    shutil.rmtree(skills / "two")
    plugin.reload()
    write(skills / "two", 2)
    assert names(plugin.reload())["reloaded"] == ["two"]
    assert plugin.status()["hotReload"]["rejected"] == []


def test_what_was_unloaded_stays_unloaded_until_the_host_loads_it(plugin: Plugin, skills: Path) -> None:
    write(skills / "one", 1)
    write(skills / "two", 1)
    plugin.load(skills)
    plugin.unload("two")
    write(skills / "two", 2)
    assert not plugin.reload(approve=True)
    plugin.load(skills / "two")
    write(skills / "two", 3)
    assert names(plugin.reload())["reloaded"] == ["two"]


def test_a_second_folder_of_the_same_name_is_refused(plugin: Plugin, tmp_path: Path) -> None:
    write(tmp_path / "a/kyc", 1)
    write(tmp_path / "b/other", 1)
    plugin.load(tmp_path / "a")
    plugin.load(tmp_path / "b")
    write(tmp_path / "b/kyc", 2)
    (rejected,) = plugin.reload(approve=True).rejected
    assert (rejected.folder, rejected.error.code) == (tmp_path / "b/kyc", "invalid_arguments")
    assert version_of(plugin, "kyc") == "1"


def test_only_what_was_named_is_looked_at(plugin: Plugin, skills: Path) -> None:
    for name in ("one", "two", "three"):
        write(skills / name, 1)
    plugin.load(skills)
    for name in ("one", "two", "three"):
        save_code(skills / name, 2)
    assert names(plugin.reload("one"))["reloaded"] == ["one"]
    assert names(plugin.reload(paths=[str(skills / "two/skill.ts")]))["reloaded"] == ["two"]
    assert not plugin.reload(paths=[str(skills / "thre"), str(skills.parent / "elsewhere")])
    assert names(plugin.reload(paths=[str(skills)]))["reloaded"] == ["three"]
    with pytest.raises(CortexError, match="no skill 'four' is active"):
        plugin.reload("four")


def test_skills_are_found_again_from_another_working_directory(
    plugin: Plugin, skills: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    write(skills / "kyc", 1)
    monkeypatch.chdir(skills)
    plugin.load("kyc")
    monkeypatch.chdir(tmp_path)
    save_code(skills / "kyc", 2)
    assert names(plugin.reload())["reloaded"] == ["kyc"]


# --- calls, events and the end

SLOW = """async onQuery({ agentId }) {
    if (agentId !== "slow") return { additionalContext: { version: VERSION } };
    await graphClient.listTriples({ subject: "gate" });
    return { additionalContext: { version: VERSION } };
  },"""


def test_a_call_under_way_ends_on_the_version_that_it_began_with(plugin: Plugin, skills: Path) -> None:
    plugin.load(write(skills / "kyc", 1, SLOW.replace("VERSION", "1")))
    old = plugin.skills["kyc"]
    inside, go_on = threading.Event(), threading.Event()
    listing = plugin.graph.list_triples

    def wait_inside(*arguments: object, **more: object) -> object:
        inside.set()
        assert go_on.wait(20)
        return listing(*arguments, **more)  # type: ignore[arg-type]

    plugin.graph.list_triples = wait_inside  # type: ignore[assignment,method-assign]
    texts: list[str] = []

    def ask() -> None:
        arguments = {"predicate": "p", "scope": "namespace"}
        texts.append(plugin.call("skill_graph_query", arguments, skill="kyc", agent="slow").text)

    call = threading.Thread(target=ask)
    call.start()
    assert inside.wait(20)
    save_code(skills / "kyc", 2, SLOW.replace("VERSION", "2"))
    reload = threading.Thread(target=plugin.reload)
    reload.start()
    while plugin.skills["kyc"] is old:  # to ask for it now would be to wait for the call
        assert reload.is_alive()
    assert (version_of(plugin, "kyc"), call.is_alive()) == ("2", True)  # the new one answers already
    assert reload.is_alive()  # the old one is not ended under a call
    assert living_sandboxes() == 2
    go_on.set()
    call.join()
    reload.join()
    assert '"version":1' in texts[0]
    assert living_sandboxes() == 1


def test_a_listener_is_told_of_each_reload_and_may_reload_itself(plugin: Plugin, skills: Path) -> None:
    told: list[ReloadReport] = []

    def tell(report: ReloadReport) -> None:
        told.append(report)
        assert not plugin.reload()
        raise RuntimeError("a listener's own affair")

    plugin.load(write(skills / "kyc", 1))
    stop = plugin.on_reload(tell)
    plugin.reload()
    save_code(skills / "kyc", 2)
    plugin.reload()
    stop()
    save_code(skills / "kyc", 3)
    plugin.reload()
    assert [names(report)["reloaded"] for report in told] == [["kyc"]]
    assert version_of(plugin, "kyc") == "3"


def test_what_was_rejected_holds_on_to_nothing(plugin: Plugin, skills: Path) -> None:
    plugin.load(write(skills / "kyc", 1))
    save_code(skills / "kyc", 2, "onActivate() { throw new Error('no'); },")
    (rejected,) = plugin.reload().rejected
    assert (rejected.error.__traceback__, rejected.error.__cause__, rejected.error.__context__) == (None, None, None)
    assert living_sandboxes() == 1


def test_a_report_is_json(plugin: Plugin, skills: Path) -> None:
    import json

    write(skills / "one", 1)
    write(skills / "two", 1)
    plugin.load(skills)
    save_code(skills / "one", 2)
    save_code(skills / "two", "oops oops")
    told = json.loads(json.dumps(plugin.reload().to_json()))
    assert told["reloaded"] == [{"name": "one", "version": "1.2.3", "differences": [], "files": ["skill.ts"]}]
    assert told["rejected"][0]["error"]["code"] == "transpile_error"
    assert (told["loaded"], told["restored"], told["unchanged"]) == ([], [], [])


def test_closing_does_not_wait_for_a_skill_that_is_being_loaded(opened: Opened, skills: Path) -> None:
    plugin = opened(sandbox={"executionTimeoutMs": 60_000})
    plugin.load(write(skills / "kyc", 1))
    begun = threading.Event()
    plugin.graph.list_triples = lambda *_, **__: begun.set() or {}  # type: ignore[assignment,method-assign,func-returns-value]
    save_code(skills / "kyc", 2, "async onActivate() { await graphClient.listTriples(); for (;;) {} },")
    thread = threading.Thread(target=plugin.reload)
    thread.start()
    assert begun.wait(20)
    plugin.close()
    thread.join(30)
    assert not thread.is_alive()
    assert living_sandboxes() == 0
    with pytest.raises(CortexError, match="closed"):
        plugin.reload()


def test_a_skill_whose_calls_are_over_can_be_unloaded_while_others_ask_for_it(plugin: Plugin, skills: Path) -> None:
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
        pass
    plugin.unload("kyc")
    while "skill_not_found" not in codes:
        assert codes <= {None, "skill_not_found", "rate_limited", "query_limit"}
    stop.set()
    for thread in threads:
        thread.join()
    assert codes <= {None, "skill_not_found", "rate_limited", "query_limit"}


def test_threads_that_reload_at_once_do_it_one_after_the_other(plugin: Plugin, skills: Path) -> None:
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


def children() -> int:
    """How many processes this one has started that still live."""
    return len(Path(f"/proc/self/task/{threading.get_native_id()}/children").read_text().split())


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="reads its children from /proc")
def test_a_skill_in_a_process_of_its_own_is_reloaded_into_another(opened: Opened, skills: Path) -> None:
    plugin = opened(sandbox={"isolation": "process", "executionTimeoutMs": 10_000})
    try:
        plugin.load(write(skills / "kyc", 1))
    except CortexError as error:
        pytest.skip(f"no isolation here: {error}")
    before = children()
    for version in range(2, 6):
        save_code(skills / "kyc", version)
        assert names(plugin.reload())["reloaded"] == ["kyc"]
        assert version_of(plugin, "kyc") == str(version)
    save_code(skills / "kyc", 9, "onActivate() { throw new Error('no'); },")
    assert names(plugin.reload())["rejected"] == ["kyc"]
    assert children() == before


@pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not here")
def test_the_direct_mode_is_reloaded_too(opened: Opened, skills: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CORTEX_UNSAFE_DIRECT_LOAD", "1")
    plugin = opened(sandbox={"sandboxEnabled": False, "executionTimeoutMs": 10_000})
    plugin.load(write(skills / "kyc", 1))
    save_code(skills / "kyc", 2)
    assert names(plugin.reload())["reloaded"] == ["kyc"]
    assert version_of(plugin, "kyc") == "2"
    save_code(skills / "kyc", "oops oops")
    assert names(plugin.reload())["rejected"] == ["kyc"]
    assert version_of(plugin, "kyc") == "2"
