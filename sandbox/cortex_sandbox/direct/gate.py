"""Whether the direct mode may be used, and what everybody is told who uses it.

Rules kept here:
- nothing runs unless the environment says so in as many words: a configuration alone cannot switch the sandbox off;
- whoever opens it is warned, each time, in the log and on standard error, whatever the log is set to.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from cortex_sandbox.errors import SandboxError

VARIABLES = ("MAYROS_UNSAFE_DIRECT_LOAD", "CORTEX_UNSAFE_DIRECT_LOAD")
_WIDTH = 78

log = logging.getLogger(__name__)


def check_allowed(environment: Mapping[str, str] = os.environ) -> None:
    """Go on only where the direct mode was asked for and can be had.

    Raises:
        SandboxError: `DirectModeRefused` without one of `VARIABLES`, `DirectModeUnavailable` on this system.

    """
    if not any(environment.get(name) == "1" for name in VARIABLES):
        raise SandboxError(
            f"the direct mode is off: set {VARIABLES[0]}=1 (or {VARIABLES[1]}=1) in the environment to switch it on. "
            "It runs skills outside of the sandbox, with every right of your account: do that only with code that you "
            "would run yourself",
            "DirectModeRefused",
        )
    if os.name != "posix":
        raise SandboxError("the direct mode needs process groups and pipes as POSIX has them", "DirectModeUnavailable")


def warn(folder: Path, inspect: str | None) -> None:
    """Say on standard error and in the log that the skill of this folder runs without a sandbox.

    Args:
        folder: of the skill.
        inspect: where it will wait for a debugger.

    """
    shown = ascii(str(folder))
    debugger = () if inspect is None else (f"It waits for a debugger on {inspect}, and no time limit applies.",)
    lines = (
        "WARNING: DIRECT MODE - THIS SKILL RUNS WITHOUT A SANDBOX",
        "",
        "It runs in Node.js with EVERY RIGHT OF YOUR ACCOUNT: it can read, change",
        "and delete your files, use the network, start programs and use your keys.",
        "No memory limit applies. Debug skills that you trust; serve nobody with it.",
        "",
        f"Skill: {shown}",
        *debugger,
    )
    frame = "!" * (_WIDTH + 4)
    text = "\n".join(["", frame, *(f"! {line:<{_WIDTH}} !" for line in lines), frame, "", ""])
    if sys.stderr is not None:
        sys.stderr.write(text)
        sys.stderr.flush()
    log.warning("direct mode: the skill in %s runs without a sandbox, with every right of this account", shown)
