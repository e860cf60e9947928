"""Whose memories an operation concerns.

Rules kept here:
- they are the caller's own, unless it names another agent, which needs the permission `memories`;
- a caller without a token has none, also where an agent has its name;
- what reads many, or shows one by its id, is without an agent about those of all agents, for a caller with that
  permission; so is what changes one, for the owner of the store alone.
"""

from __future__ import annotations

from typing import Annotated

from annotated_types import MaxLen

from cortex_graph.memory_graphs import memory_graphs
from cortex_skills.errors import CortexError
from cortex_skills.features.memory.memories import memories_of
from cortex_skills.features.memory.memory_triples import MemoryReader
from cortex_skills.features.memory.model import Memory
from cortex_skills.operations.operation import ObjectState, OperationCall

Agent = Annotated[str, MaxLen(256)]


def memory_state(call: OperationCall) -> ObjectState | None:
    """The memory that a record names, and its state; None when there is none."""
    agent, slash, identifier = call.about.rpartition("/")
    if not slash:
        return None
    agent = agent or own_agent(call)
    memory = MemoryReader(call.part(memories_of).graph_of(agent)).one(identifier)
    return None if memory is None else state_of(agent, identifier, memory.kind, memory.importance)


def state_of(agent: str, identifier: str, kind: str, importance: float) -> ObjectState:
    """The name of a memory in a record, and its state."""
    return f"{agent}/{identifier}", f"{kind}, importance {importance:g}"


def own_agent(call: OperationCall) -> str:
    """The agent whose memories are the caller's own.

    Raises:
        CortexError: `unauthorized`: the caller showed no token.
    """
    if call.caller.is_anonymous:
        raise CortexError("unauthorized", "memories are those of a token", hint="send `Authorization: Bearer TOKEN`")
    return call.host.session.agent if call.caller.acts_for_all else call.caller.actor


def asked_agent(call: OperationCall, agent: str) -> str:
    """The agent whose memories are asked for.

    Raises:
        CortexError: `permission_denied`: they are another agent's.
    """
    agent = agent or own_agent(call)
    if agent != own_agent(call) and "memories" not in call.caller.permissions:
        raise CortexError(
            "permission_denied",
            "the memories of another agent need the permission `memories`",
            hint="`cortex-skills token create NAME --permission memories` makes a token with it",
            details={"missing": ["memories"]},
        )
    return agent


def agents_in(call: OperationCall, agent: str) -> list[str]:
    """The agents whose memories are asked for, sorted: one that is named, or all that the caller may read.

    Raises:
        CortexError: `permission_denied`: they are another agent's.
    """
    if agent or "memories" not in call.caller.permissions:
        return [asked_agent(call, agent)]
    graph = call.host.graph
    graph.settle()
    found = (graph.names.remembering(each) for each in memory_graphs(graph.store, graph.names))
    return sorted(each for each in found if each is not None and each.strip())


def memory_in(call: OperationCall, identifier: str, agent: str, *, changes: bool = False) -> Memory:
    """The memory with this id: of an agent that is named, or else of any, the caller's own first.

    Raises:
        CortexError: `not_found`, `permission_denied`.
    """
    own, memories = own_agent(call), call.part(memories_of)
    is_open = not changes or call.caller.kind == "owner"
    agents = agents_in(call, agent) if is_open else [asked_agent(call, agent)]
    for each in sorted(agents, key=lambda name: name != own):
        if (memory := MemoryReader(memories.graph_of(each)).one(identifier)) is not None:
            return memory
    raise no_memory()


def no_memory() -> CortexError:
    """The error for an id that no memory of the agent has."""
    return CortexError("not_found", "this agent has no memory with this id", hint="a recall answers the ids")
