"""What the configuration places in the workspace is the plugin's own, for every action."""

from __future__ import annotations

from pathlib import Path

import pytest

from cortex_skills import Plugin
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
        )
    )
    plugin.load(operator)
    return plugin


@pytest.mark.parametrize(
    "path",
    [
        "out/store [1]/CURRENT",
        "out/Store [1]/CURRENT",
        "out/keys/local.seed",
        "out/tokens.json",
        "out/audit/head",
        "out/trust.json",
    ],
)
def test_no_action_reads_or_writes_them(tmp_path: Path, operator: Path, path: str) -> None:
    with opened(tmp_path, operator) as plugin:
        plugin.graph.create_triple({"subject": "a", "predicate": "p", "object": 1})
        assert plugin.call("fs_read", {"path": path}).code == "path_refused"
        assert plugin.call("fs_write", {"path": path, "content": "", "overwrite": True}).code == "path_refused"
        assert plugin.call("shell_safe", {"command": "cat", "args": [path]}).code == "path_refused"
        assert plugin.call("fs_read", {"path": "docs/a.md"}).code is None


def test_a_pattern_in_a_name_denies_nothing_else(tmp_path: Path, operator: Path) -> None:
    with opened(tmp_path, operator) as plugin:
        (tmp_path / "out" / "store 1").write_text("plain\n")
        assert plugin.call("fs_read", {"path": "out/store 1"}).code is None
