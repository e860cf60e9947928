"""`shell_safe`: run a command of the system that reads, without a shell.

Rules kept here:
- the commands are those of `actions.commands`, each with the arguments that its policy permits (`argument_policies`);
  its paths and `cwd` obey the rules of `paths`;
- it runs confined by the kernel: it can open the programs of the system and what `actions.read` allows, without what
  is denied and without files that have several names; no network, no other program's memory, no signal, nothing
  written. Where the kernel cannot do that it is refused, unless `actions.allowUnconfined`;
- the environment is empty but for what the command needs; 30 s; an output beyond 100 KB ends it. Its whole process
  group is killed at the end.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from cortex_skills.actions.action import ActionCall, AgentAction
from cortex_skills.actions.argument_policies import MAX_ARGUMENT, MAX_ARGUMENTS, CheckedArguments, checked_arguments
from cortex_skills.actions.child_output import ChildOutput, run_child
from cortex_skills.actions.manifest import COMMAND, ActionManifest
from cortex_skills.actions.paths import MAX_PATH, Workspace, refused
from cortex_skills.config.settings import ActionSettings
from cortex_skills.errors import CortexError
from cortex_skills.safe_io.schemas import shown

MAX_OUTPUT = 100_000
_PATH = "/usr/local/bin:/usr/bin:/bin"
_SYSTEM = ("/usr", "/bin", "/lib", "/lib32", "/lib64", "/libx32", "/etc/ld.so.cache", "/etc/ld.so.conf.d")
_MAX_ENTRIES = 20_000
_ENVIRONMENT = {
    "PATH": _PATH,
    "LANG": "C.UTF-8",
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
}


def shell_safe(settings: ActionSettings, workspace: Workspace) -> AgentAction:
    """The action for a workspace."""
    manifest = ActionManifest.of(
        {
            "id": "shell_safe",
            "name": "Run a command",
            "description": "Run a command of the system that reads files of the workspace; there is no shell.",
            "category": "shell",
            "inputs": {
                "command": {
                    "type": "string",
                    "required": True,
                    "description": f"One of {', '.join(settings.commands)}.",
                    "schema": {"format": COMMAND, "maxLength": 64},
                },
                "args": {
                    "type": "array",
                    "description": "Its arguments.",
                    "schema": {
                        "items": {"type": "string", "maxLength": MAX_ARGUMENT},
                        "maxItems": MAX_ARGUMENTS,
                        "default": [],
                    },
                },
                "cwd": {
                    "type": "string",
                    "description": "A folder of the workspace; the workspace itself when left out.",
                    "schema": {"maxLength": MAX_PATH, "default": "."},
                },
            },
            "outputs": {
                "stdout": {"type": "string", "required": True},
                "stderr": {"type": "string", "required": True},
                "exitCode": {"type": "integer", "required": True},
            },
            "risk": "high",
            "cost": "cheap",
            "minTrustLevel": "bounded_auto",
            "requiresApproval": True,
            "commandWhitelist": list(settings.commands),
        }
    )
    return AgentAction(manifest, partial(_run, workspace), partial(_check, workspace))


def _checked(workspace: Workspace, call: ActionCall) -> tuple[CheckedArguments, Path]:
    """The arguments and the working folder, when they are permitted."""
    given = call.inputs
    arguments = checked_arguments(given["command"], given["args"])
    folder = () if given["cwd"] == "." else workspace.parts_of(given["cwd"], call.settings.read, "cwd")
    for path in arguments.paths:
        if path.startswith("/"):
            raise refused("args", f"{shown(path)} is an absolute path", "give a path relative to cwd")
        if path != ".":
            workspace.parts_of("/".join((*folder, path)), call.settings.read, "args")
        elif not folder and given["command"] not in ("git", "find"):
            raise refused("args", "the workspace itself is not one of its folders", "name a folder")
    return arguments, workspace.root.joinpath(*folder)


def _check(workspace: Workspace, call: ActionCall) -> None:
    _checked(workspace, call)


def _run(workspace: Workspace, call: ActionCall) -> dict[str, Any]:
    arguments, folder = _checked(workspace, call)
    program = shutil.which(call.inputs["command"], path=_PATH)
    if program is None:
        raise CortexError("action_failed", f"this system has no {call.inputs['command']}", hint="install it")
    command = (str(Path(program).resolve()), *arguments.command)
    environment = _ENVIRONMENT | {"GIT_CEILING_DIRECTORIES": str(workspace.root.resolve().parent)}
    if sys.platform != "linux":
        if not call.settings.allow_unconfined:
            raise _not_confined("this system has no such protection")
        done = run_child(command, call, folder, environment, MAX_OUTPUT)
    else:
        done = _confined(workspace, call, command, folder, environment)
    return {
        "stdout": done.stdout.decode("utf-8", "replace"),
        "stderr": done.stderr.decode("utf-8", "replace"),
        "exitCode": done.exit_code,
    }


def _confined(
    workspace: Workspace, call: ActionCall, command: tuple[str, ...], folder: Path, env: dict[str, str]
) -> ChildOutput:
    from cortex_sandbox.isolation.confined_command import ConfinedCommand

    roots = [*call.settings.read, *([".git"] if call.inputs["command"] == "git" else [])]
    read, listed = readable(workspace, roots)
    timeout_s = call.manifest.limits.timeout_ms / 1000
    system = tuple(dict.fromkeys(str(Path(path).resolve()) for path in _SYSTEM if Path(path).exists()))
    confined = ConfinedCommand(
        command,
        tuple(read),
        system,
        tuple(listed),
        ("/dev/null",),
        cpu_s=int(timeout_s) + 1,
        needs_all=not call.settings.allow_unconfined,
    )
    done = run_child(confined, call, folder, env, MAX_OUTPUT)
    if done.lacking and confined.needs_all:
        raise _not_confined(", ".join(done.lacking))
    return done


def readable(workspace: Workspace, roots: list[str]) -> tuple[list[str], list[str]]:
    """The paths that a confined command may read, and the folders of which it may read the names only.

    A folder that holds nothing denied is one path; of any other, each entry that is not denied.

    Raises:
        CortexError: `action_failed`: the folders have too many entries to look through.

    """
    read: list[str] = []
    listed: list[str] = []
    top = workspace.root.resolve()
    left = [_MAX_ENTRIES]
    for root in roots:
        parts = tuple(part for part in root.split("/") if part)
        path = top.joinpath(*parts)
        is_git = parts == (".git",)
        if path.is_dir() and not path.is_symlink() and (is_git or not workspace.is_denied(parts)):
            paths, folders, is_whole = _of_folder(workspace, path, parts, left) if not is_git else ([], [], True)
            read += [str(path)] if is_whole else paths
            listed += [] if is_whole else folders
    return read, listed


def _of_folder(
    workspace: Workspace, path: Path, parts: tuple[str, ...], left: list[int]
) -> tuple[list[str], list[str], bool]:
    """The readable paths in a folder, the folders that are read in part, and whether all of it may be read."""
    read: list[str] = []
    listed = [str(path)]
    is_whole = True
    for entry in _entries(path):
        left[0] -= 1
        if left[0] < 0:
            raise CortexError(
                "action_failed", f"the folders that are read have more than {_MAX_ENTRIES:,} entries", hint="list fewer"
            )
        inner = (*parts, entry.name)
        if workspace.is_denied(inner) or entry.is_symlink():
            is_whole = is_whole and entry.is_symlink()
        elif entry.is_dir(follow_symlinks=False):
            paths, folders, whole = _of_folder(workspace, Path(entry.path), inner, left)
            read += [entry.path] if whole else paths
            listed += [] if whole else folders
            is_whole = is_whole and whole
        elif entry.stat(follow_symlinks=False).st_nlink > 1:
            is_whole = False
        else:
            read.append(entry.path)
    return read, listed, is_whole


def _entries(path: Path) -> Iterator[os.DirEntry[str]]:
    with os.scandir(path) as entries:
        yield from entries


def _not_confined(why: str) -> CortexError:
    return CortexError(
        "confinement_missing",
        f"shell_safe did not run: the kernel cannot confine it: {why}",
        hint="use a Linux with landlock and seccomp; actions.allowUnconfined runs it without",
    )
