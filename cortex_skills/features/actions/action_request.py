"""An action that was asked for, as a person is shown it before it runs.

Rules kept here:
- everything that decides what would happen is in it: the inputs as they will run, the version of the manifest, and
  what the action would change;
- whoever keeps requests keeps them whole; the gate checks everything again when one is approved.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

from typing_extensions import TypedDict

from cortex_skills.operations.operation import Described
from cortex_skills.policy.trust_levels import Risk

ApprovalState = Literal["pending", "approved", "rejected", "expired", "running", "done", "failed", "interrupted"]


class RequestStatus(TypedDict):
    """A request as the agent that made it reads it."""

    approval: str
    action: str
    state: ApprovalState
    created: str
    expires: str
    resolvedBy: str | None
    reason: Annotated[str | None, Described("What the person wrote.")]
    code: Annotated[str | None, Described("Of an action that failed.")]
    result: Annotated[dict[str, Any] | None, Described("What the action answered.")]


@dataclass(frozen=True, slots=True)
class ActionRequest:
    """An action that waits for a person.

    Attributes:
        action: the id of the action.
        manifest_version: the version of its manifest.
        inputs: as they will run; JSON-ready.
        agent: on whose behalf.
        namespace: of the graph.
        skill: the acting skill.
        risk: of the action.
        reason: why it waits.
        preview: what it would change, such as the difference between two texts; empty when there is none.
        asked_by: who sent the call: the person whose token it has, or the name of the token, which may name agents.
        host: the id of the installation where it was asked for; empty in a request of an earlier version.
        host_name: its name.
        workspace: the id of the workspace of that process; empty if it has none.
    """

    action: str
    manifest_version: str
    inputs: Mapping[str, Any] = field(hash=False)
    agent: str
    namespace: str
    skill: str
    risk: Risk
    reason: str
    preview: str = ""
    asked_by: str = ""
    host: str = ""
    host_name: str = ""
    workspace: str = ""

    @property
    def place(self) -> str:
        """Where it runs: in a process with the workspace, or else on the host; empty for anywhere."""
        return place_of(self.host, self.workspace) if self.host else ""

    def is_same(self, other: ActionRequest) -> bool:
        """Whether another request asks for the same; why it waits may differ, as the trust level may have changed."""
        return replace(self, reason="") == replace(other, reason="")


def place_of(host: str, workspace: str) -> str:
    """The place of a process with this host and this workspace, if it has one."""
    return f"workspace:{workspace}" if workspace else f"host:{host}"
