"""The environment variable that allows the direct mode, and the warning of each use.

Rules kept here:
- nothing runs unless an environment variable allows it: a configuration file alone cannot switch the sandbox off;
- every use prints a warning to the log and to standard error, at any log level.
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
    """Raise an error unless the direct mode is allowed and available.

    Raises:
        SandboxError: `DirectModeRefused` without one of `VARIABLES`, `DirectModeUnavailable` on this system.
    """
    if not any(environment.get(name) == "1" for name in VARIABLES):
        raise SandboxError(
            f"the direct mode is off: set {VARIABLES[0]}=1 (or {VARIABLES[1]}=1) in the environment to switch it on. "
            "It runs skills outside of the sandbox, with all privileges of your account: use it only for code that you "
            "would run yourself",
            "DirectModeRefused",
        )
    if os.name != "posix":
        raise SandboxError("the direct mode needs a POSIX system", "DirectModeUnavailable")


def warn(folder: Path, inspect: str | None) -> None:
    """Warn on standard error and in the log that a skill runs without a sandbox.

    Args:
        folder: the folder of the skill.
        inspect: the address where it waits for a debugger, if it does.
    """
    shown = ascii(str(folder))
    debugger = () if inspect is None else (f"It waits for a debugger on {inspect}, and no time limit applies.",)
    lines = (
        "WARNING: DIRECT MODE - THIS SKILL RUNS WITHOUT A SANDBOX",
        "",
        "It runs in Node.js with ALL PRIVILEGES OF YOUR ACCOUNT: it can read, change",
        "and delete your files, use the network, start programs and use your keys.",
        "No memory limit applies. Debug only skills that you trust, never in production.",
        "",
        f"Skill: {shown}",
        *debugger,
    )
    frame = "!" * (_WIDTH + 4)
    text = "\n".join(["", frame, *(f"! {line:<{_WIDTH}} !" for line in lines), frame, "", ""])
    if sys.stderr is not None:
        sys.stderr.write(text)
        sys.stderr.flush()
    log.warning("direct mode: the skill in %s runs without a sandbox, with all privileges of this account", shown)
