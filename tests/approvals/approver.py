"""A process that approves a request: `approver.py STORE SKILL FILE ID [STEP]`; the action appends a line to FILE.

It prints the state of the request, or the code of the error. With a STEP (`resolve`, `start`, `run` or `finish`) it
prints that step after it was made, and waits to be killed.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cortex_graph import GraphError
from cortex_skills import CortexError, Plugin
from cortex_skills.features.actions.action import ActionCall
from tests.actions.manifests import manifest
from tests.configs import config

APPEND = manifest(
    id="append_line",
    name="Append a line",
    description="Appends a line to a file.",
    category="fs",
    outputs={"size": {"type": "integer", "required": True}},
    risk="medium",
    limits={"perMinute": 1000},
)


def opened(store: str, skill: Path, file: Path, *, serves: bool = False, **settings: Any) -> Plugin:
    """A plugin with a skill and the action."""

    def append(call: ActionCall) -> dict[str, Any]:
        with file.open("a") as lines:
            lines.write(f"{call.inputs['text']}\n")
        return {"size": file.stat().st_size}

    plugin = Plugin.open(config(store=store, tools={"profiles": ["operator"]}, **settings), serves=serves)
    plugin.actions.register(APPEND, append, preview=lambda call: f"+{call.inputs['text']}")
    plugin.load(skill)
    return plugin


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def stop_after(owner: Any, name: str, step: str) -> None:
    """Print a step after a method was called, and wait to be killed."""
    method: Callable[..., Any] = getattr(owner, name)

    def call(*arguments: Any, **named: Any) -> Any:
        result = method(*arguments, **named)
        say(step)
        time.sleep(60)
        return result

    setattr(owner, name, call)


def main(store: str, skill: str, file: str, approval_id: str, step: str = "") -> None:
    """Approve the request."""
    with opened(store, Path(skill), Path(file)) as plugin:
        if step == "run":
            stop_after(plugin.approvals, "_run", step)
        elif step:
            stop_after(plugin.approvals._queue, step, step)
        say("ready")
        sys.stdin.readline()
        try:
            say(plugin.approvals.state_of(plugin.approvals.approve(approval_id, by="ada")))
        except (CortexError, GraphError) as error:
            say(error.code)


if __name__ == "__main__":
    main(*sys.argv[1:])
