"""`Caller`: who makes a call over MCP, and which skill acts for them when the call does not say.

Rules kept here:
- nobody acts in the name of another: whoever came in with a token of their own is the agent, whatever they say;
- what a call names wins over what the session names; where neither does, the gate decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls.

    Attributes:
        agent: on whose behalf; None for the plugin's own.
        skill: the acting skill of the session; None when a call has to say.
        may_write: whether tools that write are theirs to call.
        may_name_agent: whether a call may say on whose behalf it is.

    """

    agent: str | None = None
    skill: str | None = None
    may_write: bool = True
    may_name_agent: bool = True

    def acting(self, arguments: dict[str, Any]) -> tuple[dict[str, Any], Any, Any]:
        """The arguments of a call without those of the session, and its skill and agent, unchecked."""
        rest = dict(arguments)
        skill = rest.pop("skill", None)
        # What may not be said is left in, and refused like any argument that a tool does not have.
        agent = rest.pop("agent", None) if self.may_name_agent else None
        return rest, self.skill if skill is None else skill, self.agent if agent is None else agent
