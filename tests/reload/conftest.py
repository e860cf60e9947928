"""Plugins whose skills are reloaded from real folders; closed at the end of a test."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cortex_skills import Plugin
from cortex_skills.lifecycle.reload.report import ReloadReport
from tests.configs import config
from tests.logs import logged_at_info  # noqa: F401 - a fixture of every test here
from tests.time_limits import LONG_MS, long_limits  # noqa: F401 - one too


@pytest.fixture
def opened() -> Iterator[Callable[..., Plugin]]:
    """Opens plugins with settings by name; those of `skillSandbox` may be given directly in `sandbox`."""
    plugins: list[Plugin] = []
    before = set(threading.enumerate())

    def open_plugin(*, sandbox: dict[str, Any] | None = None, approve: Any = False, **settings: Any) -> Plugin:
        limits = {"executionTimeoutMs": LONG_MS, "maxCallsPerMinute": 1000, "maxGraphQueries": 1000}
        limits |= sandbox or {}
        plugins.append(Plugin.open(config(skillSandbox=limits, **settings), agent="a1", approve=approve))
        return plugins[-1]

    yield open_plugin
    for plugin in plugins:
        plugin.close()
    new = set(threading.enumerate()) - before
    assert not [thread for thread in new if thread.name == "cortex-watcher"]


@pytest.fixture
def plugin(opened: Callable[..., Plugin]) -> Plugin:
    """A plugin that reloads on request."""
    return opened()


@pytest.fixture
def hot(opened: Callable[..., Plugin]) -> Plugin:
    """A plugin that watches what it loads."""
    return opened(hotReload=True)


class Reports:
    """Collects the reports of a plugin's reloads; a test waits for the one that it needs."""

    def __init__(self, plugin: Plugin) -> None:
        self.reports: list[ReloadReport] = []
        self._came = threading.Condition()
        plugin.on_reload(self._tell)

    def _tell(self, report: ReloadReport) -> None:
        with self._came:
            self.reports.append(report)
            self._came.notify_all()

    def wait(self, wanted: Callable[[ReloadReport], Any]) -> ReloadReport:
        """Wait for the first matching report; it and those before it are removed."""
        with self._came:
            for _ in range(200):
                for place, report in enumerate(self.reports):
                    if wanted(report):
                        del self.reports[: place + 1]
                        return report
                if not self._came.wait(100):
                    break
        raise AssertionError(f"there is no such report: {[report.to_json() for report in self.reports]}")

    def rejected(self, name: str, code: str) -> ReloadReport:
        """The report in which a skill is rejected."""
        return self.wait(lambda report: any((r.name, r.error.code) == (name, code) for r in report.rejected))

    def reloaded(self, name: str) -> ReloadReport:
        """The report in which a skill is reloaded."""
        return self.wait(lambda report: name in [item.name for item in report.reloaded])


@pytest.fixture
def skills(tmp_path: Path) -> Path:
    """A folder for skills."""
    folder = tmp_path / "skills"
    folder.mkdir()
    return folder
