"""Skills in real folders, opened in the machine's Node.js, all closed when a test ends."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from cortex_sandbox import Sandbox, bundle
from cortex_sandbox.direct import DirectSandbox

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="the direct mode needs Node.js, and there is none")


@pytest.fixture(autouse=True)
def _asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CORTEX_UNSAFE_DIRECT_LOAD", "1")


@pytest.fixture
def folder(tmp_path: Path) -> Callable[..., Path]:
    """Writes a skill's folder: its skill.ts, and other files by name."""

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
    boxes: list[DirectSandbox] = []

    def open_skill(code: str, *, files: Mapping[str, str] | None = None, **given: Any) -> DirectSandbox:
        boxes.append(DirectSandbox(folder(code, files), **given))
        boxes[-1].load()
        return boxes[-1]

    yield open_skill
    for box in boxes:
        box.close()


@pytest.fixture
def both(opened: Callable[..., DirectSandbox]) -> Iterator[Callable[..., tuple[Sandbox, DirectSandbox]]]:
    """Opens the same skill in the sandbox and in the direct mode."""
    boxes: list[Sandbox] = []

    def open_both(code: str, *, files: Mapping[str, str] | None = None, **given: Any) -> tuple[Sandbox, DirectSandbox]:
        boxes.append(Sandbox(**given))
        boxes[-1].load_module(bundle({"skill.ts": code, **(files or {})}))
        return boxes[-1], opened(code, files=files, **given)

    yield open_both
    for box in boxes:
        box.close()


def is_running(pid: int) -> bool:
    """Whether a process with this id is there, be it only as a zombie."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
