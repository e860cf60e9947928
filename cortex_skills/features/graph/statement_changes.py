"""Changes of statements, for every interface.

Rules kept here:
- an agent that acts through a skill withdraws what it asserted itself, and nothing is erased: the record and the proofs
  stay, marked with who withdrew it and when. What the skill may remove is checked before (`policy/removals.py`);
- without a skill, statements are asserted in the name of the caller, now; naming somebody else, or writing no record,
  needs the permission `provenance`. The record of the audit names the first statement, and states how many there are;
- without a skill, a statement with proofs is withdrawn, unless it is to be erased, and one without is deleted with its
  record. Removing one with proofs needs the permission `provenance`, but for withdrawing what the caller asserted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from annotated_types import Len

from cortex_graph import GraphError, Provenance
from cortex_graph.checks.argument_checks import check_id
from cortex_graph.namespace.short_ids import full_triple_id
from cortex_skills.errors import CortexError
from cortex_skills.operations.operation import AS_IS, Described, ObjectState, OperationCall, operation
from cortex_skills.policy.removals import is_author


def state_of_statement(call: OperationCall) -> ObjectState | None:
    """The id of the statement that an operation changes, and whether it is in the graph."""
    graph = call.host.graph
    try:
        triple_id = full_triple_id(graph, call.about)
    except GraphError:
        return None
    if graph.get_triple(triple_id) is not None:
        return triple_id, f"present, {'with' if graph.proofs.has_any(triple_id) else 'without'} proofs"
    return (triple_id, "withdrawn") if graph.withdrawals.of(triple_id) else (triple_id, "absent")


@dataclass(frozen=True, slots=True)
class AssertedStatements:
    """Statements as `subject`, `predicate` and `object`, and who asserted them; None writes no record of that."""

    statements: list[dict[str, Any]]
    provenance: Annotated[Provenance, AS_IS] | Literal["caller"] | None = "caller"

    @property
    def triple(self) -> str:
        """The id of the first one, which only the graph knows."""
        return ""


@operation("graph.assert", effect="changes", permission="write", object_="triple", state=state_of_statement)
def assert_statements(call: OperationCall, given: AssertedStatements) -> list[dict[str, Any]]:
    """Write statements, all or none; each is answered with its id and whether it is new."""
    provenance = given.provenance
    if provenance == "caller":
        provenance = Provenance(agent=call.caller.name)
    elif "provenance" not in call.caller.permissions:
        raise _lacks_provenance(call, "stating who asserted a statement")
    rows = call.host.graph.create_triples(given.statements, provenance)
    if rows:
        call.about = rows[0]["id"]
        created = sum(row["created"] for row in rows)
        call.facts |= {"statements": len(rows), "created": created}
        if not rows[0]["created"]:
            call.before = state_of_statement(call)
    return rows


@dataclass(frozen=True, slots=True)
class WithdrawnStatement:
    """A statement by its id, or its first digits; `skill_version` is that of the acting skill."""

    triple: Annotated[str, Len(1, 64), Described("The id of the triple, or its first six digits.")]
    erase: bool = False
    skill_version: str | None = None


@operation("graph.withdraw", effect="changes", permission="write", object_="triple", state=state_of_statement)
def withdraw(call: OperationCall, given: WithdrawnStatement) -> bool:
    """Take a statement out of the graph; its record and its proofs stay, where it has proofs or a skill asserted it.

    Returns whether it was in the graph.
    """
    graph, caller = call.host.graph, call.caller
    triple_id = call.about = check_id(full_triple_id(graph, given.triple))
    if caller.skill is not None:
        record = graph.provenance_of(triple_id) or {}
        if graph.get_triple(triple_id) is not None and record.get("agent") != caller.actor:
            raise CortexError(
                "permission_denied",
                f"{caller.actor} did not assert this statement, and may not retract it",
                hint="the agent that asserted it may, and so may the host",
                details={"tripleHash": triple_id},
            )
        return graph.withdraw(triple_id, Provenance(caller.skill, given.skill_version, caller.actor))
    has_proofs = graph.proofs.has_any(triple_id)
    if has_proofs and (given.erase or not is_author(graph, caller.name, triple_id)):
        _require_provenance(call)
    if has_proofs and not given.erase:
        return graph.withdraw(triple_id, Provenance(agent=caller.name))
    return graph.delete_triple(triple_id)


def _require_provenance(call: OperationCall) -> None:
    if "provenance" not in call.caller.permissions:
        raise _lacks_provenance(call, "removing a proved statement of others")


def _lacks_provenance(call: OperationCall, what: str) -> CortexError:
    return CortexError(
        "permission_denied",
        f"{call.caller.name} lacks the permission `provenance`, which {what} needs",
        hint="ask for a token that has the permission `provenance`",
        details={"missing": ["provenance"]},
    )
