"""What the configuration places in the workspace is the plugin's own, for every action."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cortex_skills import Config, CortexError, Plugin
from cortex_skills.config.private_paths import private_below
from cortex_skills.config.sections import UnusedSection, declared
from cortex_skills.features.actions.own_files import guarded
from cortex_skills.features.actions.paths import Workspace, folded
from cortex_skills.features.actions.readable_paths import readable
from tests.actions.asking import approved
from tests.configs import config


def opened(workspace: Path, operator: Path) -> Plugin:
    for folder in ("out", "docs"):
        (workspace / folder).mkdir(parents=True, exist_ok=True)
    (workspace / "docs" / "a.md").write_text("a\n")
    plugin = Plugin.open(
        config(
            store=str(workspace / "out" / "store [1]"),
            actions={"trustLevel": "bounded_auto", "workspace": str(workspace), "commands": ["cat", "find"]},
            tools={"profiles": ["operator"]},
            proofs={"keys": str(workspace / "out" / "keys")},
            cortex={"tokenFile": str(workspace / "out" / "tokens.json")},
            audit={"folder": str(workspace / "out" / "audit")},
            verification={"trustStore": str(workspace / "out" / "trust.json"), "requireSignature": False},
            secrets={
                "store": "file",
                "file": str(workspace / "docs" / "secrets.json"),
                "key": str(workspace / "docs" / "secrets.key"),
            },
            learning={"runs": str(workspace / "out" / "runs")},
            artifacts={"folder": str(workspace / "out" / "installed")},
        )
    )
    plugin.load(operator)
    return plugin


def test_without_the_settings_of_a_feature_it_is_not_known_what_is_private_and_there_is_no_workspace(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    given = config(actions={"workspace": str(tmp_path)}, store=str(tmp_path / "store"))
    assert guarded(given).workspace == str(tmp_path)
    object.__setattr__(given, "sections", {**given.sections, "sample": UnusedSection()})
    assert guarded(given).workspace == ""
    assert [record.message for record in caplog.records] == [
        "actions have no workspace: it is not known what is private in the settings sample"
    ]
    with pytest.raises(CortexError, match="the settings sample cannot be read") as caught:
        list(private_below(given, tmp_path))
    assert caught.value.code == "config_invalid"


OWN = [
    "out/store [1]/CURRENT",
    "out/Store [1]/CURRENT",
    "out/keys/local.seed",
    "out/tokens.json",
    "out/audit/head",
    "out/trust.json",
    "out/trust.json.lock",
    "out/.trust.json.x1y2",
    "out/indexes.json",
    "out/store [1].audit/head",
    "out/store [1].artifacts/x",
    "out/installed/mayros/x",
    "out/runs/x.json",
    "docs/secrets.json",
    "docs/secrets.key",
    "docs/.secrets.key.x1y2",
]


def test_no_action_reads_or_writes_them(tmp_path: Path, operator: Path) -> None:
    with opened(tmp_path, operator) as plugin:
        plugin.graph.create_triple({"subject": "a", "predicate": "p", "object": 1})
        codes = {
            path: (
                plugin.call("fs_read", {"path": path}).code,
                plugin.call("fs_write", {"path": path, "content": "", "overwrite": True}).code,
                plugin.call("shell_safe", {"command": "cat", "args": [path]}).code,
            )
            for path in OWN
        }
        assert codes == dict.fromkeys(OWN, ("path_refused",) * 3)
        assert plugin.call("fs_read", {"path": "docs/a.md"}).code is None


def test_a_pattern_in_a_name_denies_nothing_else(tmp_path: Path, operator: Path) -> None:
    with opened(tmp_path, operator) as plugin:
        (tmp_path / "out" / "store 1").write_text("plain\n")
        assert plugin.call("fs_read", {"path": "out/store 1"}).code is None


NAMES = st.text(st.characters(exclude_categories=("C",), exclude_characters="/\\"), min_size=1, max_size=20).filter(
    lambda name: name.strip() == name and folded(name)
)


@given(NAMES)
@settings(max_examples=200)
@example("keys［1］")
@example("keys．")
@example("[keys]*?")
def test_what_is_private_is_denied_by_any_name_with_what_is_beside_it(name: str) -> None:
    """A name whose compatibility form is a pattern is one of them."""
    given = {"proofs": {"keys": f"/ws/out/{name.replace('$', '$$')}"}, "actions": {"workspace": "/ws"}}
    workspace = Workspace.of(guarded(Config(**given)))
    beside = (name, f"{name}.lock", f"{name}.index", f"{name}~", f".{name}.x1y2", name.casefold())
    assert [each for each in beside if not workspace.is_denied(("out", each))] == []


@pytest.mark.parametrize("setting", ["store", "proofs"])
def test_a_private_folder_that_is_called_like_a_home_folder_is_denied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setting: str
) -> None:
    monkeypatch.chdir(tmp_path)
    given = {"store": "./~/own"} if setting == "store" else {"proofs": {"keys": "./~/own"}}
    workspace = Workspace.of(guarded(Config(**given, actions={"workspace": str(tmp_path)})))
    assert workspace.is_denied(("~", "own", "x"))


def test_what_is_kept_beside_a_symbolic_link_is_private(tmp_path: Path) -> None:
    (tmp_path / "work" / "out").mkdir(parents=True)
    for name in ("store", "tokens.json", "trust.json"):
        (tmp_path / "work" / "out" / name).symlink_to(tmp_path / f"other-{name}")
    out = tmp_path / "work" / "out"
    given = {"store": str(out / "store"), "cortex": {"tokenFile": str(out / "tokens.json")}}
    trust = {"verification": {"trustStore": str(out / "trust.json")}}
    workspace = Workspace.of(guarded(Config(**given, **trust, actions={"workspace": str(tmp_path / "work")})))
    beside = (
        "store",
        "store.audit",
        "store.artifacts",
        "tokens.json.lock",
        "trust.json.lock",
        "trust.json.shared",
        "indexes.json",
    )
    assert [name for name in beside if not workspace.is_denied(("out", name))] == []


@pytest.mark.parametrize("word", ["run.py", "--config=run.py", "./run.py"])
def test_a_file_that_the_command_of_a_program_names_is_never_written(tmp_path: Path, word: str) -> None:
    (tmp_path / "out" / "data").mkdir(parents=True)
    agents = {"tidy": {"command": ["/usr/bin/true", word, "data", ""], "folder": "out"}}
    workspace = Workspace.of(guarded(Config(actions={"workspace": str(tmp_path), "agents": agents})))
    with pytest.raises(CortexError, match="is never written"):
        workspace.check_written(("out", "run.py"))
    workspace.check_written(("out", "data", "x"))


def placed(setting: tuple[str, ...], path: Path) -> dict[str, Any]:
    """The arguments of a configuration in which a setting is a path."""
    *section, name = setting
    default = getattr(getattr(Config(), section[0]), name) if section else Config().store
    value = {"x": str(path)} if isinstance(default, Mapping) else [str(path)] if default == () else str(path)
    return {section[0]: {name: value}} if section else {name: value}


MARKS = declared().paths


@pytest.mark.parametrize("setting", sorted(MARKS.keys() - {("actions", "workspace")}), ids=".".join)
def test_each_setting_that_is_a_path_is_guarded_as_its_mark_says(tmp_path: Path, setting: tuple[str, ...]) -> None:
    access = MARKS[setting].access
    given = placed(setting, tmp_path / "out" / "own")
    actions = {"actions": {"workspace": str(tmp_path), "read": ["out"]}}
    workspace = Workspace.of(guarded(Config(**given, **actions)))
    for parts in (("out", "own"), ("out", "own", "deep"), ("out", "OWN")):
        assert workspace.is_denied(parts) is (access == "private")
    assert not workspace.is_denied(("out", "own-too"))
    assert not workspace.is_denied(("docs", "out", "own"))
    refused = pytest.raises(CortexError, match="is never written") if access == "read-only" else nullcontext()
    with refused:
        workspace.check_written(("out", "own", "deep"))


def test_the_configuration_file_and_the_folders_of_the_user_are_private(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable, place in (("XDG_DATA_HOME", "data"), ("XDG_CONFIG_HOME", "etc"), ("XDG_CACHE_HOME", "cache")):
        monkeypatch.setenv(variable, str(tmp_path / "home" / place))
    monkeypatch.setenv("CORTEX_SANDBOX_CACHE", "$PLACE/compiled")
    monkeypatch.setenv("PLACE", str(tmp_path / "docs"))
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "cortex.yaml").write_text(f"actions: {{workspace: {tmp_path}, read: [docs, home]}}\n")
    workspace = Workspace.of(guarded(Config.load(tmp_path / "docs" / "cortex.yaml", env={})))
    for path in (
        "docs/cortex.yaml",
        "docs/compiled/x.cwasm",
        "home/data/cortex-skills/store",
        "home/etc/cortex-skills",
        "home/cache/cortex-skills",
    ):
        assert workspace.is_denied(tuple(path.split("/"))), path
    assert not workspace.is_denied(("docs", "other.yaml"))
    assert not workspace.is_denied(("home", "data", "other"))


def test_a_command_does_not_read_the_folders_of_the_user(
    tmp_path: Path, operator: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    (tmp_path / "home" / "cortex-skills").mkdir(parents=True)
    (tmp_path / "home" / "cortex-skills" / "tokens.json").write_text("the token")
    (tmp_path / "home" / "plain").write_text("a token of another\n")
    actions = {"workspace": str(tmp_path), "read": ["home"], "trustLevel": "bounded_auto"}
    with Plugin.open(config(actions=actions, tools={"profiles": ["operator"]})) as plugin:
        plugin.load(operator)
        result = approved(plugin, "shell_safe", {"command": "grep", "args": ["-rh", "token", "home"]})
        assert result.details["outputs"]["stdout"] == "a token of another\n"


def test_what_decides_what_is_trusted_is_read_and_not_written(tmp_path: Path, operator: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "stock.ttl").write_text("# the shapes\n")
    actions = {"workspace": str(tmp_path), "trustLevel": "bounded_auto"}
    shapes = {"shapes": {"other": str(tmp_path / "out" / "stock.ttl")}}
    with Plugin.open(config(actions=actions, proofs=shapes, tools={"profiles": ["operator"]})) as plugin:
        plugin.load(operator)
        assert plugin.call("fs_read", {"path": "out/stock.ttl"}).code is None
        refused = plugin.call("fs_write", {"path": "out/stock.ttl", "content": "", "overwrite": True})
        assert (refused.code, "is never written" in refused.text) == ("path_refused", True)


def test_the_folder_of_an_active_skill_is_read_and_not_written(tmp_path: Path, operator: Path) -> None:
    skill = shutil.copytree(operator, tmp_path / "real" / "operator")
    (tmp_path / "out").symlink_to(tmp_path / "real")  # it is the same folder by each path
    actions = {"workspace": str(tmp_path), "write": ["real"], "read": ["real"], "trustLevel": "bounded_auto"}
    with Plugin.open(config(actions=actions, tools={"profiles": ["operator"]})) as plugin:
        plugin.load(tmp_path / "out" / "operator")
        assert plugin.call("fs_read", {"path": "real/operator/SKILL.md"}).code is None
        for name in ("SKILL.md", "skill.ts", "deep/x"):
            refused = plugin.call("fs_write", {"path": f"real/operator/{name}", "content": "", "overwrite": True})
            assert (refused.code, "is never written" in refused.text) == ("path_refused", True)
        assert plugin.call("fs_write", {"path": "real/other/SKILL.md", "content": ""}).code is None
    assert not (skill / "skill.ts").exists()


@pytest.mark.parametrize("inner", ["", "deep"])
def test_a_workspace_in_private_data_is_refused(tmp_path: Path, inner: str) -> None:
    with pytest.raises(CortexError, match="where the plugin keeps private data") as caught:
        guarded(Config(store=str(tmp_path), actions={"workspace": str(tmp_path / inner)}))
    assert caught.value.code == "config_invalid"


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_what_is_private_outside_is_refused_under_another_name(tmp_path: Path, kind: str) -> None:
    (tmp_path / "work" / "docs" / "deep").mkdir(parents=True)
    (tmp_path / "work" / "docs" / "deep" / "x").write_text("x")
    own = tmp_path / "work" / "docs" / "deep" / ("x" if kind == "file" else "")
    (tmp_path / "keys").symlink_to(own)  # as a mount does: the same file or folder by another path
    settings = guarded(Config(actions={"workspace": str(tmp_path / "work")}, proofs={"keys": str(tmp_path / "keys")}))
    workspace = replace(Workspace.of(settings), never=())
    with pytest.raises(CortexError, match=f"is a {kind} of the plugin"), workspace.file(("docs", "deep", "x")):
        pass
    assert readable(workspace, ["docs"])[0] == []
