"""The actions of one plugin: the core ones that are configured, those of installed distributions, and the host's own.

A distribution adds actions with an entry point of the group `cortex_skills.actions`, whose name is the action's id and
whose value is an `AgentAction`:

    [project.entry-points."cortex_skills.actions"]
    create_ticket = "my_package.actions:CREATE_TICKET"

Rules kept here:
- an id is given once: that of a core action is taken though it is not configured, and that of a tool is taken too;
- an entry point that cannot be used is skipped with a warning, and never prevents the plugin from starting;
- nothing here runs an action: the gate does.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from threading import Lock
from typing import Any, Protocol

from cortex_skills.errors import CortexError
from cortex_skills.features.actions.action import ActionCall, AgentAction
from cortex_skills.features.actions.action_settings import ActionSettings
from cortex_skills.features.actions.core import CORE_IDS, configured_actions
from cortex_skills.features.actions.manifest import ActionManifest
from cortex_skills.safe_io.added_entries import added_entries

log = logging.getLogger(__name__)

GROUP = "cortex_skills.actions"


class ActionSource(Protocol):
    """Further actions, which may change while the plugin is open."""

    def find(self, name: str) -> AgentAction | None:
        """The action of an id; None when there is none."""

    def all(self) -> Mapping[str, AgentAction]:
        """The actions that may be offered, by id."""

    def revision(self) -> str:
        """A text that differs after each change of them, by any process."""


class Actions:
    """The actions of one plugin by id. Safe to use from several threads.

    Args:
        settings: which core actions are offered.
        taken: the ids that no action may have: those of tools.
        sources: of further actions; those with other ids only.
    """

    def __init__(
        self, settings: ActionSettings, taken: Collection[str] = (), sources: Sequence[ActionSource] = ()
    ) -> None:
        self.settings = settings
        self._taken = frozenset(taken) | CORE_IDS
        self._core = {action.manifest.id: action for action in configured_actions(settings)}
        self._registered: dict[str, AgentAction] = {}
        self._sources = sources
        self._changing = Lock()

    def register(
        self,
        manifest: ActionManifest | Mapping[str, Any],
        run: Callable[[ActionCall], Mapping[str, Any]],
        *,
        check: Callable[[ActionCall], None] | None = None,
        preview: Callable[[ActionCall], str] | None = None,
        read_only: bool = False,
        permissions: Collection[str] = (),
    ) -> ActionManifest:
        """Add an action of the host.

        Args:
            manifest: what it takes, answers and may do; a mapping has keys in camelCase.
            run: performs a call and returns the outputs.
            check: refuses a call by its targets with a `CortexError`, without acting.
            preview: what a call would change, as the person who approves it reads it.
            read_only: whether it changes nothing, anywhere; a client that may not write may call it then.
            permissions: what the acting skill must have been granted, such as `graph:read`.

        Raises:
            CortexError: `manifest_invalid`: a field is wrong, or the id is taken.
        """
        valid = manifest if isinstance(manifest, ActionManifest) else ActionManifest.of(manifest)
        if not callable(run):
            raise CortexError("manifest_invalid", f"the action {valid.id} has nothing to run", hint="pass a function")
        action = AgentAction(valid, run, check or _nothing, preview or _no_text, read_only, tuple(permissions))
        with self._changing:
            if valid.id in self._taken or valid.id in self._added or valid.id in self._registered:
                raise CortexError(
                    "manifest_invalid",
                    f"the manifest of an action has one problem: id: {valid.id} is taken",
                    hint="give the action another id",
                    details={"errors": [{"field": "id", "message": f"{valid.id} is taken"}]},
                )
            self._registered = {**self._registered, valid.id: action}
        return valid

    def find(self, name: str) -> AgentAction | None:
        """The action of an id; None when there is none."""
        found = self._core.get(name) or self._registered.get(name) or self._added.get(name)
        return found or next((action for source in self._sources if (action := source.find(name)) is not None), None)

    def all(self) -> Mapping[str, AgentAction]:
        """Every action by its id, the core ones first."""
        further = {name: action for source in self._sources for name, action in source.all().items()}
        own = {**self._core, **self._added, **self._registered}
        return {**own, **{name: action for name, action in further.items() if name not in own}}

    def revision(self) -> str:
        """A text that differs after each change of them, by any process."""
        return " ".join((str(len(self._registered)), *(source.revision() for source in self._sources)))

    def close(self) -> None:
        """End what the core actions left running."""
        for action in self._core.values():
            action.close()

    @cached_property
    def _added(self) -> Mapping[str, AgentAction]:
        """The actions of installed distributions."""
        found: dict[str, AgentAction] = {}
        for entry in added_entries(GROUP, "actions"):
            try:
                action = entry.load()
                if not isinstance(action, AgentAction):
                    raise TypeError(f"it is a {type(action).__name__}, not an AgentAction")
                if action.manifest.id != entry.name:
                    raise ValueError(
                        f"its id is {action.manifest.id!r}, and the name of its entry point {entry.name!r}"
                    )
                if entry.name in self._taken or entry.name in found:
                    raise ValueError("its id is taken")
            except (Exception, SystemExit) as error:
                problem = f"{type(error).__name__}: {error}"
                log.warning("the action %s of %s is skipped: %s", entry.name, entry.value, problem)
            else:
                found[entry.name] = action
        return found


def _nothing(_: ActionCall) -> None:
    """Refuse nothing."""


def _no_text(_: ActionCall) -> str:
    return ""
