"""Plugins and skills for the tests, made of real parts; closed at the end of a test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cortex_skills import Plugin
from tests.configs import config
from tests.logs import logged_at_info  # noqa: F401 - a fixture of every test here
from tests.plugin.skills import write_skill
from tests.time_limits import LONG_MS, long_limits  # noqa: F401 - one too


@pytest.fixture
def opened() -> Iterator[Callable[..., Plugin]]:
    """Opens plugins with settings by name; those of `skillSandbox` may be given directly in `sandbox`."""
    plugins: list[Plugin] = []

    def open_plugin(*, sandbox: dict[str, Any] | None = None, agent: str = "a1", **settings: Any) -> Plugin:
        limits = {"executionTimeoutMs": LONG_MS, "maxCallsPerMinute": 1000, "maxGraphQueries": 1000}
        limits |= sandbox or {}
        plugins.append(Plugin.open(config(skillSandbox=limits, **settings), agent=agent))
        return plugins[-1]

    yield open_plugin
    for plugin in plugins:
        plugin.close()


@pytest.fixture
def plugin(opened: Callable[..., Plugin]) -> Plugin:
    """A plugin on a store in memory, with no skill active yet."""
    return opened()


@pytest.fixture
def skill(tmp_path: Path) -> Callable[..., Path]:
    """Writes a skill's folder: `skill("name", code, files={}, …)`; see `write_skill`."""

    def write(name: str = "probe", code: str | None = None, **given: Any) -> Path:
        return write_skill(tmp_path / name, code, **given)

    return write
