"""`Prover`: making and writing the Proofs of Logic of one namespace.

Rules kept here:
- the rules are the core rules, the namespace's shapes, the acting skill's shapes, and those of other skills that
  require the proof. The files are read when the plugin opens and when a skill is loaded; later changes of a file have
  no effect until then;
- a proof is made only for a statement that the rules verify; of statements that are asserted together, each is
  evaluated with the others in the graph, and all share the time limit;
- an assertion with a proof is written completely or not at all. Shapes are evaluated before the write; when the graph
  changes in between, they are evaluated again, up to `_TRIES` times (`proved_write.py` states what each store
  can detect);
- a statement that is in the graph keeps its proof when the same key made it with the same rules and it is still valid.
  A new proof replaces the outdated ones that the same key made for the same skill.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyoxigraph import Quad

from cortex_graph import GraphBusy, NamespacedGraph, Provenance
from cortex_graph.assertion_records.proofs import StoredProof
from cortex_graph.checks.datetimes import to_milliseconds
from cortex_graph.namespace.proved_write import ProvedTriple, assert_all_proved, revision_of
from cortex_skills.cancellation import CancelToken
from cortex_skills.errors import CortexError
from cortex_skills.features.proofs.logic.document import KIND, MAX_SETS, TYPE, LogicProof, signed
from cortex_skills.features.proofs.logic.evaluate import Evaluation, evaluate
from cortex_skills.features.proofs.logic.verify import read_stored, still_holds
from cortex_skills.features.proofs.proof_settings import ProofSettings
from cortex_skills.features.proofs.verdict import Verdict
from cortex_skills.keys import Key
from cortex_skills.keys.folder import signing_key
from cortex_skills.safe_io.display import shown_name
from cortex_skills.skill_folder.rule_set import RuleSet, read_rules_file

if TYPE_CHECKING:
    from cortex_skills.config.settings import Config

_TRIES = 8


@dataclass(frozen=True, slots=True)
class Proved:
    """An assertion with its proof.

    Attributes:
        triple: `{id, subject, predicate, object, created}`.
        proof: the id of the proof; None if none was needed.
        verdict: of the rules that the proof names; `not checked` without one.
        added: whether the proof is new.
    """

    triple: dict[str, Any]
    proof: str | None
    verdict: Verdict
    added: bool


@dataclass(frozen=True, slots=True)
class Stated:
    """A statement to assert.

    Attributes:
        triple: `{subject, predicate, object}`.
        needs_proof: whether it is written with a proof only.
        others: the shapes of other skills that apply.
    """

    triple: Mapping[str, Any]
    needs_proof: bool = True
    others: Sequence[RuleSet] = ()


class RefusedStatementsError(Exception):
    """Some of the statements cannot be proved; `problems` has the error of each, by its place."""

    def __init__(self, problems: Mapping[int, CortexError]) -> None:
        super().__init__(f"{len(problems)} statements cannot be proved")
        self.problems = problems


@dataclass(frozen=True, slots=True)
class _Found:
    """What is to be written of a statement, if anything; its proof and verdict; whether its rules read the graph."""

    to_write: ProvedTriple | None
    proof: str | None = None
    verdict: Verdict = Verdict.NOT_CHECKED
    reads: bool = False


class Prover:
    """Makes the Proofs of Logic of a namespace. Safe to use from several threads.

    Args:
        config: the settings: shapes, key, time limit, and whether proofs are made.
        graph: the namespace.
    """

    def __init__(self, config: Config, graph: NamespacedGraph) -> None:
        self._config = config
        self.graph = graph
        self._timeout_s = config.skill_sandbox.proof_timeout_ms / 1000
        self.is_on = config.verification.pol_validation

    @cached_property
    def key(self) -> Key:
        """The signing key.

        Raises:
            CortexError: `config_invalid`.
        """
        return signing_key(self._config)

    @cached_property
    def namespace_rules(self) -> RuleSet | None:
        """The namespace's shapes.

        Raises:
            CortexError: `config_invalid`: the configured file has no valid shapes.
        """
        namespace = self.graph.namespace
        path = self._config.section(ProofSettings).shapes.get(namespace)
        if path is None:
            return None
        try:
            rules = read_rules_file(Path(path), f"namespace:{namespace}")
        except CortexError as error:
            raise CortexError("config_invalid", error.message, hint=error.hint) from error
        if rules is None:
            hint = "correct proofs.shapes in the configuration"
            raise CortexError("config_invalid", f"the file of shapes for {namespace} does not exist: {path}", hint=hint)
        return rules

    def evaluate(
        self,
        quad: Quad,
        skill_rules: RuleSet | None,
        cancel: CancelToken | None = None,
        *,
        others: Sequence[RuleSet] = (),
        timeout_s: float | None = None,
        beside: Sequence[Quad] = (),
    ) -> tuple[Evaluation, list[str]]:
        """Evaluate the rules on a statement; returns also the texts of the evaluated shapes.

        Args:
            quad: the statement.
            skill_rules: the acting skill's shapes.
            cancel: cancels the call.
            others: shapes of other skills; those with the name of a set before them are ignored.
            timeout_s: the time limit, in seconds; by default that of the settings.
            beside: statements that are asserted together with it.

        Raises:
            CortexError: `proof_timeout`, or `proof_failed`: the rules cannot be applied.
        """
        named: dict[str, RuleSet] = {}
        for rules in (self.namespace_rules, skill_rules, *others):
            if rules is not None:
                named.setdefault(rules.name, rules)
        sets = list(named.values())
        if len(sets) >= MAX_SETS:  # the core rules are one more
            hint = "unload skills that require a proof for this predicate"
            raise CortexError("proof_failed", f"{len(sets)} sets of shapes apply to the statement", hint=hint)
        limit = self._timeout_s if timeout_s is None else timeout_s
        evaluation = evaluate(quad, self.graph, sets, timeout_s=limit, cancel=cancel, beside=beside)
        digests = {result.rules.digest for result in evaluation.rule_sets}
        return evaluation, [rules.text for rules in sets if rules.digest in digests]

    def prove(
        self, quad: Quad, evaluation: Evaluation, *, skill: str | None, version: str | None
    ) -> tuple[LogicProof, StoredProof]:
        """Make the proof of a statement.

        Raises:
            CortexError: `proof_failed`: the rules do not verify it; their findings are in `details.findings`.
        """
        if not evaluation.verdict.holds:
            raise failed(self.graph.names.name(quad.predicate.value), evaluation)
        moment = to_milliseconds(datetime.now(UTC))
        fields: dict[str, Any] = {
            "type": TYPE,
            "version": 1,
            "namespace": self.graph.namespace,
            "statement": f"{quad} .",
            "statementHash": self.graph.index.identify(quad),
            "skill": skill,
            "skillVersion": version,
            "rules": [result.to_json() for result in evaluation.rule_sets],
            "premises": evaluation.premises.to_json(),
            "verdict": evaluation.stated,
        }
        document = signed(fields, self.key, moment)
        return document, stored(document, evaluation)

    def assert_proved(
        self,
        triple: Mapping[str, Any],
        provenance: Provenance,
        rules: RuleSet | None,
        cancel: CancelToken | None = None,
        *,
        others: Sequence[RuleSet] = (),
    ) -> Proved:
        """Write a triple with its record and its proof, or write nothing.

        Args:
            triple: `{subject, predicate, object}`.
            provenance: the origin of the triple.
            rules: the acting skill's shapes.
            cancel: cancels the call.
            others: the shapes of other skills that apply.

        Raises:
            CortexError: `proof_failed`: the rules do not verify it, or cannot be applied; `proof_timeout`.
            GraphBusy: the graph changed during every evaluation.
            GraphError: the triple is malformed, or the store cannot write.
        """
        stated = Stated(triple, others=others)
        try:
            return self.assert_all([stated], provenance, rules, cancel)[0]
        except RefusedStatementsError as error:
            raise error.problems[0] from None

    def assert_all(
        self,
        statements: Sequence[Stated],
        provenance: Provenance,
        rules: RuleSet | None,
        cancel: CancelToken | None = None,
    ) -> list[Proved]:
        """Write several statements with their records and their proofs, or write nothing.

        Args:
            statements: at least one.
            provenance: their origin.
            rules: the acting skill's shapes.
            cancel: cancels the call.

        Raises:
            RefusedStatementsError: the rules do not verify some of them.
            CortexError, GraphError: as for `assert_proved`.
        """
        graph = self.graph
        quads = [graph.quad_of(each.triple) for each in statements]
        deadline = time.monotonic() + self._timeout_s
        for _ in range(_TRIES):
            revision = revision_of(graph)
            found: list[_Found] = []
            problems: dict[int, CortexError] = {}
            for place, (quad, each) in enumerate(zip(quads, statements, strict=True)):
                beside = quads[:place] + quads[place + 1 :]
                try:
                    found.append(self._proof_of(quad, each, provenance, rules, cancel, beside, deadline))
                except CortexError as error:
                    if error.code != "proof_failed":
                        raise
                    problems[place] = error
            if problems:
                raise RefusedStatementsError(problems)
            if not any(each.to_write for each in found):
                created: list[bool] | None = []
            else:
                seen = revision if any(each.reads for each in found) else None  # nothing else can be outdated
                to_write = [each.to_write for each in found if each.to_write]
                created = assert_all_proved(graph, to_write, provenance, revision=seen)
            if created is not None:
                new = iter(created)
                return [
                    Proved(
                        {**graph.as_json(quad), "created": next(new) if each.to_write else False},
                        each.proof,
                        each.verdict,
                        each.to_write is not None and each.proof is not None,
                    )
                    for quad, each in zip(quads, found, strict=True)
                ]
            if cancel is not None:
                cancel.check()
        raise GraphBusy(
            "the graph changed during every evaluation of the rules: nothing was written",
            hint="try again later, or write shapes that read less of the graph",
        )

    def _proof_of(
        self,
        quad: Quad,
        stated: Stated,
        provenance: Provenance,
        rules: RuleSet | None,
        cancel: CancelToken | None,
        beside: Sequence[Quad],
        deadline: float,
    ) -> _Found:
        """What is to be written of a statement."""
        if not stated.needs_proof:
            return _Found(ProvedTriple(quad, None))
        left = max(0.001, deadline - time.monotonic()) if beside else self._timeout_s
        evaluation, texts = self.evaluate(quad, rules, cancel, others=stated.others, timeout_s=left, beside=beside)
        current, outdated = self._stored(quad, evaluation, provenance)
        if current is not None:
            return _Found(None, current, evaluation.verdict)
        _, proof = self.prove(quad, evaluation, skill=provenance.skill, version=provenance.skill_version)
        reads = bool(evaluation.premises.count)  # rules that read nothing cannot be outdated
        return _Found(ProvedTriple(quad, proof, texts, outdated), proof.id, evaluation.verdict, reads)

    def valid_proof(
        self,
        quad: Quad,
        provenance: Provenance,
        rules: RuleSet | None,
        cancel: CancelToken | None = None,
        *,
        others: Sequence[RuleSet] = (),
    ) -> tuple[str, Verdict] | None:
        """The id and verdict of the proof that `assert_proved` would find in the graph; None when it would make one.

        Raises:
            CortexError: as for `assert_proved`.
        """
        evaluation, _ = self.evaluate(quad, rules, cancel, others=others)
        proof = self._stored(quad, evaluation, provenance)[0]
        return None if proof is None else (proof, evaluation.verdict)

    def _stored(self, quad: Quad, evaluation: Evaluation, provenance: Provenance) -> tuple[str | None, list[str]]:
        """The valid stored proof of a statement by this key; else the outdated ones that this key made for this skill.

        Proofs by other keys are ignored, because every client with write access can store them.
        """
        graph = self.graph
        if not evaluation.verdict.holds or not graph.store.contains(quad):
            return None, []
        outdated = []
        triple_id = graph.index.identify(quad)
        kept = {iri for withdrawal in graph.withdrawals.of(triple_id) for iri in withdrawal.proofs}
        for proof in graph.current_proofs(triple_id, KIND):
            document = read_stored(proof)
            is_own = document is not None and document.signer == self.key.did
            if is_own and still_holds(proof, quad, evaluation):
                return proof.id, []
            is_outdated = document is None or (is_own and document.fields["skill"] == provenance.skill)
            if is_outdated and graph.proofs.iri(proof.id).value not in kept:
                outdated.append(proof.id)
        return None, outdated


def stored(document: LogicProof, evaluation: Evaluation) -> StoredProof:
    """The record of a proof."""
    premises = evaluation.premises
    digests = {result.rules.digest for result in evaluation.rule_sets[1:]}
    return StoredProof(
        kind=KIND,
        content=document.content,
        time=document.created,
        proves=(document.fields["statementHash"],),
        premises=premises.listed,
        rests_on_graph=not premises.is_whole,
        rules=tuple(sorted(digests)),
    )


def failed(predicate: str, evaluation: Evaluation) -> CortexError:
    """The error for a statement that breaks the rules."""
    broken = evaluation.violations
    violations = _joined([f"{finding.message} [{name}, {finding.rule}]" for name, finding in broken])
    return CortexError(
        "proof_failed",
        f"the statement of {shown_name(predicate)} breaks the rules, and nothing was written: {violations}",
        hint="correct the statement, or the statements that it contradicts",
        details={
            "verdict": evaluation.verdict.value,
            "findings": [{"rules": name, **finding.to_json()} for name, finding in broken],
        },
    )


def _joined(messages: Sequence[str], most: int = 3) -> str:
    more = f"; and {len(messages) - most} more" if len(messages) > most else ""
    return "; ".join(messages[:most]) + more
