"""A plugin whose agent may read and write registered skills, with folders to import from and export to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cortex_graph.store import Pattern
from cortex_skills import Plugin
from tests.configs import config
from tests.interchange.ai_memory.tool_calls import OTHER
from tests.plugin.skills import write_skill
from tests.registry.records import own_records


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Plugin, Path]]:
    folder = tmp_path_factory.mktemp("tools")
    granted = {"registry": ["read", "learn"], "memory": ["recall", "remember"]}
    write_skill(folder / "skills/learner", permissions=granted, assertions=[])
    for name in ("in", "out"):
        (folder / name).mkdir()
    registry = {
        "importRoot": str(folder / "in"),
        "exportRoot": str(folder / "out"),
        "reflectionNamespaces": [OTHER, "budget.v2"],
    }
    settings = config(skillSandbox={"maxCallsPerMinute": 5000}, registry=registry)
    with Plugin.open(settings, agent="a1", registers=False) as plugin:
        plugin.load(folder / "skills")
        yield plugin, folder


@pytest.fixture
def plugin(shared: tuple[Plugin, Path]) -> Iterator[Plugin]:
    plugin, _ = shared
    yield plugin
    for record in own_records(plugin.registry):
        plugin.registry.purge(record.key, actor="tests")
    for graph in plugin.graph.store.graph_names():
        if "/memories/" in graph.value:
            plugin.graph.store.apply(remove=list(plugin.graph.store.quads(Pattern(graph))))


@pytest.fixture
def folders(shared: tuple[Plugin, Path], tmp_path: Path) -> tuple[Path, Path, str]:
    """The folders to register from and to export to, and a name for this test."""
    return shared[1] / "in", shared[1] / "out", tmp_path.name[-60:]
