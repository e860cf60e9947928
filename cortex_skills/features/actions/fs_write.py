"""`fs_write`: write a text file of the workspace.

Rules kept here:
- only in the folders of `actions.write`, by the rules of `paths`; missing folders inside them are created;
- a file is replaced whole: a temporary file beside it is written, flushed and renamed, so a reader gets the old text or
  the new one, also after a power cut;
- an existing file is replaced with `overwrite` only, and what a person approved shows the difference. The gate
  compares that with the file again before it runs, and a difference that is too long to show is refused;
- without `overwrite` a file that appears meanwhile is not replaced.
"""

from __future__ import annotations

import difflib
import os
import secrets
from contextlib import suppress
from functools import partial
from typing import Any

from cortex_skills.errors import CortexError
from cortex_skills.features.actions.action import ActionCall, AgentAction
from cortex_skills.features.actions.action_settings import ActionSettings
from cortex_skills.features.actions.fs_read import MAX_BYTES, read_text
from cortex_skills.features.actions.manifest import PATH, ActionManifest
from cortex_skills.features.actions.paths import (
    FILE_FLAGS,
    MAX_PATH,
    MissingFile,
    Parts,
    Workspace,
    check_plain,
    refused,
)
from cortex_skills.safe_io.schemas import shown

MAX_PREVIEW = 1 << 16


def fs_write(settings: ActionSettings, workspace: Workspace) -> AgentAction:
    """The action for a workspace."""
    manifest = ActionManifest.of(
        {
            "id": "fs_write",
            "name": "Write a file",
            "description": "Write a text file of the workspace: a new one, or with overwrite an existing one.",
            "category": "fs",
            "inputs": {
                "path": {
                    "type": "string",
                    "required": True,
                    "description": f"Relative to the workspace, in one of {', '.join(settings.write)}.",
                    "schema": {"minLength": 1, "maxLength": MAX_PATH, "format": PATH},
                },
                "content": {"type": "string", "required": True, "schema": {"maxLength": MAX_BYTES}},
                "overwrite": {
                    "type": "boolean",
                    "description": "Whether an existing file is replaced.",
                    "schema": {"default": False},
                },
            },
            "outputs": {
                "path": {"type": "string", "required": True},
                "size": {"type": "integer", "required": True, "description": "In bytes."},
            },
            "risk": "high",
            "cost": "cheap",
            "minTrustLevel": "supervised_auto",
            "requiresApproval": True,
            "allowedDirectories": list(settings.write),
        }
    )
    return AgentAction(manifest, partial(_run, workspace), partial(_check, workspace), partial(_preview, workspace))


def _parts(workspace: Workspace, call: ActionCall) -> Parts:
    parts = workspace.file_parts(call.inputs["path"], call.settings.write)
    Workspace.of(call.settings).check_written(parts)
    if "/".join(parts) in [root.strip("/") for root in call.settings.write]:
        raise refused("path", f"{shown('/'.join(parts))} is a folder", "give the path of a file in it")
    return parts


def _check(workspace: Workspace, call: ActionCall) -> None:
    parts = _parts(workspace, call)
    if len(call.inputs["content"].encode()) > MAX_BYTES:
        raise CortexError(
            "invalid_arguments", f"content: is longer than {MAX_BYTES:,} bytes", hint="write less at once"
        )
    if _present(workspace, parts) is not None and not call.inputs["overwrite"]:
        raise _exists("/".join(parts))


def _present(workspace: Workspace, parts: Parts) -> str | None:
    """The text of the file now; None when there is no file."""
    try:
        with workspace.file(parts) as held:
            return read_text(held, "/".join(parts))[0]
    except MissingFile:
        return None


def _preview(workspace: Workspace, call: ActionCall) -> str:
    """The difference to the file now."""
    name = "/".join(parts := _parts(workspace, call))
    before = _present(workspace, parts)
    if before is None:
        return ""
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), call.inputs["content"].splitlines(keepends=True), name, name
    )
    text = "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
    if len(text) > MAX_PREVIEW:
        hint = "write another file, or change less at once"
        raise refused("content", f"the difference to {shown(name)} is too long for a person to be shown", hint)
    return text


def _run(workspace: Workspace, call: ActionCall) -> dict[str, Any]:
    *folders, name = parts = _parts(workspace, call)
    data = call.inputs["content"].encode()
    with workspace.folder(folders, create=True) as folder:
        temporary = f".{secrets.token_hex(8)}.tmp"
        held = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | FILE_FLAGS, 0o644, dir_fd=folder)
        try:
            with os.fdopen(held, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            call.check_time()
            _replace(folder, temporary, name, "/".join(parts), overwrite=call.inputs["overwrite"])
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary, dir_fd=folder)
            raise
        os.fsync(folder)
    return {"path": "/".join(parts), "size": len(data)}


def _replace(folder: int, temporary: str, name: str, shown_path: str, *, overwrite: bool) -> None:
    """Give the temporary file its name."""
    if not overwrite:
        try:
            os.link(temporary, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        except FileExistsError:
            raise _exists(shown_path) from None
        os.unlink(temporary, dir_fd=folder)
        return
    with suppress(FileNotFoundError):
        check_plain(os.stat(name, dir_fd=folder, follow_symlinks=False), "path", shown_path)
    os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)


def _exists(name: str) -> CortexError:
    hint = "call with overwrite: true, so that a person sees the difference"
    return CortexError("action_failed", f"path: {shown(name)} exists already", hint=hint, details={"field": "path"})
