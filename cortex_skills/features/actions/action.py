"""An action, and one call of it that the gate permits.

Rules kept here:
- an action decides nothing about who may run it: the gate has checked the call;
- what it refuses about its targets it refuses in `check` too, before a person is asked; `run` checks where it acts,
  because what a name means may change in between;
- it returns its outputs as a JSON object; the gate checks and cleans them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cortex_skills.audit.bounded import Fact
from cortex_skills.cancellation import CancelToken
from cortex_skills.errors import CortexError
from cortex_skills.features.actions.manifest import ActionManifest
from cortex_skills.runtime.skill import Skill
from cortex_skills.tools.base import Profile

if TYPE_CHECKING:
    from cortex_skills.features.actions.action_settings import ActionSettings
    from cortex_skills.operations.operation import Operation


@dataclass(frozen=True, slots=True)
class ActionCall:
    """One call.

    Attributes:
        manifest: of the action.
        inputs: valid against the manifest.
        agent: on whose behalf.
        namespace: of the graph.
        settings: the section `actions` of the configuration.
        operate: runs an operation for the agent, as a tool does; the record of the call has it.
        deadline: until when it may take, on the clock of `time.monotonic`.
        cancel: cancels the call early.
        session: the key of the client's session; empty for the plugin's own.
    """

    manifest: ActionManifest
    inputs: Mapping[str, Any]
    agent: str
    namespace: str
    settings: ActionSettings
    operate: Callable[[Operation[Any, Any], Mapping[str, Any]], Any]
    deadline: float
    cancel: CancelToken | None = None
    session: str = ""

    @property
    def left_s(self) -> float:
        """The seconds that are left, at least 0."""
        return max(0.0, self.deadline - time.monotonic())

    def check_time(self) -> None:
        """Check that the call is neither cancelled nor late.

        Raises:
            CortexError: `cancelled` or `action_timeout`.
        """
        if self.cancel is not None:
            self.cancel.check()
        if time.monotonic() > self.deadline:
            raise too_late(self.manifest)


@dataclass(frozen=True, slots=True, eq=False)
class AgentAction:
    """An action.

    Attributes:
        manifest: what it takes, answers and may do.
        run: performs a call and returns the outputs.
        check: refuses a call by its targets, without acting.
        preview: what a call would change, as a person reads it; empty when there is nothing to show.
        read_only: whether it changes nothing, anywhere.
        permissions: what the acting skill must have been granted.
        close: ends what it left running; called when the plugin is closed.
        acting: the skill as which it acts, also when a caller names another; None for that of the call.
        about: what the audit states about each call of it.
        profile: with which profile of the configuration a model is offered it.
    """

    manifest: ActionManifest
    run: Callable[[ActionCall], Mapping[str, Any]]
    check: Callable[[ActionCall], None] = field(default=lambda _: None)
    preview: Callable[[ActionCall], str] = field(default=lambda _: "")
    read_only: bool = False
    permissions: tuple[str, ...] = ()
    close: Callable[[], None] = field(default=lambda: None)
    acting: Skill | None = None
    about: Mapping[str, Fact] = field(default_factory=dict)
    profile: Profile = "operator"


def too_late(manifest: ActionManifest) -> CortexError:
    """The error of an action that took too long."""
    limit = manifest.limits.timeout_ms
    return CortexError(
        "action_timeout",
        f"{manifest.id} took longer than {limit} ms and was stopped",
        hint="ask for less at once, or raise the limit of the action",
        details={"action": manifest.id, "limitMs": limit},
    )
