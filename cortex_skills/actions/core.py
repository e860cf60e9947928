"""The core actions that the configuration offers.

Rules kept here:
- without `actions.workspace` no action of files, memories, programs or commands is offered; without
  `actions.allowedHosts` none of the network;
- their ids are taken in any case, so that no other action is mistaken for one of them.
"""

from __future__ import annotations

from collections.abc import Iterator

from cortex_skills.actions.action import AgentAction
from cortex_skills.config.settings import ActionSettings

CORE_IDS = frozenset({"fs_read", "fs_write", "search_index", "run_agent", "shell_safe", "http_get"})


def configured_actions(settings: ActionSettings) -> Iterator[AgentAction]:
    """The core actions that are offered with these settings."""
    if settings.workspace:
        from cortex_skills.actions.search_index import SEARCH_INDEX

        yield SEARCH_INDEX
