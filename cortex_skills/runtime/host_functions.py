"""The host functions of a skill's sandbox, which features add, such as `graphClient` and `memory`.

Rules kept here:
- the rules of a tool call apply: each function checks a permission, and a change is an operation;
- a failure reaches the skill's code as an error with its stable code and its hint, and is remembered, so that it keeps
  them where the code does not handle it. Where the code handles it, the log and the status have it;
- a call does not start after the deadline of the skill.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any

from cortex_sandbox import Promised, SandboxError, SandboxTimeout, remaining_s
from cortex_skills.errors import CortexError, from_floor
from cortex_skills.feature import functions as added_functions
from cortex_skills.host import Host
from cortex_skills.manifest import Manifest, Semantic
from cortex_skills.policy.permissions import check_permissions
from cortex_skills.runtime.log import SkillLog
from cortex_skills.safe_io.display import one_line

_MAX_REFUSALS = 16
_MAX_MESSAGE = 300  # characters


@dataclass(frozen=True, slots=True)
class RefusedCall:
    """Calls of a host function that failed in the same way.

    Attributes:
        function: its name.
        code: of the error.
        count: how many calls.
        message: of the last one.
    """

    function: str
    code: str
    count: int
    message: str

    def to_json(self) -> dict[str, Any]:
        """It as a JSON object."""
        return {"function": self.function, "code": self.code, "count": self.count, "message": self.message}


class HostFunctions:
    """What the code of one skill may call; features add the functions.

    Attributes:
        host: of the plugin.
        skill: its name.
        manifest, semantic: its manifest, and the semantic block of that.
        agent: on whose behalf it acts at the moment.
        budgets: of the session of the call that it answers at the moment; else the plugin's own.
        session: the key of that session; empty for the plugin's own.
        refused: the calls that failed, by function and code.
    """

    def __init__(self, manifest: Manifest, semantic: Semantic, host: Host) -> None:
        self.host = host
        self.skill = manifest.name
        self.manifest = manifest
        self.semantic = semantic
        self._refusals: deque[Exception] = deque(maxlen=_MAX_REFUSALS)
        self.refused: dict[tuple[str, str], RefusedCall] = {}
        self.agent = host.session.agent
        self.session = ""
        self.own_budgets = self.budgets = host.limits.own.budgets

    def by_name(self) -> Mapping[str, Promised]:
        """The functions by the names under which the skill finds them."""
        functions: dict[str, Callable[..., Any]] = {}
        for added in added_functions("host_functions"):
            functions |= added(self)
        return {name: Promised(self._remembering(name, function)) for name, function in functions.items()}

    def refusal(self, error: SandboxError) -> CortexError | None:
        """The error of a host function that the code of the skill did not handle; None for another exception."""
        if error.name != "HostError":
            return None
        for refused in reversed(self._refusals):
            message = getattr(refused, "message", "")
            if message and error.message.startswith(message):
                return from_floor(refused)
        return None

    def _remembering(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def remembering(*given: Any) -> Any:
            try:
                return function(*given)
            except Exception as error:
                self._refusals.append(error.with_traceback(None))
                self._count(name, error)
                raise

        return remembering

    def _count(self, name: str, error: Exception) -> None:
        """Count a failure; the first one of a function and code is in the log."""
        known = from_floor(error)
        code = "internal_error" if known is None else known.code
        message = one_line(str(error))[:_MAX_MESSAGE]
        before = self.refused.get((name, code))
        if before is None:
            SkillLog(self.skill).write(logging.WARNING, f"{name} failed with {code}: {message}")
            before = RefusedCall(name, code, 0, message)
        self.refused[name, code] = replace(before, count=before.count + 1, message=message)

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
