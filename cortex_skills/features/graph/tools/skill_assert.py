"""`skill_assert`: write one statement, or several together, to the namespace, with a record of who asserted them.

Rules kept here:
- what may be asserted, and with which proof, is decided by the operation (`acting_skill.py`, `statement_changes.py`);
- several statements are written together or not at all; the error has the problem of each that was refused;
- repeating an assertion is not an error: `created` is false, the hash is the same, and no slot is used or needed,
  unless a proof was added. Each other statement uses a slot, also one of several.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired

from annotated_types import Len
from typing_extensions import TypedDict

from cortex_graph import GraphError, NamespacedGraph
from cortex_skills.errors import CortexError
from cortex_skills.features.graph.acting_skill import PARTS, ActingSkill, StatementsRefusedError
from cortex_skills.features.graph.statement_changes import AssertedStatements, ahead_of_statements, assert_statements
from cortex_skills.features.graph.triple_text import line_of
from cortex_skills.features.proofs.proving import prover_of
from cortex_skills.features.proofs.verdict import Verdict
from cortex_skills.operations.operation import Described
from cortex_skills.tools.answer_sizes import IN_WRITES, LONGEST_PAGE, size_of, with_short_object
from cortex_skills.tools.base import Call, Outcome, Tool
from cortex_skills.tools.value_types import LowBudget, Name, Object, ObjectLength, Value

if TYPE_CHECKING:
    from cortex_graph.store_access.read_ahead import Ahead

MOST = 100
_CORE_ONLY = " (no rules of a skill or of the namespace applied)"
_OF_OBJECTS, _LEAST_OF_OBJECT = 2_000, 40  # characters of all objects in an answer, and of one of many


class _Each(TypedDict):
    subject: Name
    predicate: Name
    object: Value
    requireProof: NotRequired[bool]
    proofType: NotRequired[Literal["pol"]]


class _Given(TypedDict, total=False):
    subject: Annotated[Name, Described("The thing that the statement is about.")]
    predicate: Annotated[Name, Described("One of the predicates that the skill declares.")]
    object: Annotated[
        Value, Described('A value, another thing {"node": "name"}, or {"value", "datatype" or "language"}.')
    ]
    requireProof: Annotated[bool, Described("Write nothing unless it can be proved.")]
    proofType: Annotated[Literal["pol"], Described("The kind of proof.")]
    statements: Annotated[
        list[_Each], Len(1, MOST), Described("Several statements instead of one, all written or none.")
    ]


class WrittenStatement(TypedDict):
    """One of several statements that were asserted."""

    tripleHash: str
    verified: bool
    created: bool


class AssertDetails(TypedDict, total=False):
    """What was asserted."""

    subject: str
    predicate: str
    object: Object
    objectLength: ObjectLength
    tripleHash: str
    proofHash: Annotated[str, Described("The id of the proof, when one was required.")]
    verified: Annotated[bool, Described("Whether the verdict is `verified`.")]
    verdict: Annotated[
        Literal["verified", "well-formed", "not checked"],
        Described("`well-formed`: only the core rules applied, and nothing checked the meaning."),
    ]
    created: Annotated[bool, Described("Whether the statement is new.")]
    statements: Annotated[
        list[WrittenStatement], Described("These fields of each of several statements; of very long ones no triples.")
    ]
    createdCount: Annotated[int, Described("How many of several are new.")]
    budget: LowBudget


def _run(call: Call) -> Outcome:
    several = call.arguments.get("statements")
    acting = ActingSkill.of(call.skill, call.active)
    statements = [call.arguments] if several is None else [{**_for_all(call), **each} for each in several]
    try:
        rows = call.operate(assert_statements, AssertedStatements(statements, acting=acting))
    except StatementsRefusedError as error:
        raise (error.first if several is None else error) from None
    most = min(IN_WRITES, max(_LEAST_OF_OBJECT, _OF_OBJECTS // len(rows)))
    written = [_answered(call.host.graph, row, most) for row in rows]
    return written[0] if several is None else _together(call, written)


def _together(call: Call, written: Sequence[Outcome]) -> Outcome:
    new = sum(each.details["created"] for each in written)
    lines = [f"Asserted {new} of {len(written)} statements; {len(written) - new} were there already:"]
    answers = [each.details for each in written]
    if sum(map(size_of, answers)) + 100 * len(answers) > LONGEST_PAGE:  # with the hash in the text, and a proof
        answers = [
            {name: value for name, value in each.items() if name not in (*PARTS, "objectLength")} for each in answers
        ]
        lines += ["(in the order of the call, without the triples, which are too long for an answer)"]
        lines += [f"{number}. hash {each['tripleHash']}" for number, each in enumerate(answers, 1)]
    else:
        lines += [
            f"{number}. {line_of(each, call.host.graph)} hash {each['tripleHash']}"
            for number, each in enumerate(answers, 1)
        ]
    return Outcome("\n".join(lines), {"statements": answers, "createdCount": new}, spent=sum(w.spent for w in written))


def _for_all(call: Call) -> dict[str, Any]:
    """What the call requires of each of its statements: one of them cannot switch it off."""
    return {"proofType": "pol"} if call.arguments.get("requireProof") or "proofType" in call.arguments else {}


def _ahead(call: Call) -> Iterator[Ahead]:
    """What is read of the statements, also to count those that are new."""
    given = call.arguments.get("statements") or [call.arguments]
    acting = ActingSkill.of(call.skill, call.active)
    triples = [acting.statement(call.host, {**_for_all(call), **each})[0] for each in given]
    return ahead_of_statements(call.host.graph, triples, recorded=True)


def _units(call: Call) -> int:
    """How many slots a call needs: those of several statements that are in the graph already need none."""
    given = call.arguments.get("statements")
    if given is None:
        return 1
    graph, others, acting = call.host.graph, 0, ActingSkill.of(call.skill, call.active)
    found: list[tuple[Any, bool]] = []
    for each in given:
        try:
            triple, needs = acting.statement(call.host, {**_for_all(call), **each})
            found.append((graph.quad_of(triple), needs))
        except (CortexError, GraphError):
            others += 1  # the call is refused with its problem
    return len({quad for quad, needs in found if needs or not graph.store.contains(quad)}) + others


def _repeated(call: Call) -> Outcome | None:
    if "statements" in call.arguments:
        return None  # it has counted those that are there already
    host, graph, acting = call.host, call.host.graph, ActingSkill.of(call.skill, call.active)
    triple, needs_proof = acting.statement(host, call.arguments)
    quad = graph.quad_of(triple)
    if not graph.store.contains(quad):
        return None
    known = {**graph.as_json(quad), "created": False}
    if not needs_proof:
        return _answered(graph, known)
    others, by = acting.rules_of_others(host, triple["predicate"]), acting.provenance(call.agent)
    proof = host.part(prover_of).valid_proof(quad, by, acting.rules, call.cancel, others=others)
    return None if proof is None else _answered(graph, known | {"proof": proof[0], "verdict": proof[1]})


def _answered(graph: NamespacedGraph, row: Mapping[str, Any], most: int = IN_WRITES) -> Outcome:
    created, proof, verdict = row["created"], row.get("proof"), row.get("verdict", Verdict.NOT_CHECKED)
    statement = with_short_object({key: row[key] for key in PARTS}, most)
    details = {**statement, "tripleHash": row["id"], "verified": verdict is Verdict.VERIFIED}
    details |= {"verdict": verdict.value, "created": created}
    verb = "Asserted" if created else "Already asserted"
    text = f"{verb}: {line_of(statement, graph)}\nhash {row['id']}"
    if proof is not None:
        details["proofHash"] = proof
        text += f"\nproof {proof}, {verdict.value}{_CORE_ONLY if verdict is Verdict.WELL_FORMED else ''}"
    return Outcome(text, details, spent=int(created or row.get("added", False)))


SKILL_ASSERT = Tool(
    name="skill_assert",
    description=(
        "Assert a statement (subject, predicate, object) in the knowledge graph of this namespace on behalf of the "
        "acting skill, or up to 100 at once (statements). Only predicates that the skill declares can be asserted; "
        "repeating an assertion changes nothing."
    ),
    input_schema=_Given,
    permissions=("graph:write",),
    budget="assertion",
    one_of=(PARTS, ("statements",)),
    units=_units,
    repeated=_repeated,
    read_only=False,
    output_schema=AssertDetails,
    run=_run,
    ahead=_ahead,
)
