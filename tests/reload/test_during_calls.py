"""Many saves while eight threads query: no call fails, no answer mixes versions, and nothing leaks."""

from __future__ import annotations

import gc
import os
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cortex_skills import Plugin
from tests.plugin.skills import living_sandboxes, write_skill
from tests.reload.versions import version_of

Opened = Callable[..., Plugin]

THREADS = 8
SAVES = 60
WATCHED_SAVES = 50
ROOM = {"maxCallsPerMinute": 1000, "maxGraphQueries": 100_000}


def save(folder: Path, version: int) -> None:
    """A version that has its number in two files and in its state."""
    helper = f"export const version = {version};"
    code = f"""import {{ version }} from "./version";
    let kept = 0;
    export default {{
      name: {folder.name!r},
      onActivate() {{ kept = {version}; }},
      async onQuery({{ results }}) {{
        const {{ matches }} = await graphClient.patternQuery({{ predicate: "p" }});
        const same = version === {version} && kept === {version} && matches.length === results.length;
        return {{ additionalContext: same ? "version {version} is whole" : "mixed" }};
      }},
    }};"""
    beside = folder.parent / "beside"
    write_skill(beside / folder.name, code, files={"version.ts": helper}, skillVersion=f"{version}.0.0")
    # Three files are not saved in one step: a reader in between finds a mixture.
    for name in ("version.ts", "skill.ts", "SKILL.md"):
        (beside / folder.name / name).replace(folder / name)


class Fire:
    """Threads that query until they are stopped."""

    def __init__(self, plugin: Plugin) -> None:
        self.plugin = plugin
        self.answers: Counter[str] = Counter()
        self.wrong: list[str] = []
        self._stop = threading.Event()
        self._lock = threading.Lock()

    @contextmanager
    def burning(self) -> Iterator[None]:
        threads = [threading.Thread(target=self._ask, args=(number,)) for number in range(THREADS)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._stop.set()
            for thread in threads:
                thread.join()

    def _ask(self, number: int) -> None:
        arguments = {"predicate": "p", "scope": "namespace"}
        while not self._stop.wait(0.02):  # leave the interpreter to other threads
            result = self.plugin.call("skill_graph_query", arguments, skill="kyc", agent=f"a{number}")
            version = result.text.partition("version ")[2].partition(" is whole")[0]
            with self._lock:
                self.answers[version] += 1
                if result.is_error or result.details["enrichment"]["status"] != "ok" or not version:
                    self.wrong.append(f"{result.text} {result.details}")


def left_over() -> tuple[int, int, int, int]:
    """Sandboxes, threads, open files, and the memory of this process in MiB."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    memory = pages * os.sysconf("SC_PAGE_SIZE") >> 20
    return living_sandboxes(), threading.active_count(), len(list(Path("/proc/self/fd").iterdir())), memory


@pytest.fixture
def folder(skills: Path) -> Path:
    folder = skills / "kyc"
    folder.mkdir()
    save(folder, 0)
    return folder


@pytest.mark.slow
@pytest.mark.extended
@pytest.mark.timeout(600)
@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="reads what is left over from /proc")
def test_many_saves_during_calls(opened: Opened, folder: Path) -> None:
    plugin = opened(sandbox=ROOM)
    plugin._host.limits.own.rate.max_calls = 10**9
    plugin._host.limits.own.budgets.max_graph_queries = 10**9
    plugin.load(folder)
    plugin.graph.create_triple({"subject": "s", "predicate": "p", "object": 1})
    fire = Fire(plugin)
    after_warm_up = None
    with fire.burning():
        for version in range(1, SAVES + 1):
            save(folder, version)
            report = plugin.reload()
            assert [item.version for item in report.reloaded] == [f"{version}.0.0"]
            if version == SAVES // 2:
                after_warm_up = left_over()
    assert fire.wrong == []
    assert len(fire.answers) > SAVES / 10
    assert after_warm_up is not None
    sandboxes, threads, files, memory = left_over()

    assert sandboxes == 1
    assert threads <= after_warm_up[1]
    assert files <= after_warm_up[2] + 2
    assert memory <= after_warm_up[3] + 64


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="reads what is left over from /proc")
def test_fifty_watched_saves_during_calls(opened: Opened, folder: Path) -> None:
    before = left_over()
    plugin = opened(sandbox=ROOM, hotReload=True)
    plugin._host.limits.own.rate.max_calls = 10**9
    plugin._host.limits.own.budgets.max_graph_queries = 10**9
    plugin.load(folder)
    plugin.graph.create_triple({"subject": "s", "predicate": "p", "object": 1})
    fire = Fire(plugin)
    came = threading.Event()
    plugin.on_reload(lambda _: came.set())
    pause = random.Random(5)
    # Mixtures between two of the three saves are rejected; active versions are complete.
    with fire.burning():
        for version in range(1, WATCHED_SAVES + 1):
            came.clear()
            save(folder, version)
            if pause.random() < 0.5:
                assert came.wait(100)
        while plugin.skills["kyc"].semantic.skill_version != f"{WATCHED_SAVES}.0.0":
            assert plugin.is_watching
            came.wait(0.1)
    assert [answer for answer in fire.wrong if "mixed" not in answer] == []
    assert plugin.status()["hotReload"]["rejected"] == []
    plugin.close()
    sandboxes, threads, files, _ = left_over()
    assert (sandboxes, threads <= before[1] + THREADS + 4, files <= before[2] + 4) == (0, True, True)


def test_no_answer_mixes_versions(plugin: Plugin, folder: Path) -> None:
    plugin.load(folder)
    assert "version 0 is whole" in plugin.call("skill_graph_query", {"predicate": "p", "scope": "namespace"}).text
    assert version_of(plugin, "kyc") == ""
