"""A plugin with a workspace and a journal, as an operator of MetaHuman OS sets it up."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from cortex_skills import Plugin
from tests.actions.conftest import operator
from tests.configs import config

__all__ = ["operator"]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A folder with the folders of the original."""
    root = tmp_path / "work"
    for name in ("docs", "out", "logs", "memory", "persona", "etc", "brain", "out-evil"):
        (root / name).mkdir(parents=True)
    (root / "docs" / "a.txt").write_text("one\ntwo\n")
    (root / "out-evil" / "a.txt").write_text("not for agents")
    return root


@pytest.fixture
def at_level(operator: Path, workspace: Path, tmp_path: Path) -> Iterator[Callable[..., Plugin]]:
    """Opens a plugin at a trust level."""
    with ExitStack() as stack:

        def opened(level: str, **actions: Any) -> Plugin:
            settings = {"workspace": str(workspace), "trustLevel": level, "agents": {"nap": {"command": ["true"]}}}
            journal = {"journal": "on", "folder": str(tmp_path / "audit")}
            plugin = Plugin.open(
                config(actions=settings | actions, audit=journal, tools={"profiles": ["core", "operator"]})
            )
            stack.enter_context(plugin)
            plugin.load(operator)
            return plugin

        yield opened


@pytest.fixture
def entries(tmp_path: Path) -> Callable[[], list[dict[str, Any]]]:
    """Reads the journal as a reader of the original does: a JSON object a line, in files a day."""

    def read() -> list[dict[str, Any]]:
        files = sorted((tmp_path / "audit").glob("*.ndjson"))
        return [json.loads(line) for file in files for line in file.read_text().splitlines()]

    return read
