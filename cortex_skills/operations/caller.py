"""`Caller`: who asks for an operation, and what they may do.

Rules kept here:
- the kind follows from how the caller showed who it is, never from the interface alone: the command line and a host in
  Python are the owner; the holder of a token, in a request or in a browser, is what the token states; a call of a
  tool, over MCP, of a skill or of an installed artifact, is one of an agent, whatever the token is;
- a caller has the permissions of its token, and those of the acting skill where one acts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from cortex_skills.policy.permissions import LEARN, MANAGE
from cortex_skills.tokens import PERMISSIONS

Kind = Literal["owner", "person", "agent", "program"]
Door = Literal["command", "python", "mcp", "rest", "sparql", "page", "task"]

OWNER = "owner"  # the permission that no token has
SERVER = "serve"  # the name of a server in what it does by its own schedule
# What a caller without an acting skill may do to registered skills, by the permissions of its token.
_OF_TOKEN = {"write": {LEARN}, "registry": {LEARN, MANAGE}}


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks for an operation.

    Attributes:
        name: as the interface knows them: of the token, or the agent of the process.
        kind: what they are.
        door: the interface that they use.
        permissions: those of tokens, and those of skills on the registry.
        agent: on whose behalf; the name when empty.
        skill: the acting skill; None when none acts.
        session: the key of the client's session; empty when there is none.
        namespace: whose graph or registry the operation concerns.
        acts_for_all: whether it stands for every agent of the process, as the token of the configuration does.
        person: whom its token belongs to; empty where that is not stated.
        is_anonymous: whether it showed no token, so that its name is nobody's.
    """

    name: str
    kind: Kind
    door: Door
    permissions: frozenset[str] = frozenset()
    agent: str = ""
    skill: str | None = None
    session: str = ""
    namespace: str = ""
    acts_for_all: bool = False
    person: str = ""
    is_anonymous: bool = False

    @property
    def actor(self) -> str:
        """In whose name it is done."""
        return self.agent or self.name

    @property
    def who(self) -> str:
        """The person whose token it showed, or else its name."""
        return self.person or self.name

    @property
    def is_agent(self) -> bool:
        """Whether what it writes is that of no person."""
        return self.kind in ("agent", "program")


def owner(name: str, door: Door, namespace: str = "") -> Caller:
    """The owner of the store, who may do everything."""
    return Caller(name, "owner", door, frozenset((*PERMISSIONS, LEARN, MANAGE, OWNER)), namespace=namespace)


def holder_permissions(permissions: Iterable[str]) -> frozenset[str]:
    """The permissions of the holder of a token, for whom no skill acts."""
    given = frozenset(permissions)
    return given.union(*(more for name, more in _OF_TOKEN.items() if name in given))
