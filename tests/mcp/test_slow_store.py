"""A client is answered what the server is before the store is read: it gives up a server that does not answer."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from threading import Event

import pytest
from mcp import Client
from mcp.client import session

from cortex_skills import Plugin
from cortex_skills.doors.http.worker_pools import WorkerPool
from cortex_skills.doors.mcp.caller import SessionCaller
from cortex_skills.doors.mcp.mcp_server import build
from cortex_skills.doors.mcp.served_skills import ServedSkills
from tests.configs import config
from tests.server.serving import WAIT_S


@pytest.fixture
def opened() -> Iterator[Event]:
    """Set when the store is open."""
    event = Event()
    yield event
    event.set()


@pytest.mark.parametrize(("mode", "version"), [("auto", "2026-07-28"), ("legacy", "2025-11-25")])
def test_a_client_connects_while_the_store_is_being_opened(
    skill: Path, opened: Event, monkeypatch: pytest.MonkeyPatch, mode: str, version: str
) -> None:
    monkeypatch.setattr(session, "DISCOVER_TIMEOUT_SECONDS", WAIT_S / 2)

    async def test() -> None:
        with Plugin.open(config(store="memory:")) as plugin, closing(WorkerPool("mcp", 2, 8, deep=True)) as pool:
            plugin.load(skill)
            served = ServedSkills(plugin, plugin.skills)  # they are not loaded yet
            built = build(plugin, pool, lambda _: SessionCaller(), served=served)
            monkeypatch.setattr(built.changes, "_revision", lambda: str(opened.wait(WAIT_S)))
            async with Client(built.server, mode=mode) as client:
                assert client.protocol_version == version
                listing = asyncio.create_task(client.list_tools())
                await asyncio.sleep(0)
                assert not listing.done()
                served.load(lambda: None, lambda: None)
                opened.set()
                assert "skill_assert" in [tool.name for tool in (await listing).tools]

    asyncio.run(asyncio.wait_for(test(), WAIT_S))
