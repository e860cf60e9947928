"""The host functions of a skill's sandbox, which features add, such as `graphClient` and `memory`.

Rules kept here:
- the rules of a tool call apply: each function checks a permission, and a change is an operation;
- a failure reaches the skill's code as an error with its stable code and its hint, and is remembered, so that it keeps
  them where the code does not handle it;
- a call does not start after the deadline of the skill.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from cortex_sandbox import Promised, SandboxError, SandboxTimeout, remaining_s
from cortex_skills.errors import CortexError, from_floor
from cortex_skills.feature import functions as added_functions
from cortex_skills.host import Host
from cortex_skills.manifest import Manifest, Semantic
from cortex_skills.policy.permissions import check_permissions

_MAX_REFUSALS = 16


class HostFunctions:
    """What the code of one skill may call; features add the functions.

    Attributes:
        host: of the plugin.
        skill: its name.
        manifest, semantic: its manifest, and the semantic block of that.
        agent: on whose behalf it acts at the moment.
        budgets: of the session of the call that it answers at the moment; else the plugin's own.
    """

    def __init__(self, manifest: Manifest, semantic: Semantic, host: Host) -> None:
        self.host = host
        self.skill = manifest.name
        self.manifest = manifest
        self.semantic = semantic
        self._refusals: deque[Exception] = deque(maxlen=_MAX_REFUSALS)
        self.agent = host.session.agent
        self.own_budgets = self.budgets = host.limits.own.budgets

    def by_name(self) -> Mapping[str, Promised]:
        """The functions by the names under which the skill finds them."""
        functions: dict[str, Callable[..., Any]] = {}
        for added in added_functions("host_functions"):
            functions |= added(self)
        return {name: Promised(self._remembering(function)) for name, function in functions.items()}

    def refusal(self, error: SandboxError) -> CortexError | None:
        """The error of a host function that the code of the skill did not handle; None for another exception."""
        if error.name != "HostError":
            return None
        for refused in reversed(self._refusals):
            message = getattr(refused, "message", "")
            if message and error.message.startswith(message):
                return from_floor(refused)
        return None

    def _remembering(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def remembering(*given: Any) -> Any:
            try:
                return function(*given)
            except Exception as error:
                self._refusals.append(error.with_traceback(None))
                raise

        return remembering

    def check(self, permission: str, action: str) -> None:
        """Check that the skill may do something, and has time for it.

        Raises:
            CortexError: `permission_denied`.
            SandboxTimeout: the deadline is over.
        """
        if remaining_s() <= 0:
            raise SandboxTimeout("stopped: the time limit was reached", "Timeout")
        check_permissions([permission], self.manifest, action)
        self.host.graph.settle()
