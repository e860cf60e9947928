"""Fixtures: skills in folders, opened in Node.js and closed at the end of the test."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from cortex_sandbox import Limits, Sandbox, bundle
from cortex_sandbox.direct import DirectSandbox

# A time limit in seconds for calls that must succeed on a busy machine.
PATIENCE_S = 60.0
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="the direct mode needs Node.js, and there is none")


@pytest.fixture(autouse=True)
def _asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CORTEX_UNSAFE_DIRECT_LOAD", "1")


@pytest.fixture
def folder(tmp_path: Path) -> Callable[..., Path]:
    """Writes a skill's folder: skill.ts, and other files by name."""

    def write(code: str, files: Mapping[str, str] | None = None) -> Path:
        home = tmp_path / "probe"
        for name, text in {"skill.ts": code, **(files or {})}.items():
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_text(text, encoding="utf-8")
        return home

    return write


@pytest.fixture
def opened(folder: Callable[..., Path]) -> Iterator[Callable[..., DirectSandbox]]:
    """Opens a skill's code in the direct mode, loaded."""
    with ExitStack() as closing:

        def open_skill(code: str, *, files: Mapping[str, str] | None = None, **given: Any) -> DirectSandbox:
            box = closing.enter_context(DirectSandbox(folder(code, files), **_patient(given)))
            box.load(timeout_s=PATIENCE_S)
            return box

        yield open_skill


@pytest.fixture
def both(opened: Callable[..., DirectSandbox]) -> Iterator[Callable[..., tuple[Sandbox, DirectSandbox]]]:
    """Opens the same skill in the sandbox and in the direct mode."""
    with ExitStack() as closing:

        def open_both(
            code: str, *, files: Mapping[str, str] | None = None, **given: Any
        ) -> tuple[Sandbox, DirectSandbox]:
            box = closing.enter_context(Sandbox(**_patient(given)))
            box.load_module(bundle({"skill.ts": code, **(files or {})}))
            return box, opened(code, files=files, **given)

        yield open_both


def _patient(given: dict[str, Any]) -> dict[str, Any]:
    return {"limits": Limits(timeout_s=PATIENCE_S), **given}


def is_running(pid: int) -> bool:
    """Whether a process with this id exists, possibly as a zombie."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
