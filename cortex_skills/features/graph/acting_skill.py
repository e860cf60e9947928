"""What a skill that acts may assert and remove: the part of the operations on statements that its manifest decides.

Rules kept here:
- only declared predicates are asserted and removed; a statement that needs a proof is not written without one, and
  neither a caller nor another skill can switch that off;
- a required proof applies the rules of every active skill that requires it, beside those of the acting skill;
- the code of a skill makes no proof, and writes no predicate that needs one;
- several statements are written together or not at all, and each that is refused is reported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cortex_graph import GraphError, NamespacedGraph, Provenance
from cortex_skills.errors import CortexError, as_ours
from cortex_skills.features.graph.given_terms import as_written
from cortex_skills.features.proofs.proving import prover_of
from cortex_skills.host import Host
from cortex_skills.manifest import Manifest, Semantic
from cortex_skills.policy.permissions import check_may_assert, check_permissions, needs_proof
from cortex_skills.policy.removals import is_withdrawn
from cortex_skills.runtime.skill import Skill

if TYPE_CHECKING:
    from cortex_skills.cancellation import CancelToken
    from cortex_skills.features.proofs.logic.prover import Stated
    from cortex_skills.skill_folder.rule_set import RuleSet

PARTS = ("subject", "predicate", "object")
_MOST_NAMED = 5  # problems in the text of an error; the details have all
_MOST_OF_PROBLEM = 200  # characters


class StatementsRefusedError(CortexError):
    """Some statements cannot be asserted, and none was written.

    Args:
        problems: the error of each that is refused, by its place.
        count: how many statements there are.
    """

    def __init__(self, problems: Mapping[int, CortexError], count: int) -> None:
        first = next(iter(problems.values()))
        named = [
            f"statement {place + 1}: {error.message[:_MOST_OF_PROBLEM]}"
            for place, error in list(problems.items())[:_MOST_NAMED]
        ]
        more = f"; and {len(problems) - len(named)} more" if len(problems) > len(named) else ""
        super().__init__(
            first.code,
            f"{len(problems)} of {count} statements cannot be asserted, and nothing was written: "
            f"{'; '.join(named)}{more}",
            hint=first.hint,
            details={"problems": [_problem(place, error) for place, error in problems.items()]},
        )
        self.first = first


def _problem(place: int, error: CortexError) -> dict[str, Any]:
    """One of up to a hundred, so it is short."""
    message, hint = error.message[:_MOST_OF_PROBLEM], error.hint[:_MOST_OF_PROBLEM]
    return {"statement": place + 1, "code": error.code, "message": message, "hint": hint}


@dataclass(frozen=True, slots=True)
class ActingSkill:
    """The skill that acts.

    Attributes:
        manifest: its manifest.
        semantic: the semantic block of that.
        rules: its own shapes.
        active: the active skills by name.
        is_code: whether its code acts, and not an agent through it.
    """

    manifest: Manifest
    semantic: Semantic
    rules: RuleSet | None = None
    active: Mapping[str, Skill] = field(default_factory=dict)
    is_code: bool = False

    @classmethod
    def of(cls, skill: Skill, active: Mapping[str, Skill]) -> ActingSkill:
        """The skill of a call of a tool."""
        return cls(skill.manifest, skill.semantic, skill.rules, active)

    def provenance(self, agent: str) -> Provenance:
        """The source of what it asserts for an agent."""
        return Provenance(self.manifest.name, self.semantic.skill_version, agent)

    def statement(self, host: Host, given: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
        """The triple of a statement that it may assert, and whether that needs a proof.

        Args:
            host: of the namespace.
            given: a triple; with `requireProof` or `proofType` it needs a proof.

        Raises:
            CortexError: `undeclared_predicate`.
            GraphError: a name is malformed.
        """
        if self.is_code:
            return dict(given), self._may_assert(host, given.get("predicate"))
        triple = as_written(host.graph, {part: given[part] for part in PARTS})  # prefixes of an imported file
        try:
            required = self._may_assert(host, triple["predicate"])
        except CortexError as error:
            raise self._with_meaning(error, given["predicate"], triple["predicate"]) from None
        return triple, bool(required or given.get("requireProof") or "proofType" in given)

    def _with_meaning(self, error: CortexError, written: str, meant: str) -> CortexError:
        """An error whose hint explains a declared name that means another thing than in the call."""
        if written == meant or all(assertion.predicate != written for assertion in self.semantic.assertions):
            return error
        hint = f"{written} of the manifest is a name of the namespace, as no file decides what a skill may do: "
        return CortexError(
            error.code, error.message, hint=f"{hint}declare {meant} to allow this", details=error.details
        )

    def rules_of_others(self, host: Host, predicate: str) -> list[RuleSet]:
        """The rules of the active skills that require a proof of a predicate.

        Raises:
            CortexError: `permission_denied` or `proof_required`: no proof can be made.
        """
        if self.is_code:
            raise needs_proof(predicate, "assert it with skill_assert, which proves it")
        check_permissions(["proofs:request"], self.manifest, "a proof")
        if not host.part(prover_of).is_on:
            raise needs_proof(predicate, "switch verification.polValidation on, or assert without a proof")
        requiring = [self.active.get(name) for name in host.declared_predicates.skills(predicate)]
        return [skill.rules for skill in requiring if skill is not None and skill.rules is not None]

    def write(
        self, host: Host, statements: Sequence[Mapping[str, Any]], agent: str, cancel: CancelToken | None
    ) -> list[dict[str, Any]]:
        """Write statements with their records and the proofs that they need, all or none.

        Returns:
            `{id, subject, predicate, object, created}` of each, and of one with a proof `proof`, its `verdict`, and
            `added`: whether the proof is new.

        Raises:
            StatementsRefusedError: some may not be asserted, or break the rules.
        """
        from_ = self.provenance(agent)
        checked: list[tuple[dict[str, Any], bool, list[RuleSet]]] = []
        problems: dict[int, CortexError] = {}
        for place, each in enumerate(statements):
            try:
                triple, needs = self.statement(host, each)
                checked.append((triple, needs, self.rules_of_others(host, triple["predicate"]) if needs else []))
                if len(statements) > 1:
                    host.graph.quad_of(triple)
            except (CortexError, GraphError) as error:
                problems[place] = as_ours("graph.assert", error)
        if problems:
            raise StatementsRefusedError(problems, len(statements))
        if not any(needs for _, needs, _ in checked):
            return host.graph.create_triples([triple for triple, _, _ in checked], from_)
        from cortex_skills.features.proofs.logic.prover import RefusedStatementsError, Stated

        stated: list[Stated] = [Stated(*each) for each in checked]
        try:
            proved = host.part(prover_of).assert_all(stated, from_, self.rules, cancel)
        except RefusedStatementsError as error:
            raise StatementsRefusedError(error.problems, len(statements)) from None
        return [each.triple | {"proof": each.proof, "verdict": each.verdict, "added": each.added} for each in proved]

    def remove(self, graph: NamespacedGraph, host: Host, triple: Mapping[str, Any], agent: str) -> None:
        """Withdraw a statement of the agent; the code of a skill deletes one that has no proofs and needs none.

        Raises:
            CortexError: `undeclared_predicate`, `proof_required` or `permission_denied`.
        """
        triple_id, strict = triple["id"], host.config.strict_declarations
        keeps = is_withdrawn(triple, graph, self.manifest.name, self.semantic, host.declared_predicates, strict=strict)
        if self.is_code and not keeps:
            graph.delete_triple(triple_id)
            return
        if not self.is_code and (graph.provenance_of(triple_id) or {}).get("agent") != agent:
            raise CortexError(
                "permission_denied",
                f"{agent} did not assert this statement, and may not retract it",
                hint="the agent that asserted it may, and so may the host",
                details={"tripleHash": triple_id},
            )
        graph.withdraw(triple_id, self.provenance(agent))

    def _may_assert(self, host: Host, predicate: Any) -> bool:
        """Whether a predicate that it may assert needs a proof; the graph refuses what is no name."""
        if not isinstance(predicate, str):
            return False
        name, strict = self.manifest.name, host.config.strict_declarations
        return check_may_assert(
            predicate, name, self.semantic, host.declared_predicates, host.graph.names, strict=strict
        )
