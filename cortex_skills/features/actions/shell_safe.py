"""`shell_safe`: run a command of the system that reads, without a shell.

Rules kept here:
- the commands are those of `actions.commands`, each with the arguments that its policy permits (`argument_policies`);
  its paths and `cwd` obey the rules of `paths`, and it starts in the folder that was opened by them;
- it runs confined by the kernel: it can open the programs of the system and what `actions.read` allows, without what
  is denied and without files that have several names (`readable_paths`); no network, no other process, no program
  besides it, nothing written or changed. Where the kernel cannot do that it is refused, unless
  `actions.allowUnconfined`;
- no configuration in the workspace has it run anything: git sees a repository without its configuration (`git_view`),
  and the files from which another command would take what it runs are hidden from it;
- a person is shown the command with all that is added to it;
- the environment is empty but for what the command needs; 30 s; an output beyond 100 KB ends it. Its whole process
  group is killed at the end.
"""

from __future__ import annotations

import shlex
import shutil
import sys
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from cortex_skills.errors import CortexError
from cortex_skills.features.actions.action import ActionCall, AgentAction
from cortex_skills.features.actions.action_settings import ActionSettings
from cortex_skills.features.actions.argument_policies import (
    MAX_ARGUMENT,
    MAX_ARGUMENTS,
    POLICIES,
    CheckedArguments,
    checked_arguments,
)
from cortex_skills.features.actions.child_output import run_child
from cortex_skills.features.actions.git_view import git_view
from cortex_skills.features.actions.manifest import COMMAND, ActionManifest
from cortex_skills.features.actions.paths import MAX_PATH, Parts, Workspace, refused
from cortex_skills.features.actions.readable_paths import apart_from, readable
from cortex_skills.safe_io.schemas import shown

MAX_OUTPUT = 100_000
_PATH = "/usr/local/bin:/usr/bin:/bin"
_SYSTEM = ("/usr", "/bin", "/lib", "/lib32", "/lib64", "/libx32", "/etc/ld.so.cache", "/etc/ld.so.conf.d")


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
            "cost": "expensive",
            "minTrustLevel": "bounded_auto",
            "requiresApproval": True,
            "commandWhitelist": list(settings.commands),
        }
    )
    return AgentAction(manifest, partial(_run, workspace), partial(_check, workspace), partial(_preview, workspace))


def _checked(workspace: Workspace, call: ActionCall) -> tuple[CheckedArguments, Parts]:
    """The arguments and the working folder, when they are permitted."""
    given = call.inputs
    arguments = checked_arguments(given["command"], given["args"])
    folder = () if given["cwd"] == "." else workspace.parts_of(given["cwd"], call.settings.read, "cwd")
    for path in arguments.paths:
        if path.startswith("/"):
            raise refused("args", f"{shown(path)} is an absolute path", "give a path relative to cwd")
        if given["command"] == "git" and path.startswith(":"):  # what it means is not below cwd: gitglossary(7)
            raise refused("args", f"{shown(path)} is a pathspec with magic", "give a plain path")
        if path != ".":
            workspace.parts_of("/".join((*folder, path)), call.settings.read, "args")
        elif not folder and given["command"] not in ("git", "find"):
            raise refused("args", "the workspace itself is not one of its folders", "name a folder")
    return arguments, folder


def _check(workspace: Workspace, call: ActionCall) -> None:
    _checked(workspace, call)


def _started(command: str, arguments: CheckedArguments) -> tuple[str, tuple[str, ...]]:
    """The path of the program of a command, and its words. What is a script of node is started by node."""
    found = shutil.which(command, path=_PATH)
    if found is None:
        raise CortexError("action_failed", f"this system has no {command}", hint="install it")
    program = str(Path(found).resolve())
    with Path(program).open("rb") as file:
        line = file.read(256).partition(b"\n")[0].decode("utf-8", "replace")
    if not line.startswith("#!"):
        return program, (command, *arguments.command)
    if line[2:].split() not in (["/usr/bin/env", "node"], ["/usr/bin/node"], ["/usr/local/bin/node"]):
        hint = "install the program itself, or as a script of node"
        raise CortexError("action_failed", f"{command} is a script here, which would start other programs", hint=hint)
    node, words = _started("node", CheckedArguments((program, *arguments.command), ()))
    return node, words


def _preview(workspace: Workspace, call: ActionCall) -> str:
    """The command as it is run."""
    arguments, _ = _checked(workspace, call)
    program, words = _started(call.inputs["command"], arguments)
    return f"nothing; it runs, in {call.inputs['cwd']}:\n{shlex.join((program, *words[1:]))}"


def _run(workspace: Workspace, call: ActionCall) -> dict[str, Any]:
    arguments, parts = _checked(workspace, call)
    name = call.inputs["command"]
    policy = POLICIES[name]
    needs_all = bool(policy.hidden) or not call.settings.allow_unconfined
    if sys.platform != "linux" and needs_all:
        raise _not_confined("this system has no such protection")
    program, words = _started(name, arguments)
    environment = {"PATH": _PATH, "LANG": "C.UTF-8", "HOME": "/nonexistent", **policy.environment}
    with ExitStack() as stack:
        read: list[str] = []
        folder = _working_folder(stack.enter_context(workspace.folder(parts, "cwd")), workspace.root.joinpath(*parts))
        if name == "git":
            root = workspace.root.resolve()
            repository, view = stack.enter_context(git_view(root))
            environment |= {"GIT_DIR": str(view), "GIT_WORK_TREE": str(root)}
            read += (*map(str, apart_from(repository, workspace.own)), str(view))
        if sys.platform != "linux":
            done = run_child((program, *words), call, folder, environment, MAX_OUTPUT)
        else:
            from cortex_sandbox.isolation.confined_command import ConfinedCommand

            inside, listed = readable(replace(workspace, never=(*workspace.never, *policy.hidden)), call.settings.read)
            system = dict.fromkeys(Path(path).resolve() for path in (*_SYSTEM, *policy.system) if Path(path).exists())
            left_out = (workspace.root.resolve(), *workspace.own)
            read += (*inside, *(str(path) for folder in system for path in apart_from(folder, left_out)))
            cpu_s = call.manifest.limits.timeout_ms // 1000 + 1
            confined = ConfinedCommand(
                program,
                words,
                tuple(read),
                tuple(listed),
                ("/dev/null",),
                cpu_s=cpu_s,
                threads=policy.threads,
                needs_all=needs_all,
            )
            done = run_child(confined, call, folder, environment, MAX_OUTPUT)
    if done.lacking and needs_all:
        raise _not_confined(", ".join(done.lacking))
    return {
        "stdout": done.stdout.decode("utf-8", "replace"),
        "stderr": done.stderr.decode("utf-8", "replace"),
        "exitCode": done.exit_code,
    }


def _working_folder(held: int, path: Path) -> Path:
    """The path of an open folder; where the system has no such path, the one that it was opened by."""
    opened = Path(f"/proc/self/fd/{held}")
    return opened if opened.exists() else path


def _not_confined(why: str) -> CortexError:
    return CortexError(
        "confinement_missing",
        f"shell_safe did not run: the kernel cannot confine it: {why}",
        hint="use a Linux with landlock and seccomp; actions.allowUnconfined runs it without",
    )
