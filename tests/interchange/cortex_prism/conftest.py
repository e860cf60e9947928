"""A server for clients of CortexPrism, and a plugin for agents that use its three tools."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import httpx
import pytest

from cortex_skills import Plugin
from tests.configs import config
from tests.plugin.skills import write_skill
from tests.server.serving import Running, served

_NUMBERS = count()


@pytest.fixture(scope="package")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`skills`, which the registry reads, and `out`, to which it exports."""
    root = tmp_path_factory.mktemp("cortex-prism")
    for name in ("skills", "out"):
        (root / name).mkdir()
    return root


@pytest.fixture(scope="package")
def running(tmp_path_factory: pytest.TempPathFactory, folders: Path) -> Iterator[Running]:
    registry = {"exportRoot": str(folders / "out"), "folders": [str(folders / "skills")]}
    with served(tmp_path_factory.mktemp("server"), registry=registry) as server:
        yield server


@pytest.fixture
def client(running: Running) -> httpx.Client:
    """A client with a person's token for everything, and a registry of its own."""
    namespace = f"prism{next(_NUMBERS)}"
    permissions = ("read", "write", "registry")
    return running.client(running.token(namespace, (namespace,), permissions, "person"))


@pytest.fixture
def plugin(tmp_path: Path) -> Iterator[Plugin]:
    """A plugin with an agent that reads, writes and manages registered skills."""
    granted = {"registry": ["read", "learn", "manage"]}
    write_skill(tmp_path / "skills" / "agent", permissions=granted, assertions=[])
    settings = config(skillSandbox={"maxCallsPerMinute": 1000}, tools={"profiles": ["core", "registry"]})
    with Plugin.open(settings, agent="a1", registers=False) as opened:
        opened.load(tmp_path / "skills")
        yield opened
