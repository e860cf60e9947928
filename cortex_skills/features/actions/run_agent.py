"""`run_agent`: start one of the programs that the configuration names.

Rules kept here:
- programs are entries of `actions.agents`, each a command as a list: an agent chooses a name, and no argument; a person
  who approves is shown the command;
- of each one instance runs at a time, on this machine: it holds a lock while it, or a process that it left, runs;
- it gets the environment variables of its entry only, and `PATH`; no input; it ends after its timeout, and with the
  plugin, its whole process group with it;
- what it writes goes to a log in the user's data folder, at most 1 MiB, then it is ended. It is not confined: the owner
  chose it.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import threading
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from cortex_skills.errors import CortexError
from cortex_skills.features.actions.action import ActionCall, AgentAction, too_late
from cortex_skills.features.actions.action_settings import ActionSettings
from cortex_skills.features.actions.manifest import ActionManifest
from cortex_skills.features.actions.paths import Workspace
from cortex_skills.safe_io.private_files import make_private_folder

MAX_LOG = 1 << 20
TIMEOUT_MS = 600_000
MAX_TIMEOUT_MS = 3_600_000
_STEP_S = 0.05
_CHUNK = 1 << 16


def run_agent(settings: ActionSettings, workspace: Workspace) -> AgentAction:
    """The action for the programs of the settings."""
    names = sorted(settings.agents)
    longest = max(int(entry.get("timeoutMs", TIMEOUT_MS)) for entry in settings.agents.values())
    manifest = ActionManifest.of(
        {
            "id": "run_agent",
            "name": "Start an agent",
            "description": f"Start one of the programs {', '.join(names)}; with wait, until it ends."[:1024],
            "category": "agent",
            "inputs": {
                "agentName": {"type": "string", "required": True, "schema": {"enum": names}},
                "wait": {
                    "type": "boolean",
                    "description": "Whether the answer has its exit code.",
                    "schema": {"default": False},
                },
            },
            "outputs": {"pid": {"type": "integer", "required": True}, "exitCode": {"type": "integer"}},
            "risk": "medium",
            "cost": "expensive",
            "minTrustLevel": "supervised_auto",
            "requiresApproval": True,
            "limits": {"timeoutMs": min(longest, MAX_TIMEOUT_MS)},
        }
    )
    programs = AgentPrograms(settings, workspace)
    return AgentAction(manifest, programs.run, preview=programs.preview, close=programs.close)


class AgentPrograms:
    """The programs of one plugin that run."""

    def __init__(self, settings: ActionSettings, workspace: Workspace) -> None:
        self._settings = settings
        self._workspace = workspace
        self._running: set[_Program] = set()
        self._changing = threading.Lock()

    def preview(self, call: ActionCall) -> str:
        """The command that is run."""
        entry = self._settings.agents[call.inputs["agentName"]]
        return f"what this program changes; it runs, in {entry.get('folder', '.')}:\n{shlex.join(entry['command'])}"

    def run(self, call: ActionCall) -> dict[str, Any]:
        """Start a program; see `AgentAction.run`.

        Raises:
            CortexError: `action_failed`: it runs already, or cannot be started; `cancelled` or `action_timeout` while
                it is waited for, and then it was ended.
        """
        name = call.inputs["agentName"]
        entry = self._settings.agents[name]
        parts = self._workspace.plain_parts(entry["folder"], "folder") if "folder" in entry else ()
        with self._workspace.folder(parts, "folder") as folder:
            program = _Program(name, entry, folder)
        with self._changing:
            self._running = {one for one in self._running if not one.ended.is_set()} | {program}
        if not call.inputs["wait"]:
            return {"pid": program.pid}
        try:
            while not program.ended.wait(_STEP_S):
                call.check_time()
        except CortexError:
            program.end()
            raise
        if program.is_late:
            raise too_late(call.manifest)
        return {"pid": program.pid, "exitCode": program.exit_code}

    def close(self) -> None:
        """End the programs that run."""
        for program in tuple(self._running):
            program.end()


class _Program:
    """One program that runs, and the thread that watches it."""

    def __init__(self, name: str, entry: dict[str, Any], folder: int) -> None:
        from platformdirs import user_data_path

        place = user_data_path("cortex-skills", appauthor=False) / "agents"
        make_private_folder(place)
        lock = _locked(place / f"{name}.lock", name)
        kept = {key: os.environ[key] for key in ("PATH", *entry.get("environment", ())) if key in os.environ}
        try:
            self._child = subprocess.Popen(  # noqa: S603 - the command of the owner's configuration
                entry["command"],
                cwd=f"/proc/self/fd/{folder}" if Path("/proc/self/fd").exists() else None,
                env=kept,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                pass_fds=[lock, folder],
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise _failed(name, f"cannot be started: {getattr(error, 'strerror', error)}") from None
        finally:
            os.close(lock)
        self.pid = self._child.pid
        self.exit_code = 0
        self.is_late = False
        self.ended = threading.Event()
        deadline = time.monotonic() + entry.get("timeoutMs", TIMEOUT_MS) / 1000
        log = place / f"{name}.log"
        threading.Thread(target=partial(self._watch, log, deadline), name=f"cortex-agent-{name}", daemon=True).start()

    def end(self) -> None:
        """End it and its process group, and wait until it has ended."""
        self._kill()
        self.ended.wait(5.0)

    def _kill(self) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)

    def _watch(self, log: Path, deadline: float) -> None:
        """Write its output to the log until it ends."""
        assert self._child.stdout is not None  # noqa: S101 - it has a pipe
        timer = threading.Timer(max(0.0, deadline - time.monotonic()), self._late)
        timer.daemon, timer.name = True, "cortex-agent-deadline"
        timer.start()
        left = MAX_LOG
        try:
            with os.fdopen(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600), "wb") as file:
                while chunk := self._child.stdout.read1(_CHUNK):  # type: ignore[attr-defined]
                    file.write(chunk[:left])
                    left -= len(chunk)
                    if left < 0:
                        break
        except OSError:
            pass
        finally:
            if left < 0:
                self._kill()
            self.exit_code = self._child.wait()
            timer.cancel()
            self._kill()
            self._child.stdout.close()
            self.ended.set()

    def _late(self) -> None:
        self.is_late = True
        self._kill()


def _locked(path: Path, name: str) -> int:
    """A descriptor with the lock of a program, which every process that inherits it holds."""
    import fcntl

    held = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(held)
        raise _failed(name, "runs already, and one instance runs at a time") from None
    return held


def _failed(name: str, what: str) -> CortexError:
    return CortexError("action_failed", f"agentName: {name} {what}", hint="try again later, or ask the owner")
