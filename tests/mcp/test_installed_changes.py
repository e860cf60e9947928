"""Clients of MCP are notified of changes, also after a failure of the store."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from mcp.shared.subscriptions import ToolsListChanged

from cortex_skills.errors import CortexError
from cortex_skills.server.mcp.list_changes import ListChanges
from tests.mcp import skills
from tests.mcp.conftest import over_http
from tests.mcp.test_clients import run
from tests.server.serving import WAIT_S, Running


def test_clients_are_notified_after_a_time_in_which_the_store_does_not_answer(
    running: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed, read = [], ListChanges._lists

    def fails_once(changes: ListChanges) -> Any:
        if not failed:
            failed.append(True)
            raise CortexError("graph_unavailable", "the store does not answer", hint="wait")
        return read(changes)

    async def test() -> None:
        async with over_http(running, "of-the-host") as client, client.listen(tools_list_changed=True) as changes:
            monkeypatch.setattr("cortex_skills.server.mcp.list_changes._LOOK_S", 0.05)
            monkeypatch.setattr(ListChanges, "_lists", fails_once)
            await asyncio.to_thread(running.plugin.load, skills.write(tmp_path / "more", "other-desk"))
            event = await asyncio.wait_for(anext(aiter(changes)), WAIT_S)
            assert isinstance(event, ToolsListChanged)
            assert failed

    run(test())
