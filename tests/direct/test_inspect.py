"""Debugging: the debugger's endpoint, and a skill that waits for it."""

from __future__ import annotations

import json
import socket
import threading
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cortex_sandbox import Limits, SandboxError
from cortex_sandbox.direct import DirectSandbox
from tests.ports import quiet_port

from .conftest import needs_node

pytestmark = needs_node


def targets(port: int) -> list[dict[str, Any]]:
    """The targets that the debugger's endpoint lists, as soon as it answers."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    end = time.monotonic() + 60
    while True:
        try:
            with opener.open(f"http://127.0.0.1:{port}/json/list", timeout=30) as answer:
                return list(json.load(answer))
        except OSError:  # it does not listen yet
            if time.monotonic() > end:
                raise
            time.sleep(0.02)


def test_a_debugger_finds_the_skill_waiting_for_it(
    folder: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    port = quiet_port()
    box = DirectSandbox(folder("export default {};"), limits=Limits(timeout_s=0.1), inspect=f"127.0.0.1:{port}")
    assert f"waits for a debugger on 127.0.0.1:{port}" in capsys.readouterr().err
    failures: list[BaseException] = []

    def load() -> None:
        try:
            box.load(timeout_s=0.1)  # no limit applies
        except SandboxError as error:
            failures.append(error)

    thread = threading.Thread(target=load)
    thread.start()
    try:
        (target,) = targets(port)
        assert "probe/skill." in target["url"]
        assert "probe/skill." in target["title"]
        assert target["webSocketDebuggerUrl"].startswith(f"ws://127.0.0.1:{port}/")
        assert thread.is_alive()
        assert failures == []
    finally:
        box.close()  # does not wait for the debugger
        thread.join()
    assert [type(error) for error in failures] == [SandboxError]


def test_a_port_in_use_is_an_error(folder: Callable[..., Path]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        box = DirectSandbox(folder("export default {};"), inspect=address)
        with box, pytest.raises(SandboxError, match="could not open the port for the debugger"):
            box.load()
