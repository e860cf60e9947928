"""`SessionCaller`: the agent and the skill of a call over MCP.

Rules kept here:
- no caller acts for another: the holder of a token is the agent, also when a call names another;
- what a call names has precedence over what the session names; if neither names it, the gate decides;
- where reports and authors are counted (`identity`), a caller is one, whatever agents it names and however many
  sessions it opens.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cortex_skills.tokens import PERMISSIONS


@dataclass(frozen=True, slots=True)
class SessionCaller:
    """The caller of a session.

    Attributes:
        agent: the agent; None for the plugin's own.
        skill: the acting skill of the session; None if a call has to name it.
        may_write: whether the caller may call tools that write.
        may_name_agent: whether a call may name its agent.
        session: the key of the session whose budgets and rate limit its calls use; None for the plugin's own.
        identity: who the caller is, as the server knows them; None for the agent of the session.
        permissions: of its token; all of them for who started the process.
        person: whom its token belongs to; empty where that is not stated.
    """

    agent: str | None = None
    skill: str | None = None
    may_write: bool = True
    may_name_agent: bool = True
    session: str | None = None
    identity: str | None = None
    permissions: frozenset[str] = frozenset(PERMISSIONS)
    person: str = ""

    @property
    def is_owners(self) -> bool:
        """Whether the owner started the process, and so is the user of the client."""
        return self.identity is None

    def acting(self, arguments: dict[str, Any]) -> tuple[dict[str, Any], Any, Any]:
        """Split the arguments of a call: those of the tool, the skill and the agent, all unchecked."""
        rest = dict(arguments)
        skill = rest.pop("skill", None)
        # An agent that may not be named stays in, and is refused like any unknown argument.
        agent = rest.pop("agent", None) if self.may_name_agent else None
        return rest, self.skill if skill is None else skill, self.agent if agent is None else agent
