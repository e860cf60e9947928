"""A plugin with installed artifacts, whose components are written as WebAssembly text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cortex_skills import Plugin
from cortex_skills.features.artifacts.artifact_operations import enable
from cortex_skills.features.artifacts.installed.grant_decisions import GrantAnswers
from cortex_skills.features.artifacts.package import write_archive
from tests.artifacts.samples import MANIFEST, payload, signed
from tests.configs import config
from tests.installed.conftest import trust
from tests.installed.samples import ALL, install_with
from tests.wasm.modules import ECHO, component

__all__ = ["trust"]


@pytest.fixture
def open_plugin(tmp_path: Path, trust: object) -> Iterator[Callable[..., Plugin]]:
    """A function that opens a plugin at trust level `bounded_auto`."""
    opened: list[Plugin] = []

    def open_(**settings: Any) -> Plugin:
        actions = {"trustLevel": "bounded_auto", **settings.pop("actions", {})}
        artifacts = {"folder": str(tmp_path / "artifacts"), **settings.pop("artifacts", {})}
        secrets = {"store": "file", "file": str(tmp_path / "secrets.json"), "key": str(tmp_path / "keys" / "secrets")}
        opened.append(Plugin.open(config(actions=actions, artifacts=artifacts, secrets=secrets, **settings)))
        return opened[-1]

    yield open_
    for plugin in opened:
        plugin.close()


@pytest.fixture
def plugin(open_plugin: Callable[..., Plugin]) -> Plugin:
    """A plugin with nothing installed."""
    return open_plugin()


def add(
    plugin: Plugin,
    module: bytes = component(ECHO),
    more: str = "",
    answers: GrantAnswers = ALL,
    *,
    version: str = "1.2.0",
    tool: Callable[[str], str] = lambda text: text,
) -> Any:
    """Install an artifact with the tool `acme.echo`.

    Args:
        plugin: where.
        module: that runs it.
        more: after the manifest: its capabilities.
        answers: what the user grants.
        version: of the artifact.
        tool: changes the text of the manifest.

    """
    text = tool(MANIFEST.replace("1.2.0", version))
    data = write_archive(signed(payload(text + more, {"modules/echo.wasm": module})))
    found = install_with(plugin, data, answers)
    if found.status == "quarantined":  # the audit finds what these tests are about
        plugin.operate(enable, by="ada", id=found.key.skill_id, version=version, override=True, reason="a test")
    return plugin.installed.find(found.key.skill_id, version)


@pytest.fixture
def notebook(tmp_path: Path) -> Path:
    """A skill that may remember and recall."""
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "SKILL.md").write_text(
        "---\nname: notes\ndescription: Remembers notes.\ntype: semantic\nsemantic:\n  version: 1\n"
        '  permissions: {memory: [remember, recall]}\n  skillVersion: "1.0.0"\n---\n'
    )
    return folder
