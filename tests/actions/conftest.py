"""Plugins with a skill that allows every tool, and actions of a host."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from cortex_skills import Plugin
from tests.configs import config

SKILL = """\
---
name: operator
description: Acts.
type: semantic
semantic:
  version: 1
  permissions: {memory: [recall, remember]}
  allowedTools: ["*"]
  skillVersion: "1.0.0"
---
"""


@pytest.fixture(scope="session")
def operator(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a skill that allows every tool."""
    folder = tmp_path_factory.mktemp("skills") / "operator"
    folder.mkdir()
    (folder / "SKILL.md").write_text(SKILL)
    return folder


@pytest.fixture
def acting(operator: Path) -> Iterator[Callable[..., Plugin]]:
    """Opens plugins with that skill, with settings of the section `actions`."""
    with ExitStack() as stack:

        def opened(**actions: Any) -> Plugin:
            plugin = stack.enter_context(Plugin.open(config(actions=actions, tools={"profiles": ["operator"]})))
            plugin.load(operator)
            return plugin

        yield opened
