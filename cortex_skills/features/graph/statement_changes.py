"""Changes of statements, for every interface.

Rules kept here:
- what an agent may assert and remove through a skill is decided by the skill (`acting_skill.py`). An agent withdraws
  what it asserted itself, and nothing is erased: the record and the proofs stay, with who withdrew it and when;
- without a skill, statements are asserted in the name of the caller, now; naming somebody else, or writing no record,
  needs the permission `provenance`. The record of the audit names the first statement, and states how many there are;
- without a skill, a statement is withdrawn, unless it is to be erased with its record. Removing one with proofs needs
  the permission `provenance`, but for withdrawing what the caller asserted;
- the statements of the memories of an agent need the permission `memories`, and have no record.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from annotated_types import Len

from cortex_graph import GraphError, NamespacedGraph, Provenance
from cortex_graph.checks.argument_checks import check_id
from cortex_graph.namespace.about import about_triples
from cortex_graph.namespace.agent_graph import AgentGraph
from cortex_graph.namespace.short_ids import full_triple_id
from cortex_graph.naming.vocabulary import PROVES, TYPE
from cortex_graph.store import Pattern, triple_of
from cortex_skills.errors import CortexError
from cortex_skills.features.graph.acting_skill import ActingSkill
from cortex_skills.operations.operation import AS_IS, Described, ObjectState, OperationCall, operation
from cortex_skills.policy.removals import is_author

if TYPE_CHECKING:
    from cortex_graph.store_access.read_ahead import Ahead

MAX_REASON = 500  # characters
_MOST_AHEAD = 16  # statements, for one query of patterns


def state_of_statement(call: OperationCall) -> ObjectState | None:
    """The id of the statement that an operation changes, and whether it is in the graph.

    One of the memories of an agent is `AGENT/ID`.
    """
    agent, _, given = call.about.rpartition("/")
    if not given:
        return None
    graph = AgentGraph(call.host.graph, agent) if agent else call.host.graph
    try:
        triple_id = full_triple_id(graph, given)
    except GraphError:
        return None
    name = f"{agent}/{triple_id}" if agent else triple_id
    if graph.get_triple(triple_id) is not None:
        return name, f"present, {'with' if graph.proofs.has_any(triple_id) else 'without'} proofs"
    return (name, "withdrawn") if graph.withdrawals.records_of(triple_id) else (name, "absent")


@dataclass(frozen=True, slots=True)
class AssertedStatements:
    """Statements as `subject`, `predicate` and `object`, and who asserted them; None writes no record of that.

    `acting` asserts them, where a skill acts: one with `requireProof` or `proofType` is then proved. `memories_of` is
    the agent whose memories they are of.
    """

    statements: list[dict[str, Any]]
    provenance: Annotated[Provenance, AS_IS] | Literal["caller"] | None = "caller"
    acting: Annotated[ActingSkill, AS_IS] | None = None
    memories_of: str = ""

    @property
    def triple(self) -> str:
        """The id of the first one, which only the graph knows."""
        return ""


def _ahead_of_assertions(call: OperationCall, given: AssertedStatements) -> Iterator[Ahead]:
    graph = AgentGraph(call.host.graph, given.memories_of) if given.memories_of else call.host.graph
    return ahead_of_statements(graph, given.statements, recorded=given.acting is not None)


def ahead_of_statements(
    graph: NamespacedGraph, statements: Sequence[Mapping[str, Any]], *, recorded: bool
) -> Iterator[Ahead]:
    """What is read of statements that are written, with records or without."""
    for statement in statements[:_MOST_AHEAD]:
        quad = graph.quad_of(graph.with_names({part: statement[part] for part in ("subject", "predicate", "object")}))
        yield Pattern(graph.names.graph, *triple_of(quad))
        if recorded:
            record = graph.names.record(graph.index.identify(quad))
            yield Pattern(graph.names.provenance_graph, record, TYPE)
            yield Pattern(graph.names.provenance_graph, None, PROVES, record)


@operation(
    "graph.assert",
    effect="changes",
    permission="write",
    object_="triple",
    state=state_of_statement,
    ahead=_ahead_of_assertions,
)
def assert_statements(call: OperationCall, given: AssertedStatements) -> list[dict[str, Any]]:
    """Write statements, all or none; each is answered with its id and whether it is new."""
    if given.acting is not None:
        rows = given.acting.write(call.host, given.statements, call.caller.actor, call.cancel)
    else:
        graph = graph_of(call, given.memories_of)
        rows = graph.create_triples(map(graph.with_names, given.statements), _provenance(call, given))
    if rows:
        _record(call, given, rows)
    return rows


def _record(call: OperationCall, given: AssertedStatements, rows: list[dict[str, Any]]) -> None:
    """State what was written: reading it again by its id would index every statement that is written after."""
    first = rows[0]
    call.about = name = f"{given.memories_of}/{first['id']}" if given.memories_of else first["id"]
    proofs = first.get("proof") or (not first["created"] and call.host.graph.proofs.has_any(first["id"]))
    call.after = (name, f"present, {'with' if proofs else 'without'} proofs")
    if not first["created"]:
        call.before = call.after
    call.facts |= {"statements": len(rows), "created": sum(row["created"] for row in rows)}


@dataclass(frozen=True, slots=True)
class WithdrawnStatement:
    """A statement by its id, or its first digits.

    `reason` is kept in the record of the audit; `acting` withdraws it, where a skill acts; `memories_of` is the agent
    whose memories it is of.
    """

    triple: Annotated[str, Len(1, 64), Described("The id of the triple, or its first six digits.")]
    erase: bool = False
    reason: Annotated[str, Len(0, MAX_REASON), Described("Why it is withdrawn.")] = ""
    acting: Annotated[ActingSkill, AS_IS] | None = None
    memories_of: str = ""


def _ahead_of_withdrawal(call: OperationCall, given: WithdrawnStatement) -> Iterator[Ahead]:
    graph = AgentGraph(call.host.graph, given.memories_of) if given.memories_of else call.host.graph
    return about_triples(graph, [full_triple_id(graph, given.triple)])


@operation(
    "graph.withdraw",
    effect="changes",
    permission="write",
    object_="triple",
    state=state_of_statement,
    ahead=_ahead_of_withdrawal,
)
def withdraw(call: OperationCall, given: WithdrawnStatement) -> dict[str, Any]:
    """Take a statement out of the graph; its record and its proofs stay, unless it is to be erased.

    Returns it; one that is not in the graph is `not_found`. The code of a skill deletes what has no proofs, and so is a
    statement of memories deleted.
    """
    graph, caller = graph_of(call, given.memories_of), call.caller
    triple_id = check_id(full_triple_id(graph, given.triple))
    call.about = triple_id
    if given.memories_of:
        call.about = f"{given.memories_of}/{triple_id}"
        call.before = state_of_statement(call)
    triple = graph.get_triple(triple_id)
    if triple is None:
        raise absent(graph, triple_id)
    if given.acting is not None:
        given.acting.remove(graph, call.host, triple, caller.actor)
        return triple
    has_proofs = check_may_withdraw(call, graph, triple_id, erase=given.erase)
    keeps = not given.erase and (has_proofs or not given.memories_of)
    if not (graph.withdraw(triple_id, Provenance(agent=caller.name)) if keeps else graph.delete_triple(triple_id)):
        raise absent(graph, triple_id)
    return triple


def check_may_withdraw(call: OperationCall, graph: NamespacedGraph, triple_id: str, *, erase: bool = False) -> bool:
    """Check that the caller may take a statement out of the graph; whether it has proofs.

    Raises:
        CortexError: `permission_denied`.
    """
    has_proofs = graph.proofs.has_any(triple_id)
    if has_proofs and (erase or not is_author(graph, call.caller.name, triple_id)):
        _require(call, "provenance", "removing a proved statement of others")
    return has_proofs


def absent(graph: NamespacedGraph, triple_id: str) -> CortexError:
    """The error for a statement that is not in the graph."""
    was = "was withdrawn already" if graph.withdrawals.of(triple_id) else "is not in the graph"
    return CortexError(
        "not_found",
        f"the statement {triple_id} {was}",
        hint="what asserts a statement returns its id, and so does a query for each match",
        details={"tripleHash": triple_id, "withdrawn": "already" in was},
    )


def memories_in(call: OperationCall, agent: str) -> AgentGraph:
    """The memories of an agent in the namespace, for a caller with the permission `memories`.

    Raises:
        CortexError: `permission_denied`.
    """
    _require(call, "memories", "naming the agent of memories")
    return AgentGraph(call.host.graph, agent)


def graph_of(call: OperationCall, memories_of: str) -> NamespacedGraph:
    """The graph of the namespace, or the memories of an agent in it."""
    return memories_in(call, memories_of) if memories_of else call.host.graph


def _provenance(call: OperationCall, given: AssertedStatements) -> Provenance | None:
    if given.provenance == "caller":
        return Provenance(agent=call.caller.name)
    _require(call, "provenance", "stating who asserted a statement")
    return given.provenance


def _require(call: OperationCall, permission: str, what: str) -> None:
    if permission not in call.caller.permissions:
        raise CortexError(
            "permission_denied",
            f"{call.caller.name} lacks the permission `{permission}`, which {what} needs",
            hint=f"ask for a token that has the permission `{permission}`",
            details={"missing": [permission]},
        )
