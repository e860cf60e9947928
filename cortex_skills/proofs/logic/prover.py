"""`Prover`: Proofs of Logic of one namespace, made and written.

Rules kept here:
- the rules are the core rules, the namespace's shapes and the acting skill's own. The files are read when the plugin
  opens and when the skill is loaded: rules that change on the disk meanwhile change nothing in between;
- a proof is made of a statement that the rules let pass, and of no other;
- an assertion with a proof is written as a whole or not at all. Shapes look at the graph first; when somebody writes to
  it meanwhile, they look again, a few times (see `cortex_graph.proving` for what each store can promise);
- a statement that is there already, with a proof of the same rules by the same key that still holds, keeps that one. A
  new proof takes the place of those that the same key made for the same skill and that hold no longer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyoxigraph import Quad

from cortex_graph import GraphBusy, NamespacedGraph, Provenance
from cortex_graph.moments import to_milliseconds
from cortex_graph.proofs import StoredProof
from cortex_graph.proving import assert_proved, revision_of
from cortex_skills.errors import CortexError
from cortex_skills.escaping import shown_name
from cortex_skills.proofs.keys import Key
from cortex_skills.proofs.keys.local import signing_key
from cortex_skills.proofs.logic.document import KIND, TYPE, Document, signed
from cortex_skills.proofs.logic.judging import Judgement, judge
from cortex_skills.proofs.logic.rules import RuleSet, read_rules_file
from cortex_skills.proofs.logic.verifying import as_document, still_holds
from cortex_skills.proofs.verdict import Verdict
from cortex_skills.stopping import Stop

if TYPE_CHECKING:
    from cortex_skills.config import Config

_TRIES = 8


@dataclass(frozen=True, slots=True)
class Proved:
    """An assertion with its proof.

    Attributes:
        triple: `{id, subject, predicate, object, created}`.
        proof: the id of the proof.
        added: whether the proof is new.

    """

    triple: dict[str, Any]
    proof: str
    added: bool


class Prover:
    """Makes the Proofs of Logic of a namespace. Safe to use from several threads.

    Args:
        config: which shapes, which key, how much time, and whether anything is proved at all.
        graph: the namespace.

    """

    def __init__(self, config: Config, graph: NamespacedGraph) -> None:
        self._config = config
        self.graph = graph
        self._timeout_s = config.skill_sandbox.proof_timeout_ms / 1000
        self.is_on = config.verification.pol_validation

    @cached_property
    def key(self) -> Key:
        """The key that signs.

        Raises:
            CortexError: `config_invalid`.

        """
        return signing_key(self._config)

    @cached_property
    def namespace_rules(self) -> RuleSet | None:
        """The namespace's shapes.

        Raises:
            CortexError: `config_invalid`: the configuration names a file that has none.

        """
        namespace = self.graph.namespace
        path = self._config.proofs.shapes.get(namespace)
        if path is None:
            return None
        try:
            rules = read_rules_file(Path(path), f"namespace:{namespace}")
        except CortexError as error:
            raise CortexError("config_invalid", error.message, hint=error.hint) from error
        if rules is None:
            hint = "correct proofs.shapes in the configuration"
            raise CortexError("config_invalid", f"there is no file of shapes for {namespace} at {path}", hint=hint)
        return rules

    def judge(
        self, quad: Quad, skill_rules: RuleSet | None, stop: Stop | None = None, *, timeout_s: float | None = None
    ) -> tuple[Judgement, list[str]]:
        """What the rules say of a statement, and the texts of the shapes that were asked.

        Raises:
            CortexError: `proof_timeout`, or `proof_failed`: the rules cannot be applied.

        """
        sets = [rules for rules in (self.namespace_rules, skill_rules) if rules is not None]
        judgement = judge(quad, self.graph, sets, timeout_s=timeout_s or self._timeout_s, stop=stop)
        asked = {ruling.rules.digest for ruling in judgement.rulings}
        return judgement, [rules.text for rules in sets if rules.digest in asked]

    def prove(
        self, quad: Quad, judgement: Judgement, *, skill: str | None, version: str | None
    ) -> tuple[Document, StoredProof]:
        """The proof of a statement that the rules let pass.

        Raises:
            CortexError: `proof_failed`: they do not, with what they say in `details.findings`.

        """
        if judgement.verdict is not Verdict.VERIFIED:
            raise failed(self.graph.names.name(quad.predicate.value), judgement)
        moment = to_milliseconds(datetime.now(UTC))
        fields: dict[str, Any] = {
            "type": TYPE,
            "version": 1,
            "namespace": self.graph.namespace,
            "statement": f"{quad} .",
            "statementHash": self.graph.index.identify(quad),
            "skill": skill,
            "skillVersion": version,
            "rules": [ruling.to_json() for ruling in judgement.rulings],
            "premises": judgement.premises.to_json(),
            "verdict": judgement.verdict.value,
        }
        document = signed(fields, self.key, moment)
        return document, stored(document, judgement)

    def assert_proved(
        self,
        triple: Mapping[str, Any],
        provenance: Provenance,
        rules: RuleSet | None,
        stop: Stop | None = None,
    ) -> Proved:
        """Write a triple with its record and its proof, or nothing.

        Args:
            triple: `{subject, predicate, object}`.
            provenance: where it comes from.
            rules: the acting skill's.
            stop: ends it early.

        Raises:
            CortexError: `proof_failed`: the rules do not let it pass, or cannot be applied; `proof_timeout`.
            GraphBusy: others write to the graph faster than the rules look at it.
            GraphError: the triple is none, or the store cannot write.

        """
        graph = self.graph
        quad = graph.quad_of(triple)
        for _ in range(_TRIES):
            revision = revision_of(graph)
            judgement, texts = self.judge(quad, rules, stop)
            kept, outlived = self._kept(quad, judgement, provenance)
            if kept is not None:
                return Proved({**graph.as_json(quad), "created": False}, kept, False)
            _, proof = self.prove(quad, judgement, skill=provenance.skill, version=provenance.skill_version)
            seen = revision if judgement.premises.count else None  # rules that look at nothing cannot have missed it
            created = assert_proved(graph, quad, provenance, proof, texts, revision=seen, instead=outlived)
            if created is not None:
                return Proved({**graph.as_json(quad), "created": created}, proof.id, True)
            if stop is not None:
                stop.check()
        raise GraphBusy(
            "the graph changes faster than the rules can look at it: nothing was written",
            hint="try again in a while, or let the shapes reach less of the graph",
        )

    def _kept(self, quad: Quad, judgement: Judgement, provenance: Provenance) -> tuple[str | None, list[str]]:
        """The proof that a statement has already, which says the same of the same premises; else those to be replaced.

        It counts when this key made it: others may have put theirs there before. Replaced are those that this key made
        for this skill, and that say something else.
        """
        graph = self.graph
        if judgement.verdict is not Verdict.VERIFIED or not graph.store.contains(quad):
            return None, []
        outlived = []
        for proof in graph.proofs.of(graph.index.identify(quad), KIND):
            document = as_document(proof)
            is_ours = document is not None and document.signer == self.key.did
            if is_ours and still_holds(proof, quad, judgement):
                return proof.id, []
            if document is None or (is_ours and document.fields["skill"] == provenance.skill):
                outlived.append(proof.id)
        return None, outlived


def stored(document: Document, judgement: Judgement) -> StoredProof:
    """A proof as it is kept."""
    premises = judgement.premises
    asked = {ruling.rules.digest for ruling in judgement.rulings[1:]}
    return StoredProof(
        kind=KIND,
        content=document.content,
        time=document.created,
        proves=(document.fields["statementHash"],),
        premises=premises.listed,
        rests_on_graph=not premises.is_whole,
        rules=tuple(sorted(asked)),
    )


def failed(predicate: str, judgement: Judgement) -> CortexError:
    """The refusal of a statement that the rules do not let pass: nothing was written."""
    broken = judgement.violations
    said = _told([f"{finding.message} [{name}, {finding.rule}]" for name, finding in broken])
    return CortexError(
        "proof_failed",
        f"the statement of {shown_name(predicate)} breaks the rules, and nothing was written: {said}",
        hint="correct the statement, or what it contradicts",
        details={
            "verdict": judgement.verdict.value,
            "findings": [{"rules": name, **finding.to_json()} for name, finding in broken],
        },
    )


def _told(messages: Sequence[str], most: int = 3) -> str:
    more = f"; and {len(messages) - most} more" if len(messages) > most else ""
    return "; ".join(messages[:most]) + more
