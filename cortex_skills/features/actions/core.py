"""The core actions that the configuration offers.

Rules kept here:
- without `actions.workspace` no action of files, memories, programs or commands is offered; without
  `actions.allowedHosts` none of the network;
- their ids are taken in any case, so that no other action is mistaken for one of them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from cortex_skills.errors import CortexError
from cortex_skills.features.actions.action import AgentAction
from cortex_skills.features.actions.action_settings import ActionSettings

CORE_IDS = frozenset({"fs_read", "fs_write", "search_index", "run_agent", "shell_safe", "http_get"})


def configured_actions(settings: ActionSettings) -> Iterator[AgentAction]:
    """The core actions that are offered with these settings.

    Raises:
        CortexError: `config_invalid`: the workspace is not the absolute path of a folder, or the system cannot open
            files by descriptors.
    """
    if settings.allowed_hosts:
        from cortex_skills.features.actions.http_get import HTTP_GET

        yield HTTP_GET
    if not settings.workspace:
        return
    from cortex_skills.features.actions.fs_read import fs_read
    from cortex_skills.features.actions.fs_write import fs_write
    from cortex_skills.features.actions.paths import Workspace
    from cortex_skills.features.actions.search_index import SEARCH_INDEX

    workspace = Workspace.of(settings)
    if not workspace.root.is_absolute() or not workspace.root.is_dir():
        hint = "give the absolute path of a folder that exists"
        raise CortexError("config_invalid", "actions.workspace is not the absolute path of a folder", hint=hint)
    if os.open not in os.supports_dir_fd or not hasattr(os, "O_NOFOLLOW"):
        hint = "leave actions.workspace empty"
        raise CortexError("config_invalid", "this system cannot open files without following links", hint=hint)
    yield fs_read(settings, workspace)
    yield fs_write(settings, workspace)
    yield SEARCH_INDEX
    if settings.agents:
        from cortex_skills.features.actions.run_agent import run_agent

        yield run_agent(settings, workspace)
    if settings.commands:
        from cortex_skills.features.actions.shell_safe import shell_safe

        yield shell_safe(settings, workspace)
